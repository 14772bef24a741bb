/** The defect wall: crops of all detections of one class, most doubtful first, judged by sweep. */

import { fill, h } from "../../../common/dom.js";
import * as net from "../../../common/net.js";
import { attempt, go, toast } from "../../../common/site.js";
import * as words from "../../../common/words.js";
import { short } from "../../../desk/panel/panel.js";
import { draw, SIDE } from "../crop.js";
import { nameOf, Sweeps } from "./sweeps.js";

const PAGE = 96;
/**
 * @typedef {import("../../../common/answers.js").WallTile
 *   & {sign?: HTMLElement, element?: HTMLElement, canvas?: HTMLCanvasElement, given?: string}} Tile `given`: the
 *   class of a picture, where it is another than the model's
 * @typedef {Pick<Tile, "image" | "idx" | "verdict" | "sign" | "element" | "given">} Judged a tile, or one that is not loaded
 * @typedef {import("../../../common/answers.js").WallPage & {tiles: Tile[]}} Part of the wall
 */

/** @type {Record<string, string>} */
const SIGNS = { accept: "✓ defect", correct: "✓ corrected", false_call: "× false call" };

export class Wall {
  /** @param {import("../../../canvas/picture_cache.js").Pictures} pictures @param {(label: string) => Element} swatch @param {(label: string) => string} color @param {import("../../../outbox/saving.js").Saver} saver */
  constructor(pictures, swatch, color, saver) {
    this.pictures = pictures;
    this.swatch = swatch;
    this.color = color;
    this.saver = saver;
    this.run = 0;
    this.label = "";
    /** @type {Tile[]} */
    this.tiles = [];
    this.at = 0;
    this.total = 0;
    /** @type {Promise<Part> | null} */
    this.loading = null;
    /** @type {Set<number>} */
    this.chosen = new Set();
    this.done = new Sweeps();
    /** @type {HTMLElement} */
    this.classes = h("div.lp-wall-classes", { role: "tablist", "aria-label": "Classes" });
    /** @type {HTMLElement} */
    this.grid = h("div.lp-wall-grid", {
      role: "listbox",
      "aria-multiselectable": "true",
      "aria-label": "Detections",
    });
    /** @type {HTMLElement} */
    this.status = h("span.lp-wall-status", { role: "status" });
    /** @type {HTMLElement} */
    this.scroll = h("div.lp-wall-scroll", { tabIndex: 0, onscroll: () => this.more() }, this.grid);
    /** @type {HTMLElement} */
    this.root = h(
      "div.lp-wall",
      { hidden: true },
      h(
        "header",
        {},
        this.classes,
        this.status,
        h(
          "span.lp-hint.for-labeler",
          {},
          this.opening,
          this.keys.map((
            [key, does],
          ) => [h("kbd", {}, key), ` ${does} `]),
        ),
        h("button", { onclick: () => go({ view: "" }) }, "Images"),
      ),
      this.scroll,
    );
    saver.addEventListener("status", () => this.tell());
    saver.addEventListener("swept", (/** @type {any} */ e) => this.answered(e.detail));
    this.sight = this.watch();
  }

  get opening() {
    return "Drag over crops, then ";
  }

  /** What one of its tiles shows. */
  get piece() {
    return "crop";
  }

  /** What is pressed here, and what it says. @returns {string[][]} */
  get keys() {
    return [["A", "defect"], ["R", "false call"], ["Z", "undo"]];
  }

  tell() {
    this.status.textContent = this.saver.status.words;
  }

  /** @param {number} run @param {string} label @returns {Promise<void>} */
  async show(run, label) {
    Object.assign(this, { run, label, tiles: [], at: 0, total: 0 });
    this.done.open(run, label);
    this.chosen.clear();
    fill(this.grid);
    await this.saver.ready;
    const first = await this.load();
    const names = Object.keys(first.classes);
    if (!label && names.length) return this.show(run, names[0]);
    fill(
      this.classes,
      names.map((name) =>
        h(
          "button",
          {
            role: "tab",
            "aria-selected": String(name === label),
            onclick: () => go({ class: name }, { replace: true }),
          },
          this.swatch(name),
          `${name} `,
          h("b.number", {}, words.count(first.classes[name])),
        )
      ),
    );
    return this.point(0);
  }

