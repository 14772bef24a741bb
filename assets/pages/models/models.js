/** Models: the versions of a project, what each is worth, which is the champion. */

import { ask } from "../../common/dialog.js";
import { field, fill, h, select } from "../../common/dom.js";
import { classifies, evaluate, judge } from "./measuring.js";
import { measured } from "./measured.js";
import { provenance } from "./provenance.js";
import { mistakes } from "./mistakes.js";
import { get, send } from "../../common/net.js";
import { Reading } from "../../common/reading.js";
import { address, attempt, page, poll, project, query, toast } from "../../common/site.js";
import { benchmarks } from "./scaling.js";
import { noSuch, nothingChosen } from "../../common/nothing.js";
import { follow } from "../projects/transfers.js";
import { ago, count, share } from "../../common/words.js";

const MOST_OPENED = 20;
const STATES = { training: "Training", ready: "Ready", failed: "Failed", cancelled: "Cancelled" };

/** @param {HTMLElement} element */
export function mount(element) {
  const models = new Models(element);
  element.removeAttribute("aria-busy");
  page("models", () => models.load());
  poll("models", 4, ["models", "jobs"], () => models.load());
}

/** @typedef {import("../../common/answers.js").ModelCard} Model */
/** @typedef {import("../../common/answers.js").ModelDetails} Details */
/** @typedef {import("./measuring.js").Colors} Colors */

class Models {
  /** @param {HTMLElement} element */
  constructor(element) {
    this.element = element;
    /** @type {Model[]} */
    this.found = [];
    /** @type {Colors} */
    this.colors = {};
    /** @type {string | null | undefined} what is told of, or the name of what there is not */
    this.shown = undefined;
    this.reading = new Reading("models", element);
    this.list = h("section.panel");
    this.told = h("div");
    this.close = new Reading("models", this.told);
    this.scaled = h("div");
    /** @type {string | undefined} the cluster benchmarks that are drawn */
    this.drawn = undefined;
    /** @type {Set<number>} those of which the table was opened */
    this.opened = new Set();
    this.sheet = h("div.sheet", {}, h("h1", {}, "Models"), this.list, this.told, this.scaled);
  }

  async load() {
    if (!project()) {
      return this.reading.rest(),
        fill(
          this.element,
          nothingChosen("Models", "Every training leaves a version here: v1, v2 and so on."),
        );
    }
    const of = project(), path = `/api/projects/${encodeURIComponent(of)}`;
    return this.reading.show(
      of,
      () => Promise.all(["models", `benchmarks${this.asked()}`].map((name) => get(`${path}/${name}`))),
      ([found, measured]) => {
        this.compare(measured);
        return this.take(found);
      },
    );
  }

  /** @param {import("../../common/answers.js").ClusterBenchmark[]} found */
  compare(found) {
    const now = JSON.stringify(found);
    if (now === this.drawn) return;
    this.drawn = now;
    fill(this.scaled, benchmarks(found, this.opened, (one, open) => this.toggle(one, open)));
  }

  /** The tables that were opened, as they are asked for. */
  asked() {
    const opened = [...this.opened].slice(-MOST_OPENED).map((job) => `job=${job}`).join("&");
    return opened && `?${opened}`;
  }

  /** @param {import("../../common/answers.js").ClusterBenchmark} one @param {boolean} open */
  toggle(one, open) {
    if (open) this.opened.add(one.job);
    else this.opened.delete(one.job);
    if (open && !one.lines.length) attempt(() => this.load());
  }

