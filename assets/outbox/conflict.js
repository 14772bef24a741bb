/** Two people changed one image: both sides are shown, and a person says what stands. */

import { h } from "../shared/dom.js";
import * as boxes from "../canvas/boxes.js";
import * as paint from "../canvas/paint.js";
import { previewUrl } from "../canvas/picture_cache.js";

const WIDE = 340;

/**
 * @param {{item: import("../desk/types.js").Item | undefined, entry: import("./saving.js").Entry, theirs: any,
 *   pictures: import("../canvas/picture_cache.js").Pictures, color: (label: string) => string}} both
 * @returns {Promise<"mine" | "theirs" | "both">}
 */
export function ask({ item, entry, theirs, pictures, color }) {
  return new Promise((answer) => {
    const choose = (/** @type {"mine" | "theirs" | "both"} */ what) => {
      dialog.close();
      dialog.remove();
      answer(what);
    };
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

/** What both wrote about the image, once where it is the same. */
export function comments(theirs, mine) {
  return [...new Set([theirs.comment, mine.comment].filter(Boolean))].join("\n");
}

function sketch(item, sides, pictures, color) {
  const canvas = h("canvas.lp-sketch", { width: WIDE, height: 10 });
  if (!item) return canvas;
  const scale = Math.min(WIDE / item.width, 260 / item.height);
  canvas.width = Math.round(item.width * scale);
  canvas.height = Math.round(item.height * scale);
  const view = {
    width: canvas.width,
    height: canvas.height,
    toScreen: (x, y) => ({ x: x * scale, y: y * scale }),
  };
  const draw = (bitmap) => {
    const ctx = canvas.getContext("2d");
    if (bitmap) ctx.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
    paint.marks(
      ctx,
      /** @type {any} */ (view),
      sides.map((b) => ({ ...b, color: color(b.label), text: "", kind: "solid" })),
    );
  };
  pictures.get(previewUrl(item)).then(draw, () => draw(null));
  return canvas;
}
