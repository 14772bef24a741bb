/** The one table of keys, the same on every page, and the sheet that `?` shows. */

import { h } from "../common/dom.js";

/**
 * @typedef {{key: string, does: string, group: string, words: string, on?: string}} Row
 * `on`: the one page where the key means this; without it, it means it everywhere.
 */

/** @type {Row[]} */
export const KEYS = [
  { key: "j", does: "next", group: "Images", words: "Next image" },
  { key: "k", does: "previous", group: "Images", words: "Previous image" },
  { key: "ArrowRight", does: "right", group: "Images", words: "Next image; with a box chosen, nudge it" },
  { key: "ArrowDown", does: "down", group: "Images", words: "Next image; with a box chosen, nudge it" },
  { key: "ArrowLeft", does: "left", group: "Images", words: "Previous image; with a box chosen, nudge it" },
  { key: "ArrowUp", does: "up", group: "Images", words: "Previous image; with a box chosen, nudge it" },
  { key: "n", does: "unlabelled", group: "Images", words: "Next image nobody has looked at" },
  { key: "Enter", does: "done", group: "Images", words: "Done, and on to the next" },
  { key: "s", does: "skip", group: "Images", words: "Skip, with a reason", on: "annotate" },
  { key: "c", does: "comment", group: "Images", words: "Comment on the image" },
  {
    key: "a",
    does: "accept",
    group: "Proposals",
    words: "Accept the chosen or the surest proposal",
    on: "annotate",
  },
  { key: "r", does: "reject", group: "Proposals", words: "Reject it", on: "annotate" },
  { key: "A", does: "acceptAll", group: "Proposals", words: "Accept all above the slider", on: "annotate" },
  { key: "[", does: "lower", group: "Proposals", words: "Lower the score slider" },
  { key: "]", does: "raise", group: "Proposals", words: "Raise the score slider" },
  { key: "a", does: "accept", group: "Decisions", words: "Accept: it is a defect", on: "review" },
  { key: "r", does: "reject", group: "Decisions", words: "False call", on: "review" },
  {
    key: "A",
    does: "acceptAll",
    group: "Decisions",
    words: "Accept all that are undecided above the slider",
    on: "review",
  },
  { key: "p", does: "pass", group: "Decisions", words: "My verdict: the board passes", on: "review" },
  { key: "b", does: "fail", group: "Decisions", words: "My verdict: the board fails", on: "review" },
  { key: "d", does: "draw", group: "Boxes", words: "Draw; arrows and Enter draw without a mouse" },
  { key: "Tab", does: "cycle", group: "Boxes", words: "Choose the next box (Shift: the one before)" },
  { key: "x", does: "keep", group: "Boxes", words: "Keep what is chosen; Tab then chooses one more" },
  { key: "1–9", does: "class", group: "Boxes", words: "Class of the chosen boxes and of the next one" },
  { key: "/", does: "search", group: "Boxes", words: "Find a class by its name" },
  { key: "e", does: "numbers", group: "Boxes", words: "Type the corners of the chosen box" },
  { key: "Delete", does: "remove", group: "Boxes", words: "Delete the chosen boxes" },
  { key: "Backspace", does: "remove", group: "Boxes", words: "Delete the chosen boxes" },
  { key: "Shift+arrows", does: "", group: "Boxes", words: "Nudge by 10 px, or pan" },
  { key: "Alt+arrows", does: "", group: "Boxes", words: "Move the right and the lower edge" },
  { key: "Ctrl+a", does: "selectAll", group: "Boxes", words: "Choose all boxes" },
  { key: "Escape", does: "escape", group: "Boxes", words: "Stop drawing, choose nothing" },
  { key: "Ctrl+c", does: "copy", group: "Copies and undo", words: "Copy" },
  { key: "Ctrl+x", does: "cut", group: "Copies and undo", words: "Cut", on: "annotate" },
  { key: "Ctrl+v", does: "paste", group: "Copies and undo", words: "Paste, also into another image" },
  { key: "Ctrl+d", does: "duplicate", group: "Copies and undo", words: "Duplicate" },
  {
    key: "v",
    does: "copyPrevious",
    group: "Copies and undo",
    words: "Copy all boxes of the previous image",
    on: "annotate",
  },
  { key: "z", does: "undo", group: "Copies and undo", words: "Undo (also Ctrl+Z)" },
  { key: "Z", does: "redo", group: "Copies and undo", words: "Redo (also Ctrl+Shift+Z)" },
  { key: "Ctrl+z", does: "undo", group: "", words: "" },
  { key: "Ctrl+Z", does: "redo", group: "", words: "" },
  { key: "Ctrl+y", does: "redo", group: "", words: "" },
  { key: "f", does: "fit", group: "View", words: "Fit the picture" },
  { key: "0", does: "fit", group: "View", words: "Fit the picture" },
  { key: "o", does: "oneToOne", group: "View", words: "One image pixel to one screen pixel" },
  { key: "+", does: "closer", group: "View", words: "Zoom in" },
  { key: "=", does: "closer", group: "", words: "" },
  { key: "-", does: "farther", group: "View", words: "Zoom out" },
  { key: "Space", does: "space", group: "View", words: "Hold and drag to pan; while drawing, set a corner" },
  { key: "g", does: "golden", group: "View", words: "Golden: beside, blinking, difference, off" },
  { key: "h", does: "hide", group: "View", words: "Hide the boxes" },
  { key: "l", does: "light", group: "View", words: "Brightness, contrast, gamma, invert" },
  { key: "w", does: "wall", group: "View", words: "Defect wall and back", on: "review" },
  { key: "?", does: "help", group: "View", words: "These keys" },
];

