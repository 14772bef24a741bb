/** What may be done with a job: pause, resume, cancel, retry. */

import { ask } from "../../common/dialog.js";
import { h, redraw } from "../../common/dom.js";
import { send } from "../../common/net.js";
import { attempt } from "../../common/site.js";

/** @typedef {import("../../common/answers.js").JobCard} Job */

/** @type {Record<import("../../common/answers.js").JobState, string[]>} */
const DOES = {
  running: ["pause", "cancel"],
  queued: ["cancel"],
  paused: ["resume", "cancel"],
  failed: ["retry"],
  cancelled: ["retry"],
  done: [],
};

/** What is lost where a job that takes hours is cancelled, by its kind: only these can be paused. */
/** @type {Record<string, {title: string, lost: string}>} */
const LONG = {
  train: { title: "Cancel the training", lost: "What it has learned so far is lost. Pause keeps it." },
  tune: {
    title: "Cancel the search",
    lost:
      "Trials under way end at once, and no model comes of those that are done. Pause goes on later; Stop all, on Train, ends it and keeps the best.",
  },
};

/** What a job in its state allows. @param {Job} job */
export function verbs(job) {
  return DOES[job.state].filter((verb) => verb !== "pause" || job.kind in LONG);
}

/**
 * What has taken hours is not thrown away by a slip of the hand.
 * @param {Job} job @param {string} verb
 */
export async function sure(job, verb) {
  const long = LONG[job.kind];
  if (verb !== "cancel" || !long || !["running", "paused"].includes(job.state)) return true;
  return ask(
    `Cancel ${job.title.toLowerCase()} ${job.id}`,
    long.title,
    h("p", {}, long.lost),
    { danger: true, leave: "Let it go on" },
  );
}

/**
 * Pause, resume, cancel, retry, drawn again when others are due.
 * @param {HTMLElement} place @param {Job} job @param {() => any} then after one of them
 */
export function offer(place, job, then) {
  redraw(place, [job.id, job.state, job.wish], () => buttons(job, then));
}

/** @param {Job} job @param {() => any} then */
function buttons(job, then) {
  if (job.wish) return h("span.quiet-text", {}, "Stopping …");
  return verbs(job).map((verb) =>
    h(`button.for-labeler${verb === "cancel" ? ".danger.apart" : ""}`, {
      data: { key: verb },
      onclick: () =>
        attempt(async () =>
          (await sure(job, verb)) && (await send("POST", `/api/jobs/${job.id}/${verb}`), await then())
        ),
    }, verb[0].toUpperCase() + verb.slice(1))
  );
}
