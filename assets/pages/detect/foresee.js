/**
 * What a detection knows already and will take, what int8 costs, and why images of a run could not be read.
 */

import { ask } from "../../common/dialog.js";
import { fill, h } from "../../common/dom.js";
import { get, send } from "../../common/net.js";
import { attempt, toast } from "../../common/site.js";
import { count, many, span } from "../../common/words.js";

/** @typedef {import("../../common/answers.js").Foreseen} Recall */
/** @typedef {import("../../common/answers.js").Expectation} Expectation */
/** @typedef {import("../../common/answers.js").DetectionForm} Wanted */

/** The sentences under the form; they follow what is chosen in it. */
export class Foresight {
  constructor() {
    this.element = h("div.quiet-text.foresight", { "aria-live": "polite" });
    /** @type {Map<string, Promise<any>>} */
    this.told = new Map();
  }

  /**
   * Say what is known, how long the rest takes and what int8 costs; undefined where it was overtaken.
   * @param {string} base @param {Wanted} wanted @returns {Promise<Recall | null | undefined>}
   */
  async show(base, wanted) {
    const asked = (this.asked = JSON.stringify([base, wanted]));
    const [found, recall] = wanted.model
      ? await Promise.all([this.expect(base, wanted.model), this.ask(`${base}/recall`, wanted)])
      : [];
    if (asked !== this.asked) return undefined;
    fill(
      this.element,
      recall && h("p", {}, known(recall), " ", time(recall)),
      found && wanted.options?.precision === "int8" && this.loss(found),
    );
    return recall ?? null;
  }

  /** What is known of a model is asked anew when a run or a measurement may have ended. */
  forget() {
    this.told.clear();
  }

  /**
   * What the model's runtimes are worth.
   * @param {string} base @param {string} model
   * @returns {Promise<Expectation | null>}
   */
  expect(base, model) {
    return this.ask(`${base}/expect/${encodeURIComponent(model)}`);
  }

  /** @param {string} path @param {Wanted} [body] @returns {Promise<any>} */
  ask(path, body) {
    const key = `${path} ${JSON.stringify(body)}`;
    const told = this.told.get(key) ?? (body ? send("POST", path, body) : get(path)).catch(() => null);
    this.told.set(key, told);
    return told;
  }

  /** @param {Expectation} found */
  loss(found) {
    const of = found.model_id;
    const measured = found.worth.some((one) => one.precision === "int8");
    return h(
      "p",
      {},
      measured ? found.int8 : "What int8 costs in accuracy is not measured for this model yet. ",
      !measured && of && h("button.for-labeler", {
        onclick: () => measure(of),
      }, "Measure it on the validation split"),
    );
  }
}

/** @param {Recall} recall */
function known({ images, known, run_id }) {
  if (!known) return "";
  if (known === images) {
    return `${
      images === 1 ? "This image is" : `All ${count(images)} images are`
    } known from run ${run_id} and taken from there at once.`;
  }
  return `${count(known)} known from run ${run_id}, ${count(images - known)} new.`;
}

/** @param {Recall} recall */
function time({ images, known, pace }) {
  if (known === images) return "";
  if (!pace) return "No run of this model says yet how long it will take.";
  return `About ${span((images - known) / pace.images_per_second)} at the ${
    count(Math.round(pace.images_per_second))
  } images/s of run ${pace.run_id}.`;
}

/** @param {number} model */
function measure(model) {
  return attempt(async () => {
    const job = await send("POST", `/api/models/${model}/benchmark`);
    toast(`The measurement is job ${job.id}.`, "done");
  });
}

/** Why images failed. @param {string} base @param {{id: number, failed: number}} run */
export function failures(base, run) {
  return attempt(async () => {
    /** @type {string[]} */
    const reasons = await get(`${base}/runs/${run.id}/failures`);
    await ask(
      `${many(run.failed, "image")} of run ${run.id} could not be read`,
      "",
      h(
        "ul.reasons",
        {},
        reasons.map((/** @type {string} */ reason) => h("li", {}, reason)),
        run.failed > reasons.length && h("li", {}, `and ${count(run.failed - reasons.length)} more`),
      ),
      { wide: true },
    );
  });
}
