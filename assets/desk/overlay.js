/** What stands on the picture: boxes, what is being drawn or dragged, the crosshair. */

import * as geometry from "../canvas/boxes.js";
import * as paint from "../canvas/paint.js";

/**
 * @typedef {import("./bench.js").Bench} Bench
 * @typedef {import("../canvas/paint.js").Mark} Mark
 */

/** @param {Bench} bench @returns {Mark[]} */
export function boxMarks(bench) {
  const { desk } = bench;
  if (bench.hidden) return [];
  const alone = desk.chosen.length === 1 && desk.editable;
  return desk.sheet.boxes.map((box) => {
    const selected = desk.selected.has(box.id);
    return {
      ...box,
      color: bench.color(box.label),
      text: box.label,
      letter: bench.letter(box.label),
      kind: "solid",
      selected,
      hover: bench.hovered === box.id,
      handles: selected && alone,
    };
  });
}

/** @param {Bench} bench @param {CanvasRenderingContext2D} ctx @param {import("../canvas/view.js").View} view @param {number} pane */
export function draw(bench, ctx, view, pane) {
  if (bench.desk.byImage) return;
  const { draft } = bench.pointer;
  const named = marks(bench, draft);
  if (pane > 0) {
    named.forEach((
      mark,
    ) => ((mark.kind = "ghost"), (mark.text = mark.letter = ""), (mark.handles = false)));
  }
  paint.marks(ctx, view, [...named, ...(bench.ghosts ?? [])]);
  if (draft?.band) paint.band(ctx, view, draft.band);
  const at = bench.cursor ?? bench.pointer.at;
  if (at && (bench.drawing || pane > 0 || bench.stage.panes > 1)) paint.crosshair(ctx, view, at);
}

/** What stands there, and what a hand makes of it right now. @param {Bench} bench @param {import("../canvas/pointer.js").Draft | null} draft */
function marks(bench, draft) {
  const moved = new Map((draft?.changed ?? []).map((box) => [box.id, box]));
  const named = bench.marks().map((mark) => {
    const there = moved.get(mark.id ?? "");
    return there ? { ...mark, x1: there.x1, y1: there.y1, x2: there.x2, y2: there.y2 } : mark;
  });
  if (draft?.rectangle) named.push(drawn(bench, draft.rectangle, bench.desk.label));
  if (bench.anchor && bench.cursor) {
    named.push(drawn(bench, geometry.between(bench.anchor, bench.cursor), ""));
  }
  return named;
}

/** @param {Bench} bench @param {import("./types.js").Rectangle} r @param {string} text @returns {Mark} */
function drawn(bench, r, text) {
  return { ...r, color: bench.color(bench.desk.label), text, kind: "solid", selected: true };
}
