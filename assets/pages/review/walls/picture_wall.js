/** The wall of classified pictures: a screen of one class, the least sure first, answered by keys. */

import { fill, h } from "../../../common/dom.js";
import { ofKey } from "../../../common/letters.js";
import * as memory from "../../../common/memory.js";
import * as net from "../../../common/net.js";
import { attempt, toast } from "../../../common/site.js";
import * as words from "../../../common/words.js";
import { thumbUrl } from "../../../canvas/picture_cache.js";
import { short } from "../../../desk/panel/panel.js";
import { Wall } from "./sweep.js";
import * as holder from "../holder.js";
import { nameOf } from "./sweeps.js";

/**
 * @typedef {import("./sweep.js").Tile} Tile
 * @typedef {import("./sweep.js").Judged} Judged
 * @typedef {import("../../../common/answers.js").SweepScreen & {tiles: Tile[]}} Screen
 * @typedef {{tile: Judged, verdict: string, label: string}} Said `label`: the class, where it is another
 */

const MOST = 96;
const FEWEST = 12;
const GAP = 8;
/** Pixels beside the pictures, and the two headers above them. */
const AROUND = 16;
const ABOVE = 108;

export class PictureWall extends Wall {
  /** @param {ConstructorParameters<typeof Wall>[0]} pictures @param {(label: string) => Element} swatch @param {(label: string) => string} color @param {import("../../../outbox/saving.js").Saver} saver @param {() => readonly import("../../../common/answers.js").Class[]} known the classes of the project */
  constructor(pictures, swatch, color, saver, known) {
    super(pictures, swatch, color, saver);
    this.known = known;
    this.side = Number(memory.read("sweep") ?? 76);
    this.left = 0;
    this.others = 0;
    this.turning = false;
    /** @type {Promise<Screen> | null} the screen after this one, fetched while this one is looked at */
    this.next = null;
    /** @type {Promise<Screen> | null} what the server was asked for last */
    this.asked = null;
    /** @type {HTMLElement} */
    this.count = h("span.lp-hint");
    const size = h("input", {
      type: "range",
      min: 64,
      max: 256,
      step: 4,
      value: this.side,
      "aria-label": "Size of the pictures",
      onchange: () => this.resize(Number(size.value)),
    });
    this.status.before(this.count, h("label.row", {}, h("span.lp-hint", {}, "Size"), size));
    this.grid.setAttribute("aria-label", "Pictures");
    this.resize(this.side);
  }

  /** @override */
  get opening() {
    return "";
  }

  /** @override */
  get piece() {
    return "picture";
  }

  /** @override */
  get keys() {
    return [["Shift+A", "all are"], ["A", "it is"], ["1–9", "another class"], ["R", "none"], ["Z", "undo"], [
      "Enter",
      "next screen",
    ]];
  }

  /** @param {number} side */
  resize(side) {
    this.side = side;
    memory.keep("sweep", String(side));
    this.grid.style.setProperty("--tile", `${side}px`);
    if (this.run) attempt(() => this.show(this.run, this.label));
  }

  /** @override */
  get across() {
    return Math.max(1, Math.floor((this.grid.clientWidth + GAP) / (this.side + GAP)));
  }

  /** As many as are seen at once, so that nobody accepts what is out of sight; told from the window, as
   * what is covered while it is read has no size. */
  get fits() {
    const across = Math.floor((innerWidth - AROUND) / (this.side + GAP));
    const down = Math.floor((innerHeight - ABOVE) / (this.side + GAP));
    return Math.min(MOST, Math.max(FEWEST, across * down));
  }

  /** @override @param {number} run @param {string} label @returns {Promise<void>} */
  async show(run, label) {
    if (run === this.run && label !== this.label) {
      await this.settled();
      await holder.giveBack(run);
    }
    this.next = null;
    return super.show(run, label);
  }

  /** What is on its way is held, too; and after a first screen the one behind it is asked for. */
  async settled() {
    /** @type {Promise<Screen> | null | undefined} */
    let last;
    while (last !== this.asked) {
      last = this.asked;
      await last?.catch(() => null);
    }
  }

  /** @override */
  async load() {
    const { run, label } = this;
    const answer = await this.ask(null);
    if (run === this.run && label === this.label) this.put(answer);
    return { ...answer, total: answer.tiles.length };
  }

  /** A screen after a picture, or the first. @param {Tile | null} last @returns {Promise<Screen>} */
  ask(last) {
    const after = last && { score: last.score, image: last.image };
    const { run, label } = this;
    /** @type {Promise<Screen>} */
    const coming = net.send("POST", `/api/runs/${run}/sweep`, {
      holder: holder.me,
      label,
      after,
      count: this.fits,
    });
    this.asked = coming;
    return coming;
  }

  /** @param {Screen} answer */
  put(answer) {
    const underWay = new Map(this.saver.sweeping(this.run).map((one) => [nameOf(one), one]));
    for (const tile of answer.tiles) {
      const said = underWay.get(nameOf(tile));
      if (said) Object.assign(tile, { verdict: said.label ? "correct" : said.verdict, given: said.label });
    }
    this.tiles = answer.tiles;
    this.total = answer.tiles.length;
    this.left = answer.left ?? this.left;
    this.others = answer.others;
    const made = answer.tiles.map((tile, at) => this.make(tile, at));
    fill(this.grid, made.length ? made : h("p.lp-hint", {}, this.nothing));
    this.scroll.scrollTop = 0;
    this.chosen.clear();
    this.point(0);
    this.tell();
    const last = answer.tiles.at(-1);
    this.next = last ? this.ask(last) : null;
    this.next?.catch(() => null);
  }

