/** Searches for better parameters on the page: asked for, watched trial by trial, steered. */

import { field, fill, h, redraw, select } from "../../common/dom.js";
import { get, send, token } from "../../common/net.js";
import { attempt, toast } from "../../common/site.js";
import { many, share, span } from "../../common/words.js";
import { plots } from "./trials.js";
import { Several } from "../../plots/several.js";
import { seen } from "./insight.js";

/** @typedef {import("../../common/answers.js").SearchCard} Card */
/** @typedef {import("../../common/answers.js").SearchDetails} Details */
/** @typedef {import("../../common/answers.js").TrialCard} Trial */
/** @typedef {import("../../common/answers.js").TrialCurve} Curve */
/** @typedef {{family: string, start: string, parameters: Record<string, string | number>, knobs?: Record<string, string | number>, seed?: number}} Values */

const OPEN = ["queued", "running", "paused"];
const MORE = 10;
const PAGE = 50; // trials in an answer
const CURVES = 8;

export class Searches {
  /**
   * @param {() => Values} values what the form of the page says
   * @param {() => string} base where the project is asked @param {() => any} then after a training was begun
   */
  constructor(values, base, then) {
    this.values = values;
    this.base = base;
    this.then = then;
    /** @type {Record<string, string>} */
    this.spaces = {};
    this.plots = new Several();
    this.trials = h("input", { type: "number", min: 1, value: 20 });
    this.epochs = h("input", { type: "number", min: 1, placeholder: "as above" });
    this.space = h("input", { type: "text", maxLength: 1000 });
    this.method = select([["random", "By chance"], ["guided", "Near what did well"]], "random");
    /** @type {import("../../common/answers.js").Insight} */
    this.insight = { ended: 0, axes: [], lines: [] };
    this.drawn = ""; // what was shown of the newest one; of one that has ended nothing changes
    this.known = ""; // of which search, with how many trials at their end, that is
    this.read = { search: 0, pages: 0 }; // how many pages of all its trials are read
    /** @type {Trial[]} of those the first ones, which have all ended and change no more */
    this.settled = [];
    this.form = h(
      "details.inside.for-labeler",
      {},
      h("summary", {}, "Search for better parameters"),
      h(
        "div.form-grid",
        { style: { marginTop: "8px" } },
        field("Trials", this.trials),
        field("Epochs of each", this.epochs),
        field("How values are chosen", this.method),
      ),
      field("What is tried", this.space, "A range or a choice a parameter; all else stays as above."),
      h("div.row", { style: { marginTop: "8px" } }, h("button", { onclick: () => this.begin() }, "Search")),
    );
    this.found = h("div");
    this.element = h("section.panel", { "aria-label": "Searches" }, this.form, this.found);
  }

  /** The family of the form was chosen; it says what is tried. */
  chosen() {
    this.space.value = this.spaces[this.values().family] ?? "";
  }

  /** Read the newest search; gives whether there is one. @param {boolean} fresh another project stands there */
  async load(fresh) {
    /** @type {import("../../common/answers.js").SearchChoice | null} */
    const found = await get(`${this.base()}/searches`).catch(() => null);
    if (!found) return;
    this.spaces = found.spaces;
    const typing = document.activeElement === this.space;
    if (fresh || (!this.space.value && !typing)) this.chosen();
    const newest = found.searches[0];
    const now = JSON.stringify([newest, this.read]);
    if (newest && now === this.drawn && !OPEN.includes(newest.state)) return;
    this.drawn = "";
    if (!newest) return redraw(this.found, null, () => null);
    /** @type {Details} */
    const details = await get(`/api/searches/${newest.id}`);
    const [curves, others] = await Promise.all([
      this.curves(details),
      this.others(details),
      this.look(details),
    ]);
    redraw(
      this.found,
      [details, curves, others, this.insight],
      () => this.shown(details, curves, others),
    );
    this.drawn = now;
  }

  /** The curves of the best, of the defaults and of what is under way. @param {Details} search */
  curves(search) {
    const numbers = [0, ...search.leaders.slice(0, 3), ...search.under_way].map((one) =>
      typeof one === "number" ? one : one.number
    );
    const asked = [...new Set(numbers)].slice(0, CURVES).map((one) => `trials=${one}`).join("&");
    return /** @type {Promise<Curve[]>} */ (get(`/api/searches/${search.id}/curves?${asked}`));
  }

  /** Only a trial that came to its end changes how values and worth hang together. @param {Details} search */
  async look(search) {
    const known = `${search.id} ${search.counts.done ?? 0}`;
    if (known === this.known) return;
    this.insight = await get(`/api/searches/${search.id}/insight`);
    this.known = known;
  }

  /** All trials up to where somebody has read on. @param {Details} search */
  async others(search) {
    if (this.read.search !== search.id) this.read = { search: search.id, pages: 0 }, this.settled = [];
    const found = [...this.settled];
    while (found.length < this.read.pages * PAGE) {
      const after = found.at(-1)?.number ?? -1;
      /** @type {Trial[]} */
      const more = await get(`/api/searches/${search.id}/trials?after=${after}`);
      found.push(...more);
      if (more.length < PAGE) break;
    }
    const first = found.findIndex((one) => one.state === "running");
    this.settled = first < 0 ? found : found.slice(0, first);
    return found;
  }