  /** It is seen. */
  stand() {
    this.scroll.focus({ preventScroll: true });
    this.more();
  }

  async load() {
    const { run, label } = this;
    /** @type {Promise<Part>} */
    const coming = net.get(
      `/api/runs/${run}/wall?label=${encodeURIComponent(label)}&offset=${this.tiles.length}&limit=${PAGE}`,
    );
    this.loading = coming;
    const answer = await coming.finally(() => (this.loading = null));
    if (run !== this.run || label !== this.label) return answer;
    this.total = answer.total;
    const from = this.tiles.length;
    const underWay = new Map(this.saver.sweeping(this.run).map((one) => [nameOf(one), one.verdict]));
    for (const tile of answer.tiles) tile.verdict = underWay.get(nameOf(tile)) ?? tile.verdict;
    this.tiles.push(...answer.tiles);
    this.grid.append(...answer.tiles.map((tile, at) => this.make(tile, from + at)));
    return answer;
  }

  more() {
    const { scrollTop, clientHeight, scrollHeight } = this.scroll;
    if (!this.loading && this.tiles.length < this.total && scrollHeight - scrollTop - clientHeight < 600) {
      attempt(() => this.load());
    }
  }

  /** @param {Tile} tile @param {number} at @returns {HTMLElement} */
  make(tile, at) {
    /** @type {HTMLCanvasElement} */
    const canvas = h("canvas", { width: SIDE * 2, height: SIDE * 2 });
    tile.sign = h("span.lp-sign");
    /** @type {HTMLElement} */
    const element = h(
      "div.lp-tile",
      {
        role: "option",
        "aria-selected": "false",
        "data-at": at,
        title: `${tile.label} ${short(tile.score)}`,
      },
      canvas,
      h("span.lp-score", {}, short(tile.score)),
      tile.sign,
    );
    tile.element = element;
    this.mark(tile);
    this.sight.observe(element);
    tile.canvas = canvas;
    return element;
  }

  /** Crops are drawn when they come into sight. @returns {IntersectionObserver} */
  watch() {
    const sight = new IntersectionObserver(
      (entries) =>
        entries.filter((e) => e.isIntersecting).forEach((e) => {
          sight.unobserve(e.target);
          const tile = this.tiles[Number(e.target.getAttribute("data-at"))];
          draw(this.pictures, tile, this.color(tile.label));
        }),
      { root: this.scroll, rootMargin: "300px" },
    );
    let from = -1;
    const over = (/** @type {Event} */ event) => {
      const tile = event.target instanceof Element ? event.target.closest(".lp-tile") : null;
      return Number(tile?.getAttribute("data-at") ?? -1);
    };
    this.grid.addEventListener("pointerdown", (/** @type {PointerEvent} */ e) => {
      from = over(e);
      if (from < 0) return;
      if (!e.ctrlKey && !e.shiftKey) this.chosen.clear();
      this.range(e.shiftKey ? this.at : from, from);
      if (!e.shiftKey) this.at = from;
    });
    this.grid.addEventListener("pointerover", (/** @type {PointerEvent} */ e) => {
      const to = over(e);
      if (from >= 0 && to >= 0 && e.buttons === 1) this.range(from, to);
    });
    addEventListener("pointerup", () => (from = -1));
    this.grid.addEventListener("dblclick", (/** @type {MouseEvent} */ e) => this.open(over(e)));
    return sight;
  }

  /** @param {Judged} tile one that is not loaded yet is shown as it stands when it is */
  mark(tile) {
    if (!tile.sign || !tile.element) return;
    tile.sign.textContent = SIGNS[tile.verdict] ?? "";
    tile.element.className = `lp-tile ${tile.verdict}`;
  }

  /** @param {number} from @param {number} to */
  range(from, to) {
    for (let at = Math.min(from, to); at <= Math.max(from, to); at++) this.chosen.add(at);
    this.select();
  }

  select() {
    this.tiles.forEach((tile, at) => {
      tile.element?.setAttribute("aria-selected", String(this.chosen.has(at)));
      tile.element?.classList.toggle("current", at === this.at);
    });
  }

