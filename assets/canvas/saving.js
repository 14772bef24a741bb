/**
 * Every change is sent at once and kept in this browser until the server has it.
 *
 * What is not yet saved lies in localStorage, written before anything is sent: it survives a reload,
 * a crash and a server that is away, and is sent when the line is back.
 */

import * as net from "../net.js";
import { same } from "./boxes.js";

/**
 * @typedef {import("./types.js").Sheet} Sheet
 * @typedef {{image: number, name: string, version: number, sheet: Sheet, action: string,
 *   extra: Record<string, any>, sent: Sheet | null, lost: Sheet[], turn: number}} Entry
 * `lost` are those that were sent without an answer: the server may have them.
 */

const PREFIX = "loupe:unsaved:";
const KEEPALIVE = 60_000;
const WAITS = [500, 1000, 2000, 4000, 8000, 15_000];

/** Tells the other page of this tab what was saved: fires `saved` {image, page}. */
export const landings = new EventTarget();

/** Fires `status` when its `status` changes, `saved` {image, version, sheet}, `conflict` {entry, theirs},
 * `lost` {entry, message} where there is nothing left to save it to. */
export class Saver extends EventTarget {
  /** @param {string} page keeps the pages of one tab apart */
  constructor(page) {
    super();
    this.page = page;
    /** @type {Map<number, Entry>} */
    this.entries = new Map();
    /** @type {Set<number>} */
    this.flying = new Set();
    /** @type {Set<number>} images whose entry waits for a person */
    this.stuck = new Set();
    /** @type {Set<number>} those of them whose two sides a person is shown */
    this.asked = new Set();
    this.status = { kind: "saved", words: "Saved" };
    this.failures = 0;
    this.tab = tabName();
    this.ready = this.adopt();
    addEventListener("online", () => this.retry());
    addEventListener("pagehide", () => this.leave());
  }

  /** @param {number} image @returns {Entry | undefined} */
  pending(image) {
    return this.entries.get(image);
  }

  /** @param {import("./types.js").Item} item @param {Sheet} sheet @param {string} action @param {{delay?: number, extra?: Record<string, any>}} [options] */
  push(item, sheet, action, { delay = 0, extra = {} } = {}) {
    const old = this.entries.get(item.id);
    const entry = old ?? { image: item.id, name: item.name, version: item.version, sheet, action, extra, sent: null, lost: [], turn: 0 };
    Object.assign(entry, { sheet, action, extra: { ...(old?.extra ?? {}), ...extra }, turn: entry.turn + 1 });
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

  /** @param {Entry} entry */
  repeat(entry) {
    this.unanswered(entry);
    entry.sent = entry.sheet;
    this.unanswered(entry);
    this.keep(entry);
    put(entry, true).catch(() => {});
  }

  /** @param {Entry} entry @param {boolean} [leaving] */
  async send(entry, leaving = false) {
    const { sheet, turn } = entry;
    this.flying.add(entry.image);
    entry.sent = sheet;
    this.keep(entry);
    this.tell();
    try {
      const version = await put(entry, leaving);
      this.flying.delete(entry.image);
      this.landed(entry, version, sheet, turn);
    } catch (error) {
      this.flying.delete(entry.image);
      this.failed(entry, /** @type {any} */ (error));
    }
  }

  /** @param {Entry} entry @param {number} version @param {Sheet} sheet @param {number} turn */
  landed(entry, version, sheet, turn) {
    this.failures = 0;
    entry.version = version;
    entry.sent = null;
    entry.lost = [];
    if (entry.turn === turn) {
      this.entries.delete(entry.image);
      this.drop(entry);
    } else this.keep(entry);
    this.dispatchEvent(new CustomEvent("saved", { detail: { image: entry.image, version, sheet } }));
    landings.dispatchEvent(new CustomEvent("saved", { detail: { image: entry.image, page: this.page } }));
    this.tell();
    this.pump();
  }

  /** @param {Entry} entry @param {any} error */
  failed(entry, error) {
    if (error.status === 409) return this.clash(entry, error);
    if (!error.status || error.status >= 500 || error.status === 429) return this.later(entry, error);
    if (error.status === 404) this.lose(entry, error);
    else this.stuck.add(entry.image);
    this.problem = error.message;
    this.tell();
    this.pump();
  }

  /** Its image has been deleted: said once, not for ever. @param {Entry} entry @param {any} error */
  lose(entry, error) {
    this.giveUp(entry);
    this.dispatchEvent(new CustomEvent("lost", { detail: { entry, message: error.message } }));
  }

  /** A save whose answer was lost is ours, not a conflict. @param {Entry} entry @param {any} error */
  clash(entry, error) {
    const { theirs } = error.body;
    const is = (/** @type {Sheet} */ sheet) => same([...sheet.boxes], theirs.boxes)
      && ["state", "label", "comment"].every((name) => (sheet[name] || "") === (theirs[name] || ""));
    // What never left cannot have arrived; it is there all the same where others said just that.
    const ours = theirs && (entry.lost.find(is) ?? [entry.sheet].filter(bare).find(is));
    if (ours) return this.landed(entry, theirs.version, ours, JSON.stringify(ours) === JSON.stringify(entry.sheet) ? entry.turn : -1);
    this.stuck.add(entry.image);
    this.asked.add(entry.image);
    this.tell();
    this.pump();
    this.dispatchEvent(new CustomEvent("conflict", { detail: { entry, theirs, message: error.message } }));
    return undefined;
  }

  /** @param {Entry} entry @param {any} error */
  later(entry, error) {
    this.unanswered(entry);
    this.keep(entry);
    this.failures += 1;
    this.problem = error.message;
    this.tell();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.pump(), WAITS[Math.min(this.failures, WAITS.length) - 1]);
  }

