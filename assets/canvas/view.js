/** Where the image stands on the screen: zoom, pan and fit, in CSS pixels. */

/** @typedef {import('../desk/types.js').Point} Point */

const MOST = 64;

export class View {
  constructor() {
    this.width = 1;
    this.height = 1;
    this.imageWidth = 1;
    this.imageHeight = 1;
    this.scale = 1;
    this.x = 0;
    this.y = 0;
    this.fitted = true;
  }

  /** @param {number} width @param {number} height */
  resize(width, height) {
    const centre = this.toImage(this.width / 2, this.height / 2);
    this.width = Math.max(1, width);
    this.height = Math.max(1, height);
    if (this.fitted) this.fit();
    else this.centreOn(centre);
  }

  /** @param {number} width @param {number} height */
  setImage(width, height) {
    const same = width === this.imageWidth && height === this.imageHeight;
    this.imageWidth = width;
    this.imageHeight = height;
    if (!same || this.fitted) this.fit();
  }

  fitScale() {
    const margin = Math.min(24, this.width / 10, this.height / 10);
    const across = (this.width - 2 * margin) / this.imageWidth;
    const down = (this.height - 2 * margin) / this.imageHeight;
    return Math.min(across, down);
  }

  fit() {
    this.scale = this.fitScale();
    this.centreOn({ x: this.imageWidth / 2, y: this.imageHeight / 2 });
    this.fitted = true;
  }

  /** One image pixel becomes one pixel of the screen. */
  oneToOne() {
    this.zoomAt(this.width / 2, this.height / 2, 1 / (window.devicePixelRatio || 1) / this.scale);
  }

  /** @param {Point} point */
  centreOn(point) {
    this.x = this.width / 2 - point.x * this.scale;
    this.y = this.height / 2 - point.y * this.scale;
  }

  /** Shows a rectangle of the image with room around it. @param {import('../desk/types.js').Rectangle} r @param {number} room */
  show(r, room) {
    const wide = Math.max(8, r.x2 - r.x1) * room;
    const high = Math.max(8, r.y2 - r.y1) * room;
    this.scale = this.bounded(Math.min(this.width / wide, this.height / high));
    this.centreOn({ x: (r.x1 + r.x2) / 2, y: (r.y1 + r.y2) / 2 });
    this.fitted = false;
  }

  /** @param {number} scale */
  bounded(scale) {
    return Math.min(MOST, Math.max(this.fitScale() / 4, scale));
  }

  /** Zooms so that the point under the cursor stays under it. @param {number} sx @param {number} sy @param {number} factor */
  zoomAt(sx, sy, factor) {
    const before = this.toImage(sx, sy);
    this.scale = this.bounded(this.scale * factor);
    this.x = sx - before.x * this.scale;
    this.y = sy - before.y * this.scale;
    this.keepInSight();
    this.fitted = false;
  }

  /** @param {number} dx @param {number} dy */
  panBy(dx, dy) {
    this.x += dx;
    this.y += dy;
    this.keepInSight();
    this.fitted = false;
  }

  keepInSight() {
    const room = 48;
    const wide = this.imageWidth * this.scale;
    const high = this.imageHeight * this.scale;
    this.x = Math.min(this.width - room, Math.max(room - wide, this.x));
    this.y = Math.min(this.height - room, Math.max(room - high, this.y));
  }

  /** @param {number} sx @param {number} sy @returns {Point} */
  toImage(sx, sy) {
    return { x: (sx - this.x) / this.scale, y: (sy - this.y) / this.scale };
  }

  /** @param {number} x @param {number} y @returns {Point} */
  toScreen(x, y) {
    return { x: x * this.scale + this.x, y: y * this.scale + this.y };
  }

  /** The part of the image on the screen, or null when none is. */
  visible() {
    const from = this.toImage(0, 0);
    const to = this.toImage(this.width, this.height);
    const x1 = Math.max(0, from.x);
    const y1 = Math.max(0, from.y);
    const x2 = Math.min(this.imageWidth, to.x);
    const y2 = Math.min(this.imageHeight, to.y);
    return x2 > x1 && y2 > y1 ? { x1, y1, x2, y2 } : null;
  }
}
