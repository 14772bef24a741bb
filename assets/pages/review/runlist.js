/** The runs of a project: what each found, how fast, and how far the review is. */

import { fill, h, select } from "../../common/dom.js";
import * as net from "../../common/net.js";
import { go } from "../../common/site.js";
import * as words from "../../common/words.js";
import { short } from "../../desk/panel/panel.js";
import { marked, MOST_MARKS } from "./marked.js";

/**
 * @typedef {import("../../common/answers.js").ReviewedRun} Run
 * @typedef {import("../../common/answers.js").Kappa} Agreement
 * @typedef {import("../../common/answers.js").RunFigures} Figures
 * @typedef {Map<string, Figures | null>} Counted figures that were counted before
 * @typedef {import("../../common/answers.js").Proposal} Detection
 * @typedef {import("../../common/answers.js").ChangedImage} Change
 */

const HOW = [{ name: "Gained", color: "var(--good)", dashed: false }, {
  name: "Lost",
  color: "var(--bad)",
  dashed: true,
}];
const EXPORTS = [["html", "Report"], ["pdf", "PDF"], ["csv", "CSV"], ["parquet", "Parquet"], [
  "coco",
  "COCO",
]];

const HEADS = [
  "Run",
  "Model",
  "Images",
  "Found",
  "Classes",
  "Escapes",
  "False calls",
  "Speed",
  "Reviewed",
  "",
  "",
];
const NUMBERS = [2, 3, 5, 6, 7];
// The figures of the newest runs are counted at once, of the others when they are asked for.
const COUNTED = 12;

/** @param {string} project @param {Counted} known */
export async function runList(project, known) {
  /** @type {Run[]} */
  const runs = await net.get(`/api/projects/${encodeURIComponent(project)}/runs`);
  if (!runs.length) return { root: empty(), open: false };
  const rows = runs.map((run, at) => row(run, runs[at + 1], known));
  const table = h(
    "table.lp-runs",
    {},
    h(
      "thead",
      {},
      h("tr", {}, HEADS.map((name, at) => h(NUMBERS.includes(at) ? "th.number" : "th", {}, name))),
    ),
    h("tbody", {}, rows.map((one) => one.root)),
  );
  countAll(rows.slice(0, COUNTED));
  return {
    root: h("div.sheet", {}, h("div.spread", {}, h("h1", {}, "Runs"), doubts()), h("div.panel", {}, table)),
    open: runs.some((run) => !run.finished),
  };
}

/** @param {ReturnType<typeof row>[]} rows */
async function countAll(rows) {
  for (const one of rows) await one.count();
}

/** Two runs of the same images: what the later one gained and lost.
 * @param {string} project @param {number} run @param {number} against */
export async function comparison(project, run, against) {
  /** @type {[import("../../common/answers.js").ChangedImages, Run[]]} */
  const [found, runs] = await Promise.all([
    net.get(`/api/runs/${run}/against/${against}`),
    net.get(`/api/projects/${encodeURIComponent(project)}/runs`),
  ]);
  const others = runs.filter((one) => one.id !== run).map((
    one,
  ) => /** @type {[string, string]} */ ([String(one.id), `run ${one.id}, ${words.model(one.model)}`]));
  const choice = select(others, String(against), (/** @type {string} */ value) => go({ against: value }), {
    "aria-label": "Other run",
  });
  const chips = (/** @type {Detection[]} */ detections) =>
    h(
      "div.chips",
      {},
      detections.slice(0, 6).map((d) => h("span.chip", {}, `${d.label} ${short(d.score)}`)),
      detections.length > 6 && h("span.chip", {}, `+${detections.length - 6}`),
    );
  const line = (/** @type {Change} */ change) =>
    h(
      "tr",
      {},
      h(
        "td",
        {},
        h("a.lp-board", { href: `?${address(run, { image: change.image })}`, tabindex: -1 }, shown(change)),
      ),
      h("td", {}, h("a", { href: `?${address(run, { image: change.image })}` }, change.name)),
      h("td", {}, chips(change.gained)),
      h("td", {}, chips(change.lost)),
    );
  return h(
    "div.sheet",
    {},
    h("div.spread", {}, h("h1", {}, `Run ${run} against run ${against}`), choice),
    h(
      "p",
      {},
      `${words.many(found.images, "image")} compared at a score of .50: ${words.count(found.same)} alike, ${
        words.count(found.changes.length)
      } not.${found.next ? " These are the first." : ""}`,
    ),
    found.changes.length > 0 &&
      h(
        "div.panel",
        {},
        h(
          "table",
          {},
          h("thead", {}, h("tr", {}, ["", "Image"].map((name) => h("th", {}, name)), HOW.map(heading))),
          h("tbody", {}, found.changes.map(line)),
        ),
      ),
    h("div.row", {}, h("a", { href: `?${address("", {})}` }, "All runs")),
  );
}

