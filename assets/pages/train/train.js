/** Train: choose a family and a start, see what stands in the way, retrain, watch the curves. */

import { Curves } from "./curves.js";
import { field, fill, h, redraw, say, select } from "../../shared/dom.js";
import { Log, sure } from "../jobs/jobs.js";
import { get, send, token } from "../../shared/net.js";
import { nothingChosen } from "../../shared/nothing.js";
import { Reading } from "../../shared/reading.js";
import { address, attempt, go, page, poll, project, query, toast } from "../../shared/site.js";
import { count, span } from "../../shared/words.js";
import { best, worthless } from "../detect/worth.js";

const NUMBERS = [
  ["epochs", "Epochs", 1],
  ["image_size", "Image size", 32],
  ["batch", "Batch", 1],
];
const ADVANCED = [
  ["workers", "Processes", 1],
  ["patience", "Patience, epochs", 1],
  ["learning_rate", "Learning rate, 0: automatic", 0.0001],
];

/** @param {HTMLElement} element */
export function mount(element) {
  const train = new Train(element);
  element.removeAttribute("aria-busy");
  page("train", () => train.load());
  poll("train", 2, ["jobs", "models"], () => train.follow());
}

class Train {
  constructor(element) {
    this.element = element;
    this.reading = new Reading("train", element, "forms");
    this.project = "";
    this.form = h("div.inside");
    this.check = h("div.inside");
    this.run = h("div.at-work");
    /** @type {Map<number, Panel>} the trainings that are looked at, by the number of their job */
    this.panels = new Map();
    this.button = h(
      "button.primary.for-labeler",
      { disabled: true, onclick: () => this.retrain() },
      "Retrain",
    );
    this.pace = h("span.quiet-text");
    this.sheet = h(
      "div.sheet",
      {},
      h("h1", {}, "Train"),
      h(
        "div.two",
        {},
        h(
          "section.panel.for-labeler",
          {},
          h("header", {}, h("h2", {}, "What to train")),
          this.form,
          h("div.inside", {}, h("div.row", {}, this.button, this.pace)),
        ),
        h("section.panel", {}, h("header", {}, h("h2", {}, "Before it starts")), this.check),
      ),
      this.run,
    );
  }

  async load() {
    if (!project()) {
      return this.reading.rest(),
        fill(this.element, nothingChosen("Train", "A model learns from the labelled images of one project."));
    }
    if (this.element.firstChild !== this.sheet) fill(this.element, this.sheet);
    const fresh = this.project !== project();
    if (fresh) this.button.disabled = true; // there is nothing yet that a click could send
    this.project = project();
    return this.reading.show(this.project, () => get(this.address()), (found) => this.take(found));
  }

  async take(found) {
    const fresh = this.drawn !== this.project;
    this.drawn = this.project;
    this.found = found;
    if (fresh) this.panels.clear();
    if (fresh || !this.values) this.draw();
    this.button.disabled = false;
    await Promise.all([this.look(), this.show()]);
  }

  base() {
    return `/api/projects/${encodeURIComponent(this.project)}`;
  }

  /** Where the form and the trainings are read; a link may mean one that is not among the newest. */
  address() {
    const job = Number(query().get("job")) || 0;
    return `${this.base()}/training${job ? `?job=${job}` : ""}`;
  }

  draw() {
    const families = this.found.families;
    const able = families.find((one) => !one.needs_golden || this.found.goldens) ?? families[0];
    this.values = { family: able?.name ?? "", start: "", parameters: {} };
    this.family = select(
      families.map((one) => [one.name, one.title]),
      this.values.family,
      (name) => (this.choose(name), this.look()),
    );
    this.fields = h("div.form-grid");
    this.more = h(
      "details",
      {},
      h("summary", {}, "Advanced"),
      h("div.form-grid", { style: { marginTop: "8px" } }),
    );
    this.start = h("span");
    fill(this.form, field("Family", this.family), this.start, this.fields, this.more);
    this.choose(this.values.family);
  }

