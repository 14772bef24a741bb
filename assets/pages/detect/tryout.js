/** Drop pictures to try a model on them; they join the project only where that is asked for. */

import { finished, outline } from "../../common/answered.js";
import { field, fill, h } from "../../common/dom.js";
import { get, send, token, upload } from "../../common/net.js";
import { address, attempt, project, site } from "../../common/site.js";
import { count, many, share, span } from "../../common/words.js";

/** Pictures beyond these are left out: who has more wants a run. */
const MOST = 12;

/** @typedef {import("../../common/answers.js").JobCard} Job */
/** @typedef {import("../../common/answers.js").TriedBox} Found */
/** @typedef {{width: number, height: number}} Size */

export class TryOut {
  /** @param {() => string} model @param {() => boolean} whole whether it gives each picture one class */
  constructor(model, whole) {
    this.model = model;
    this.whole = whole;
    /** @type {symbol | undefined} */
    this.turn = undefined;
    /** @type {File[]} */
    this.tried = [];
    this.input = h("input", {
      type: "file",
      accept: "image/*",
      multiple: true,
      hidden: true,
      onchange: () => this.take([...this.input.files]),
    });
    this.stage = h(
      "div.try",
      { tabIndex: 0, role: "button", "aria-label": "Choose pictures to try" },
      this.hint(),
    );
    this.said = h("p.quiet-text", { "aria-live": "polite" });
    this.others = h("div.tries");
    this.keeping = h("div.quiet-text.keeping", { "aria-live": "polite" });
    // What was written for the last pictures is most often true of the next.
    this.lot = h("input", { placeholder: "lot 7", maxLength: 300 });
    this.stage.addEventListener("click", () => this.input.click());
    this.stage.addEventListener(
      "keydown",
      (/** @type {KeyboardEvent} */ event) => event.key === "Enter" && this.input.click(),
    );
    this.stage.addEventListener("dragover", (/** @type {Event} */ event) => event.preventDefault());
    this.stage.addEventListener(
      "drop",
      (
        /** @type {DragEvent} */ event,
      ) => (event.preventDefault(), this.take([...(event.dataTransfer?.files ?? [])])),
    );
    this.element = h(
      "section.panel.for-labeler",
      {},
      h("header", {}, h("h2", {}, "Try pictures")),
      h("div.inside", {}, this.stage, this.said, this.others, this.keeping, this.input),
    );
  }

  hint() {
    return h("span", {}, "Drop pictures here, or click to choose. Nothing is stored unless you ask.");
  }

  /** The first picture has the stage, the others follow below it. @param {File[]} files */
  async take(files) {
    const turn = (this.turn = Symbol("the newest try"));
    fill(this.others);
    fill(this.keeping);
    const places = files.slice(0, MOST).map((
      _,
      at,
    ) => (at ? [h("div.try"), h("p.quiet-text")] : [this.stage, this.said]));
    this.others.append(...places.slice(1).map(([stage, said]) => h("div", {}, stage, said)));
    /** @type {File[]} */
    const tried = (this.tried = []); // also those that fit no golden
    for (const [at, [stage, said]] of places.entries()) {
      await attempt(() => this.one(files[at], stage, said, () => this.turn === turn));
      if (this.turn !== turn) return;
    }
    if (tried.length) this.offer(tried);
  }

  /** Nothing of a try is stored unless it is asked for here. @param {File[]} files */
  offer(files) {
    const words = files.length === 1
      ? "Add this picture to the project"
      : `Add these ${count(files.length)} pictures to the project`;
    const button = h("button", { onclick: () => ((button.disabled = true), this.keep(files)) }, words);
    fill(
      this.keeping,
      field(
        "Lot",
        this.lot,
        "The pictures that belong together, such as those of one delivery; may stay empty.",
      ),
      button,
    );
  }

  /** @param {File[]} files */
  async keep(files) {
    const { turn } = this;
    const result = await attempt(() => added(files, this.lot.value));
    if (turn !== this.turn) return undefined;
    if (!result) return this.offer(files);
    const known = result.skipped
      ? ` ${count(result.skipped)} ${result.skipped === 1 ? "was" : "were"} there already.`
      : "";
    const reasons = result.problems.map((/** @type {{file: string, reason: string}} */ one) =>
      ` ${one.file}: ${one.reason}`
    );
    fill(
      this.keeping,
      `${many(result.images, "picture")} added.${known}`,
      reasons,
      " ",
      h("a", { href: address({ project: project(), tab: "browse", sort: "newest" }) }, "Show in Browse"),
    );
    return site.dispatchEvent(new Event("projects"));
  }

  /**
   * Try one picture, as long as `newest` says that no other was dropped in the meantime.
   * @param {File} file @param {HTMLElement} stage @param {HTMLElement} said
   * @param {() => boolean} newest
   */
  async one(file, stage, said, newest) {
    const began = performance.now();
    const body = new FormData();
    body.append("picture", file);
    body.append("model", this.model());
    said.textContent = "Sending …";
    const base = `/api/projects/${encodeURIComponent(project())}/detect/try`;
    /** @type {import("../../common/answers.js").TriedPicture | Error} */
    const begun = await send("POST", base, body).catch((error) => error);
    if (!newest()) return;
    said.textContent = "";
    if (begun instanceof Error) {
      // Only the first place invites the next picture.
      if (stage === this.stage) fill(stage, this.hint());
      else stage.remove();
      return void (said.textContent = `${file.name}: ${begun.message}`);
    }
    fill(stage, picture(file));
    this.tried.push(file);
    /** @param {Job} at */
    const wait = (at) =>
      newest() && (said.textContent = at.state === "queued" ? "Waiting for a worker …" : at.message);
    const job = await finished(begun.job, wait).catch((error) => error);
    const found = job instanceof Error ? [] : await get(`${base}/${job.id}`);
    if (!newest()) return;
    if (job instanceof Error) return void (said.textContent = job.message);
    if (job.result.refused) return void (said.textContent = job.result.refused);
    const whole = this.whole();
    /** @param {Found} one */
    const outlined = (one) => ({ ...one, words: told(one) });
    outline(stage, whole ? [] : found.map(outlined), begun);
    const looked = job.result.milliseconds;
    said.textContent = `${tally(found, whole)} In ${span((performance.now() - began) / 1000)}${
      looked === undefined ? "" : `, of which the model took ${Math.round(looked)} ms`
    }.`;
  }
}

/** A file as a picture; its address is given back once it is drawn. @param {File} file */
function picture(file) {
  const src = URL.createObjectURL(file);
  const done = () => URL.revokeObjectURL(src);
  return h("img", { src, alt: file.name, onload: done, onerror: done });
}

/** Import pictures into the project; gives what came of it. @param {File[]} files @param {string} lot */
async function added(files, lot) {
  const base = `/api/projects/${encodeURIComponent(project())}`;
  const name = token();
  for (const file of files) {
    await upload(`${base}/uploads/${name}/${encodeURIComponent(file.name)}`, file, () => {});
  }
  const job = await finished(await send("POST", `${base}/import`, { token: name, lot }), () => {});
  return job.result;
}

/** @param {Found} one */
function told(one) {
  return `${one.label} ${share(one.score, 2)}`;
}

/** @param {Found[]} found @param {boolean} whole */
function tally(found, whole) {
  if (!found.length) return "Nothing found.";
  if (whole) return `${told(found[0])}.`;
  const first = found.slice(0, 6).map(told).join(", ");
  return `${many(found.length, "detection")}: ${first}${found.length > 6 ? " …" : "."}`;
}
