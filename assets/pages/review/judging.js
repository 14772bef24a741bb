/** The parts of the review's panel, and what accepting and refusing a detection does to the image. */

import { fill, h } from "../../common/dom.js";
import { swatch } from "../../common/letters.js";
import { nameOf } from "../../desk/desk.js";
import { many } from "../../common/words.js";
import { tip } from "../../desk/keys.js";
import { short } from "../../desk/panel/panel.js";
import * as verdicts from "./verdicts.js";

/**
 * @typedef {import("./review.js").Review} Review
 * @typedef {import("./verdicts.js").Stand} Stand
 * @typedef {import("../../desk/desk.js").Desk} Desk
 * @typedef {import("../../desk/types.js").Box} Box
 * @typedef {import("../../canvas/paint.js").Mark} Mark
 */

/** @type {Record<string, Mark["kind"]>} */
const KINDS = { TP: "solid", FP: "crossed", "": "dashed", "false call": "crossed" };
/** What a person reads; "": nobody has said anything of it yet. */
/** @type {Record<string, string>} */
const WORDS = { TP: "as labelled", FP: "not labelled", FN: "missed", "": "undecided" };
/** @type {Record<string, string>} */
const SIGNS = { accepted: "✓", corrected: "✓", "false call": "×" };

/** What a detection says of itself on the picture.
 * @type {Record<string, string>} */
const SAID = { "false call": "×", TP: "", FP: WORDS.FP };

/** Detections over labels: line, mark and word tell what each is. @param {Review} page @returns {Mark[]} */
export function marks(page) {
  const { desk } = page;
  const stands = page.stands;
  const found = new Map(stands.map((s) => [s.label?.id, s]));
  const lacking = new Set(verdicts.missed(desk, stands).map((box) => box.id));
  const labels = page.showLabels
    ? desk.sheet.boxes.map((box) => labelMark(page, box, found.get(box.id), lacking.has(box.id)))
    : [];
  const open = page.showDetections ? stands.filter((s) => !s.own).map((s) => detectionMark(page, s)) : [];
  return [...open, ...labels];
}

/** @param {Review} page @param {Box} box @param {Stand | undefined} stand @param {boolean} lacking @returns {Mark} */
function labelMark(page, box, stand, lacking) {
  const selected = page.desk.selected.has(box.id);
  const word = lacking ? WORDS.FN : stand?.own ? SIGNS[stand.word] : "";
  return {
    ...box,
    color: page.color(box.label),
    text: `${word} ${box.label}`.trim(),
    letter: page.letter(box.label),
    kind: lacking ? "dotted" : "solid",
    selected,
    hover: page.hovered === box.id,
    handles: selected && page.desk.chosen.length === 1 && page.desk.editable,
  };
}

/** @param {Review} page @param {Stand} stand @returns {Mark} */
function detectionMark(page, { detection, word, label }) {
  const name = nameOf(detection);
  const kind = label && page.showLabels && word === "TP" ? "dashed" : KINDS[word] ?? "solid";
  const said = SAID[word] ?? word;
  return {
    ...detection,
    id: name,
    color: page.color(detection.label),
    kind,
    selected: page.desk.selected.has(name),
    text: `${said} ${detection.label} ${short(detection.score)}`.trim(),
    letter: page.letter(detection.label),
    hover: page.hovered === name,
  };
}

/** What a key means: the chosen detections, also those decided before, else the surest open one. @param {Review} page */
export function meant(page) {
  const stands = page.stands;
  const { selected } = page.desk;
  const chosen = stands.filter((s) => selected.has(nameOf(s.detection)) || (s.own && selected.has(s.own.id)));
  if (chosen.length) return chosen;
  return stands.filter((s) => s.open).sort((a, b) => b.detection.score - a.detection.score).slice(0, 1);
}

/** A detection over a label confirms it; one over nothing becomes a box. @param {Desk} desk @param {Stand[]} stands */
export function accept(desk, stands) {
  const fresh = stands.filter((s) => !s.own);
  if (!fresh.length) return;
  const over = fresh.filter((s) => s.label).map((s) => s.detection.idx);
  const bare = fresh.filter((s) => !s.label).map((s) => desk.taken(s.detection));
  const indices = fresh.map((s) => s.detection.idx);
  desk.commit(fresh.length > 1 ? `accept ${fresh.length}` : "accept", {
    boxes: [...desk.sheet.boxes, ...bare],
    accepted: [...desk.sheet.accepted, ...over],
    ...desk.refusing(desk.refused.filter((idx) => !indices.includes(idx))),
  });
}

/** A refused detection takes its own box with it. @param {Desk} desk @param {Stand[]} stands */
export function reject(desk, stands) {
  const indices = stands.map((s) => s.detection.idx);
  const own = new Set(stands.map((s) => s.own?.id));
  desk.commit("false call", {
    boxes: desk.sheet.boxes.filter((box) => !own.has(box.id)),
    accepted: desk.sheet.accepted.filter((idx) => !indices.includes(idx)),
    ...desk.refusing([...new Set([...desk.refused, ...indices])]),
  });
}