  /** Fill the form with the defaults of a family. */
  choose(name) {
    const family = this.found.families.find((one) => one.name === name);
    if (!family) return;
    this.values.family = name;
    this.values.parameters = { ...family.defaults };
    const models = this.found.models.filter((one) => one.family === name && one.state === "ready");
    const starts = [
      ["", "The family's own start weights"],
      ...models.map((one) => [one.name, `${one.name}${one.champion ? ", the champion" : ""}`]),
      ["scratch", "Nothing: from scratch"],
    ];
    this.values.start = "";
    const chosen = select(
      name === "golden" ? this.partners() : starts,
      "",
      (value) => ((this.values.start = value), this.look()),
    );
    fill(
      this.start,
      field(name === "golden" ? "Together with" : "Start from", chosen),
      name === "golden" && this.grow(),
    );
    const known = (list) =>
      list.filter(([key]) => list === ADVANCED || key in family.defaults).map((one) => this.number(one));
    const variants = family.variants.length > 0 &&
      field(
        "Size of the network",
        select(
          family.variants.map((one) => [one, one]),
          family.defaults.variant,
          (value) => this.set("variant", value),
        ),
      );
    fill(this.fields, variants, known(NUMBERS));
    this.fields.hidden = this.fields.childElementCount === 0;
    const seed = h("input", {
      type: "number",
      min: 0,
      placeholder: "the champion's",
      title:
        "Decides which images are held out, and all chance. Without one it is the champion's, so that both are judged by the same images; the first model's is by chance.",
    });
    seed.addEventListener(
      "change",
      () => (this.values.seed = seed.value === "" ? undefined : Number(seed.value), this.look()),
    );
    fill(this.more.lastElementChild, known(ADVANCED), field("Seed", seed));
    this.more.hidden = name === "golden";
  }

  /** The detectors that a golden model may ask. */
  partners() {
    const found = this.found.models.filter((one) =>
      ["yolo", "faster_rcnn"].includes(one.family) && one.state === "ready"
    );
    if (!found.length) return [["", "The labels alone: there is no detector yet"]];
    return [["", "The best detector"], ...found.map((one) => [one.name, `${one.name} (${one.family})`]), [
      "scratch",
      "The labels alone",
    ]];
  }

  /** Whether the golden board learns by itself. */
  grow() {
    const box = h("input", { type: "checkbox", checked: this.found.grows, class: "for-labeler" });
    box.addEventListener("change", () =>
      attempt(async () => {
        const answer = await send("PUT", `${this.base()}/training/grow`, { on: box.checked });
        this.found.grows = answer.grows;
        toast(
          answer.grows
            ? "The golden board learns after every tenth labelled image."
            : "The golden board learns when you say so.",
          "done",
        );
      }));
    return h(
      "label.row",
      {
        style: { marginTop: "8px" },
        title: "A new model after every tenth image that is done, and fresh proposals for those still new",
      },
      box,
      "Learn by itself after every tenth labelled image",
    );
  }

  number([key, words, step]) {
    const input = h("input", {
      type: "number",
      step,
      min: 0,
      value: this.values.parameters[key] ?? "",
      placeholder: "default",
    });
    input.addEventListener(
      "change",
      () => this.set(key, input.value === "" ? undefined : Number(input.value)),
    );
    return field(words, input);
  }

  set(key, value) {
    if (value === undefined) delete this.values.parameters[key];
    else this.values.parameters[key] = value;
    this.look();
  }

  async look() {
    const wanted = JSON.stringify(this.values);
    const found = await attempt(() =>
      send("POST", `${this.base()}/training/check`, this.values).catch(refused)
    );
    if (!found || wanted !== JSON.stringify(this.values)) return;
    this.button.disabled = found.problems.length > 0;
    this.pace.textContent = found.seconds
      ? `about ${span(found.seconds)}`
      : found.problems.length
      ? ""
      : "how long it takes is known after the first training";
    fill(this.check, report(found, this.project));
  }

  retrain() {
    return attempt(async () => {
      this.button.disabled = true;
      const body = { ...this.values, key: token() };
      const made = await send("POST", `${this.base()}/training`, body).finally(
        () => (this.button.disabled = false),
      );
      toast(`Training of ${made.model.name} is queued.`, "done");
      go({ job: "" }, { replace: true });
      await this.load();
    });
  }

