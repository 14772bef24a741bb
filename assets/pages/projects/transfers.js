/** Pictures in, labels out: upload or name a place, then follow the job that does it. */

import { ask } from "../../common/dialog.js";
import { field, fill, h, select } from "../../common/dom.js";
import { FILTERS } from "../browse/filters.js";
import { Failure, get, send, token, upload } from "../../common/net.js";
import { attempt, project, query, site, toast } from "../../common/site.js";
import { progress } from "../jobs/progress.js";
import { bytes, count, many } from "../../common/words.js";

const FORMATS = [
  ["auto", "Recognise it"],
  ["deeppcb", "DeepPCB, with templates"],
  ["voc", "Pascal VOC XML"],
  ["yolo", "YOLO text files"],
  ["coco", "COCO JSON"],
  ["folders", "Plain pictures, or a folder a class"],
];
const WHICH = [["all", "All images"], ["train", "Training split"], ["val", "Validation split"], [
  "test",
  "Test split",
]];
const SHARES = [["", "Leave without one"], ["80,10,10", "80 % training, 10 % validation, 10 % test"], [
  "70,15,15",
  "70 % training, 15 % validation, 15 % test",
], ["80,20", "80 % training, 20 % validation"]];
const MASKS = [["", "Say that they are there"], ["instance", "A box around each thing"], [
  "colour",
  "A class for each colour, a box around each part",
], ["skip", "Leave them out"]];
const FINAL = ["done", "failed", "cancelled"];
const AT_ONCE = 3;
const SHOWN = 50;

/** @typedef {import("../../common/answers.js").JobCard} Job */
/** @typedef {{id?: number, name: string}} Named */
/** @typedef {{file: string, line?: number, reason: string}} Problem */

/** Bring pictures into a project. @param {{id: number, name: string, task: string}} into */
export async function importInto(into) {
  const files = h("input", { type: "file", multiple: true });
  const folder = h("input", { type: "file", webkitdirectory: true });
  const path = h("input", { placeholder: "/data/boards or /data/boards.zip" });
  const format = select(FORMATS, "auto");
  const masks = select(MASKS, "");
  const lot = h("input", { placeholder: "lot 7", maxLength: 300 });
  const chosen = h("p.quiet-text");
  const say = () => (chosen.textContent = sum([...files.files, ...folder.files]));
  files.addEventListener("change", say);
  folder.addEventListener("change", say);
  const yes = await ask(`Import into ${into.name}`, "Import", [
    field("Pictures, label files or an archive", files),
    field("Or a whole folder", folder),
    chosen,
    h("div.for-admin", {}, field("Or a place on the server", path)),
    field("Format", format, "Labels that come along are taken; what is there already is skipped."),
    into.task !== "classify" && field(
      "Masks beside pictures",
      masks,
      "Pictures that tell of each pixel of another one what it is, in a folder such as masks.",
    ),
    field("Lot", lot, "The lot of all that comes; the pictures stand below its name."),
  ]);
  if (!yes) return;
  await attempt(() =>
    run(into, [...files.files, ...folder.files], {
      path: path.value,
      format: format.value,
      masks: masks.value,
      lot: lot.value,
    })
  );
}

/**
 * @param {Named} into @param {File[]} files
 * @param {{path: string, format: string, masks: string, lot: string}} asked
 */
async function run(into, files, asked) {
  const place = h("div", { style: { display: "grid", gap: "8px" }, "aria-live": "polite" });
  const closed = ask(`Import into ${into.name}`, "", place);
  const body = { ...asked, token: "" };
  try {
    if (files.length) {
      body.path = "";
      body.token = token();
      await sendAll(into, files, body.token, place);
    }
    await follow(
      await send("POST", `/api/projects/${encodeURIComponent(into.name)}/import`, body),
      place,
      imported,
    );
    site.dispatchEvent(new Event("projects"));
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    // Whoever has closed the dialog is told all the same.
    if (place.isConnected) fill(place, h("p.bad", { role: "alert" }, error.message));
    else toast(`The import into ${into.name} failed: ${error.message}`, "failed");
  }
  await closed;
}

/** @param {Named} into @param {File[]} files @param {string} name @param {HTMLElement} place */
async function sendAll(into, files, name, place) {
  /** @type {Map<File, number>} */
  const shares = new Map();
  const all = files.reduce((total, file) => total + file.size, 0) || 1;
  const show = () => {
    const gone = [...shares.entries()].reduce((total, [file, share]) => total + share * file.size, 0);
    fill(
      place,
      progress({
        state: "running",
        progress: gone / all,
        message: `Uploading: ${bytes(gone)} of ${bytes(all)}`,
      }),
    );
  };
  const waiting = [...files];
  const line = async () => {
    for (let file = waiting.shift(); file; file = waiting.shift()) {
      const inside = (file.webkitRelativePath || file.name).split("/").map(encodeURIComponent).join("/");
      await upload(
        `/api/projects/${encodeURIComponent(into.name)}/uploads/${name}/${inside}`,
        file,
        (share) => (shares.set(file, share), show()),
      );
      shares.set(file, 1);
      show();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, line));
}

