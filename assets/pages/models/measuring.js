/** A measurement asked for: of a model, or of what another program found; then what came out. */

import { ask } from "../../common/dialog.js";
import { field, h, select } from "../../common/dom.js";
import { measured } from "./measured.js";
import { send, token, upload } from "../../common/net.js";
import { project } from "../../common/site.js";
import { follow } from "../projects/transfers.js";
import { count, many, share } from "../../common/words.js";

/** @typedef {import("../../common/answers.js").JobCard} Job */
/** @typedef {import("../../common/answers.js").ModelCard} Model */
/** @typedef {Record<string, string>} Colors by the names of the classes */

/**
 * Measure a model, alone or beside another one of `found`; true once it was asked for.
 * @param {Model} told @param {Model[]} found @param {Colors} colors
 */
export async function evaluate(told, found, colors) {
  const how = conditions(told);
  const others = found.filter((one) => one.state === "ready" && one.id !== told.id);
  const beside = select([
    ["", "No other model"],
    ...others.map((one) => [one.name, `${one.name}${one.champion ? ", the champion" : ""}`]),
  ], "");
  const fields = [
    ...how.fields,
    others.length > 0 && field("Compare with", beside, "On the same images, by class and by image."),
  ];
  if (!(await ask(`Evaluate ${told.name}`, "Evaluate", fields))) return false;
  /** @type {Job} */
  const job = await send("POST", `/api/models/${told.id}/evaluate`, {
    ...how.chosen(),
    against: beside.value,
  });
  return show(`Evaluation of ${told.name}`, job, colors);
}

/**
 * Measure a file of boxes or classes beside a model; true once it was asked for.
 * @param {Model} told @param {Colors} colors
 */
export async function judge(told, colors) {
  const { name } = told, how = conditions(told);
  const file = h("input", { type: "file", accept: ".json,.csv,.txt", required: true });
  const fields = [
    field(
      "What the other program found",
      file,
      classifies(told)
        ? "A table with the columns name, label and, if you like, score."
        : "COCO results, or a table with the columns name, label, score, x1, y1, x2, y2.",
    ),
    ...how.fields,
  ];
  if (!(await ask(`Judge a file beside ${name}`, "Judge", fields))) return false;
  const [chosen] = file.files;
  const under = token(), base = `/api/projects/${encodeURIComponent(project())}`;
  await upload(`${base}/uploads/${under}/${encodeURIComponent(chosen.name)}`, chosen, () => {});
  /** @type {Job} */
  const job = await send("POST", `${base}/judge`, { ...how.chosen(), token: under, model: name });
  return show(`${chosen.name} beside ${name}`, job, colors);
}

/** Whether it gives each picture one class; also one that was never measured. @param {Model} told */
export function classifies(told) {
  return told.family === "classifier";
}

/** The fields that say by which images, and what counts as found where that are boxes. @param {Model} told */
function conditions(told) {
  const split = select(
    [["", "Held out"], ["test", "Test"], ["val", "Validation"], ["train", "Training"]],
    "",
  );
  const iou = h("input", { type: "number", min: 0.05, max: 0.95, step: 0.01, value: 0.5 });
  return {
    fields: [
      field("Split", split),
      !classifies(told) &&
      field("Overlap that counts as found (IoU)", iou, "0.33 is what DeepPCB's paper uses."),
    ],
    chosen: () => ({ split: split.value, iou: Number(iou.value) }),
  };
}

/** @param {string} title @param {Job} job @param {Colors} colors */
async function show(title, job, colors) {
  const place = h("div", { style: { display: "grid", gap: "12px" }, "aria-live": "polite" });
  const closed = ask(title, "", place, { wide: true });
  await follow(
    job,
    place,
    (
      { result },
    ) => [
      headline(result),
      result.verdict && h("p", {}, result.verdict),
      leftOut(result),
      measured({ evaluation: result, against: result.against }, colors),
    ],
  );
  await closed;
  return true;
}

/** The figures of an evaluation in one line. @param {import("../../common/answers.js").Evaluation} found */
function headline(found) {
  const chosen = `mAP@${share(found.iou, 2).replace(/0$/, "")}`;
  const detected = new Map([[chosen, found.map], ["mAP@.5", found.map50], ["mAP .5:.95", found.map50_95]]);
  const classified = new Map([
    ["Accuracy", found.accuracy],
    ["among the three likeliest", found.top3],
    ["mean F1", found.macro_f1],
    ["off by (ECE)", found.ece],
  ]);
  const figures = found.accuracy === undefined
    ? [...detected]
    : [...classified].filter(([, value]) => value !== undefined);
  return h(
    "div.facts",
    {},
    figures.map(([name, value]) => h("span", {}, `${name} `, h("b", {}, share(value)))),
  );
}

/** @param {Record<string, any>} result */
function leftOut({ strange_images: images, strange_classes: classes }) {
  if (!images && !classes) return null;
  return h(
    "p.warn",
    {},
    `Left out: ${many(images, "line")} of images that it is not judged by, ${
      count(classes)
    } of classes that the project does not have.`,
  );
}
