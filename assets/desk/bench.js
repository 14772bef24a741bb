/** The workplace that Annotate and Review share: the picture, its tools, the list of images, saving. */

import { fill, h } from "../common/dom.js";
import { letters } from "../common/letters.js";
import { Reading } from "../common/reading.js";
import { go, page as sitePage, site, toast } from "../common/site.js";
import { common, corner, setDrawing } from "./actions.js";
import { filmstrip } from "./filmstrip.js";
import { foldable } from "./panel/folding.js";
import { hands } from "./hands.js";
import { MODES } from "../canvas/golden.js";
import * as keys from "./keys.js";
import { Pointer } from "../canvas/pointer.js";
import { landings } from "../outbox/saving.js";
import * as overlay from "./overlay.js";
import { settle } from "./settling.js";
import * as tools from "./tools.js";
import { Walk } from "./walk.js";

const CALM = 100;
const GREY = "#9aa3ad";
/** @type {Record<string, number>} how long what is shown may rest after what has changed */
const RESTS = { image: 0, saved: CALM };

/**
 * @typedef {import("./types.js").Item} Item
 * @typedef {import("./types.js").Rectangle} Rectangle
 * @typedef {import("../canvas/paint.js").Mark} Mark
 * @typedef {Record<string, (event?: any) => any>} Actions what the keys and tools do, by name
 * @typedef {{root: HTMLElement, render: () => any}} Panel
 */

export class Bench extends Walk {
  /** @param {HTMLElement} element @param {string} name of the page */
  constructor(element, name) {
    super(name);
    this.name = name;
    this.drawing = false;
    this.hidden = false;
    this.hovered = "";
    /** @type {Set<string>} chosen before, to which Tab adds one more */
    this.kept = new Set();
    /** what Tab has chosen last */
    this.tabbed = "";
    /** @type {Panel[]} */
    this.panels = [];
    /** @type {Actions} */
    this.acts = {};
    this.rendered = 0;
    /** @type {number | undefined} */
    this.settling = undefined;
    /** @type {number | undefined} */
    this.showing = undefined;
    /** @type {number | undefined} */
    this.telling = undefined;
    this.unseen = false;
    /** @type {import("./types.js").Point | null} where the keyboard draws */
    this.cursor = null;
    /** @type {import("./types.js").Point | null} where it has set the first corner */
    this.anchor = null;
    /** @type {import("./types.js").Point | null} where it was last */
    this.lastCursor = null;
    /** @type {Mark[] | null} boxes of another time, shown over those of now */
    this.ghosts = null;
    /** @type {Map<string, string> | null} */
    this.colors = null;
    /** @type {Record<string, string>} */
    this.letters = {};
    this.pointer = new Pointer(this.stage, hands(this));
    this.strip = filmstrip((item) => this.open(item));
    this.status = tools.status(() => this.saver.retry());
    this.light = tools.light(this.stage);
    // D goes on drawing where a box is chosen; who presses the tool again has done with it.
    this.tools = tools.toolbar(
      name,
      (does) => does === "draw" ? setDrawing(this, !this.drawing) : this.acts[does]?.(),
    );
    /** @type {HTMLElement} */
    this.side = h("aside.lp-side", { "aria-label": "Panel" });
    /** @type {HTMLElement} */
    this.bench = this.laidOut();
    this.reading = new Reading(name, element, "stage");
    site.addEventListener("back", () => this.back());
    this.root = element;
    this.element = element;
  }

  laidOut() {
    return h(
      "div.lp-bench.lp-waiting",
      { "data-page": this.name },
      this.tools.root,
      h(
        "div.lp-middle",
        {},
        h("div.lp-frame-of-stage", {}, this.stage.root, this.light.root, this.place),
        this.status.root,
        this.strip.root,
      ),
      this.side,
    );
  }

