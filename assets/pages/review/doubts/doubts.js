/** Labels in doubt: the surest first, one key mends each or lets it be, and the next one comes. */

import { fill, h } from "../../../common/dom.js";
import * as net from "../../../common/net.js";
import { address, attempt, toast } from "../../../common/site.js";
import * as words from "../../../common/words.js";
import { listen } from "../../../desk/keys.js";
import { short } from "../../../desk/panel/panel.js";
import * as crops from "./crops.js";

/**
 * @typedef {import("../../../common/answers.js").DoubtedLabel} Doubt
 * @typedef {import("../../../common/answers.js").DoubtedLabels} Doubts
 */

const AHEAD = 12;
const NEAR_END = 8;
const GREY = "#9aa3ad";
const OPEN = ["queued", "running"];
/** @type {Record<string, string>} */
const KINDS = { missing: "missing", spurious: "spurious", class: "of a wrong class", loose: "loose" };
/** What the model says, and what taking its word does. @type {Record<string, [string, string]>} */
const TOLD = {
  missing: ["A label seems to be missing here", "Add it"],
  spurious: ["There seems to be nothing here", "Remove the label"],
  class: ["This seems to be of another class", "Change the class"],
  loose: ["This label seems to lie badly", "Move the label"],
};

export class LabelsInDoubt {
  constructor() {
    this.root = h("div.sheet.lp-doubts");
    this.project = "";
    /** @type {Doubts | null} */
    this.found = null;
    /** @type {Doubt[]} */
    this.list = [];
    this.at = 0;
    /** @type {number[]} places in the list, in the order in which they were answered */
    this.said = [];
    this.busy = false;
    this.key = ""; // of a search that was asked for and not answered yet
    listen("review", () => this.root.offsetParent !== null, this.actions(), () => "boxes");
  }

  /** @param {string} project */
  async show(project) {
    /** @type {Doubts} */
    const found = await net.get(this.path(project));
    const ended = this.searching && !OPEN.includes(found.job?.state ?? "");
    const same = this.project === project && this.found?.job?.id === found.job?.id && !ended;
    this.project = project;
    this.found = found;
    if (!same || !this.list.length) Object.assign(this, { list: found.doubts, at: 0, said: [] });
    this.draw();
    return this.root;
  }

  /** What a search that goes on has come to. */
  async follow() {
    if (!this.root.isConnected || !this.searching || this.busy) return;
    await this.show(this.project);
  }

  get searching() {
    return OPEN.includes(this.found?.job?.state ?? "");
  }

  /** @param {string} project */
  path(project) {
    return `/api/projects/${encodeURIComponent(project)}/doubts`;
  }

  get doubt() {
    return this.list[this.at];
  }

  actions() {
    const step = (/** @type {number} */ by) => () => this.step(by);
    return {
      accept: (/** @type {KeyboardEvent} */ event) => this.press(event, "fixed"),
      reject: (/** @type {KeyboardEvent} */ event) => this.press(event, "dismissed"),
      undo: () => this.takeBack(),
      next: step(1),
      right: step(1),
      down: step(1),
      previous: step(-1),
      left: step(-1),
      up: step(-1),
    };
  }

  /** @param {number} by */
  step(by) {
    this.at = Math.max(0, Math.min(this.list.length, this.at + by));
    this.draw();
    if (this.list.length - this.at < NEAR_END) this.more();
  }

  async more() {
    const last = this.list.at(-1);
    if (!last || this.busy || this.list.length >= this.open + this.said.length) return;
    const { list } = this;
    /** @type {Doubts | undefined} */
    const part = await attempt(() => net.get(`${this.path(this.project)}?after=${last.id}`));
    if (list !== this.list || last !== list.at(-1) || !part?.doubts.length) return;
    const known = new Set(list.map((one) => one.id));
    list.push(...part.doubts.filter((one) => !known.has(one.id)));
    this.draw();
  }

  /** How many nobody has answered. */
  get open() {
    return Object.values(this.found?.counts ?? {}).reduce((sum, one) => sum + one, 0);
  }

  /** A key that is held down says nothing of what comes next. @param {KeyboardEvent} event @param {"fixed" | "dismissed"} answer */
  press(event, answer) {
    return event.repeat || this.answer(answer);
  }

  /** @param {"fixed" | "dismissed"} answer */
  async answer(answer) {
    const { doubt, at, list } = this;
    if (!doubt || doubt.answer || this.busy || !mayLabel()) return;
    if (!(await this.tell(at, answer)) || list !== this.list) return;
    this.said.push(at);
    this.count(doubt.kind, -1);
    this.step(this.at === at ? 1 : 0);
  }

  async takeBack() {
    const at = this.said.at(-1), { list } = this;
    if (at === undefined || this.busy) return;
    if (!(await this.tell(at, "")) || list !== this.list) return;
    this.said.pop();
    this.count(list[at].kind, 1);
    this.at = at;
    this.draw();
  }

  /** A search may end meanwhile, and another list stand here. @param {number} at @param {string} answer */
  async tell(at, answer) {
    const { list } = this;
    this.busy = true;
    const told = await attempt(() => net.send("PUT", `/api/doubts/${list[at].id}`, { answer }));
    this.busy = false;
    if (told) list[at] = told;
    return Boolean(told);
  }

  /** @param {string} kind @param {number} by */
  count(kind, by) {
    if (this.found) this.found.counts = { ...this.found.counts, [kind]: (this.found.counts[kind] ?? 0) + by };
  }

  async search() {
    this.key ||= net.token();
    const job = await attempt(() => net.send("POST", this.path(this.project), { key: this.key }));
    if (!job || !this.found) return;
    this.key = "";
    this.found.job = job;
    toast(`Job ${job.id} looks for labels in doubt.`);
    this.draw();
  }

