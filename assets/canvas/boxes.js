/** The geometry of boxes: which one is hit, and what moving, resizing and nudging make of it. */

/** @typedef {import('../desk/types.js').Box} Box */
/** @typedef {import('../desk/types.js').Rectangle} Rectangle */
/** @typedef {import('../desk/types.js').Point} Point */

export const HANDLES = ["nw", "n", "ne", "e", "se", "s", "sw", "w"];
export const LEAST = 1;

export function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** @param {Rectangle} r @param {string} handle @returns {Point} */
export function handlePoint(r, handle) {
  const x = handle.includes("w") ? r.x1 : handle.includes("e") ? r.x2 : (r.x1 + r.x2) / 2;
  const y = handle.includes("n") ? r.y1 : handle.includes("s") ? r.y2 : (r.y1 + r.y2) / 2;
  return { x, y };
}

/** The handle within `reach` image pixels of a point. @param {Rectangle} r @param {Point} p @param {number} reach */
export function handleAt(r, p, reach) {
  let best = "";
  let least = reach;
  for (const handle of HANDLES) {
    const at = handlePoint(r, handle);
    const distance = Math.max(Math.abs(at.x - p.x), Math.abs(at.y - p.y));
    if (distance <= least) {
      best = handle;
      least = distance - 1e-9;
    }
  }
  return best;
}

/** The smallest box under a point, so that a small one inside a large one can be reached.
 * @template {Rectangle} T @param {readonly T[]} boxes @param {Point} p @param {number} reach @returns {T | null} */
export function boxAt(boxes, p, reach) {
  let best = null;
  for (const box of boxes) {
    const inside = p.x >= box.x1 - reach && p.x <= box.x2 + reach && p.y >= box.y1 - reach &&
      p.y <= box.y2 + reach;
    if (inside && (!best || area(box) < area(best))) best = box;
  }
  return best;
}

/** @param {Rectangle} r */
export function area(r) {
  return Math.max(0, r.x2 - r.x1) * Math.max(0, r.y2 - r.y1);
}

/** @param {Rectangle} a @param {Rectangle} b */
export function overlap(a, b) {
  const shared = area({
    x1: Math.max(a.x1, b.x1),
    y1: Math.max(a.y1, b.y1),
    x2: Math.min(a.x2, b.x2),
    y2: Math.min(a.y2, b.y2),
  });
  return shared ? shared / (area(a) + area(b) - shared) : 0;
}

/** @param {Point} a @param {Point} b @returns {Rectangle} */
export function between(a, b) {
  return { x1: Math.min(a.x, b.x), y1: Math.min(a.y, b.y), x2: Math.max(a.x, b.x), y2: Math.max(a.y, b.y) };
}

/** @param {Rectangle} r @param {number} width @param {number} height @returns {Rectangle} */
export function clipped(r, width, height) {
  const x = (/** @type {number} */ v) => Math.min(width, Math.max(0, v));
  const y = (/** @type {number} */ v) => Math.min(height, Math.max(0, v));
  return { x1: x(r.x1), y1: y(r.y1), x2: x(r.x2), y2: y(r.y2) };
}

/** Moves without leaving the image. @template {Rectangle} T @param {T} box @param {number} dx @param {number} dy @param {number} width @param {number} height @returns {T} */
export function moved(box, dx, dy, width, height) {
  const x = Math.min(width - box.x2, Math.max(-box.x1, dx));
  const y = Math.min(height - box.y2, Math.max(-box.y1, dy));
  return { ...box, x1: box.x1 + x, x2: box.x2 + x, y1: box.y1 + y, y2: box.y2 + y };
}

/** Drags one handle to a point; a box pulled through itself turns over.
 * @template {Rectangle} T @param {T} box @param {string} handle @param {Point} p @param {number} width @param {number} height @returns {T} */
export function resized(box, handle, p, width, height) {
  const fixedX = handle.includes("w") ? box.x2 : box.x1;
  const fixedY = handle.includes("n") ? box.y2 : box.y1;
  const sideways = handle.includes("w") || handle.includes("e");
  const upright = handle.includes("n") || handle.includes("s");
  const pulled = between({ x: fixedX, y: fixedY }, p);
  const next = clipped(
    {
      x1: sideways ? pulled.x1 : box.x1,
      x2: sideways ? pulled.x2 : box.x2,
      y1: upright ? pulled.y1 : box.y1,
      y2: upright ? pulled.y2 : box.y2,
    },
    width,
    height,
  );
  return { ...box, ...atLeast(next, width, height) };
}

/** @param {Rectangle} r @param {number} width @param {number} height @returns {Rectangle} */
export function atLeast(r, width, height) {
  const x1 = Math.min(r.x1, width - LEAST);
  const y1 = Math.min(r.y1, height - LEAST);
  return { x1, y1, x2: Math.max(r.x2, x1 + LEAST), y2: Math.max(r.y2, y1 + LEAST) };
}

/** A copy with a new name, a little aside so that it can be seen. @param {Box} box @param {number} by @param {number} width @param {number} height @returns {Box} */
export function copied(box, by, width, height) {
  const dx = box.x2 + by <= width ? by : -by;
  const dy = box.y2 + by <= height ? by : -by;
  const copy = by ? moved(box, dx, dy, width, height) : box;
  return { ...copy, id: newId(), origin: "human", detection: null, author: "" };
}

/** Fits boxes of another image into this one. @param {readonly Box[]} boxes @param {number} width @param {number} height @returns {Box[]} */
export function pasted(boxes, width, height) {
  return boxes
    .filter((box) => box.x1 < width - LEAST && box.y1 < height - LEAST)
    .map((box) => ({ ...copied(box, 0, width, height), ...clipped(box, width, height) }));
}

/** What a box shows, however that is called: its class may have been renamed since the page was opened.
 * @param {{label: string, class_id?: number | null}} box */
export const classOf = (box) => box.class_id ?? box.label;

/** Whether two sets of boxes say the same, whatever their order.
 * @param {readonly Box[]} mine @param {readonly Box[]} theirs */
export function same(mine, theirs) {
  if (mine.length !== theirs.length) return false;
  const text = (/** @type {Box} */ b) =>
    [b.id, classOf(b), ...[b.x1, b.y1, b.x2, b.y2].map((v) => v.toFixed(3))].join(" ");
  const known = new Set(theirs.map(text));
  return mine.every((box) => known.has(text(box)));
}

/** Their boxes and those of mine that they do not have. @param {readonly Box[]} mine @param {readonly Box[]} theirs @returns {Box[]} */
export function joined(mine, theirs) {
  const names = new Set(theirs.map((box) => box.id));
  const extra = mine
    .filter((box) => !theirs.some((their) => classOf(their) === classOf(box) && overlap(their, box) > 0.95))
    .map((box) => (names.has(box.id) ? { ...box, id: newId() } : box));
  return [...theirs, ...extra];
}
