/** Detections at work, each with a panel that stays while what it says changes. */

import { h } from "../../common/dom.js";

/** @typedef {import("../../common/answers.js").JobCard} Job */
/** @typedef {{actions: HTMLElement, status: HTMLElement, element: HTMLElement}} Panel */

/** One detection at work, or one that has failed. @param {Job} job @returns {Panel} */
export function panel(job) {
  const actions = h("span.row"), status = h("div.inside");
  return {
    actions,
    status,
    element: h("section.panel", {}, h("header", {}, h("h2", {}, `Detection ${job.id}`), actions), status),
  };
}

/** The jobs that have not ended. @param {import("../../common/answers.js").AtWork} found */
export function working(found) {
  return found.jobs.filter((job) => ["running", "queued", "paused"].includes(job.state));
}
