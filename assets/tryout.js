/** Drop a picture to try a model on it, without putting it into the project. */

import { fill, h } from "./dom.js";
import { get, send } from "./net.js";
import { attempt, project } from "./site.js";
import { many, share } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";
const FINAL = ["done", "failed", "cancelled"];

export class TryOut {
  /** @param {() => string} model */
  constructor(model) {
    this.model = model;
    this.input = h("input", { type: "file", accept: "image/*", hidden: true, onchange: () => this.input.files[0] && this.take(this.input.files[0]) });
    this.stage = h("div.try", { tabIndex: 0, role: "button", "aria-label": "Choose a picture to try" }, this.hint());
    this.said = h("p.quiet-text", { "aria-live": "polite" });
    this.stage.addEventListener("click", () => this.input.click());
    this.stage.addEventListener("keydown", (event) => event.key === "Enter" && this.input.click());
    this.stage.addEventListener("dragover", (event) => event.preventDefault());
    this.stage.addEventListener("drop", (event) => (event.preventDefault(), event.dataTransfer.files[0] && this.take(event.dataTransfer.files[0])));
    this.element = h("section.panel.for-labeler", {}, h("header", {}, h("h2", {}, "Try one picture")), h("div.inside", {}, this.stage, this.said, this.input));
  }

  hint() {
    return h("span", {}, "Drop a picture here, or click to choose one. It does not become part of the project.");
  }

  take(file) {
    return attempt(async () => {
      const body = new FormData();
      body.append("picture", file);
      body.append("model", this.model());
      this.said.textContent = "Sending …";
      const base = `/api/projects/${encodeURIComponent(project())}/detect/try`;
      let job = await send("POST", base, body).finally(() => (this.said.textContent = ""));
      const image = h("img", { src: URL.createObjectURL(file), alt: file.name });
      fill(this.stage, image);
      const size = job;
      while (!FINAL.includes(job.state)) {
        this.said.textContent = job.state === "queued" ? "Waiting for a worker …" : job.message;
        await new Promise((resolve) => setTimeout(resolve, 400));
        job = await get(`/api/jobs/${job.id}`);
      }
      if (job.state !== "done") throw new Error(job.error || "The detection was cancelled.");
      this.draw(await get(`${base}/${job.id}`), size);
    });
  }

  draw(found, size) {
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
    this.stage.append(svg);
    const tally = found.slice(0, 6).map((one) => `${one.label} ${share(one.score, 2)}`).join(", ");
    this.said.textContent = found.length ? `${many(found.length, "detection")}: ${tally}${found.length > 6 ? " …" : ""}` : "Nothing found.";
  }
}
