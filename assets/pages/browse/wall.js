/** The wall of thumbnails: a window over any number of images; only what is seen is in the page. */

import { Cell } from "./cell.js";
import { h, typing } from "../../common/dom.js";
import { Hover } from "./hover.js";
import { get } from "../../common/net.js";
import * as memory from "../../common/memory.js";
import { attempt, tab } from "../../common/site.js";
import { steps } from "./steps.js";

const PAGE = 100;
const GAP = 6;
const AHEAD = 1;

/** @typedef {import("../../common/answers.js").ImageCard} Item */
/** @typedef {import("./cell.js").Looks} Looks */
/**
 * @typedef {{open: (item: Item) => void, picked: (ids: Set<number>) => void, counted: (total: number) => void,
 *   all?: () => void, remove?: () => void, undo?: () => void, search?: () => void, keys?: () => void,
 *   other?: (event: KeyboardEvent) => boolean}} Told `other`: a key that means nothing here
 */

export class Wall {
  /** @param {Told} told */
  constructor(told) {
    this.told = told;
    this.size = Number(memory.read("thumbs")) || 176;
    this.total = 0;
    /** @type {Map<number, Item[] | null>} null: on the way */
    this.pages = new Map();
    /** @type {Map<number, Cell>} */
    this.cells = new Map();
    /** @type {Set<number>} */
    this.picked = new Set();
    /** @type {Looks} */
    this.looks = {};
    this.url = "";
    this.columns = this.step = this.side = 0;
    this.current = this.anchor = this.late = -1;
    this.space = h("div.wall-space");
    this.element = h("div.wall-scroll", {
      tabIndex: 0,
      role: "grid",
      "aria-label": "Images",
      "aria-multiselectable": "true",
    }, this.space);
    this.hover = new Hover();
    this.listen();
  }

