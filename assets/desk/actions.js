/** What the keys and tools that both pages share do. */

import * as geometry from "../canvas/boxes.js";
import { ofKey } from "../common/letters.js";
import * as words from "../common/words.js";
import * as edits from "./edits.js";
import * as keys from "./keys.js";

/** @typedef {import("./bench.js").Bench} Bench */

/** @param {Bench} bench @returns {import("./bench.js").Actions} */
export function common(bench) {
  const { desk, stage, pointer } = bench;
  const view = (/** @type {() => void} */ change) => () => {
    change();
    stage.redraw();
  };
  /** @returns {[number, number]} */
  const middle = () => [stage.view.width / 2, stage.view.height / 2];
  return {
    next: () => bench.step(1),
    previous: () => bench.step(-1),
    right: (event) => arrow(bench, event, 1, 0),
    left: (event) => arrow(bench, event, -1, 0),
    down: (event) => arrow(bench, event, 0, 1),
    up: (event) => arrow(bench, event, 0, -1),
    fit: view(() => stage.view.fit()),
    oneToOne: view(() => stage.view.oneToOne()),
    closer: view(() => stage.view.zoomAt(...zoomPoint(bench, middle()), 1.25)),
    farther: view(() => stage.view.zoomAt(...zoomPoint(bench, middle()), 0.8)),
    draw: () => (bench.drawing && desk.selected.size ? desk.select([]) : setDrawing(bench, !bench.drawing)),
    escape: () => escape(bench),
    cycle: (event) => cycle(bench, event.shiftKey ? -1 : 1),
    keep: () => keep(bench),
    class: (event) => digit(bench, event),
    remove: () => desk.discard(),
    selectAll: () => desk.select(desk.sheet.boxes.map((box) => box.id)),
    copy: () => (String(getSelection()) ? false : edits.copy(desk)),
    cut: () => edits.copy(desk) && desk.remove(),
    paste: () => desk.clipboard.length > 0 && desk.editable && edits.paste(desk, "paste"),
    duplicate: () => edits.copy(desk) && edits.paste(desk, "duplicate"),
    undo: () => desk.undo(),
    redo: () => desk.redo(),
    golden: () => bench.nextMode(),
    hide: () => {
      bench.hidden = !bench.hidden;
      desk.changed("view");
    },
    light: () => bench.tools.press({ light: bench.light.toggle() }),
    help: () => keys.overlay(bench.name, bench.desk.of),
    space: () => (bench.drawing && bench.cursor ? bench.corner() : ((pointer.space = true), undefined)),
    spaceUp: () => (pointer.space = false),
    done: () => (bench.drawing && bench.cursor ? bench.corner() : undefined),
  };
}

/** Zooming by key goes to the chosen box, else to the middle. @param {Bench} bench @param {[number, number]} middle @returns {[number, number]} */
function zoomPoint(bench, middle) {
  const [box] = bench.desk.chosen;
  if (!box) return middle;
  const at = bench.stage.view.toScreen((box.x1 + box.x2) / 2, (box.y1 + box.y2) / 2);
  return [at.x, at.y];
}

/** @param {Bench} bench @param {boolean} on */
export function setDrawing(bench, on) {
  bench.drawing = on && bench.desk.editable && !bench.desk.byImage;
  bench.anchor = null;
  bench.cursor = null;
  if (bench.drawing) bench.desk.select([]);
  // Whoever came by the tool would press it again with Enter, which sets the corners.
  if (bench.drawing) bench.stage.focus();
  bench.stage.above.style.cursor = bench.drawing ? "crosshair" : "default";
  bench.desk.changed("view");
}

/** Drawing without a mouse: the first corner, then the second. @param {Bench} bench */
export function corner(bench) {
  const at = bench.cursor;
  if (!bench.anchor || !at) bench.anchor = at;
  else {
    const r = geometry.between(bench.anchor, at);
    bench.anchor = null;
    bench.cursor = null;
    bench.lastCursor = at;
    if (r.x2 - r.x1 >= geometry.LEAST && r.y2 - r.y1 >= geometry.LEAST) bench.desk.draw(r);
  }
  bench.stage.redrawOverlay();
}

