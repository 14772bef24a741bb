/** Annotate: draw and correct boxes, image by image. */

import * as about from "../../desk/panel/about.js";
import { answer } from "../../desk/panel/answer.js";
import { Bench } from "../../desk/bench.js";
import { dress } from "../../desk/dress.js";
import * as boxes from "../../canvas/boxes.js";
import { nameOf } from "../../desk/desk.js";
import { fill, h } from "../../common/dom.js";
import * as memory from "../../common/memory.js";
import * as panel from "../../desk/panel/panel.js";
import * as questions from "../../desk/questions.js";
import { why } from "../review/why.js";
import * as net from "../../common/net.js";
import { nothingChosen } from "../../common/nothing.js";
import * as words from "../../common/words.js";
import { go, toast } from "../../common/site.js";

/**
 * @typedef {import("../../desk/types.js").Box} Box
 * @typedef {import("../../desk/types.js").Revision} Revision
 * @typedef {import("../../desk/types.js").Sheet} Sheet
 */

class Annotate extends Bench {
  /** @param {HTMLElement} element */
  constructor(element) {
    super(element, "annotate");
    /** @type {Set<number>} images whose revisions were looked up to be taken back */
    this.recalled = new Set();
    this.me = "";
    /** @type {number[]} images that were named one after the other, to go back to */
    this.ways = [];
    this.desk.history.outlive((image) => this.desk.sheets.get(image));
    this.threshold = Number(memory.read("proposals") ?? 0.3);
    const parts = this.parts();
    this.classPanel = panel.classes(parts);
    this.boxPanel = panel.boxList(parts);
    this.proposalPanel = panel.proposals(parts);
    this.aboutPanel = about.about(parts);
    this.historyPanel = about.revisions(parts);
    this.panels = [
      this.classPanel,
      answer({ ...parts, judge: (what) => this.judge(what), order: true }),
      this.boxPanel,
      this.proposalPanel,
      this.aboutPanel,
      why(this),
      this.historyPanel,
    ];
    fill(this.side, this.panels.map((p) => p.root));
    this.start(this.actions());
  }

  /** What the sections of the panel are given. */
  parts() {
    return {
      desk: this.desk,
      color: (/** @type {string} */ label) => this.color(label),
      letter: (/** @type {string} */ label) => this.letter(label),
      look: (/** @type {import("../../desk/types.js").Rectangle} */ r) => this.look(r),
      threshold: () => this.threshold,
      setThreshold: (/** @type {number} */ v) => this.setThreshold(v),
      acceptAll: () => this.acceptAll(),
      done: () => this.done(),
      skip: () => this.skip(),
      restored: (/** @type {Partial<import("../../desk/types.js").Item>} */ answer) => this.restored(answer),
      renew: () => this.renew(),
      preview: (/** @type {Box[] | null} */ ghosts) => this.preview(ghosts),
    };
  }

  /** @override @param {number} image @param {number} before @param {number} after */
  address(image, before, after) {
    return `/api/projects/${
      encodeURIComponent(this.project)
    }/images/${image}/around?before=${before}&after=${after}&${this.filters}`;
  }

  /** @override @returns {import("../../canvas/paint.js").Mark[]} */
  marks() {
    const { desk } = this;
    /** @type {import("../../canvas/paint.js").Mark[]} */
    const proposed = this.shown.map((p) => ({
      ...p,
      id: nameOf(p),
      color: this.color(p.label),
      text: `${p.label} ${panel.short(p.score)}`,
      letter: this.letter(p.label),
      kind: "dashed",
      selected: desk.selected.has(nameOf(p)),
      hover: this.hovered === nameOf(p),
    }));
    return [...this.boxMarks(), ...proposed];
  }

  /** Proposals in sight, the surest first. */
  get shown() {
    return this.hidden ? [] : this.desk.proposals.filter((p) => p.score >= this.threshold);
  }

  /** @override */
  targets() {
    return [...this.desk.sheet.boxes, ...this.shown.map((p) => ({ ...p, id: nameOf(p) }))];
  }

  /** @param {number} value */
  setThreshold(value) {
    this.threshold = Math.min(1, Math.max(0, Math.round(value * 100) / 100));
    memory.keep("proposals", String(this.threshold));
    this.desk.changed("selection");
  }

