/** What lies on the desk: the images at hand, what is said of each, what is chosen; all edits pass here. */

import * as geometry from "../canvas/boxes.js";
import { History } from "./history.js";

/**
 * @typedef {import("./types.js").Item} Item
 * @typedef {import("./types.js").Box} Box
 * @typedef {import("./types.js").Sheet} Sheet
 * @typedef {import("./types.js").Proposal} Proposal
 */

const CALM = 900;

/** @param {Item} item @returns {Sheet} */
export function sheetOf(item) {
  const { boxes, state, label, comment, run } = item;
  const { rejected = [], accepted = [], verdict = "" } = item;
  return { boxes, state, label, comment, run, rejected, accepted, verdict };
}

/** @param {{run: number, idx: number}} p */
export function nameOf(p) {
  return `${p.run}:${p.idx}`;
}

/** Fires `change` when the sheet, the image or what is chosen changed, and `named` when a person has
 * said what an image is, where images are classified. */
export class Desk extends EventTarget {
  /** @param {import("../outbox/saving.js").Saver} saver */
  constructor(saver) {
    super();
    this.saver = saver;
    this.history = new History();
    /** @type {Map<number, Item>} */
    this.items = new Map();
    /** @type {Map<number, Sheet>} */
    this.sheets = new Map();
    /** @type {Item | null} */
    this.item = null;
    /** @type {Set<string>} ids of boxes, names of proposals */
    this.selected = new Set();
    /** @type {import("./types.js").Class[]} */
    this.classes = [];
    this.label = "";
    /** @type {Box[]} */
    this.clipboard = [];
    /** @type {number | undefined} the image that it is from */
    this.clipped = undefined;
    this.editable = true;
    this.byImage = false;
    /** the page turns, so that a key that is pressed now is of no picture */
    this.turning = false;
    /** @type {() => Record<string, any>} what a page adds to each save */
    this.extra = () => ({});
    saver.addEventListener("saved", (/** @type {any} */ e) => this.saved(e.detail));
  }

  changed(what = "sheet") {
    this.dispatchEvent(new CustomEvent("change", { detail: what }));
  }

  /** Takes what the server sent; what is not yet saved here stands above it. @param {Item[]} items */
  receive(items) {
    for (const item of items) {
      const known = this.items.get(item.id);
      if (known && known.version > item.version) continue;
      const pending = this.saver.pending(item.id);
      const newer = known && item.version > known.version;
      if (pending) item.version = pending.version;
      if (newer && !pending) this.history.forget(item.id);
      if (known) Object.assign(known, item);
      else this.items.set(item.id, item);
      const rerun = known && !pending && this.sheets.get(item.id)?.run !== item.run;
      if (!known || newer || rerun || !this.sheets.has(item.id)) {
        this.sheets.set(item.id, pending?.sheet ?? sheetOf(item));
      }
      if (!known) this.history.resume(item.id, this.sheets.get(item.id) ?? sheetOf(item));
      if (newer && this.item?.id === item.id) this.changed();
    }
  }

  /** Lets go of images; what is not saved, or can be undone, stays. @param {Item[]} items */
  release(items) {
    for (const { id } of items) {
      if (this.saver.pending(id) || this.item?.id === id) continue;
      this.items.delete(id);
      const { past, future } = this.history.of(id);
      if (!past.length && !future.length) this.sheets.delete(id);
    }
  }

  /** @param {{image: number, version: number, sheet: Sheet}} detail */
  saved({ image, version, sheet }) {
    const item = this.items.get(image);
    if (item) Object.assign(item, { version, ...sheet });
    this.changed("saved");
  }

  /** @param {Item | null} item */
  open(item) {
    this.item = item;
    this.selected.clear();
    this.changed("image");
  }

  /** @returns {Sheet} */
  get sheet() {
    return (this.item && this.sheets.get(this.item.id)) ??
      { boxes: [], state: "new", label: "", comment: "", run: null, rejected: [], accepted: [], verdict: "" };
  }

  get chosen() {
    return this.sheet.boxes.filter((box) => this.selected.has(box.id));
  }

  /** @param {Iterable<string>} ids @param {boolean} [more] */
  select(ids, more = false) {
    if (!more) this.selected = new Set(ids);
    else for (const id of ids) this.selected.has(id) ? this.selected.delete(id) : this.selected.add(id);
    this.changed("selection");
  }

