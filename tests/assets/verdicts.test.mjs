/** What the rule says of a board, and which detection finds which label: the table that Python reads, too. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { nameOf, sheetOf } from "../../assets/desk/desk.js";
import * as verdicts from "../../assets/pages/review/verdicts.js";

const CASES = JSON.parse(readFileSync(new URL("../contracts/verdicts.json", import.meta.url), "utf8"));
const RUN = 7;

/** What a desk holds of a board, where nothing more is asked of it. */
function board({ boxes, detections, refused, accepted, severities }, state = "started") {
  const item = {
    state,
    run: RUN,
    boxes: boxes.map((box, at) => ({ id: `b${at}`, origin: "human", detection: null, ...box })),
    proposals: detections.map((one, idx) => ({ ...one, idx, run: RUN })),
    rejected: refused,
    accepted,
  };
  const classes = Object.entries(severities).map(([name, severity]) => ({ name, severity }));
  return { item, sheet: sheetOf(item), refused, classes };
}

for (const one of CASES) {
  test(`the rule: ${one.case}`, () => {
    const desk = board(one);
    const { threshold, thresholds } = one.rule;
    const stands = verdicts.stands(desk, (label) => thresholds[label] ?? threshold);
    assert.equal(verdicts.board(desk, stands, one.rule).verdict, one.verdict);
  });

  test(`the matching: ${one.case}`, () => {
    const { item } = board(one);
    const found = verdicts.matched(item.proposals, item.boxes);
    const at = item.proposals.map((p) => found.get(nameOf(p)) ?? null).map((box) =>
      box && item.boxes.indexOf(box)
    );
    assert.deepEqual(at, one.matched);
  });
}

const LABEL = { x1: 0, y1: 0, x2: 10, y2: 10, label: "open" };
const FOUND = { ...LABEL, score: 0.9 };
const AWAY = { x1: 50, y1: 50, x2: 60, y2: 60, label: "open", score: 0.8 };
const SAID = { boxes: [LABEL], detections: [FOUND, AWAY], refused: [], accepted: [], severities: {} };
const words = (desk) => verdicts.stands(desk, () => 0.5).map((stand) => stand.word);

test("a detection over a label is right, one over nothing is a false call", () => {
  assert.deepEqual(words(board(SAID, "done")), ["TP", "FP"]);
});

test("where nobody has labelled yet, one over nothing is undecided", () => {
  assert.deepEqual(words(board({ ...SAID, boxes: [] })), ["", ""]);
});

test("what a person said goes before what the labels say", () => {
  assert.deepEqual(words(board({ ...SAID, refused: [1], accepted: [0] })), ["accepted", "false call"]);
});

test("a refused detection finds no label, so that the label is missed", () => {
  const desk = board({ ...SAID, refused: [0] });
  assert.deepEqual(verdicts.missed(desk, verdicts.stands(desk, () => 0.5)).map((box) => box.id), ["b0"]);
});

test("a box that came from a detection and was moved is corrected", () => {
  const detection = { run: RUN, image: 1, idx: 0 };
  const taken = (x2) => board({ ...SAID, boxes: [{ ...LABEL, x2, detection }], detections: [FOUND] });
  assert.deepEqual(words(taken(10)), ["accepted"]);
  assert.deepEqual(words(taken(12)), ["corrected"]);
});
