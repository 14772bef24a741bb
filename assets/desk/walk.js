/** The images of a view one after the other: a window of them at hand, fetched on as one goes. */

import * as net from "../common/net.js";
import { toast } from "../common/site.js";
import { h } from "../common/dom.js";
import { Pictures, previewUrl } from "../canvas/picture_cache.js";
import { Stage } from "../canvas/stage.js";
import { Saver } from "../outbox/saving.js";
import { Desk } from "./desk.js";

/**
 * @typedef {import("./types.js").Item} Item
 * @typedef {import("./types.js").Window} Window
 */

const BEFORE = 4;
const AFTER = 12;
const STALE = 5000;
/** Images of a view that are kept at hand. */
const MOST = 240;

export class Walk {
  /** @param {string} name of the page */
  constructor(name) {
    this.project = "";
    this.filters = new URLSearchParams();
    this.pictures = new Pictures();
    this.saver = new Saver(name);
    this.desk = new Desk(this.saver);
    this.stage = new Stage(this.pictures, (ctx, view, pane) => this.overlay(ctx, view, pane));
    /** @type {HTMLElement} what stands in the place of the picture, where there is none */
    this.place = h("div.lp-place-for-empty", { hidden: true });
    /** @type {Item[]} */
    this.list = [];
    this.at = 0;
    this.first = 0;
    this.total = 0;
    /** @type {Promise<any> | null} */
    this.extending = null;
  }

  // What the page that walks says for itself: how an image is opened and drawn over, what an answer
  // tells, and what stands where there is no image.

  /** @param {Item} _item @returns {any} */
  open(_item) {}

  /** @param {CanvasRenderingContext2D} _ctx @param {import("../canvas/view.js").View} _view @param {number} _pane */
  overlay(_ctx, _view, _pane) {}

  /** @param {import("./types.js").Known} _answer */
  know(_answer) {}

  /** @param {string} _what */
  show(_what) {}

  lack() {}

  focus() {}

  /** Where a window of images is fetched from. @param {number} _image @param {number} _before @param {number} _after */
  address(_image, _before, _after) {
    return "";
  }

  /** What is known of an image, or of all, may have been changed elsewhere. @param {number} [image] */
  age(image) {
    for (const item of this.desk.items.values()) if (!image || item.id === image) item.seen = -STALE;
  }

  /** Opens an image that may lie far from those at hand. @param {number} image 0: the first @returns {Promise<any>} */
  async jump(image) {
    const there = this.list.find((item) => item.id === image);
    // Nobody waits for the picture: the page around it is ready.
    if (there && this.loadedFor === this.view) return void this.open(there);
    const answer = await this.fetch(image, BEFORE, AFTER);
    if (!answer) return undefined;
    this.loadedFor = this.view;
    this.list = this.known(answer.items);
    this.at = Math.max(0, this.list.findIndex((item) => item.id === answer.image));
    this.first = answer.position - this.at;
    if (!this.list.length) return this.lack();
    this.place.hidden = true;
    this.focus();
    return void this.open(this.list[this.at]);
  }

  /** What the list shows: a project, and the filter that chooses among its images. */
  get view() {
    return `${this.project}?${this.filters}`;
  }

  /** The same images as they are known here. @param {Item[]} items */
  known(items) {
    return items.flatMap((item) => this.desk.items.get(item.id) ?? []);
  }

  /** A window of images around one, or null where the view was left before the answer came.
   * @param {number} image @param {number} before @param {number} after @returns {Promise<Window | null>} */
  async fetch(image, before, after) {
    const { view } = this;
    try {
      /** @type {Window} */
      const answer = await net.get(this.address(image, before, after));
      if (view !== this.view) return null;
      // What is done leaves a filter such as "new", but not the list that is being worked through.
      const same = this.loadedFor === view;
      this.total = same ? Math.max(this.total, answer.total) : answer.total;
      this.know(answer);
      this.desk.receive(answer.items);
      const now = performance.now();
      this.known(answer.items).forEach((item) => (item.seen = now));
      return answer;
    } catch (error) {
      const { message, status } = /** @type {net.Failure} */ (error);
      // Where nothing of the view stands yet, whoever opens it says so and asks again.
      if (status !== 404 && this.loadedFor !== view) throw error;
      toast(message, "failed");
      // An address that names an image which has been deleted leads to the others.
      const leads = status === 404 && image && view === this.view && this.loadedFor !== view;
      return leads ? this.fetch(0, before, after) : null;
    }
  }