  listen() {
    this.element.addEventListener("scroll", () => (this.hover.hide(), this.draw()), { passive: true });
    this.element.addEventListener("click", (/** @type {MouseEvent} */ event) => this.click(event));
    this.element.addEventListener(
      "pointermove",
      (/** @type {PointerEvent} */ event) =>
        this.picked.size || this.hover.follow(event, this.itemOf(event), this.looks),
    );
    this.element.addEventListener("pointerleave", () => this.hover.hide());
    addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.layout()).observe(this.element);
  }

  /**
   * Show the images of another address.
   * @param {string} url @param {Promise<Looks>} classes
   * @param {boolean} moved another filter, not the same images again
   */
  async load(url, classes, moved) {
    this.url = url;
    this.pages.clear();
    this.asked?.abort();
    this.asked = new AbortController();
    // Whoever scrolls while the classes are on their way stays there; what is covered cannot be scrolled yet.
    const seen = this.element.clientHeight > 0;
    if (moved) {
      this.current = this.anchor = this.late = -1;
      this.clear();
      if (seen) this.element.scrollTop = 0;
    }
    const top = moved ? 0 : Math.floor(this.range()[0] / PAGE);
    const [looks] = await Promise.all([classes, this.fetch(top)]);
    this.looks = looks;
    for (const cell of this.cells.values()) cell.remove();
    this.cells.clear();
    if (moved && !seen) this.element.scrollTop = 0;
    this.layout();
  }

  /** @param {number} page */
  async fetch(page) {
    if (this.pages.has(page)) return;
    this.pages.set(page, null);
    const url = this.url;
    try {
      /** @type {import("../../common/answers.js").ImagePage} */
      const found = await get(`${url}&offset=${page * PAGE}&limit=${PAGE}`, { signal: this.asked?.signal });
      if (url !== this.url) return;
      this.pages.set(page, found.items);
      if (this.total !== found.total || page === 0) this.count(found.total);
      this.draw();
      if (this.item(this.late)) this.toggle(this.late);
    } catch (error) {
      if (this.pages.get(page) === null) this.pages.delete(page);
      if (/** @type {Error} */ (error).name !== "AbortError") throw error;
    }
  }

  /** @param {number} total */
  count(total) {
    this.total = total;
    this.told.counted(total);
    this.layout();
  }

  /** @param {number} size */
  resize(size) {
    const kept = this.current >= 0 ? this.current : this.range()[0];
    this.size = size;
    memory.keep("thumbs", String(size));
    this.layout();
    this.reveal(kept);
  }

  layout() {
    const width = this.element.clientWidth - 2 * GAP;
    if (width <= 0) return;
    this.columns = Math.max(1, Math.floor((width + GAP) / (this.size + GAP)));
    this.step = (width - GAP * (this.columns - 1)) / this.columns + GAP;
    this.side = this.step - GAP;
    this.space.style.height = `${Math.ceil(this.total / this.columns) * this.step + GAP}px`;
    this.draw(true);
  }

  /** The first and the last index that is seen. */
  range() {
    if (!this.columns) return [0, 0];
    const top = Math.max(0, Math.floor(this.element.scrollTop / this.step) - AHEAD);
    const rows = Math.ceil(this.element.clientHeight / this.step) + 1 + 2 * AHEAD;
    return [top * this.columns, Math.min(this.total, (top + rows) * this.columns)];
  }

  /** @param {boolean} all each cell, also where it stands already */
  draw(all = false) {
    if (!this.columns || !this.element.clientHeight) return;
    const [first, last] = this.range();
    for (const [index, cell] of this.cells) {
      if (index < first || index >= last) {
        cell.remove();
        this.cells.delete(index);
      }
    }
    // What is seen asks for its picture before what is ready above it.
    const seen = Math.min(last, Math.floor(this.element.scrollTop / this.step) * this.columns);
    for (let index = seen; index < last; index++) this.place(index, all);
    for (let index = first; index < seen; index++) this.place(index, all);
    this.wish(first, last);
  }

  /** @param {number} index @param {boolean} all */
  place(index, all) {
    let cell = this.cells.get(index);
    if (!cell) {
      cell = new Cell(index);
      this.cells.set(index, cell);
      this.space.append(cell.element);
      all = true;
    }
    if (all) {
      cell.move(
        GAP + (index % this.columns) * this.step,
        GAP + Math.floor(index / this.columns) * this.step,
        this.side,
      );
    }
    cell.show(this.item(index), this.looks);
    cell.mark(this.picked, index === this.current);
  }

  /**
   * Ask for the pages that are seen, a moment after the scrolling rests.
   * @param {number} first @param {number} last
   */
  wish(first, last) {
    clearTimeout(this.timer);
    /** @type {number[]} */
    const wanted = [];
    for (let page = Math.floor(first / PAGE); page * PAGE < last; page++) {
      if (!this.pages.has(page)) wanted.push(page);
    }
    if (wanted.length) {
      this.timer = setTimeout(() => attempt(() => Promise.all(wanted.map((page) => this.fetch(page)))), 25);
    }
  }

  /** @param {number} index @returns {Item | null} */
  item(index) {
    return this.pages.get(Math.floor(index / PAGE))?.[index % PAGE] ?? null;
  }

  /** @param {Event} event */
  indexOf(event) {
    const cell = /** @type {HTMLElement} */ (event.target).closest(".cell");
    return cell ? Number(/** @type {HTMLElement} */ (cell).dataset.index) : -1;
  }

  /** @param {Event} event */
  itemOf(event) {
    const index = this.indexOf(event);
    return index < 0 ? null : this.item(index);
  }

  /** @param {MouseEvent} event */
  click(event) {
    const index = this.indexOf(event);
    const item = index < 0 ? null : this.item(index);
    if (!item) return;
    this.hover.hide();
    if (event.shiftKey && this.anchor >= 0) this.pickRange(this.anchor, index);
    else if (
      event.ctrlKey || event.metaKey || /** @type {HTMLElement} */ (event.target).closest(".pick") ||
      this.picked.size
    ) {
      this.toggle(index);
    } else this.told.open(item);
    this.go(index, false);
  }

  /** @param {number} index */
  toggle(index) {
    const item = this.item(index);
    // Who is quicker than the answer is heard when it comes.
    this.late = item ? -1 : index;
    if (!item) return;
    if (!this.picked.delete(item.id)) this.picked.add(item.id);
    this.anchor = index;
    this.changed();
  }

  /** @param {number} from @param {number} to */
  async pickRange(from, to) {
    const [first, last] = [Math.min(from, to), Math.max(from, to)];
    /** @type {Promise<void>[]} */
    const pages = [];
    for (let page = Math.floor(first / PAGE); page * PAGE <= last; page++) pages.push(this.fetch(page));
    await attempt(() => Promise.all(pages));
    for (let index = first; index <= last; index++) {
      const item = this.item(index);
      if (item) this.picked.add(item.id);
    }
    this.changed();
  }

  /** @param {number[]} ids */
  pick(ids) {
    this.picked = new Set(ids);
    this.changed();
  }

  clear() {
    this.picked.clear();
    this.changed();
  }

  changed() {
    this.element.classList.toggle("picking", this.picked.size > 0);
    this.told.picked(this.picked);
    this.draw();
  }

  hide() {
    this.hover.hide();
  }

  /** What did not come while the server was away is asked for again. */
  renew() {
    for (const cell of this.cells.values()) cell.renew();
    this.draw();
  }

  /** Make an image the current one and bring it into view. @param {number} index */
  go(index, reveal = true) {
    if (!this.total) return;
    this.current = Math.min(Math.max(index, 0), this.total - 1);
    if (reveal) this.reveal(this.current);
    this.draw();
  }

  /** @param {number} index */
  reveal(index) {
    const top = Math.floor(index / this.columns) * this.step;
    const bottom = top + this.step + GAP;
    if (top < this.element.scrollTop) this.element.scrollTop = top;
    else if (bottom > this.element.scrollTop + this.element.clientHeight) {
      this.element.scrollTop = bottom - this.element.clientHeight;
    }
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (tab() !== "browse" || !this.element.offsetParent) return;
    const all = (event.ctrlKey || event.metaKey) && event.key === "a";
    if (typing(event) && !(all && !(/** @type {HTMLElement} */ (event.target)).closest("input, textarea"))) {
      return;
    }
    if (all || this.keys(event)) event.preventDefault();
    if (all) this.told.all?.();
  }

  /** @param {KeyboardEvent} event */
  keys(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    const rows = Math.max(1, Math.floor(this.element.clientHeight / this.step));
    const by = steps(event.key, this.columns, rows);
    const focusOnTab = target.closest?.("[role=tab]") && event.key.startsWith("Arrow");
    if (by !== null && !focusOnTab) return this.move(by, event.shiftKey);
    if (event.key === "Enter" && this.current >= 0 && !target.closest("button, a")) return this.open();
    if ((event.key === " " || event.key === "x") && this.current >= 0 && !target.closest("button, a")) {
      return this.toggle(this.current), true;
    }
    if (event.key === "Escape" && this.picked.size) return this.clear(), true;
    if (event.key === "/") return this.told.search?.(), true;
    if (event.key === "?") return this.told.keys?.(), true;
    if (event.key === "Delete" && this.picked.size) return this.told.remove?.(), true;
    if (event.key === "z") return this.told.undo?.(), true;
    return this.told.other?.(event) ?? false;
  }

  /** @param {number} by @param {boolean} extend */
  move(by, extend) {
    const from = this.current < 0 ? (by > 0 && Number.isFinite(by) ? -by : 0) : this.current;
    if (extend && this.anchor < 0) this.anchor = Math.max(this.current, 0);
    this.go(from + by);
    if (extend) this.pickRange(this.anchor, this.current);
    else this.anchor = this.current;
    return true;
  }

  open() {
    const item = this.item(this.current);
    if (item) this.told.open(item);
    return true;
  }
}
