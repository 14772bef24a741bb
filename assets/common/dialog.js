/** Questions to the person, in the browser's own dialog, which keeps the focus inside. */

import { h } from "./dom.js";
import { attempt } from "./site.js";

/**
 * Show a form; true when it was agreed to.
 * @param {string} title @param {string} verb the button @param {any} content
 * @param {{danger?: boolean, wide?: boolean, leave?: string, agree?: () => Promise<any>}} [options] agree: what is
 *   done before it closes; where that is refused, the form stays with all that was typed
 * @returns {Promise<boolean>}
 */
export function ask(title, verb, content, options = {}) {
  const form = h(
    "form",
    { method: "dialog" },
    h("h2", {}, title),
    content,
    h(
      "div.actions",
      {},
      h(
        "button",
        { type: "button", onclick: () => dialog.close("") },
        options.leave ?? (verb ? "Cancel" : "Close"),
      ),
      verb && h(`button.${options.danger ? "danger" : "primary"}`, { value: "yes" }, verb),
    ),
  );
  const dialog = h("dialog.loupe", { "aria-label": title }, form);
  if (options.wide) dialog.style.width = "min(820px, calc(100vw - 32px))";
  const { agree } = options;
  if (agree) {
    form.addEventListener(
      "submit",
      (/** @type {Event} */ event) => (event.preventDefault(), settle(form, dialog, agree)),
    );
  }
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      resolve(dialog.returnValue === "yes");
      dialog.remove();
    });
  });
}

/** @param {any} form @param {any} dialog @param {() => Promise<any>} agree */
async function settle(form, dialog, agree) {
  if (form.dataset.busy) return;
  form.dataset.busy = "yes";
  const done = await attempt(async () => (await agree(), true));
  delete form.dataset.busy;
  if (done) dialog.close("yes");
}
