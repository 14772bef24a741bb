/** Undo and redo for each image: leaving an image and coming back changes nothing. */

/** @typedef {import('./types.js').Sheet} Sheet */

const DEEPEST = 200;

export class History {
  constructor() {
    /** @type {Map<number, {past: Sheet[], future: Sheet[]}>} */
    this.images = new Map();
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
    past.push(before);
    if (past.length > DEEPEST) past.shift();
    future.length = 0;
  }

  /** What the server knows of an image that this tab has not changed. @param {number} image @param {Sheet[]} past */
  remember(image, past) {
    this.images.set(image, { past, future: [] });
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
