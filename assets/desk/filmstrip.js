/** The neighbours of the image, small, with the state of each told by a mark and a word. */

import { fill, h, icon } from "../common/dom.js";
import { thumbUrl } from "../canvas/picture_cache.js";

const AROUND = 12;
/** @type {Record<string, [string, string]>} */
export const MARKS = {
  done: ["M3 8.5l3.5 3.5L13 4.5", "Done"],
  skipped: ["M4 4l8 8M12 4l-8 8", "Skipped"],
  started: ["M8 5v3l2 1.5M8 2.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 1 0 0-11", "Started"],
};

/** @typedef {import("./types.js").Item} Item */
/** @typedef {{button: HTMLElement, mark: HTMLElement, state: string}} Frame */

/** @param {(item: Item) => void} open */
export function filmstrip(open) {
  const root = h("nav.lp-strip", { "aria-label": "Neighbouring images" });
  /** @type {Map<number, Frame>} */
  const frames = new Map();
  let shown = "";
  let middle = 0;

  /** @param {Item} item @returns {Frame} */
  const make = (item) => {
    const picture = h("img", {
      alt: "",
      draggable: false,
      loading: "lazy",
      decoding: "async",
      src: thumbUrl(item),
    });
    const mark = h("span.lp-state");
    const button = h(
      "button.lp-frame",
      {
        title: item.name,
        "aria-label": item.name,
        onclick: () => open(item),
      },
      picture,
      mark,
    );
    return { button, mark, state: "" };
  };

  /** @param {Frame} frame @param {string} state */
  const stateOf = (frame, state) => {
    if (frame.state === state) return;
    frame.state = state;
    frame.mark.className = `lp-state ${state}`;
    frame.mark.title = MARKS[state]?.[1] ?? "";
    fill(frame.mark, MARKS[state] && icon(MARKS[state][0]));
  };

  /** @param {Item} item */
  const frameOf = (item) => {
    const frame = frames.get(item.id) ?? make(item);
    frames.set(item.id, frame);
    return frame;
  };

  /** @param {Item[]} items @param {number} at @param {(item: Item) => string} state */
  const render = (items, at, state) => {
    const near = items.slice(Math.max(0, at - AROUND), at + AROUND + 1);
    const names = near.map((item) => item.id).join();
    const moved = names !== shown || middle !== items[at]?.id;
    if (names !== shown) fill(root, near.map((item) => frameOf(item).button));
    shown = names;
    near.forEach((item) => stateOf(frameOf(item), state(item)));
    if (moved) {
      near.forEach((item) => frameOf(item).button.setAttribute("aria-current", String(item === items[at])));
    }
    middle = items[at]?.id ?? 0;
    // Asking where it stands lays out the whole page, so it is asked only when the page was turned.
    if (moved && middle) centre(frameOf(items[at]).button);
    if (frames.size > 400) {
      frames.clear();
      shown = "";
    }
  };

  const centre = (/** @type {HTMLElement} */ button) => {
    root.scrollLeft = button.offsetLeft - root.clientWidth / 2 + button.clientWidth / 2;
  };
  return { root, render };
}
