/** The runs of a project: what each found, how fast, and how far the review is. */

import { fill, h } from "../dom.js";
import * as net from "../net.js";
import { go } from "../site.js";
import * as words from "../words.js";
import { short } from "./panel.js";

const EXPORTS = [["csv", "CSV"], ["parquet", "Parquet"], ["coco", "COCO"]];

/** @param {string} project */
export async function runList(project) {
  const runs = await net.get(`/api/projects/${encodeURIComponent(project)}/runs`);
  if (!runs.length) return empty();
  const table = h("table.lp-runs", {},
    h("thead", {}, h("tr", {}, ["Run", "Model", "Images", "Detections", "Classes", "Speed", "Reviewed", "", ""].map((name, at) =>
      h([2, 3, 5].includes(at) ? "th.number" : "th", {}, name)))),
    h("tbody", {}, runs.map((run, at) => row(run, runs[at + 1]))));
  return h("div.sheet", {}, h("h1", {}, "Runs"), h("div.panel", {}, table));
}

/** Two runs of the same images: what the later one gained and lost. @param {number} run @param {number} against */
export async function comparison(run, against) {
  const found = await net.get(`/api/runs/${run}/against/${against}`);
  const chips = (detections) => h("div.chips", {}, detections.slice(0, 6).map((d) => h("span.chip", {}, `${d.label} ${short(d.score)}`)), detections.length > 6 && h("span.chip", {}, `+${detections.length - 6}`));
  const line = (change) => h("tr", {},
    h("td", {}, h("a", { href: `?${address(run, { image: change.image })}` }, change.name)), h("td", {}, chips(change.gained)), h("td", {}, chips(change.lost)));
  return h("div.sheet", {}, h("h1", {}, `Run ${run} against run ${against}`),
    h("p", {}, `${words.many(found.images, "image")} compared at a score of .50: ${words.count(found.same)} alike, ${words.count(found.changes.length)} not.${found.next ? " These are the first." : ""}`),
    h("div.panel", {}, h("table", {}, h("thead", {}, h("tr", {}, ["Image", "Gained", "Lost"].map((name) => h("th", {}, name)))), h("tbody", {}, found.changes.map(line)))),
    h("div.row", {}, h("a", { href: `?${address("", {})}` }, "All runs")));
}

function row(run, before) {
  const open = () => go({ run: run.id, image: "", view: "" });
  const top = Object.entries(run.classes).slice(0, 3);
  return h("tr", {},
    h("td", {}, h("a", { href: `?${address(run.id)}` }, `Run ${run.id}`), h("small", {}, ` ${words.ago(run.at)}${run.author ? `, ${run.author}` : ""}`)),
    h("td", {}, run.model === run.family ? run.model : `${run.model} (${run.family})`),
    h("td.number", {}, words.count(run.images)),
    h("td.number", {}, words.count(run.detections)),
    h("td", {}, h("div.chips", {}, top.map(([name, n]) => h("span.chip", {}, name, h("b.number", {}, words.count(n)))),
      Object.keys(run.classes).length > 3 && h("span.chip", {}, `+${Object.keys(run.classes).length - 3}`))),
    h("td.number", {}, run.finished ? (run.seconds ? `${words.count(Math.round(run.images / run.seconds))} images/s` : "–") : "running"),
    h("td", {}, h("div.lp-progress", { title: `${run.reviewed} of ${run.images}` }, h("i", { style: { width: `${run.images ? (100 * run.reviewed) / run.images : 0}%` } })),
      h("small", {}, `${words.count(run.reviewed)} of ${words.count(run.images)}`)),
    h("td", {}, h("div.row", {}, before && h("a", { href: `?${address(run.id, { view: "compare", against: before.id })}` }, `Compare with ${before.id}`),
      EXPORTS.map(([name, text]) => h("a", { href: `/api/runs/${run.id}/export/${name}`, download: "" }, text)))),
    h("td", {}, h("button.primary", { onclick: open }, run.reviewed >= run.images && run.images ? "Look" : "Review")));
}

function address(run, more = {}) {
  const query = new URLSearchParams(location.search);
  ["image", "view", "against"].forEach((name) => query.delete(name));
  for (const [name, value] of Object.entries({ run, ...more })) value ? query.set(name, value) : query.delete(name);
  return query;
}

function empty() {
  const root = h("div.empty", {}, h("h2", {}, "Nothing to review yet"),
    h("p", {}, "Here you go through what a model found, most doubtful first, and say what is right. Run a model over your images first."),
    h("div.row", {}, h("button.primary", { onclick: () => go({ tab: "detect" }) }, "Open Detect")));
  return fill(h("div.lp-none"), root);
}