  /** @param {number} at */
  point(at) {
    if (!this.tiles.length) return;
    this.at = Math.min(this.tiles.length - 1, Math.max(0, at));
    this.chosen = new Set([this.at]);
    this.select();
    this.tiles[this.at].element?.scrollIntoView({ block: "nearest" });
  }

  get across() {
    return Math.max(1, Math.floor(this.grid.clientWidth / (SIDE + 8)));
  }

  /** @param {string} verdict @returns {any} */
  judge(verdict) {
    const meant = [...this.chosen].map((at) => this.tiles[at]).filter((tile) =>
      tile && tile.verdict !== verdict
    );
    if (meant.length) {
      this.done.push(meant.map(({ image, idx, verdict: before }) => ({ image, idx, before, said: verdict })));
      this.say(meant.map((tile) => [tile, verdict]));
    }
    const next = this.tiles.findIndex((tile, at) => at > Math.max(...this.chosen) && !tile.verdict);
    this.point(next < 0 ? Math.max(...this.chosen) + 1 : next);
    this.more();
  }

  /** @param {[Judged, string][]} pairs */
  say(pairs) {
    const items = pairs.map(([tile, verdict]) => ({
      image: tile.image,
      idx: tile.idx,
      verdict: /** @type {import("../../../common/answers.js").WallVerdict["verdict"]} */ (
        verdict === "correct" ? "accept" : verdict
      ),
      before: tile.verdict,
    }));
    pairs.forEach(([tile, verdict]) => {
      tile.verdict = verdict;
      this.mark(tile);
    });
    this.select();
    this.saver.sweep(this.run, items);
  }

  /** What the server did not take is shown as it was before, and said. @param {{entry: import("../../../outbox/saving.js").Sweep, answers: import("../../../common/answers.js").SweptImage[]}} told */
  answered({ entry, answers }) {
    if (!this.root.isConnected) return; // of two walls, the one that stands in the page says it
    const refused = new Map(answers.filter((one) => one.error).map((one) => [one.image, one.error]));
    if (!refused.size) return;
    const back = entry.items.filter((one) => refused.has(one.image));
    const known = entry.run === this.run ? this.named() : new Map();
    for (const one of back) {
      const tile = known.get(nameOf(one));
      if (!tile || (tile.verdict === "correct" ? "accept" : tile.verdict) !== one.verdict) continue;
      Object.assign(tile, { verdict: one.before, given: "" });
      this.mark(tile);
    }
    this.select();
    const [why] = refused.values();
    toast(
      `${words.count(back.length)} of ${words.many(entry.items.length, this.piece)} ${
        back.length === 1 ? "is" : "are"
      } not saved: ${why}`,
      "failed",
    );
  }

  /** @returns {Map<string, Judged>} */
  named() {
    return new Map(this.tiles.map((tile) => [nameOf(tile), tile]));
  }

  /** Takes the last sweep back, but for what was judged anew since. */
  /** @returns {any} */
  undo() {
    const known = this.named();
    const last = (this.done.pop() ?? []).map((one) => ({
      ...one,
      tile: known.get(nameOf(one)) ?? { ...one, verdict: one.said },
    }));
    const back = last.filter(({ tile, said }) => tile.verdict === said);
    if (!back.length) {
      return toast(
        last.length
          ? "Others have judged these since."
          : "There is no sweep of yours to take back in this class.",
      );
    }
    this.say(back.map(({ tile, before }) => [tile, before]));
    return this.point(this.tiles.findIndex((tile) => tile === back[0].tile));
  }

  open(at = this.at) {
    const tile = this.tiles[at];
    if (tile) go({ view: "", image: tile.image });
  }

  /** @returns {import("../../../desk/bench.js").Actions} */
  actions() {
    return {
      accept: () => this.judge("accept"),
      reject: () => this.judge("false_call"),
      undo: () => this.undo(),
      next: () => this.point(this.at + 1),
      previous: () => this.point(this.at - 1),
      right: () => this.point(this.at + 1),
      left: () => this.point(this.at - 1),
      down: () => this.point(this.at + this.across),
      up: () => this.point(this.at - this.across),
      done: () => this.open(),
      escape: () => this.point(this.at),
      selectAll: () => this.range(0, this.tiles.length - 1),
    };
  }
}
