/** The workplace that Annotate and Review share: the picture, its tools, the list of images, saving. */

import { fill, h } from "../shared/dom.js";
import { letters } from "../shared/letters.js";
import { Reading } from "../shared/reading.js";
import { go, page as sitePage, site, toast } from "../shared/site.js";
import { common, setDrawing } from "./actions.js";
import * as geometry from "../canvas/boxes.js";
import * as conflict from "../outbox/conflict.js";
import { Desk, nameOf } from "./desk.js";
import { filmstrip } from "./filmstrip.js";
import { foldable } from "./folding.js";
import { MODES } from "../canvas/golden.js";
import * as keys from "./keys.js";
import * as paint from "../canvas/paint.js";
import { Pictures } from "../canvas/picture_cache.js";
import { Pointer } from "../canvas/pointer.js";
import { landings, Saver } from "../outbox/saving.js";
import { Stage } from "../canvas/stage.js";
import * as tools from "./tools.js";
import { Walk } from "./walk.js";

const CALM = 100;
const GREY = "#9aa3ad";

/** The styles stand before anything is laid out, so that nothing jumps. */
export function dress() {
  const href = new URL("../styles/annotate.css", import.meta.url).href;
  if (document.querySelector(`link[href="${href}"]`)) return Promise.resolve();
  const link = h("link", { rel: "stylesheet", href });
  document.head.append(link);
  return new Promise((done) => (link.onload = link.onerror = () => done(undefined)));
}

export class Bench extends Walk {
  /** @param {HTMLElement} element @param {string} name of the page */
  constructor(element, name) {
    super();
    this.name = name;
    this.project = "";
    this.filters = new URLSearchParams();
    this.drawing = false;
    this.hidden = false;
    this.hovered = "";
    /** @type {Set<string>} chosen before, to which Tab adds one more */
    this.kept = new Set();
    /** what Tab has chosen last */
    this.tabbed = "";
    this.panels = [];
    this.rendered = 0;
    this.unseen = false;
    /** @type {import("./types.js").Point | null} where the keyboard draws */
    this.cursor = null;
    this.pictures = new Pictures();
    this.saver = new Saver(name);
    this.desk = new Desk(this.saver);
    this.stage = new Stage(this.pictures, (ctx, view, pane) => this.overlay(ctx, view, pane));
    this.pointer = new Pointer(this.stage, this.hands());
    this.strip = filmstrip((item) => this.open(item));
    this.status = tools.status(() => this.saver.retry());
    this.light = tools.light(this.stage);
    this.side = h("aside.lp-side", { "aria-label": "Panel" });
    this.reading = new Reading(name, element, "stage");
    site.addEventListener("back", () => this.back());
    this.root = element;
    this.element = element;
  }

