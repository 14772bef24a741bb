/** Train: choose a family and a start, see what stands in the way, retrain, watch the curves. */

import { Beside } from "./beside.js";
import { DEVICES } from "../../common/devices.js";
import { field, fill, h, select } from "../../common/dom.js";
import { get, send, token } from "../../common/net.js";
import { Glimpse } from "./glimpse.js";
import { knobs } from "./knobs.js";
import { nothingChosen } from "../../common/nothing.js";
import { Panel, shown } from "./panel.js";
import { Reading } from "../../common/reading.js";
import { refused, report } from "./report.js";
import { Searches } from "./searches.js";
import { attempt, go, page, poll, project, query, toast } from "../../common/site.js";
import { span } from "../../common/words.js";

/** @type {[string, string, number][]} */
const NUMBERS = [
  ["epochs", "Epochs", 1],
  ["image_size", "Image size", 32],
  ["batch", "Batch", 1],
];
/** @type {[string, string, number][]} */
const ADVANCED = [
  ["workers", "Processes", 1],
  ["memory_gb", "Memory of each, GB, 0: any", 1],
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

/** @typedef {import("../../common/answers.js").TrainingChoice} Training */
/** @typedef {import("../../common/answers.js").JobCard} Job */
/** @typedef {import("./searches.js").Values} Values what the form asks for */

class Train {
  /** @param {HTMLElement} element */
  constructor(element) {
    this.element = element;
    this.reading = new Reading("train", element, "forms");
    this.project = "";
    this.drawn = ""; // the project that stands there
    /** @type {Training} */
    this.found = { families: [], models: [], jobs: [], grows: false, goldens: false };
    /** @type {Values} */
    this.values = { family: "", start: "", parameters: {} };
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
    this.beside = new Beside();
    this.glimpse = new Glimpse(() => this.values, () => this.base());
    this.searches = new Searches(() => this.values, () => this.base(), () => this.load());
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
      this.searches.element,
      this.run,
      this.beside.element,
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

  /** @param {Training} found */
  async take(found) {
    const fresh = this.drawn !== this.project;
    this.drawn = this.project;
    this.found = found;
    if (fresh) this.panels.clear();
    if (fresh) this.beside.forget();
    if (fresh) this.draw();
    this.button.disabled = false;
    await Promise.all([this.look(), this.show(), this.searches.load(fresh)]);
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
    this.knobs = h("div");
    const parts = [this.start, this.fields, this.more, this.knobs, this.glimpse.element];
    fill(this.form, field("Family", this.family), parts);
    this.choose(this.values.family);
  }

  /** Fill the form with the defaults of a family. @param {string} name */
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
      family.needs_golden ? this.partners(family) : starts,
      "",
      (value) => ((this.values.start = value), this.look()),
    );
    fill(
      this.start,
      field(family.behind ? "Behind" : name === "golden" ? "Together with" : "Start from", chosen),
      name === "golden" && this.grow(),
    );
    /** @param {[string, string, number][]} list */
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
    this.values.seed = undefined; // as the empty field says
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
    const device = field(
      "Computes on",
      select(DEVICES, String(this.values.parameters.device ?? "auto"), (value) => this.set("device", value)),
    );
    fill(this.more.lastElementChild, device, known(ADVANCED), field("Seed", seed));
    this.values.knobs = {};
    fill(this.knobs, knobs(family.knobs, (values) => (this.values.knobs = values, this.look())));
    this.more.hidden = family.needs_golden;
    this.glimpse.chosen(!family.needs_golden);
    this.searches.chosen();
  }

  /** The detectors that a golden model may ask, and behind which a second stage stands.
   * @param {import("../../common/answers.js").FamilyCard} family */
  partners(family) {
    const found = this.found.models.filter((one) =>
      ["yolo", "faster_rcnn"].includes(one.family) && one.state === "ready"
    );
    if (!found.length) {
      return [[
        "",
        family.behind ? "There is no detector yet" : "The labels alone: there is no detector yet",
      ]];
    }
    const named = [
      ["", "The best detector"],
      ...found.map((one) => [one.name, `${one.name} (${one.family})`]),
    ];
    return family.behind ? named : [...named, ["scratch", "The labels alone"]];
  }

  /** Whether the golden board learns by itself. */
  grow() {
    const box = h("input", { type: "checkbox", checked: this.found.grows, class: "for-labeler" });
    box.addEventListener("change", () =>
      attempt(async () => {
        /** @type {import("../../common/answers.js").Grow} */
        const answer = await send("PUT", `${this.base()}/training/grow`, { on: box.checked });
        this.found.grows = answer.on;
        toast(
          answer.on
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

  /** @param {[string, string, number]} one its key, its words and its step */
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

  /** @param {string} key @param {string | number | undefined} value */
  set(key, value) {
    if (value === undefined) delete this.values.parameters[key];
    else this.values.parameters[key] = value;
    this.look();
  }

  async look() {
    const wanted = JSON.stringify(this.values);
    this.glimpse.renew();
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
      /** @type {import("../../common/answers.js").BegunTraining} */
      const made = await send("POST", `${this.base()}/training`, body).finally(
        () => (this.button.disabled = false),
      );
      toast(`Training of ${made.model.name} is queued.`, "done");
      go({ job: "" }, { replace: true });
      await this.load();
    });
  }

  async follow() {
    if (!this.project || !this.drawn) return false;
    /** @type {Training | null} */
    const found = await get(this.address()).catch(() => null);
    if (!found) return false;
    /** @param {Training} all */
    const open = (all) =>
      all.jobs.filter((job) => ["queued", "running", "paused"].includes(job.state)).length;
    const ended = open(found) < open(this.found);
    this.found = found;
    // How long the next takes is known once one has ended.
    if (ended) await this.look();
    await this.searches.load(false);
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
        this.panels.get(job.id)?.show(job, this.found.models.find((one) => one.job === job.id), this.project)
      ),
    );
    await this.beside.show(this.found.models);
  }
}