  /** The proposals that a key means: the chosen ones, else the surest. */
  meant() {
    const chosen = this.shown.filter((p) => this.desk.selected.has(nameOf(p)));
    if (chosen.length) return chosen;
    return [...this.shown].sort((a, b) => b.score - a.score).slice(0, 1);
  }

  /** @param {"accept" | "reject"} what */
  decide(what) {
    if (this.desk.byImage) return this.judge(what);
    const meant = this.meant();
    if (!meant.length) return this.stage.hint("There is no proposal left on this image.");
    this.desk[what](meant);
    const next = this.meant()[0];
    return this.desk.select(next ? [nameOf(next)] : []);
  }

  /** What a model says of the whole picture. @param {"accept" | "reject"} what */
  judge(what) {
    const { answer } = this.desk;
    if (what === "reject") return this.desk.name("");
    return answer ? this.desk.name(answer.label) : this.stage.hint("No model has looked at this picture.");
  }

  /** @override @param {number} image */
  async named(image) {
    this.ways.push(image);
    if (await super.named(image)) this.finished();
  }

  acceptAll() {
    this.desk.accept(this.shown);
  }

  async done() {
    if (!this.desk.item || !this.desk.editable) return;
    const { item } = this.desk;
    this.desk.commit("done", { state: "done" });
    if ((await this.step(1)) && this.desk.item === item) this.finished();
  }

  /** The last image of the view is done: what comes next. */
  finished() {
    const kept = ["failed", "offline"].includes(this.saver.status.kind)
      ? "Not all that you labelled is saved yet: the line below says why."
      : "What you labelled is saved.";
    fill(
      this.place,
      h(
        "div.lp-empty",
        {},
        h("h2", {}, "That was the last image of this view"),
        h("p", {}, kept, " A retrained model learns from it, and proposes the next ones better."),
        h(
          "div.row",
          {},
          h("button.lp-button", { onclick: () => this.open(this.list[this.at]) }, "Back to it"),
          h("button.lp-button", { onclick: () => this.unlabelled() }, "Next unlabelled"),
          h("button.lp-button.primary", { onclick: () => go({ tab: "train", image: "" }) }, "Retrain"),
        ),
      ),
    );
    this.place.hidden = false;
    this.desk.turning = true;
  }

  async skip() {
    if (!this.desk.item || !this.desk.editable) return;
    const reason = await questions.text(
      "Skip this image",
      "Why? (shown as its comment)",
      this.desk.sheet.comment,
    );
    if (reason === null) return;
    this.desk.commit("skip", { state: "skipped", comment: reason });
    await this.step(1);
  }

  async copyPrevious() {
    const before = this.list[this.at - 1];
    const there = before ? this.desk.sheets.get(before.id)?.boxes ?? [] : [];
    if (!this.desk.item || !there.length) return this.stage.hint("The previous image has no boxes.");
    const { width, height } = this.desk.item;
    const copies = boxes.pasted(there, width, height);
    if (!this.desk.sheet.boxes.length) return this.desk.add(copies, "copy previous");
    const answer = await questions.choose(
      "This image has boxes already",
      `${
        words.many(copies.length, "box", "boxes")
      } of ${before.name} would come to ${this.desk.sheet.boxes.length} that stand here.`,
      [["add", "Add them"], ["replace", "Replace what stands here"]],
    );
    if (answer === "add") this.desk.add(copies, "copy previous");
    if (answer === "replace") this.desk.commit("copy previous", { boxes: copies });
    return undefined;
  }

  /** Takes back what was done here last; in a tab that does not know it, the revisions tell what that was. */
  async takeBack() {
    const { desk } = this;
    if (desk.byImage && !desk.history.of(desk.item?.id ?? 0).past.length) await this.goBack();
    const { item } = desk;
    if (
      this.undone() || !item?.version || !desk.editable || this.recalled.has(item.id) ||
      desk.history.of(item.id).future.length
    ) return;
    this.recalled.add(item.id);
    /** @type {import("../../common/answers.js").History | null} */
    const answer = await net.get(`/api/images/${item.id}/history`).catch((
      error,
    ) => (toast(error.message, "failed"), null));
    const same = desk.item?.id === item.id && desk.item.version === item.version;
    if (!answer || !same || desk.history.of(item.id).past.length) {
      this.recalled.delete(item.id); // it may be asked again
      return;
    }
    desk.history.remember(item.id, pastOf(answer.revisions.reverse(), this.me, desk.sheet));
    if (!this.undone()) this.stage.hint("There is nothing of yours to take back.");
  }

