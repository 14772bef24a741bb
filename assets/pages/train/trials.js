/** Drawings of a search: the best so far over the trials, and the curves of those that matter. */

import { h } from "../../common/dom.js";
import { share } from "../../common/words.js";

/** @typedef {import("../../common/answers.js").SearchDetails} Details */
/** @typedef {import("../../common/answers.js").TrialCurve} Curve */
/** @typedef {[number, number]} Point */

const SVG = "http://www.w3.org/2000/svg";
const WIDE = 300, HIGH = 120, EDGE = 6;
const PLAIN = "#9aa3ad", FIRST = "#e69f00", BEST = "#009e73";

/** The drawings. @param {Details} search @param {readonly Curve[]} curves */
export function drawing(search, curves) {
  const lines = curves.filter((one) => one.curve.length > 0).map((one) => ({
    points: one.curve.map((point) => /** @type {Point} */ ([point.epoch, point.value])),
    color: one.number === search.best ? BEST : one.number ? PLAIN : FIRST,
  }));
  // What counts is drawn above the others.
  lines.sort((a, b) => Number(a.color !== PLAIN) - Number(b.color !== PLAIN));
  const last = Math.max(search.epochs, ...lines.flatMap((line) => line.points.map(([epoch]) => epoch)));
  const points = risen(search);
  const longest = search.rise.at(-1)?.seconds ?? 0;
  return [
    lines.length > 0 && picture("The best trials and those under way, over their epochs", lines, 1, last),
    points.length > 0 &&
    picture("Best so far over the trials", [{ points, color: BEST }], 0, points[points.length - 1][0]),
    search.rise.length > 1 &&
    picture("Best so far over time", [{ points: overTime(search), color: BEST }], 0, longest),
  ];
}

/**
 * What the best trial was worth up to each number; those of several at once may end in another order.
 * @param {Pick<Details, "rise" | "counts">} search
 */
export function risen({ rise, counts }) {
  /** @type {Point[]} */
  const points = [];
  for (const { number, value } of [...rise].sort((a, b) => a.number - b.number)) {
    const before = points.at(-1);
    if (!before || value > before[1]) points.push([number, value]);
  }
  const last = Object.values(counts).reduce((sum, one) => sum + one, 0) - 1;
  const top = points.at(-1);
  return top && last > top[0] ? [...points, /** @type {Point} */ ([last, top[1]])] : points;
}

/** The same over the seconds since it began. @param {Pick<Details, "rise">} search */
function overTime({ rise }) {
  return rise.map((one) => /** @type {Point} */ ([one.seconds, one.value]));
}

/**
 * @param {string} words @param {{points: Point[], color: string}[]} lines
 * @param {number} from @param {number} to
 * @param {(low: number, high: number) => string} told what is said of the values
 */
export function picture(words, lines, from, to, told = (_, high) => share(high)) {
  const values = lines.flatMap((line) => line.points.map((point) => point[1]));
  const low = Math.min(...values), high = Math.max(...values), span = high - low || 1;
  /** @param {number} at */
  const x = (at) => EDGE + ((at - from) / Math.max(1, to - from)) * (WIDE - 2 * EDGE);
  /** @param {number} value */
  const y = (value) => HIGH - EDGE - ((value - low) / span) * (HIGH - 2 * EDGE);
  const svg = make("svg", {
    viewBox: `0 0 ${WIDE} ${HIGH}`,
    preserveAspectRatio: "none",
    role: "img",
    "aria-label": `${words}, from ${share(low)} to ${share(high)}`,
  });
  for (const { points, color } of lines) {
    const path = points.map(([at, value]) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`);
    svg.append(make("polyline", { points: path.join(" "), stroke: color }));
    const [at, value] = points[points.length - 1];
    svg.append(make("circle", { cx: x(at), cy: y(value), r: 2.5, fill: color }));
  }
  return h(
    "div.curve",
    {},
    h("div.spread", {}, h("span.quiet-text", {}, words), h("span.now", {}, told(low, high))),
    svg,
  );
}

/** @param {string} name @param {Record<string, any>} attributes */
export function make(name, attributes) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  return element;
}
