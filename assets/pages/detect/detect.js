/** Detect: run a model over images of the project, and try it on one picture. */

import { carried } from "../../common/carried.js";
import { ASKS, named, SOURCES, TILES, WAYS, worths } from "./choices.js";
import { DEVICES } from "../../common/devices.js";
import { field, fill, h, redraw, say, select } from "../../common/dom.js";
import { FILTERS } from "../browse/filters.js";
import { Foresight } from "./foresee.js";
import { Lot } from "./lot.js";
import { get, send, token } from "../../common/net.js";
import { Reading } from "../../common/reading.js";
import { attempt, page, poll, project, query, site, tab, toast } from "../../common/site.js";
import { nothingChosen } from "../../common/nothing.js";
import { offer } from "../jobs/actions.js";
import { panel, working } from "./atwork.js";
import { progress } from "../jobs/progress.js";
import { table } from "./runs.js";
import { TryOut } from "./tryout.js";
import { best } from "./worth.js";
import { ago, many, share } from "../../common/words.js";

/** @param {HTMLElement} element */
export function mount(element) {
  const detect = new Detect(element);
  element.removeAttribute("aria-busy");
  page("detect", () => detect.load());
  poll("detect", 1.5, ["jobs"], () => detect.follow());
}

/** @typedef {import("../../common/answers.js").JobCard} Job */
/** @typedef {import("../../common/answers.js").DetectionChoice} Detecting */
/** @typedef {import("./atwork.js").Panel} Panel */

class Detect {
  /** @param {HTMLElement} element */
  constructor(element) {
    this.element = element;
    this.project = "";
    /** @type {Detecting} */
    this.found = {
      task: "detect",
      models: [],
      counts: { state: {}, split: {}, golden: {} },
      tiles: "",
      goldens: false,
      lot: null,
      runs: [],
      jobs: [],
    };
    /** @type {number[] | null} the images that Browse shows */
    this.shown = null;
    /** @type {number[] | undefined} the images that were chosen in Browse */
    this.carried = undefined;
    this.reading = new Reading("detect", element, "forms");
    this.form = h("div.inside");
    this.now = h("div.at-work");
    /** @type {Map<number, Panel>} what stands there, by the number of the job */
    this.panels = new Map();
    this.runs = h("section.panel");
    /** whether the chosen model gives each picture one class */
    this.whole = false;
    this.tryOut = new TryOut(() => this.model.value, () => this.whole);
    this.foresight = new Foresight();
    this.lot = new Lot(() => this.wanted());
    site.addEventListener("projects", () => tab() === "detect" && this.load());
    this.button = h("button.primary.for-labeler", { onclick: () => this.detect() }, "Detect");
    this.sheet = h(
      "div.sheet",
      {},
      h("h1", {}, "Detect"),
      this.lot.element,
      h(
        "div.two",
        {},
        h(
          "section.panel.for-labeler",
          {},
          h("header", {}, h("h2", {}, "What to look at")),
          this.form,
          h("div.inside", {}, h("div.row", {}, this.button)),
        ),
        this.tryOut.element,
      ),
      this.now,
      this.runs,
    );
  }

  base() {
    return `/api/projects/${encodeURIComponent(project())}/detect`;
  }

  async load() {
    if (!project()) {
      return this.reading.rest(),
        fill(
          this.element,
          nothingChosen("Detect", "A model, or the golden board alone, looks at the images of one project."),
        );
    }
    if (this.element.firstChild !== this.sheet) fill(this.element, this.sheet);
    return this.reading.show(
      project(),
      () => Promise.all([get(this.base()), this.filtered()]),
      (found) => this.take(found),
    );
  }

  /** @param {[Detecting, number[] | null]} found */
  take([found, shown]) {
    const fresh = this.project !== project();
    this.foresight.forget();
    this.project = project();
    this.found = found;
    this.shown = shown;
    if (fresh) this.lot.clear(), this.draw();
    else this.sources(), this.ways();
    this.show();
  }

