/** The picture on the screen: two canvases, one for the picture and one for what stands on it. */

import { h } from "../common/dom.js";
import { golden as goldenLayer, laying } from "./golden.js";
import { fullUrl, PREVIEW, previewUrl, tiles, WHOLE } from "./picture_cache.js";
import { View } from "./view.js";

/** @typedef {import("../desk/types.js").Item} Item */
/** @typedef {import("../desk/types.js").Rectangle} Rectangle */
/** @typedef {{sha256: string, width: number, height: number}} Sized */
/** @typedef {"off" | "side" | "blink" | "difference"} Mode */

export class Stage {
  /**
   * @param {import("./picture_cache.js").Pictures} pictures
   * @param {(ctx: CanvasRenderingContext2D, view: View, pane: number) => void} overlay
   */
  constructor(pictures, overlay) {
    this.pictures = pictures;
    this.overlay = overlay;
    this.view = new View();
    /** @type {Item | null} */
    this.item = null;
    /** @type {Mode} */
    this.mode = "off";
    this.adjust = { brightness: 100, contrast: 100, gamma: 1, invert: false };
    /** @type {HTMLCanvasElement} */
    this.below = h("canvas.lp-picture", { "aria-hidden": "true" });
    /** @type {HTMLCanvasElement} */
    this.above = h("canvas.lp-overlay", {
      tabIndex: 0,
      role: "application",
      "aria-label": "Picture: draw and change boxes. Press ? for the keys.",
    });
    /** @type {HTMLElement} */
    this.note = h("div.lp-note", { role: "status" });
    /** @type {HTMLElement} */
    this.hush = h("div.lp-hush", { role: "status" });
    /** @type {HTMLElement} */
    this.root = h("div.lp-stage", {}, this.below, this.above, this.note, this.hush);
    this.golden = goldenLayer(this);
    new ResizeObserver(() => this.resize()).observe(this.root);
  }

  get panes() {
    return this.mode === "side" && this.item?.golden ? 2 : 1;
  }

  /** Takes the keys, without a ring around the picture: nobody came here by Tab. */
  focus() {
    this.above.focus(/** @type {any} */ ({ preventScroll: true, focusVisible: false }));
  }

  resize() {
    const { width, height } = this.root.getBoundingClientRect();
    if (!width || !height) return;
    const ratio = window.devicePixelRatio || 1;
    for (const canvas of [this.below, this.above]) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    this.view.resize(width / this.panes, height);
    this.drawNow();
  }

  /** Shows an image; what is decoded already stands there in this very frame. @param {Item | null} item */
  async show(item) {
    this.item = item;
    this.golden.rest();
    if (!item) return this.redraw();
    this.view.setImage(item.width, item.height);
    if (this.panes * this.view.width > this.root.clientWidth + 1 || this.panes === 2) this.resize();
    this.say("");
    const url = previewUrl(item);
    if (!this.pictures.peek(url)) this.below.classList.add("waiting");
    this.drawNow();
    try {
      await this.pictures.get(url);
    } catch (error) {
      if (this.item === item) this.say(/** @type {Error} */ (error).message);
    }
    if (this.item === item) this.drawNow();
  }

  /** @param {string} text */
  say(text) {
    this.note.textContent = text;
  }

  /** A word in passing, which nothing moves for. @param {string} text */
  hint(text) {
    this.hush.textContent = text;
    this.hush.classList.add("on");
    clearTimeout(this.hintTimer);
    this.hintTimer = setTimeout(() => this.hush.classList.remove("on"), 1800);
  }

  redraw() {
    this.stalePicture = true;
    this.redrawOverlay();
  }

