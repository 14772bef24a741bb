/** Jobs: what runs, waits and is done, who asked, how long still; the log; the cluster. */

import { sure, verbs } from "./actions.js";
import { cluster, used } from "./cluster.js";
import { fill, h, redraw, select } from "../../common/dom.js";
import { Log } from "./log.js";
import { get, send } from "../../common/net.js";
import { Reading } from "../../common/reading.js";
import { state, times, what, WORDS } from "./row.js";
import { warehouse } from "./warehouse.js";
import { attempt, page, poll, project } from "../../common/site.js";

const USED = 60_000; // milliseconds between two looks at the last day

/** @param {HTMLElement} element */
export function mount(element) {
  const jobs = new Jobs(element);
  element.removeAttribute("aria-busy");
  page("jobs", () => jobs.load());
  poll("jobs", 2, ["jobs"], () => jobs.load());
}

/** @typedef {import("../../common/answers.js").JobCard} Job */
/** @typedef {import("../../common/answers.js").JobList} Listing */
/** @typedef {import("../../common/answers.js").ClusterCard} Cluster */
/** @typedef {import("../../common/answers.js").WarehouseCard} Warehouse */

class Jobs {
  /** @param {HTMLElement} element */
  constructor(element) {
    /** @type {Map<number, Log>} the logs that stand open, by the number of their job */
    this.opened = new Map();
    /** @type {Record<string, string>} the names of projects, by their number */
    this.names = {};
    this.offered = "";
    /** @type {Record<string, string>} */
    this.filter = { project: "", kind: "", author: "", state: "" };
    this.open = h("div");
    this.done = h("div");
    this.machines = h("div");
    this.used = h("div");
    this.looked = -Infinity; // when it was asked who used them
    this.cluster = h("div.inside", {}, this.machines, this.used);
    this.warehouse = h("section.panel", { hidden: true });
    this.lists = h(
      "div",
      { style: { display: "grid", gap: "20px" } },
      panel("Running and waiting", this.open),
      panel("Finished", this.done),
    );
    this.filters = h("span.row");
    this.reading = new Reading("jobs", element);
    fill(
      element,
      h(
        "div.sheet",
        {},
        h("div.spread", {}, h("h1", {}, "Jobs"), this.filters),
        this.lists,
        panel("Cluster", this.cluster),
        this.warehouse,
      ),
    );
  }

  async load() {
    const chosen = new URLSearchParams(Object.entries(this.filter).filter(([, value]) => value));
    if (this.filter.project) chosen.set("project", project());
    return this.reading.show(
      "jobs",
      () => Promise.all([get(`/api/jobs?${chosen}`), get("/api/jobs/cluster"), get("/api/warehouse")]),
      (found) => this.take(found),
    );
  }

  /** @param {[Listing, Cluster, Warehouse]} found */
  async take([jobs, machines, stands]) {
    this.offer(jobs);
    this.names = jobs.projects;
    this.list(
      this.open,
      jobs.open,
      this.filtered()
        ? "Nothing of this kind runs or waits."
        : "Nothing runs or waits. Retrain, Detect and Import put work here.",
    );
    this.list(
      this.done,
      jobs.done,
      this.filtered() ? "Nothing of this kind has ended." : "Nothing is done yet.",
    );
    fill(this.machines, cluster(machines));
    await this.use();
    warehouse(this.warehouse, stands, () => this.load());
    await Promise.all([...this.opened.values()].map((log) => log.load()));
  }

  /** Who used the machines, which changes slowly. */
  async use() {
    if (Date.now() - this.looked < USED) return;
    this.looked = Date.now();
    /** @type {import("../../common/answers.js").DayOfUse[]} */
    const found = await get("/api/jobs/use");
    const open = this.used.querySelector("details")?.open ?? false;
    redraw(this.used, found, () => used(found, open));
  }

  filtered() {
    return Object.values(this.filter).some(Boolean);
  }

  /** The filters, drawn again only when there is more to choose from. @param {Listing} listing */
  offer({ kinds, authors }) {
    const offered = JSON.stringify([kinds, authors, project()]);
    if (offered === this.offered) return;
    this.offered = offered;
    /** @param {string} name @param {string} all @param {string[][]} choices */
    const filter = (name, all, choices) =>
      select(
        [["", all], ...choices],
        this.filter[name],
        (value) => ((this.filter[name] = value), this.load()),
        {
          "aria-label": all,
          title: all === "All kinds" ? "Tries of pictures are listed where they are chosen" : "",
        },
      );
    fill(
      this.filters,
      filter("kind", "All kinds", Object.entries(kinds)),
      filter("state", "All states", Object.entries(WORDS)),
      filter("author", "Everybody", authors.map((one) => [one, one])),
      project() && filter("project", "All projects", [["this", "This project"]]),
    );
  }

  /** @param {HTMLElement} place @param {Job[]} jobs @param {string} nothing */
  list(place, jobs, nothing) {
    if (place.contains(document.activeElement) && document.activeElement?.matches(":active")) return;
    const focused = document.activeElement?.getAttribute("data-key");
    fill(place, jobs.length ? jobs.map((job) => this.row(job)) : h("p.nothing", {}, nothing));
    if (focused) /** @type {HTMLElement|null} */ (place.querySelector(`[data-key="${focused}"]`))?.focus();
  }

  /** @param {Job} job */
  row(job) {
    const opened = this.opened.get(job.id);
    return h(
      "div",
      {},
      h(
        "div.job",
        { data: { job: String(job.id) } },
        h("span.number.quiet-text", {}, `#${job.id}`),
        what(job, job.project === null ? undefined : this.names[job.project]),
        state(job),
        h("span.quiet-text.number", {}, times(job)),
        h(
          "span.row",
          { style: { justifyContent: "flex-end" } },
          this.actions(job),
          job.result.file && h("a.button", { href: `/api/jobs/${job.id}/file`, download: "" }, "Download"),
          h("button.quiet", {
            data: { key: `log-${job.id}` },
            "aria-expanded": String(Boolean(opened)),
            onclick: () => this.toggle(job),
          }, opened ? "Hide log" : "Log"),
        ),
      ),
      opened?.element,
    );
  }

  /** @param {Job} job */
  actions(job) {
    if (job.wish) return h("span.quiet-text", {}, job.wish === "pause" ? "Pausing …" : "Cancelling …");
    return verbs(job).map((verb) =>
      h(`button.for-labeler${verb === "cancel" ? ".danger.apart" : ""}`, {
        data: { key: `${verb}-${job.id}` },
        onclick: () => this.act(job, verb),
      }, verb[0].toUpperCase() + verb.slice(1))
    );
  }

  /** @param {Job} job @param {string} verb */
  act(job, verb) {
    return attempt(async () => {
      if (!(await sure(job, verb))) return;
      await send("POST", `/api/jobs/${job.id}/${verb}`);
      await this.load();
    });
  }

  /** @param {Job} job */
  toggle(job) {
    if (!this.opened.delete(job.id)) this.opened.set(job.id, new Log(job.id));
    return this.load();
  }
}

/** @param {string} title @param {any} content */
function panel(title, content) {
  return h("section.panel", {}, h("header", {}, h("h2", {}, title)), content);
}
