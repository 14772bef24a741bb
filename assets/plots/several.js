/** Plots of one subject: the first large, the others folded away; each keeps what was hidden in it. */

import { fill, h } from "../common/dom.js";
import { Plot } from "./plot.js";

/** @typedef {import("./scales.js").Spec} Spec */

const LARGE = 2;

export class Several {
  constructor() {
    /** @type {Map<string, Plot>} */
    this.plots = new Map();
    this.large = h("div.two");
    this.others = h("div.plots");
    this.folded = h("details", { hidden: true }, h("summary", {}, "More figures"), this.others);
    this.element = h("div.several", {}, this.large, this.folded);
  }

  /** @param {Spec[]} specs */
  show(specs) {
    const shown = specs.map((spec) => this.named(spec.title).show(spec).element);
    fill(this.large, shown.slice(0, LARGE));
    fill(this.others, shown.slice(LARGE));
    this.folded.hidden = shown.length <= LARGE;
    return this.element;
  }

  /** @param {string} title */
  named(title) {
    const plot = this.plots.get(title) ?? new Plot();
    this.plots.set(title, plot);
    return plot;
  }
}