  begin() {
    return attempt(async () => {
      const { family, start, seed, parameters, knobs } = this.values();
      const epochs = this.epochs.value ? { epochs: Number(this.epochs.value) } : {};
      await send("POST", `${this.base()}/searches`, {
        family,
        start,
        seed,
        parameters: { ...parameters, ...epochs },
        knobs,
        trials: Number(this.trials.value),
        method: this.method.value,
        space: this.space.value,
        key: token(),
      });
      toast("The search is queued.", "done");
      await this.load(false);
    });
  }

  /**
   * A search with its trials: those that matter now, or all that were asked for.
   * @param {Details} search @param {Curve[]} curves @param {Trial[]} others
   */
  shown(search, curves, others) {
    const open = OPEN.includes(search.state);
    const mattering = [...search.leaders, ...search.under_way, search.trouble].filter((one) => one !== null);
    const total = Object.values(search.counts).reduce((sum, one) => sum + one, 0);
    const rows = others.length ? others : mattering;
    return [
      h(
        "header",
        {},
        h("h2", {}, `Search ${search.id} of ${search.family}`),
        h("span.row", {}, this.buttons(search, open)),
      ),
      h("div.inside", {}, h("p", {}, told(search)), search.verdict && h("p", {}, search.verdict)),
      rows.length > 0 && h("div.inside", {}, this.plots.show(plots(search, curves))),
      seen(this.insight),
      rows.length > 0 &&
      h(
        "table",
        {},
        h(
          "thead",
          {},
          h("tr", {}, ["Trial", "State", search.figure, "Epochs", "Time", "Parameters", ""].map(head)),
        ),
        h("tbody", {}, rows.map((one) => this.row(search, one))),
      ),
      total > rows.length && h("div.inside", {}, this.further(search, total, others.length)),
    ];
  }

  /** Read on in all trials. @param {Details} search @param {number} total @param {number} read */
  further(search, total, read) {
    return h(
      "button.quiet",
      {
        data: { key: "further" },
        onclick: () =>
          attempt(() => (this.read = { search: search.id, pages: this.read.pages + 1 }, this.load(false))),
      },
      read ? `Show more of ${many(total, "trial")}` : `Show all of ${many(total, "trial")}`,
    );
  }

  /** @param {Details} search @param {boolean} open */
  buttons(search, open) {
    const post = (/** @type {string} */ what, /** @type {object} */ body) => () =>
      attempt(async () => {
        await send("POST", `/api/searches/${search.id}/${what}`, body);
        await this.load(false);
      });
    const more = h(
      "button.for-labeler",
      { data: { key: "more" }, onclick: post("more", { trials: MORE }) },
      `${MORE} more trials`,
    );
    const stop = h(
      "button.for-labeler.danger",
      { data: { key: "stop" }, onclick: post("stop", {}) },
      "Stop all",
    );
    return [search.trials > 0 && more, open && !search.stopping && stop];
  }

  /** @param {Details} search @param {Trial} trial */
  row(search, trial) {
    return h(
      `tr${trial.number === search.best ? ".chosen" : ""}`,
      {},
      h("td.number", {}, String(trial.number)),
      h(
        "td",
        { title: trial.error },
        trial.number === search.best ? `${trial.state}, the best` : trial.state,
      ),
      h("td.number", {}, trial.value === null ? "–" : share(trial.value)),
      h("td.number", {}, String(trial.epochs)),
      h("td.number", {}, span(trial.seconds)),
      h("td", {}, trial.words, trial.state === "failed" && h("p.bad", {}, trial.error)),
      h("td.act", {}, this.act(search, trial)),
    );
  }

  /** What may be done with a trial. @param {Details} search @param {Trial} trial */
  act(search, trial) {
    const path = `/api/searches/${search.id}/trials/${trial.number}`;
    if (trial.state === "running" && OPEN.includes(search.state)) {
      return h("button.for-labeler", {
        data: { key: `stop ${trial.number}` },
        "aria-label": `Stop trial ${trial.number}`,
        onclick: () => attempt(async () => (await send("POST", `${path}/stop`, {}), await this.load(false))),
      }, "Stop");
    }
    return trial.state === "done" &&
      h("button.for-labeler", {
        data: { key: `train ${trial.number}` },
        "aria-label": `Train in full with the parameters of trial ${trial.number}`,
        onclick: () => attempt(() => this.train(path)),
      }, "Train in full");
  }

  /** With these parameters, for as many epochs as the form says. @param {string} path */
  async train(path) {
    const epochs = Number(this.values().parameters.epochs) || 0;
    /** @type {import("../../common/answers.js").BegunTraining} */
    const made = await send("POST", `${path}/train`, { epochs, key: token() });
    toast(`Training of ${made.model.name} is queued.`, "done");
    await this.then();
  }
}

/** How far a search is, in a sentence. @param {Card} search */
function told(search) {
  const ended = Object.entries(search.counts).map(([state, number]) => `${number} ${state}`).join(", ");
  const of = search.trials ? many(search.trials, "trial") : `${search.hours} hours`;
  const stopping = search.stopping && OPEN.includes(search.state) ? ", stopping" : "";
  const guided = search.method === "guided" ? ", near what did well" : "";
  return `${search.state}${stopping}: ${of} of ${many(search.epochs, "epoch")}${guided}${
    ended ? `, ${ended}` : ""
  }; ${span(search.seconds)} so far.`;
}

/** @param {string} words */
function head(words) {
  return h("th", {}, words);
}