  async follow() {
    if (!this.project || !this.found) return false;
    const found = await get(this.address()).catch(() => null);
    if (!found) return false;
    const open = (all) =>
      all.jobs.filter((job) => ["queued", "running", "paused"].includes(job.state)).length;
    const ended = open(found) < open(this.found);
    this.found = found;
    // How long the next takes is known once one has ended.
    if (ended) await this.look();
    return this.show();
  }

  /** Each training that has not ended has a panel, and the one that a link or the eye is at. */
  async show() {
    const jobs = shown(this.found.jobs, Number(query().get("job")), this.panels);
    this.panels = new Map(
      jobs.map((job) => [
        job.id,
        this.panels.get(job.id) ?? new Panel(job.id, () => this.follow(), () => this.found),
      ]),
    );
    fill(this.run, [...this.panels.values()].map((one) => one.element));
    await Promise.all(
      jobs.map((job) =>
        this.panels.get(job.id).show(job, this.found.models.find((one) => one.job === job.id), this.project)
      ),
    );
  }
}

/** The trainings to show: the one that is meant, what runs, what waits, and the last one seen to end. */
function shown(jobs, meant, before) {
  const order = ["running", "paused", "queued"];
  const open = jobs.filter((job) => order.includes(job.state)).sort((a, b) =>
    order.indexOf(a.state) - order.indexOf(b.state) || a.id - b.id
  );
  const linked = jobs.find((job) => job.id === meant);
  const ended = jobs.find((job) => before.has(job.id) && !open.includes(job));
  const wanted = new Set([linked, ...open, ended].filter(Boolean));
  return wanted.size ? [...wanted] : jobs.slice(0, 1);
}

/** One training: how far it is, what may be done with it, its curves and its log. */
class Panel {
  /** @param {number} id of the job @param {() => Promise<void>} then after a button was pressed @param {() => any} known the project's models, and whether it has goldens */
  constructor(id, then, known) {
    this.then = then;
    this.known = known;
    this.log = new Log(id);
    this.curves = new Curves();
    this.title = h("h2");
    this.actions = h("span.row");
    this.status = h("div.inside");
    const story = h(
      "details",
      { style: { padding: "0 14px 14px" } },
      h("summary", {}, "Log"),
      this.log.element,
    );
    this.element = h(
      "section.panel",
      { data: { job: String(id) } },
      h("header", {}, this.title, this.actions),
      this.status,
      this.curves.element,
      story,
    );
  }

  async show(job, model, of) {
    const title = `${job.title}${model ? ` of ${model.name}` : ""}`;
    say(this.title, title);
    this.element.setAttribute("aria-label", title);
    redraw(
      this.status,
      [job, model, of, best(this.known().models, this.known().goldens)],
      () => this.told(job, model, of),
    );
    offer(this.actions, job, this.then);
    for (const one of await this.log.load()) if (one.data.epoch) this.curves.add(one.data);
  }

  told(job, model, of) {
    return [
      progress(job),
      job.error && h("p.bad", {}, job.error),
      job.result.verdict && h("p", {}, job.result.verdict),
      job.state === "done" && model && this.next(model, of),
    ];
  }

  /** What is best is offered; a model that finds nothing is only looked at. */
  next(model, of) {
    const { models, goldens } = this.known();
    const name = best(models, goldens);
    const reigns = name !== model.name && models.find((one) => one.name === name)?.champion;
    const words = name === "golden" ? "the golden board" : `${name}${reigns ? ", the champion" : ""}`;
    return [
      worthless(model) &&
      h(
        "p.warn",
        {},
        `${model.name} finds next to nothing of what was held out. More labels or more epochs would help.`,
      ),
      h(
        "div.row",
        {},
        name &&
          h("a.button.primary.for-labeler", {
            href: address({ project: of, tab: "detect", model: name }),
            data: { key: "detect" },
          }, `Detect with ${words}`),
        h("a.button", {
          href: address({ project: of, tab: "models", model: model.name }),
          data: { key: "look" },
        }, `Look at ${model.name}`),
      ),
    ];
  }
}