/**
 * Show how far a job is, then what it says at its end.
 * @param {Job} job @param {HTMLElement} place @param {(done: Job) => any} say
 * @returns {Promise<Job>}
 */
export async function follow(job, place, say) {
  for (;;) {
    fill(
      place,
      progress(job),
      job.state === "queued" && h("p.quiet-text", {}, "You may close this; Jobs shows how far it is."),
    );
    if (FINAL.includes(job.state)) break;
    await new Promise((resolve) => setTimeout(resolve, 500));
    job = await get(`/api/jobs/${job.id}`);
  }
  if (job.state === "done") fill(place, say(job));
  else fill(place, h("p.bad", { role: "alert" }, job.error || "It was cancelled."));
  return job;
}

/** @param {Job} job */
function imported(job) {
  const result = job.result;
  return [
    h(
      "p.good",
      {},
      `${many(result.images, "image")}${result.goldens ? `, ${many(result.goldens, "golden")}` : ""}${
        boxed(result.boxes)
      } added; ${count(result.skipped)} were there already.`,
    ),
    result.unusable > 0 &&
    [
      h("p.bad", {}, `${many(result.unusable, "file or line", "files or lines")} could not be used:`),
      listed(result.problems),
    ],
  ];
}

/** Pictures that have a class each have no boxes to tell of. @param {number} boxes */
function boxed(boxes) {
  return boxes ? ` and ${many(boxes, "box", "boxes")}` : "";
}

/** @param {Problem[]} problems */
function listed(problems) {
  return h(
    "ul",
    { style: { margin: 0, maxHeight: "240px", overflow: "auto" } },
    problems.slice(0, SHOWN).map((one) =>
      h("li", {}, h("span.mono", {}, `${one.file}${one.line ? `:${one.line}` : ""}`), ` ${one.reason}`)
    ),
  );
}

/**
 * Write pictures and labels of a project into one file: what is done, unless more is asked for.
 * @param {{name: string, id?: number, task?: string}} of @param {number[]} images those that were chosen; all where there are none
 */
export async function exportFrom(of, images = []) {
  const filter = [of.name, String(of.id)].includes(project()) ? filters(query()) : "";
  const whole = of.task === "classify";
  const format = select(FORMATS.slice(1), whole ? "folders" : "coco");
  const which = select(
    [
      ...(images.length ? [["chosen", `The ${many(images.length, "chosen image")}`]] : []),
      ...(filter ? [["shown", "As Browse is filtered"]] : []),
      ...WHICH,
    ],
    images.length ? "chosen" : "all",
  );
  const undone = h("input", { type: "checkbox" });
  const shares = select(SHARES, "");
  const form = [
    field(
      "Format",
      format,
      whole
        ? "Only folders have a place for the classes of whole pictures."
        : "Boxes go along in every format but plain pictures.",
    ),
    field("Images", which),
    h("label.row", {}, undone, "Also those that are not done"),
    h(
      "p.quiet-text",
      {},
      whole
        ? "Only what is done leaves."
        : "Other programs take a picture without boxes for one without defects, so only what is done leaves.",
    ),
    field(
      "Images without a split",
      shares,
      "Images of one lot are never torn apart. The project keeps its splits as they are.",
    ),
  ];
  if (!(await ask(`Export ${of.name}`, "Export", form))) return;
  /** @type {Record<string, object>} */
  const asked = { chosen: { images }, shown: { filter }, all: {} };
  const chosen = asked[which.value] ?? { splits: [which.value] };
  const body = {
    format: format.value,
    ...chosen,
    states: undone.checked ? ["all"] : [],
    shares: shares.value.split(",").filter(Boolean).map(Number),
  };
  const place = h("div", { style: { display: "grid", gap: "8px" }, "aria-live": "polite" });
  const closed = ask(`Export ${of.name}`, "", place);
  await attempt(async () =>
    follow(await send("POST", `/api/projects/${encodeURIComponent(of.name)}/export`, body), place, exported)
  );
  await closed;
}

/** @param {Job} job */
function exported(job) {
  const { images, boxes, problems, file, left_out: stay } = job.result;
  const states = Object.entries(stay ?? {}).map(([state, number]) => `${count(number)} ${state}`);
  return [
    h("p.good", {}, `${many(images, "image")}${boxed(boxes)} are written.`),
    states.length > 0 && h("p", {}, `Left out by their state: ${states.join(", ")}.`),
    problems.length > 0 && [h("p.bad", {}, "Not everything could be written:"), listed(problems)],
    h("a.button.primary", { href: `/api/jobs/${job.id}/file`, download: "" }, `Download ${file}`),
  ];
}

/**
 * What Browse is filtered to, as it stands in the address; goldens are no images to export.
 * @param {URLSearchParams} from
 */
function filters(from) {
  const kept = [...from].filter(([name]) => FILTERS.includes(name) && name !== "sort");
  return kept.some(([name]) => name === "goldens") ? "" : new URLSearchParams(kept).toString();
}

/** @param {File[]} files */
function sum(files) {
  return files.length
    ? `${many(files.length, "file")}, ${bytes(files.reduce((total, file) => total + file.size, 0))}`
    : "";
}
