/** The sections of a side panel fold under their heads; what a person has folded stays so. */

import { h } from "../../common/dom.js";
import * as memory from "../../common/memory.js";

/** @param {string} page @param {HTMLElement[]} sections in their order */
export function foldable(page, sections) {
  sections.forEach((section, at) => {
    const key = `${page}:${at}`;
    if (section instanceof HTMLDetailsElement) unfold(section, key);
    else if (section.querySelector(":scope > h3")) fold(section, key);
  });
}

/** @param {HTMLDetailsElement} section @param {string} key */
function unfold(section, key) {
  section.open = memory.read("folded", key) === "open";
  section.addEventListener("toggle", () => memory.keep("folded", section.open ? "open" : "", key));
}

/** @param {HTMLElement} section @param {string} key */
function fold(section, key) {
  const button = h("button.lp-fold", {
    type: "button",
    title: "Fold or unfold",
    onclick: () => turn(!section.classList.contains("lp-folded")),
  });
  const turn = (/** @type {boolean} */ folded) => {
    section.classList.toggle("lp-folded", folded);
    button.setAttribute("aria-expanded", String(!folded));
    button.setAttribute(
      "aria-label",
      `${folded ? "Unfold" : "Fold"} ${
        section.querySelector("h3")?.firstChild?.textContent || "this section"
      }`,
    );
    memory.keep("folded", folded ? "folded" : "", key);
  };
  section.prepend(button);
  turn(memory.read("folded", key) === "folded");
}