/** How far a job is: the bar, the sentence, the time left. */
export function progress(job) {
  const share = job.state === "done" ? 1 : job.progress;
  const left = job.state === "running" && job.needs ? `${span(job.needs)} left` : "";
  const words = {
    queued: waiting(job),
    paused: "Paused",
    done: "Done",
    failed: "Failed",
    cancelled: "Cancelled",
  }[job.state] ?? job.message;
  return [
    h(`div.bar${job.state === "done" ? ".done" : ""}`, {
      role: "progressbar",
      "aria-valuenow": Math.round(100 * share),
      "aria-valuemin": 0,
      "aria-valuemax": 100,
    }, h("i", { style: { width: `${100 * share}%` } })),
    h(
      "div.spread",
      {},
      h("span", {}, words),
      h(
        "span.number.quiet-text",
        {},
        [["running", "paused"].includes(job.state) && `${Math.round(100 * share)} %`, left].filter(Boolean)
          .join(" · "),
      ),
    ),
  ];
}

/** The place in the queue, when it starts and how long it takes, as far as that is known. */
function waiting(job) {
  const next = job.behind ? `Waiting until job ${job.behind} has ended` : "Waiting for a worker";
  const place = job.position > 1 ? `Waiting, place ${job.position}` : next;
  const begins = job.waits && `starts in about ${span(job.waits)}`;
  return [place, begins, job.needs && `takes about ${span(job.needs)}`].filter(Boolean).join(" · ");
}

/** Pause, resume, cancel, retry, drawn again when others are due. @param {HTMLElement} place */
export function offer(place, job, then) {
  redraw(place, [job.id, job.state, job.wish], () => buttons(job, then));
}

function buttons(job, then) {
  if (job.wish) return h("span.quiet-text", {}, "Stopping …");
  const does = {
    running: [job.kind === "train" && "pause", "cancel"],
    queued: ["cancel"],
    paused: ["resume", "cancel"],
    failed: ["retry"],
    cancelled: ["retry"],
  }[job.state] ?? [];
  return does.filter(Boolean).map((verb) =>
    h(`button.for-labeler${verb === "cancel" ? ".danger.apart" : ""}`, {
      data: { key: verb },
      onclick: () =>
        attempt(async () =>
          (await sure(job, verb)) && (await send("POST", `/api/jobs/${job.id}/${verb}`), await then())
        ),
    }, verb[0].toUpperCase() + verb.slice(1))
  );
}

/** What cannot even be checked cannot be trained. */
function refused(error) {
  if (error.status !== 400 && error.status !== 422) throw error;
  return { problems: [error.message], warnings: [], images: {}, boxes: {} };
}

function report(found, of) {
  const total = Object.values(found.images).reduce((sum, number) => sum + number, 0);
  const rows = Object.entries(found.boxes).map(([name, splits]) =>
    h(
      "tr",
      {},
      h("td", {}, h("a", { href: address({ project: of, tab: "browse", class: name }) }, name)),
      ["train", "val", "test"].map((split) =>
        h(`td.number${splits[split] ? "" : ".warn"}`, {}, count(splits[split] ?? 0))
      ),
    )
  );
  return [
    found.problems.map((one) => h("p.bad", {}, one)),
    found.warnings.map((one) => h("p.warn", {}, one)),
    !found.problems.length && !found.warnings.length && h("p.good", {}, "Nothing stands in the way."),
    total > 0 &&
    h(
      "p.quiet-text.number",
      {},
      `${count(found.images.train ?? 0)} images to learn from, ${count(found.images.val ?? 0)} to validate, ${
        count(found.images.test ?? 0)
      } held out.`,
    ),
    rows.length > 0 &&
    h(
      "table",
      {},
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("th", {}, "Class"),
          ["Train", "Validation", "Test"].map((name) => h("th.number", {}, name)),
        ),
      ),
      h("tbody", {}, rows),
    ),
  ];
}
