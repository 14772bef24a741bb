/** The geometry of boxes. */

import assert from "node:assert/strict";
import test from "node:test";
import * as boxes from "../../assets/canvas/boxes.js";

const box = (x1, y1, x2, y2, more = {}) => ({
  id: "a",
  x1,
  y1,
  x2,
  y2,
  label: "open",
  origin: "human",
  detection: null,
  ...more,
});
const corners = ({ x1, y1, x2, y2 }) => [x1, y1, x2, y2];

test("the smallest box under a point is hit", () => {
  const small = box(20, 20, 30, 30);
  assert.equal(boxes.boxAt([box(0, 0, 100, 100), small, box(10, 10, 60, 60)], { x: 25, y: 25 }, 0), small);
  assert.equal(boxes.boxAt([small], { x: 33, y: 25 }, 2), null);
  assert.equal(boxes.boxAt([small], { x: 33, y: 25 }, 3), small);
});

test("the nearest handle within reach is taken", () => {
  const r = box(0, 0, 100, 50);
  assert.equal(boxes.handleAt(r, { x: 97, y: 48 }, 5), "se");
  assert.equal(boxes.handleAt(r, { x: 50, y: 2 }, 5), "n");
  assert.equal(boxes.handleAt(r, { x: 30, y: 25 }, 5), "");
});

test("a moved box stays in the image, whole", () => {
  assert.deepEqual(corners(boxes.moved(box(10, 10, 30, 20), -50, 500, 100, 80)), [0, 70, 20, 80]);
});

test("a box that is pulled through itself turns over", () => {
  assert.deepEqual(corners(boxes.resized(box(10, 10, 30, 20), "e", { x: 4, y: 0 }, 100, 80)), [
    4,
    10,
    10,
    20,
  ]);
});

test("a box that is pulled to nothing keeps a pixel, also at the edge", () => {
  assert.deepEqual(corners(boxes.resized(box(10, 10, 30, 20), "w", { x: 30, y: 0 }, 100, 80)), [
    30,
    10,
    31,
    20,
  ]);
  assert.deepEqual(corners(boxes.atLeast({ x1: 100, y1: 80, x2: 100, y2: 80 }, 100, 80)), [99, 79, 100, 80]);
});

test("boxes overlap by the share of what both cover", () => {
  assert.equal(boxes.overlap(box(0, 0, 10, 10), box(0, 0, 10, 5)), 0.5);
  assert.equal(boxes.overlap(box(0, 0, 10, 10), box(10, 0, 20, 10)), 0);
});

test("a copy lies aside, is of a person, and knows no detection", () => {
  const from = box(90, 0, 100, 10, { origin: "model", detection: { run: 1, image: 2, idx: 3 } });
  const copy = boxes.copied(from, 12, 100, 100);
  assert.deepEqual(corners(copy), [78, 12, 88, 22]);
  assert.deepEqual([copy.origin, copy.detection], ["human", null]);
  assert.notEqual(copy.id, from.id);
});

test("what is pasted into a smaller image is cut at its edge, or left out", () => {
  const there = boxes.pasted([box(0, 0, 60, 60), box(60, 0, 70, 10)], 50, 40);
  assert.deepEqual(there.map(corners), [[0, 0, 50, 40]]);
});

test("two sets of boxes say the same whatever their order and the names of their classes", () => {
  const one = box(0, 0, 1, 1, { class_id: 4 });
  const two = box(5, 5, 9, 9, { id: "b" });
  assert.ok(boxes.same([one, two], [two, { ...one, label: "renamed" }]));
  assert.ok(!boxes.same([one], [{ ...one, x2: 1.01 }]));
  assert.ok(!boxes.same([one], [{ ...one, class_id: 5 }]));
  assert.ok(!boxes.same([one], [one, two]));
});

test("both sides are joined without saying anything twice", () => {
  const theirs = [box(0, 0, 10, 10)];
  const mine = [box(0, 0, 10, 10, { id: "b" }), box(20, 20, 30, 30)];
  const joined = boxes.joined(mine, theirs);
  assert.deepEqual(joined.map(corners), [[0, 0, 10, 10], [20, 20, 30, 30]]);
  assert.equal(new Set(joined.map((one) => one.id)).size, 2);
});
