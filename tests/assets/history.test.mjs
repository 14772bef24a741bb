/** Undo and redo. */

import assert from "node:assert/strict";
import test from "node:test";
import "./browser.mjs";
import { History } from "../../assets/desk/history.js";

const sheet = (comment, more = {}) => ({
  boxes: [],
  state: "started",
  label: "",
  comment,
  run: null,
  rejected: [],
  accepted: [],
  verdict: "",
  ...more,
});

test("what was done is undone and done again, step by step", () => {
  const history = new History();
  history.push(1, sheet("a"));
  history.push(1, sheet("b"));
  assert.equal(history.undo(1, sheet("c"))?.comment, "b");
  assert.equal(history.undo(1, sheet("b"))?.comment, "a");
  assert.equal(history.undo(1, sheet("a")), null);
  assert.equal(history.redo(1, sheet("a"))?.comment, "b");
  assert.equal(history.redo(1, sheet("b"))?.comment, "c");
  assert.equal(history.redo(1, sheet("c")), null);
});

test("who does something else cannot redo what was undone", () => {
  const history = new History();
  history.push(1, sheet("a"));
  history.undo(1, sheet("b"));
  history.push(1, sheet("a"));
  assert.equal(history.redo(1, sheet("c")), null);
});

test("each image has its own", () => {
  const history = new History();
  history.push(1, sheet("a"));
  assert.equal(history.undo(2, sheet("x")), null);
  history.forget(1);
  assert.equal(history.undo(1, sheet("b")), null);
});

test("the oldest of many steps is let go", () => {
  const history = new History();
  for (let step = 0; step < 250; step++) history.push(1, sheet(String(step)));
  assert.equal(history.of(1).past.length, 200);
  assert.equal(history.of(1).past[0].comment, "50");
});

test("a reload keeps it, unless others have changed the image meanwhile", () => {
  const stood = new Map([[1, sheet("now")], [2, sheet("now")]]);
  const before = new History();
  before.outlive((image) => stood.get(image));
  before.push(1, sheet("a"));
  before.push(2, sheet("a"));
  dispatchEvent(new Event("pagehide"));

  const after = new History();
  after.outlive(() => undefined);
  after.resume(1, sheet("now"));
  after.resume(2, sheet("theirs"));
  assert.equal(after.undo(1, sheet("now"))?.comment, "a");
  assert.equal(after.undo(2, sheet("theirs")), null);
});

test("of more than there is room for, what was changed last outlives the page", () => {
  const history = new History();
  const long = "x".repeat(900_000);
  history.push(1, sheet(long));
  history.push(2, sheet(long));
  assert.deepEqual(history.packed(() => sheet("now")).map((one) => JSON.parse(one)[0]), [2]);
});
