/** What can be done with the chosen images, each with its undo. */

import { carry } from "../../common/carried.js";
import { ask } from "../../common/dialog.js";
import { field, fill, h, select } from "../../common/dom.js";
import { send } from "../../common/net.js";
import { attempt, go, project, site, toast } from "../../common/site.js";
import { keyOf, ofKey } from "../../common/letters.js";
import { exportFrom } from "../projects/transfers.js";
import { count, many } from "../../common/words.js";

const NONE = "-"; // of the splits, or of the classes
const SPLITS = [["", "Set split"], ["train", "Train"], ["val", "Validation"], ["test", "Test"], [
  NONE,
  "Not assigned",
]];
const STATES = [["", "Set state"], ["new", "New"], ["started", "Started"], ["done", "Done"], [
  "skipped",
  "Skipped",
]];
const GAP = 12;
const PART = 5000; // images of one request
const SAID = {
  split: "Split set",
  state: "State set",
  group: "Lot set",
  class: "Class set",
  delete: "Deleted",
  restore: "Brought back",
};

/** @typedef {import("../../common/answers.js").UndoStep} Change */
/** @typedef {keyof typeof SAID} Action */
/** @typedef {{of: string, steps: Change[]}} Done */

export class Bulk {
  /** @param {() => void} changed */
  constructor(changed) {
    this.changed = changed;
    /** @type {Set<number>} */
    this.ids = new Set();
    this.clear = () => {};
    this.all = () => {};
    /** @type {readonly import("../../common/answers.js").Class[]} of whole pictures, where they have one */
    this.classes = [];
    /** @type {Done[]} changes of this tab that can be taken back, with their project */
    this.past = [];
    this.element = h("div.bulk", { role: "toolbar", "aria-label": "Chosen images", hidden: true });
    new ResizeObserver(() => this.rise()).observe(this.element);
  }

  /** Messages stand above it, however many lines it takes. */
  rise() {
    const height = this.element.offsetHeight;
    document.body.style.setProperty("--bulk", `${height && height + GAP}px`);
  }

  /** @param {Set<number>} ids @param {() => void} clear */
  show(ids, clear) {
    this.ids = ids;
    this.clear = clear;
    this.element.hidden = ids.size === 0;
    if (ids.size) this.draw();
  }

  draw() {
    /** @param {string[][]} choices @param {Action} action @param {string} label */
    const pick = (choices, action, label) =>
      select(choices, "", (value) => value && this.run(action, value === NONE ? "" : value), {
        "aria-label": label,
        class: "for-labeler",
      });
    fill(
      this.element,
      h("span", {}, h("b", {}, count(this.ids.size)), " selected"),
      h("button.quiet", {
        onclick: () => this.all(),
        title: "Select all images that the filters show (Ctrl+A)",
      }, "Select all"),
      this.classes.length > 0 && pick(this.choices(), "class", "Set class"),
      pick(SPLITS, "split", "Set split"),
      pick(STATES, "state", "Set state"),
      h("button.for-labeler", { onclick: () => this.group() }, "Set lot"),
      h("button.for-labeler.for-boxes", {
        onclick: () => this.propose(),
        title: "Compare these boards with their goldens",
      }, "Propose from golden"),
      h("button.for-labeler", {
        onclick: () => this.detect(),
        title: "Choose a model for these, and see what it will take",
      }, "Detect"),
      h("button", {
        onclick: () =>
          exportFrom({ name: project(), task: this.classes.length ? "classify" : "" }, [...this.ids]),
        title: "Write these with their labels into one file",
      }, "Export"),
      h("button.danger.for-labeler", { onclick: () => this.remove(), title: "Delete (Del)" }, "Delete"),
      h("button.quiet", { onclick: () => this.clear(), title: "Clear the selection (Esc)" }, "Clear"),
    );
  }

  /** The classes with their keys, and none of them. @returns {string[][]} */
  choices() {
    const named = this.classes.map((one) => {
      const key = keyOf(this.classes, one);
      return [one.name, key ? `${one.name} (${key})` : one.name];
    });
    return [["", "Set class"], ...named, [NONE, "None of the classes (R)"]];
  }

