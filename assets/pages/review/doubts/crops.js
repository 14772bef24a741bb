/** The place of a label in doubt: on its picture with both boxes, and on the golden beside it. */

import { h } from "../../../common/dom.js";

/** @typedef {import("../../../common/answers.js").DoubtedLabel} Doubt */

const SVG = "http://www.w3.org/2000/svg";
const ROOM = 3; // times the longer side of what is shown
const LEAST = 40; // pixels of the picture
const WHOLE = 24_000_000; // pixels, up to which a picture is shown as fine as it is
const FEW = 4_200_000; // and up to which each of a dozen small ones is

/** @param {Doubt} doubt @param {(label: string) => string} color @param {number} [most] */
export function board(doubt, color, most = WHOLE) {
  const drawn = frame(doubt, `${doubt.name}, close up`);
  drawn.append(picture(doubt, doubt.sha256, most));
  if (doubt.label) drawn.append(...box(doubt.label, color(doubt.label.label), false));
  if (doubt.found) drawn.append(...box(doubt.found, color(doubt.found.label), true));
  return drawn;
}

/** @param {Doubt} doubt */
export function golden(doubt) {
  const drawn = frame(doubt, "The same place of the golden");
  const image = picture(doubt, doubt.golden);
  if (doubt.lie.length) {
    const [a, b, c, d, e, f] = doubt.lie;
    const back = new DOMMatrix([a, d, b, e, c, f]).inverse();
    image.setAttribute("transform", `matrix(${[back.a, back.b, back.c, back.d, back.e, back.f].join(" ")})`);
  }
  drawn.append(image);
  const seen = doubt.label ?? doubt.found;
  if (seen) drawn.append(...box(seen, "#9aa3ad", true));
  return drawn;
}

/** A small one, to be chosen. @param {Doubt} doubt @param {(label: string) => string} color @param {() => any} open */
export function small(doubt, color, open) {
  const title = `${doubt.name}: ${doubt.kind}`;
  return h("button.lp-doubt-small", { title, "aria-label": title, onclick: open }, board(doubt, color, FEW));
}

/** What is shown of the picture. @param {Doubt} doubt */
export function part(doubt) {
  const boxes = [doubt.label, doubt.found].flatMap((one) => one ? [one] : []);
  const x1 = Math.min(...boxes.map((one) => one.x1)), x2 = Math.max(...boxes.map((one) => one.x2));
  const y1 = Math.min(...boxes.map((one) => one.y1)), y2 = Math.max(...boxes.map((one) => one.y2));
  const side = Math.max(x2 - x1, y2 - y1, LEAST / ROOM) * ROOM;
  return { x: (x1 + x2 - side) / 2, y: (y1 + y2 - side) / 2, side };
}

/** @param {Doubt} doubt @param {string} label */
function frame(doubt, label) {
  const { x, y, side } = part(doubt);
  const drawn = document.createElementNS(SVG, "svg");
  const looks = { viewBox: `${x} ${y} ${side} ${side}`, role: "img", "aria-label": label };
  Object.entries(looks).forEach(([name, value]) => drawn.setAttribute(name, value));
  return drawn;
}

/** @param {Doubt} doubt @param {string} sha256 @param {number} [most] pixels that are shown as they are */
function picture(doubt, sha256, most = WHOLE) {
  const image = document.createElementNS(SVG, "image");
  const fine = doubt.width * doubt.height <= most ? "full" : "preview";
  const looks = {
    href: `/files/${sha256}/${fine}`,
    width: doubt.width,
    height: doubt.height,
    preserveAspectRatio: "none",
  };
  Object.entries(looks).forEach(([name, value]) => image.setAttribute(name, String(value)));
  return image;
}

/** Twice, dark under coloured, so that it is seen on black and on white.
 * @param {{x1: number, y1: number, x2: number, y2: number}} at @param {string} color @param {boolean} dashed */
function box({ x1, y1, x2, y2 }, color, dashed) {
  return [["under", "rgba(10,12,16,.6)"], [dashed ? "dashed" : "solid", color]].map(([kind, stroke]) => {
    const rect = document.createElementNS(SVG, "rect");
    const looks = { x: x1, y: y1, width: x2 - x1, height: y2 - y1, stroke, class: kind };
    Object.entries(looks).forEach(([name, value]) => rect.setAttribute(name, String(value)));
    return rect;
  });
}
