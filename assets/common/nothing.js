/** What a page says that is about one project, where none is chosen, or about what is not there. */

import { h } from "./dom.js";

/** @param {string} title of the page @param {string} words what the page is for */
export function nothingChosen(title, words) {
  return h(
    "div.empty",
    {},
    h("h2", {}, title),
    h("p", {}, `${words} Choose a project above, or make one.`),
    h("a.button.primary", { href: "/?tab=projects" }, "Show projects"),
  );
}

/**
 * Where an address names what there is not.
 * @param {string} what "project 9" @param {string} href @param {string} words of the link back
 */
export function noSuch(what, href, words) {
  return h(
    "div.empty",
    {},
    h("h2", {}, `There is no ${what}`),
    h("p", {}, "It may have been removed, or the link is not whole."),
    h("a.button.primary", { href }, words),
  );
}
