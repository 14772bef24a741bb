/** One thumbnail of the wall: the picture, its boxes, how far a person has got with it. */

import { h } from "./dom.js";
import { drop, want } from "./thumbs.js";

const MARKS = { done: "M2 6l3 3 5-6", started: "M3 6h6", skipped: "M3 3l6 6M9 3l-6 6" };
const NAMES = { new: "new", started: "started", done: "done", skipped: "skipped" };
const SVG = "http://www.w3.org/2000/svg";
const MOST = 150;

export class Cell {
  /** @param {number} index */
  constructor(index) {
    this.element = h("div.cell", { role: "gridcell", data: { index: String(index) } });
    this.shown = null;
    this.colors = null;
    /** @type {HTMLImageElement | null} */
    this.image = null;
  }

  move(x, y, side) {
    const style = this.element.style;
    style.transform = `translate(${x}px, ${y}px)`;
    style.width = style.height = `${side}px`;
  }

  show(item, colors) {
    if (item === this.shown && colors === this.colors) return;
    this.shown = item;
    this.colors = colors;
    drop(this.image);
    this.image = null;
    if (!item) return this.element.replaceChildren();
    const image = h("img", { alt: item.name, draggable: false, decoding: "async" });
    image.addEventListener("error", () => this.element.classList.add("failed"));
    this.element.replaceChildren(image, drawn(item, colors), mark(item.state), h("span.pick", { "aria-hidden": "true" }, tick()), h("span.caption", {}, item.name), item.label ? h("span.chip.label", {}, h("i", { style: { background: colors[item.label] ?? "#e9ebee" } }), item.label) : "");
    this.image = image;
    want(image, `/files/${item.sha256}/thumb`);
    this.element.setAttribute("aria-label", `${item.name}, ${NAMES[item.state]}, ${item.label || `${item.boxes.length} boxes`}`);
    return undefined;
  }

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

/** The boxes over a picture that is fitted into its place. */
export function drawn(item, colors) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${item.width} ${item.height}`);
  for (const box of item.boxes.slice(0, MOST)) {
    svg.append(rectangle(box, "halo"), rectangle(box, "", colors[box.label] ?? "#e9ebee"));
  }
  return svg;
}

function rectangle(box, kind, color = "") {
  const rect = document.createElementNS(SVG, "rect");
  rect.setAttribute("x", box.x1);
  rect.setAttribute("y", box.y1);
  rect.setAttribute("width", Math.max(0, box.x2 - box.x1));
  rect.setAttribute("height", Math.max(0, box.y2 - box.y1));
  if (kind) rect.setAttribute("class", kind);
  if (color) rect.style.stroke = color;
  return rect;
}

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
