/** The parts of a job's row in the list: what it is, where it stands, its times. */

import { h } from "../../common/dom.js";
import { address } from "../../common/site.js";
import { ago, count, many, share, span } from "../../common/words.js";

/** @typedef {import("../../common/answers.js").JobCard} Job */

/** The states of a job in words. */
export const WORDS = {
  queued: "Waiting",
  running: "Running",
  paused: "Paused",
  done: "Done",
  failed: "Failed",
  cancelled: "Cancelled",
};
const COLORS = { done: "good", failed: "bad", cancelled: "warn", running: "", queued: "", paused: "warn" };

/**
 * What a job is, whose it is, and what came of it.
 * @param {Job} job @param {string | undefined} of its project
 */
export function what(job, of) {
  const said = job.error || outcome(job) || job.message;
  /** @type {Record<string, Record<string, any>>} */
  const pages = {
    train: { tab: "train", job: job.id },
    detect: { tab: "review", run: job.id },
    doubts: { tab: "review", view: "doubts" },
  };
  const href = pages[job.kind];
  const name = href && of
    ? h("a", { href: address({ project: of, ...href }) }, job.title)
    : h("b", {}, job.title);
  return h(
    "span.what",
    { title: said },
    name,
    `${of ? ` in ${of}` : ""} by ${job.author || "nobody"}`,
    h(`small${job.error ? ".bad" : ""}`, {}, said),
  );
}

/** @param {Job} job */
function outcome(job) {
  const found = job.result;
  if (job.state !== "done") return "";
  if (found.verdict || found.refused) return found.verdict || found.refused;
  if (found.per_class) {
    return `${found.model} on ${many(found.images, "image")} (${found.split}): ${
      found.accuracy === undefined
        ? `mAP ${share(found.map)} at IoU ${share(found.iou, 2)}`
        : `accuracy ${share(found.accuracy)}`
    }`;
  }
  if (found.doubts !== undefined) {
    const held = `${many(found.labels, "label")} of ${many(found.images, "image")}`;
    return `${many(found.doubts, "doubt")} about ${held}`;
  }
  if (found.detections !== undefined) {
    return `${many(found.detections, "detection")} in ${many(found.images, "image")}, ${
      count(found.images_per_second)
    } images/s`;
  }
  if (found.boxes !== undefined) {
    return `${many(found.images, "image")}${found.boxes ? `, ${many(found.boxes, "box", "boxes")}` : ""}`;
  }
  return "";
}

/** Where a job stands, with a bar while it goes on. @param {Job} job */
export function state(job) {
  const percent = Math.round(100 * job.progress);
  return h(
    "span",
    { style: { display: "grid", gap: "4px" } },
    h(
      "span.row.spread",
      {},
      h(`span.${COLORS[job.state] || "plain"}`, {}, WORDS[job.state]),
      ["running", "paused"].includes(job.state) && h("span.number", {}, `${percent} %`),
    ),
    ["running", "paused"].includes(job.state) &&
      h("div.bar", {
        role: "progressbar",
        "aria-valuenow": percent,
        "aria-valuemin": 0,
        "aria-valuemax": 100,
      }, h("i", { style: { width: `${percent}%` } })),
  );
}

/** When a job starts, ends or has ended, as far as that is known. @param {Job} job */
export function times(job) {
  if (job.state === "running") {
    return job.needs === null || job.needs === undefined ? "just begun" : `${span(job.needs)} left`;
  }
  if (job.state === "queued") {
    return job.waits
      ? `starts in about ${span(job.waits)}`
      : (job.position ?? 0) > 1
      ? `place ${job.position}`
      : job.behind
      ? `next, after #${job.behind}`
      : "next";
  }
  // Of several attempts the time of the last alone is known.
  if (job.finished && job.started && job.attempt === 1) {
    return `${ago(job.finished)} · took ${span((Date.parse(job.finished) - Date.parse(job.started)) / 1000)}`;
  }
  return ago(job.finished || job.at);
}
