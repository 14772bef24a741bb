/** A lot in, verdicts out: what is dropped becomes a lot, and the model says what of it passes. */

import { field, fill, h } from "../../common/dom.js";
import { get, send, token, upload } from "../../common/net.js";
import { address, attempt, project, site, tab, visit } from "../../common/site.js";
import { bytes, count, many } from "../../common/words.js";
import { progress } from "../jobs/progress.js";

/** @typedef {import("../../common/answers.js").JobCard} Job */
/** @typedef {import("../../common/answers.js").DetectionForm} Form */
/** @typedef {{name: string, file: File}} Dropped */

const FINAL = ["done", "failed", "cancelled"];
const EVERY = 300; // milliseconds between looks at a job
const AT_ONCE = 3;
const LISTED = 5;

export class Lot {
  /** @param {() => Form} wanted what the form of a detection asks for */
  constructor(wanted) {
    this.wanted = wanted;
    /** @type {Dropped[]} */
    this.dropped = [];
    /** @type {import("../../common/answers.js").NewestLot | null} */
    this.newest = null;
    this.suggested = ""; // what the last folder would have its lot called
    this.working = false;
    this.files = h("input", { type: "file", multiple: true, hidden: true, "aria-label": "Boards of a lot" });
    this.folder = h("input", {
      type: "file",
      webkitdirectory: true,
      hidden: true,
      "aria-label": "Folder of a lot",
    });
    for (const input of [this.files, this.folder]) {
      input.addEventListener("change", () => {
        this.take([...input.files].map(named));
        input.value = ""; // or the same ones, chosen again, would be no change
      });
    }
    this.name = h("input", { maxLength: 300, placeholder: "lot 7", "aria-label": "Name of the lot" });
    this.zone = h(
      "div.lot-zone",
      { tabIndex: 0, role: "button", "aria-label": "Choose the boards of a lot" },
      h("b", {}, "Drop the boards of a lot here"),
      h("span", {}, "Pictures, a folder or an archive, or click to choose files."),
    );
    this.chosen = h("p.quiet-text", { "aria-live": "polite" });
    this.button = h("button.primary", { disabled: true, onclick: () => this.judge() }, "Judge this lot");
    this.again = h("button", { hidden: true, onclick: () => this.begin(this.newest?.name ?? "") });
    this.said = h("div.lot-said", { "aria-live": "polite" });
    this.listen();
    this.element = h(
      "section.panel.lot.for-labeler",
      {},
      h("header", {}, h("h2", {}, "A lot in, verdicts out")),
      h(
        "div.inside",
        {},
        this.zone,
        this.chosen,
        field("Lot", this.name),
        h(
          "div.row",
          {},
          this.button,
          h("button", { onclick: () => this.folder.click() }, "Choose a folder"),
          this.again,
        ),
        this.said,
        this.files,
        this.folder,
      ),
    );
  }

  listen() {
    this.zone.addEventListener("click", () => this.files.click());
    this.zone.addEventListener(
      "keydown",
      (/** @type {KeyboardEvent} */ event) => event.key === "Enter" && this.files.click(),
    );
    this.zone.addEventListener("dragover", (/** @type {Event} */ event) => event.preventDefault());
    this.zone.addEventListener("drop", (/** @type {DragEvent} */ event) => {
      event.preventDefault();
      attempt(async () => this.take(await inside(event.dataTransfer)));
    });
  }

  /** @param {import("../../common/answers.js").NewestLot | null} newest */
  show(newest) {
    this.newest = newest;
    this.again.hidden = !newest;
    if (newest) fill(this.again, `Judge ${newest.name}, ${many(newest.images, "image")}`);
  }

  /** What was dropped for one project is none of another's. */
  clear() {
    this.take([]);
    this.name.value = "";
  }

  /** @param {Dropped[]} dropped */
  take(dropped) {
    this.dropped = dropped;
    this.button.disabled = this.working || !dropped.length;
    const all = dropped.reduce((sum, { file }) => sum + file.size, 0);
    this.chosen.textContent = dropped.length ? `${many(dropped.length, "file")}, ${bytes(all)}` : "";
    const first = dropped[0]?.name.split("/");
    // A name that somebody wrote stays; that of the folder before goes with it.
    if (first?.length > 1 && ["", this.suggested].includes(this.name.value)) {
      this.name.value = this.suggested = first[0];
    }
  }

  /** Send what was dropped, bring it in as a lot, and look at it; the server does the rest alone. */
  judge() {
    const name = this.name.value.trim(), sent = this.dropped;
    // Where somebody goes meanwhile, and what they choose there, is none of this lot's.
    const of = project(), wanted = this.wanted();
    if (!name) {
      this.name.focus();
      return this.refuse("Name the lot first, such as lot 7.");
    }
    if (!wanted.model) return this.refuse("There is no model to judge by: train one first.");
    return this.busy(async () => {
      const base = `/api/projects/${encodeURIComponent(of)}`, at = token();
      await this.send(`${base}/uploads/${at}`, sent);
      /** @type {Job} */
      const coming = await send("POST", `${base}/import`, { token: at, lot: name });
      const looking = await look(of, wanted, name, coming.id);
      site.dispatchEvent(new Event("projects"));
      const come = await this.follow(coming, "Bringing in");
      await this.follow(looking, "Looking", lacking(come.result));
      this.done(of, looking.id, name, lacking(come.result));
      if (this.dropped === sent) this.clear();
    });
  }