  draw() {
    const { found, doubt } = this;
    if (!found) return;
    fill(
      this.root,
      h("div.spread", {}, h("h1", {}, "Labels in doubt"), this.button()),
      h(
        "p",
        {},
        this.told(),
        " ",
        h("a", { href: address({ project: this.project, tab: "review" }) }, "All runs"),
      ),
      this.searching && progress(found, this.project),
      doubt ? this.whole(doubt) : this.list.length > 0 && this.through(),
      this.list.length > 0 && this.strip(),
    );
  }

  /** Pictures of one class each have no boxes to be in doubt. */
  get ofBoxes() {
    return this.found?.project.task !== "classify";
  }

  button() {
    if (!this.ofBoxes) return false;
    const first = !this.found?.job;
    return h(
      `button.for-labeler${first ? ".primary" : ""}`,
      { disabled: this.searching, onclick: () => this.search() },
      first ? "Look for labels in doubt" : "Look anew",
    );
  }

  told() {
    const { job, counts } = /** @type {Doubts} */ (this.found);
    if (!this.ofBoxes) return "The pictures of this project have one class each and no boxes to be in doubt.";
    if (this.open) {
      const kinds = Object.keys(KINDS).filter((kind) => counts[kind]);
      const each = kinds.map((kind) => `${words.count(counts[kind])} ${KINDS[kind]}`);
      return `${words.many(this.open, "label")} in doubt: ${each.join(", ")}. The surest come first.`;
    }
    if (job?.state === "done") return "No label is in doubt.";
    if (job?.state === "failed") return `The search has failed: ${job.error}`;
    return "Models are trained in turns, each on all parts of the labels but one; what a model finds that did " +
      "not learn from a label is held against it. Mended labels teach the next training.";
  }

  /** @param {Doubt} doubt */
  whole(doubt) {
    const color = (/** @type {string} */ label) => this.color(label);
    const [seems, does] = TOLD[doubt.kind];
    const { label, found } = doubt;
    const pressed = (/** @type {string} */ answer) => doubt.answer === answer;
    return h(
      "div.lp-doubt",
      {},
      h("figure", {}, crops.board(doubt, color), h("figcaption", {}, caption(doubt))),
      doubt.golden &&
        h("figure", {}, crops.golden(doubt), h("figcaption", {}, "Golden")),
      h(
        "div.lp-doubt-side",
        {},
        h("h2", {}, seems),
        h("dl", {}, h("dt", {}, "Label"), h("dd", {}, label ? this.chip(label.label) : "none"), [
          h("dt", {}, "Found"),
          h("dd", {}, found ? [this.chip(found.label), ` ${short(doubt.score)}`] : "nothing"),
          h("dt", {}, "Sure"),
          h("dd", {}, words.share(doubt.certainty, 2)),
        ]),
        doubt.answer
          ? h("p", { role: "status" }, doubt.answer === "fixed" ? "Mended." : "Left as it is.")
          : false,
        h(
          "div.row.for-labeler",
          {},
          h(
            "button.primary",
            {
              disabled: Boolean(doubt.answer),
              "aria-pressed": String(pressed("fixed")),
              onclick: () => this.answer("fixed"),
            },
            `${does} `,
            h("kbd", {}, "A"),
          ),
          h(
            "button",
            {
              disabled: Boolean(doubt.answer),
              "aria-pressed": String(pressed("dismissed")),
              onclick: () => this.answer("dismissed"),
            },
            doubt.label ? "The label is right " : "Nothing is missing ",
            h("kbd", {}, "R"),
          ),
          h(
            "button.quiet",
            { disabled: !this.said.length, onclick: () => this.takeBack() },
            "Undo ",
            h("kbd", {}, "Z"),
          ),
        ),
        h(
          "p",
          {},
          h("a", {
            href: address({ project: this.project, tab: "annotate", image: doubt.image }),
          }, doubt.name),
        ),
      ),
    );
  }

  through() {
    return h(
      "div.empty",
      {},
      h("h2", {}, "All of these are looked at"),
      h("p", {}, "Mended labels teach the next training. Z takes the last answer back."),
    );
  }

  /** What comes next. */
  strip() {
    const start = Math.max(0, Math.min(this.at - 2, this.list.length - AHEAD));
    const color = (/** @type {string} */ label) => this.color(label);
    return h(
      "div.lp-doubt-strip",
      {},
      this.list.slice(start, start + AHEAD).map((doubt, at) => {
        const small = crops.small(doubt, color, () => this.step(start + at - this.at));
        small.setAttribute("aria-current", String(start + at === this.at));
        small.classList.toggle("said", Boolean(doubt.answer));
        return small;
      }),
    );
  }

  /** @param {string} label */
  color(label) {
    return this.found?.project.classes.find((one) => one.name === label)?.color ?? GREY;
  }

  /** @param {string} label */
  chip(label) {
    return h("span.chip", {}, h("i", { style: { background: this.color(label) } }), label);
  }
}

/** @param {Doubt} doubt */
function caption({ label, found }) {
  if (!label) return "Dashed: what was found";
  return found ? "Drawn through: the label; dashed: what was found" : "The label";
}

/** @param {Doubts} found @param {string} project */
function progress({ job }, project) {
  if (!job) return false;
  const done = Math.round(100 * job.progress);
  return h(
    "div.row",
    { role: "status" },
    h("div.lp-progress", {}, h("i", { style: { width: `${done}%` } })),
    h("span", {}, job.state === "queued" ? "It waits in the queue." : `${done} %. ${job.message}`),
    h("a", { href: address({ project, tab: "jobs" }) }, `Job ${job.id}`),
  );
}

function mayLabel() {
  return document.documentElement.dataset.role !== "viewer";
}
