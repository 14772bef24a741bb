/** Cluster benchmarks: what more processes bring, benchmark beside benchmark. */

import { h } from "../../common/dom.js";
import { ago, count, many } from "../../common/words.js";

/** @typedef {import("../../common/answers.js").ClusterBenchmark} Benchmark */
/** @typedef {import("../../common/answers.js").Line} Line */

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 300, HEIGHT = 200;
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

/** @param {Benchmark[]} found the newest first */
export function benchmarks(found) {
  if (found.length === 0) return null;
  return h(
    "section.panel",
    { "aria-label": "Cluster benchmarks" },
    h("header", {}, h("h2", {}, "Cluster benchmarks")),
    h("div.inside", {}, found.map((one, at) => benchmark(one, at === 0))),
  );
}

/** @param {Benchmark} one @param {boolean} open */
function benchmark(one, open) {
  const words = [
    one.family,
    one.scaling === "weak" ? "each process as much as one (weak)" : "all share the work of one (strong)",
    `${many(one.repeats, "time")} each`,
    one.state === "done" ? ago(one.at) : one.state,
  ];
  return h(
    "details",
    { open },
    h("summary", {}, h("b", {}, `Job ${one.job}`), ` ${words.join(", ")}`),
    facts(one),
    h("div", { style: { overflowX: "auto" } }, table(one)),
    one.lines.some((line) => line.speedup) && chart(one.lines),
  );
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
  /** @param {number} value */
  const x = (value) => ((WIDTH * value) / most).toFixed(1);
  /** @param {number} value */
  const y = (value) => (HEIGHT - (HEIGHT * value) / most).toFixed(1);
  const svg = make("svg", {
    viewBox: "-34 -8 350 246",
    role: "img",
    "aria-label": "Speed-up over processes; the grey line is as many times as fast",
  });
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    const at = most * share, label = Number.isInteger(at) ? String(at) : at.toFixed(1);
    svg.append(make("line", { x1: 0, x2: WIDTH, y1: y(at), y2: y(at), class: "grid" }));
    svg.append(text(-6, Number(y(at)) + 4, label, "end"), text(Number(x(at)), 218, label, "middle"));
  }
  svg.append(make("line", { x1: x(0), y1: y(0), x2: x(most), y2: y(most), class: "grid" }));
  svg.append(text(WIDTH / 2, 234, "processes", "middle"));
  for (const work of Object.keys(COLORS)) {
    const own = drawn.filter((line) => line.work === work);
    const points = own.map((line) => `${x(line.processes)},${y(line.speedup ?? 0)}`).join(" ");
    svg.append(make("polyline", { points, stroke: COLORS[work], fill: "none", "stroke-width": 1.5 }));
    for (const line of own) {
      const dot = make("circle", {
        cx: x(line.processes),
        cy: y(line.speedup ?? 0),
        r: 4,
        fill: COLORS[work],
      });
      dot.append(make("title", {}, `${line.name}: ${figure(line.speedup, 2)} ×`));
      svg.append(dot);
    }
  }
  return h(
    "figure.figure",
    {},
    h("h3", {}, "Speed-up over processes"),
    svg,
    h(
      "div.chips",
      {},
      Object.keys(COLORS)
        .filter((work) => drawn.some((line) => line.work === work))
        .map((work) => h("span.chip", {}, h("i", { style: { background: COLORS[work] } }), work)),
    ),
  );
}

/** @param {number | null | undefined} value @param {number} digits */
function figure(value, digits) {
  return value === null || value === undefined ? "–" : value.toLocaleString("en", {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}

/** @param {string} name @param {Record<string, string | number>} attributes @param {...string} inner */
function make(name, attributes, ...inner) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  made.append(...inner);
  return made;
}

/** @param {number} x @param {number} y @param {string} words @param {string} anchor */
function text(x, y, words, anchor) {
  return make("text", { x, y, "text-anchor": anchor }, words);
}
