/** Where values lie on an axis, and which of them are written beside it. */

/**
 * @typedef {object} Axis
 * @property {string} label what it measures
 * @property {string} [unit]
 * @property {readonly string[]} [names] one place for each, where it has no numbers
 * @property {number} [from] @property {number} [to]
 * @property {(value: number) => string} [told] how a value is written
 */
/** @typedef {{x: number | string, y: number | string, low?: number, high?: number, to?: number, value?: number, words?: string, href?: string}} Mark */
/** @typedef {"bars" | "lines" | "points" | "cells"} Kind */
/** @typedef {{name: string, kind: Kind, color: string, marks: readonly Mark[], right?: boolean, dashed?: boolean}} Layer */
/** @typedef {{title: string, x: Axis, y: Axis, layers: readonly Layer[], right?: Axis, note?: string, high?: number, square?: boolean}} Spec */
/** @typedef {{at: (value: number | string) => number, width: number, ticks: {at: number, words: string}[], told: (value: number | string) => string}} Scale */

const STEPS = [1, 2, 2.5, 5, 10];

/** Round values from `low` to `high`, about `wanted` of them. @param {number} low @param {number} high */
export function ticks(low, high, wanted = 5) {
  if (!(high > low)) return [low];
  const rough = (high - low) / Math.max(1, wanted), power = 10 ** Math.floor(Math.log10(rough));
  const step = power * (STEPS.find((one) => one * power >= rough * 0.999) ?? 10);
  const first = Math.ceil(low / step - 1e-9), last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, at) => Number(((first + at) * step).toPrecision(12)));
}

/** A number as short as it can be said. @param {number} value */
export function plain(value) {
  if (value !== 0 && Math.abs(value) < 1e-3) return value.toExponential(1);
  return Number(value.toPrecision(4)).toLocaleString("en", { maximumFractionDigits: 6 });
}

/** .25 → "25 %"; what is not all is never said to be all. @param {number} value */
export function percent(value) {
  const short = Number((100 * value).toPrecision(3));
  const all = short === 100 && value < 1 - 1e-9;
  return `${all ? Math.min(99.99, Number((100 * value).toFixed(2))) : short} %`;
}

/** An axis from pixel `start` to pixel `end`, laid over what its marks say. @param {Axis} axis @param {number[]} values @param {number} start @param {number} end */
export function scale(axis, values, start, end) {
  return axis.names ? named(axis, axis.names, start, end) : measured(axis, values, start, end);
}

/** @param {Axis} axis @param {readonly string[]} names @param {number} start @param {number} end @returns {Scale} */
function named(axis, names, start, end) {
  const width = (end - start) / Math.max(1, names.length);
  const places = new Map(names.map((name, at) => [name, start + (at + 0.5) * width]));
  return {
    at: (value) => places.get(String(value)) ?? start,
    width: Math.abs(width),
    ticks: names.map((name) => ({ at: places.get(name) ?? start, words: name })),
    told: (value) => `${axis.label}: ${value}`,
  };
}

/** @param {Axis} axis @param {number[]} values @param {number} start @param {number} end @returns {Scale} */
function measured(axis, values, start, end) {
  const [low, high] = bounds(axis, values), told = axis.told ?? plain;
  /** @param {number | string} value */
  const at = (value) => start + ((Number(value) - low) / (high - low)) * (end - start);
  const unit = axis.unit ? ` ${axis.unit}` : "";
  const wanted = Math.max(2, Math.round(Math.abs(end - start) / (start < end ? 90 : 44)));
  return {
    at,
    width: 0,
    ticks: ticks(low, high, wanted).map((value) => ({ at: at(value), words: told(value) })),
    told: (value) => `${axis.label}: ${told(Number(value))}${unit}`,
  };
}

/** From where to where an axis goes; one value alone lies in its middle. @param {Axis} axis @param {number[]} values @returns {[number, number]} */
export function bounds(axis, values) {
  const finite = values.filter(Number.isFinite);
  const low = axis.from ?? Math.min(...finite), high = axis.to ?? Math.max(...finite);
  if (!Number.isFinite(low) || !Number.isFinite(high)) return [0, 1];
  if (high > low) return [low, high];
  const half = Math.abs(low) / 2 || 0.5;
  return [axis.from ?? low - half, axis.to ?? (axis.from === undefined ? low + half : low + 2 * half)];
}

/** All that a plot shows, as the rows of a table below their heads. @param {Spec} spec @returns {[string[], (string | number)[][]]} */
export function table(spec) {
  const marks = spec.layers.flatMap(({ name, marks, right }) => marks.map((mark) => ({ name, mark, right })));
  /** @type {{head: string, of: (one: {name: string, mark: Mark, right?: boolean}) => string | number, always?: boolean}[]} */
  const columns = [
    { head: "Series", of: ({ name }) => name, always: spec.layers.length > 1 },
    { head: headed(spec.x), of: ({ mark }) => mark.x, always: true },
    { head: `${headed(spec.x)}, to`, of: ({ mark }) => mark.to ?? "" },
    { head: headed(spec.y), of: ({ mark, right }) => right ? "" : mark.y, always: true },
    { head: spec.right ? headed(spec.right) : "", of: ({ mark, right }) => right ? mark.y : "" },
    { head: "Value", of: ({ mark }) => mark.value ?? "" },
    { head: "Low", of: ({ mark }) => mark.low ?? "" },
    { head: "High", of: ({ mark }) => mark.high ?? "" },
    { head: "Says", of: ({ mark }) => mark.words ?? "" },
  ];
  const shown = columns.filter(({ of, always }) => always ?? marks.some((one) => of(one) !== ""));
  return [shown.map(({ head }) => head), marks.map((one) => shown.map(({ of }) => of(one)))];
}

/** @param {Axis} axis */
function headed({ label, unit }) {
  return unit ? `${label} (${unit})` : label;
}

/** A cell that a spreadsheet would compute is kept from it. @param {[string[], (string | number)[][]]} rows */
export function csv([heads, rows]) {
  /** @param {string | number} value */
  const cell = (value) => {
    if (typeof value === "number") return String(value);
    const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return [heads, ...rows].map((row) => `${row.map(cell).join(",")}\n`).join("");
}
