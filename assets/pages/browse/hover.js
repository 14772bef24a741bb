/** A larger look at a thumbnail under the pointer: picture, name, size, boxes, who. */

import { drawn } from "./cell.js";
import { fill, h } from "../../common/dom.js";
import { many } from "../../common/words.js";

/** @typedef {import("../../common/answers.js").ImageCard} Item */
/** @typedef {import("./cell.js").Looks} Looks */

const REST = 450;

export class Hover {
  constructor() {
    this.element = h("div.hover", { hidden: true });
    document.body.append(this.element);
    /** @type {Item | null} */
    this.item = null;
  }

  /** @param {PointerEvent} event @param {Item | null} item @param {Looks} looks */
  follow(event, item, looks) {
    if (event.pointerType !== "mouse" || item === this.item) return;
    this.hide();
    this.item = item;
    if (!item) return;
    const cell = /** @type {HTMLElement} */ (event.target).closest(".cell");
    this.timer = setTimeout(
      () => cell?.isConnected && this.show(item, looks, cell.getBoundingClientRect()),
      REST,
    );
  }

  /** @param {Item} item @param {Looks} looks @param {DOMRect} at */
  show(item, looks, at) {
    /** @type {Record<string, number>} */
    const tally = {};
    for (const box of item.boxes) tally[box.label] = (tally[box.label] ?? 0) + 1;
    const boxes = Object.entries(tally).map(([name, number]) => `${number} ${name}`).join(", ");
    fill(
      this.element,
      h(
        "div.picture",
        { style: { backgroundImage: `url("/files/${item.sha256}/thumb")` } },
        h("img", { src: `/files/${item.sha256}/preview`, alt: "" }),
        overlay(item, looks),
      ),
      h(
        "div.words",
        {},
        h("span.mono", {}, item.name),
        h(
          "span",
          {},
          `${item.width}×${item.height} px · ${item.state}${item.split ? ` · ${item.split}` : ""}${
            item.group ? ` · ${item.group}` : ""
          }`,
        ),
        h(
          "span",
          {},
          item.boxes.length ? `${many(item.boxes.length, "box", "boxes")}: ${boxes}` : item.label || "No box",
        ),
        item.author && h("span.quiet-text", {}, `Last edited by ${item.author}`),
      ),
    );
    this.element.hidden = false;
    const wide = this.element.offsetWidth, tall = this.element.offsetHeight;
    const left = at.right + 8 + wide < innerWidth ? at.right + 8 : at.left - wide - 8;
    this.element.style.left = `${Math.max(4, left)}px`;
    this.element.style.top = `${Math.max(4, Math.min(at.top, innerHeight - tall - 8))}px`;
  }

  hide() {
    clearTimeout(this.timer);
    this.item = null;
    this.element.hidden = true;
  }
}

/** @param {Item} item @param {Looks} looks */
function overlay(item, looks) {
  const svg = drawn(item, looks);
  svg.style.cssText = "position:absolute;inset:0;width:100%;height:100%;fill:none;stroke-width:1.5";
  for (const rect of svg.children) rect.setAttribute("vector-effect", "non-scaling-stroke");
  return svg;
}