  /** @param {Model[]} found */
  async take(found) {
    if (found.length === 0) return fill(this.element, empty(), this.scaled);
    if (this.element.firstChild !== this.sheet) {
      this.sheet.append(this.scaled); // it may have stood beside what is said of no models
      fill(this.element, this.sheet);
    }
    this.found = found;
    this.draw(found);
    const named = query().get("model");
    const chosen = named
      ? found.find((one) => one.name === named)
      : (found.find((one) => one.champion) ?? found[0]);
    if (!chosen) return this.lack(named);
    const shown = JSON.stringify([chosen, found.find((one) => one.champion)?.name]);
    if (shown === this.shown) return undefined;
    /** @returns {Promise<[Details, import("../../common/answers.js").Project]>} */
    const ask = () =>
      Promise.all([get(`/api/models/${chosen.id}`), get(`/api/projects/${encodeURIComponent(project())}`)]);
    return this.close.show(String(chosen.id), ask, ([told, of]) => {
      this.shown = shown;
      this.colors = Object.fromEntries(of.classes.map((one) => [one.name, one.color]));
      fill(this.told, this.details(told, this.colors));
    });
  }

  /** @param {string | null} name */
  lack(name) {
    if (this.shown === name) return;
    this.shown = name;
    this.close.rest();
    fill(
      this.told,
      h(
        "section.panel",
        {},
        noSuch(`model ${name}`, address({ project: project(), tab: "models" }), "Show the champion"),
      ),
    );
  }

  /** @param {Model[]} found */
  draw(found) {
    const champion = found.find((one) => one.champion);
    const chosen = query().get("model") ?? champion?.name ?? found[0].name;
    const whole = found.some(classifies);
    const worths = whole ? ["Accuracy", "Mean F1"] : ["mAP@.5", "mAP .5:.95"];
    const heads = ["Model", "Family", "State", ...worths, "Δ to champion", "Images", "Trained"];
    const focused = document.activeElement?.getAttribute("data-key");
    fill(
      this.list,
      h(
        "table",
        {},
        h(
          "thead",
          {},
          h("tr", {}, heads.map((name, at) => h(`th${at > 2 && at < 7 ? ".number" : ""}`, {}, name))),
        ),
        h("tbody", {}, found.map((one) => row(one, champion, one.name === chosen))),
      ),
    );
    if (focused) {
      /** @type {HTMLElement|null} */ (this.list.querySelector(`[data-key="${focused}"]`))?.focus();
    }
  }

  /** @param {Details} told @param {Colors} colors */
  details(told, colors) {
    const ready = told.state === "ready";
    return h(
      "section.panel",
      {},
      h(
        "header",
        {},
        h("h2", {}, `${told.name}${told.champion ? ", the champion" : ""}`),
        ready && this.actions(told),
      ),
      h(
        "div.inside",
        {},
        ready ? h("p", { style: { fontSize: "15px" } }, told.verdict) : h("p", {}, STATES[told.state]),
        ready && measured(told, colors),
        ready && told.metrics.accuracy !== undefined && mistakes(told.name),
        provenance(told, this.found.find((one) => one.id === told.parent)?.name),
      ),
    );
  }

  /** @param {Details} told */
  actions(told) {
    return h(
      "span.row",
      {},
      !told.champion && this.promoter(told),
      h(
        "button.for-labeler",
        { onclick: () => this.measure(() => evaluate(told, this.found, this.colors)) },
        "Evaluate",
      ),
      h("button.for-labeler", {
        title: "Measure what another program found on the images held out from this model",
        onclick: () => this.measure(() => judge(told, this.colors)),
      }, "Judge a file …"),
      h("a.button", { href: address({ project: project(), tab: "detect", model: told.name }) }, "Detect"),
      h("button.for-labeler", { onclick: () => publish(told) }, "Export"),
    );
  }

  /**
   * Suggested where it is clearly better; else a question, also before the way back to a former champion.
   * @param {Details} told
   */
  promoter(told) {
    const champion = this.found.find((one) => one.champion);
    if (told.offered || !champion) {
      return h(
        `button.for-admin${told.offered ? ".primary" : ""}`,
        { onclick: () => this.promote(told) },
        "Promote",
      );
    }
    const verb = told.reigned ? `Back to ${told.name}` : "Promote";
    const title = told.reigned ? verb : `Promote ${told.name}`;
    return h("button.for-admin", {
      onclick: async () => (await ask(title, verb, beside(told, champion))) && this.promote(told),
    }, `${verb} …`);
  }

