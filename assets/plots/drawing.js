/** Draws a plot: its grid, its axes, and the marks of each layer, as SVG. */

import { percent, scale } from "./scales.js";

/** @typedef {import("./scales.js").Axis} Axis */
/** @typedef {import("./scales.js").Layer} Layer */
/** @typedef {import("./scales.js").Mark} Mark */
/** @typedef {import("./scales.js").Scale} Scale */
/** @typedef {import("./scales.js").Spec} Spec */
/** @typedef {{x: Scale, y: Scale, floor: number, group: SVGElement}} Plane */

const SVG = "http://www.w3.org/2000/svg";
const LETTER = 6.2; // pixels, about
const LONGEST = 16; // letters of a name beside an axis
const TOP = 10, BELOW = 40, ROW = 18;
const FAINTEST = 0.12;

/** An element of a drawing. @param {string} name @param {Record<string, any>} attributes @param {...(Node | string)} inner */
export function make(name, attributes, ...inner) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  made.append(...inner);
  return made;
}

/** The layers of a plot that are not in `hidden`, `width` pixels wide. @param {Spec} spec @param {Set<string>} hidden @param {number} width */
export function drawn(spec, hidden, width) {
  const high = spec.high ?? Math.max(220, (spec.y.names?.length ?? 0) * ROW + TOP + BELOW);
  const layers = spec.layers.filter(({ name }) => !hidden.has(name));
  const left = layers.filter((one) => !one.right), right = layers.filter((one) => one.right);
  const from = margin(spec, left), to = width - (spec.right ? 62 : 14), floor = high - BELOW;
  const x = scale(spec.x, left.flatMap(across), from, to);
  const y = scale(spec.y, left.flatMap(upward), floor, TOP);
  const other = spec.right ? scale(spec.right, right.flatMap(upward), floor, TOP) : y;
  const svg = make("svg", { width, height: high, viewBox: `0 0 ${width} ${high}` });
  svg.append(grid(spec, x, y, from, to, floor, high));
  if (spec.right) svg.append(beside(spec.right, other, to, floor));
  for (const layer of layers) {
    const group = make("g", { class: `layer ${layer.kind}`, style: `color: ${layer.color}` });
    const plane = { x, y: layer.right ? other : y, floor, group };
    DRAW[layer.kind](layer, plane);
    svg.append(group);
  }
  return svg;
}

/** @type {Record<import("./scales.js").Kind, (layer: Layer, plane: Plane) => void>} */
const DRAW = { bars, lines, points, cells };

/** @param {Layer} layer @param {Plane} plane */
function bars(layer, { x, y, floor, group }) {
  const wide = x.width ? Math.max(1, Math.min(64, x.width * 0.76)) : 0;
  for (const mark of layer.marks) {
    const middle = x.at(mark.x), end = mark.to === undefined ? middle + wide / 2 : x.at(mark.to) - 0.5;
    const start = mark.to === undefined ? middle - wide / 2 : middle + 0.5, top = y.at(mark.y);
    const bar = { x: start, y: top, width: Math.max(1, end - start), height: Math.max(0, floor - top) };
    const room = make("rect", { ...bar, y: TOP, height: floor - TOP, class: "room" });
    const inner = [
      room,
      make("rect", { ...bar, fill: "currentcolor" }),
      ...whisker(mark, (start + end) / 2, y),
    ];
    group.append(reached(layer, mark, x, y, inner));
  }
}

/** @param {Layer} layer @param {Plane} plane */
function lines(layer, plane) {
  const { x, y, group } = plane, on = layer.marks.filter(({ y }) => Number.isFinite(y));
  const banded = on.filter((mark) => mark.low !== undefined && mark.high !== undefined);
  if (banded.length > 1) {
    const above = banded.map((mark) => place(x.at(mark.x), y.at(mark.high ?? 0)));
    const below = banded.map((mark) => place(x.at(mark.x), y.at(mark.low ?? 0))).reverse();
    group.append(
      make("polygon", { points: [...above, ...below].join(" "), fill: "currentcolor", "fill-opacity": 0.16 }),
    );
  }
  group.append(make("polyline", {
    points: on.map((mark) => place(x.at(mark.x), y.at(mark.y))).join(" "),
    fill: "none",
    stroke: "currentcolor",
    "stroke-width": 1.75,
    ...(layer.dashed ? { "stroke-dasharray": "5 4" } : {}),
  }));
  const small = on.length > 60 ? 0 : 2.5;
  for (const mark of on) group.append(reached(layer, mark, x, y, spot(mark, x, y, small)));
}

/** @param {Layer} layer @param {Plane} plane */
function points(layer, { x, y, group }) {
  for (const mark of layer.marks) {
    const inner = [...whisker(mark, x.at(mark.x), y), ...spot(mark, x, y, 3.5)];
    group.append(reached(layer, mark, x, y, inner));
  }
}

/** @param {Layer} layer @param {Plane} plane */
function cells(layer, { x, y, group }) {
  const most = Math.max(1e-12, ...layer.marks.map(({ value }) => value ?? 0));
  for (const mark of layer.marks) {
    const part = (mark.value ?? 0) / most, gap = x.width > 6 ? 1 : 0;
    const rect = make("rect", {
      x: x.at(mark.x) - x.width / 2,
      y: y.at(mark.y) - y.width / 2,
      width: Math.max(1, x.width - gap),
      height: Math.max(1, y.width - gap),
      fill: "currentcolor",
      "fill-opacity": part ? FAINTEST + (1 - FAINTEST) * part : 0.04,
    });
    group.append(reached(layer, mark, x, y, [rect]));
  }
}

