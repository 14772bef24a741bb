/** The cluster as its workers see it: nodes, what is free, whose work they carry. */

import { h } from "../../common/dom.js";
import { ago, count, many, span } from "../../common/words.js";

/** @typedef {import("../../common/answers.js").Node} Node */
/** @typedef {import("../../common/answers.js").ClusterCard} Card */
/** @typedef {import("../../common/answers.js").DayOfUse} Use */

/** What stands under Cluster. @param {Card} card */
export function cluster(card) {
  if (card.workers.length === 0) {
    return h(
      "p",
      {},
      h("b.warn", {}, "No worker is alive. "),
      "What is asked for waits until one is: start the site without --no-worker, or run ",
      h("span.mono", {}, "loupe worker"),
      ".",
    );
  }
  return card.workers.map((one) =>
    h(
      "div",
      { style: { display: "grid", gap: "8px" } },
      h(
        "div.facts",
        {},
        h(
          "span",
          {},
          h("b", {}, "Worker "),
          `on ${one.host}, process ${one.pid}, since ${ago(one.started)}`,
          does(one.sees.jobs ?? []),
        ),
        one.sees.temp_mb !== undefined && h("span", {}, h("b", {}, "Ray's files "), size(one.sees.temp_mb)),
        card.costs[one.name] &&
          h("span", {}, h("b", {}, "Costs "), `${card.costs[one.name].toFixed(2)} an hour`),
      ),
      nodes(one.sees, card.jobs),
    )
  );
}

/** Who used the machines in the last day. @param {readonly Use[]} found @param {boolean} open */
export function used(found, open) {
  if (!found.length) return null;
  const seconds = found.reduce((sum, one) => sum + one.seconds, 0);
  return h(
    "details",
    { open },
    h("summary", { data: { key: "last-day" } }, `The last day: ${span(seconds)} of jobs`),
    h(
      "table",
      {},
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          ["What", "Asked by", "Jobs", "Time"].map((name, at) => h(`th${at > 1 ? ".number" : ""}`, {}, name)),
        ),
      ),
      h(
        "tbody",
        {},
        found.map((one) =>
          h(
            "tr",
            {},
            h("td", {}, one.title),
            h("td", {}, one.author || "–"),
            h("td.number", {}, count(one.jobs)),
            h("td.number", {}, span(one.seconds)),
          )
        ),
      ),
    ),
  );
}

/** @param {number} mb */
function size(mb) {
  return mb < 1000 ? `${Math.ceil(mb)} MB` : `${(mb / 1000).toFixed(1)} GB`;
}

/** @param {number[]} jobs */
function does(jobs) {
  return jobs.length > 0 && `, carries out ${jobs.map((id) => `#${id}`).join(", ")}`;
}

/** @param {import("../../common/answers.js").Sight} sees @param {Card["jobs"]} jobs */
function nodes(sees, jobs) {
  const rows = sees.nodes ?? [];
  if (!rows.length) {
    return h(
      "p.quiet-text",
      {},
      "Ray is not needed yet: a training with several workers or a large detection starts it.",
    );
  }
  const heads = ["Node", "Cores", "GPUs", "Memory", "Free cores", "Carries"].map((name, at) =>
    h(`th${at && at < 5 ? ".number" : ""}`, {}, name)
  );
  /** @type {Partial<import("../../common/answers.js").Amounts>} */
  const free = sees.free ?? {};
  return [
    h(
      "table",
      {},
      h("thead", {}, h("tr", {}, heads)),
      h(
        "tbody",
        {},
        rows.map((node) =>
          h(
            "tr",
            {},
            h("td.mono", {}, node.kind ? `${node.kind}, ${node.name}` : node.name),
            h("td.number", {}, count(node.cores)),
            h("td.number", {}, count(node.gpus)),
            h("td.number", {}, `${node.memory_gb} GB`),
            h("td.number", {}, count(node.free.cores)),
            h("td", {}, carries(node, jobs)),
          )
        ),
      ),
    ),
    h(
      "p.quiet-text",
      {},
      `Free now: ${count(free.cores ?? 0)} cores, ${count(free.gpus ?? 0)} GPUs, ${free.memory_gb ?? 0} GB.`,
    ),
  ];
}

/** Which jobs have processes on a node, and who has asked for them. @param {Node} node @param {Card["jobs"]} jobs */
function carries(node, jobs) {
  const ours = Object.entries(node.jobs).map(([job, processes]) => {
    const asked = jobs[Number(job)];
    const by = asked?.author ? `, asked by ${asked.author}` : "";
    const since = asked?.since ? `, begun ${ago(asked.since)}` : "";
    return `#${job} ${asked?.title ?? ""}${by}${since} (${many(processes, "process", "processes")})`;
  });
  const others = node.others ? [many(node.others, "process of others", "processes of others")] : [];
  return [...ours, ...others].join("; ") || "–";
}
