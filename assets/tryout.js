/** Drop pictures to try a model on them, without putting them into the project. */

import { fill, h } from "./dom.js";
import { get, send } from "./net.js";
import { attempt, project } from "./site.js";
import { many, share, span } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";
const FINAL = ["done", "failed", "cancelled"];
const EVERY = 100; // milliseconds between looks at the job

/** Pictures beyond these are left out: who has more wants a run. */
const MOST = 12;

export class TryOut {
  /** @param {() => string} model */
  constructor(model) {
    this.model = model;
    this.input = h("input", { type: "file", accept: "image/*", multiple: true, hidden: true, onchange: () => this.take([...this.input.files]) });
    this.stage = h("div.try", { tabIndex: 0, role: "button", "aria-label": "Choose pictures to try" }, this.hint());
    this.said = h("p.quiet-text", { "aria-live": "polite" });
    this.others = h("div.tries");
    this.stage.addEventListener("click", () => this.input.click());
    this.stage.addEventListener("keydown", (event) => event.key === "Enter" && this.input.click());
    this.stage.addEventListener("dragover", (event) => event.preventDefault());
    this.stage.addEventListener("drop", (event) => (event.preventDefault(), this.take([...event.dataTransfer.files])));
    this.element = h("section.panel.for-labeler", {}, h("header", {}, h("h2", {}, "Try pictures")), h("div.inside", {}, this.stage, this.said, this.others, this.input));
  }

  hint() {
    return h("span", {}, "Drop pictures here, or click to choose some. They do not become part of the project.");
  }

  /** The first picture has the stage, the others follow below it. @param {File[]} files */
  async take(files) {
    fill(this.others);
    const places = files.slice(0, MOST).map((_, at) => (at ? [h("div.try"), h("p.quiet-text")] : [this.stage, this.said]));
    this.others.append(...places.slice(1).map(([stage, said]) => h("div", {}, stage, said)));
    for (const [at, [stage, said]] of places.entries()) await attempt(() => this.one(files[at], stage, said));
  }

  async one(file, stage, said) {
    const began = performance.now();
    const body = new FormData();
    body.append("picture", file);
    body.append("model", this.model());
    said.textContent = "Sending …";
    const base = `/api/projects/${encodeURIComponent(project())}/detect/try`;
    let job = await send("POST", base, body).finally(() => (said.textContent = ""));
    fill(stage, h("img", { src: URL.createObjectURL(file), alt: file.name }));
    const size = job;
    while (!FINAL.includes(job.state)) {
      said.textContent = job.state === "queued" ? "Waiting for a worker …" : job.message;
      await new Promise((resolve) => setTimeout(resolve, EVERY));
      job = await get(`/api/jobs/${job.id}`);
    }
    if (job.state !== "done") throw new Error(job.error || "The detection was cancelled.");
    const found = await get(`${base}/${job.id}`);
    draw(stage, found, size);
    const looked = job.result.milliseconds;
    said.textContent = `${tally(found)} In ${span((performance.now() - began) / 1000)}${looked === undefined ? "" : `, of which the model took ${Math.round(looked)} ms`}.`;
  }
}

function draw(stage, found, size) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${size.width} ${size.height}`);
  for (const one of found) {
    const rect = document.createElementNS(SVG, "rect");
    for (const [name, value] of Object.entries({ x: one.x1, y: one.y1, width: one.x2 - one.x1, height: one.y2 - one.y1 })) rect.setAttribute(name, String(value));
    const words = document.createElementNS(SVG, "title");
    words.textContent = `${one.label} ${share(one.score, 2)}`;
    rect.append(words);
    svg.append(rect);
  }
  stage.append(svg);
}

function tally(found) {
  if (!found.length) return "Nothing found.";
  const first = found.slice(0, 6).map((one) => `${one.label} ${share(one.score, 2)}`).join(", ");
  return `${many(found.length, "detection")}: ${first}${found.length > 6 ? " …" : "."}`;
}
