/** What mouse, pen and fingers do on the workplace. */

/** @param {import("./bench.js").Bench} bench @returns {import("../canvas/pointer.js").Hands} */
export function hands(bench) {
  const { desk } = bench;
  return {
    boxes: () => (bench.hidden || desk.byImage ? [] : bench.targets()),
    selected: () => desk.selected,
    drawing: () => bench.drawing && !desk.byImage,
    editable: () => desk.editable,
    select: (ids, more) => desk.select(ids, more),
    draw: (r) => desk.draw(r),
    change: (changed, action) => desk.change(changed, action),
    hover: (id) => {
      if (bench.hovered !== id) bench.stage.redrawOverlay();
      bench.hovered = id;
    },
  };
}
