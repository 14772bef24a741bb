/** Plots of a search: the best so far over the trials, and the curves of those that matter. */

import { share } from "../../common/words.js";

/** @typedef {import("../../common/answers.js").SearchDetails} Details */
/** @typedef {import("../../common/answers.js").TrialCurve} Curve */
/** @typedef {import("../../plots/scales.js").Spec} Spec */
/** @typedef {[number, number]} Point */

const PLAIN = "#9aa3ad", FIRST = "#e69f00", BEST = "#009e73";

/** The plots. @param {Details} search @param {readonly Curve[]} curves @returns {Spec[]} */
export function plots(search, curves) {
  const lines = curves.filter((one) => one.curve.length > 0).map((one) => ({
    name: one.number ? `Trial ${one.number}` : "The defaults",
    points: one.curve.map((point) => /** @type {Point} */ ([point.epoch, point.value])),
    color: one.number === search.best ? BEST : one.number ? PLAIN : FIRST,
  }));
  // What counts is drawn above the others.
  lines.sort((a, b) => Number(a.color !== PLAIN) - Number(b.color !== PLAIN));
  const trials = [{ name: "Best so far", points: risen(search), color: BEST }];
  const times = [{ name: "Best so far", points: overTime(search), color: BEST }];
  return [
    spec("The best trials and those under way", "Epoch", lines),
    spec("Best so far over the trials", "Trial", trials),
    spec("Best so far over time", "Seconds", search.rise.length > 1 ? times : []),
  ].filter(({ layers }) => layers.some(({ marks }) => marks.length));
}

/** @param {string} title @param {string} over @param {{name: string, points: Point[], color: string}[]} lines @returns {Spec} */
function spec(title, over, lines) {
  const layers = lines.map(({ name, points, color }) => ({
    name,
    color,
    kind: /** @type {const} */ ("lines"),
    marks: points.map(([x, y]) => ({ x, y })),
  }));
  return { title, x: { label: over }, y: { label: "Worth", told: share }, layers };
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
