/** What this tab has swept, so that it can be taken back. */

import * as memory from "../../../common/memory.js";

const MOST_SWEEPS = 50;

/** @typedef {{image: number, idx: number, before: string, said: string, was?: string}} Swept `was`: the class
 * that was given before, where it was another than the model's */

/** @param {{image: number, idx: number}} tile */
export function nameOf(tile) {
  return `${tile.image}:${tile.idx}`;
}

/** What this tab can take back of a class, also after a reload: the sweeps, the last one last. */
export class Sweeps {
  constructor() {
    this.key = "";
    /** @type {Swept[][]} */
    this.past = [];
  }

  /** @param {number} run @param {string} label */
  open(run, label) {
    this.key = `${run}:${label}`;
    this.past = JSON.parse(memory.read("swept", this.key) ?? "[]");
  }

  /** @param {Swept[]} items */
  push(items) {
    this.past.push(items);
    this.keep();
  }

  pop() {
    const last = this.past.pop();
    this.keep();
    return last;
  }

  keep() {
    memory.keep("swept", JSON.stringify(this.past.slice(-MOST_SWEEPS)), this.key);
  }
}