  /** The one way to change an image. @param {string} action @param {Partial<Sheet>} changes @param {{calm?: boolean}} [options] calm: a run of small changes is one */
  commit(action, changes, { calm = false } = {}) {
    if (!this.item || !this.editable) return;
    const before = this.sheet;
    const state = changes.state ?? (before.state === "new" ? "started" : before.state);
    const now = performance.now();
    const goesOn = calm && this.last?.image === this.item.id && this.last.action === action &&
      now - this.last.at < CALM;
    this.last = { image: this.item.id, action, at: now };
    if (!goesOn) this.history.push(this.item.id, before);
    this.put(action, { ...before, ...changes, state }, calm ? 250 : 0);
  }

  /** @param {string} action @param {Sheet} sheet @param {number} [delay] */
  put(action, sheet, delay = 0) {
    const item = /** @type {Item} */ (this.item);
    this.sheets.set(item.id, sheet);
    const there = new Set([...sheet.boxes.map((box) => box.id), ...(item.proposals ?? []).map(nameOf)]);
    this.selected.forEach((id) => there.has(id) || this.selected.delete(id));
    this.saver.push(item, sheet, action, { delay, extra: this.extra() });
    this.changed();
  }

  undo() {
    return this.step(this.item && this.history.undo(this.item.id, this.sheet), "undo");
  }

  redo() {
    return this.step(this.item && this.history.redo(this.item.id, this.sheet), "redo");
  }

  /** @param {Sheet | null} sheet @param {string} action */
  step(sheet, action) {
    if (!sheet || !this.editable) return false;
    this.last = null;
    this.put(action, sheet);
    return true;
  }

  /** What a hand moved: boxes stay themselves, a proposal becomes a box. @param {import("./types.js").Target[]} changed @param {string} action */
  change(changed, action) {
    const boxes = changed.flatMap((one) => "score" in one ? [] : [one]);
    const proposals = changed.flatMap((one) => "score" in one ? [one] : []);
    const byId = new Map(boxes.map((box) => [box.id, box]));
    const taken = proposals.map((p) => this.taken(p));
    this.commit(action, { boxes: [...this.sheet.boxes.map((box) => byId.get(box.id) ?? box), ...taken] });
    if (taken.length) this.select([...byId.keys(), ...taken.map((box) => box.id)]);
  }

  /** The box that a proposal becomes, which remembers the detection. @param {Proposal} p @returns {Box} */
  taken(p) {
    const { x1, y1, x2, y2, label, class_id, run, idx } = p;
    const image = /** @type {Item} */ (this.item).id;
    return {
      id: geometry.newId(),
      x1,
      y1,
      x2,
      y2,
      label,
      class_id,
      origin: "model",
      author: "",
      detection: { run, image, idx },
    };
  }

  /** A class by its name of now and by its id, which stays what it is when it is renamed. @param {string} label */
  kind(label) {
    return { label, class_id: this.classes.find((one) => one.name === label)?.id ?? null };
  }

  get chosenProposals() {
    return (this.item?.proposals ?? []).filter((p) => this.selected.has(nameOf(p)));
  }

  /** @param {import("./types.js").Rectangle} r */
  draw(r) {
    const label = this.label || this.classes[0]?.name;
    if (!label) return;
    /** @type {Box} */
    const box = {
      id: geometry.newId(),
      ...r,
      ...this.kind(label),
      origin: "human",
      author: "",
      detection: null,
    };
    this.commit("draw", { boxes: [...this.sheet.boxes, box] });
    this.select([box.id]);
  }

  /** @param {Box[]} changed @param {string} action @param {{calm?: boolean}} [options] */
  replace(changed, action, options) {
    const byId = new Map(changed.map((box) => [box.id, box]));
    this.commit(action, { boxes: this.sheet.boxes.map((box) => byId.get(box.id) ?? box) }, options);
  }

  /** @param {Box[]} boxes @param {string} action */
  add(boxes, action) {
    if (!boxes.length) return;
    this.commit(action, { boxes: [...this.sheet.boxes, ...boxes] });
    this.select(boxes.map((box) => box.id));
  }

  remove() {
    if (!this.chosen.length) return false;
    this.commit("delete", { boxes: this.sheet.boxes.filter((box) => !this.selected.has(box.id)) });
    return true;
  }

