/**
 * Every change is sent at once and kept in this browser until the server has it.
 *
 * What is not yet saved, of one image or of a sweep over many, lies in localStorage, written before
 * anything is sent: it survives a reload, a crash and a server that is away, and is sent when the
 * line is back. Each has a key, under which the server takes it once however often it is sent.
 */

import * as net from "../common/net.js";
import { same } from "../canvas/boxes.js";
import { SAID } from "../desk/history.js";
import { Kept } from "./kept.js";
import { put } from "./posting.js";
import { standing } from "./standing.js";

/**
 * @typedef {import("../desk/types.js").Sheet} Sheet
 * @typedef {{slot: string, at: number, key: string, image: number, name: string, version: number,
 *   sheet: Sheet, action: string, extra: Record<string, any>, sent: Sent | null, lost: Sent[],
 *   turn: number, items?: undefined}} Entry what is said of an image, by its number
 * @typedef {{key: string, sheet: Sheet | undefined}} Sent `lost` are those without an answer: the server may have them
 * @typedef {import("../common/answers.js").WallVerdict & {before: string}} Judged
 * @typedef {{slot: string, at: number, key: string, image: string, of: string, run: number,
 *   items: Judged[], turn: number, sent?: Sent | null, lost?: Sent[], sheet?: undefined}} Sweep a part of a sweep; the key stands in the place of an image
 */

const WAITS = [500, 1000, 2000, 4000, 8000, 15_000];
const ADOPT = 30_000;
/** Detections that the server takes at once. */
const PART = 400;

/** Tells the pages of this tab what was saved: fires `saved` {image, page}. */
export const landings = new EventTarget();

/** Fires `status` when its `status` changes, `saved` {image, version, sheet}, `conflict` {entry, theirs},
 * `lost` {entry, message} where there is nothing left to save it to, `swept` {entry, answers}. */
export class Saver extends EventTarget {
  /** @param {string} page keeps the pages of one tab apart */
  constructor(page) {
    super();
    this.page = page;
    this.kept = new Kept(page);
    /** @type {Map<number | string, Entry | Sweep>} entries by image and sweeps by key, in the order in which they are sent */
    this.entries = new Map();
    /** @type {(Entry | Sweep)[]} what other tabs left of an image that has an entry here: it waits for that one */
    this.later = [];
    /** @type {Set<number | string>} */
    this.flying = new Set();
    /** @type {Set<number | string>} what waits for a person */
    this.stuck = new Set();
    /** @type {Set<number | string>} those of them whose two sides a person is shown */
    this.asked = new Set();
    /** @type {import("./standing.js").Status} */
    this.status = { kind: "saved", words: "Saved" };
    this.failures = 0;
    this.ready = this.adopt();
    setInterval(() => this.adopt(), ADOPT);
    addEventListener("online", () => this.retry());
    addEventListener("pagehide", () => this.leave());
  }

  get tab() {
    return this.kept.tab;
  }

  /** @param {number} image @returns {Entry | undefined} */
  pending(image) {
    const found = this.entries.get(image);
    return found?.items ? undefined : found;
  }

  /** @param {import("../desk/types.js").Item} item @param {Sheet} sheet @param {string} action @param {{delay?: number, extra?: Record<string, any>}} [options] */
  push(item, sheet, action, { delay = 0, extra = {} } = {}) {
    const old = this.pending(item.id);
    /** @type {Entry} */
    const entry = old ??
      {
        slot: net.token(),
        at: Date.now(),
        key: "",
        image: item.id,
        name: item.name,
        version: item.version,
        sheet,
        action,
        extra: {},
        sent: null,
        lost: [],
        turn: 0,
      };
    Object.assign(entry, {
      sheet,
      action,
      key: net.token(),
      extra: { ...entry.extra, ...extra },
      turn: entry.turn + 1,
    });
    this.entries.set(item.id, entry);
    // What was refused may be right now that it has changed.
    if (!this.asked.has(item.id)) this.stuck.delete(item.id);
    // What goes at once is kept as it goes.
    const goes = !delay && this.entries.size === 1 && !this.flying.size && !this.stuck.size;
    if (!goes) this.keep(entry);
    clearTimeout(this.timer);
    if (delay) this.timer = setTimeout(() => this.pump(), delay);
    else queueMicrotask(() => this.pump());
    this.tell();
  }

