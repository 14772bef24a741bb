/** The table of the newest runs. */

import { h } from "../../common/dom.js";
import { address } from "../../common/site.js";
import { ago, count, model } from "../../common/words.js";
import { failures } from "./foresee.js";

/**
 * The newest runs, each with the way to its review.
 * @param {import("../../common/answers.js").RunCard[]} runs @param {string} of the project @param {string} base of its detections
 */
export function table(runs, of, base) {
  const heads = ["Run", "Model", "Images", "Detections", "Unreadable", "Speed", "When", ""];
  const rows = runs.map((run, at) =>
    h(
      "tr",
      {},
      h("td", {}, `Run ${run.id}`),
      h("td", { title: run.runtime ? `Run by ${run.runtime}` : "" }, model(run.model)),
      h("td.number", {}, count(run.images)),
      h("td.number", {}, count(run.detections)),
      h(
        "td.number",
        {},
        run.failed
          ? h("button.quiet.bad", {
            data: { key: `failed-${run.id}` },
            onclick: () => failures(base, run),
          }, count(run.failed))
          : count(0),
      ),
      h(
        "td.number",
        {},
        run.seconds
          ? `${
            count(Math.round((run.facts.images_per_second ?? run.images / run.seconds) * 10) / 10)
          } images/s`
          : "–",
      ),
      h("td.date", {}, ago(run.at)),
      h(
        "td.number",
        {},
        h(`a.button${at ? "" : ".primary"}`, {
          href: address({ project: of, tab: "review", run: run.id }),
          data: { key: `review-${run.id}` },
        }, "Review"),
      ),
    )
  );
  return [
    h("header", {}, h("h2", {}, "Runs")),
    rows.length
      ? h(
        "table",
        {},
        h(
          "thead",
          {},
          h("tr", {}, heads.map((name, at) => h(`th${at > 1 && at < 6 ? ".number" : ""}`, {}, name))),
        ),
        h("tbody", {}, rows),
      )
      : h("p.nothing", {}, "No run yet. What a run finds stands under Review, most doubtful first."),
  ];
}