  /** Look at a lot that is there. @param {string} name */
  begin(name) {
    const of = project(), wanted = this.wanted();
    return this.busy(async () => {
      const looking = await look(of, wanted, name);
      await this.follow(looking, "Looking");
      this.done(of, looking.id, name);
    });
  }

  /** @param {string} words @param {string[]} [lost] */
  refuse(words, lost = []) {
    fill(this.said, h("p.bad", { role: "alert" }, words), listed(lost));
  }

  /** @param {() => Promise<void>} work */
  async busy(work) {
    this.working = this.button.disabled = this.again.disabled = true;
    try {
      await work();
    } catch (error) {
      const lost = error instanceof Unjudged ? error.lost : [];
      this.refuse(error instanceof Error ? error.message : String(error), lost);
    }
    this.working = this.again.disabled = false;
    this.button.disabled = !this.dropped.length;
  }

  /** @param {string} base @param {Dropped[]} dropped */
  async send(base, dropped) {
    const waiting = [...dropped], all = waiting.length;
    let gone = 0;
    const told = () => {
      const message = `Sending: ${gone} of ${many(all, "file")}`;
      fill(this.said, progress({ state: "running", progress: gone / all, message }));
    };
    const line = async () => {
      for (let one = waiting.shift(); one; one = waiting.shift()) {
        await upload(`${base}/${one.name.split("/").map(encodeURIComponent).join("/")}`, one.file, () => {});
        gone += 1;
        told();
      }
    };
    told();
    await Promise.all(Array.from({ length: AT_ONCE }, line));
  }

  /**
   * Wait for a job; one that does not end well says why.
   * @param {Job} job @param {string} words @param {string[]} [lost] what did not come in before
   */
  async follow(job, words, lost = []) {
    while (!FINAL.includes(job.state)) {
      fill(this.said, h("p", {}, `${words} …`), progress(job));
      await new Promise((resolve) => setTimeout(resolve, EVERY));
      job = await get(`/api/jobs/${job.id}`);
    }
    if (job.state !== "done") throw new Unjudged(job.error || "It was cancelled.", lost);
    return job;
  }

  /**
   * Where the verdicts are; who is still here is led there.
   * @param {string} of @param {number} run @param {string} lot @param {string[]} [lost]
   */
  done(of, run, lot, lost = []) {
    const href = address({ project: of, tab: "review", run, view: "boards", group: lot, sort: "score" });
    fill(this.said, h("p.good", {}, `${lot} is judged. `, h("a", { href }, "Verdicts")), listed(lost));
    if (tab() === "detect" && project() === of && !lost.length) visit(href);
  }
}

/** A lot that came to no verdicts, with what of it did not come in. */
class Unjudged extends Error {
  /** @param {string} message @param {string[]} lost */
  constructor(message, lost) {
    super(message);
    this.lost = lost;
  }
}

/** Look at a lot. @param {string} of @param {Form} wanted @param {string} lot @param {number} [after] @returns {Promise<Job>} */
function look(of, wanted, lot, after) {
  const base = `/api/projects/${encodeURIComponent(of)}/detect`;
  return send("POST", base, { ...wanted, source: { groups: [lot] }, key: token(), after: after ?? null });
}

/** What an import leaves out of a lot. @param {Record<string, any>} result @returns {string[]} */
function lacking({ problems = [], skipped = 0 }) {
  const lost = problems.slice(0, LISTED).map((/** @type {{file: string, reason: string}} */ one) =>
    `${one.file}: ${one.reason}`
  );
  if (problems.length > LISTED) lost.push(`and ${count(problems.length - LISTED)} more`);
  if (skipped) lost.push(`${many(skipped, "picture")} there already`);
  return lost;
}

/** @param {string[]} lost */
function listed(lost) {
  if (!lost.length) return null;
  const lines = lost.map((one) => h("li", {}, one));
  return [h("p.bad", {}, "Not everything came in:"), h("ul.reasons", {}, lines)];
}

/** @param {File} file @returns {Dropped} */
function named(file) {
  return { name: file.webkitRelativePath || file.name, file };
}

/** The files that were dropped, those of folders with their places. @param {DataTransfer | null} given @returns {Promise<Dropped[]>} */
async function inside(given) {
  const entries = [...(given?.items ?? [])].map((one) => one.webkitGetAsEntry()).filter(Boolean);
  const found = await Promise.all(entries.map((one) => below(/** @type {any} */ (one))));
  return found.flat();
}

/** @param {any} entry a file or a folder as browsers hand them over @returns {Promise<Dropped[]>} */
async function below(entry) {
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    return [{ name: entry.fullPath.replace(/^\//, ""), file }];
  }
  const reader = entry.createReader(), found = [];
  for (;;) { // a folder is told a hundred files at a time
    /** @type {any[]} */
    const part = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!part.length) return found;
    found.push(...(await Promise.all(part.map(below))).flat());
  }
}
