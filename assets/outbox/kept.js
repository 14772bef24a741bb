/** What is not yet sent lies in this browser's storage, each thing under the tab that will send it. */

import * as memory from "../common/memory.js";
import * as tabs from "./tabs.js";

/** @typedef {{slot: string, at: number}} Thing */

/** The things of one page, such as `review`. */
export class Kept {
  /** @param {string} page */
  constructor(page) {
    this.prefix = `${page}:`;
    this.tab = tabs.name();
    /** whether what this tab had before a reload was taken up */
    this.resumed = false;
  }

  /** Whether there was room for it. @param {Thing} thing */
  put(thing) {
    try {
      memory.keep("unsent", JSON.stringify(thing), `${this.prefix}${this.tab}:${thing.slot}`);
      return true;
    } catch {
      return false;
    }
  }

  /** @param {Thing} thing */
  drop(thing) {
    memory.forget("unsent", `${this.prefix}${this.tab}:${thing.slot}`);
  }

  /** What this tab had before a reload, and what tabs that are gone have left: the oldest first.
   * @param {(things: any[]) => void} take is given them while no other tab looks */
  async adopt(take) {
    this.tab = await tabs.own;
    await tabs.alone(async () => take((await this.left()).sort((a, b) => (a.at ?? 0) - (b.at ?? 0))));
    this.resumed = true;
  }

  /** @returns {Promise<any[]>} */
  async left() {
    const found = [];
    for (const key of memory.all("unsent", this.prefix)) {
      const [tab, slot] = key.slice(this.prefix.length).split(":");
      const mine = tab === this.tab;
      if (mine ? this.resumed : await tabs.alive(tab)) continue;
      const thing = { slot, ...JSON.parse(memory.read("unsent", key) ?? "null") };
      // It stands under its new tab before it goes from the old one.
      if (!mine && !this.put(thing)) continue;
      if (!mine) memory.forget("unsent", key);
      found.push(thing);
    }
    return found;
  }
}
