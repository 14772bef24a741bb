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

/** What a job in its state allows; only a training can be paused. @param {Job} job */
export function verbs(job) {
  return DOES[job.state].filter((verb) => verb !== "pause" || job.kind === "train");
}

/**
 * What a training has learned so far is not thrown away by a slip of the hand.
 * @param {Job} job @param {string} verb
 */
export async function sure(job, verb) {
  const begun = job.kind === "train" && ["running", "paused"].includes(job.state);
  if (verb !== "cancel" || !begun) return true;
  return ask(
    `Cancel ${job.title.toLowerCase()} ${job.id}`,
    "Cancel the training",
    h("p", {}, "What it has learned so far is lost. Pause keeps it."),
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
