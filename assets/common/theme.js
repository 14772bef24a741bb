/** Light, dark, or as the machine has it; kept in this browser, and also right before the login. */

import * as memory from "./memory.js";

export const THEMES = ["auto", "light", "dark"];

/** The theme that was chosen here. */
export function chosen() {
  return memory.read("theme") || "auto";
}

/** Keep a theme and show it. @param {string} name */
export function choose(name) {
  memory.keep("theme", name);
  wear();
}

/** Dress the page in what was chosen. */
export function wear() {
  const dark = chosen() === "dark" ||
    (chosen() === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.body.classList.toggle("dark", dark);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
}

wear();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", wear);
