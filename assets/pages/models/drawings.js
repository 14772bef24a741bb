/** Drawings of what was measured: precision over recall, and the confusion of classes. */

import { h } from "../../common/dom.js";
import { address, project } from "../../common/site.js";
import { count, share } from "../../common/words.js";
import { plot } from "../../plots/plot.js";

const GREY = "#9aa3ad", BLUE = "#56b4e9";
const SHARE = { from: 0, to: 1, told: (/** @type {number} */ value) => share(value, 2) };

/**
 * @param {Record<string, import("../../common/answers.js").CurvePoints>} curves by class
 * @param {Record<string, string>} colors of the classes
 */
export function precisionRecall(curves, colors) {
  return plot({
    title: "Precision over recall",
    x: { label: "Recall", ...SHARE },
    y: { label: "Precision", ...SHARE },
    high: 300,
    layers: Object.entries(curves).map(([name, one]) => ({
      name,
      color: colors[name] ?? GREY,
      kind: "lines",
      marks: one.recall.map((recall, at) => ({ x: recall, y: one.precision[at] })),
    })),
  });
}

/**
 * F1 at each score from which a detection would count; the top is where a threshold does best.
 * @param {Record<string, import("../../common/answers.js").CurvePoints>} curves by class
 * @param {Record<string, string>} colors of the classes
 */
export function f1Score(curves, colors) {
  return plot({
    title: "F1 over score",
    x: { label: "Score from which it counts", ...SHARE },
    y: { label: "F1", ...SHARE },
    high: 300,
    layers: Object.entries(curves).map(([name, one]) => ({
      name,
      color: colors[name] ?? GREY,
      kind: "lines",
      marks: balanced(one),
    })),
  });
}

/** From the lowest score up; of recalls that are never reached there is none. @param {import("../../common/answers.js").CurvePoints} of */
function balanced({ recall, precision, score }) {
  return score
    .map((x, at) => ({ x, y: 2 * precision[at] * recall[at] / (precision[at] + recall[at] || 1) }))
    .filter(({ y }) => y > 0)
    .sort((one, other) => one.x - other.x);
}

/**
 * How often a classifier is right where it is how sure; on the line it is as right as it is sure.
 * @param {import("../../common/answers.js").ReliabilityPart[]} parts of its confidence
 * @param {number | null | undefined} off how far the two lie apart on average
 */
export function reliability(parts, off) {
  return plot({
    title: "How often right",
    note: `Off by ${share(off)} on average (ECE); on the line it is as right as it is sure.`,
    x: { label: "How sure", ...SHARE },
    y: { label: "How often right", ...SHARE },
    high: 300,
    layers: [
      {
        name: "As right as sure",
        kind: "lines",
        color: GREY,
        dashed: true,
        marks: [{ x: 0, y: 0 }, { x: 1, y: 1 }],
      },
      {
        name: "This model",
        kind: "points",
        color: BLUE,
        marks: parts.map((one) => ({
          x: one.confidence,
          y: one.accuracy,
          words: `${count(one.images)} images`,
        })),
      },
    ],
  });
}

/**
 * Each cell opens its pictures, where these are classified. One of a class that has been merged or taken
 * out since opens none: nothing is called so any more.
 * @param {import("../../common/answers.js").Confusion} found rows: what is there; columns: what was said
 * @param {Record<string, string>} colors of the classes of today
 */
export function confusion(found, colors) {
  const most = Math.max(1, ...found.matrix.flat());
  /** @param {number} at @param {number} to */
  const cell = (at, to) => {
    const number = found.matrix[at][to], [label, said] = [found.labels[at], found.labels[to]];
    const shown = number ? count(number) : "·";
    const opens = number && found.run && label in colors && said in colors;
    const chosen = { label, class: said, measured: number };
    return opens ? h("a", { href: pictures(found.run ?? 0, chosen) }, shown) : shown;
  };
  return h(
    "figure.figure",
    {},
    h(
      "h3",
      {},
      "What was taken for what",
      found.score !== undefined &&
        h("small.quiet-text", {}, ` at a score of ${share(found.score, 2)}, for all classes`),
    ),
    h(
      "div",
      { style: { overflow: "auto" } },
      h(
        "table.confusion",
        {},
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            h("th", {
              title: `Rows: what is there. Columns: what the model said. ${
                found.run ? "A number opens its pictures." : "Background: nothing there, or nothing said."
              }`,
            }, "is ↓  said →"),
            found.labels.map((name) => h("th.number", {}, name)),
          ),
        ),
        h(
          "tbody",
          {},
          found.matrix.map((row, at) =>
            h(
              "tr",
              {},
              h("th", {}, found.labels[at]),
              row.map((number, to) =>
                h("td.number", {
                  title: `${found.labels[at]} taken for ${found.labels[to]}: ${number}`,
                  style: { background: shade(number / most, at === to) },
                }, cell(at, to))
              ),
            )
          ),
        ),
      ),
    ),
  );
}

/** The pictures of a run that are behind a figure. @param {number} run @param {Record<string, string | number>} chosen */
function pictures(run, chosen) {
  return address({ project: project(), tab: "review", run, view: "boards", ...chosen });
}

/** @param {number} part @param {boolean} right */
function shade(part, right) {
  return part > 0
    ? `color-mix(in srgb, ${right ? "var(--good)" : "var(--bad)"} ${Math.round(8 + 34 * part)}%, transparent)`
    : "none";
}
