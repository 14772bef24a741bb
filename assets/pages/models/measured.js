/** What was measured of a model: by class, in drawings, and where it differs from another one. */

import { h } from "../../common/dom.js";
import { confusion, f1Score, precisionRecall, reliability } from "./drawings.js";
import { address, project } from "../../common/site.js";
import { count, many, share } from "../../common/words.js";

/** @typedef {import("../../common/answers.js").Evaluation} Evaluation */
/** @typedef {import("../../common/answers.js").Against} Against */
/** @typedef {keyof import("../../common/answers.js").ClassFigures} Figure */

const SHOWN = 40;
/** @type {Record<string, string>} */
const SPLITS = { val: "validation", train: "training", test: "test" };

/**
 * @param {{evaluation: Evaluation, against?: Against}} told
 * @param {Record<string, string>} colors of the classes
 */
export function measured(told, colors) {
  const seen = told.evaluation, against = told.against ?? {};
  if (!seen.per_class) return h("p.quiet-text", {}, "Not measured yet.");
  return [
    h(
      "p.quiet-text",
      {},
      `Measured on ${count(seen.images ?? 0)} images of the ${SPLITS[seen.split ?? ""] ?? "held-out"} split${
        seen.iou ? `, matched at IoU ≥ ${share(seen.iou, 2)}` : ""
      }.`,
    ),
    perClass(seen.per_class, against.per_class ?? {}, against.model),
    seen.curves && [precisionRecall(seen.curves, colors), f1Score(seen.curves, colors)],
    h(
      "div.two",
      {},
      seen.confusion && confusion(seen.confusion, colors),
      seen.reliability && seen.reliability.length > 0 && reliability(seen.reliability, seen.ece),
    ),
    seen.sizes &&
    h(
      "p.quiet-text.number",
      {},
      Object.entries(seen.sizes).map(([name, one]) =>
        `${name}: mAP ${share(one.map)} on ${count(one.truths)} boxes`
      ).join(" · "),
    ),
    byImage(against),
  ];
}

/**
 * @param {Record<string, import("../../common/answers.js").ClassFigures>} seen
 * @param {Record<string, import("../../common/answers.js").FigureDifference>} against
 * @param {string | undefined} other the model that is compared with
 */
function perClass(seen, against, other) {
  const detects = Object.values(seen).some((one) => "ap50" in one);
  /** @type {[Figure, string][]} */
  const columns = detects
    ? [
      ["truths", "Boxes"],
      ["ap50", "AP@.5"],
      ["ap50_95", "AP .5:.95"],
      ["precision", "Precision"],
      ["recall", "Recall"],
      ["f1", "F1"],
      ["score", "At score"],
    ]
    : [["truths", "Images"], ["precision", "Precision"], ["recall", "Recall"], ["f1", "F1"]];
  /** @type {Partial<Record<Figure, string>>} */
  const why = { score: "Precision, recall and F1 stand at the score where the F1 of the class is best" };
  return h(
    "table",
    {},
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        h("th", {}, "Class"),
        columns.map(([key, words]) => h("th.number", { title: why[key] ?? "" }, words)),
        other && h("th.number", {}, `Δ to ${other}`),
      ),
    ),
    h(
      "tbody",
      {},
      Object.entries(seen).map(([name, one]) =>
        h(
          "tr",
          {},
          h("td", {}, name),
          columns.map(([key]) =>
            h("td.number", {}, key === "truths" ? count(one[key] ?? 0) : share(one[key]))
          ),
          other && delta(against[name]),
        )
      ),
    ),
  );
}

/** @param {import("../../common/answers.js").FigureDifference | undefined} found */
function delta(found) {
  if (!found || found.difference === null || found.difference === undefined) return h("td.number", {}, "");
  const words = `${found.difference >= 0 ? "+" : "−"}${share(Math.abs(found.difference))}`;
  return h(
    `td.number${found.better === true ? ".good" : found.better === false ? ".bad" : ""}`,
    {
      title: found.interval ? `95 % between ${share(found.interval[0])} and ${share(found.interval[1])}` : "",
    },
    words,
    found.better === true ? " better" : found.better === false ? " worse" : "",
  );
}

/**
 * Boxes gained and lost, image by image, each image in Review with what the newer one found.
 * @param {Against} against
 */
function byImage(against) {
  const rows = against.images ?? [];
  if (!rows.length) return null;
  /** @param {"gained" | "lost"} key */
  const sum = (key) => rows.reduce((total, one) => total + one[key], 0);
  /** @param {number} number */
  const changed = (number) => h("td.number", {}, number ? count(number) : "·");
  /** @param {import("../../common/answers.js").ImageDifference} one */
  const line = (one) =>
    h(
      "tr",
      {},
      h(
        "td",
        {},
        against.run
          ? h("a", {
            href: address({ project: project(), tab: "review", run: against.run, image: one.image_id }),
          }, one.image)
          : one.image,
      ),
      changed(one.gained),
      changed(one.lost),
      against.gained ? null : h(
        "td.number",
        {},
        one.false_calls ? `${one.false_calls > 0 ? "+" : "−"}${count(Math.abs(one.false_calls))}` : "·",
      ),
    );
  return h(
    "details",
    {},
    h(
      "summary",
      {},
      `Against ${against.model}, image by image: ${
        byWords(against, sum("gained"), sum("lost"), rows.length)
      }`,
    ),
    h(
      "table",
      {},
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("th", {}, "Image"),
          ["Gained", "Lost", ...(against.gained ? [] : ["False calls"])].map((name) =>
            h("th.number", {}, name)
          ),
        ),
      ),
      h("tbody", {}, rows.slice(0, SHOWN).map(line)),
    ),
    rows.length > SHOWN && h("p.quiet-text", {}, `These are the ${SHOWN} that differ most.`),
  );
}

/**
 * How many boxes, or classified pictures with their intervals, were gained and lost.
 * @param {Against} against @param {number} gained @param {number} lost @param {number} images
 */
function byWords(against, gained, lost, images) {
  if (!against.gained || !against.lost) {
    return `${many(gained, "box", "boxes")} gained, ${count(lost)} lost in ${many(images, "image")}`;
  }
  return `${pictures(against.gained)} gained, ${pictures(against.lost)} lost`;
}

/** @param {import("../../common/answers.js").PictureCount} found */
function pictures({ images, interval }) {
  const between = interval ? ` (95 %: ${interval.map((one) => count(Math.round(one))).join(" to ")})` : "";
  return `${many(images, "image")}${between}`;
}
