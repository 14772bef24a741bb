/** Draws the overlay: boxes with a dark halo, chips where they fit, handles, the crosshair. */

import { readable } from "../common/letters.js";
import { handlePoint, HANDLES } from "./boxes.js";

/**
 * @typedef {{id?: string, x1: number, y1: number, x2: number, y2: number, color: string, text: string, letter?: string,
 *   kind: "solid" | "dashed" | "dotted" | "crossed" | "ghost", selected?: boolean,
 *   hover?: boolean, handles?: boolean, label?: string}} Mark
 * @typedef {Pick<import("./view.js").View, "width" | "height" | "toScreen">} Frame
 */

/** @type {Record<string, number[]>} */
const DASHES = { solid: [], ghost: [], crossed: [], dashed: [6, 4], dotted: [1.5, 3.5] };
const FONT = "600 11px system-ui, sans-serif";
/** @type {Map<string, number>} */
const widths = new Map();

/** @param {CanvasRenderingContext2D} ctx @param {Frame} view @param {Mark[]} marks */
export function marks(ctx, view, marks) {
  const seen = marks.map((mark) => onScreen(view, mark)).filter((m) => inSight(view, m));
  halo(ctx, seen);
  for (const [key, group] of grouped(seen)) stroke(ctx, key, group);
  ctx.font = FONT;
  seen.forEach((mark) => chip(ctx, view, mark));
  seen.filter((mark) => mark.handles).forEach((mark) => handles(ctx, mark));
}

/** @param {Frame} view @param {Mark} mark @returns {Mark} */
function onScreen(view, mark) {
  const a = view.toScreen(mark.x1, mark.y1);
  const b = view.toScreen(mark.x2, mark.y2);
  return { ...mark, x1: a.x, y1: a.y, x2: b.x, y2: b.y };
}

/** @param {Frame} view @param {Mark} m */
function inSight(view, m) {
  return m.x2 >= 0 && m.y2 >= 0 && m.x1 <= view.width && m.y1 <= view.height;
}

/** @param {CanvasRenderingContext2D} ctx @param {Mark[]} seen */
function halo(ctx, seen) {
  ctx.setLineDash([]);
  for (const selected of [false, true]) {
    const some = seen.filter((m) => Boolean(m.selected) === selected && m.kind !== "ghost");
    if (!some.length) continue;
    ctx.lineWidth = selected ? 5 : 3.5;
    ctx.strokeStyle = selected ? "rgba(255,255,255,.85)" : "rgba(10,12,16,.55)";
    ctx.beginPath();
    some.forEach((m) => ctx.rect(m.x1, m.y1, m.x2 - m.x1, m.y2 - m.y1));
    ctx.stroke();
  }
}

/** @param {Mark[]} seen */
function grouped(seen) {
  /** @type {Map<string, Mark[]>} */
  const groups = new Map();
  for (const mark of seen) {
    const key = `${mark.kind}|${mark.color}|${mark.selected || mark.hover ? 1 : 0}`;
    const group = groups.get(key);
    if (group) group.push(mark);
    else groups.set(key, [mark]);
  }
  return groups;
}

/** @param {CanvasRenderingContext2D} ctx @param {string} key @param {Mark[]} group */
function stroke(ctx, key, group) {
  const [kind, color, strong] = key.split("|");
  ctx.strokeStyle = color;
  ctx.setLineDash(DASHES[kind]);
  ctx.lineWidth = strong === "1" ? 2 : 1.5;
  ctx.globalAlpha = kind === "ghost" ? 0.45 : 1;
  ctx.beginPath();
  group.forEach((m) => ctx.rect(m.x1, m.y1, m.x2 - m.x1, m.y2 - m.y1));
  ctx.stroke();
  if (strong === "1") wash(ctx, color);
  if (kind === "crossed") cross(ctx, group);
  ctx.globalAlpha = 1;
  ctx.setLineDash([]);
}

/** @param {CanvasRenderingContext2D} ctx @param {string} color */
function wash(ctx, color) {
  ctx.globalAlpha = 0.08;
  ctx.fillStyle = color;
  ctx.fill();
  ctx.globalAlpha = 1;
}

/** Twice, dark under coloured, so that it is seen on black and on white. @param {CanvasRenderingContext2D} ctx @param {Mark[]} group */
function cross(ctx, group) {
  const { strokeStyle } = ctx;
  diagonals(ctx, group, 3, "rgba(10,12,16,.45)");
  diagonals(ctx, group, 1.25, strokeStyle);
}

