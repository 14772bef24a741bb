/** Cluster benchmarks: what more processes bring, benchmark beside benchmark. */

import { h } from "../../common/dom.js";
import { ago, count, many } from "../../common/words.js";
import { plot } from "../../plots/plot.js";

/** @typedef {import("../../common/answers.js").ClusterBenchmark} Benchmark */
/** @typedef {import("../../common/answers.js").Line} Line */

const GREY = "#9aa3ad";
const COLORS = /** @type {Record<string, string>} */ ({ train: "#56b4e9", detect: "#e69f00" });
const HEADS = [
  "Measured",
  "Start-up",
  "Images/s",
  "Speed-up",
  "Efficiency",
  "Loss",
  "On validation",
  "Cost of 1,000",
];

/**
 * @param {Benchmark[]} found the newest first @param {ReadonlySet<number>} opened
 * @param {(one: Benchmark, open: boolean) => void} toggle the table of one is wanted, or no more
 */
export function benchmarks(found, opened, toggle) {
  if (found.length === 0) return null;
  return h(
    "section.panel",
    { "aria-label": "Cluster benchmarks" },
    h("header", {}, h("h2", {}, "Cluster benchmarks")),
    h(
      "div.inside",
      {},
      found.map((one, at) => benchmark(one, at === 0 || opened.has(one.job), toggle)),
    ),
  );
}

/** @param {Benchmark} one @param {boolean} open @param {(one: Benchmark, open: boolean) => void} toggle */
function benchmark(one, open, toggle) {
  const words = [
    one.family,
    one.scaling === "weak" ? "each process as much as one (weak)" : "all share the work of one (strong)",
    `${many(one.configurations, "configuration")}, ${many(one.repeats, "time")} each`,
    one.state === "done" ? ago(one.at) : one.state,
  ];
  const element = /** @type {HTMLDetailsElement} */ (h(
    "details",
    { open, ontoggle: () => toggle(one, element.open) },
    h("summary", {}, h("b", {}, `Job ${one.job}`), ` ${words.join(", ")}`),
    facts(one),
    one.lines.length > 0 && h("div", { style: { overflowX: "auto" } }, table(one)),
    one.lines.some((line) => line.speedup) && chart(one.lines),
  ));
  return element;
}

/** @param {Benchmark} one */
function facts(one) {
  const told = [
    ["Images", one.images ? count(one.images) : ""],
    ["Epochs", one.epochs],
    ["Head", one.about.driver_node_type],
    ["Nodes", one.about.worker_node_types],
    ["Code", one.about.code],
    ["By", one.author],
  ].filter(([, value]) => value);
  return h(
    "div.facts",
    {},
    told.map(([name, value]) => h("span", {}, `${name} `, h("b", {}, String(value)))),
  );
}

/** @param {Benchmark} one */
function table(one) {
  return h(
    "table",
    {},
    h("thead", {}, h("tr", {}, HEADS.map((name, at) => h(`th${at ? ".number" : ""}`, {}, name)))),
    h("tbody", {}, one.lines.map(row)),
  );
}

/** @param {Line} line */
function row(line) {
  if (!line.turns) {
    const why = line.error || "Not measured yet";
    return h("tr", {}, h("td", {}, line.name), h("td", { colSpan: HEADS.length - 1 }, why));
  }
  return h(
    "tr",
    { title: line.error },
    h("td", {}, line.name),
    h("td.number", {}, line.startup === null ? "–" : `${figure(line.startup, 1)} s`),
    h(
      "td.number",
      { title: `median of ${line.turns}` },
      figure(line.rate, 1),
      h("small", {}, ` ${figure(line.slowest, 1)} to ${figure(line.quickest, 1)}`),
    ),
    h("td.number", {}, `${figure(line.speedup, 2)} ×`),
    h("td.number", {}, line.efficiency === null ? "–" : `${figure(100 * (line.efficiency ?? 0), 0)} %`),
    h("td.number", {}, figure(line.loss, 3)),
    h("td.number", { title: between(line) }, worth(line)),
    h("td.number", {}, figure(line.cost, 4)),
  );
}

/** @param {Line} line */
function worth(line) {
  if (line.value === null) return "";
  const beside = line.equal === null ? "" : line.equal ? ", equal" : ", not equal";
  return `${line.figure} ${figure(line.value, 3)}${beside}`;
}

/** @param {Line} line */
function between(line) {
  const own = line.interval ? `95 % between ${range(line.interval)}` : "";
  const other = line.difference_interval
    ? `; the difference to the first one between ${range(line.difference_interval)}`
    : "";
  return own + other;
}

/** @param {readonly number[]} interval */
function range(interval) {
  return `${figure(interval[0], 3)} and ${figure(interval[1], 3)}`;
}

/** @param {readonly Line[]} lines */
function chart(lines) {
  const drawn = lines.filter((line) => line.speedup);
  const most = Math.max(...drawn.map((line) => Math.max(line.processes, line.speedup ?? 0)), 2);
  const works = Object.keys(COLORS).filter((work) => drawn.some((line) => line.work === work));
  return plot({
    title: "Speed-up over processes",
    note: "The grey line is as many times as fast.",
    x: { label: "Processes", from: 0, to: most },
    y: { label: "Speed-up", unit: "×", from: 0, to: most },
    high: 300,
    square: true,
    layers: [
      {
        name: "as many times",
        kind: "lines",
        color: GREY,
        dashed: true,
        marks: [{ x: 0, y: 0 }, { x: most, y: most }],
      },
      ...works.map((work) => ({
        name: work,
        kind: /** @type {const} */ ("lines"),
        color: COLORS[work],
        marks: drawn.filter((line) => line.work === work).map((line) => ({
          x: line.processes,
          y: line.speedup ?? 0,
          words: line.name,
        })),
      })),
    ],
  });
}

/** @param {number | null | undefined} value @param {number} digits */
function figure(value, digits) {
  return value === null || value === undefined ? "–" : value.toLocaleString("en", {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}