/** The defect before the eyes: board and golden side by side, and the three answers. @param {Review} page */
export function defect(page) {
  const title = h("h3");
  const words = h("div.lp-defect", {});
  /** @param {string} key @param {string} text @param {string} does @param {() => any} run */
  const button = (key, text, does, run) =>
    h("button.lp-button", { onclick: run, title: tip(does, "review") }, h("kbd", {}, key), text);
  const root = h(
    "section.lp-section.for-boxes",
    {},
    title,
    page.closeup.root,
    words,
    h(
      "div.lp-three.for-labeler",
      {},
      button("A", "Defect", "accept", () => page.decide("accept")),
      button("R", "False call", "reject", () => page.decide("reject")),
      button("D", "Missed", "draw", () => page.acts.draw()),
    ),
  );
  const render = () => {
    const { desk } = page;
    const stands = [...page.stands].sort((a, b) => b.detection.score - a.detection.score);
    const at = stands.findIndex((s) =>
      desk.selected.has(nameOf(s.detection)) || (s.own && desk.selected.has(s.own.id))
    );
    const [box] = desk.chosen;
    const stand = stands[at];
    const shown = stand ? stand.own ?? stand.detection : box;
    const color = shown ? page.color(shown.label) : "";
    title.textContent = stand
      ? `Defect ${at + 1} of ${stands.length}`
      : box
      ? "Label"
      : stands.length
      ? "All decided"
      : "Nothing found here";
    fill(
      words,
      shown &&
        [
          swatch(color),
          h("b", {}, shown.label),
          stand && h("span.number", {}, short(stand.detection.score)),
          h("span.lp-word", {}, stand ? WORDS[stand.word] ?? stand.word : ""),
        ],
    );
    page.closeup.show(desk.item, shown ? { ...shown, color, text: "", kind: "solid" } : null);
  };
  return { root, render };
}

/** Every detection and every missed label of the image, with its word. @param {Review} page */
export function list(page) {
  const rows = h("div.lp-boxes.lp-found");
  const count = h("span.lp-count");
  /** @param {"showLabels" | "showDetections"} name @param {string} words */
  const toggle = (name, words) =>
    h(
      "label.lp-check",
      {},
      h("input", {
        type: "checkbox",
        checked: true,
        onchange: (/** @type {any} */ e) => {
          page[name] = e.target.checked;
          page.desk.changed("view");
        },
      }),
      words,
    );
  const root = h(
    "section.lp-section.for-boxes",
    {},
    h("h3", {}, "Found", count),
    h("div.lp-toggles", {}, toggle("showLabels", "Labels"), toggle("showDetections", "Detections")),
    rows,
  );
  /** @param {string} id @param {string} label @param {string} word @param {string} score */
  const row = (id, label, word, score) =>
    h(
      "div.lp-row",
      { "aria-current": String(page.desk.selected.has(id)) },
      h(
        "button.lp-box",
        { onclick: () => page.desk.select([id]) },
        swatch(page.color(label), page.letter(label)),
        h("span.lp-name", {}, label),
        h("span.lp-word", {}, word),
        h("span.lp-size", {}, score),
      ),
    );
  const render = () => {
    const stands = page.stands;
    const lacking = verdicts.missed(page.desk, stands);
    const right = stands.filter((s) => s.label && s.word !== "false call").length;
    const wrong = stands.filter((s) => s.word === "FP" || s.word === "false call").length;
    count.textContent = `${right} right · ${wrong} false · ${lacking.length} missed`;
    fill(
      rows,
      stands.slice(0, 100).map((s) =>
        row(
          s.own?.id ?? nameOf(s.detection),
          (s.own ?? s.detection).label,
          WORDS[s.word] ?? s.word,
          short(s.detection.score),
        )
      ),
      lacking.slice(0, 100).map((box) => row(box.id, box.label, "missed", "")),
    );
  };
  return { root, render };
}

/** The rule's verdict beside the inspector's own. @param {Review} page */
export function board(page) {
  const rule = h("p.lp-rule");
  const pass = h(
    "button.lp-button",
    { title: tip("pass", "review"), onclick: () => page.finish("pass") },
    h("kbd", {}, "P"),
    "Pass",
  );
  const fail = h(
    "button.lp-button",
    { title: tip("fail", "review"), onclick: () => page.finish("fail") },
    h("kbd", {}, "B"),
    "Fail",
  );
  const next = h(
    "button.lp-button.primary",
    { title: tip("done", "review"), onclick: () => page.finish("") },
    h("kbd", {}, "Enter"),
    "Done, next",
  );
  const root = h(
    "section.lp-section.for-boxes",
    {},
    h("h3", {}, "Board"),
    rule,
    h("div.lp-three.for-labeler", {}, pass, fail, next),
  );
  const render = () => {
    const { verdict, defects } = verdicts.board(page.desk, page.ruled, page.rule);
    const own = page.desk.sheet.verdict;
    const severe = page.rule.severity > 1 ? ` of severity ${page.rule.severity} or more` : "";
    rule.textContent = `Rule: ${verdict}${
      defects.length ? `, for ${many(defects.length, "defect")}${severe}` : ""
    }.${own ? ` Yours: ${own}.` : ""}`;
    pass.setAttribute("aria-pressed", String(own === "pass"));
    fail.setAttribute("aria-pressed", String(own === "fail"));
    [pass, fail, next].forEach((button) => (button.disabled = !page.desk.editable || !page.desk.item));
  };
  return { root, render };
}