  /** Lays out and listens; a page calls it when its own parts stand. @param {Record<string, any>} actions */
  start(actions) {
    const all = { ...this.common(), ...actions };
    this.acts = all;
    // D goes on drawing where a box is chosen; who presses the tool again has done with it.
    this.tools = tools.toolbar(this.name, { ...all, draw: () => setDrawing(this, !this.drawing) });
    this.place = h("div.lp-place-for-empty", { hidden: true });
    this.bench = h(
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
    fill(this.element, this.bench);
    foldable(this.name, this.panels.map((panel) => panel.root));
    this.element.removeAttribute("aria-busy");
    this.desk.addEventListener("change", (/** @type {any} */ e) => this.show(e.detail));
    this.saver.addEventListener("status", () => this.tell());
    this.saver.addEventListener(
      "lost",
      (/** @type {any} */ e) => toast(`${e.detail.entry.name}: ${e.detail.message}`, "failed"),
    );
    this.saver.addEventListener("conflict", (/** @type {any} */ e) => this.settle(e.detail));
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
    keys.listen(this.name, () => this.visible, all);
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

  know({ project, me }) {
    const chosen = this.desk.kind(this.desk.label).class_id;
    this.desk.classes = project.classes;
    this.desk.byImage = project.task === "classify";
    this.desk.editable = me.role !== "viewer";
    this.colors = new Map(project.classes.map((c) => [c.name, c.color]));
    this.letters = letters(project.classes);
    this.desk.label = (project.classes.find((c) => c.id === chosen) ?? project.classes[0])?.name ?? "";
    this.bench.classList.toggle("lp-read-only", !this.desk.editable);
    this.tell();
  }

  color(label) {
    return this.colors?.get(label) ?? GREY;
  }

  /** Its sign beside the colour, where there are many classes. @param {string} label */
  letter(label) {
    return this.letters?.[label] ?? "";
  }

  /** @param {import("./types.js").Item} item */
  open(item) {
    // A field that is being typed in belongs to the image that is left.
    if (this.side.contains(document.activeElement)) this.stage.focus();
    this.at = Math.max(0, this.list.indexOf(item));
    if (item !== this.desk.item) this.drop();
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

  remember(item) {
    clearTimeout(this.urlTimer);
    this.urlTimer = setTimeout(
      () => this.visible && this.desk.item === item && go({ image: item.id }, { replace: true }),
      200,
    );
  }

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
   * in a run of changes no more than ten times a second: laying it out takes longer than a save. @param {string} what */
  show(what) {
    this.unseen ||= what !== "saved";
    if (what !== "saved") this.stage.redrawOverlay();
    const rest = { image: 0, saved: CALM }[what] ?? this.rendered + CALM - performance.now();
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

  boxMarks() {
    if (this.hidden) return [];
    const alone = this.desk.chosen.length === 1 && this.desk.editable;
    return this.desk.sheet.boxes.map((box) => {
      const selected = this.desk.selected.has(box.id);
      return {
        ...box,
        color: this.color(box.label),
        text: box.label,
        letter: this.letter(box.label),
        kind: "solid",
        selected,
        hover: this.hovered === box.id,
        handles: selected && alone,
      };
    });
  }

  marks() {
    return this.boxMarks();
  }

  overlay(ctx, view, pane) {
    const draft = this.pointer.draft;
    const moved = new Map((draft?.changed ?? []).map((box) => [box.id, box]));
    const named = this.marks().map((mark) => {
      const there = moved.get(mark.id ?? nameOf(mark));
      return there ? { ...mark, x1: there.x1, y1: there.y1, x2: there.x2, y2: there.y2 } : mark;
    });
    if (draft?.rectangle) {
      named.push({
        ...draft.rectangle,
        color: this.color(this.desk.label),
        text: this.desk.label,
        kind: "solid",
        selected: true,
      });
    }
    if (this.anchor && this.cursor) {
      named.push({
        ...geometry.between(this.anchor, this.cursor),
        color: this.color(this.desk.label),
        text: "",
        kind: "solid",
        selected: true,
      });
    }
    if (pane > 0) {
      named.forEach((
        mark,
      ) => ((mark.kind = "ghost"), (mark.text = mark.letter = ""), (mark.handles = false)));
    }
    paint.marks(ctx, view, [...named, ...(this.ghosts ?? [])]);
    if (draft?.band) paint.band(ctx, view, draft.band);
    const at = this.cursor ?? this.pointer.at;
    if (at && (this.drawing || pane > 0 || this.stage.panes > 1)) paint.crosshair(ctx, view, at);
  }

  targets() {
    return this.desk.sheet.boxes;
  }

  hands() {
    return {
      boxes: () => (this.hidden ? [] : this.targets()),
      selected: () => this.desk.selected,
      drawing: () => this.drawing && !this.desk.byImage,
      editable: () => this.desk.editable,
      select: (ids, more) => this.desk.select(ids, more),
      draw: (r) => this.desk.draw(r),
      change: (changed, action) => this.desk.change(changed, action),
      hover: (id) => {
        if (this.hovered !== id) this.stage.redrawOverlay();
        this.hovered = id;
      },
    };
  }

  look(r) {
    this.stage.view.show(r, 4);
    this.stage.redraw();
  }

  /** Brings a box into sight without changing the zoom. @param {import("./types.js").Rectangle} r */
  reveal(r) {
    const seen = this.stage.view.visible();
    if (seen && r.x1 >= seen.x1 && r.y1 >= seen.y1 && r.x2 <= seen.x2 && r.y2 <= seen.y2) return;
    this.stage.view.centreOn({ x: (r.x1 + r.x2) / 2, y: (r.y1 + r.y2) / 2 });
    this.stage.view.fitted = false;
    this.stage.redraw();
  }

  /** Drawing without a mouse: the first corner, then the second. */
  corner() {
    const at = this.cursor;
    if (!this.anchor) this.anchor = at;
    else {
      const r = geometry.between(this.anchor, /** @type {any} */ (at));
      this.anchor = null;
      this.cursor = null;
      this.lastCursor = at;
      if (r.x2 - r.x1 >= geometry.LEAST && r.y2 - r.y1 >= geometry.LEAST) this.desk.draw(r);
    }
    this.stage.redrawOverlay();
  }

  /** Both sides of a conflict are shown; what is chosen is saved over the newest version. */
  async settle({ entry, theirs }) {
    const item = this.desk.items.get(entry.image);
    if (!theirs) return;
    const what = await conflict.ask({
      item,
      entry,
      theirs,
      pictures: this.pictures,
      color: (label) => this.color(label),
    });
    const their = {
      ...entry.sheet,
      boxes: theirs.boxes,
      state: theirs.state,
      label: theirs.label,
      comment: theirs.comment,
    };
    const both = {
      ...entry.sheet,
      boxes: geometry.joined(entry.sheet.boxes, theirs.boxes),
      comment: conflict.comments(theirs, entry.sheet),
    };
    const sheet = { mine: entry.sheet, theirs: their, both }[what];
    if (item) {
      this.desk.history.push(item.id, entry.sheet);
      item.version = theirs.version;
      this.desk.sheets.set(item.id, sheet);
    }
    if (what === "theirs") this.saver.giveUp(entry);
    else this.saver.overwrite(entry, theirs.version, sheet);
    this.desk.changed();
  }

  nextMode() {
    const { stage } = this;
    if (!this.desk.item?.golden && stage.mode === "off") return this.stage.hint("This image has no golden.");
    stage.golden.choose(/** @type {any} */ (MODES[(MODES.indexOf(stage.mode) + 1) % MODES.length]));
    this.look_ahead();
    return this.show("view");
  }

  common() {
    return common(this);
  }
}
