/** The defect and the same place of the golden, side by side, both zoomed in step. */

import { fill, h } from "../common/dom.js";
import { laying } from "./golden.js";
import * as paint from "./paint.js";
import { fullUrl, previewUrl, WHOLE } from "./picture_cache.js";

/** @typedef {import("../desk/types.js").Item} Item */

/** @param {import("./picture_cache.js").Pictures} pictures */
export function closeup(pictures) {
  let room = 3;
  /** @type {{item: Item, mark: import("./paint.js").Mark} | null} */
  let shown = null;
  /** @type {HTMLCanvasElement[]} */
  const canvases = ["Board", "Golden"].map((name) =>
    h("canvas.lp-crop", { "aria-label": `${name}, close up` })
  );
  /** @type {HTMLElement[]} */
  const captions = ["Board", "Golden"].map((name) => h("figcaption", {}, name));
  const root = h("div.lp-closeup", {}, canvases.map((canvas, at) => h("figure", {}, canvas, captions[at])));
  root.addEventListener("wheel", (/** @type {WheelEvent} */ e) => {
    e.preventDefault();
    room = Math.min(12, Math.max(1.2, room * Math.exp(e.deltaY / 400)));
    draw();
  }, { passive: false });

  /** @param {Item | null} item @param {import("./paint.js").Mark | null} mark */
  const show = (item, mark) => {
    shown = item && mark ? { item, mark } : null;
    draw();
  };

  const draw = () => {
    root.classList.toggle("empty", !shown);
    canvases.forEach((canvas) => clear(canvas));
    if (!shown) return;
    const { item, mark } = shown;
    crop(canvases[0], item, item.sha256, mark, true);
    if (item.golden) crop(canvases[1], item, item.golden.sha256, mark, false, item.golden.lie);
    fill(captions[1], item.golden ? "Golden" : "No golden");
  };

  const clear = (/** @type {HTMLCanvasElement} */ canvas) => {
    const ratio = window.devicePixelRatio || 1;
    const wide = canvas.clientWidth || 132;
    canvas.width = Math.round(wide * ratio);
    canvas.height = Math.round((canvas.clientHeight || 132) * ratio);
    pen(canvas).setTransform(ratio, 0, 0, ratio, 0, 0);
  };

  /** @param {HTMLCanvasElement} canvas @param {Item} item @param {string} sha256 @param {import("./paint.js").Mark} mark
   * @param {boolean} first @param {number[]} [lie] how a golden lies on the board in whose frame it is drawn */
  const crop = (canvas, item, sha256, mark, first, lie = []) => {
    const bitmap = best(item, sha256);
    if (!bitmap) return;
    const ctx = pen(canvas);
    const wide = canvas.clientWidth || 132;
    const high = canvas.clientHeight || 132;
    const side = Math.max(mark.x2 - mark.x1, mark.y2 - mark.y1, 12) * room;
    const scale = Math.min(wide, high) / side;
    const x = (mark.x1 + mark.x2) / 2 - wide / scale / 2;
    const y = (mark.y1 + mark.y2) / 2 - high / scale / 2;
    const held = bitmap.width / item.width;
    ctx.imageSmoothingEnabled = scale < 3 * held;
    /** @type {paint.Frame & {scale: number}} */
    const view = {
      width: wide,
      height: high,
      scale,
      toScreen: (px, py) => ({ x: (px - x) * scale, y: (py - y) * scale }),
    };
    ctx.save();
    if (lie.length) {
      const { matrix } = laying(lie, view, item);
      ctx.transform(matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f);
    }
    ctx.drawImage(
      bitmap,
      -x * scale,
      -y * scale,
      (bitmap.width / held) * scale,
      (bitmap.height / held) * scale,
    );
    ctx.restore();
    paint.marks(ctx, view, [{
      ...mark,
      text: "",
      handles: false,
      selected: false,
      kind: first ? mark.kind : "ghost",
    }]);
  };

  /** The sharpest picture at hand; a sharper one is fetched. @param {Item} item @param {string} sha256 */
  const best = (item, sha256) => {
    const small = pictures.peek(previewUrl({ sha256 }));
    const wanted = !small
      ? previewUrl({ sha256 })
      : small.width < item.width * 0.99 && item.width * item.height <= WHOLE
      ? fullUrl({ sha256 })
      : "";
    const large = wanted && pictures.peek(wanted);
    if (wanted && !large) pictures.get(wanted, "low").then(() => shown?.item === item && draw(), () => null);
    return large || small;
  };

  return { root, show, draw };
}

/** @param {HTMLCanvasElement} canvas */
function pen(canvas) {
  return /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
}
