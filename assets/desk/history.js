/** Undo and redo for each image: leaving an image and coming back changes nothing, nor does a reload. */

import { same } from "../canvas/boxes.js";
import * as memory from "../common/memory.js";

/** @typedef {import('./types.js').Sheet} Sheet */
/** @typedef {{now: Sheet | undefined, past: Sheet[], future: Sheet[]}} Left */

const DEEPEST = 200;
/** How much of it outlives the page: steps an image, and letters in all. */
const STEPS = 50;
const LETTERS = 1_500_000;

/** @type {("state" | "label" | "comment")[]} what a sheet says in words */
export const SAID = ["state", "label", "comment"];

export class History {
  constructor() {
    /** @type {Map<number, {past: Sheet[], future: Sheet[]}>} */
    this.images = new Map();
    /** @type {Map<number, Left>} what was left and not yet come back to */
    this.left = new Map();
  }

  /** Takes up what this tab could undo before it was loaded again, and sees to it that the next page can.
   * @param {(image: number) => Sheet | undefined} sheet what stands on an image */
  outlive(sheet) {
    this.left = new Map(JSON.parse(memory.read("undo") ?? "[]"));
    addEventListener("pagehide", () => memory.keep("undo", `[${this.packed(sheet).join()}]`));
  }

  /** What was changed last comes first, and as much as there is room for.
   * @param {(image: number) => Sheet | undefined} sheet @returns {string[]} */
  packed(sheet) {
    const here = [...this.images].reverse().map((
      [image, { past, future }],
    ) => /** @type {[number, Left]} */ ([image, {
      now: sheet(image),
      past: past.slice(-STEPS),
      future: future.slice(-STEPS),
    }]));
    const all = [...here.filter(([, { past, future }]) => past.length || future.length), ...this.left].map((
      one,
    ) => JSON.stringify(one));
    let room = LETTERS;
    return all.filter((text) => (room -= text.length) > 0);
  }

  /** An image that was left is here again; what others changed meanwhile cannot be undone into.
   * @param {number} image @param {Sheet} now */
  resume(image, now) {
    const kept = this.left.get(image);
    this.left.delete(image);
    if (kept?.now && alike(kept.now, now)) this.remember(image, kept.past, kept.future);
  }

  /** @param {number} image */
  of(image) {
    const known = this.images.get(image) ?? { past: [], future: [] };
    this.images.set(image, known);
    return known;
  }

  /** @param {number} image @param {Sheet} before */
  push(image, before) {
    const { past, future } = this.of(image);
    this.remember(image, past, future);
    past.push(before);
    if (past.length > DEEPEST) past.shift();
    future.length = 0;
  }

  /** What can be undone and redone of an image, which is the last one now. @param {number} image @param {Sheet[]} past @param {Sheet[]} [future] */
  remember(image, past, future = []) {
    this.images.delete(image);
    this.images.set(image, { past, future });
  }

  /** @param {number} image @param {Sheet} now @returns {Sheet | null} */
  undo(image, now) {
    const { past, future } = this.of(image);
    const back = past.pop() ?? null;
    if (back) future.push(now);
    return back;
  }

  /** @param {number} image @param {Sheet} now @returns {Sheet | null} */
  redo(image, now) {
    const { past, future } = this.of(image);
    const next = future.pop() ?? null;
    if (next) past.push(now);
    return next;
  }

  /** What others changed cannot be undone into. @param {number} image */
  forget(image) {
    this.images.delete(image);
  }
}

/** Whether two sheets say the same. @param {Sheet} a @param {Sheet} b */
function alike(a, b) {
  return same(a.boxes, b.boxes) &&
    SAID.every((name) => (a[name] || "") === (b[name] || "")) &&
    String([...a.rejected].sort()) === String([...b.rejected].sort());
}