/** The words of an action with its key, for a tooltip. @param {string} does @param {string} page */
export function tip(does, page) {
  const row = KEYS.find((r) => r.does === does && r.words && (!r.on || r.on === page));
  return row ? `${row.words} (${shown(row.key)})` : "";
}

/** @param {string} key */
export function shown(key) {
  /** @type {Record<string, string>} */
  const arrows = { ArrowRight: "→", ArrowLeft: "←", ArrowUp: "↑", ArrowDown: "↓", Delete: "Del" };
  if (arrows[key]) return arrows[key];
  if (key.length === 1 && key !== key.toLowerCase()) return `Shift+${key}`;
  return key.length === 1 ? key.toUpperCase() : key.replace(/\+([a-z])$/, (_, k) => `+${k.toUpperCase()}`);
}

/**
 * Listens on the window and calls `actions[does](event)` while `active()`; an action that returns
 * false leaves the key to the browser.
 * @param {string} page @param {() => boolean} active @param {Record<string, (event: KeyboardEvent) => any>} actions
 */
export function listen(page, active, actions) {
  const rows = KEYS.filter((row) => row.does && (!row.on || row.on === page));
  const found = (/** @type {string} */ name) =>
    rows.find((row) => row.key === name && row.on)?.does ?? rows.find((row) => row.key === name)?.does;
  window.addEventListener("keydown", (event) => {
    if (!active() || occupied(event)) return;
    const plain = event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey;
    // A class may have a letter that means nothing else as its key.
    const does = plain && /[1-9]/.test(event.key) ? "class" : found(named(event)) ?? (plain ? "class" : "");
    const action = does && actions[does];
    if (action && action(event) !== false) event.preventDefault();
  });
  window.addEventListener("keyup", (event) => {
    if (event.key === " ") actions.spaceUp?.(event);
  });
}

/** @param {KeyboardEvent} event */
function named(event) {
  const key = event.key === " " ? "Space" : event.key;
  return (event.ctrlKey || event.metaKey ? "Ctrl+" : "") + key;
}

/** Is the person typing, in a list or in a dialog? Buttons keep Enter, Space and Tab.
 * @param {KeyboardEvent} event */
function occupied(event) {
  if (event.isComposing || document.querySelector("dialog[open]")) return true;
  const at = /** @type {HTMLElement} */ (event.target);
  if (!at.closest) return false;
  if (
    at.closest(
      "input:not([type=range]):not([type=checkbox]), select, textarea, [contenteditable], [role=listbox]",
    )
  ) return true;
  if (at.closest("[role=tab]")) {
    return ["Enter", " ", "Tab"].includes(event.key) || event.key.startsWith("Arrow");
  }
  if (at.closest("input, button, a, summary")) {
    return ["Enter", " ", "Tab"].includes(event.key) ||
      (at.matches("input") && event.key.startsWith("Arrow"));
  }
  return false;
}

/** What keys do, each thing once with all the keys that do it. @param {Row[]} rows @returns {[string, string[]][]} */
function lines(rows) {
  return [...new Set(rows.map((row) => row.words))].map((
    words,
  ) => [words, rows.filter((row) => row.words === words).map((row) => row.key)]);
}

/** Where keys and all else are told at length. */
function guide() {
  return h("a", { href: "/guide/labelling#keys", target: "loupe-guide" }, "In the guide");
}

/** @param {string} page */
export function overlay(page) {
  const rows = KEYS.filter((row) => row.words && (!row.on || row.on === page));
  const groups = [...new Set(rows.map((row) => row.group))];
  const dialog = h(
    "dialog.lp-keys",
    { "aria-label": "Keys" },
    h(
      "header",
      {},
      h("h2", {}, "Keys"),
      guide(),
      h("button.lp-button", { onclick: () => dialog.close() }, "Close"),
    ),
    h(
      "div.lp-keys-groups",
      {},
      groups.map((group) =>
        h(
          "section",
          {},
          h("h3", {}, group),
          h(
            "dl",
            {},
            lines(rows.filter((row) => row.group === group)).flatMap((
              [words, keys],
            ) => [
              h(
                "dt",
                {},
                keys.map((key) => h("kbd", {}, shown(key))),
              ),
              h("dd", {}, words),
            ]),
          ),
        )
      ),
    ),
  );
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => e.key === "?" && dialog.close());
  document.body.append(dialog);
  dialog.showModal();
}