/** @param {CanvasRenderingContext2D} ctx @param {Mark[]} group @param {number} width @param {CanvasRenderingContext2D["strokeStyle"]} color */
function diagonals(ctx, group, width, color) {
  ctx.lineWidth = width;
  ctx.strokeStyle = color;
  ctx.beginPath();
  for (const m of group) {
    ctx.moveTo(m.x1, m.y1);
    ctx.lineTo(m.x2, m.y2);
    ctx.moveTo(m.x2, m.y1);
    ctx.lineTo(m.x1, m.y2);
  }
  ctx.stroke();
}

/** @param {CanvasRenderingContext2D} ctx @param {Frame} view @param {Mark} mark */
function chip(ctx, view, mark) {
  const chosen = mark.selected || mark.hover;
  const fits = (/** @type {string} */ text) =>
    text && (chosen || (mark.x2 - mark.x1 >= width(ctx, text) + 8 && mark.y2 - mark.y1 >= 24));
  // Of many classes a small box has its letter at least.
  const text = fits(mark.text) ? mark.text : mark.letter;
  if (!text) return;
  const wide = width(ctx, text) + 8;
  const x = Math.max(0, Math.min(mark.x1 - 1, view.width - wide));
  const y = mark.y1 >= 16 ? mark.y1 - 16 : Math.min(view.height - 16, Math.max(0, mark.y1));
  ctx.globalAlpha = chosen ? 1 : 0.9;
  ctx.fillStyle = mark.color;
  ctx.fillRect(x, y, wide, 15);
  ctx.fillStyle = readable(mark.color);
  ctx.fillText(text, x + 4, y + 11.5);
  ctx.globalAlpha = 1;
}

/** @param {CanvasRenderingContext2D} ctx @param {string} text */
function width(ctx, text) {
  const known = widths.get(text);
  if (known !== undefined) return known;
  if (widths.size > 5000) widths.clear();
  const measured = ctx.measureText(text).width;
  widths.set(text, measured);
  return measured;
}

/** @param {CanvasRenderingContext2D} ctx @param {Mark} mark */
function handles(ctx, mark) {
  ctx.lineWidth = 1;
  ctx.fillStyle = "#ffffff";
  ctx.strokeStyle = "#14161a";
  const small = Math.min(mark.x2 - mark.x1, mark.y2 - mark.y1) < 34;
  for (const name of HANDLES) {
    if (small && name.length === 1) continue;
    const at = handlePoint(mark, name);
    ctx.fillRect(at.x - 3.5, at.y - 3.5, 7, 7);
    ctx.strokeRect(at.x - 3.5, at.y - 3.5, 7, 7);
  }
}

/** @param {CanvasRenderingContext2D} ctx @param {Frame} view @param {import("../desk/types.js").Point} at */
export function crosshair(ctx, view, at) {
  const { x, y } = view.toScreen(at.x, at.y);
  // A line between two rows of pixels would be twice as wide and grey.
  const p = { x: Math.floor(x) + 0.5, y: Math.floor(y) + 0.5 };
  for (
    const [width, color]
      of /** @type {[number, string][]} */ ([[3, "rgba(10,12,16,.45)"], [1, "rgba(255,255,255,.9)"]])
  ) {
    ctx.lineWidth = width;
    ctx.strokeStyle = color;
    ctx.beginPath();
    ctx.moveTo(0, p.y);
    ctx.lineTo(view.width, p.y);
    ctx.moveTo(p.x, 0);
    ctx.lineTo(p.x, view.height);
    ctx.stroke();
  }
}

/** The band that selects many. @param {CanvasRenderingContext2D} ctx @param {Frame} view @param {import("../desk/types.js").Rectangle} r */
export function band(ctx, view, r) {
  const a = view.toScreen(r.x1, r.y1);
  const b = view.toScreen(r.x2, r.y2);
  ctx.setLineDash([4, 3]);
  ctx.lineWidth = 1;
  ctx.strokeStyle = "#ffffff";
  ctx.fillStyle = "rgba(255,255,255,.08)";
  ctx.fillRect(a.x, a.y, b.x - a.x, b.y - a.y);
  ctx.strokeRect(a.x, a.y, b.x - a.x, b.y - a.y);
  ctx.setLineDash([]);
}