/** @param {Bench} bench */
function escape(bench) {
  if (bench.pointer.escape()) return;
  if (!bench.light.root.hidden) {
    bench.light.root.hidden = true;
    bench.stage.focus();
  } else if (bench.anchor) {
    bench.anchor = null;
    bench.stage.redrawOverlay();
  } else if (bench.drawing) setDrawing(bench, false);
  else bench.desk.select([]);
}

/** An arrow moves the drawing cursor, nudges or stretches what is chosen, pans, or turns the page.
 * @param {Bench} bench @param {KeyboardEvent} event @param {number} dx @param {number} dy */
function arrow(bench, event, dx, dy) {
  const by = event.shiftKey ? 10 : 1;
  if (bench.drawing && !bench.desk.chosen.length) return moveCursor(bench, event, dx, dy);
  if (bench.desk.chosen.length && bench.desk.editable) {
    return edits[event.altKey ? "stretch" : "nudge"](bench.desk, dx * by, dy * by);
  }
  if (event.shiftKey) {
    bench.stage.view.panBy(-80 * dx, -80 * dy);
    return bench.stage.redraw();
  }
  return event.altKey ? false : bench.step(dx + dy);
}

/** Eight screen pixels a press, with Shift five times as far, with Alt one pixel of the image.
 * @param {Bench} bench @param {KeyboardEvent} event @param {number} dx @param {number} dy */
function moveCursor(bench, event, dx, dy) {
  const { stage } = bench;
  const { view, item } = stage;
  if (!item) return;
  const start = bench.cursor ?? bench.pointer.at ?? bench.lastCursor ??
    view.toImage(view.width / 2, view.height / 2);
  const by = event.altKey ? 1 : Math.max(1, Math.round((event.shiftKey ? 40 : 8) / view.scale));
  const x = Math.min(item.width, Math.max(0, Math.round(start.x) + dx * by));
  const y = Math.min(item.height, Math.max(0, Math.round(start.y) + dy * by));
  bench.cursor = { x, y };
  const at = view.toScreen(x, y);
  const off = (/** @type {number} */ v, /** @type {number} */ most) =>
    Math.min(0, most - 20 - v) + Math.max(0, 20 - v);
  const across = off(at.x, view.width);
  const down = off(at.y, view.height);
  if (across || down) view.panBy(across, down);
  stage.redraw();
}

/** The next box in reading order; past the last one the focus moves on, so that nobody is trapped. @param {Bench} bench @param {1 | -1} way */
function cycle(bench, way) {
  if (document.activeElement !== bench.stage.above) return false;
  const { selected } = bench.desk;
  const kept = [...bench.kept].every((id) => selected.has(id)) ? bench.kept : new Set();
  const order = [...bench.targets()].sort((a, b) => way * (a.y1 - b.y1 || a.x1 - b.x1));
  const last = order.findIndex((box) => box.id === bench.tabbed && selected.has(box.id));
  const now = last < 0 ? order.findIndex((box) => selected.has(box.id)) : last;
  const next = order.slice(now + 1).find((box) => !kept.has(box.id));
  bench.tabbed = next?.id ?? "";
  bench.desk.select(next ? [...kept, next.id] : kept);
  if (!next) return false;
  bench.reveal(next);
  return true;
}

/** What is chosen stays so while Tab chooses one more. @param {Bench} bench */
function keep(bench) {
  if (!bench.desk.selected.size) return false;
  bench.kept = new Set(bench.desk.selected);
  bench.stage.hint(`${words.many(bench.kept.size, "box is", "boxes are")} kept; Tab chooses one more.`);
  return true;
}

/** @param {Bench} bench @param {KeyboardEvent} event */
function digit(bench, event) {
  const { desk } = bench;
  const found = ofKey(desk.classes, event.key);
  if (!found || !desk.editable) return false;
  desk.classify(found.name);
  return true;
}
