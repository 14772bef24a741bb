/** Where values lie on an axis, which are written beside it, and the table behind a plot. */

import assert from "node:assert/strict";
import test from "node:test";
import { bounds, csv, percent, plain, scale, table, ticks } from "../../assets/plots/scales.js";

const axis = (more) => ({ label: "Yield", ...more });

for (
  const [low, high, wanted, found] of [
    [0, 1, 5, [0, 0.2, 0.4, 0.6, 0.8, 1]],
    [0, 100, 4, [0, 25, 50, 75, 100]],
    [3, 97, 4, [25, 50, 75]],
    [-0.003, 0.003, 3, [-0.002, 0, 0.002]],
    [1, 7, 6, [1, 2, 3, 4, 5, 6, 7]],
    [5, 5, 4, [5]],
  ]
) {
  test(`${low} to ${high} is marked at round values`, () => assert.deepEqual(ticks(low, high, wanted), found));
}

test("a scale lays its ends on its ends, and turned round for what goes up", () => {
  const up = scale(axis({ from: 0, to: 1 }), [], 200, 10);
  assert.deepEqual([up.at(0), up.at(1), up.at(0.5)], [200, 10, 105]);
});

test("names have each a place of their own", () => {
  const lots = scale(axis({ names: ["a", "b"] }), [], 0, 100);
  assert.deepEqual([lots.at("a"), lots.at("b"), lots.width], [25, 75, 50]);
  assert.deepEqual(lots.ticks.map(({ words }) => words), ["a", "b"]);
});

test("one value alone, or none, still has an axis around it", () => {
  assert.deepEqual(bounds(axis({}), [4]), [2, 6]);
  assert.deepEqual(bounds(axis({ from: 0 }), [0]), [0, 1]);
  assert.deepEqual(bounds(axis({}), []), [0, 1]);
  assert.deepEqual(bounds(axis({}), [1, Number.NaN, 3]), [1, 3]);
});

test("values are told with their unit", () => {
  assert.equal(scale(axis({ unit: "boards" }), [0, 5000], 0, 400).told(1250), "Yield: 1,250 boards");
  assert.equal(percent(0.9561), "95.6 %");
  assert.deepEqual([0.9997, 0.999999, 1].map(percent), ["99.97 %", "99.99 %", "100 %"]);
  assert.equal(plain(0.00004), "4.0e-5");
});

test("the table behind a plot has a row a mark and no empty column", () => {
  const spec = {
    title: "Yield by lot",
    x: axis({ label: "Lot", names: ["=1", "b"] }),
    y: axis({ unit: "%" }),
    layers: [{ name: "run 1", kind: "points", color: "red", marks: [{ x: "=1", y: 0.5, low: 0.25, high: 1 }, { x: "b", y: 1 }] }],
  };
  assert.deepEqual(table(spec), [["Lot", "Yield (%)", "Low", "High"], [["=1", 0.5, 0.25, 1], ["b", 1, "", ""]]]);
  assert.equal(csv(table(spec)), "Lot,Yield (%),Low,High\n'=1,0.5,0.25,1\nb,1,,\n");
});

test("of several series the table says which", () => {
  const layer = (name) => ({ name, kind: "lines", color: "red", marks: [{ x: 1, y: 2 }] });
  const [heads, rows] = table({ title: "", x: axis({}), y: axis({}), layers: [layer("a"), layer("b,c")] });
  assert.equal(heads[0], "Series");
  assert.match(csv([heads, rows]), /\n"b,c",1,2\n$/);
});
