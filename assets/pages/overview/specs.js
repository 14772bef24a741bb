/** What the plots of an overview show, and what stands behind each of their marks. */

import { address, project } from "../../common/site.js";
import { count, many, model, share } from "../../common/words.js";
import { percent, plain } from "../../plots/scales.js";
import { boards, lotName, narrowed, NO_LOT, nouns } from "./links.js";

/** @typedef {import("../../common/answers.js").Overview} Found */
/** @typedef {import("../../common/answers.js").Yield} Yield */
/** @typedef {import("../../plots/scales.js").Spec} Spec */
/** @typedef {import("../../plots/scales.js").Mark} Mark */
/** @typedef {(found: Found, asked: URLSearchParams) => Spec} Made */

const BLUE = "var(--plot-1)", ORANGE = "var(--plot-2)", GREEN = "var(--plot-3)", PURPLE = "var(--plot-4)";
const HIGH = 250;
const SHARE = { label: "Yield", told: percent };
const STATES = { new: "New", started: "Started", done: "Done", skipped: "Skipped" };

/** All plots that have something to show. @param {Found} found @param {URLSearchParams} asked @returns {Spec[]} */
export function specs(found, asked) {
  const every = [byLot, byDay, pareto, heat, places, scores, escapes, falseCalls, trend, models, labels];
  return every.map((made) => ({ high: HIGH, ...made(found, asked) })).filter(({ layers }) =>
    layers.some(({ marks }) => marks.length)
  );
}

/** @param {string | number} x @param {Yield} of @param {string} href @returns {Mark[]} */
function yielded(x, of, href, one = "board") {
  if (of.share === null) return [];
  const words = `${count(of.failed)} of ${many(of.passed + of.failed, one)} fail`;
  return [{ x, y: of.share, low: of.low ?? 0, high: of.high ?? 1, words, href }];
}

/** @type {Made} */
function byLot(found, asked) {
  const marks = found.by_group.flatMap(({ name, of }) =>
    yielded(lotName(name), of, boards(found, asked, { group: name || NO_LOT }), nouns(found).board)
  );
  return {
    title: "Yield by lot",
    x: { label: "Lot", names: marks.map(({ x }) => String(x)) },
    y: SHARE,
    layers: [{ name: "Yield", kind: "points", color: BLUE, marks }],
  };
}

/** @type {Made} */
function byDay(found, asked) {
  const marks = found.by_day.flatMap(({ name, of }) =>
    yielded(name, of, boards(found, asked, { since: name, until: name }), nouns(found).board)
  );
  return {
    title: "Yield by day",
    x: { label: "Day that the picture came", names: marks.map(({ x }) => String(x)) },
    y: SHARE,
    layers: [{ name: "Yield", kind: marks.length > 1 ? "lines" : "points", color: BLUE, marks }],
  };
}

/** @type {Made} */
function pareto(found, asked) {
  const seen = found.classes.filter(({ defects }) => defects > 0);
  /** @param {typeof seen[number]} one */
  const href = (one) => boards(found, asked, { defect: one.name });
  return {
    title: `${nouns(found).defects} by class`,
    x: { label: "Class", names: seen.map(({ name }) => name) },
    y: { label: nouns(found).defects, from: 0 },
    right: { label: "So far", from: 0, to: 1, told: percent },
    layers: [
      {
        name: nouns(found).defects,
        kind: "bars",
        color: BLUE,
        marks: seen.map((one) => ({
          x: one.name,
          y: one.defects,
          words: `on ${many(one.boards, nouns(found).board)}`,
          href: href(one),
        })),
      },
      {
        name: "Share so far",
        kind: "lines",
        right: true,
        color: ORANGE,
        marks: seen.map((one) => ({
          x: one.name,
          y: one.so_far,
          words: `on ${many(one.boards, nouns(found).board)}`,
          href: href(one),
        })),
      },
    ],
  };
}

/** @type {Made} */
function heat(found, asked) {
  const classes = found.classes.filter(({ defects }) => defects > 0).map(({ name }) => name);
  return {
    title: "Classes by lot",
    x: { label: "Lot", names: [...new Set(found.cells.map(({ group }) => lotName(group)))] },
    y: { label: "Class", names: classes.reverse() },
    layers: [{
      name: nouns(found).defects,
      kind: "cells",
      color: PURPLE,
      marks: found.cells.map((one) => ({
        x: lotName(one.group),
        y: one.label,
        value: one.defects,
        words: `${many(one.defects, nouns(found).defect)} on ${many(one.boards, nouns(found).board)}`,
        href: boards(found, asked, { group: one.group || NO_LOT, defect: one.label }),
      })),
    }],
  };
}