  get position() {
    return this.first + this.at;
  }

  /** Decodes the next three and the one before, and fetches more of the list where it ends. */
  look_ahead() {
    const near = [1, 2, 3, -1].map((step) => this.list[this.at + step]).filter(Boolean);
    const goldens = this.stage.mode === "off"
      ? []
      : [this.desk.item, ...near].flatMap((item) => item?.golden ? [previewUrl(item.golden)] : []);
    this.pictures.prefetch([
      ...near.slice(0, 2).map(previewUrl),
      ...goldens.slice(0, 3),
      ...near.slice(2).map(previewUrl),
    ]);
    if (this.list.length - this.at < 6 && this.first + this.list.length < this.total) this.extend(1);
    else if (this.at < 2 && this.first > 0) this.extend(-1);
    else this.refresh();
  }

  /** @param {1 | -1} way @returns {Promise<any>} */
  async extend(way) {
    if (this.extending) return this.extending;
    const edge = way > 0 ? this.list[this.list.length - 1] : this.list[0];
    const coming = this.fetch(edge.id, way > 0 ? 0 : AFTER, way > 0 ? AFTER : 0);
    this.extending = coming;
    const answer = await coming;
    this.extending = null;
    if (!answer || !this.list.includes(edge)) return answer;
    const known = new Set(this.list.map((item) => item.id));
    const fresh = this.known(answer.items).filter((item) => !known.has(item.id));
    if (way > 0) this.list.push(...fresh);
    else {
      this.list.unshift(...fresh);
      this.at += fresh.length;
      this.first -= fresh.length;
    }
    if (!fresh.length && way > 0) this.total = this.first + this.list.length;
    this.shed(way);
    this.show("image");
    return answer;
  }

  /** A shift is long: what lies far behind is let go, and fetched again by who goes back. @param {1 | -1} way */
  shed(way) {
    const over = this.list.length - MOST;
    if (over <= 0) return;
    this.desk.release(this.list.splice(way > 0 ? 0 : MOST, over));
    if (way < 0) return;
    this.first += over;
    this.at -= over;
  }

  /** What stands here may be old: another person may have changed it. */
  async refresh() {
    const { item } = this.desk;
    if (!item || performance.now() - (item.seen ?? 0) < STALE) return;
    await this.fetch(item.id, 0, 0);
  }

  /** Fetches the open image anew, however lately it was seen. */
  renew() {
    this.age(this.desk.item?.id);
    return this.refresh();
  }

  /** Whether the view holds more images that way than are at hand. @param {number} by */
  more(by) {
    return by > 0 ? this.first + this.list.length < this.total : this.first > 0;
  }

  /** Takes a step back, also from behind what stands in the place of the picture. */
  undone() {
    const did = this.desk.undo();
    if (did && !this.place.hidden && this.desk.item) this.open(this.desk.item);
    return did;
  }

  /** A person has said what an image is: the next one. What is pressed before that stands there is of
   * neither. @param {number} _image @returns {Promise<any>} whether there is none */
  async named(_image) {
    const { item } = this.desk;
    this.desk.turning = true;
    const ended = await this.step(1);
    this.desk.turning = false;
    return ended && this.desk.item === item;
  }

  /** Says whether this was the last image that way. @param {number} by @returns {Promise<any>} */
  async step(by) {
    if (!this.list[this.at + by] && this.more(by)) await this.extend(by > 0 ? 1 : -1);
    const next = this.list[this.at + by];
    if (next) await this.open(next);
    else if (this.more(by)) this.stage.hint("The next images could not be fetched.");
    else {this.stage.hint(
        by > 0 ? "This is the last image of this view." : "This is the first image of this view.",
      );}
    return !next && !this.more(by);
  }
}
