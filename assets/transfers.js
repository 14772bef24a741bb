/** Pictures in, labels out: upload or name a place, then follow the job that does it. */

import { ask } from "./dialog.js";
import { field, fill, h, select } from "./dom.js";
import { Failure, get, send, token, upload } from "./net.js";
import { attempt, site, toast } from "./site.js";
import { progress } from "./train.js";
import { bytes, count, many } from "./words.js";

const FORMATS = [["auto", "Recognise it"], ["deeppcb", "DeepPCB, with templates"], ["voc", "Pascal VOC XML"], ["yolo", "YOLO text files"], ["coco", "COCO JSON"], ["folders", "Plain pictures, or a folder a class"]];
const FINAL = ["done", "failed", "cancelled"];
const AT_ONCE = 3;
const SHOWN = 50;

/** Bring pictures into a project. @param {{id: number, name: string}} project */
export async function importInto(project) {
  const files = h("input", { type: "file", multiple: true });
  const folder = h("input", { type: "file", webkitdirectory: true });
  const path = h("input", { placeholder: "/data/boards or /data/boards.zip" });
  const format = select(FORMATS, "auto");
  const chosen = h("p.quiet-text");
  const say = () => (chosen.textContent = sum([...files.files, ...folder.files]));
  files.addEventListener("change", say);
  folder.addEventListener("change", say);
  const yes = await ask(`Import into ${project.name}`, "Import", [
    field("Pictures, label files or an archive", files), field("Or a whole folder", folder), chosen,
    h("div.for-admin", {}, field("Or a place on the server", path)), field("Format", format, "Labels that come along are taken; what is there already is skipped."),
  ]);
  if (!yes) return;
  await attempt(() => run(project, [...files.files, ...folder.files], path.value, format.value));
}

async function run(project, files, path, format) {
  const place = h("div", { style: { display: "grid", gap: "8px" }, "aria-live": "polite" });
  const closed = ask(`Import into ${project.name}`, "", place);
  const body = { format, path, token: "" };
  try {
    if (files.length) {
      body.path = "";
      body.token = token();
      await sendAll(project, files, body.token, place);
    }
    await follow(await send("POST", `/api/projects/${encodeURIComponent(project.name)}/import`, body), place, imported);
    site.dispatchEvent(new Event("projects"));
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    // Whoever has closed the dialog is told all the same.
    if (place.isConnected) fill(place, h("p.bad", { role: "alert" }, error.message));
    else toast(`The import into ${project.name} failed: ${error.message}`, "failed");
  }
  await closed;
}

async function sendAll(project, files, name, place) {
  const shares = new Map();
  const all = files.reduce((total, file) => total + file.size, 0) || 1;
  const show = () => {
    const gone = [...shares.entries()].reduce((total, [file, share]) => total + share * file.size, 0);
    fill(place, progress({ state: "running", progress: gone / all, message: `Uploading: ${bytes(gone)} of ${bytes(all)}` }));
  };
  const waiting = [...files];
  const line = async () => {
    for (let file = waiting.shift(); file; file = waiting.shift()) {
      const inside = (file.webkitRelativePath || file.name).split("/").map(encodeURIComponent).join("/");
      await upload(`/api/projects/${encodeURIComponent(project.name)}/uploads/${name}/${inside}`, file, (share) => (shares.set(file, share), show()));
      shares.set(file, 1);
      show();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, line));
}

/** Show how far a job is, then what it says at its end. */
export async function follow(job, place, say) {
  for (;;) {
    fill(place, progress(job), job.state === "queued" && h("p.quiet-text", {}, "You may close this; Jobs shows how far it is."));
    if (FINAL.includes(job.state)) break;
    await new Promise((resolve) => setTimeout(resolve, 500));
    job = await get(`/api/jobs/${job.id}`);
  }
  if (job.state === "done") fill(place, say(job));
  else fill(place, h("p.bad", { role: "alert" }, job.error || "It was cancelled."));
  return job;
}

function imported(job) {
  const result = job.result;
  return [
    h("p.good", {}, `${many(result.images, "image")}, ${many(result.goldens, "golden")} and ${many(result.boxes, "box", "boxes")} added; ${count(result.skipped)} were there already.`),
    result.unusable > 0 && [h("p.bad", {}, `${many(result.unusable, "file or line", "files or lines")} could not be used:`), listed(result.problems)],
  ];
}

function listed(problems) {
  return h("ul", { style: { margin: 0, maxHeight: "240px", overflow: "auto" } },
    problems.slice(0, SHOWN).map((one) => h("li", {}, h("span.mono", {}, `${one.file}${one.line ? `:${one.line}` : ""}`), ` ${one.reason}`)));
}

/** Write a project's pictures and labels into one file. @param {{id: number, name: string}} project */
export async function exportFrom(project) {
  const format = select(FORMATS.slice(1), "coco");
  if (!(await ask(`Export ${project.name}`, "Export", field("Format", format, "Boxes go along in every format but plain pictures.")))) return;
  const place = h("div", { style: { display: "grid", gap: "8px" }, "aria-live": "polite" });
  const closed = ask(`Export ${project.name}`, "", place);
  await attempt(async () => {
    const job = await send("POST", `/api/projects/${encodeURIComponent(project.name)}/export`, { format: format.value });
    await follow(job, place, (done) => [
      h("p.good", {}, `${many(done.result.images, "image")} and ${many(done.result.boxes, "box", "boxes")} are written.`),
      done.result.problems.length > 0 && [h("p.bad", {}, "Not everything could be written:"), listed(done.result.problems)],
      h("a.button.primary", { href: `/api/jobs/${done.id}/file`, download: "" }, `Download ${done.result.file}`),
    ]);
  });
  await closed;
}

function sum(files) {
  return files.length ? `${many(files.length, "file")}, ${bytes(files.reduce((total, file) => total + file.size, 0))}` : "";
}