  /** Judge many detections of a run; each part is sent and answered by itself. @param {number} run @param {Judged[]} items */
  sweep(run, items) {
    const of = net.token();
    for (let from = 0; from < items.length; from += PART) {
      const key = net.token();
      const entry = {
        slot: key,
        at: Date.now(),
        key,
        image: key,
        of,
        run,
        items: items.slice(from, from + PART),
        turn: 0,
      };
      this.entries.set(key, entry);
      this.keep(entry);
    }
    this.tell();
    this.pump();
  }

  /** What is said of a run's detections and still on its way. @param {number} run @returns {Judged[]} */
  sweeping(run) {
    return [...this.entries.values()].flatMap((entry) => entry.items && entry.run === run ? entry.items : []);
  }

  /** One save at a time, so that decisions stand in the order they were made. */
  pump() {
    for (const entry of this.entries.values()) {
      if (this.flying.size) return;
      if (!this.stuck.has(entry.image)) this.send(entry);
    }
  }

  /** All at once, and what is under way once more: it would be cut off with the page. The server takes one of the two. */
  leave() {
    for (const entry of this.entries.values()) {
      if (this.stuck.has(entry.image)) continue;
      if (this.flying.has(entry.image)) this.repeat(entry);
      else this.send(entry, true);
    }
  }

  /** @param {Entry | Sweep} entry */
  repeat(entry) {
    this.unanswered(entry);
    entry.sent = { key: entry.key, sheet: entry.sheet };
    this.unanswered(entry);
    this.keep(entry);
    put(entry, true).catch(() => {});
  }

  /** @param {Entry | Sweep} entry @param {boolean} [leaving] */
  async send(entry, leaving = false) {
    const { sheet, turn } = entry;
    this.flying.add(entry.image);
    entry.sent = { key: entry.key, sheet: entry.sheet };
    this.keep(entry);
    this.tell();
    try {
      const answer = await put(entry, leaving);
      this.flying.delete(entry.image);
      if (entry.items) this.answered(entry, answer);
      else this.landed(entry, answer, /** @type {Sheet} */ (sheet), turn);
    } catch (error) {
      this.flying.delete(entry.image);
      this.failed(entry, /** @type {any} */ (error));
    }
  }

  /** Each image of a sweep has its answer. @param {Sweep} entry @param {import("../common/answers.js").SweptImage[]} answers */
  answered(entry, answers) {
    this.failures = 0;
    this.giveUp(entry);
    this.dispatchEvent(new CustomEvent("swept", { detail: { entry, answers } }));
    for (const { image } of answers) {
      landings.dispatchEvent(new CustomEvent("saved", { detail: { image, page: "wall" } }));
    }
    this.pump();
  }

  /** @param {Entry} entry @param {number} version @param {Sheet} sheet @param {number} turn */
  landed(entry, version, sheet, turn) {
    this.failures = 0;
    entry.version = version;
    entry.sent = null;
    entry.lost = [];
    if (entry.turn === turn) {
      this.entries.delete(entry.image);
      this.kept.drop(entry);
      this.follow(entry.image);
    } else this.keep(entry);
    this.dispatchEvent(new CustomEvent("saved", { detail: { image: entry.image, version, sheet } }));
    landings.dispatchEvent(new CustomEvent("saved", { detail: { image: entry.image, page: this.page } }));
    this.tell();
    this.pump();
  }

  /** @param {Entry | Sweep} entry @param {net.Failure} error */
  failed(entry, error) {
    if (!error.status || error.status >= 500 || error.status === 429) return this.postpone(entry, error);
    if (entry.items) {
      return this.answered(
        entry,
        entry.items.map(({ image }) => ({ image, version: null, error: error.message })),
      );
    }
    if (error.status === 409) return this.clash(entry, error);
    if (error.status === 404) this.lose(entry, error);
    else this.stuck.add(entry.image);
    this.problem = error.message;
    this.tell();
    this.pump();
  }

