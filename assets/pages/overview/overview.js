/** Overview: a project at a glance; whatever stands here opens the pictures behind it. */

import { fill, h, redraw, select } from "../../common/dom.js";
import { get } from "../../common/net.js";
import { nothingChosen } from "../../common/nothing.js";
import { Reading } from "../../common/reading.js";
import { address, go, page, poll, project, query, tab } from "../../common/site.js";
import { ago, count, many, model } from "../../common/words.js";
import { percent } from "../../plots/scales.js";
import { Plot } from "../../plots/plot.js";
import { boards, lotName, narrowed, NO_LOT, nouns } from "./links.js";
import { specs } from "./specs.js";

/** @typedef {import("../../common/answers.js").Overview} Found */

const FILTERS = ["run", "group", "since", "until", "class", "data"];
const AGAIN = 60; // milliseconds, while boards are still being added up

/** @param {HTMLElement} element */
export function mount(element) {
  const overview = new Overview(element);
  element.removeAttribute("aria-busy");
  page("overview", () => overview.load(), () => overview.rest());
  poll("overview", 4, ["labels", "jobs", "models"], () => overview.load());
}

class Overview {
  /** @param {HTMLElement} element */
  constructor(element) {
    this.element = element;
    this.reading = new Reading("overview", element, "cards");
    this.title = h("h1");
    this.filters = h("div.row");
    this.told = h("div.facts", { "aria-live": "polite" });
    this.next = h("div.row");
    this.grid = h("div.plots.overview-plots");
    /** @type {Map<string, Plot>} */
    this.plots = new Map();
    this.sheet = h(
      "div.sheet.overview",
      {},
      h("div.spread", {}, this.title, this.filters),
      h("div.spread", {}, this.told, this.next),
      this.grid,
    );
  }

  rest() {
    clearTimeout(this.timer);
  }

  async load() {
    this.rest();
    const of = project();
    if (!of) {
      this.reading.rest();
      const words = "What of each lot passes, what fails and why, and what is to be done next.";
      return fill(this.element, nothingChosen("Overview", words));
    }
    const asked = new URLSearchParams(
      [...query()].filter(([name, value]) => FILTERS.includes(name) && value),
    );
    return this.reading.show(
      of,
      () => get(`/api/projects/${encodeURIComponent(of)}/overview?${asked}`),
      (/** @type {Found} */ found) => this.draw(found, asked),
    );
  }

  /** @param {Found} found @param {URLSearchParams} asked */
  draw(found, asked) {
    if (found.left && tab() === "overview") this.timer = setTimeout(() => this.load(), AGAIN);
    if (this.element.firstChild !== this.sheet) fill(this.element, this.sheet);
    this.sheet.dataset.left = String(found.left);
    fill(this.title, found.project);
    const shows = [found.runs, found.groups, found.classes.map(({ name }) => name), found.columns];
    redraw(this.filters, [...shows, [...asked]], () => filters(found, asked));
    const figures = [found.project, found.run, found.boards, found.mistaken, found.left, [...asked]];
    redraw(this.told, figures, () => told(found, asked));
    const work = [found.project, found.run, found.boards, found.states, found.models.length, [...asked]];
    redraw(this.next, work, () => next(found, asked));
    if (!found.run) return fill(this.grid, blank(found));
    const shown = specs(found, asked).map((spec) => this.named(spec.title).show(spec).element);
    fill(this.grid, shown);
  }

  /** @param {string} title */
  named(title) {
    const plot = this.plots.get(title) ?? new Plot();
    plot.element.classList.add("panel", "inside");
    this.plots.set(title, plot);
    return plot;
  }
}

/** What a project without a run is told. @param {Found} found */
function blank(found) {
  const any = Object.values(found.states).some((number) => number > 0);
  const words = any
    ? "Once a model has looked at the pictures, their yield stands here by lot and day, with what fails and why."
    : "Add pictures first. Once a model has looked at them, their yield stands here, with what fails and why.";
  return h("div.empty", {}, h("h2", {}, any ? "No run yet" : "No picture yet"), h("p", {}, words));
}