  /** Shows it and listens; a page calls it when its own parts stand. @param {Actions} actions */
  start(actions) {
    this.acts = { ...this.common(), ...actions };
    fill(this.element, this.bench);
    foldable(this.name, this.panels.map((panel) => panel.root));
    this.element.removeAttribute("aria-busy");
    this.desk.addEventListener("change", (/** @type {any} */ e) => this.show(e.detail));
    this.saver.addEventListener("status", () => this.tell());
    this.saver.addEventListener(
      "lost",
      (/** @type {any} */ e) => toast(`${e.detail.entry.name}: ${e.detail.message}`, "failed"),
    );
    this.saver.addEventListener("conflict", (/** @type {any} */ e) => settle(this, e.detail));
    this.stage.root.addEventListener("painted", () => this.status.zoom(this.stage.view));
    this.bench.addEventListener("leave", () => this.stage.focus());
    this.status.saved(this.saver.status);
    landings.addEventListener(
      "saved",
      (/** @type {any} */ e) => e.detail.page !== this.name && this.age(e.detail.image),
    );
    document.addEventListener(
      "visibilitychange",
      () => document.hidden || (this.age(), this.visible && this.refresh()),
    );
    keys.listen(this.name, () => this.visible, this.acts, () => this.desk.of);
    this.desk.addEventListener("named", (/** @type {any} */ e) => this.named(e.detail));
    sitePage(this.name, (query) => this.arrive(query), () => this.stage.golden.rest());
  }

  get visible() {
    return this.bench.offsetParent !== null;
  }

  /** @param {URLSearchParams} query */
  async arrive(query) {
    await this.saver.ready;
    const filters = new URLSearchParams(query);
    ["project", "tab", "image"].forEach((key) => filters.delete(key));
    const image = Number(query.get("image") ?? 0);
    const project = query.get("project") ?? "";
    const same = project === this.project && filters.toString() === this.filters.toString();
    if (
      same && this.list.length && this.loadedFor === this.view && (!image || image === this.desk.item?.id)
    ) return this.reading.rest(), this.again();
    this.project = project;
    this.filters = filters;
    // An image of the view that was left does not belong into the address of this one.
    clearTimeout(this.urlTimer);
    if (!project) return this.reading.rest(), this.lack();
    return this.reading.show(this.view, () => this.jump(image), () => this.list.length && this.focus());
  }

  /** The server answers again: what could not be fetched meanwhile is. */
  back() {
    this.saver.retry();
    if (!this.visible || !this.desk.item) return;
    this.age();
    this.refresh();
    if (this.pictures.failed.size) this.stage.show(this.desk.item);
  }

  /** @override */
  focus() {
    const at = document.activeElement;
    // What has just been hidden keeps the focus until the next frame.
    if (!at || at === document.body || at.closest("[role=tab]") || !at.checkVisibility()) this.stage.focus();
  }

  /** The page was left and is looked at again. */
  again() {
    this.focus();
    this.stage.golden.rest();
    return this.refresh();
  }

  /** @override @param {import("./types.js").Known} answer */
  know({ project, me }) {
    const chosen = this.desk.kind(this.desk.label).class_id;
    this.desk.classes = project.classes;
    this.desk.byImage = project.task === "classify";
    this.element.dataset.of = this.desk.of;
    this.desk.editable = me.role !== "viewer";
    this.colors = new Map(project.classes.map((c) => [c.name, c.color]));
    this.letters = letters(project.classes);
    this.desk.label = (project.classes.find((c) => c.id === chosen) ?? project.classes[0])?.name ?? "";
    this.bench.classList.toggle("lp-read-only", !this.desk.editable);
    this.tell();
  }

  /** @param {string} label */
  color(label) {
    return this.colors?.get(label) ?? GREY;
  }

  /** Its sign beside the colour, where there are many classes. @param {string} label */
  letter(label) {
    return this.letters[label] ?? "";
  }

  /** @override @param {Item} item @returns {any} */
  open(item) {
    // A field that is being typed in belongs to the image that is left.
    if (this.side.contains(document.activeElement)) this.stage.focus();
    this.at = Math.max(0, this.list.indexOf(item));
    if (item !== this.desk.item) this.drop();
    this.desk.turning = false;
    this.cursor = null;
    this.ghosts = null;
    this.hovered = "";
    this.place.hidden = true;
    this.bench.classList.remove("lp-bare", "lp-waiting");
    this.desk.open(item);
    const shown = this.stage.show(item);
    this.remember(item);
    this.look_ahead();
    return shown;
  }

  /** What is being drawn or dragged belongs to the image that is left. */
  drop() {
    this.anchor = null;
    this.pointer.escape();
  }