  draw() {
    const models = this.found.models.map((
      one,
    ) => [
      one.name,
      `${one.name}, ${one.family}${one.champion ? ", the champion" : ""}${
        one.metrics.map50 ? `, mAP@.5 ${share(one.metrics.map50)}` : ""
      }${one.metrics.accuracy ? `, accuracy ${share(one.metrics.accuracy)}` : ""}`,
    ]);
    // One that was put away still serves the images that have it.
    const compares = this.found.goldens || this.found.counts.golden.yes > 0;
    const golden = compares ? [["golden", "Golden board, nothing trained"]] : [];
    const first = query().get("model") || best(this.found.models, golden.length > 0) || models[0]?.[0] ||
      "golden";
    this.model = select([...models, ...golden], first, () => this.ways());
    this.source = select([], "", () => this.words());
    this.sources();
    this.confidence = h("input", { type: "range", min: 0.01, max: 0.95, step: 0.01, value: 0.25 });
    const shown = h("output.number", {}, ".25");
    this.confidence.addEventListener(
      "input",
      () => (shown.textContent = share(Number(this.confidence.value), 2)),
    );
    this.confidence.addEventListener("change", () => this.words());
    this.runtime = select([["", "Automatic"]], "", () => this.words());
    this.device = select(DEVICES, "auto", () => this.words());
    this.workers = h("input", {
      type: "number",
      min: 1,
      step: 1,
      placeholder: "as many as there is room for",
    });
    this.tiles = select(TILES, this.found.tiles, (wish) => this.tile(wish), { class: "for-labeler" });
    this.again = h("input", { type: "checkbox", onchange: () => this.words() });
    const nothing = !models.length && !golden.length;
    fill(
      this.form,
      nothing &&
        h(
          "p.warn",
          {},
          "There is no trained model",
          h("span.for-boxes", {}, ", and no image has a golden"),
          ": train a model first.",
        ),
      field("Model", this.model),
      field("Images", this.source),
      h(
        "div.form-grid.halves",
        {},
        h("div.for-boxes", {}, field("Lowest score", h("div.row", {}, this.confidence, shown))),
        field("Runtime", this.runtime),
      ),
      h(
        "div.for-boxes",
        {},
        field(
          "Large pictures",
          this.tiles,
          "Tiles show small things at the picture's own scale; they take as much longer as there are tiles. Kept for this project.",
        ),
      ),
      h("label.row", {}, this.again, "Look again at images that this model knows"),
      h(
        "details",
        {},
        h("summary", {}, "Advanced"),
        h("div.form-grid.halves", {}, field("Computes on", this.device), field("Processes", this.workers)),
      ),
      this.foresight.element,
    );
    this.button.disabled = nothing;
    return this.ways();
  }

  /** The images that Browse shows, where filters stand in the address. @returns {Promise<number[]|null>} */
  async filtered() {
    const filters = new URLSearchParams(
      [...query()].filter(([name]) => FILTERS.includes(name) && name !== "sort"),
    );
    if (!filters.size || filters.has("goldens")) return null;
    return get(`/api/projects/${encodeURIComponent(project())}/images/ids?${filters}`);
  }

  /** What may be looked at; images that were chosen in Browse just now are meant. */
  sources() {
    const images = carried();
    const before = images.length && images !== this.carried ? "chosen" : this.source.value;
    this.carried = images;
    const choices = [
      ...(images.length ? [["chosen", "Chosen in Browse"]] : []),
      ...(this.shown ? [["shown", "As Browse is filtered"]] : []),
      ...SOURCES,
    ];
    fill(this.source, choices.map(([value, words]) => h("option", { value }, words)));
    const { state } = this.found.counts;
    const usual = state.new || state.started ? "undone" : "all";
    this.source.value = choices.some(([value]) => value === before) ? before : usual;
  }

