/** How values and worth of a search hang together: parallel coordinates, and what explains the order. */

import { h } from "../../common/dom.js";
import { many, share } from "../../common/words.js";
import { make } from "../../plots/drawing.js";

/** @typedef {import("../../common/answers.js").Insight} Insight */
/** @typedef {import("../../common/answers.js").Axis} Axis */

const WIDE = 600, HIGH = 160, EDGE = 6;
const BEST = "#009e73", GOOD = "#56b4e9", PLAIN = "#9aa3ad";

/** Both, once there is something to be seen. @param {Insight} insight */
export function seen(insight) {
  if (insight.lines.length < 2 || !insight.axes.length) return [];
  return h(
    "div.inside",
    {},
    h("p.quiet-text", {}, words(insight)),
    coordinates(insight),
    h("div.spread", {}, insight.axes.map(foot), h("span.number", {}, "worth")),
  );
}

/** @param {Insight} insight */
function words({ ended, lines, axes }) {
  const drawn = lines.length < ended ? `; the best and some others, ${lines.length}, are drawn` : "";
  const few = axes.every((one) => one.explains === null) ? ": too few to say which value decides" : "";
  return `${many(ended, "trial")} of other values came to an end${few}${drawn}.`;
}

/** @param {Insight} insight */
function coordinates({ lines, axes }) {
  const values = lines.map((one) => one.value);
  const low = Math.min(...values), span = Math.max(...values) - low || 1;
  /** @param {number} at */
  const x = (at) => EDGE + (at / axes.length) * (WIDE - 2 * EDGE);
  /** @param {number} place */
  const y = (place) => HIGH - EDGE - place * (HIGH - 2 * EDGE);
  const svg = make("svg", {
    viewBox: `0 0 ${WIDE} ${HIGH}`,
    preserveAspectRatio: "none",
    role: "img",
    "aria-label": `Values of ${lines.length} trials, worth ${share(low)} to ${share(low + span)}`,
  });
  for (let at = 0; at <= axes.length; at++) {
    svg.append(make("line", { x1: x(at), x2: x(at), y1: EDGE, y2: HIGH - EDGE, stroke: PLAIN }));
  }
  // The best is drawn last, above the others.
  for (const [at, one] of [...lines.entries()].reverse()) {
    const places = [...one.places, (one.value - low) / span];
    const points = places.map((place, axis) => `${x(axis).toFixed(1)},${y(place).toFixed(1)}`).join(" ");
    const color = at === 0 ? BEST : at < lines.length / 4 ? GOOD : PLAIN;
    svg.append(make("polyline", { points, stroke: color }));
  }
  return h("div.curve", {}, svg);
}

/** What stands under an axis. @param {Axis} axis */
function foot(axis) {
  const explains = axis.explains === null ? "" : `, explains ${Math.round(100 * axis.explains)} %`;
  return h(
    "span",
    {
      title: "How much of the order of the trials this value explains alone; what chance would is taken off.",
    },
    axis.name.replaceAll("_", " "),
    h("span.quiet-text", {}, ` ${number(axis.low)} to ${number(axis.high)}${explains}`),
  );
}

/** @param {number} value */
function number(value) {
  return Number(value.toPrecision(2)).toString();
}