/** How gained and lost boxes are drawn, beside what they are. @param {typeof HOW[number]} how */
function heading({ name, color, dashed }) {
  const line = h("i.lp-line", { "aria-hidden": "true" });
  line.style.borderTop = `2px ${dashed ? "dashed" : "solid"} ${color}`;
  return h("th", {}, name, " ", line);
}

/** What an image has gained, drawn through, and lost, dashed; of both, where they are many. @param {Change} change */
function shown({ gained, lost, ...of }) {
  const [more, less] = HOW;
  const half = MOST_MARKS / 2;
  const marks = [
    ...gained.slice(0, Math.max(half, MOST_MARKS - lost.length)).map((one) => ({ ...one, ...more })),
    ...lost.slice(0, Math.max(half, MOST_MARKS - gained.length)).map((one) => ({ ...one, ...less })),
  ];
  return of.sha256 ? marked(of, marks) : [];
}

/** Escapes and false calls, and how well second answers agree; counted by the server. @param {Run} run @param {Counted} known */
function figures(run, known) {
  const escapes = h("td.number"), calls = h("td.number"), kappa = h("small.lp-kappa"), ruled = h("small");
  const saved = h("small");
  const key = `${run.id}/${run.images}/${run.reviewed}`;
  const show = (/** @type {Figures} */ found) => {
    const title = found.images
      ? `in ${words.many(found.images, "labelled image")}`
      : "No image of this run is labelled yet";
    [[escapes, found.escapes], [calls, found.false_calls]].forEach(([cell, number]) => {
      cell.textContent = found.images ? words.count(number) : "–";
      cell.title = title;
    });
    fill(saved, filtered(found.filtered));
    calls.append(saved);
    fill(kappa, agreement(found.agreement));
    fill(
      ruled,
      "rule: ",
      verdict(run, "pass", found.ruled.pass),
      " · ",
      verdict(run, "fail", found.ruled.fail),
      found.ruled.ask ? [" · ", verdict(run, "ask", found.ruled.ask)] : [],
    );
  };
  const again = () => {
    const found = known.get(key);
    if (found) show(found);
  };
  const count = async () => {
    if (!known.has(key)) known.set(key, await net.get(`/api/runs/${run.id}/figures`).catch(() => null));
    again();
  };
  fill(escapes, h("button.quiet", { title: "Count escapes and false calls", onclick: count }, "count"));
  again();
  return { escapes, calls, kappa, ruled, count };
}

/** What a second stage saves, where one had a share. @param {Figures["filtered"]} found */
function filtered(found) {
  if (!found || !found.defects) return false;
  const told = (/** @type {number | null} */ each) => each === null ? "–" : each.toFixed(2);
  const share = `${words.count(100 * found.escapes)} %`;
  return h(
    "span",
    {
      title: found.first === null
        ? `By the detector alone more than ${share} of the defects escape, however low the score`
        : `False calls an image while at most ${share} of ${words.many(found.defects, "defect")} escapes: ` +
          "by the detector alone, and with the second stage",
    },
    `at ${share} escapes ${told(found.first)} → ${told(found.both)} an image`,
  );
}

const RULES = { pass: "passes", fail: "fails", ask: "leaves to a person" };

/** How many images the rule passes, fails or leaves to a person, and the way to them. @param {Run} run @param {keyof typeof RULES} name @param {number} number */
function verdict(run, name, number) {
  return h("a", {
    href: `?${address(run.id, { stands: `rule-${name}` })}`,
    title: `Images that the rule ${RULES[name]}; those that nobody has judged are opened`,
  }, `${words.count(number)} ${name}`);
}

