/** Several trainings in one plot: a plot a figure, in it a line for each training that is ticked. */

import { h, redraw } from "../../common/dom.js";
import { get } from "../../common/net.js";
import { many } from "../../common/words.js";
import { Several } from "../../plots/several.js";
import { COLORS, ordered, overEpochs, words } from "./curves.js";

/** @typedef {import("../../common/answers.js").ModelCard} Model */
/** @typedef {import("../../common/answers.js").JobEvent} JobEvent */
/** @typedef {{name: string, color: string, epochs: Record<string, number>[]}} Line */

/** The lines that can be told apart. */
const MOST = COLORS.length;

/** What one training has told of its epochs, read on from where the last reading ended. */
class Told {
  /** @param {number} job */
  constructor(job) {
    this.job = job;
    this.seq = 0;
    /** @type {Map<number, Record<string, number>>} */
    this.epochs = new Map();
  }

  async load() {
    /** @type {JobEvent[]} */
    let news = [];
    do {
      news = await get(`/api/jobs/${this.job}/events?since=${this.seq}`).catch(() => []);
      for (const one of news) {
        this.seq = Math.max(this.seq, one.seq);
        if (one.data.epoch) this.epochs.set(one.data.epoch, one.data);
      }
    } while (news.length);
    return [...this.epochs.values()].sort((a, b) => a.epoch - b.epoch);
  }
}

export class Beside {
  constructor() {
    /** @type {Map<number, Told>} those that are ticked, by the number of their job */
    this.chosen = new Map();
    /** @type {readonly Model[]} */
    this.models = [];
    this.boxes = h("div.row");
    this.drawn = new Several();
    this.plots = h("div.at-work");
    this.element = h(
      "details.panel",
      { hidden: true, "aria-label": "Trainings in one plot", role: "region" },
      h("summary", { style: { padding: "10px 14px" } }, "Trainings in one plot"),
      h("div.inside", {}, this.boxes, this.plots),
    );
    this.element.addEventListener("toggle", () => this.draw());
  }

  /** Another project's trainings are others. */
  forget() {
    this.chosen.clear();
  }

  /** @param {readonly Model[]} models of the project */
  async show(models) {
    this.models = models.filter((one) => one.job !== null);
    this.element.hidden = this.models.length < 2;
    await this.draw();
  }

  async draw() {
    if (this.element.hidden || !(/** @type {any} */ (this.element).open)) return;
    const ticked = [...this.chosen.keys()];
    redraw(
      this.boxes,
      [this.models.map((one) => [one.job, one.name, one.family]), ticked],
      () => this.ticks(),
    );
    const lines = await Promise.all(this.lines());
    redraw(this.plots, lines, () => this.shown(lines));
  }

  ticks() {
    return this.models.map((model) => {
      const job = Number(model.job), told = this.chosen.get(job);
      const box = h("input", {
        type: "checkbox",
        checked: !!told,
        disabled: !told && this.chosen.size >= MOST,
        data: { key: String(job) },
      });
      box.addEventListener("change", () => {
        if (box.checked) this.chosen.set(job, new Told(job));
        else this.chosen.delete(job);
        return this.draw();
      });
      return h("label.row", {}, box, `${model.name} ${model.family}`);
    });
  }

  /** A line for each that is ticked; its color stays as long as those before it do. */
  lines() {
    return [...this.chosen.values()].map(async (told, at) => {
      const model = this.models.find((one) => one.job === told.job);
      const epochs = await told.load();
      return { name: model?.name ?? "", color: COLORS[at], epochs };
    });
  }

  /** @param {Line[]} lines */
  shown(lines) {
    const there = lines.filter((line) => line.epochs.length > 0);
    if (!there.length) return h("p.quiet-text", {}, "Tick trainings to lay their curves over each other.");
    const last = Math.max(...there.map((line) => line.epochs[line.epochs.length - 1].epoch));
    const names = ordered(there.flatMap((line) => line.epochs));
    return [
      h(
        "div.facts",
        {},
        there.map((line) => h("span", {}, `${line.name}, ${many(line.epochs.length, "epoch")}`)),
      ),
      this.drawn.show(
        names.map((name) => overEpochs(words(name), there.map((line) => ({ ...line, figure: name })), last)),
      ),
    ];
  }
}
