/** Decoded pictures, off the main thread, in a cache bounded by pixels; previews first, the rest on demand. */

export const PREVIEW = 2048;
const BOUND = 90e6;
const TILE = 512;
/** An image up to this many pixels is shown whole at full resolution, a larger one by tiles. */
export const WHOLE = 26e6;

/** @typedef {{bitmap: ImageBitmap, pixels: number}} Kept */

export class Pictures {
  /** @param {{bound?: number}} [options] */
  constructor({ bound = BOUND } = {}) {
    this.bound = bound;
    this.pixels = 0;
    /** @type {Map<string, Kept>} oldest use first */
    this.kept = new Map();
    /** @type {Map<string, Promise<ImageBitmap>>} */
    this.coming = new Map();
    /** @type {Map<string, string>} */
    this.failed = new Map();
  }

  /** @param {string} url @returns {ImageBitmap | null} */
  peek(url) {
    const found = this.kept.get(url);
    if (!found) return null;
    this.kept.delete(url);
    this.kept.set(url, found);
    return found.bitmap;
  }

  /** @param {string} url @param {'high' | 'low'} [priority] @returns {Promise<ImageBitmap>} */
  get(url, priority = "high") {
    const found = this.peek(url);
    if (found) return Promise.resolve(found);
    const running = this.coming.get(url) ?? this.fetch(url, priority);
    this.coming.set(url, running);
    return running;
  }

  /** @param {string} url @param {'high' | 'low'} priority */
  async fetch(url, priority) {
    try {
      const answer = await fetch(url, /** @type {any} */ ({ priority }));
      if (!answer.ok) throw new Error(await reason(answer));
      const bitmap = await createImageBitmap(await answer.blob());
      this.keep(url, bitmap);
      this.failed.delete(url);
      return bitmap;
    } catch (error) {
      this.failed.set(url, error instanceof Error ? error.message : String(error));
      throw error;
    } finally {
      this.coming.delete(url);
    }
  }

  /** @param {string} url @param {ImageBitmap} bitmap */
  keep(url, bitmap) {
    this.kept.set(url, { bitmap, pixels: bitmap.width * bitmap.height });
    this.pixels += bitmap.width * bitmap.height;
    for (const [oldest, { bitmap: old, pixels }] of this.kept) {
      if (this.pixels <= this.bound || oldest === url) break;
      this.kept.delete(oldest);
      this.pixels -= pixels;
      old.close();
    }
  }

  /** Fetches quietly, one after the other, until a newer wish comes. @param {string[]} urls */
  async prefetch(urls) {
    const wish = (this.wish = {});
    for (const url of urls) {
      if (this.wish !== wish) return;
      if (!this.kept.has(url)) await this.get(url, "low").catch(() => null);
    }
  }
}

/** @param {Response} answer */
async function reason(answer) {
  const body = await answer.json().catch(() => null);
  return body?.error ?? `The picture could not be loaded (${answer.status}).`;
}

/** @param {{sha256: string}} item */
export function previewUrl(item) {
  return `/files/${item.sha256}/preview`;
}

/** @param {{sha256: string}} item */
export function fullUrl(item) {
  return `/files/${item.sha256}/full`;
}

/** @param {{sha256: string}} item */
export function thumbUrl(item) {
  return `/files/${item.sha256}/thumb`;
}

/** The tiles that cover a rectangle at a level; level n is halved n times.
 * @param {{sha256: string, width: number, height: number}} item
 * @param {import('../desk/types.js').Rectangle} r @param {number} level */
export function tiles(item, r, level) {
  const side = TILE * 2 ** level;
  const found = [];
  for (let y = Math.floor(r.y1 / side); y * side < r.y2; y++) {
    for (let x = Math.floor(r.x1 / side); x * side < r.x2; x++) {
      const x1 = x * side;
      const y1 = y * side;
      found.push({
        url: `/files/${item.sha256}/tile/${level}/${x}/${y}`,
        x1,
        y1,
        x2: Math.min(item.width, x1 + side),
        y2: Math.min(item.height, y1 + side),
      });
    }
  }
  return found;
}
