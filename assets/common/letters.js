/** A sign for each class where there are too many to be told apart by colour alone. */

import { h } from "./dom.js";

const BY_COLOUR = 9;
const ALPHABET = "abcdefghijklmnopqrstuvwxyz";

/**
 * The sign of each class by its name: its key, else the first free letter of its name, else of the
 * alphabet, else its number. Nine classes have colours that do without.
 * @param {{name: string, hotkey: string}[]} classes @returns {Record<string, string>}
 */
export function letters(classes) {
  if (classes.length <= BY_COLOUR) return {};
  const taken = new Set(classes.map((one) => one.hotkey).filter(Boolean));
  /** @param {{name: string}} one @param {number} at */
  const sign = (one, at) => {
    const free =
      [...one.name.toLowerCase(), ...ALPHABET].find((letter) =>
        ALPHABET.includes(letter) && !taken.has(letter)
      ) ?? String(at + 1);
    taken.add(free);
    return free;
  };
  return Object.fromEntries(classes.map((one, at) => [one.name, one.hotkey || sign(one, at)]));
}

/** The key that gives a class: its own, else the digit of its place. @template {{hotkey: string}} T
 * @param {readonly T[]} classes @param {T} one */
export function keyOf(classes, one) {
  const digit = String(classes.indexOf(one) + 1);
  const free = digit.length === 1 && !classes.some((other) => other.hotkey === digit);
  return one.hotkey || (free ? digit : "");
}

/** The class that a key gives. @template {{hotkey: string}} T
 * @param {readonly T[]} classes @param {string} key @returns {T | undefined} */
export function ofKey(classes, key) {
  return classes.find((one) => one.hotkey === key) ?? classes.find((one) => keyOf(classes, one) === key);
}

/** A class's colour, with its letter where it has one. @param {string} color @param {string} [letter] */
export function swatch(color, letter = "") {
  return h(`span.lp-swatch${letter ? ".lettered" : ""}`, {
    style: letter ? { background: color, color: readable(color) } : { background: color },
    "aria-hidden": "true",
  }, letter);
}

/** Black or white, whichever reads better on a colour. @param {string} color */
export function readable(color) {
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16) / 255);
  const linear = (/** @type {number} */ v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b) > 0.179 ? "#000000" : "#ffffff";
}
