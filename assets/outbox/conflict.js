/** Two people changed one image: both sides are shown, and a person says what stands. */

import { h } from "../common/dom.js";
import * as boxes from "../canvas/boxes.js";
import * as paint from "../canvas/paint.js";
import { previewUrl } from "../canvas/picture_cache.js";

const WIDE = 340;

/** @typedef {import("../desk/types.js").Item} Item */
/** @typedef {import("../desk/types.js").Theirs} Theirs */
/** @typedef {import("../desk/types.js").Box} Box */
/** @typedef {"mine" | "theirs" | "both"} Choice */

/**
 * @param {{item: Item | undefined, entry: import("./saving.js").Entry, theirs: Theirs,
 *   pictures: import("../canvas/picture_cache.js").Pictures, color: (label: string) => string}} both
 * @returns {Promise<Choice>}
 */
export function ask({ item, entry, theirs, pictures, color }) {
  return new Promise((answer) => {
    const choose = (/** @type {Choice} */ what) => {
      dialog.close();
      dialog.remove();
      answer(what);
    };
    /** @param {string} title @param {{boxes: readonly Box[], state: string, comment: string}} sheet @param {Choice} what @param {string} words */
    const side = (title, sheet, what, words) =>
      h(
        "section",
        {},
        h("h3", {}, title),
        sketch(item, sheet.boxes, pictures, color),
        h("p", {}, `${sheet.boxes.length} boxes, ${sheet.state}`),
        sheet.comment && h("p.lp-hint", {}, `“${sheet.comment}”`),
        h("button.lp-button", { onclick: () => choose(what), "data-choice": what }, words),
      );
    const dialog = h(
      "dialog.lp-conflict",
      { "aria-label": "Two people changed this image" },
      h("h2", {}, `${theirs.author || "Somebody"} changed ${entry.name} too`),
      h(
        "p",
        {},
        `Version ${theirs.version} was saved while yours was on its way. Nothing is lost: both stay in the history.`,
      ),
      h(
        "div.lp-sides",
        {},
        side("Yours", entry.sheet, "mine", "Keep mine"),
        side(`${theirs.author || "Theirs"}, version ${theirs.version}`, theirs, "theirs", "Load theirs"),
      ),
      h(
        "footer",
        {},
        h(
          "button.lp-button.primary",
          { onclick: () => choose("both"), "data-choice": "both" },
          `Keep both: ${boxes.joined(entry.sheet.boxes, theirs.boxes).length} boxes`,
        ),
      ),
    );
    dialog.addEventListener("cancel", (/** @type {Event} */ e) => e.preventDefault());
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** What both wrote about the image, once where it is the same. @param {{comment: string}} theirs @param {{comment: string}} mine */
export function comments(theirs, mine) {
  return [...new Set([theirs.comment, mine.comment].filter(Boolean))].join("\n");
}

/**
 * @param {Item | undefined} item @param {readonly Box[]} sides
 * @param {import("../canvas/picture_cache.js").Pictures} pictures @param {(label: string) => string} color
 */
function sketch(item, sides, pictures, color) {
  /** @type {HTMLCanvasElement} */
  const canvas = h("canvas.lp-sketch", { width: WIDE, height: 10 });
  if (!item) return canvas;
  const scale = Math.min(WIDE / item.width, 260 / item.height);
  canvas.width = Math.round(item.width * scale);
  canvas.height = Math.round(item.height * scale);
  /** @type {paint.Frame} */
  const view = {
    width: canvas.width,
    height: canvas.height,
    toScreen: (x, y) => ({ x: x * scale, y: y * scale }),
  };
  const draw = (/** @type {ImageBitmap | null} */ bitmap) => {
    const ctx = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    if (bitmap) ctx.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
    paint.marks(
      ctx,
      view,
      sides.map((b) => ({ ...b, color: color(b.label), text: "", kind: "solid" })),
    );
  };
  pictures.get(previewUrl(item)).then(draw, () => draw(null));
  return canvas;
}
