/** Where marks of an overview lead: to the boards behind them, under the filters that stand. */

import { address, project } from "../../common/site.js";

/** @typedef {import("../../common/answers.js").Overview} Found */

/** What a filter calls the pictures of no lot. */
export const NO_LOT = "none";

/** The filters that images have as well, as they stand. @param {URLSearchParams} asked @returns {Record<string, string | string[]>} */
export function narrowed(asked) {
  const kept = Object.fromEntries(["group", "since", "until"].map((name) => [name, asked.get(name) ?? ""]));
  return { ...kept, data: asked.getAll("data") };
}

/** The boards of the run that a mark stands for. @param {Pick<Found, "run">} found @param {URLSearchParams} asked @param {Record<string, string>} more */
export function boards(found, asked, more = {}) {
  return address({
    project: project(),
    tab: "review",
    run: String(found.run),
    view: "boards",
    sort: "name",
    ...narrowed(asked),
    ...more,
  });
}

/** What is spoken of: boards with defects, or pictures that have one class. */
const NOUNS = {
  detect: { board: "board", defect: "defect", defects: "Defects", found: "Detections", worth: "mAP@.5" },
  classify: { board: "picture", defect: "picture", defects: "Failing", found: "Answers", worth: "Accuracy" },
};

/** @param {Pick<Found, "task">} found */
export function nouns({ task }) {
  return task === "classify" ? NOUNS.classify : NOUNS.detect;
}

/** @param {string} group */
export function lotName(group) {
  return group || "No lot";
}
