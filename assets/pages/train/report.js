/** What stands in the way of a training, and what it would learn from. */

import { h } from "../../common/dom.js";
import { address } from "../../common/site.js";
import { count } from "../../common/words.js";

/** @typedef {import("../../common/answers.js").Preflight} Preflight */

/** What cannot even be checked cannot be trained. @param {any} error @returns {Preflight} */
export function refused(error) {
  if (error.status !== 400 && error.status !== 422) throw error;
  return { problems: [error.message], warnings: [], images: {}, boxes: {}, seconds: null, notes: [] };
}

/** The report of a check. @param {Preflight} found @param {string} of the project */
export function report(found, of) {
  const total = Object.values(found.images).reduce((sum, number) => sum + number, 0);
  const rows = Object.entries(found.boxes).map(([name, splits]) =>
    h(
      "tr",
      {},
      h("td", {}, h("a", { href: address({ project: of, tab: "browse", class: name }) }, name)),
      /** @type {const} */ (["train", "val", "test"]).map((split) =>
        h(`td.number${splits[split] ? "" : ".warn"}`, {}, count(splits[split] ?? 0))
      ),
    )
  );
  return [
    found.problems.map((one) => h("p.bad", {}, one)),
    found.warnings.map((one) => h("p.warn", {}, one)),
    found.notes.map((one) => h("p.quiet-text", {}, one)),
    !found.problems.length && !found.warnings.length && h("p.good", {}, "Nothing stands in the way."),
    total > 0 &&
    h(
      "p.quiet-text.number",
      {},
      `${count(found.images.train ?? 0)} images to learn from, ${count(found.images.val ?? 0)} to validate, ${
        count(found.images.test ?? 0)
      } held out.`,
    ),
    rows.length > 0 &&
    h(
      "table",
      {},
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("th", {}, "Class"),
          ["Train", "Validation", "Test"].map((name) => h("th.number", {}, name)),
        ),
      ),
      h("tbody", {}, rows),
    ),
  ];
}
