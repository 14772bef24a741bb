/** Images chosen in Browse, carried to the page that goes on with them; a reload forgets them. */

import { project } from "./site.js";

/** @type {number[]} */
const NONE = [];
let kept = { of: "", images: NONE };

/** @param {number[]} images */
export function carry(images) {
  kept = { of: project(), images };
}

/** Those of the project that stands open. @returns {number[]} */
export function carried() {
  return kept.of === project() ? kept.images : NONE;
}
