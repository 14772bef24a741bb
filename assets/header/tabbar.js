/** The tabs as links, so that each can be opened beside the page; Gradio's own are hidden. */

import { fill, h } from "../common/dom.js";
import { along, go, site, tab, whenTabsStand } from "../common/site.js";

/** @returns {HTMLElement} */
export function tabbar() {
  const bar = h("div.tabbar", { role: "tablist", "aria-label": "Pages" });
  whenTabsStand(() => {
    const links = [...document.querySelectorAll("#tabs [role=tab][data-tab-id]")].map(linked);
    fill(bar, links);
    const follow = () => links.forEach(point);
    site.addEventListener("change", follow);
    follow();
  });
  bar.addEventListener("keydown", keys);
  return bar;
}

/** @param {Element} button Gradio's */
function linked(button) {
  const name = button.getAttribute("data-tab-id") ?? "";
  return h("a", {
    role: "tab",
    "data-tab-id": name,
    "aria-controls": name,
    onclick: (/** @type {MouseEvent} */ event) => turn(event, name),
  }, button.textContent.trim());
}

/**
 * A tab leads to where its page stands with the project and the filters of now.
 * @param {HTMLAnchorElement} link
 */
function point(link) {
  const name = link.getAttribute("data-tab-id");
  link.href = along({ tab: name });
  link.setAttribute("aria-selected", String(name === tab()));
}

/** What opens a link beside the page is the browser's. @param {MouseEvent} event @param {string} name */
function turn(event, name) {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  if (name !== tab()) go({ tab: name });
}

/** @param {KeyboardEvent} event */
function keys(event) {
  const link = /** @type {HTMLElement} */ (event.target);
  /** @type {Record<string, Element | null>} */
  const sides = { ArrowLeft: link.previousElementSibling, ArrowRight: link.nextElementSibling };
  if (event.key in sides) /** @type {HTMLElement | null} */ (sides[event.key])?.focus();
  else if (event.key === " ") link.click();
  else return;
  event.preventDefault();
}
