/** Drawings of what was measured: precision over recall, and the confusion of classes. */

import { h } from "../../common/dom.js";
import { count, share } from "../../common/words.js";

const SVG = "http://www.w3.org/2000/svg";
const GREY = "#9aa3ad";

/**
 * @param {Record<string, import("../../common/answers.js").CurvePoints>} curves by class
 * @param {Record<string, string>} colors of the classes
 */
export function precisionRecall(curves, colors) {
  const svg = make("svg", {
    viewBox: "-34 -8 350 246",
    role: "img",
    "aria-label": "Precision over recall, a line a class",
  });
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    svg.append(make("line", { x1: 0, x2: 300, y1: 200 - 200 * share, y2: 200 - 200 * share, class: "grid" }));
    svg.append(
      text(-6, 204 - 200 * share, share.toFixed(2), "end"),
      text(300 * share, 218, share.toFixed(2), "middle"),
    );
  }
  svg.append(text(150, 234, "recall", "middle"));
  Object.entries(curves).forEach(([name, one]) => {
    const points = one.recall.map((recall, i) =>
      `${(300 * recall).toFixed(1)},${(200 - 200 * one.precision[i]).toFixed(1)}`
    ).join(" ");
    const line = make("polyline", {
      points,
      stroke: colors[name] ?? GREY,
      fill: "none",
      "stroke-width": 1.5,
    });
    line.append(make("title", {}, name));
    svg.append(line);
  });
  return h(
    "figure.figure",
    {},
    h("h3", {}, "Precision over recall"),
    svg,
    h(
      "div.chips",
      {},
      Object.keys(curves).map((name) =>
        h("span.chip", {}, h("i", { style: { background: colors[name] ?? GREY } }), name)
      ),
    ),
  );
}

/**
 * How often a classifier is right where it is how sure; on the line it is as right as it is sure.
 * @param {import("../../common/answers.js").ReliabilityPart[]} parts of its confidence
 * @param {number | null | undefined} off how far the two lie apart on average
 */
export function reliability(parts, off) {
  const most = Math.max(1, ...parts.map((one) => one.images));
  const svg = make("svg", {
    viewBox: "-34 -8 350 246",
    role: "img",
    "aria-label": `How often right, over how sure, in ${parts.length} parts`,
  });
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    svg.append(
      make("line", { x1: 0, x2: 300, y1: 200 - 200 * share, y2: 200 - 200 * share, class: "grid" }),
      text(-6, 204 - 200 * share, share.toFixed(2), "end"),
      text(300 * share, 218, share.toFixed(2), "middle"),
    );
  }
  svg.append(make("line", { x1: 0, x2: 300, y1: 200, y2: 0, class: "grid" }));
  for (const one of parts) {
    const dot = make("circle", {
      cx: (300 * one.confidence).toFixed(1),
      cy: (200 - 200 * one.accuracy).toFixed(1),
      r: (3 + 5 * Math.sqrt(one.images / most)).toFixed(1),
      fill: "#56b4e9",
    });
    const sure = `${share(one.confidence)} sure, ${share(one.accuracy)} right`;
    dot.append(make("title", {}, `${count(one.images)} images: ${sure}`));
    svg.append(dot);
  }
  svg.append(text(150, 234, "how sure", "middle"));
  return h(
    "figure.figure",
    {},
    h("h3", {}, "How often right", h("small.quiet-text", {}, ` off by ${share(off)} on average (ECE)`)),
    svg,
  );
}

/**
 * @param {import("../../common/answers.js").Confusion} found rows: what is there; columns: what was said
 */
export function confusion(found) {
  const most = Math.max(1, ...found.matrix.flat());
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
              title:
                "Rows: what is there. Columns: what the model said. Background: nothing there, or nothing said.",
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
                }, number ? count(number) : "·")
              ),
            )
          ),
        ),
      ),
    ),
  );
}

/** @param {number} part @param {boolean} right */
function shade(part, right) {
  return part > 0
    ? `color-mix(in srgb, ${right ? "var(--good)" : "var(--bad)"} ${Math.round(8 + 34 * part)}%, transparent)`
    : "none";
}

/** @param {number} x @param {number} y @param {string} words @param {"middle" | "end"} anchor */
function text(x, y, words, anchor) {
  return make("text", { x, y, "text-anchor": anchor }, words);
}

/** @param {string} name @param {Record<string, any>} attributes */
function make(name, attributes, words = "") {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  if (words) element.textContent = words;
  return element;
}
