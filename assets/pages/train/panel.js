/** One training on the page: how far it is, what may be done with it, its curves and its log. */

import { h, redraw, say } from "../../common/dom.js";
import { address } from "../../common/site.js";
import { best, worthless } from "../detect/worth.js";
import { offer } from "../jobs/actions.js";
import { Log } from "../jobs/log.js";
import { progress } from "../jobs/progress.js";
import { Curves } from "./curves.js";

/** @typedef {import("../../common/answers.js").JobCard} Job */
/** @typedef {import("../../common/answers.js").ModelCard} Model */

export class Panel {
  /**
   * @param {number} id of the job @param {() => any} then after a button was pressed
   * @param {() => import("../../common/answers.js").TrainingChoice} known the project's models, and whether it has goldens
   */
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

  /** @param {Job} job @param {Model | undefined} model @param {string} of the project */
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

  /** @param {Job} job @param {Model | undefined} model @param {string} of */
  told(job, model, of) {
    return [
      progress(job),
      job.error && h("p.bad", {}, job.error),
      job.result.verdict && h("p", {}, job.result.verdict),
      job.state === "done" && model && this.next(model, of),
    ];
  }

  /**
   * What is best is offered; a model that finds nothing is only looked at.
   * @param {Model} model @param {string} of
   */
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

/**
 * The trainings to show: the one that is meant, what runs, what waits, and the last one seen to end.
 * @param {Job[]} jobs @param {number} meant @param {Map<number, Panel>} before
 */
export function shown(jobs, meant, before) {
  const order = ["running", "paused", "queued"];
  const open = jobs.filter((job) => order.includes(job.state)).sort((a, b) =>
    order.indexOf(a.state) - order.indexOf(b.state) || a.id - b.id
  );
  const linked = jobs.find((job) => job.id === meant);
  const ended = jobs.find((job) => before.has(job.id) && !open.includes(job));
  const wanted = new Set([linked, ...open, ended].filter((job) => job !== undefined));
  return wanted.size ? [...wanted] : jobs.slice(0, 1);
}
