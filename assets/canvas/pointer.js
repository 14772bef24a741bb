/** What mouse, pen and fingers do on the picture: draw, move, resize, select by band, pan, pinch. */

import * as geometry from "./boxes.js";

/** @typedef {import("../desk/types.js").Target} Target */
/** @typedef {import("../desk/types.js").Rectangle} Rectangle */
/** @typedef {ReturnType<import("./stage.js").Stage["locate"]>} Place */
/**
 * @typedef {{kind: "pan", last: PointerEvent, deselect?: boolean} | {kind: "draw", rectangle?: Rectangle}
 *   | {kind: "resize", handle: string, box: Target, changed: Target[]} | {kind: "band", band?: Rectangle}
 *   | {kind: "move", boxes: Target[], changed: Target[]} | {kind: "none"}} Intent
 * @typedef {Intent & {from: Place, start: PointerEvent, moved: boolean}} Doing
 * @typedef {{moved: boolean, changed?: Target[], rectangle?: Rectangle, band?: Rectangle}} Draft
 */
/**
 * @typedef {object} Hands what a page lets the pointer do
 * @property {() => readonly Target[]} boxes those that can be hit
 * @property {() => Set<string>} selected
 * @property {() => boolean} drawing
 * @property {() => boolean} editable
 * @property {(ids: string[], more: boolean) => void} select
 * @property {(box: Rectangle) => void} draw
 * @property {(boxes: Target[], action: string) => void} change
 * @property {(id: string) => void} hover
 */

const REACH = 7;
const TOUCH_REACH = 18;
const CLICK = 3;
/** @type {Record<string, string>} */
const CURSORS = {
  nw: "nwse-resize",
  se: "nwse-resize",
  ne: "nesw-resize",
  sw: "nesw-resize",
  n: "ns-resize",
  s: "ns-resize",
  e: "ew-resize",
  w: "ew-resize",
};

export class Pointer {
  /** @param {import("./stage.js").Stage} stage @param {Hands} hands */
  constructor(stage, hands) {
    this.stage = stage;
    this.hands = hands;
    /** @type {Map<number, {clientX: number, clientY: number}>} */
    this.down = new Map();
    /** @type {Doing | null} */
    this.doing = null;
    /** @type {{x: number, y: number, spread: number} | null} */
    this.pinch = null;
    /** @type {import("../desk/types.js").Point | null} */
    this.at = null;
    this.space = false;
    const canvas = stage.above;
    canvas.addEventListener("pointerdown", (/** @type {PointerEvent} */ e) => this.press(e));
    canvas.addEventListener("pointermove", (/** @type {PointerEvent} */ e) => this.move(e));
    canvas.addEventListener("pointerup", (/** @type {PointerEvent} */ e) => this.release(e));
    canvas.addEventListener("pointercancel", (/** @type {PointerEvent} */ e) => this.cancel(e));
    canvas.addEventListener("pointerleave", () => this.leave());
    canvas.addEventListener("wheel", (/** @type {WheelEvent} */ e) => this.wheel(e), { passive: false });
    canvas.addEventListener("contextmenu", (/** @type {Event} */ e) => e.preventDefault());
  }

  /** The boxes as they stand while a drag goes on, and the rectangle being drawn. @returns {Draft | null} */
  get draft() {
    return this.doing?.moved ? this.doing : null;
  }

  /** @param {PointerEvent} event */
  press(event) {
    this.stage.focus();
    this.stage.above.setPointerCapture(event.pointerId);
    this.down.set(event.pointerId, event);
    if (this.down.size === 2) return this.beginPinch();
    if (this.down.size > 2) return;
    const at = this.stage.locate(event);
    this.at = { x: at.x, y: at.y };
    const intent = this.intent(event, at);
    this.doing = intent && { ...intent, from: at, start: event, moved: false };
  }