  redrawOverlay() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => this.drawNow(Boolean(this.stalePicture)));
  }

  drawNow(picture = true) {
    if (this.frame) cancelAnimationFrame(this.frame);
    this.frame = 0;
    this.stalePicture = false;
    if (picture) this.drawPicture();
    this.drawOverlay();
    this.root.dispatchEvent(new CustomEvent("painted"));
  }

  drawPicture() {
    const ctx = this.context(this.below);
    this.below.style.filter = this.filter();
    if (!this.item) return;
    const drawn = this.layer(ctx, this.item, 0);
    this.below.classList.toggle("waiting", !drawn);
    this.golden.draw(ctx, this.item);
  }

  /** Draws an image into a pane as well as it is known; says whether anything was there.
   * @param {CanvasRenderingContext2D} ctx @param {Sized} item
   * @param {number} pane @param {boolean} [once] where drawing twice would count twice
   * @param {number[]} [lie] how a golden lies on the board in whose frame it is drawn */
  layer(ctx, item, pane, once = false, lie = []) {
    let seen = this.view.visible();
    if (!seen) return true;
    this.pane(ctx, pane);
    if (lie.length) {
      const { matrix, most } = laying(lie, this.view, item);
      seen = { x1: seen.x1 - most, y1: seen.y1 - most, x2: seen.x2 + most, y2: seen.y2 + most };
      ctx.transform(matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f);
    }
    const preview = this.pictures.peek(previewUrl(item));
    if (preview) this.put(ctx, preview, { x1: 0, y1: 0, x2: item.width, y2: item.height }, seen);
    const closer = !(once && preview) && this.closer(ctx, item, seen, preview);
    ctx.restore();
    return Boolean(preview) || closer;
  }

  /** Where the zoom shows more than the preview holds: the whole picture, or its tiles.
   * @param {CanvasRenderingContext2D} ctx @param {Sized} item @param {Rectangle} seen @param {ImageBitmap | null} preview */
  closer(ctx, item, seen, preview) {
    const ratio = window.devicePixelRatio || 1;
    const held = preview
      ? preview.width / item.width
      : Math.min(1, PREVIEW / Math.max(item.width, item.height));
    if (held >= 0.999 || this.view.scale * ratio <= held * 1.05) return false;
    if (item.width * item.height <= WHOLE) {
      return this.part(ctx, fullUrl(item), { x1: 0, y1: 0, x2: item.width, y2: item.height }, seen);
    }
    const level = Math.max(0, Math.floor(Math.log2(1 / (this.view.scale * ratio))));
    return tiles(item, seen, level).map((tile) => this.part(ctx, tile.url, tile, seen)).some(Boolean);
  }

  /** @param {CanvasRenderingContext2D} ctx @param {string} url @param {Rectangle} where @param {Rectangle} seen @returns {boolean} */
  part(ctx, url, where, seen) {
    const bitmap = this.pictures.peek(url);
    if (bitmap) this.put(ctx, bitmap, where, seen);
    else if (!this.pictures.failed.has(url)) this.pictures.get(url).then(() => this.redraw(), () => null);
    return Boolean(bitmap);
  }

  /** Draws only the part of a bitmap that is in sight.
   * @param {CanvasRenderingContext2D} ctx @param {ImageBitmap} bitmap @param {Rectangle} where @param {Rectangle} seen */
  put(ctx, bitmap, where, seen) {
    const x1 = Math.max(where.x1, seen.x1);
    const y1 = Math.max(where.y1, seen.y1);
    const x2 = Math.min(where.x2, seen.x2);
    const y2 = Math.min(where.y2, seen.y2);
    if (x2 <= x1 || y2 <= y1) return;
    const across = bitmap.width / (where.x2 - where.x1);
    const down = bitmap.height / (where.y2 - where.y1);
    const at = this.view.toScreen(x1, y1);
    const scale = this.view.scale;
    ctx.imageSmoothingEnabled = scale < 3;
    ctx.imageSmoothingQuality = scale < 1 ? "medium" : "low";
    ctx.drawImage(
      bitmap,
      (x1 - where.x1) * across,
      (y1 - where.y1) * down,
      (x2 - x1) * across,
      (y2 - y1) * down,
      at.x,
      at.y,
      (x2 - x1) * scale,
      (y2 - y1) * scale,
    );
  }

  /** @param {CanvasRenderingContext2D} ctx @param {number} pane */
  pane(ctx, pane) {
    ctx.save();
    ctx.translate(pane * this.view.width, 0);
    ctx.beginPath();
    ctx.rect(0, 0, this.view.width, this.view.height);
    ctx.clip();
  }

  drawOverlay() {
    const ctx = this.context(this.above);
    if (!this.item) return;
    for (let pane = 0; pane < this.panes; pane++) {
      this.pane(ctx, pane);
      this.overlay(ctx, this.view, pane);
      ctx.restore();
    }
  }

  /** @param {HTMLCanvasElement} canvas */
  context(canvas) {
    const ctx = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    const ratio = window.devicePixelRatio || 1;
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.clearRect(0, 0, canvas.width, canvas.height);
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    return ctx;
  }

  filter() {
    const { brightness, contrast, gamma, invert } = this.adjust;
    const parts = [];
    if (gamma !== 1) parts.push("url(#lp-gamma)");
    if (brightness !== 100) parts.push(`brightness(${brightness}%)`);
    if (contrast !== 100) parts.push(`contrast(${contrast}%)`);
    if (invert) parts.push("invert(1)");
    return parts.join(" ") || "none";
  }

  /** Image coordinates of a pointer, in the pane where it is, or in the one where its gesture began.
   * @param {{clientX: number, clientY: number}} event @param {number} [began] */
  locate(event, began) {
    const frame = this.above.getBoundingClientRect();
    const across = event.clientX - frame.left;
    const under = Math.floor(across / Math.max(1, this.view.width));
    const pane = began ?? Math.max(0, Math.min(this.panes - 1, under));
    const sx = across - pane * this.view.width;
    const sy = event.clientY - frame.top;
    return { sx, sy, pane, ...this.view.toImage(sx, sy) };
  }
}