  /** Deletes the chosen boxes and refuses the chosen proposals. */
  discard() {
    const refused = this.chosenProposals.map((p) => p.idx);
    if (!this.chosen.length && !refused.length) return false;
    const boxes = this.sheet.boxes.filter((box) => !this.selected.has(box.id));
    this.commit("delete", { boxes, ...this.refusing([...this.refused, ...refused]) });
    return true;
  }

  /** The class of the chosen boxes and of the next one; of the image, where images are classified. @param {string} label */
  classify(label) {
    if (this.byImage) return this.name(label);
    this.label = label;
    const other = this.chosen.filter((box) => box.label !== label).map((box) => ({
      ...box,
      ...this.kind(label),
    }));
    const proposals = this.chosenProposals;
    if (!other.length && !proposals.length) return this.changed("selection");
    const byId = new Map(other.map((box) => [box.id, box]));
    return this.named(this.sheet.boxes.map((box) => byId.get(box.id) ?? box), proposals, label);
  }

  /** Proposals given a class; where a box of that class stands already, none is put over it:
   * one without a detection takes this one, and a second detection of one defect is refused.
   * @param {Box[]} boxes @param {Proposal[]} proposals @param {string} label */
  named(boxes, proposals, label) {
    const refused = [...this.refused];
    for (const p of proposals) {
      const at = boxes.findIndex((b) => b.label === label && geometry.overlap(b, p) > 0.5);
      const made = this.taken({ ...p, ...this.kind(label) });
      if (at < 0) boxes.push(made);
      else if (boxes[at].detection) refused.push(p.idx);
      else boxes[at] = { ...boxes[at], detection: made.detection };
    }
    this.commit("class", proposals.length ? { boxes, ...this.refusing(refused) } : { boxes });
    const chosen = proposals.flatMap((p) =>
      boxes.find((b) => b.detection?.idx === p.idx && b.detection.run === p.run)?.id ?? []
    );
    if (chosen.length) this.select(chosen);
  }

  /** Refused detections of the run whose proposals lie here; an older sheet speaks of an older run. */
  get refused() {
    return this.sheet.run === this.item?.run ? this.sheet.rejected : [];
  }

  /** @param {number[]} rejected */
  refusing(rejected) {
    return { run: this.item?.run ?? null, rejected };
  }

  /** Proposals that are neither taken, refused nor already drawn by a person. */
  get proposals() {
    if (!this.item) return [];
    const { boxes } = this.sheet;
    const rejected = this.refused;
    const taken = new Set(
      boxes.flatMap((b) => b.detection ? [nameOf(b.detection)] : []),
    );
    return this.item.proposals.filter((p) =>
      !taken.has(nameOf(p)) && !rejected.includes(p.idx) && !boxes.some((b) => geometry.overlap(b, p) > 0.5)
    );
  }

  /** What is said of the images here. @returns {import("./keys.js").Labels} */
  get of() {
    return this.byImage ? "classes" : "boxes";
  }

  /** The one answer of a run, where images are classified. @returns {Proposal | null} */
  get answer() {
    return this.item?.proposals[0] ?? null;
  }

  /** The image is of that class, or ("") of none; what a run says of it is judged with it.
   * @param {string} label */
  name(label) {
    if (!this.item || !this.editable || this.turning) return;
    const { answer } = this;
    const judged = answer && {
      accepted: label ? [answer.idx] : [],
      ...this.refusing(label ? [] : [answer.idx]),
    };
    this.commit(label ? "class" : "none of the classes", { label, state: "done", boxes: [], ...judged });
    this.dispatchEvent(new CustomEvent("named", { detail: this.item.id }));
  }

  /** @param {Proposal[]} proposals */
  accept(proposals) {
    if (!proposals.length || !this.item) return;
    if (this.byImage) return this.name(proposals[0].label);
    const boxes = proposals.map((p) => this.taken(p));
    const meant = proposals.map((p) => p.idx);
    const rejected = this.refused.filter((idx) => !meant.includes(idx));
    this.commit(proposals.length > 1 ? `accept ${proposals.length}` : "accept", {
      boxes: [...this.sheet.boxes, ...boxes],
      ...this.refusing(rejected),
    });
  }

  /** @param {Proposal[]} proposals */
  reject(proposals) {
    if (this.byImage) return this.name("");
    if (!proposals.length) return;
    this.commit("reject", this.refusing([...this.refused, ...proposals.map((p) => p.idx)]));
  }
}
