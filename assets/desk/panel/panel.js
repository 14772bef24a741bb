/** The panel beside the picture: classes, the boxes of this image, proposals, the image itself, history. */

import { fill, h, say } from "../../common/dom.js";
import { keyOf, swatch } from "../../common/letters.js";
import * as words from "../../common/words.js";
import { atLeast, clipped } from "../../canvas/boxes.js";
import { nameOf } from "../desk.js";
import { tip } from "../keys.js";

/** @typedef {import("../desk.js").Desk} Desk */
/** @typedef {import("../types.js").Box} Box */
/** @typedef {import("../types.js").Class} Class */
/** @typedef {{desk: Desk, color: (label: string) => string, letter: (label: string) => string}} Page */

const MOST_ROWS = 120;
/** @type {Record<string, string>} */
const ORIGINS = { human: "by hand", model: "from a model", import: "imported", golden: "from the golden" };

/** @type {Record<string, string>} */
const LETTERS = { model: "M", golden: "G", import: "I" };

/** @param {string} title @param {any} count @param {...any} body */
function section(title, count, ...body) {
  return h("section.lp-section", {}, h("h3", {}, title, h("span.lp-count", {}, count)), body);
}

/** @param {Page} page */
export function classes({ desk, color, letter }) {
  const search = h("input.lp-search", {
    type: "search",
    placeholder: "Find a class",
    title: tip("search", "annotate"),
    "aria-label": "Find a class",
    oninput: () => render(),
    onkeydown: (/** @type {KeyboardEvent} */ e) => {
      if (e.key === "Escape") leave();
      const found = e.key === "Enter" && matches()[0];
      if (found) {
        desk.classify(found.name);
        leave();
      }
    },
  });
  const list = h("div.lp-classes", { role: "group", "aria-label": "Classes" });
  const matches = () => desk.classes.filter((c) => c.name.toLowerCase().includes(search.value.toLowerCase()));
  const leave = () => {
    search.value = "";
    search.blur();
    render();
    search.dispatchEvent(new CustomEvent("leave", { bubbles: true }));
  };
  const row = kept((/** @type {Class} */ c) =>
    h(
      "button.lp-class",
      {
        title: `${c.name}${keyOf(desk.classes, c) ? ` (${keyOf(desk.classes, c)})` : ""}`,
        onclick: () => desk.classify(c.name),
      },
      swatch(color(c.name), letter(c.name)),
      h("span.lp-name", {}, c.name),
      h("span.lp-number"),
      h("kbd", {}, keyOf(desk.classes, c)),
    )
  );
  const render = () => {
    /** @type {Record<string, number>} */
    const counts = {};
    desk.sheet.boxes.forEach((box) => (counts[box.label] = (counts[box.label] ?? 0) + 1));
    fill(
      list,
      matches().slice(0, 200).map((c) => {
        const button = row(c, `${c.color}${keyOf(desk.classes, c)} ${letter(c.name)}`);
        state(button, "aria-pressed", current(desk) === c.name);
        say(button.querySelector(".lp-number"), String(counts[c.name] ?? ""));
        return button;
      }),
    );
    search.hidden = desk.classes.length <= 9 && !search.matches(":focus") && !search.value;
  };
  const focus = () => {
    search.hidden = false;
    search.focus();
  };
  return { root: section("Classes", "", search, list), render, focus };
}

/** Makes what shows a thing once, and again only where the thing or its look has changed.
 * @template T @param {(thing: T) => any} make @returns {(thing: T, look: string) => any} */
function kept(make) {
  const known = new WeakMap();
  return (thing, look) => {
    const old = known.get(/** @type {any} */ (thing));
    if (old?.look === look) return old.element;
    const element = make(thing);
    known.set(/** @type {any} */ (thing), { look, element });
    return element;
  };
}

/** @param {Element} element @param {string} name @param {boolean} value */
function state(element, name, value) {
  if (element.getAttribute(name) !== String(value)) element.setAttribute(name, String(value));
}

/** What a drawn box or, in a classification project, the image is. @param {Desk} desk */
function current(desk) {
  return desk.byImage ? desk.sheet.label : desk.label;
}

