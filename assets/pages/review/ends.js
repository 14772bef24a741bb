/** What stands in the place of the picture where a queue ends, and where there is none. */

import { h } from "../../common/dom.js";
import { go } from "../../common/site.js";
import * as words from "../../common/words.js";

/** What was decided, and what comes next. @param {import("./review.js").Review} page @returns {HTMLElement} */
export function finished(page) {
  return h(
    "div.lp-empty",
    {},
    h(
      "h2",
      {},
      page.running
        ? "The run is still at work"
        : page.others
        ? "Others have what is left"
        : "This queue is done",
    ),
    h(
      "p",
      {},
      `${decided(page)} Your corrections are the labels of the next training.`,
    ),
    h(
      "div.row",
      {},
      h("button.lp-button", { onclick: () => page.open(page.list[page.at]) }, "Back to the last"),
      page.running && h("button.lp-button", { onclick: () => page.step(1) }, "Look for more"),
      retrain(),
    ),
  );
}

/** @param {import("./review.js").Review} page @returns {string} */
function decided({ list, desk }) {
  const sheets = list.flatMap((item) => desk.sheets.get(item.id) ?? []);
  if (desk.byImage) {
    const said = sheets.filter((sheet) => sheet.accepted.length + sheet.rejected.length);
    return `You answered ${words.many(said.length, "picture")} just now.`;
  }
  const verdicts = sheets.map((sheet) => sheet.verdict).filter(Boolean);
  const failed = verdicts.filter((verdict) => verdict === "fail").length;
  return `You decided ${words.many(verdicts.length, "board")} just now: ${
    verdicts.length - failed
  } passed, ${failed} failed.`;
}

/** @param {string} stands the verdict that the queue is of, "" where it is of open boards @returns {HTMLElement} */
export function empty(stands) {
  const said = SAID[stands];
  const [title, why] = said
    ? [
      `Nobody has ${said} a board here`,
      "Only verdicts of people are shown; what the rule says of open boards has filters of its own.",
    ]
    : [
      "Nothing is left in this queue",
      "Every image of this view has its verdict, or somebody else has it before them.",
    ];
  return h(
    "div.lp-empty",
    {},
    h("h2", {}, title),
    h("p", {}, why),
    h(
      "div.row",
      {},
      h(
        "button.lp-button",
        { onclick: () => go({ stands: "", class: "", sort: "", image: "" }) },
        "Show all open",
      ),
      retrain(),
    ),
  );
}

/** @type {Record<string, string>} */
const SAID = { pass: "passed", fail: "failed" };

function retrain() {
  return h(
    "button.lp-button.primary",
    { onclick: () => go({ tab: "train", run: "", image: "" }) },
    "Retrain",
  );
}
