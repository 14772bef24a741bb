/** A plot on a page: hover, keys, a legend that hides, a table behind it, and files to take along. */

import { fill, h } from "../common/dom.js";
import { visit } from "../common/site.js";
import { picture, save, script } from "./files.js";
import { csv, table } from "./scales.js";
import { drawn } from "./drawing.js";

/** @typedef {import("./scales.js").Spec} Spec */
/** @typedef {SVGElement & {said: string[]}} Reached */

const NARROWEST = 240;
const FIRST = 560; // pixels, until the page has said how many there are
const MOST_ROWS = 2000;
const MOST_NAMED = 24; // layers that a legend has room for
const CLOSE = 4; // a row or a column of marks is so many pixels thick

/** A plot that stays as it is. @param {Spec} spec */
export function plot(spec) {
  return new Plot().show(spec).element;
}

export class Plot {
  constructor() {
    /** @type {Set<string>} */
    this.hidden = new Set();
    /** @type {Spec | null} */
    this.spec = null;
    this.tabled = false;
    this.width = FIRST;
    this.title = h("h3");
    this.note = h("p.quiet-text");
    this.legend = h("div.chips");
    this.stage = h("div.plot-stage");
    this.tip = h("div.plot-tip", { hidden: true, role: "status" });
    this.element = h(
      "figure.plot",
      {},
      h("div.spread", {}, this.title, this.menu()),
      this.note,
      h("div.plot-room", {}, this.stage, this.tip),
      this.legend,
    );
    this.stage.addEventListener(
      "pointermove",
      (/** @type {PointerEvent} */ event) => this.point(event.target),
    );
    this.stage.addEventListener("pointerleave", () => (this.tip.hidden = true));
    this.stage.addEventListener("focusin", (/** @type {FocusEvent} */ event) => this.point(event.target));
    this.stage.addEventListener("focusout", () => (this.tip.hidden = true));
    this.stage.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => this.key(event));
    new ResizeObserver(([{ contentRect }]) => this.fit(contentRect.width)).observe(this.stage);
  }

  /** @param {Spec} spec */
  show(spec) {
    const same = JSON.stringify(spec) === JSON.stringify(this.spec);
    this.spec = spec;
    if (!same) this.draw();
    return this;
  }

  /** @param {number} width */
  fit(width) {
    if (width < 1 || Math.abs(width - this.width) < 2) return;
    this.width = Math.max(NARROWEST, width);
    this.draw();
  }

  draw() {
    const { spec } = this;
    if (!spec) return;
    fill(this.title, spec.title);
    fill(this.note, spec.note ?? "");
    this.note.hidden = !spec.note;
    const held = this.marks().indexOf(/** @type {any} */ (document.activeElement));
    if (this.tabled) fill(this.stage, rows(spec));
    else fill(this.stage, this.svg(spec));
    if (held >= 0) this.marks()[held]?.focus();
    this.named(spec);
  }

  /** @param {Spec} spec */
  svg(spec) {
    const svg = drawn(spec, this.hidden, spec.square ? Math.min(this.width, 460) : this.width);
    const marks = svg.querySelectorAll(".mark").length;
    const keys = marks ? ". Arrow keys go from mark to mark, Enter opens what is behind one" : "";
    svg.setAttribute("role", "group");
    svg.setAttribute("tabindex", marks ? "0" : "-1");
    svg.setAttribute("aria-label", `${spec.title}${keys}`);
    return svg;
  }

  /** @param {Spec} spec */
  named(spec) {
    const many = spec.layers.length > MOST_NAMED;
    const chips = spec.layers.length < 2 || many ? [] : spec.layers.map(({ name, color }) => {
      const turn = () => {
        this.hidden.has(name) ? this.hidden.delete(name) : this.hidden.add(name);
        this.draw();
        this.legend.querySelectorAll("button")[spec.layers.findIndex((one) => one.name === name)]?.focus();
      };
      const shown = String(!this.hidden.has(name));
      return h(
        "button.chip",
        { onclick: turn, "aria-pressed": shown },
        h("i", { style: { background: color } }),
        name,
      );
    });
    fill(this.legend, chips);
    this.legend.hidden = !chips.length;
  }

  menu() {
    const flip = h("button.quiet", { onclick: () => this.flip(flip), "aria-pressed": "false" }, "Table");
    const name = () => (this.spec?.title ?? "plot").toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
    /** @param {string} words @param {() => any} work */
    const take = (words, work) => h("button.quiet", { onclick: work, title: `Save as ${words}` }, words);
    return h(
      "span.plot-menu",
      {},
      flip,
      take(
        "SVG",
        () => this.spec && save(`${name()}.svg`, "image/svg+xml", script(this.stage, this.svg(this.spec))),
      ),
      take("PNG", () => this.spec && picture(`${name()}.png`, this.stage, this.svg(this.spec))),
      take("CSV", () => this.spec && save(`${name()}.csv`, "text/csv", csv(table(this.spec)))),
    );
  }

  /** @param {HTMLElement} button */
  flip(button) {
    this.tabled = !this.tabled;
    button.setAttribute("aria-pressed", String(this.tabled));
    this.draw();
  }

  /** @returns {Reached[]} */
  marks() {
    return [...this.stage.querySelectorAll(".mark")];
  }

  /** Say what stands under the pointer, or where the keys are. @param {EventTarget | null} target */
  point(target) {
    const mark = /** @type {Reached | null} */ (/** @type {Element} */ (target).closest(".mark"));
    this.tip.hidden = !mark;
    if (!mark) return;
    const [first, ...others] = mark.said;
    fill(this.tip, h("b", {}, first), others.map((line) => h("div", {}, line)));
    const room = this.stage.getBoundingClientRect(), { x, y } = middle(mark);
    const right = x - room.left > room.width / 2;
    this.tip.style.top = `${Math.max(0, y - room.top - this.tip.offsetHeight - 8)}px`;
    this.tip.style.left = right ? "" : `${x - room.left + 12}px`;
    this.tip.style.right = right ? `${room.right - x + 12}px` : "";
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const marks = this.marks(), here = marks.indexOf(/** @type {any} */ (document.activeElement));
    if (!marks.length || event.ctrlKey || event.metaKey || event.altKey) return;
    const href = marks[here]?.getAttribute("href");
    if (event.key === "Enter" && href) visit(href);
    else if (event.key === "Home" || (here < 0 && event.key.startsWith("Arrow"))) marks[0].focus();
    else if (event.key === "End") marks[marks.length - 1].focus();
    else if (event.key.startsWith("Arrow")) next(marks, marks[here], event.key)?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}