  /** To the picture that was named last: naming it has turned the page. */
  async goBack() {
    const last = this.ways.pop();
    if (last && last !== this.desk.item?.id) await this.jump(last);
  }

  /** @override @param {import("../../desk/types.js").Known} answer */
  know(answer) {
    super.know(answer);
    this.me = answer.me.name;
  }

  /** @override */
  press() {
    super.press();
    const { item, byImage, editable } = this.desk;
    const known = item?.version && !this.recalled.has(item.id);
    if (editable && (known || (byImage && this.ways.length))) this.tools.enable("undo", true);
  }

  async unlabelled() {
    const from = this.desk.item?.id ?? 0;
    const found = this.list.slice(this.at + 1).find((item) => this.desk.sheets.get(item.id)?.state === "new");
    if (found) return this.open(found);
    /** @type {import("../../common/answers.js").NextImage} */
    const answer = await net.get(
      `/api/projects/${encodeURIComponent(this.project)}/images/${from}/unlabelled?${this.filters}`,
    );
    if (!answer.id) return this.stage.hint("Every image of this view has been looked at.");
    return this.jump(answer.id);
  }

  /** @param {Box[] | null} ghosts */
  preview(ghosts) {
    /** @type {import("../../canvas/paint.js").Mark[] | undefined} */
    const marks = ghosts?.map((b) => ({ ...b, color: "#ffffff", text: b.label, kind: "dotted" }));
    this.ghosts = marks ?? null;
    this.stage.redrawOverlay();
  }

  /** @param {Partial<import("../../desk/types.js").Item>} answer */
  restored(answer) {
    if (!this.desk.item) return;
    this.desk.history.push(this.desk.item.id, this.desk.sheet);
    this.desk.receive([{ ...this.desk.item, ...answer }]);
    this.desk.changed();
  }

  actions() {
    return {
      undo: () => this.takeBack(),
      accept: () => this.decide("accept"),
      reject: () => this.decide("reject"),
      acceptAll: () => this.acceptAll(),
      lower: () => this.setThreshold(this.threshold - 0.05),
      raise: () => this.setThreshold(this.threshold + 0.05),
      done: () => (this.drawing && this.cursor ? this.corner() : this.done()),
      skip: () => this.skip(),
      comment: () => this.aboutPanel.focus(),
      search: () => this.classPanel.focus(),
      numbers: () => this.boxPanel.focus(),
      copyPrevious: () => this.copyPrevious(),
      unlabelled: () => this.unlabelled(),
    };
  }

  /** @override */
  empty() {
    if (!this.project) {
      return nothingChosen(
        "Annotate",
        "Here you draw boxes around defects, or name what a picture shows, and correct what a model proposes.",
      );
    }
    const filtered = this.filters.toString();
    return h(
      "div.lp-empty",
      {},
      h("h2", {}, filtered ? "No image passes this filter" : "Nothing to annotate yet"),
      h(
        "p",
        {},
        filtered ? "Widen the filter in Browse." : "Here you label images. First a project needs some.",
      ),
      h("button.lp-button.primary", { onclick: () => go({ tab: "browse", image: "" }) }, "Open Browse"),
    );
  }
}

/** What stood before each of a person's last saves, the oldest first.
 * @param {Revision[]} revisions the oldest first @param {string} me @param {Sheet} sheet as it stands now */
function pastOf(revisions, me, sheet) {
  const from = revisions.findLastIndex((r) => r.author !== me || r.action === "import") + 1;
  const past = [];
  for (const [at, r] of revisions.entries()) {
    // What stood before the oldest that was fetched is known of the first of all alone.
    if (!at && r.version > 1) continue;
    const { boxes: there, state, label, comment } = revisions[at - 1] ??
      { boxes: [], state: "new", label: "", comment: "" };
    if (at >= from && r.action === "undo") past.pop();
    else if (at >= from) past.push({ ...sheet, boxes: there, state, label, comment });
  }
  return past;
}

/** @param {HTMLElement} element */
export async function mount(element) {
  await dress();
  const page = new Annotate(element);
  /** @type {any} */ (element).page = page;
  return page;
}
