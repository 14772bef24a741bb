/** What a detection will take, what int8 costs, and why images of a run could not be read. */

import { ask } from "./dialog.js";
import { fill, h } from "./dom.js";
import { get, send } from "./net.js";
import { attempt, toast } from "./site.js";
import { count, many, span } from "./words.js";

/** The sentences under the form; they follow what is chosen in it. */
export class Foresight {
  constructor() {
    this.element = h("div.quiet-text", { "aria-live": "polite" });
    this.told = new Map();
  }

  /** @param {string} base @param {string} model @param {number} images @param {string} precision */
  async show(base, model, images, precision) {
    const asked = (this.asked = `${base} ${model} ${images} ${precision}`);
    const found = model ? await this.ask(base, model) : null;
    if (asked !== this.asked) return;
    fill(this.element, found && h("p", {}, time(found.paces, images, precision)), found && precision === "int8" && this.loss(found));
  }

  /** What is known of a model is asked anew when a run or a measurement may have ended. */
  forget() {
    this.told.clear();
  }

  async ask(base, model) {
    const key = `${base} ${model}`;
    if (!this.told.has(key)) this.told.set(key, get(`${base}/expect/${encodeURIComponent(model)}`).catch(() => null));
    return this.told.get(key);
  }

  loss(found) {
    const measured = found.worth.some((one) => one.precision === "int8");
    return h("p", {}, measured ? found.int8 : "What int8 costs in accuracy is not measured for this model yet. ",
      !measured && found.model_id && h("button.for-labeler", { onclick: () => measure(found.model_id) }, "Measure it on the validation split"));
  }
}

function time(paces, images, precision) {
  const pace = paces.find((one) => one.runtime.includes(precision));
  if (!pace) return "No run of this model says yet how long it will take.";
  return `About ${span(images / pace.images_per_second)} at the ${count(Math.round(pace.images_per_second))} images/s of run ${pace.run_id}.`;
}

function measure(model) {
  return attempt(async () => {
    const job = await send("POST", `/api/models/${model}/benchmark`);
    toast(`The measurement is job ${job.id}.`, "done");
  });
}

/** Why images failed. @param {string} base @param {{id: number, failed: number}} run */
export function failures(base, run) {
  return attempt(async () => {
    const reasons = await get(`${base}/runs/${run.id}/failures`);
    await ask(`${many(run.failed, "image")} of run ${run.id} could not be read`, "",
      h("ul.reasons", {}, reasons.map((reason) => h("li", {}, reason)), run.failed > reasons.length && h("li", {}, `and ${count(run.failed - reasons.length)} more`)), { wide: true });
  });
}
