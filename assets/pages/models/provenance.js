/** Where a model comes from: its images, what its training was told, and what it was made on. */

import { h } from "../../common/dom.js";
import { address, project } from "../../common/site.js";
import { span } from "../../common/words.js";

/** @typedef {import("../../common/answers.js").ModelDetails} Details */

/** @param {Details} told @param {string | undefined} parent */
export function provenance(told, parent) {
  const from = told.provenance, of = told.parameters;
  const facts = [
    ["Snapshot", told.snapshot],
    ["Seed", of.seed],
    ["Start", of.start || "family's own"],
    ["Parent", parent],
    ["Epochs", of.epochs],
    ["Image size", of.image_size],
    ...knobs(of.extra ?? {}),
    ["Took", from.seconds && span(from.seconds)],
    ["Cluster", from.cluster],
    ["Machine", from.machine && `${from.machine}, ${from.devices}`],
    ["Code", from.code],
    [
      "Weights",
      told.weights && h("span.mono", { title: `SHA-256 ${told.weights}` }, told.weights.slice(0, 12)),
    ],
    ["By", told.author],
  ].filter(([, value]) => value !== undefined && value !== null && value !== "");
  return h(
    "div.facts",
    {},
    facts.map(([name, value]) =>
      h("span", {}, `${name} `, h("b", {}, value instanceof Node ? value : String(value)))
    ),
    told.job && h("a", { href: address({ project: project(), tab: "jobs" }) }, `Job ${told.job}`),
  );
}

/** What it was told that only its family has. @param {Record<string, any>} extra */
function knobs(extra) {
  return Object.entries(extra)
    .filter(([, value]) => ["number", "string"].includes(typeof value))
    .map(([name, value]) => [name.replaceAll("_", " "), value]);
}
