/** What a training would see of the project's pictures with what is set: changed, with their boxes. */

import { finished, outline } from "../../common/answered.js";
import { fill, h } from "../../common/dom.js";
import { get, send } from "../../common/net.js";
import { attempt } from "../../common/site.js";

/** @typedef {import("../../common/answers.js").JobCard} Job */
/** @typedef {import("../../common/answers.js").SeenPicture} Picture */
/** @typedef {import("./searches.js").Values} Values */

export class Glimpse {
  /** @param {() => Values} values @param {() => string} base */
  constructor(values, base) {
    this.values = values;
    this.base = base;
    /** @type {symbol | undefined} */
    this.turn = undefined;
    this.shown = ""; // of which wishes the pictures are that stand there, or are on their way
    this.said = h("p.quiet-text");
    this.pictures = h("div.tries");
    const others = h("button", { onclick: () => this.look() }, "Others");
    this.element = h(
      "details.for-labeler",
      { ontoggle: () => this.renew() },
      h("summary", {}, "What it sees"),
      h("div.row", { style: { margin: "8px 0" } }, others, this.said),
      this.pictures,
    );
  }

  /** Another family, or another project; not all change their pictures. @param {boolean} changes */
  chosen(changes) {
    this.shown = "";
    this.element.open = false;
    this.element.hidden = !changes;
    fill(this.pictures);
    this.said.textContent = "";
  }

  /** What is wished has changed, perhaps. */
  renew() {
    if (this.element.open && this.shown !== this.wish()) return this.look();
    return undefined;
  }

  wish() {
    const { family, parameters, knobs } = this.values();
    return JSON.stringify({ family, parameters, knobs });
  }

  look() {
    const wish = (this.shown = this.wish());
    const turn = (this.turn = Symbol("the newest look"));
    const newest = () => turn === this.turn && wish === this.shown;
    return attempt(async () => {
      const base = `${this.base()}/training/glimpse`;
      /** @param {Job} job */
      const told = (job) => {
        if (!newest()) {
          // Nobody waits for this one any more, and others wait behind it; it may have ended by now.
          send("POST", `/api/jobs/${job.id}/cancel`).catch(() => undefined);
          throw new Error("Another look was asked for since.");
        }
        this.said.textContent = job.state === "queued" ? "Waiting for a worker …" : job.message;
      };
      /** @type {Job | Error} */
      const begun = await send("POST", base, JSON.parse(wish)).catch((error) => error);
      const job = begun instanceof Error ? begun : await finished(begun, told).catch((error) => error);
      const found = job instanceof Error ? [] : await get(`${base}/${job.id}`);
      if (newest()) this.show(found, job instanceof Error ? job.message : "");
    });
  }

  /** @param {Picture[]} found @param {string} trouble */
  show(found, trouble) {
    this.said.textContent = trouble ||
      "Some of the images that it learns from, as they are changed each time it sees them.";
    fill(this.pictures, found.map(drawn));
  }
}

/** @param {Picture} one */
function drawn(one) {
  const names = [...new Set(one.boxes.map((box) => box.label))].join(", ");
  const words = one.label || names || "without boxes";
  const stage = h("div.try", {}, h("img", { src: one.picture, alt: `As the training sees it: ${words}` }));
  outline(stage, one.boxes.map((box) => ({ ...box, words: box.label })), one);
  return h("div", {}, stage, h("span.quiet-text", {}, words));
}
