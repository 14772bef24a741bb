/** A small picture with boxes over it. */

import { h } from "../../common/dom.js";

/** @typedef {{x1: number, y1: number, x2: number, y2: number, color: string, dashed: boolean}} Mark */

const SVG = "http://www.w3.org/2000/svg";
export const MOST_MARKS = 100;

/** @param {{sha256: string, width: number, height: number}} of @param {Mark[]} marks */
export function marked(of, marks) {
  const image = h("img", { alt: "", loading: "lazy", decoding: "async", src: `/files/${of.sha256}/thumb` });
  const drawn = document.createElementNS(SVG, "svg");
  drawn.setAttribute("viewBox", `0 0 ${of.width} ${of.height}`);
  for (const { x1, y1, x2, y2, color, dashed } of marks.slice(0, MOST_MARKS)) {
    const rect = document.createElementNS(SVG, "rect");
    const looks = { x: x1, y: y1, width: x2 - x1, height: y2 - y1, stroke: color };
    Object.entries(looks).forEach(([name, value]) => rect.setAttribute(name, String(value)));
    if (dashed) rect.setAttribute("stroke-dasharray", "4 2");
    drawn.append(rect);
  }
  return marks.length ? [image, drawn] : [image];
}
