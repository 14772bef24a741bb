/** How detections stand against labels and against what was said of them; and what the rule says of the board. */

import { classOf, overlap } from "../../canvas/boxes.js";
import { nameOf } from "../../desk/desk.js";

/**
 * @typedef {import("../../desk/types.js").Proposal} Proposal
 * @typedef {import("../../desk/types.js").Box} Box
 * @typedef {import("../../common/answers.js").ReviewRule} Rule
 * @typedef {Pick<import("../../desk/desk.js").Desk, "item" | "sheet" | "refused" | "classes">} Board
 * @typedef {{detection: Proposal, word: string, label: Box | null, own: Box | null, open: boolean}} Stand
 */

const IOU = 0.5;
/** What the rule says of a classified picture, in words. */
export const WORDS = { pass: "it passes", fail: "it fails", ask: "a person is asked" };
/** @type {("x1" | "y1" | "x2" | "y2")[]} */
const CORNERS = ["x1", "y1", "x2", "y2"];

/** Greedy by score within a class, as COCO's tools and backend/matching.py do it.
 * @param {Proposal[]} detections best first @param {readonly Box[]} boxes @returns {Map<string, Box>} */
export function matched(detections, boxes) {
  const free = new Set(boxes);
  /** @type {Map<string, Box>} */
  const found = new Map();
  for (const detection of [...detections].sort((a, b) => b.score - a.score)) {
    let best = null;
    let most = IOU;
    for (const box of free) {
      const shared = classOf(box) === classOf(detection) ? overlap(box, detection) : 0;
      if (shared >= most) [best, most] = [box, shared];
    }
    if (best) {
      found.set(nameOf(detection), best);
      free.delete(best);
    }
  }
  return found;
}

/** What each detection above its threshold is: a word, the label it found, whether it waits for a person.
 * @param {Board} desk @param {(label: string) => number} least @returns {Stand[]} */
export function stands(desk, least) {
  const { item, sheet } = desk;
  if (!item) return [];
  const shown = item.proposals.filter((p) => p.score >= least(p.label) || said(desk, p));
  const found = matched(shown.filter((p) => !desk.refused.includes(p.idx)), sheet.boxes);
  const labelled = item.state === "done" || sheet.boxes.some((box) => box.detection?.run !== item.run);
  return shown.map((detection) => {
    const own = ownBox(sheet.boxes, detection);
    const label = own ?? found.get(nameOf(detection)) ?? null;
    return { detection, own, label, ...word(desk, detection, own, label, labelled) };
  });
}

/** @param {readonly Box[]} boxes @param {Proposal} p */
function ownBox(boxes, p) {
  return boxes.find((box) => box.detection && nameOf(box.detection) === nameOf(p)) ?? null;
}

/** @param {Board} desk @param {Proposal} p */
function said(desk, p) {
  return desk.refused.includes(p.idx) || desk.sheet.accepted.includes(p.idx) ||
    Boolean(ownBox(desk.sheet.boxes, p));
}

/** @param {Board} desk @param {Proposal} p @param {Box | null} own @param {Box | null} label @param {boolean} labelled */
function word(desk, p, own, label, labelled) {
  if (desk.refused.includes(p.idx)) return { word: "false call", open: false };
  if (own) return { word: changed(own, p) ? "corrected" : "accepted", open: false };
  if (desk.sheet.accepted.includes(p.idx)) return { word: "accepted", open: false };
  if (label) return { word: "TP", open: true };
  return { word: labelled ? "FP" : "", open: true };
}

/** @param {Box} box @param {Proposal} p */
function changed(box, p) {
  return classOf(box) !== classOf(p) ||
    CORNERS.some((corner) => Math.abs(box[corner] - p[corner]) > 0.05);
}

/** Labels that no detection shows. @param {Board} desk @param {Stand[]} stands_ */
export function missed(desk, stands_) {
  const shown = new Set(stands_.map((stand) => stand.label?.id));
  return desk.sheet.boxes.filter((box) => !shown.has(box.id) && box.detection?.run !== desk.item?.run);
}

/** What the project's rule says of a classified picture: by its class, else by the model's answer where
 * that is sure enough. @param {Board} desk @param {Pick<Rule, "severity" | "threshold" | "thresholds">} rule
 * @returns {"pass" | "fail" | "ask"} */
export function picture({ item, sheet, classes }, rule) {
  const [answer] = item?.proposals ?? [];
  const sure = answer && answer.score >= (rule.thresholds[answer.label] ?? rule.threshold);
  if (sheet.state !== "done" && !sure) return "ask";
  const label = sheet.state === "done" ? sheet.label : answer?.label;
  const severity = classes.find((one) => one.name === label)?.severity ?? 1;
  return severity >= rule.severity ? "fail" : "pass";
}

/** What the project's rule says of a board: it fails for each defect that is severe enough and not refused.
 * @param {Board} desk @param {Stand[]} stands_ @param {Pick<Rule, "severity">} rule
 * @returns {{verdict: "pass" | "fail", defects: string[]}} */
export function board(desk, stands_, rule) {
  const severity = new Map(desk.classes.map((c) => [c.name, c.severity]));
  const counts = (/** @type {string} */ label) => (severity.get(label) ?? 1) >= rule.severity;
  const open = stands_.filter((s) => s.open && !s.label && counts(s.detection.label)).map((s) =>
    s.detection.label
  );
  const labels = desk.sheet.boxes.filter((box) => counts(box.label)).map((box) => box.label);
  const defects = [...labels, ...open];
  return { verdict: defects.length ? "fail" : "pass", defects };
}
