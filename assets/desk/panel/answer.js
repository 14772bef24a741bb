/** What a model says of a whole picture, where pictures are classified. */

import { fill, h } from "../../common/dom.js";
import { swatch } from "../../common/letters.js";
import { go, query } from "../../common/site.js";
import * as words from "../../common/words.js";
import { tip } from "../keys.js";
import { short } from "./panel.js";

/** @typedef {{desk: import("../desk.js").Desk, color: (label: string) => string, letter: (label: string) => string, judge: (what: "accept" | "reject") => any, order?: boolean, rule?: () => string}} Page */

const MOST = 5;

/** The likeliest class with its score, those that come next, and the two keys that answer.
 * @param {Page} page `order`: whether a person may ask for the most doubtful first; `rule`: what the
 * project's rule says of it */
export function answer({ desk, color, letter, judge, order = false, rule }) {
  const from = h("p.lp-hint");
  const rows = h("div.lp-boxes.lp-answers");
  const ruled = h("p.lp-rule");
  /** @param {string} key @param {string} text @param {"accept" | "reject"} does */
  const button = (key, text, does) =>
    h(
      "button.lp-button",
      { onclick: () => judge(does), title: tip(does, "", "classes") },
      h("kbd", {}, key),
      text,
    );
  const accept = button("A", "It is", "accept");
  const reject = button("R", "None of the classes", "reject");
  const doubtful = h("input", {
    type: "checkbox",
    onchange: () => go({ sort: doubtful.checked ? "doubt" : "", image: "" }),
  });
  const root = h(
    "section.lp-section.for-classes",
    {},
    h("h3", {}, "The model says"),
    from,
    rows,
    rule && ruled,
    h("div.lp-two.for-labeler", {}, accept, reject),
    order && h("label.lp-check", {}, doubtful, "Most doubtful pictures first"),
  );
  const row = (/** @type {string} */ label, /** @type {number} */ chance) =>
    h(
      "div.lp-row",
      { "aria-current": String(desk.sheet.state === "done" && desk.sheet.label === label) },
      h(
        "button.lp-box",
        { disabled: !desk.editable, onclick: () => desk.name(label) },
        swatch(color(label), letter(label)),
        h("span.lp-name", {}, label),
        h("span.lp-size", {}, short(chance)),
      ),
    );
  const render = () => {
    if (!desk.byImage) return;
    const { answer: best, item } = desk;
    const chances = Object.entries(item?.chances ?? {});
    const told = chances.length ? chances : best ? [[best.label, best.score]] : [];
    from.textContent = best
      ? item?.proposer ? `From: ${words.model(item.proposer)}` : ""
      : "No model has looked at this picture yet.";
    fill(rows, told.slice(0, MOST).map(([label, chance]) => row(String(label), Number(chance))));
    accept.disabled = !best || !desk.editable;
    reject.disabled = !item || !desk.editable;
    if (rule) ruled.textContent = item ? `Rule: ${rule()}.` : "";
    doubtful.checked = query().get("sort") === "doubt";
  };
  return { root, render };
}
