/** Two people changed one image: both sides are shown, and what is chosen is saved over the newest version. */

import * as geometry from "../canvas/boxes.js";
import * as conflict from "../outbox/conflict.js";

/** @param {import("./bench.js").Bench} bench @param {{entry: import("../outbox/saving.js").Entry, theirs?: import("./types.js").Theirs}} told */
export async function settle(bench, { entry, theirs }) {
  const { desk, saver, pictures } = bench;
  const item = desk.items.get(entry.image);
  if (!theirs) return;
  const color = (/** @type {string} */ label) => bench.color(label);
  const what = await conflict.ask({ item, entry, theirs, pictures, color });
  const sheet = chosen(entry.sheet, theirs)[what];
  if (item) {
    desk.history.push(item.id, entry.sheet);
    item.version = theirs.version;
    desk.sheets.set(item.id, sheet);
  }
  if (what === "theirs") saver.giveUp(entry);
  else saver.overwrite(entry, theirs.version, sheet);
  desk.changed();
}

/** What each answer makes of an image. @param {import("./types.js").Sheet} mine @param {import("./types.js").Theirs} theirs */
function chosen(mine, theirs) {
  const { boxes, state, label, comment } = theirs;
  return {
    mine,
    theirs: { ...mine, boxes, state, label, comment },
    both: {
      ...mine,
      boxes: geometry.joined(mine.boxes, boxes),
      comment: conflict.comments(theirs, mine),
    },
  };
}
