/** One thumbnail of the wall: the picture, its boxes, how far a person has got with it. */

import { h } from "../../common/dom.js";
import { drop, want } from "../../common/thumbs.js";

/** @type {Record<string, string>} */
const MARKS = { done: "M2 6l3 3 5-6", started: "M3 6h6", skipped: "M3 3l6 6M9 3l-6 6" };
const NAMES = { new: "new", started: "started", done: "done", skipped: "skipped" };
const SVG = "http://www.w3.org/2000/svg";
const MOST = 150;
const GREY = "#e9ebee";
const LETTERS = 14; // along a side of the picture

/** @typedef {{color: string, letter: string}} Look of a class */
/** @typedef {Record<string, Look>} Looks by the names of the classes */
/** @typedef {import("../../common/answers.js").ImageCard} Item */
/** @typedef {import("../../common/answers.js").Box} Box */

export class Cell {
  /** @param {number} index */
  constructor(index) {
    this.element = h("div.cell", { role: "gridcell", data: { index: String(index) } });
    /** @type {Item | null} */
    this.shown = null;
    /** @type {Looks | null} */
    this.looks = null;
    /** @type {HTMLImageElement | null} */
    this.image = null;
  }

  /** @param {number} x @param {number} y @param {number} side */
  move(x, y, side) {
    const style = this.element.style;
    style.transform = `translate(${x}px, ${y}px)`;
    style.width = style.height = `${side}px`;
  }

  /** @param {Item | null} item @param {Looks} looks */
  show(item, looks) {
    if (item === this.shown && looks === this.looks) return;
    this.shown = item;
    this.looks = looks;
    drop(this.image);
    this.image = null;
    if (!item) return this.element.replaceChildren();
    const image = h("img", { alt: item.name, draggable: false, decoding: "async" });
    image.addEventListener("error", () => this.element.classList.add("failed"));
    this.element.replaceChildren(
      image,
      drawn(item, looks),
      mark(item.state),
      h("span.pick", { "aria-hidden": "true" }, tick()),
      h("span.caption", {}, item.name),
      item.label
        ? h(
          "span.chip.label",
          {},
          h("i", { style: { background: looks[item.label]?.color ?? GREY } }),
          item.label,
        )
        : "",
    );
    this.image = image;
    want(image, `/files/${item.sha256}/thumb`);
    this.element.setAttribute(
      "aria-label",
      `${item.name}, ${NAMES[item.state]}, ${item.label || `${item.boxes.length} boxes`}`,
    );
    return undefined;
  }

  /** A picture that did not come is asked for again. */
  renew() {
    if (!this.element.classList.contains("failed") || !this.image || !this.shown) return;
    this.element.classList.remove("failed");
    want(this.image, `/files/${this.shown.sha256}/thumb`);
  }

  /** @param {Set<number>} picked @param {boolean} current */
  mark(picked, current) {
    const on = Boolean(this.shown && picked.has(this.shown.id));
    this.element.classList.toggle("picked", on);
    this.element.classList.toggle("current", current);
    this.element.setAttribute("aria-selected", String(on));
  }

  remove() {
    drop(this.image);
    this.element.remove();
  }
}

/** The boxes over a picture that is fitted into its place. @param {Item} item @param {Looks} looks */
export function drawn(item, looks) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${item.width} ${item.height}`);
  for (const box of item.boxes.slice(0, MOST)) {
    svg.append(rectangle(box, "halo"), rectangle(box, "", looks[box.label]?.color ?? GREY));
    if (looks[box.label]?.letter) svg.append(letter(box, looks[box.label], item));
  }
  return svg;
}

/** @param {Box} box @param {string} kind */
function rectangle(box, kind, color = "") {
  const rect = document.createElementNS(SVG, "rect");
  rect.setAttribute("x", String(box.x1));
  rect.setAttribute("y", String(box.y1));
  rect.setAttribute("width", String(Math.max(0, box.x2 - box.x1)));
  rect.setAttribute("height", String(Math.max(0, box.y2 - box.y1)));
  if (kind) rect.setAttribute("class", kind);
  if (color) rect.style.stroke = color;
  return rect;
}

/**
 * The letter of a class above the corner of its box.
 * @param {Box} box @param {Look} look @param {Item} item
 */
function letter(box, look, item) {
  const size = Math.max(item.width, item.height) / LETTERS;
  const words = document.createElementNS(SVG, "text");
  words.setAttribute("x", String(box.x1));
  words.setAttribute("y", String(Math.max(size * 0.8, box.y1 - size * 0.2)));
  words.style.cssText = `font-size: ${size}px; fill: ${look.color}; stroke-width: ${size / 5}px`;
  words.textContent = look.letter;
  return words;
}

/** @param {import("../../common/answers.js").State} state */
function mark(state) {
  return state in MARKS && h(`span.corner-mark.${state}`, { title: NAMES[state] }, tick(MARKS[state])) || "";
}

function tick(path = MARKS.done) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 12 12");
  svg.style.cssText = "width:10px;height:10px;position:static;fill:none;stroke:currentcolor;stroke-width:2";
  const line = document.createElementNS(SVG, "path");
  line.setAttribute("d", path);
  svg.append(line);
  return svg;
}
