/** The golden beside the board: side by side with one zoom, blinking in place, or as the difference. */

import { previewUrl } from "./picture_cache.js";

/** @typedef {import("./paint.js").Frame} Frame */

/** @type {import("./stage.js").Mode[]} */
export const MODES = ["off", "side", "blink", "difference"];
const BLINK = 600;

/** @param {import("./stage.js").Stage} stage */
export function golden(stage) {
  let shown = false;
  let timer = 0;

  /** The golden, stretched to the board's size. @param {import("../desk/types.js").Item} item */
  const stretched = (item) => ({ ...item, sha256: item.golden?.sha256 ?? item.sha256 });

  const rest = () => {
    shown = false;
    clearInterval(timer);
    timer = 0;
    if (stage.mode === "blink" && stage.item?.golden && stage.root.offsetParent) {
      timer = window.setInterval(swap, BLINK);
    }
  };

  const swap = () => {
    if (!stage.root.offsetParent) return;
    shown = !shown;
    stage.redraw();
  };

  /** @param {typeof stage.mode} mode */
  const choose = (mode) => {
    const panes = stage.panes;
    stage.mode = mode;
    rest();
    if (panes !== stage.panes) stage.resize();
    if (stage.item?.golden) load(stage.item);
    stage.redraw();
  };

  const load = (/** @type {import("../desk/types.js").Item} */ item) => {
    const url = previewUrl(stretched(item));
    if (!stage.pictures.peek(url)) {
      stage.pictures.get(url).then(() => stage.redraw(), (e) => stage.say(e.message));
    }
  };

  /** @param {CanvasRenderingContext2D} ctx @param {import("../desk/types.js").Item} item */
  const draw = (ctx, item) => {
    if (stage.mode === "off" || !item.golden) return;
    load(item);
    const picture = stretched(item);
    const { lie } = item.golden;
    if (stage.mode === "side") {
      stage.layer(ctx, picture, 1, false, lie);
      divider(ctx, stage.view);
    } else if (stage.mode === "blink" && shown) stage.layer(ctx, picture, 0, false, lie);
    else if (stage.mode === "difference") {
      ctx.globalCompositeOperation = "difference";
      stage.layer(ctx, picture, 0, true, lie);
      ctx.globalCompositeOperation = "source-over";
    }
  };

  return {
    choose,
    draw,
    rest,
    swap,
    get shown() {
      return shown;
    },
  };
}

/** What lays a golden on its board on the screen, and by how much that moves it at most.
 * @param {number[]} lie takes a place of the board to the golden's @param {Frame & {scale: number}} view
 * @param {{width: number, height: number}} item */
export function laying(lie, view, item) {
  const [a, b, c, d, e, f] = lie;
  const there = new DOMMatrix([a, d, b, e, c, f]);
  const start = view.toScreen(0, 0);
  const screen = new DOMMatrix([view.scale, 0, 0, view.scale, start.x, start.y]);
  const corners = [[0, 0], [item.width, 0], [0, item.height], [item.width, item.height]];
  const away = corners.map(([x, y]) =>
    Math.max(Math.abs(a * x + b * y + c - x), Math.abs(d * x + e * y + f - y))
  );
  return { matrix: screen.multiply(there.inverse()).multiply(screen.inverse()), most: Math.max(...away) };
}

/** @param {CanvasRenderingContext2D} ctx @param {Frame} view */
function divider(ctx, view) {
  ctx.fillStyle = "#14161a";
  ctx.fillRect(view.width - 1, 0, 2, view.height);
  ctx.font = "600 11px system-ui, sans-serif";
  for (const [text, x] of /** @type {[string, number][]} */ ([["Board", 8], ["Golden", view.width + 8]])) {
    ctx.fillStyle = "rgba(10,12,16,.7)";
    ctx.fillRect(x, 8, ctx.measureText(text).width + 12, 18);
    ctx.fillStyle = "#f2f3f5";
    ctx.fillText(text, x + 6, 21);
  }
}