/** Cohen's kappa of blind repeats, by boards where there are enough, else by detections. @param {Figures["agreement"]} found */
function agreement(found) {
  /** @param {string} name @param {Agreement} one */
  const told = (name, one) =>
    one.pairs > 0 &&
    h("span", {
      title: `Blind repeats: ${words.count(one.agreed)} of ${words.count(one.pairs)} answers alike`,
    }, `${name} κ ${one.kappa === null ? "–" : short(one.kappa)} `);
  return [told("Between", found.between_detections), told("Within", found.within_detections)];
}

/** @param {Run} run @param {Run | undefined} before @param {Counted} known */
function row(run, before, known) {
  const counted = figures(run, known);
  return { root: line(run, before, counted), count: counted.count };
}

/** @param {Run} run @param {Run | undefined} before @param {ReturnType<typeof figures>} counted */
function line(run, before, counted) {
  const open = () => go({ run: run.id, image: "", view: "" });
  const top = Object.entries(run.classes).slice(0, 3);
  return h(
    "tr",
    {},
    h(
      "td",
      {},
      h("a", { href: `?${address(run.id)}` }, `Run ${run.id}`),
      h("small", {}, ` ${words.ago(run.at)}${run.author ? `, ${run.author}` : ""}`),
    ),
    h("td", {}, words.model(run.model), run.model !== run.family && h("small", {}, run.family)),
    h("td.number", {}, words.count(run.images)),
    h("td.number", {}, words.count(run.detections)),
    h(
      "td",
      { title: Object.entries(run.classes).map(([name, n]) => `${name} ${words.count(n)}`).join(", ") },
      h(
        "div.chips",
        {},
        top.map(([name, n]) => h("span.chip", {}, name, h("b.number", {}, words.count(n)))),
        Object.keys(run.classes).length > 3 && h("span.chip", {}, `+${Object.keys(run.classes).length - 3}`),
      ),
    ),
    counted.escapes,
    counted.calls,
    h(
      "td.number",
      { title: run.seconds ? `in ${words.span(run.seconds)}` : "" },
      run.finished
        ? (run.seconds ? `${words.count(Math.round(run.images / run.seconds))} images/s` : "–")
        : "running",
    ),
    h(
      "td",
      {},
      h(
        "div.lp-progress",
        { title: `${run.reviewed} of ${run.images}` },
        h("i", { style: { width: `${run.images ? (100 * run.reviewed) / run.images : 0}%` } }),
      ),
      h("small", {}, `${words.count(run.reviewed)} of ${words.count(run.images)}`),
      counted.ruled,
      counted.kappa,
    ),
    h(
      "td.lp-takes",
      {},
      h(
        "a",
        { href: `?${address(run.id, { view: "boards" })}` },
        run.family === "classifier" ? "All pictures" : "All boards",
      ),
      before &&
        h(
          "a",
          { href: `?${address(run.id, { view: "compare", against: before.id })}` },
          `Compare with ${before.id}`,
        ),
      h(
        "div.row",
        {},
        EXPORTS.filter(([name]) => name !== "coco" || run.family !== "classifier").map(([name, text]) =>
          h("a", { href: `/api/runs/${run.id}/export/${name}`, download: "" }, text)
        ),
      ),
    ),
    h(
      "td",
      {},
      h("button.primary", { onclick: open }, run.reviewed >= run.images && run.images ? "Look" : "Review"),
    ),
  );
}

/** @param {number | ""} run @param {Record<string, string | number>} [more] */
function address(run, more = {}) {
  const query = new URLSearchParams(location.search);
  ["image", "view", "against"].forEach((name) => query.delete(name));
  for (const [name, value] of Object.entries({ run, ...more })) {
    value ? query.set(name, String(value)) : query.delete(name);
  }
  return query;
}

/** Where labels are gone through that are likely wrong. */
function doubts() {
  const href = `?${address("", { view: "doubts" })}`;
  return h("a.button", { href, title: "Labels that are likely wrong, the surest first" }, "Labels in doubt");
}

function empty() {
  const root = h(
    "div.empty",
    {},
    h("h2", {}, "Nothing to review yet"),
    h(
      "p",
      {},
      "Here you go through what a model found, most doubtful first, and say what is right. Run a model over your images first.",
    ),
    h("div.row", {}, h("button.primary", { onclick: () => go({ tab: "detect" }) }, "Open Detect"), doubts()),
  );
  return fill(h("div.lp-none"), root);
}