  /** A key gives the chosen images a class, or the one at hand where none is chosen.
   * @param {string} key @param {number[]} current */
  name(key, current) {
    const found = key === "r" ? { name: "" } : ofKey(this.classes, key);
    if (!found || !this.classes.length || !this.may()) return false;
    const images = this.ids.size ? [...this.ids] : current;
    if (images.length) this.run("class", found.name, images);
    return images.length > 0;
  }

  /** Whether this person may change anything. */
  may() {
    return document.documentElement.dataset.role !== "viewer";
  }

  async group() {
    const name = h("input", { maxLength: 300, autofocus: true });
    const hint = "For example a delivery or a board type; images of one lot are never torn apart by a split.";
    if (await ask(`Lot of ${many(this.ids.size, "image")}`, "Set lot", field("Lot", name, hint))) {
      await this.run("group", name.value);
    }
  }

  propose() {
    const source = { images: [...this.ids] };
    return attempt(async () => {
      /** @type {import("../../common/answers.js").JobCard} */
      const job = await send("POST", `/api/projects/${encodeURIComponent(project())}/detect/propose`, {
        source,
      });
      toast(`Proposals for ${many(source.images.length, "image")}: job ${job.id}.`, "done", {
        words: "Show",
        run: () => go({ tab: "detect" }),
      });
    });
  }

  detect() {
    carry([...this.ids]);
    go({ tab: "detect" });
  }

  remove() {
    return this.run("delete", "");
  }

  /** @param {Action} action @param {string} value @param {number[]} [images] */
  async run(action, value, images = [...this.ids]) {
    /** @type {Done} */
    const done = { of: project(), steps: [] };
    const { changed, error } = await inParts({ action, value, images }, SAID[action], done.steps);
    if (action === "delete" && !error) this.clear();
    if (changed) this.past.push(done);
    const undo = changed > 0 ? { words: "Undo", run: () => this.undo(done) } : null;
    if (error) {
      toast(
        changed
          ? `${SAID[action]} for ${count(changed)} of ${many(images.length, "image")}, then: ${error}`
          : error,
        "failed",
        undo,
      );
    } else toast(`${SAID[action]}: ${many(changed, "image")}.`, "done", undo);
    this.after();
  }

  /** Takes back the last change that still stands, of this project. */
  takeBack() {
    const last = this.past.findLast((one) => one.of === project());
    if (last) return this.undo(last);
    return toast("There is no change of yours to take back here.");
  }

  /** @param {Done} done */
  async undo(done) {
    if (!this.past.includes(done)) return;
    this.past.splice(this.past.indexOf(done), 1);
    /** @type {Change[]} */
    const left = [];
    let said = "";
    for (const step of done.steps) {
      const { changed, error } = said ? { changed: 0, error: said } : await inParts(step, "Undone", []);
      if (error) left.push({ ...step, images: step.images.slice(changed) });
      said ||= error;
    }
    if (said) this.past.push({ ...done, steps: left });
    toast(said ? `Not all is undone; undo again goes on: ${said}` : "Undone.", said ? "failed" : "done");
    this.after();
  }

  after() {
    this.changed();
    site.dispatchEvent(new Event("projects"));
  }
}

/**
 * Change images part after part, as long as the server takes them; what undoes it is added to `steps`.
 * @param {Change} change @param {string} said @param {Change[]} steps
 * @returns {Promise<{changed: number, error: string}>}
 */
async function inParts({ action, value, images }, said, steps) {
  const path = `/api/projects/${encodeURIComponent(project())}/images/change`;
  let changed = 0, line = null;
  try {
    for (let start = 0; start < images.length; start += PART) {
      /** @type {import("../../common/answers.js").Changed} */
      const answer = await send("POST", path, { action, value, images: images.slice(start, start + PART) });
      changed += answer.changed;
      steps.push(...answer.undo);
      if (answer.error) return { changed, error: answer.error };
      line?.remove();
      line = start + PART >= images.length
        ? null
        : toast(`${said}: ${count(changed)} of ${many(images.length, "image")} …`);
    }
    return { changed, error: "" };
  } catch (error) {
    return { changed, error: /** @type {Error} */ (error).message };
  } finally {
    line?.remove();
  }
}
