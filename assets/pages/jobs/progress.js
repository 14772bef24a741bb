/** How far a job is, as a bar and a sentence. */

import { h } from "../../common/dom.js";
import { span } from "../../common/words.js";

/** @typedef {import("../../common/answers.js").JobCard} Job */

/**
 * How far a job is: the bar, the sentence, the time left.
 * @param {Pick<Job, "state" | "progress" | "message"> & Partial<Job>} job
 */
export function progress(job) {
  const share = job.state === "done" ? 1 : job.progress;
  const left = job.state === "running" && job.needs ? `${span(job.needs)} left` : "";
  /** @type {Record<string, string>} */
  const said = {
    queued: waiting(job),
    paused: "Paused",
    done: "Done",
    failed: "Failed",
    cancelled: "Cancelled",
  };
  const words = said[job.state] ?? job.message;
  return [
    h(`div.bar${job.state === "done" ? ".done" : ""}`, {
      role: "progressbar",
      "aria-valuenow": Math.round(100 * share),
      "aria-valuemin": 0,
      "aria-valuemax": 100,
    }, h("i", { style: { width: `${100 * share}%` } })),
    h(
      "div.spread",
      {},
      h("span", {}, words),
      h(
        "span.number.quiet-text",
        {},
        [["running", "paused"].includes(job.state) && `${Math.round(100 * share)} %`, left].filter(Boolean)
          .join(" · "),
      ),
    ),
  ];
}

/**
 * The place in the queue, when it starts and how long it takes, as far as that is known.
 * @param {Partial<Job>} job
 */
function waiting(job) {
  const next = job.behind ? `Waiting until job ${job.behind} has ended` : "Waiting for a worker";
  const place = (job.position ?? 0) > 1 ? `Waiting, place ${job.position}` : next;
  const begins = job.waits && `starts in about ${span(job.waits)}`;
  return [place, begins, job.needs && `takes about ${span(job.needs)}`].filter(Boolean).join(" · ");
}