/** @param {Page & {look: (r: import("../types.js").Rectangle) => void}} page */
export function boxList({ desk, color, letter, look }) {
  const list = h("div.lp-boxes", {});
  const count = h("span.lp-count");
  const numbers = corners(desk);
  const row = kept((/** @type {Box} */ box) =>
    h(
      "div.lp-row",
      {},
      h(
        "button.lp-box",
        {
          title: `${box.label}, ${ORIGINS[box.origin] ?? box.origin}${box.author ? `, ${box.author}` : ""}`,
          onclick: (/** @type {MouseEvent} */ e) => desk.select([box.id], e.ctrlKey || e.shiftKey),
          ondblclick: () => look(box),
        },
        swatch(color(box.label), letter(box.label)),
        h("span.lp-name", {}, box.label),
        mark(box),
        h("span.lp-size", {}, `${Math.round(box.x2 - box.x1)}×${Math.round(box.y2 - box.y1)}`),
      ),
      h("button.lp-quiet", {
        "aria-label": `Delete ${box.label}`,
        title: tip("remove", "annotate"),
        hidden: !desk.editable,
        onclick: () => {
          desk.select([box.id]);
          desk.remove();
        },
      }, "×"),
    )
  );
  const shownAs = (/** @type {Box} */ box) => {
    const line = row(box, `${color(box.label)}${letter(box.label)}${desk.editable}`);
    state(line, "aria-current", desk.selected.has(box.id));
    return line;
  };
  const none = h(
    "p.lp-hint",
    {},
    "None yet. ",
    h("span.for-labeler", {}, "Press ", h("kbd", {}, "D"), " and drag over a defect."),
  );
  /** @type {HTMLElement | undefined} */
  let chosen;
  /** Brings the row of a newly chosen box into sight, without moving anything but the panel. */
  const follow = (/** @type {HTMLElement | undefined} */ line) => {
    const side = /** @type {HTMLElement | null} */ (list.closest(".lp-side"));
    if (line && side && line !== chosen) {
      const row = line.getBoundingClientRect();
      const seen = side.getBoundingClientRect();
      side.scrollTop += Math.max(0, row.bottom - seen.bottom) - Math.max(0, seen.top - row.top);
    }
    chosen = line;
  };
  const render = () => {
    const { boxes } = desk.sheet;
    say(count, String(boxes.length || ""));
    const from = Math.max(0, boxes.findIndex((b) => desk.selected.has(b.id)) - MOST_ROWS / 2);
    const shown = boxes.slice(from, from + MOST_ROWS);
    const rest = boxes.length - shown.length;
    const rows = shown.map(shownAs);
    fill(list, rows, rest > 0 && h("p.lp-hint", {}, `and ${rest} more`), !boxes.length && none);
    numbers.render();
    follow(rows[shown.findIndex((b) => desk.selected.has(b.id))]);
  };
  return {
    root: h("section.lp-section.lp-grow.for-boxes", {}, h("h3", {}, "Boxes", count), list, numbers.root),
    render,
    focus: numbers.focus,
  };
}

/** The sign of a box that did not come from a person. @param {Box} box */
function mark(box) {
  const words = LETTERS[box.origin];
  return words ? h("span.lp-mark", { title: ORIGINS[box.origin] }, words) : null;
}