  /** @param {Entry} entry */
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
    Object.assign(entry, { version, sheet, turn: entry.turn + 1, sent: null, lost: [], action: "merge" });
    this.entries.set(entry.image, entry);
    this.keep(entry);
    this.pump();
  }

  /** @param {Entry} entry */
  giveUp(entry) {
    this.stuck.delete(entry.image);
    this.asked.delete(entry.image);
    this.entries.delete(entry.image);
    this.drop(entry);
    this.tell();
  }

  tell() {
    const status = this.judge();
    if (status.kind === this.status.kind && status.words === this.status.words) return;
    this.status = status;
    this.dispatchEvent(new CustomEvent("status", { detail: this.status }));
  }

  judge() {
    const number = this.entries.size;
    if (!number) return { kind: "saved", words: "Saved" };
    const images = number === 1 ? "1 image" : `${number} images`;
    if (this.stuck.size) return { kind: "failed", words: `Not saved: ${this.problem ?? "a conflict waits"}` };
    if (this.failures) return { kind: "offline", words: `No connection: ${images} kept here` };
    return { kind: "saving", words: "Saving…" };
  }

  key(image) {
    return `${PREFIX}${this.page}:${this.tab}:${image}`;
  }

  /** @param {Entry} entry */
  keep(entry) {
    try {
      localStorage.setItem(this.key(entry.image), JSON.stringify(entry));
    } catch {
      this.problem = "this browser's storage is full";
    }
  }

  /** @param {Entry} entry */
  drop(entry) {
    localStorage.removeItem(this.key(entry.image));
  }

  /** Takes over what tabs that are gone have left, and what this one had before a reload. */
  async adopt() {
    this.tab = await ownTab(this.tab);
    for (const key of Object.keys(localStorage)) {
      if (!key.startsWith(`${PREFIX}${this.page}:`)) continue;
      const tab = key.slice(PREFIX.length).split(":")[1];
      if (tab !== this.tab && (await alive(tab))) continue;
      this.take(key);
    }
    this.tell();
    this.pump();
  }

  /** @param {string} key */
  take(key) {
    const entry = JSON.parse(localStorage.getItem(key) ?? "null");
    localStorage.removeItem(key);
    if (!entry || this.entries.has(entry.image)) return;
    entry.turn = 1;
    this.unanswered(entry);
    this.entries.set(entry.image, entry);
    this.keep(entry);
  }
}

/** What shall outlive the page goes by the browser's own process, a detour of a millisecond.
 * @param {Entry} entry @param {boolean} leaving */
function put(entry, leaving) {
  const { version, action, sheet, extra } = entry;
  const body = { version, action, ...sheet, ...extra };
  const keepalive = leaving && JSON.stringify(body).length < KEEPALIVE;
  return net.put(place(entry), body, { keepalive });
}

/** A blind repeat has a negative number, and is kept beside the labels. @param {Entry} entry */
function place({ image, sheet }) {
  return image < 0 ? `/api/runs/${sheet.run}/repeats/${-image}` : `/api/images/${image}/boxes`;
}

/** Whether a sheet says nothing of detections, which a revision does not show. @param {Sheet} sheet */
function bare({ rejected, accepted, verdict }) {
  return !rejected?.length && !accepted?.length && !verdict;
}

function tabName() {
  const known = sessionStorage.getItem("loupe:tab");
  return known ?? renamed();
}

function renamed() {
  const name = Array.from(crypto.getRandomValues(new Uint32Array(2)), (n) => n.toString(36)).join("");
  sessionStorage.setItem("loupe:tab", name);
  return name;
}

/** @type {Map<string, Promise<string>>} */
const held = new Map();

/** Holds the tab's name as a lock for as long as it lives; a duplicated tab takes another name. @param {string} name */
function ownTab(name) {
  const known = held.get(name) ?? hold(name);
  held.set(name, known);
  return known;
}

/** @param {string} name @returns {Promise<string>} */
async function hold(name) {
  if (!navigator.locks) return name;
  const got = await new Promise((answer) => {
    navigator.locks.request(`loupe:${name}`, { ifAvailable: true }, (lock) => {
      answer(Boolean(lock));
      return lock ? new Promise(() => {}) : undefined;
    });
  });
  return got ? name : hold(renamed());
}

/** @param {string} tab */
async function alive(tab) {
  if (!navigator.locks) return false;
  const { held: locks } = await navigator.locks.query();
  return (locks ?? []).some((lock) => lock.name === `loupe:${tab}`);
}