  /** Its image has been deleted: said once, not for ever. @param {Entry} entry @param {net.Failure} error */
  lose(entry, error) {
    this.giveUp(entry);
    this.dispatchEvent(new CustomEvent("lost", { detail: { entry, message: error.message } }));
  }

  /** A save whose answer was lost is ours, not a conflict. @param {Entry} entry @param {net.Failure} error */
  clash(entry, error) {
    const { theirs } = error.body;
    const is = (/** @type {Sheet} */ sheet) =>
      same([...sheet.boxes], theirs.boxes) &&
      SAID.every((name) => (sheet[name] || "") === (theirs[name] || ""));
    const ours = theirs && entry.lost.find((sent) => sent.key === theirs.key);
    if (ours?.sheet) return this.landed(entry, theirs.version, ours.sheet, -1);
    // It never arrived, but others have said just that.
    if (theirs && bare(entry.sheet) && is(entry.sheet)) {
      return this.landed(entry, theirs.version, entry.sheet, entry.turn);
    }
    this.stuck.add(entry.image);
    this.asked.add(entry.image);
    this.tell();
    this.pump();
    this.dispatchEvent(new CustomEvent("conflict", { detail: { entry, theirs, message: error.message } }));
    return undefined;
  }

  /** @param {Entry | Sweep} entry @param {net.Failure} error */
  postpone(entry, error) {
    this.unanswered(entry);
    this.keep(entry);
    this.failures += 1;
    this.problem = error.message;
    this.tell();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.pump(), WAITS[Math.min(this.failures, WAITS.length) - 1]);
  }

  /** @param {Entry | Sweep} entry */
  unanswered(entry) {
    if (entry.sent) entry.lost = [...(entry.lost ?? []), entry.sent].slice(-4);
    entry.sent = null;
  }

  retry() {
    this.stuck.forEach((image) => this.entries.get(image) && this.stuck.delete(image));
    this.pump();
  }

  /** What a person chose in a conflict: keep mine over theirs. @param {Entry} entry @param {number} version @param {Sheet} sheet */
  overwrite(entry, version, sheet) {
    this.stuck.delete(entry.image);
    this.asked.delete(entry.image);
    Object.assign(entry, {
      version,
      sheet,
      key: net.token(),
      turn: entry.turn + 1,
      sent: null,
      lost: [],
      action: "merge",
    });
    this.entries.set(entry.image, entry);
    this.keep(entry);
    this.pump();
  }

  /** @param {Entry | Sweep} entry */
  giveUp(entry) {
    this.stuck.delete(entry.image);
    this.asked.delete(entry.image);
    this.entries.delete(entry.image);
    this.kept.drop(entry);
    this.follow(entry.image);
    this.tell();
  }

  /** What another tab left of the same image is sent next: over a newer version it is a conflict, and both sides are shown. @param {number | string} image */
  follow(image) {
    const next = this.later.find((entry) => entry.image === image);
    if (!next) return;
    this.later.splice(this.later.indexOf(next), 1);
    this.entries.set(image, next);
    queueMicrotask(() => this.pump());
  }

  tell() {
    const status = standing(this);
    if (status.kind === this.status.kind && status.words === this.status.words) return;
    this.status = status;
    this.dispatchEvent(new CustomEvent("status", { detail: this.status }));
  }

  /** @param {Entry | Sweep} entry */
  keep(entry) {
    if (!this.kept.put(entry)) this.problem = "this browser's storage is full";
  }

  /** Takes over what tabs that are gone have left, and what this one had before a reload. */
  async adopt() {
    await this.kept.adopt((things) => things.forEach((entry) => this.take(entry)));
    this.tell();
    this.pump();
  }

  /** @param {Entry | Sweep} entry */
  take(entry) {
    entry.turn = 1;
    entry.key ??= net.token();
    this.unanswered(entry);
    if (this.entries.has(entry.image)) this.later.push(entry);
    else this.entries.set(entry.image, entry);
  }
}

/** Whether a sheet says nothing of detections, which a revision does not show. @param {Sheet} sheet */
function bare({ rejected, accepted, verdict }) {
  return !rejected?.length && !accepted?.length && !verdict;
}