  get nothing() {
    return this.others
      ? "Others have what is left of this class."
      : "Every picture of this class has its answer.";
  }

  /** @override */
  tell() {
    super.tell();
    const here = this.others ? `, ${words.many(this.others, "other")} here` : "";
    this.count.textContent = this.label ? `${words.count(this.left)} left${here}` : "";
  }

  /** @override */
  more() {}

  /** @override @param {Tile} tile @param {number} at @returns {HTMLElement} */
  make(tile, at) {
    tile.sign = h("span.lp-sign");
    /** @type {HTMLElement} */
    const element = h(
      "div.lp-tile.lp-whole",
      {
        role: "option",
        "aria-selected": "false",
        "data-at": at,
        title: `${tile.label} ${short(tile.score)}`,
      },
      h("img", { alt: "", draggable: false, decoding: "async", src: thumbUrl(tile) }),
      h("span.lp-score", {}, short(tile.score)),
      tile.sign,
    );
    tile.element = element;
    this.mark(tile);
    return element;
  }

  /** @override @param {Judged} tile */
  mark(tile) {
    if (!tile.sign || !tile.element) return;
    const signs = { accept: "✓", correct: `✓ ${tile.given ?? ""}`, false_call: "× none" };
    tile.sign.textContent = signs[/** @type {keyof typeof signs} */ (tile.verdict)] ?? "";
    tile.element.className = `lp-tile lp-whole ${tile.verdict}`;
  }

  /** @override @param {string} verdict @param {string} [label] */
  judge(verdict, label = "") {
    const chosen = [...this.chosen].flatMap((at) => this.tiles[at] ?? []);
    this.answer(chosen, verdict, label);
    const after = Math.max(...this.chosen);
    const next = this.tiles.findIndex((tile, at) => at > after && !tile.verdict);
    this.point(next < 0 ? after + 1 : next);
  }

  /** @param {Tile[]} tiles @param {string} verdict @param {string} label */
  answer(tiles, verdict, label) {
    const said = tiles.map((tile) => {
      const other = verdict === "accept" && label && label !== tile.label;
      return { tile, verdict: other ? "correct" : verdict, label: other ? label : "" };
    }).filter(({ tile, verdict: now, label: given }) => tile.verdict !== now || (tile.given ?? "") !== given);
    if (!said.length) return;
    this.left -= said.filter(({ tile }) => !tile.verdict).length;
    this.done.push(said.map(({ tile, verdict: now }) => ({
      image: tile.image,
      idx: tile.idx,
      before: tile.verdict,
      was: tile.given ?? "",
      said: now,
    })));
    this.send(said);
  }

  /** @param {Said[]} said */
  send(said) {
    const items = said.map(({ tile, verdict, label }) => ({
      image: tile.image,
      idx: tile.idx,
      verdict: /** @type {"accept" | "false_call" | ""} */ (verdict === "correct" ? "accept" : verdict),
      label,
      saw: /** @type {"" | "accept" | "correct" | "false_call"} */ (tile.verdict),
      before: tile.verdict,
    }));
    for (const { tile, verdict, label } of said) {
      Object.assign(tile, { verdict, given: label });
      this.mark(tile);
    }
    this.select();
    this.tell();
    this.saver.sweep(this.run, items);
  }

  /** All that nobody has answered on this screen are what the model says; then the next one. */
  acceptAll() {
    if (this.turning) return undefined;
    this.answer(this.tiles.filter((tile) => !tile.verdict), "accept", "");
    return this.turn();
  }

  /** The next screen; past the last one it begins again with what was left open. */
  async turn() {
    if (this.turning) return;
    this.turning = true;
    const { run, label } = this;
    const coming = this.next;
    const answer = await attempt(async () => {
      const next = coming && await coming.catch(() => null);
      return next?.tiles.length ? next : this.again();
    });
    this.turning = false;
    if (answer && run === this.run && label === this.label) this.put(answer);
  }

  /** From the start, once all that was said is known. */
  async again() {
    while (this.saver.sweeping(this.run).length && this.saver.status.kind === "saving") {
      await new Promise((done) => this.saver.addEventListener("status", done, { once: true }));
    }
    return this.ask(null);
  }

  /** @override */
  undo() {
    const known = this.named();
    const last = (this.done.pop() ?? []).map((one) => ({
      ...one,
      tile: known.get(nameOf(one)) ?? { ...one, verdict: one.said },
    }));
    const back = last.filter(({ tile, said }) => tile.verdict === said);
    if (!back.length) return toast("There is no answer of yours to take back in this class.");
    this.left += back.filter(({ before }) => !before).length;
    this.send(back.map(({ tile, before, was }) => ({ tile, verdict: before, label: was ?? "" })));
    const at = this.tiles.findIndex((tile) => tile === back[0].tile);
    if (at >= 0) return this.point(at);
    toast(`${words.many(back.length, "answer is", "answers are")} taken back.`);
    this.next = null;
    return this.turn();
  }

  /** @override @returns {import("../../../desk/bench.js").Actions} */
  actions() {
    return {
      ...super.actions(),
      acceptAll: () => this.acceptAll(),
      done: () => this.turn(),
      next: () => (this.at + 1 < this.tiles.length ? this.point(this.at + 1) : this.turn()),
      class: (/** @type {KeyboardEvent} */ event) => {
        const found = ofKey(this.known(), event.key);
        return found ? this.judge("accept", found.name) : false;
      },
    };
  }
}