  /** The runtimes that the model may have, each with its worth once that is measured. */
  async ways() {
    const name = this.model.value;
    const family = this.found.models.find((one) => one.name === name)?.family;
    this.whole = this.found.task === "classify";
    this.form.dataset.of = this.whole ? "classes" : "boxes";
    const { worth } = (name && (await this.foresight.expect(this.base(), name))) || { worth: [] };
    if (name !== this.model.value) return;
    const measured = worths(worth, this.whole);
    const chosen = this.runtime.value;
    const ways = [...new Set([...(WAYS[family ?? ""] ?? []), ...measured.keys()])];
    fill(
      this.runtime,
      h("option", { value: "" }, "Automatic"),
      ways.map((way) => h("option", { value: way }, `${named(way)}${measured.get(way) ?? ""}`)),
    );
    this.runtime.value = ways.includes(chosen) ? chosen : "";
    await this.words();
  }

  async words() {
    const images = this.images();
    this.button.disabled = images === 0 || !this.model.value;
    const told = await this.foresight.show(this.base(), this.wanted());
    if (told === undefined) return;
    say(
      this.button,
      told && told.known > 0 && told.known < told.images
        ? `Detect in ${many(told.images - told.known, "new image")}`
        : `Detect in ${many(images, "image")}`,
    );
  }

  /** How many images the chosen source has. */
  images() {
    const { state, split } = this.found.counts;
    const all = Object.values(state).reduce((sum, number) => sum + number, 0);
    /** @type {Record<string, number | undefined>} */
    const counts = {
      all,
      new: state.new,
      undone: (state.new ?? 0) + (state.started ?? 0),
      test: split.test,
      val: split.val,
      train: split.train,
      chosen: this.carried?.length,
      shown: this.shown?.length,
    };
    return counts[this.source.value] ?? 0;
  }

  /** What the form asks for. @returns {import("../../common/answers.js").DetectionForm} */
  wanted() {
    const [runtime, precision] = this.runtime.value.split(" ");
    const options = {
      confidence: Number(this.confidence.value),
      runtime: runtime || null,
      precision: precision || null,
      again: this.again.checked || null,
      device: this.device.value === "auto" ? null : this.device.value,
      workers: Number(this.workers.value) || null,
    };
    /** @type {Record<string, number[] | null | undefined>} */
    const picked = { chosen: this.carried, shown: this.shown };
    const images = picked[this.source.value];
    return { model: this.model.value, source: images ? { images } : ASKS[this.source.value], options };
  }

  /** @param {string} wish */
  tile(wish) {
    return attempt(async () => {
      this.found.tiles = (await send("PUT", `${this.base()}/tiles`, { wish })).wish;
      toast(`Large pictures: ${TILES.find(([name]) => name === wish)?.[1].toLowerCase()}.`, "done");
      this.foresight.forget();
      await this.words();
    });
  }

  detect() {
    return attempt(async () => {
      /** @type {import("../../common/answers.js").JobCard} */
      const job = await send("POST", this.base(), { ...this.wanted(), key: token() });
      toast(
        job.state === "queued" ? "The detection waits for a worker." : "The detection has begun.",
        "done",
      );
      await this.load();
    });
  }

  async follow() {
    if (!this.project || this.project !== project()) return false;
    /** @type {import("../../common/answers.js").AtWork | null} */
    const now = await get(`${this.base()}/now`).catch(() => null);
    if (!now) return false;
    const ended = working(now).length < working(this.found).length;
    const found = ended ? await get(this.base()).catch(() => null) : now;
    this.found = { ...this.found, ...found };
    this.show();
    if (!ended) return Boolean(found);
    this.foresight.forget();
    return this.words();
  }

  show() {
    this.lot.show(this.found.lot);
    const open = working(this.found);
    const failed = this.found.jobs[0]?.state === "failed" ? [this.found.jobs[0]] : [];
    const shown = [...open, ...failed];
    this.panels = new Map(shown.map((job) => [job.id, this.panels.get(job.id) ?? panel(job)]));
    fill(this.now, [...this.panels.values()].map((one) => one.element));
    for (const job of shown) {
      const { actions, status } = /** @type {Panel} */ (this.panels.get(job.id));
      offer(actions, job, () => this.follow());
      redraw(status, job, () => [progress(job), job.error && h("p.bad", {}, job.error)]);
    }
    redraw(
      this.runs,
      this.found.runs.map((run) => [run, ago(run.at)]),
      () => table(this.found.runs, this.project, this.base()),
    );
  }
}