  /** @param {PointerEvent} event @param {Place} at @returns {Intent | null} */
  intent(event, at) {
    if (!this.stage.item) return null;
    if (event.button === 1 || event.button === 2 || this.space) return { kind: "pan", last: event };
    const grip = this.grip(event, at);
    if (grip) return { kind: "resize", ...grip };
    if (this.hands.drawing() && this.hands.editable()) return { kind: "draw" };
    const hit = geometry.boxAt(this.hands.boxes(), at, this.reach(event) / 2);
    if (hit) return this.take(event, hit);
    if (event.shiftKey) return { kind: "band" };
    return { kind: "pan", last: event, deselect: true };
  }

  /** Chooses the box under the pointer, and all chosen ones move together. @param {PointerEvent} event @param {Target} hit @returns {Intent} */
  take(event, hit) {
    const more = event.shiftKey || event.ctrlKey || event.metaKey;
    if (more || !this.hands.selected().has(hit.id)) this.hands.select([hit.id], more);
    const boxes = this.hands.boxes().filter((box) => this.hands.selected().has(box.id));
    return this.hands.editable() ? { kind: "move", boxes, changed: boxes } : { kind: "none" };
  }

  /** @param {PointerEvent} event */
  reach(event) {
    return (event.pointerType === "touch" ? TOUCH_REACH : REACH) / this.stage.view.scale;
  }

  /** @param {PointerEvent} event @param {Place} at */
  grip(event, at) {
    const chosen = this.hands.boxes().filter((box) => this.hands.selected().has(box.id));
    if (chosen.length !== 1 || !this.hands.editable()) return null;
    const [{ x1, y1, x2, y2 }] = chosen;
    // A small box must leave room in its middle to be moved by.
    const reach = Math.min(
      this.reach(event),
      Math.max(2 / this.stage.view.scale, Math.min(x2 - x1, y2 - y1) / 3),
    );
    const handle = geometry.handleAt(chosen[0], at, reach);
    return handle ? { handle, box: chosen[0], changed: chosen } : null;
  }

  /** @param {PointerEvent} event */
  move(event) {
    if (this.down.has(event.pointerId)) this.down.set(event.pointerId, event);
    const at = this.stage.locate(event, this.doing?.from.pane);
    this.at = { x: at.x, y: at.y };
    if (this.pinch && this.down.size === 2) return this.spread(this.pinch);
    if (this.doing) this.drag(this.doing, event, at);
    else this.look(event, at);
    this.stage.redrawOverlay();
  }

  /** @param {Doing} doing @param {PointerEvent} event @param {Place} at */
  drag(doing, event, at) {
    const { stage } = this;
    const far = Math.hypot(event.clientX - doing.start.clientX, event.clientY - doing.start.clientY);
    if (!doing.moved && far < CLICK) return;
    doing.moved = true;
    const { width, height } = /** @type {import("../desk/types.js").Item} */ (stage.item);
    if (doing.kind === "pan") {
      stage.view.panBy(event.clientX - doing.last.clientX, event.clientY - doing.last.clientY);
      doing.last = event;
      stage.redraw();
    } else if (doing.kind === "move") {
      doing.changed = this.shifted(doing.boxes, at.x - doing.from.x, at.y - doing.from.y, width, height);
    } else if (doing.kind === "resize") {
      doing.changed = [geometry.resized(doing.box, doing.handle, at, width, height)];
    } else if (doing.kind === "draw") {
      doing.rectangle = geometry.clipped(geometry.between(doing.from, at), width, height);
    } else if (doing.kind === "band") doing.band = geometry.between(doing.from, at);
  }

  /** All move by the same way, which ends where the first of them meets the edge.
   * @param {Target[]} boxes @param {number} dx @param {number} dy @param {number} width @param {number} height */
  shifted(boxes, dx, dy, width, height) {
    const x = Math.min(...boxes.map((b) => width - b.x2), Math.max(...boxes.map((b) => -b.x1), dx));
    const y = Math.min(...boxes.map((b) => height - b.y2), Math.max(...boxes.map((b) => -b.y1), dy));
    return boxes.map((box) => geometry.moved(box, x, y, width, height));
  }