/** Four fields for the corners of the chosen box. @param {Desk} desk */
function corners(desk) {
  /** @type {("x1" | "y1" | "x2" | "y2")[]} */
  const names = ["x1", "y1", "x2", "y2"];
  /** @type {HTMLInputElement[]} */
  const inputs = names.map((name, at) =>
    h("input", {
      type: "number",
      step: "0.1",
      "aria-label": `${name} of the chosen box`,
      onchange: () => write(at),
      onkeydown: (/** @type {KeyboardEvent} */ e) =>
        e.key === "Escape" && /** @type {any} */ (e.target).blur(),
    })
  );
  /** An edge that is typed past the one across from it takes that one along. */
  const write = (/** @type {number} */ at) => {
    const [box] = desk.chosen;
    const values = inputs.map((input) => Number(input.value));
    if (!box || !desk.item || !inputs.every((i) => i.value !== "") || !values.every(Number.isFinite)) {
      return render();
    }
    const across = (at + 2) % 4;
    const size = Math.abs(box[names[at]] - box[names[across]]);
    if (values[0] >= values[2] || values[1] >= values[3]) {
      values[across] = values[at] + (at < 2 ? size : -size);
    }
    const [x1, y1, x2, y2] = values;
    const { width, height } = desk.item;
    desk.replace(
      [{ ...box, ...atLeast(clipped({ x1, y1, x2, y2 }, width, height), width, height) }],
      "resize",
    );
    return render();
  };
  const render = () => {
    const [box] = desk.chosen.length === 1 ? desk.chosen : [];
    root.hidden = !box;
    if (box) {
      inputs.forEach((input, at) =>
        document.activeElement !== input && (input.value = String(Math.round(box[names[at]] * 10) / 10))
      );
    }
    inputs.forEach((input) => (input.disabled = !desk.editable));
  };
  const root = h(
    "div.lp-corners",
    { hidden: true },
    inputs.map((input, at) => h("label", {}, names[at], input)),
  );
  const focus = () => {
    render();
    if (root.hidden) return false;
    inputs[0].focus();
    inputs[0].select();
    return true;
  };
  return { root, render, focus };
}

/** @param {Page & {threshold: () => number, setThreshold: (v: number) => void, acceptAll: () => void}} page */
export function proposals({ desk, threshold, setThreshold, color, letter, acceptAll }) {
  const slider = h("input", {
    type: "range",
    min: 0,
    max: 1,
    step: 0.01,
    "aria-label": "Least score of the proposals shown",
    oninput: () => setThreshold(Number(slider.value)),
  });
  const value = h("output.lp-value");
  const count = h("span.lp-count");
  const list = h("div.lp-boxes.lp-proposals");
  const from = h("p.lp-hint");
  const all = h("button.lp-button.lp-wide.for-labeler", {
    onclick: acceptAll,
    title: tip("acceptAll", "annotate"),
  });
  const row = (/** @type {import("../types.js").Proposal} */ p) =>
    h(
      "div.lp-row",
      { "aria-current": String(desk.selected.has(nameOf(p))) },
      h(
        "button.lp-box",
        { onclick: () => desk.select([nameOf(p)]) },
        swatch(color(p.label), letter(p.label)),
        h("span.lp-name", {}, p.label),
        h("span.lp-size", {}, short(p.score)),
      ),
      h("button.lp-quiet.for-labeler", {
        title: tip("accept", "annotate"),
        "aria-label": `Accept ${p.label}`,
        onclick: () => desk.accept([p]),
      }, "✓"),
      h("button.lp-quiet.for-labeler", {
        title: tip("reject", "annotate"),
        "aria-label": `Reject ${p.label}`,
        onclick: () => desk.reject([p]),
      }, "×"),
    );
  const keys = h("span.lp-hint.for-labeler", {}, h("kbd", {}, "A"), " accept ", h("kbd", {}, "R"), " reject");
  const root = section(
    "Proposals",
    count,
    h("div.lp-spread", {}, from, keys),
    h("div.lp-slider", {}, slider, value),
    list,
    all,
  );
  root.classList.add("lp-grow", "for-boxes");
  const render = () => {
    const shown = desk.proposals.filter((p) => p.score >= threshold());
    root.hidden = !desk.item?.proposals.length;
    if (root.hidden) return;
    slider.value = String(threshold());
    value.textContent = `≥ ${short(threshold())}`;
    count.textContent = String(shown.length || "");
    from.textContent = desk.item?.proposer ? `From: ${words.model(desk.item.proposer)}` : "";
    fill(list, shown.slice(0, MOST_ROWS).map(row));
    all.textContent = shown.length ? `Accept all ≥ ${short(threshold())}` : "None left to decide";
    all.disabled = !shown.length || !desk.editable;
    keys.hidden = !shown.length;
  };
  return { root, render };
}

/** .87 @param {number} score */
export function short(score) {
  return score >= 0.995 ? "1.0" : score.toFixed(2).replace(/^0/, "");
}
