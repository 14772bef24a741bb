/** The picture of a detection on the wall, with room around it. */

import * as paint from "../../canvas/paint.js";
import { previewUrl } from "../../canvas/picture_cache.js";

/** CSS pixels; it is drawn twice as fine. */
export const SIDE = 128;

/** @param {import("../../canvas/picture_cache.js").Pictures} pictures @param {import("./walls/sweep.js").Tile} tile @param {string} color */
export async function draw(pictures, tile, color) {
  const bitmap = await pictures.get(previewUrl(tile), "low").catch(() => null);
  if (!bitmap || !tile.canvas) return;
  const ctx = /** @type {CanvasRenderingContext2D} */ (tile.canvas.getContext("2d"));
  const side = Math.max(tile.x2 - tile.x1, tile.y2 - tile.y1, 12) * 2.4;
  const x = (tile.x1 + tile.x2 - side) / 2;
  const y = (tile.y1 + tile.y2 - side) / 2;
  const held = bitmap.width / tile.width;
  const wide = SIDE * 2;
  ctx.imageSmoothingEnabled = wide / side < 6;
  ctx.drawImage(bitmap, x * held, y * held, side * held, side * held, 0, 0, wide, wide);
  const scale = SIDE / side;
  /** @type {paint.Frame} */
  const view = {
    width: SIDE,
    height: SIDE,
    toScreen: (px, py) => ({ x: (px - x) * scale, y: (py - y) * scale }),
  };
  ctx.setTransform(2, 0, 0, 2, 0, 0);
  paint.marks(ctx, view, [{ ...tile, color, text: "", kind: "dashed" }]);
}