  /** @param {Item} item */
  remember(item) {
    clearTimeout(this.urlTimer);
    this.urlTimer = setTimeout(
      () => this.visible && this.desk.item === item && go({ image: item.id }, { replace: true }),
      200,
    );
  }

  /** @override */
  lack() {
    this.list = [];
    this.total = this.first = this.at = 0;
    this.drop();
    this.desk.open(null);
    this.stage.show(null);
    this.bench.classList.replace("lp-waiting", "lp-bare") || this.bench.classList.add("lp-bare");
    fill(this.place, this.empty());
    this.place.hidden = false;
  }

  empty() {
    return h("div.lp-empty", {}, h("p", {}, "There is nothing here."));
  }

  /** Brings the page up to date: the picture with the next frame, and what stands around it too, but
   * in a run of changes no more than ten times a second: laying it out takes longer than a save. @override @param {string} what */
  show(what) {
    this.unseen ||= what !== "saved";
    if (what !== "saved") this.stage.redrawOverlay();
    const rest = RESTS[what] ?? this.rendered + CALM - performance.now();
    if (rest > 0) this.settling ??= setTimeout(() => this.render(), rest);
    else this.showing ??= requestAnimationFrame(() => this.render());
  }

  render() {
    if (this.unseen) this.rendered = performance.now();
    this.unseen = false;
    clearTimeout(this.settling);
    cancelAnimationFrame(this.showing ?? 0);
    this.settling = this.showing = undefined;
    this.panels.forEach((panel) => panel.render());
    this.status.render(this);
    this.strip.render(this.list, this.at, (item) => this.desk.sheets.get(item.id)?.state ?? item.state);
    this.press();
  }

  /** How the saving stands, once a frame: most saves take less. */
  tell() {
    this.telling ??= requestAnimationFrame(() => {
      this.telling = undefined;
      this.status.saved(
        this.desk.editable || this.saver.entries.size
          ? this.saver.status
          : { kind: "saved", words: "You may look; nothing is saved" },
      );
    });
  }

  press() {
    const { past, future } = this.desk.history.of(this.desk.item?.id ?? 0);
    this.tools.press({ draw: this.drawing, hide: this.hidden, golden: this.stage.mode !== "off" });
    this.tools.enable("undo", past.length > 0);
    this.tools.enable("redo", future.length > 0);
    this.tools.enable("draw", this.desk.editable && !this.desk.byImage);
    this.tools.enable("golden", Boolean(this.desk.item?.golden));
  }

  /** The boxes as they stand on the picture. */
  boxMarks() {
    return overlay.boxMarks(this);
  }

  /** All that stands on it. @returns {Mark[]} */
  marks() {
    return this.boxMarks();
  }

  /** @override @param {CanvasRenderingContext2D} ctx @param {import("../canvas/view.js").View} view @param {number} pane */
  overlay(ctx, view, pane) {
    overlay.draw(this, ctx, view, pane);
  }

  /** What a hand can take. @returns {readonly import("./types.js").Target[]} */
  targets() {
    return this.desk.sheet.boxes;
  }

  /** @param {Rectangle} r */
  look(r) {
    this.stage.view.show(r, 4);
    this.stage.redraw();
  }

  /** Brings a box into sight without changing the zoom. @param {Rectangle} r */
  reveal(r) {
    const seen = this.stage.view.visible();
    if (seen && r.x1 >= seen.x1 && r.y1 >= seen.y1 && r.x2 <= seen.x2 && r.y2 <= seen.y2) return;
    this.stage.view.centreOn({ x: (r.x1 + r.x2) / 2, y: (r.y1 + r.y2) / 2 });
    this.stage.view.fitted = false;
    this.stage.redraw();
  }

  /** Drawing without a mouse: the first corner, then the second. */
  corner() {
    corner(this);
  }

  nextMode() {
    const { stage } = this;
    if (!this.desk.item?.golden && stage.mode === "off") return this.stage.hint("This image has no golden.");
    stage.golden.choose(MODES[(MODES.indexOf(stage.mode) + 1) % MODES.length]);
    this.look_ahead();
    return this.show("view");
  }

  common() {
    return common(this);
  }
}
