/** What a worker answers at once: waited for, and its boxes drawn over a picture. */

import { get } from "./net.js";

const SVG = "http://www.w3.org/2000/svg";
const FINAL = ["done", "failed", "cancelled"];
const EVERY = 100, RARELY = 1000; // milliseconds between looks at the job, first and at most
const LATER = 1.05; // what lasts anyway is asked for less and less often: perhaps no worker lives

/** @typedef {import("./answers.js").JobCard} Job */
/** @typedef {{x1: number, y1: number, x2: number, y2: number, words: string}} Outline */

/**
 * Wait until a job is done; one that fails says why.
 * @param {Job} job @param {(job: Job) => any} told
 * @returns {Promise<Job>}
 */
export async function finished(job, told) {
  for (let wait = EVERY; !FINAL.includes(job.state); wait = Math.min(RARELY, wait * LATER)) {
    told(job);
    await new Promise((resolve) => setTimeout(resolve, wait));
    job = await get(`/api/jobs/${job.id}`);
  }
  if (job.state !== "done") throw new Error(job.error || "It was cancelled.");
  return job;
}

/** @param {HTMLElement} stage @param {Outline[]} found @param {{width: number, height: number}} size */
export function outline(stage, found, size) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${size.width} ${size.height}`);
  for (const one of found) {
    const rect = document.createElementNS(SVG, "rect");
    for (
      const [name, value] of Object.entries({
        x: one.x1,
        y: one.y1,
        width: one.x2 - one.x1,
        height: one.y2 - one.y1,
      })
    ) rect.setAttribute(name, String(value));
    const words = document.createElementNS(SVG, "title");
    words.textContent = one.words;
    rect.append(words);
    svg.append(rect);
  }
  stage.querySelector("svg")?.remove();
  stage.append(svg);
}
