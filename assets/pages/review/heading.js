/** The line above the picture of a review: which images of which run, in what order. */

import { fill, h, select } from "../../common/dom.js";
import * as net from "../../common/net.js";
import { go } from "../../common/site.js";
import * as words from "../../common/words.js";

/** @type {[string, string][]} */
const SORTS = [
  ["doubt", "Most doubtful first"],
  ["score", "Best score first"],
  ["detections", "Most detections first"],
  ["size", "Largest first"],
  ["name", "By name"],
];
/** Orders that only detections give. */
const OF_BOXES = ["detections", "size"];
/** @type {[string, string][]} */
const SCORES = [["", "Any score"], ["0.25", "Score ≥ .25"], ["0.5", "Score ≥ .50"], ["0.75", "Score ≥ .75"], [
  "0.9",
  "Score ≥ .90",
]];
/** @type {[string, string][]} */
const STANDS = [
  ["", "Open"],
  ["rule-fail", "Open, failed by the rule"],
  ["rule-pass", "Open, passed by the rule"],
  ["pass", "Passed by people"],
  ["fail", "Failed by people"],
];

/** @type {[string, string][]} what people and the rule say of pictures that have one answer */
const ANSWERS = [
  ["", "Open"],
  ["rule-ask", "Open, below the rule's score"],
  ["rule-fail", "Failed by the rule"],
  ["rule-pass", "Passed by the rule"],
  ["accept", "Confirmed by people"],
  ["correct", "Corrected by people"],
  ["false_call", "None of the classes"],
];

export class Heading {
  constructor() {
    this.root = h("header.lp-head");
    this.run = 0;
    /** what stands there */
    this.shown = "";
    /** @type {string[]} */
    this.lots = [];
    /** @type {string[]} */
    this.classes = [];
    this.others = 0;
    /** whether pictures have one answer each */
    this.whole = false;
    /** Told of a run that there is not. @type {(run: number) => void} */
    this.lost = () => {};
  }

  /** @param {number} run */
  async show(run) {
    if (run === this.run) return this.render();
    Object.assign(this, { run, lots: [] });
    this.render();
    /** @type {string[]} */
    const lots = await net.get(`/api/runs/${run}/groups`).catch((
      error,
    ) => (error.status === 404 && this.lost(run), []));
    if (run === this.run) this.know({ lots });
    return undefined;
  }

  /** @param {{lots?: string[], classes?: string[], others?: number, whole?: boolean}} facts */
  know(facts) {
    Object.assign(this, facts);
    this.render();
  }

  /** A list that a person has open is left alone as long as nothing changed. */
  render() {
    const query = new URLSearchParams(location.search);
    query.delete("image");
    const facts = JSON.stringify([
      this.run,
      this.lots,
      this.classes,
      this.others,
      this.whole,
      query.toString(),
    ]);
    if (facts === this.shown) return;
    this.shown = facts;
    /** @param {string} name @param {string} label @param {[string, string][]} rows @param {string} [otherwise] */
    const choice = (name, label, rows, otherwise = "") =>
      select(
        rows,
        query.get(name) ?? otherwise,
        (/** @type {string} */ value) => go({ [name]: value, image: "" }),
        {
          "aria-label": label,
        },
      );
    /** @param {string[]} list @returns {[string, string][]} */
    const same = (list) => list.map((one) => [one, one]);
    fill(
      this.root,
      h(
        "a",
        { href: `/?${new URLSearchParams({ project: query.get("project") ?? "", tab: "review" })}` },
        "Runs",
      ),
      h("b", {}, `Run ${this.run}`),
      choice("sort", "Order", SORTS.filter(([name]) => !this.whole || !OF_BOXES.includes(name)), "doubt"),
      choice("stands", "Verdict", this.whole ? ANSWERS : STANDS),
      choice("class", "Class", [["", "All classes"], ...same(this.classes)]),
      choice("score", "Score", SCORES),
      this.lots.length > 0 && choice("group", "Lot", [["", "All lots"], ...same(this.lots)]),
      days(query),
      said(query),
      h("span.lp-head-gap"),
      h("span.lp-hint", {}, this.others ? `${words.many(this.others, "other")} here` : ""),
      h("button", { onclick: () => go({ view: "wall" }) }, this.whole ? "Wall of pictures" : "Defect wall"),
    );
  }
}

/** From which day to which the pictures came, where an overview has said so. @param {URLSearchParams} query */
function days(query) {
  const since = query.get("since"), until = query.get("until");
  if (!since && !until) return null;
  const words = since === until ? `Came on ${since}` : `Came ${since ?? "first"} to ${until ?? "now"}`;
  const clear = () => go({ since: "", until: "", image: "" });
  return h("button.quiet", { onclick: clear, title: "Show all days" }, words, " ×");
}

/** What a table of boards says of them, where an overview has chosen by it. @param {URLSearchParams} query */
function said(query) {
  const told = query.getAll("data").map((one) => one.replace("=", " ")).join(", ");
  if (!told) return null;
  const clear = () => go({ data: "", image: "" });
  return h("button.quiet", { onclick: clear, title: "Show all boards" }, told, " ×");
}