  /** @param {PointerEvent} event @param {Place} at */
  look(event, at) {
    const grip = event.pointerType === "touch" ? null : this.grip(event, at);
    const hit = geometry.boxAt(this.hands.boxes(), at, this.reach(event) / 2);
    this.hands.hover(hit?.id ?? "");
    const cursor = grip
      ? CURSORS[grip.handle]
      : this.hands.drawing()
      ? "crosshair"
      : hit
      ? "move"
      : "default";
    this.stage.above.style.cursor = this.space ? "grab" : cursor;
  }

  /** @param {PointerEvent} event */
  release(event) {
    this.down.delete(event.pointerId);
    if (this.pinch) {
      this.pinch = this.down.size ? this.pinch : null;
      this.doing = null;
      return;
    }
    const doing = this.doing;
    this.doing = null;
    if (!doing) return;
    if (doing.moved) this.finish(doing);
    else this.click(event, doing);
    this.stage.redrawOverlay();
  }

  /** @param {Doing} doing */
  finish(doing) {
    const { hands } = this;
    if (doing.kind === "move") hands.change(doing.changed, "move");
    else if (doing.kind === "resize") hands.change(doing.changed, "resize");
    else if (doing.kind === "draw" && doing.rectangle) {
      const { x1, y1, x2, y2 } = doing.rectangle;
      if (x2 - x1 >= geometry.LEAST && y2 - y1 >= geometry.LEAST) hands.draw(doing.rectangle);
    } else if (doing.kind === "band" && doing.band) {
      const { x1, y1, x2, y2 } = doing.band;
      const inside = hands.boxes().filter((b) => b.x1 < x2 && b.x2 > x1 && b.y1 < y2 && b.y2 > y1);
      hands.select(inside.map((box) => box.id), true);
    }
  }

  /** A press that did not move: it chooses, also while drawing. @param {PointerEvent} event @param {Doing} doing */
  click(event, doing) {
    const more = event.shiftKey || event.ctrlKey || event.metaKey;
    if (doing.kind === "draw") {
      const hit = geometry.boxAt(this.hands.boxes(), this.stage.locate(event), this.reach(event) / 2);
      this.hands.select(hit ? [hit.id] : [], more);
    } else if (doing.kind === "pan" && doing.deselect && !more) this.hands.select([], false);
  }

  /** @param {PointerEvent} event */
  cancel(event) {
    this.down.delete(event.pointerId);
    this.doing = null;
    this.pinch = null;
    this.stage.redrawOverlay();
  }

  /** Drops what is being dragged; says whether there was anything. */
  escape() {
    const had = Boolean(this.doing);
    this.doing = null;
    this.stage.redrawOverlay();
    return had;
  }

  leave() {
    if (this.doing) return;
    this.at = null;
    this.hands.hover("");
    this.stage.redrawOverlay();
  }

  fingers() {
    const [a, b] = [...this.down.values()];
    const frame = this.stage.above.getBoundingClientRect();
    return {
      x: (a.clientX + b.clientX) / 2 - frame.left,
      y: (a.clientY + b.clientY) / 2 - frame.top,
      spread: Math.max(1, Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY)),
    };
  }

  beginPinch() {
    this.doing = null;
    this.pinch = this.fingers();
  }

  /** @param {{x: number, y: number, spread: number}} before */
  spread(before) {
    const now = this.fingers();
    this.stage.view.panBy(now.x - before.x, now.y - before.y);
    this.stage.view.zoomAt(now.x, now.y, now.spread / before.spread);
    this.pinch = now;
    this.stage.redraw();
  }

  /** @param {WheelEvent} event */
  wheel(event) {
    event.preventDefault();
    const { sx, sy } = this.stage.locate(event);
    const lines = event.deltaMode === 1 ? 16 : 1;
    if (event.shiftKey) this.stage.view.panBy(-(event.deltaX || event.deltaY) * lines, 0);
    else this.stage.view.zoomAt(sx, sy, Math.exp(-Math.max(-240, Math.min(240, event.deltaY * lines)) / 480));
    this.stage.redraw();
  }
}
