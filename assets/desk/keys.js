/** The one table of keys, the same on every page, and the sheet that `?` shows. */

import { h } from "../common/dom.js";

/**
 * @typedef {"boxes" | "classes"} Labels what is said of the pictures of a project
 * @typedef {{key: string, does: string, group: string, words: string, on?: string, of?: Labels}} Row
 * `on`: the one page where the key means this; without it, it means it everywhere. `of`: the one
 * kind of project in which it does.
 */

/** @type {Row[]} */
export const KEYS = [
  { key: "j", does: "next", group: "Images", words: "Next image" },
  { key: "k", does: "previous", group: "Images", words: "Previous image" },
  {
    key: "ArrowRight",
    does: "right",
    group: "Images",
    words: "Next image; with a box chosen, nudge it",
    of: "boxes",
  },
  {
    key: "ArrowDown",
    does: "down",
    group: "Images",
    words: "Next image; with a box chosen, nudge it",
    of: "boxes",
  },
  {
    key: "ArrowLeft",
    does: "left",
    group: "Images",
    words: "Previous image; with a box chosen, nudge it",
    of: "boxes",
  },
  {
    key: "ArrowUp",
    does: "up",
    group: "Images",
    words: "Previous image; with a box chosen, nudge it",
    of: "boxes",
  },
  { key: "n", does: "unlabelled", group: "Images", words: "Next image nobody has looked at" },
  { key: "Enter", does: "done", group: "Images", words: "Done, and on to the next" },
  { key: "s", does: "skip", group: "Images", words: "Skip, with a reason", on: "annotate" },
  { key: "c", does: "comment", group: "Images", words: "Comment on the image" },
  { key: "ArrowRight", does: "right", group: "Images", words: "Next image", of: "classes" },
  { key: "ArrowDown", does: "down", group: "Images", words: "Next image", of: "classes" },
  { key: "ArrowLeft", does: "left", group: "Images", words: "Previous image", of: "classes" },
  { key: "ArrowUp", does: "up", group: "Images", words: "Previous image", of: "classes" },
  {
    key: "1–9",
    does: "class",
    group: "Class",
    words: "Class of the picture, and on to the next",
    of: "classes",
  },
  {
    key: "a",
    does: "accept",
    group: "Class",
    words: "It is what the model says; on to the next",
    of: "classes",
  },
  { key: "r", does: "reject", group: "Class", words: "None of the classes; on to the next", of: "classes" },
  {
    key: "A",
    does: "acceptAll",
    group: "Class",
    words: "All on the wall are what the model says",
    on: "review",
    of: "classes",
  },
  {
    key: "Ctrl+a",
    does: "selectAll",
    group: "Class",
    words: "Choose all on the wall",
    on: "review",
    of: "classes",
  },
  { key: "Escape", does: "escape", group: "", words: "", of: "classes" },
  { key: "/", does: "search", group: "Class", words: "Find a class by its name", of: "classes" },
  {
    key: "a",
    does: "accept",
    group: "Proposals",
    words: "Accept the chosen or the surest proposal",
    on: "annotate",
    of: "boxes",
  },
  { key: "r", does: "reject", group: "Proposals", words: "Reject it", on: "annotate", of: "boxes" },
  {
    key: "A",
    does: "acceptAll",
    group: "Proposals",
    words: "Accept all above the slider",
    on: "annotate",
    of: "boxes",
  },
  { key: "[", does: "lower", group: "Proposals", words: "Lower the score slider", of: "boxes" },
  { key: "]", does: "raise", group: "Proposals", words: "Raise the score slider", of: "boxes" },
  {
    key: "a",
    does: "accept",
    group: "Decisions",
    words: "Accept: it is a defect",
    on: "review",
    of: "boxes",
  },
  { key: "r", does: "reject", group: "Decisions", words: "False call", on: "review", of: "boxes" },
  {
    key: "A",
    does: "acceptAll",
    group: "Decisions",
    words: "Accept all that are undecided above the slider",
    on: "review",
    of: "boxes",
  },
  {
    key: "p",
    does: "pass",
    group: "Decisions",
    words: "My verdict: the board passes",
    on: "review",
    of: "boxes",
  },
  {
    key: "b",
    does: "fail",
    group: "Decisions",
    words: "My verdict: the board fails",
    on: "review",
    of: "boxes",
  },
  {
    key: "d",
    does: "draw",
    group: "Boxes",
    words: "Draw; arrows and Enter draw without a mouse",
    of: "boxes",
  },
  {
    key: "Tab",
    does: "cycle",
    group: "Boxes",
    words: "Choose the next box (Shift: the one before)",
    of: "boxes",
  },
  {
    key: "x",
    does: "keep",
    group: "Boxes",
    words: "Keep what is chosen; Tab then chooses one more",
    of: "boxes",
  },
  {
    key: "1–9",
    does: "class",
    group: "Boxes",
    words: "Class of the chosen boxes and of the next one",
    of: "boxes",
  },
  { key: "/", does: "search", group: "Boxes", words: "Find a class by its name", of: "boxes" },
  { key: "e", does: "numbers", group: "Boxes", words: "Type the corners of the chosen box", of: "boxes" },
  { key: "Delete", does: "remove", group: "Boxes", words: "Delete the chosen boxes", of: "boxes" },
  { key: "Backspace", does: "remove", group: "Boxes", words: "Delete the chosen boxes", of: "boxes" },
  { key: "Shift+arrows", does: "", group: "Boxes", words: "Nudge by 10 px, or pan", of: "boxes" },
  { key: "Alt+arrows", does: "", group: "Boxes", words: "Move the right and the lower edge", of: "boxes" },
  { key: "Ctrl+a", does: "selectAll", group: "Boxes", words: "Choose all boxes", of: "boxes" },
  { key: "Escape", does: "escape", group: "Boxes", words: "Stop drawing, choose nothing", of: "boxes" },
  { key: "Ctrl+c", does: "copy", group: "Copies and undo", words: "Copy", of: "boxes" },
  { key: "Ctrl+x", does: "cut", group: "Copies and undo", words: "Cut", on: "annotate", of: "boxes" },
  {
    key: "Ctrl+v",
    does: "paste",
    group: "Copies and undo",
    words: "Paste, also into another image",
    of: "boxes",
  },
  { key: "Ctrl+d", does: "duplicate", group: "Copies and undo", words: "Duplicate", of: "boxes" },
  {
    key: "v",
    does: "copyPrevious",
    group: "Copies and undo",
    words: "Copy all boxes of the previous image",
    on: "annotate",
    of: "boxes",
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
  {
    key: "g",
    does: "golden",
    group: "View",
    words: "Golden: beside, blinking, difference, off",
    of: "boxes",
  },
  { key: "h", does: "hide", group: "View", words: "Hide the boxes", of: "boxes" },
  { key: "l", does: "light", group: "View", words: "Brightness, contrast, gamma, invert" },
  { key: "w", does: "wall", group: "View", words: "Defect wall and back", on: "review", of: "boxes" },
  { key: "w", does: "wall", group: "View", words: "Wall of pictures and back", on: "review", of: "classes" },
  { key: "?", does: "help", group: "View", words: "These keys" },
];

/** The words of an action with its key, for a tooltip. @param {string} does @param {string} page @param {Labels} [of] */
export function tip(does, page, of = "boxes") {
  const row = KEYS.find((r) => r.does === does && r.words && means(r, page, of));
  return row ? `${row.words} (${shown(row.key)})` : "";
}

/** Whether a key means this there. @param {Row} row @param {string} page @param {Labels} of */
function means(row, page, of) {
  return (!row.on || row.on === page) && (!row.of || row.of === of);
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
 * @param {() => Labels} of
 */
export function listen(page, active, actions, of) {
  const found = (/** @type {string} */ name) => {
    const rows = KEYS.filter((row) => row.key === name && row.does && means(row, page, of()));
    return (rows.find((row) => row.on) ?? rows[0])?.does;
  };
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

/** @param {string} page @param {Labels} of */
export function overlay(page, of) {
  const rows = KEYS.filter((row) => row.words && means(row, page, of));
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
