/** What keys do with the chosen boxes: nudge, stretch, copy, paste. */

import * as geometry from "../canvas/boxes.js";

/** @typedef {import("./desk.js").Desk} Desk */
/** @typedef {import("./types.js").Item} Item */

/** @param {Desk} desk @param {number} dx @param {number} dy */
export function nudge(desk, dx, dy) {
  const { width, height } = /** @type {Item} */ (desk.item);
  desk.replace(desk.chosen.map((box) => geometry.moved(box, dx, dy, width, height)), "nudge", { calm: true });
}

/** @param {Desk} desk @param {number} dx @param {number} dy */
export function stretch(desk, dx, dy) {
  const { width, height } = /** @type {Item} */ (desk.item);
  const pull = (/** @type {import("./types.js").Box} */ b) =>
    geometry.resized(
      b,
      "se",
      { x: Math.max(b.x1 + 1, b.x2 + dx), y: Math.max(b.y1 + 1, b.y2 + dy) },
      width,
      height,
    );
  desk.replace(desk.chosen.map(pull), "resize", { calm: true });
}

/** @param {Desk} desk @param {string} from */
export function paste(desk, from) {
  const { width, height, id } = /** @type {Item} */ (desk.item);
  const here = desk.clipped === id;
  desk.add(
    here
      ? desk.clipboard.map((b) => geometry.copied(b, 12, width, height))
      : geometry.pasted(desk.clipboard, width, height),
    from,
  );
}

/** @param {Desk} desk */
export function copy(desk) {
  if (!desk.chosen.length) return false;
  desk.clipboard = desk.chosen;
  desk.clipped = desk.item?.id;
  return true;
}
