/** Curves of a training, a point an epoch: what it loses, what it is worth, then the rest. */

import { fill, h } from "../../common/dom.js";
import { count, share } from "../../common/words.js";
import { Several } from "../../plots/several.js";

/** @typedef {import("../../plots/scales.js").Spec} Spec */

export const COLORS = ["#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#0072b2", "#9aa3ad"];
const NOT_DRAWN = ["epoch", "epochs", "seconds"];
// What a person looks at first; what is not named here follows.
const FIRST = ["map50", "map50_95", "accuracy", "loss", "val_loss", "box_loss", "cls_loss", "dfl_loss"];
const LAST = ["learning_rate", "images_per_second", "cpu_percent", "gpu_percent", "gpu_memory_percent"];
/** Figures that stand in one plot, by its title. @type {[string, (name: string) => boolean][]} */
const TOGETHER = [
  ["Loss", (name) => name.endsWith("loss")],
  ["Worth", (name) => /^(map|accuracy|top3|ap(_|$))/.test(name)],
];
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
    this.plots = new Several();
    this.element = h("div.inside", { hidden: true });
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
    if (total > 1) return fill(this.element, this.plots.show(specs(epochs, names, total)));
    return fill(
      this.element,
      h(
        "div.facts",
        {},
        names.map((name) => h("span", {}, `${words(name)} `, h("b", {}, figure(epochs[0][name])))),
      ),
    );
  }
}

/** A plot of what belongs together, then one for each other figure. @param {Record<string, number>[]} epochs @param {string[]} names @param {number} total */
function specs(epochs, names, total) {
  const rest = names.filter((name) => !TOGETHER.some(([, holds]) => holds(name)));
  /** @type {[string, string[]][]} */
  const groups = [
    ...TOGETHER.map(([title, holds]) => /** @type {[string, string[]]} */ ([title, names.filter(holds)])),
    ...rest.map((name) => /** @type {[string, string[]]} */ ([words(name), [name]])),
  ];
  return groups.filter(([, held]) => held.length).map(([title, held]) =>
    overEpochs(
      title,
      held.map((name, at) => ({
        name: words(name),
        color: COLORS[at % COLORS.length],
        epochs,
        figure: name,
      })),
      total,
    )
  );
}

/**
 * A plot over the epochs, a line for each figure or for each training.
 * @param {string} title @param {{name: string, color: string, epochs: Record<string, number>[], figure: string}[]} lines
 * @param {number} total @returns {Spec}
 */
export function overEpochs(title, lines, total) {
  const percent = lines.every((line) => line.figure.endsWith("_percent"));
  return {
    title,
    x: { label: "Epoch", from: 1, to: Math.max(2, total) },
    y: { label: title, told: figure, ...(percent ? { from: 0, to: 100 } : {}) },
    layers: lines.map(({ name, color, epochs, figure: of }) => ({
      name,
      color,
      kind: "lines",
      dashed: of.startsWith("val_"),
      marks: epochs.filter((one) => Number.isFinite(one[of])).map((one) => ({ x: one.epoch, y: one[of] })),
    })),
  };
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
