/** Where the image stands on the screen. */

import assert from "node:assert/strict";
import test from "node:test";
import { View } from "../../assets/canvas/view.js";

function view(width = 800, height = 600, across = 1600, down = 1200) {
  const made = new View();
  made.resize(width, height);
  made.setImage(across, down);
  return made;
}

function near(found, wanted) {
  for (const [name, value] of Object.entries(wanted)) {
    assert.ok(Math.abs(found[name] - value) < 1e-6, `${name} is ${found[name]}, not ${value}`);
  }
}

test("a picture is fitted whole into its middle", () => {
  const there = view();
  near(there.toScreen(800, 600), { x: 400, y: 300 });
  assert.deepEqual(there.visible(), { x1: 0, y1: 0, x2: 1600, y2: 1200 });
});

test("what is on the screen comes back from it", () => {
  const there = view();
  there.zoomAt(200, 100, 3);
  const { x, y } = there.toScreen(321, 123);
  near(there.toImage(x, y), { x: 321, y: 123 });
});

test("zooming keeps what lies under the cursor", () => {
  const there = view();
  const before = there.toImage(250, 200);
  there.zoomAt(250, 200, 2.5);
  near(there.toImage(250, 200), before);
  assert.equal(there.fitted, false);
});

test("nobody zooms out of sight", () => {
  const there = view();
  const { scale } = there;
  there.zoomAt(0, 0, 1e6);
  assert.equal(there.scale, 64);
  there.zoomAt(0, 0, 1e-9);
  near(there, { scale: scale / 4 });
});

test("nobody pans it out of sight", () => {
  const there = view();
  there.panBy(1e6, -1e6);
  const at = there.visible();
  assert.ok(at && at.x2 > at.x1 && at.y2 > at.y1);
});

test("a fitted picture is fitted again when its place changes, another keeps its middle", () => {
  const there = view();
  there.resize(400, 300);
  near(there.toScreen(800, 600), { x: 200, y: 150 });
  there.zoomAt(100, 100, 4);
  const middle = there.toImage(200, 150);
  there.resize(1000, 700);
  near(there.toImage(500, 350), middle);
});

test("the zoom stays from one picture to the next of its size, and not to another", () => {
  const there = view();
  there.zoomAt(100, 100, 4);
  const { scale } = there;
  there.setImage(1600, 1200);
  assert.equal(there.scale, scale);
  there.setImage(100, 100);
  assert.equal(there.fitted, true);
});

test("a defect is shown with room around it", () => {
  const there = view();
  there.show({ x1: 100, y1: 100, x2: 120, y2: 110 }, 4);
  near(there.toScreen(110, 105), { x: 400, y: 300 });
  assert.equal(there.scale, 10);
});
