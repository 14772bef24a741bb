/** Curves of a training, one small drawing a figure, a point an epoch. */

import { fill, h } from "../../common/dom.js";
import { count, share } from "../../common/words.js";

const SVG = "http://www.w3.org/2000/svg";
const WIDE = 300, HIGH = 120, EDGE = 6;
export const COLORS = ["#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#0072b2", "#9aa3ad"];
const NOT_DRAWN = ["epoch", "epochs", "seconds"];
// What a person looks at first; what is not named here follows.
const FIRST = ["map50", "map50_95", "accuracy", "loss", "val_loss", "box_loss", "cls_loss", "dfl_loss"];
const LAST = ["learning_rate", "images_per_second", "cpu_percent", "gpu_percent", "gpu_memory_percent"];
/** @type {Record<string, string>} */
const WORDS = {
  cls_loss: "Class loss",
  dfl_loss: "Edge loss",
  val_loss: "Loss in validation",
  val_box_loss: "Box loss in validation",
  val_cls_loss: "Class loss in validation",
  val_dfl_loss: "Edge loss in validation",
  map50_95: "mAP .5:.95",
  map50: "mAP@.5",
  map: "mAP",
  learning_rate: "Learning rate",
  cpu_percent: "Processor, %",
  gpu_percent: "Graphics card, %",
  gpu_memory_percent: "Its memory, %",
  images_per_second: "Images/s",
  ap: "AP with what was learned",
  ap_rules: "AP of the rules alone",
  ap_forest: "AP of the forest alone",
  weight: "Weight of the forest",
  pictures: "Pictures learned from",
  proposals: "Proposals looked at",
};

export class Curves {
  constructor() {
    /** @type {Map<number, Record<string, number>>} */
    this.points = new Map();
    this.element = h("div.inside.curves", { hidden: true });
  }

  /** @param {Record<string, number>} figures of one epoch */
  add(figures) {
    this.points.set(figures.epoch, figures);
    this.element.hidden = false;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.draw(), 30);
  }

  draw() {
    const epochs = [...this.points.values()].sort((a, b) => a.epoch - b.epoch);
    const names = ordered(epochs);
    const total = epochs[epochs.length - 1].epochs || epochs.length;
    if (total === 1) {
      return fill(
        this.element,
        h(
          "div.facts",
          {},
          names.map((name) => h("span", {}, `${words(name)} `, h("b", {}, figure(epochs[0][name])))),
        ),
      );
    }
    fill(
      this.element,
      names.map((name, at) =>
        drawing(
          name,
          epochs.filter((one) => Number.isFinite(one[name])).map((one) => [one.epoch, one[name]]),
          total,
          COLORS[at % COLORS.length],
        )
      ),
    );
  }
}

/**
 * @param {string} name @param {[number, number][]} points epoch and value @param {number} total
 * @param {string} color
 */
function drawing(name, points, total, color) {
  const values = points.map((point) => point[1]);
  const [last, now] = points[points.length - 1];
  const percent = name.endsWith("_percent");
  const low = percent ? 0 : Math.min(...values),
    high = percent ? 100 : Math.max(...values),
    span = high - low || 1;
  /** @param {number} epoch */
  const x = (epoch) => EDGE + ((epoch - 1) / Math.max(1, total - 1)) * (WIDE - 2 * EDGE);
  /** @param {number} value */
  const y = (value) => HIGH - EDGE - ((value - low) / span) * (HIGH - 2 * EDGE);
  const svg = make("svg", {
    viewBox: `0 0 ${WIDE} ${HIGH}`,
    preserveAspectRatio: "none",
    role: "img",
    "aria-label": `${name} over the epochs, from ${figure(values[0])} to ${figure(now)}`,
  });
  svg.append(
    make("polyline", {
      points: points.map(([epoch, value]) => `${x(epoch).toFixed(1)},${y(value).toFixed(1)}`).join(" "),
      stroke: color,
    }),
  );
  if (points.length === 1) {
    svg.append(make("circle", { cx: x(points[0][0]), cy: y(values[0]), r: 3, fill: color }));
  }
  return h(
    "div.curve",
    {},
    h("div.spread", {}, h("span.quiet-text", {}, words(name)), h("span.now", {}, figure(now))),
    svg,
    h(
      "div.spread.quiet-text.number",
      {},
      h("span", {}, `epoch ${points[0][0]}–${last} of ${total}`),
      h("span", {}, `${figure(low)} … ${figure(high)}`),
    ),
  );
}

/** The figures that are drawn of epochs, what a person looks at first before all others. @param {Record<string, number>[]} epochs */
export function ordered(epochs) {
  const names = [...new Set(epochs.flatMap((one) => Object.keys(one)))].filter((name) =>
    !NOT_DRAWN.includes(name) && epochs.some((one) => Number.isFinite(one[name])) &&
    (name !== "drift" || epochs.some((one) => one.drift > 0))
  );
  return names.sort((one, other) => place(one) - place(other));
}

/** @param {string} name */
function place(name) {
  const first = FIRST.indexOf(name), last = LAST.indexOf(name);
  return first >= 0 ? first : FIRST.length + 1 + last;
}

/** @param {string} name */
export function words(name) {
  return WORDS[name] ?? name.replaceAll("_", " ").replace(/^./, (first) => first.toUpperCase());
}

/** @param {number} value */
export function figure(value) {
  if (Math.abs(value) < 1e-3 && value !== 0) return value.toExponential(1);
  if (Math.abs(value) >= 10 && Math.abs(value) < 100 && !Number.isInteger(value)) return value.toFixed(1);
  return Number.isInteger(value) || Math.abs(value) >= 100 ? count(Math.round(value)) : share(value);
}

/** @param {string} name @param {Record<string, any>} attributes */
function make(name, attributes) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  return element;
}