/** @param {Mark} mark @param {Scale} x @param {Scale} y @param {number} r */
function spot(mark, x, y, r) {
  const at = { cx: x.at(mark.x), cy: y.at(mark.y) };
  return [make("circle", { ...at, r: 9, class: "room" }), make("circle", { ...at, r, fill: "currentcolor" })];
}

/** @param {Mark} mark @param {number} at @param {Scale} y */
function whisker({ low, high }, at, y) {
  if (low === undefined || high === undefined) return [];
  return [make("line", { x1: at, x2: at, y1: y.at(low), y2: y.at(high), class: "whisker" })];
}

/** A mark that can be hovered, walked to by keys, and opened. @param {Layer} layer @param {Mark} mark @param {Scale} x @param {Scale} y @param {Element[]} inner */
function reached(layer, mark, x, y, inner) {
  const said = says(layer, mark, x, y), link = mark.href ? { href: mark.href } : { role: "img" };
  const made = make(mark.href ? "a" : "g", {
    class: "mark",
    tabindex: -1,
    "aria-label": said.join(", "),
    ...link,
  }, ...inner);
  Object.assign(made, { said });
  return made;
}

/** What is said of a mark, line by line. @param {Layer} layer @param {Mark} mark @param {Scale} x @param {Scale} y */
function says(layer, mark, x, y) {
  const across = mark.to === undefined
    ? x.told(mark.x)
    : `${x.told(mark.x)} to ${x.told(mark.to).split(": ").at(-1)}`;
  const told = (/** @type {number | undefined} */ value) => y.told(value ?? 0).split(": ").at(-1);
  const between = mark.low === undefined ? "" : ` (95 %: ${told(mark.low)} to ${told(mark.high)})`;
  return [layer.name, across, `${y.told(mark.y)}${between}`, mark.words ?? ""].filter(Boolean);
}

/** @param {Layer} layer @returns {number[]} */
function across({ marks }) {
  return marks.flatMap(({ x, to }) => [Number(x), ...(to === undefined ? [] : [to])]);
}

/** @param {Layer} layer @returns {number[]} */
function upward({ marks }) {
  return marks.flatMap(({ y, low, high }) => [Number(y), low ?? Number.NaN, high ?? Number.NaN]);
}

/** How much room the words beside the upright axis need. @param {Spec} spec @param {Layer[]} layers */
function margin(spec, layers) {
  const { ticks } = scale(spec.y, layers.flatMap(upward), 200, 0);
  const longest = Math.max(...ticks.map(({ words }) => Math.min(LONGEST, words.length)), 1);
  return Math.round(26 + LETTER * longest);
}

/** @param {Spec} spec @param {Scale} x @param {Scale} y @param {number} from @param {number} to @param {number} floor @param {number} high */
function grid(spec, x, y, from, to, floor, high) {
  const group = make("g", { class: "axes" });
  for (const { at, words } of y.ticks) {
    if (!spec.y.names) group.append(make("line", { x1: from, x2: to, y1: at, y2: at, class: "grid" }));
    group.append(text(from - 6, at + 4, words, "end"));
  }
  for (const { at, words } of spaced(x, spec.x)) {
    if (!spec.x.names) group.append(make("line", { x1: at, x2: at, y1: TOP, y2: floor, class: "grid" }));
    group.append(text(at, floor + 15, words, "middle"));
  }
  const middle = (TOP + floor) / 2;
  group.append(make("line", { x1: from, x2: to, y1: floor, y2: floor, class: "grid" }));
  group.append(text((from + to) / 2, high - 5, titled(spec.x), "middle", "title"));
  const upright = text(0, 0, titled(spec.y), "middle", "title");
  upright.setAttribute("transform", `translate(11 ${middle}) rotate(-90)`);
  group.append(upright);
  return group;
}

/** @param {Axis} axis @param {Scale} y @param {number} to @param {number} floor */
function beside(axis, y, to, floor) {
  const told = make(
    "g",
    { class: "axes" },
    ...y.ticks.map(({ at, words }) => text(to + 6, at + 4, words, "start")),
  );
  const upright = text(0, 0, titled(axis), "middle", "title");
  upright.setAttribute("transform", `translate(${to + 54} ${(TOP + floor) / 2}) rotate(90)`);
  told.append(upright);
  return told;
}

/** Of names that stand too close only some are written. @param {Scale} x @param {Axis} axis */
function spaced(x, axis) {
  if (!axis.names) return x.ticks;
  const longest = Math.max(1, ...axis.names.map((name) => Math.min(LONGEST, name.length)));
  const each = Math.max(1, Math.ceil((LETTER * longest + 8) / Math.max(1, x.width)));
  return x.ticks.filter((_, at) => at % each === 0);
}

/** @param {Axis} axis */
function titled({ label, unit }) {
  return unit ? `${label}, ${unit}` : label;
}

/** @param {number} x @param {number} y @param {string} words @param {string} anchor */
function text(x, y, words, anchor, kind = "tick") {
  const short = kind === "tick" && words.length > LONGEST ? `${words.slice(0, LONGEST - 1)}…` : words;
  return make("text", { x, y, "text-anchor": anchor, class: kind }, short);
}

/** @param {number} x @param {number} y */
function place(x, y) {
  return `${x.toFixed(1)},${y.toFixed(1)}`;
}

/** @type {Axis} */
export const SHARES = { label: "Share", from: 0, to: 1, told: percent };
