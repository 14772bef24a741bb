/** Numbers and times as people read them. */

import assert from "node:assert/strict";
import test from "node:test";
import * as words from "../../assets/common/words.js";

const table = (name, rows) =>
  rows.forEach(([given, wanted]) =>
    test(`${name} of ${given}`, () => assert.equal(words[name](...[given].flat()), wanted))
  );

table("count", [[0, "0"], [12480, "12,480"]]);
table("many", [[[1, "image"], "1 image"], [[2, "image"], "2 images"], [
  [1200, "box", "boxes"],
  "1,200 boxes",
]]);
table("model", [["golden", "Golden board"], ["v3", "v3"]]);
table("share", [[0.954, ".954"], [1, "1.000"], [0, ".000"], [null, "–"], [NaN, "–"], [[0.25, 2], ".25"]]);
table("span", [[1.25, "1.3 s"], [42, "42 s"], [131, "2 min 11 s"], [7260, "2 h 1 min"], [NaN, "–"]]);
table("bytes", [[999, "999 B"], [1536, "1.5 kB"], [25_000_000, "25 MB"], [3e12, "3000 GB"]]);

test("times that are near are told by how long ago they were", () => {
  const before = (seconds) => new Date(Date.now() - seconds * 1000).toISOString();
  assert.equal(words.ago(before(5)), "just now");
  assert.equal(words.ago(before(600)), "10 min ago");
  assert.equal(words.ago(before(7200)), "2 h ago");
  assert.match(words.ago("2020-03-04T12:00:00Z"), /^Mar 4, 2020$/);
});
