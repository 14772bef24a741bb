/** What a page says that is about one project, where none is chosen. */

import { h } from "./dom.js";

/** @param {string} title of the page @param {string} words what the page is for */
export function nothingChosen(title, words) {
  return h("div.empty", {}, h("h2", {}, title), h("p", {}, `${words} Choose a project above, or make one.`),
    h("a.button.primary", { href: "/?tab=projects" }, "Show projects"));
}
