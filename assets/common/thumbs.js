/** Thumbnails come a few at a time, so that what a person asks for meanwhile finds a free line. */

/** A browser has six lines to a server. */
const AT_ONCE = 4;

/** @typedef {{image: HTMLImageElement, url: string}} Wish */

/** @type {Wish[]} what was asked for last, first */
let waiting = [];
/** @type {Wish[]} */
let fresh = [];
/** @type {Set<HTMLImageElement>} */
const coming = new Set();

/** Show a picture as soon as it is its turn. @param {HTMLImageElement} image @param {string} url */
export function want(image, url) {
  if (!fresh.length) queueMicrotask(begin);
  fresh.push({ image, url });
}

/** What is out of sight waits for nothing. @param {HTMLImageElement | null} image */
export function drop(image) {
  if (!image || !coming.has(image)) return;
  image.removeAttribute("src");
  ended(image);
}

function begin() {
  waiting = [...fresh, ...waiting].filter(({ image }) => image.isConnected);
  fresh = [];
  next();
}

function next() {
  while (coming.size < AT_ONCE && waiting.length) {
    const { image, url } = /** @type {Wish} */ (waiting.shift());
    if (image.isConnected) load(image, url);
  }
}

/** @param {HTMLImageElement} image @param {string} url */
function load(image, url) {
  coming.add(image);
  image.onload = image.onerror = () => ended(image);
  image.src = url;
}

/** @param {HTMLImageElement} image */
function ended(image) {
  if (coming.delete(image)) next();
}