  /** @param {() => Promise<boolean>} work */
  async measure(work) {
    if (await attempt(work)) await this.load();
  }

  /** @param {Model} told */
  promote(told) {
    return attempt(async () => {
      await send("POST", `/api/models/${told.id}/promote`);
      toast(`${told.name} is the champion now.`, "done");
      await this.load();
    });
  }
}

/**
 * What is known of a model beside the champion that it would take the place of.
 * @param {Details} told @param {Model} champion
 */
function beside(told, champion) {
  const figures = [told, champion].map((one) => `${one.name} ${share(worth(one))}`);
  const name = classifies(told) ? "Accuracy" : "mAP@.5";
  return [
    h("p", {}, `${told.verdict} ${champion.name} is the champion.`),
    h("p.number", {}, `${name}, each on its own held-out images: ${figures.join(", ")}.`),
  ];
}

/** @param {Model} one */
function worth(one) {
  return one.metrics.map50 ?? one.metrics.accuracy;
}

/** @param {Model} one @param {Model | undefined} champion @param {boolean} chosen */
function row(one, champion, chosen) {
  const now = worth(one) ?? NaN, best = champion ? worth(champion) ?? NaN : NaN;
  const difference = champion && champion !== one && Number.isFinite(now) && Number.isFinite(best)
    ? now - best
    : null;
  const interval = one.metrics.intervals?.map50 ?? one.metrics.interval;
  return h(
    `tr${chosen ? ".chosen" : ""}`,
    { "aria-current": chosen ? "true" : null },
    h(
      "td",
      {},
      h("a", {
        href: address({ project: project(), tab: "models", model: one.name }),
        data: { key: one.name },
      }, h("b", {}, one.name)),
      one.champion && h("span.chip", { style: { marginLeft: "8px" } }, "champion"),
    ),
    h("td", {}, one.family),
    h(
      `td.${{ failed: "bad", ready: "good", training: "warn", cancelled: "quiet-text" }[one.state]}`,
      {},
      STATES[one.state],
    ),
    h(
      "td.number",
      { title: interval ? `95 % between ${share(interval[0])} and ${share(interval[1])}` : "" },
      share(now),
      interval && h("small", {}, ` ± ${share((interval[1] - interval[0]) / 2)}`),
    ),
    h("td.number", {}, share(one.metrics.map50_95 ?? one.metrics.macro_f1)),
    h(
      `td.number${difference === null ? "" : difference > 0 ? ".good" : difference < 0 ? ".bad" : ""}`,
      {},
      difference === null ? "" : `${difference >= 0 ? "+" : "−"}${share(Math.abs(difference))}`,
    ),
    h("td.number", {}, one.metrics.images ? count(one.metrics.images) : "–"),
    h("td", {}, ago(one.at)),
  );
}

/** @param {Model} told */
async function publish(told) {
  const runtime = select(
    [["onnx", "ONNX"], ["openvino", "OpenVINO"], ["torchscript", "TorchScript"]],
    "onnx",
  );
  if (!(await ask(`Export ${told.name}`, "Export", field("Form", runtime)))) return;
  await attempt(async () => {
    const job = await send("POST", `/api/models/${told.id}/publish`, { runtime: runtime.value });
    const place = h("div", { style: { display: "grid", gap: "8px" }, "aria-live": "polite" });
    const closed = ask(`Export ${told.name}`, "", place);
    await follow(
      job,
      place,
      (done) =>
        h(
          "a.button.primary",
          { href: `/api/jobs/${done.id}/file`, download: "" },
          `Download ${done.result.file}`,
        ),
    );
    await closed;
  });
}

function empty() {
  return h(
    "div.empty",
    {},
    h("h2", {}, "No model yet"),
    h(
      "p",
      {},
      "A training leaves a version here, measured on images it has never seen. What needs none stands under Detect.",
    ),
    h("a.button.primary", { href: address({ project: project(), tab: "train" }) }, "Train the first one"),
  );
}