/** @type {Made} */
function places(found, asked) {
  const { columns, rows } = found.grid, label = asked.get("class") ?? "";
  const column = Array.from({ length: columns }, (_, at) => String(at + 1));
  const row = Array.from({ length: rows }, (_, at) => String(rows - at));
  return {
    title: "Where on the board",
    note: "As the golden lies, where there is one.",
    x: { label: "Sixteenths of the width", names: column },
    y: { label: "Twelfths of the height", names: row },
    layers: [{
      name: nouns(found).defects,
      kind: "cells",
      color: GREEN,
      marks: found.places.map((one) => ({
        x: String(one.column + 1),
        y: String(one.row + 1),
        value: one.defects,
        words: `${many(one.defects, nouns(found).defect)} on ${many(one.boards, nouns(found).board)}`,
        href: boards(found, asked, { mark: `place-${one.cell}`, defect: label }),
      })),
    }],
  };
}

/** @type {Made} */
function scores(found, asked) {
  const any = found.scores.some(({ detections }) => detections > 0), label = asked.get("class") ?? "";
  return {
    title: `${nouns(found).found} by score`,
    x: { label: "Score", from: 0, to: 1, told: (value) => share(value, 2) },
    y: { label: nouns(found).found, from: 0 },
    layers: [{
      name: nouns(found).found,
      kind: "bars",
      color: BLUE,
      marks: !any ? [] : found.scores.filter(({ detections }) => detections > 0).map((one) => ({
        x: one.low,
        to: one.high,
        y: one.detections,
        words: `on ${many(one.boards, nouns(found).board)}`,
        href: boards(found, asked, {
          class: label,
          score: String(one.low),
          below: one.high < 1 ? String(one.high) : "",
        }),
      })),
    }],
  };
}

/** @type {Made} */
function escapes(found, asked) {
  const seen = found.classes.filter((one) => one.right + one.escapes > 0);
  return {
    title: "Escapes, seen and at most",
    note: `Of what is labelled on ${
      many(found.mistaken.images, nouns(found).board)
    }: seen, and the bound at 95 %.`,
    x: { label: "Class", names: seen.map(({ name }) => name) },
    y: { label: "Escaped", from: 0, told: percent },
    layers: [{
      name: "Escaped",
      kind: "points",
      color: ORANGE,
      marks: seen.map((one) => {
        const part = one.escapes / (one.right + one.escapes);
        return {
          x: one.name,
          y: part,
          low: part,
          high: one.at_most ?? 1,
          words: `${count(one.escapes)} of ${count(one.right + one.escapes)}`,
          href: boards(found, asked, { mark: "escape", defect: one.name }),
        };
      }),
    }],
  };
}

/** @type {Made} */
function falseCalls(found, asked) {
  const seen = found.classes.filter((one) => one.false_calls > 0);
  return {
    title: "False calls by class",
    note: `On ${many(found.mistaken.images, nouns(found).board)} that are labelled.`,
    x: { label: "Class", names: seen.map(({ name }) => name) },
    y: { label: "False calls", from: 0 },
    layers: [{
      name: "False calls",
      kind: "bars",
      color: ORANGE,
      marks: seen.map((one) => ({
        x: one.name,
        y: one.false_calls,
        words: `${plain(one.false_calls / Math.max(1, found.mistaken.images))} a ${nouns(found).board}`,
        href: boards(found, asked, { mark: "false_call", defect: one.name }),
      })),
    }],
  };
}

/** @type {Made} */
function trend(found, asked) {
  const seen = found.trend.filter(({ of }) => of.share !== null);
  return {
    title: "Yield over runs",
    x: { label: "Run", names: seen.map(({ run }) => String(run)) },
    y: SHARE,
    layers: [{
      name: "Yield",
      kind: seen.length > 1 ? "lines" : "points",
      color: BLUE,
      marks: seen.flatMap((one) =>
        yielded(String(one.run), one.of, boards(one, asked), nouns(found).board).map((mark) => ({
          ...mark,
          words: `${model(one.model)}; ${mark.words}`,
        }))
      ),
    }],
  };
}

/** @type {Made} */
function models(found) {
  const { models } = found;
  return {
    title: "Models",
    x: { label: "Model", names: models.map((one) => one.model) },
    y: { label: nouns(found).worth, from: 0, to: 1, told: share },
    layers: [{
      name: "As measured",
      kind: "bars",
      color: GREEN,
      marks: models.map((one) => ({
        x: one.model,
        y: one.value,
        words: one.champion ? "the champion" : "",
        href: address({ project: project(), tab: "models", model: one.model }),
      })),
    }],
  };
}

/** @type {Made} */
function labels({ states }, asked) {
  const seen = Object.entries(STATES).filter(([state]) => states[state]);
  return {
    title: "Images by state",
    x: { label: "State", names: seen.map(([, words]) => words) },
    y: { label: "Images", from: 0 },
    layers: [{
      name: "Images",
      kind: "bars",
      color: PURPLE,
      marks: seen.map(([state, words]) => ({
        x: words,
        y: states[state],
        href: address({ project: project(), tab: "browse", ...narrowed(asked), state }),
      })),
    }],
  };
}
