/** Jobs: what runs, waits and is done, who asked, how long still; the log; the cluster. */

import { ask } from "../../shared/dialog.js";
import { fill, h, select } from "../../shared/dom.js";
import { get, send } from "../../shared/net.js";
import { Reading } from "../../shared/reading.js";
import { address, attempt, page, poll, project } from "../../shared/site.js";
import { ago, count, many, share, span } from "../../shared/words.js";

const WORDS = {
  queued: "Waiting",
  running: "Running",
  paused: "Paused",
  done: "Done",
  failed: "Failed",
  cancelled: "Cancelled",
};
const FILE = "Show the log file";
const COLORS = { done: "good", failed: "bad", cancelled: "warn", running: "", queued: "", paused: "warn" };

/** @param {HTMLElement} element */
export function mount(element) {
  const jobs = new Jobs(element);
  element.removeAttribute("aria-busy");
  page("jobs", () => jobs.load());
  poll("jobs", 2, ["jobs"], () => jobs.load());
}

class Jobs {
  constructor(element) {
    this.opened = new Map();
    this.filter = { project: "", kind: "", author: "", state: "" };
    this.open = h("div");
    this.done = h("div");
    this.cluster = h("div.inside");
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
      ),
    );
  }

  async load() {
    const chosen = new URLSearchParams(Object.entries(this.filter).filter(([, value]) => value));
    if (this.filter.project) chosen.set("project", project());
    return this.reading.show(
      "jobs",
      () => Promise.all([get(`/api/jobs?${chosen}`), get("/api/jobs/cluster")]),
      (found) => this.take(found),
    );
  }

  async take([jobs, workers]) {
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
    fill(this.cluster, cluster(workers));
    await Promise.all([...this.opened.values()].map((log) => log.load()));
  }

  filtered() {
    return Object.values(this.filter).some(Boolean);
  }

  /** The filters, drawn again only when there is more to choose from. */
  offer({ kinds, authors }) {
    const offered = JSON.stringify([kinds, authors, project()]);
    if (offered === this.offered) return;
    this.offered = offered;
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

  list(place, jobs, nothing) {
    if (place.contains(document.activeElement) && document.activeElement?.matches(":active")) return;
    const focused = document.activeElement?.getAttribute("data-key");
    fill(place, jobs.length ? jobs.map((job) => this.row(job)) : h("p.nothing", {}, nothing));
    if (focused) /** @type {HTMLElement|null} */ (place.querySelector(`[data-key="${focused}"]`))?.focus();
  }

  row(job) {
    const opened = this.opened.get(job.id);
    return h(
      "div",
      {},
      h(
        "div.job",
        { data: { job: String(job.id) } },
        h("span.number.quiet-text", {}, `#${job.id}`),
        what(job, this.names[job.project]),
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

  actions(job) {
    const does = {
      running: ["pause", "cancel"],
      queued: ["cancel"],
      paused: ["resume", "cancel"],
      failed: ["retry"],
      cancelled: ["retry"],
      done: [],
    }[job.state];
    if (job.wish) return h("span.quiet-text", {}, job.wish === "pause" ? "Pausing …" : "Cancelling …");
    return does.filter((verb) => verb !== "pause" || job.kind === "train").map((verb) =>
      h(`button.for-labeler${verb === "cancel" ? ".danger.apart" : ""}`, {
        data: { key: `${verb}-${job.id}` },
        onclick: () => this.act(job, verb),
      }, verb[0].toUpperCase() + verb.slice(1))
    );
  }

  act(job, verb) {
    return attempt(async () => {
      if (!(await sure(job, verb))) return;
      await send("POST", `/api/jobs/${job.id}/${verb}`);
      await this.load();
    });
  }

  toggle(job) {
    if (!this.opened.delete(job.id)) this.opened.set(job.id, new Log(job.id));
    return this.load();
  }
}

/** What a training has learned so far is not thrown away by a slip of the hand. @param {any} job @param {string} verb */
export async function sure(job, verb) {
  const begun = job.kind === "train" && ["running", "paused"].includes(job.state);
  if (verb !== "cancel" || !begun) return true;
  return ask(
    `Cancel ${job.title.toLowerCase()} ${job.id}`,
    "Cancel the training",
    h("p", {}, "What it has learned so far is lost. Pause keeps it."),
    { danger: true, leave: "Let it go on" },
  );
}

/** The events of a job, read on from where the last reading ended; on demand all that it printed. */
export class Log {
  constructor(id) {
    this.id = id;
    this.seq = 0;
    this.told = h("div.log", { tabIndex: 0, role: "log", "aria-label": `Log of job ${id}` });
    this.file = h("pre.log", { tabIndex: 0, hidden: true, "aria-label": `Log file of job ${id}` });
    this.turner = h("button.quiet", {
      title: "The end of the log file, with what the libraries have printed",
      onclick: () => this.turn(),
    }, FILE);
    this.element = h("div.logs", {}, this.told, this.file, this.turner);
  }

  /** Between the story and the file. */
  turn() {
    this.told.hidden = this.file.hidden;
    this.file.hidden = !this.file.hidden;
    this.turner.textContent = this.file.hidden ? FILE : "Show what happened";
    return this.load();
  }

  async read() {
    const { text } = await get(`/api/jobs/${this.id}/log`).catch(() => ({ text: this.file.textContent }));
    follow(
      this.file,
      () => (this.file.textContent = text ||
        "There is no log file here: it has printed nothing yet, or runs on another machine."),
    );
  }

  async load() {
    const news = await get(`/api/jobs/${this.id}/events?since=${this.seq}`).catch(() => []);
    follow(this.told, () => news.forEach((one) => this.tell(one)));
    if (!this.file.hidden) await this.read();
    return news;
  }

  tell(one) {
    this.seq = Math.max(this.seq, one.seq);
    if (one.text) {
      this.told.append(
        h(`div.${one.level}`, {}, `${new Date(one.at).toLocaleTimeString("en-GB")}  ${one.text}`),
      );
    }
  }
}

/** Change a log; who reads its end goes on with it. */
function follow(log, change) {
  const atEnd = log.scrollTop + log.clientHeight >= log.scrollHeight - 8;
  change();
  if (atEnd) log.scrollTop = log.scrollHeight;
}

function panel(title, content) {
  return h("section.panel", {}, h("header", {}, h("h2", {}, title)), content);
}

function what(job, of) {
  const said = job.error || outcome(job) || job.message;
  const href = { train: { tab: "train", job: job.id }, detect: { tab: "review", run: job.id } }[job.kind];
  const name = href && of
    ? h("a", { href: address({ project: of, ...href }) }, job.title)
    : h("b", {}, job.title);
  return h(
    "span.what",
    { title: said },
    name,
    `${of ? ` in ${of}` : ""} by ${job.author || "nobody"}`,
    h(`small${job.error ? ".bad" : ""}`, {}, said),
  );
}

function outcome(job) {
  const found = job.result;
  if (job.state !== "done") return "";
  if (found.verdict || found.refused) return found.verdict || found.refused;
  if (found.per_class) {
    return `${found.model} on ${many(found.images, "image")} (${found.split}): ${
      found.accuracy === undefined
        ? `mAP ${share(found.map)} at IoU ${share(found.iou, 2)}`
        : `accuracy ${share(found.accuracy)}`
    }`;
  }
  if (found.detections !== undefined) {
    return `${many(found.detections, "detection")} in ${many(found.images, "image")}, ${
      count(found.images_per_second)
    } images/s`;
  }
  if (found.boxes !== undefined) {
    return `${many(found.images, "image")}, ${many(found.boxes, "box", "boxes")}`;
  }
  return "";
}

function state(job) {
  const percent = Math.round(100 * job.progress);
  return h(
    "span",
    { style: { display: "grid", gap: "4px" } },
    h(
      "span.row.spread",
      {},
      h(`span.${COLORS[job.state] || "plain"}`, {}, WORDS[job.state]),
      ["running", "paused"].includes(job.state) && h("span.number", {}, `${percent} %`),
    ),
    ["running", "paused"].includes(job.state) &&
      h("div.bar", {
        role: "progressbar",
        "aria-valuenow": percent,
        "aria-valuemin": 0,
        "aria-valuemax": 100,
      }, h("i", { style: { width: `${percent}%` } })),
  );
}

function times(job) {
  if (job.state === "running") {
    return job.needs === null || job.needs === undefined ? "just begun" : `${span(job.needs)} left`;
  }
  if (job.state === "queued") {
    return job.waits
      ? `starts in about ${span(job.waits)}`
      : job.position > 1
      ? `place ${job.position}`
      : job.behind
      ? `next, after #${job.behind}`
      : "next";
  }
  // Of several attempts the time of the last alone is known.
  if (job.finished && job.started && job.attempt === 1) {
    return `${ago(job.finished)} · took ${span((Date.parse(job.finished) - Date.parse(job.started)) / 1000)}`;
  }
  return ago(job.finished || job.at);
}

function cluster(workers) {
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
          one.sees.jobs?.length > 0 && `, carries out ${one.sees.jobs.map((id) => `#${id}`).join(", ")}`,
        ),
      ),
      nodes(one.sees),
    )
  );
}

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

/** Which jobs have processes on a node. */
function carries(node) {
  const ours = Object.entries(node.jobs).map(([job, processes]) =>
    `#${job} (${many(processes, "process", "processes")})`
  );
  const others = node.others ? [many(node.others, "process of others", "processes of others")] : [];
  return [...ours, ...others].join(", ") || "–";
}
