/** Small dialogs: a choice, a line of text. Escape always leaves without doing anything. */

import { h } from "../common/dom.js";

/** @param {string} title @param {string} text @param {[string, string][]} choices @returns {Promise<string | null>} */
export function choose(title, text, choices) {
  return ask(title, (answer) => [
    h("p", {}, text),
    h(
      "footer",
      {},
      h("button.lp-button", { onclick: () => answer(null) }, "Cancel"),
      choices.map(([value, words], at) =>
        h(at ? "button.lp-button" : "button.lp-button.primary", {
          "data-choice": value,
          onclick: () => answer(value),
        }, words)
      ),
    ),
  ]);
}

/** @param {string} title @param {string} label @param {string} value @returns {Promise<string | null>} */
export function text(title, label, value) {
  const input = h("input.lp-text", { value, maxLength: 5000, "aria-label": label, placeholder: label });
  return ask(title, (answer) => [
    h(
      "form",
      { onsubmit: (/** @type {Event} */ e) => (e.preventDefault(), answer(input.value)) },
      input,
      h(
        "footer",
        {},
        h("button.lp-button", { type: "button", onclick: () => answer(null) }, "Cancel"),
        h("button.lp-button.primary", { type: "submit" }, "Skip"),
      ),
    ),
  ]);
}

/** @param {string} title @param {(answer: (value: string | null) => void) => any[]} body @returns {Promise<string | null>} */
function ask(title, body) {
  return new Promise((resolve) => {
    const answer = (/** @type {string | null} */ value) => {
      dialog.close();
      dialog.remove();
      resolve(value);
    };
    const dialog = h("dialog.lp-question", { "aria-label": title }, h("h2", {}, title));
    dialog.append(...body(answer).flat(3));
    dialog.addEventListener("cancel", () => answer(null));
    document.body.append(dialog);
    dialog.showModal();
  });
}