/** @param {Found} found @param {URLSearchParams} asked */
function filters(found, asked) {
  if (!found.run) return [];
  /** @param {string} name @param {string} label @param {string} every @param {[string, string][]} choices */
  const choice = (name, label, every, choices) => {
    const now = asked.get(name) ?? "", known = !now || choices.some(([value]) => value === now);
    /** @type {[string, string][]} */
    const other = known ? [] : [[now, `${label} ${now}`]]; // of which nothing is left under the filters
    return select(
      [["", every], ...choices, ...other],
      now,
      (/** @type {string} */ value) => go({ [name]: value }),
      {
        "aria-label": label,
        data: { key: name },
      },
    );
  };
  /** @param {string} name @param {string} label */
  const day = (name, label) =>
    h("input", {
      type: "date",
      value: asked.get(name) ?? "",
      "aria-label": label,
      title: label,
      data: { key: name },
      max: "2999-12-31",
      onchange: (/** @type {any} */ event) => {
        const { value } = event.target;
        if (!value || value >= "1900") go({ [name]: value }); // of 2026 the first key makes the year 2
      },
    });
  const runs = found.runs.map((
    one,
  ) => /** @type {[string, string]} */ ([
    String(one.run),
    `Run ${one.run}, ${model(one.model)}, ${ago(one.at)}`,
  ]));
  const classes = new Set([...found.classes.map(({ name }) => name), ...asked.getAll("class")]);
  // Of what no board is summed up by, there are no boards here; a column may have got too many values.
  const strange = asked.getAll("data").filter((one) => !found.columns[one.slice(0, one.indexOf("="))]);
  const any = FILTERS.some((name) => asked.has(name));
  return [
    choice("run", "Run", "Newest run", runs),
    choice("group", "Lot", "All lots", found.groups.map((one) => [one || NO_LOT, lotName(one)])),
    h("span.quiet-text", {}, "from"),
    day("since", "From this day"),
    h("span.quiet-text", {}, "to"),
    day("until", "To this day"),
    choice("class", "Class", "All classes", [...classes].sort().map((one) => [one, one])),
    Object.entries(found.columns).map(([name, values]) => column(name, values, asked)),
    strange.length > 0 && h("span.quiet-text", {}, `${strange.join(", ")} is no filter of the overview.`),
    any &&
    h("button.quiet", { onclick: () => go(Object.fromEntries(FILTERS.map((name) => [name, ""]))) }, "Clear"),
  ];
}

/** What a table of boards says of them, column by column. @param {string} name @param {readonly string[]} values @param {URLSearchParams} asked */
function column(name, values, asked) {
  const mine = (/** @type {string} */ one) => one.startsWith(`${name}=`);
  const said = asked.getAll("data"), now = said.find(mine)?.slice(name.length + 1) ?? "";
  return select(
    [["", `Any ${name}`], ...values.map((one) => /** @type {[string, string]} */ ([one, one]))],
    now,
    (/** @type {string} */ value) =>
      go({ data: [...said.filter((one) => !mine(one)), value && `${name}=${value}`] }),
    { "aria-label": name, data: { key: `data ${name}` } },
  );
}

/** The figures that say most, each with its boards. @param {Found} found @param {URLSearchParams} asked */
function told(found, asked) {
  const { boards: of, mistaken, left } = found;
  if (!found.run) return null;
  const { board: one, defect } = nouns(found);
  /** @param {string} words @param {number} number @param {Record<string, string>} more */
  const link = (words, number, more = {}) =>
    h("a", { href: boards(found, asked, more) }, h("b", {}, count(number)), ` ${words}`);
  return [
    of.share !== null &&
    h(
      "span",
      {},
      "Yield ",
      h("b", {}, percent(of.share)),
      ` (95 %: ${percent(of.low ?? 0)} to ${percent(of.high ?? 1)})`,
    ),
    link(of.boards === 1 ? one : `${one}s`, of.boards),
    link("fail", of.failed, { verdict: "fail" }),
    of.asked > 0 && link("left to a person", of.asked, { verdict: "ask" }),
    link("judged by people", of.said, { verdict: "said" }),
    mistaken.at_most !== null &&
    link(
      `of ${many(mistaken.right + mistaken.escapes, `labelled ${defect}`)} escaped, at most ${
        percent(mistaken.at_most)
      } at 95 %`,
      mistaken.escapes,
      { mark: "escape", defect: asked.get("class") ?? "" },
    ),
    left > 0 && h("span.warn", {}, `Adding up, ${many(left, "part")} left`),
  ];
}

/** What is to be done next: the first of it in the accent. @param {Found} found @param {URLSearchParams} asked */
function next(found, asked) {
  const { states, run } = found, of = project();
  const fresh = states.new ?? 0, all = Object.values(states).reduce((sum, one) => sum + one, 0);
  const open = found.boards.boards - found.boards.said;
  const { group } = narrowed(asked);
  /** @type {[boolean, string, Record<string, any>][]} */
  const steps = [
    [!all, "Add pictures", { tab: "projects" }],
    [run > 0 && open > 0, `Review ${count(open)}`, { tab: "review", run, ...narrowed(asked) }],
    [all > 0 && !run, `Detect on ${many(all, "image")}`, { tab: "detect" }],
    [fresh > 0, `Label ${many(fresh, "new image")}`, { tab: "annotate", state: "new", group }],
    [!!(states.done ?? 0) && !found.models.length, "Train a model", { tab: "train" }],
  ];
  return steps.filter(([holds]) => holds).slice(0, 2).map(([, words, more], at) =>
    h(`a.button${at ? "" : ".primary"}`, { href: address({ project: of, ...more }) }, words)
  );
}