/** The nearest mark on that side, of its own layer where there is one. @param {Reached[]} marks @param {Reached} from @param {string} key */
function next(marks, from, key) {
  const sign = key === "ArrowRight" || key === "ArrowDown" ? 1 : -1;
  const level = key === "ArrowRight" || key === "ArrowLeft", here = middle(from);
  const own = level ? marks.filter((one) => one.parentNode === from.parentNode) : marks;
  const cells = level && from.parentElement?.classList.contains("cells");
  let best = null, least = Infinity;
  for (const one of own) {
    const { x, y } = middle(one), along = sign * (level ? x - here.x : y - here.y);
    const off = Math.abs(level ? y - here.y : x - here.x);
    const cost = along + (cells || !level ? 8 * Math.max(0, off - CLOSE) : 0);
    if (one !== from && along > 0.5 && cost < least) [best, least] = [one, cost];
  }
  return best;
}

/** @param {Element} mark */
function middle(mark) {
  const shape = mark.querySelector(":scope > :not(.room):not(.whisker)") ?? mark;
  const { left, top, width, height } = shape.getBoundingClientRect();
  return { x: left + width / 2, y: top + (shape.tagName === "circle" ? height / 2 : 0) };
}

/** @param {Spec} spec */
function rows(spec) {
  const [heads, lines] = table(spec);
  const number = (/** @type {any} */ value) => typeof value === "number";
  return h(
    "div.plot-table",
    { tabindex: 0, role: "region", "aria-label": `${spec.title}, as a table` },
    h(
      "table",
      {},
      h("thead", {}, h("tr", {}, heads.map((name) => h("th", {}, name)))),
      h(
        "tbody",
        {},
        lines.slice(0, MOST_ROWS).map((line) =>
          h("tr", {}, line.map((value) => h(number(value) ? "td.number" : "td", {}, written(value))))
        ),
      ),
    ),
    lines.length > MOST_ROWS &&
      h("p.quiet-text", {}, `The first ${MOST_ROWS} rows; the CSV has all of them.`),
  );
}

/** @param {string | number} value */
function written(value) {
  return typeof value === "number" ? String(Number(value.toPrecision(6))) : value;
}
