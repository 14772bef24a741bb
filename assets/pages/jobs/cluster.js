/** The cluster as its workers see it: nodes, what is free, whose work they carry. */

import { h } from "../../common/dom.js";
import { ago, count, many } from "../../common/words.js";

/** @typedef {import("../../common/answers.js").Node} Node */

/** What stands under Cluster. @param {import("../../common/answers.js").Presence[]} workers */
export function cluster(workers) {
  if (workers.length === 0) {
    return h(
      "p",
      {},
      h("b.warn", {}, "No worker is alive. "),
      "What is asked for waits until one is: start the site without --no-worker, or run ",
      h("span.mono", {}, "loupe worker"),
      ".",
    );
  }
  return workers.map((one) =>
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
      ),
      nodes(one.sees),
    )
  );
}

/** @param {number[]} jobs */
function does(jobs) {
  return jobs.length > 0 && `, carries out ${jobs.map((id) => `#${id}`).join(", ")}`;
}

/** @param {import("../../common/answers.js").Sight} sees */
function nodes(sees) {
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
            h("td.mono", {}, node.name),
            h("td.number", {}, count(node.cores)),
            h("td.number", {}, count(node.gpus)),
            h("td.number", {}, `${node.memory_gb} GB`),
            h("td.number", {}, count(node.free.cores)),
            h("td", {}, carries(node)),
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

/** Which jobs have processes on a node. @param {Node} node */
function carries(node) {
  const ours = Object.entries(node.jobs).map(([job, processes]) =>
    `#${job} (${many(processes, "process", "processes")})`
  );
  const others = node.others ? [many(node.others, "process of others", "processes of others")] : [];
  return [...ours, ...others].join(", ") || "–";
}
