/** The bar of tools beside the picture, the light popover, and the line of status below it. */

import { fill, h, icon, say } from "../common/dom.js";
import * as words from "../common/words.js";
import { tip } from "./keys.js";

/** @type {Record<string, string>} */
const SIGNS = {
  draw: "M2.5 2.5h11v11h-11zM8 5.5v5M5.5 8h5",
  fit: "M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4",
  oneToOne: "M3 5l1.5-1.5V12M8 6v.1M8 10v.1M11 5l1.5-1.5V12",
  golden: "M2 3h5.5v10H2zM8.5 3H14v10H8.5z",
  hide:
    "M1.5 8C3 5 5.300 3.500 8 3.500S13 5 14.500 8C13 11 10.700 12.500 8 12.500S3 11 1.500 8M8 6a2 2 0 1 0 0 4a2 2 0 1 0 0-4",
  light: "M8 2.500a5.500 5.500 0 1 0 0 11zM8 2.500a5.500 5.500 0 0 1 0 11M8 5h4.500M8 8h5.500M8 11h4.500",
  undo: "M6 3L2.500 6.500L6 10M3 6.500h6.500a4 4 0 0 1 0 8H8",
  redo: "M10 3l3.500 3.500L10 10M13 6.500H6.500a4 4 0 0 0 0 8H8",
  previous: "M10 3L5 8l5 5",
  next: "M6 3l5 5l-5 5",
  help: "M5.500 6a2.500 2.500 0 1 1 3.700 2.200C8.300 8.700 8 9.200 8 10M8 12.500v.1",
};

const WRITES = ["draw", "undo", "redo"];
/** What only those need who draw boxes. */
const OF_BOXES = ["draw", "golden", "hide"];

/** @param {string} page @param {(does: string) => any} run */
export function toolbar(page, run) {
  const button = (/** @type {string} */ does) =>
    h(
      `button.lp-tool${WRITES.includes(does) ? ".for-labeler" : ""}${
        OF_BOXES.includes(does) ? ".for-boxes" : ""
      }`,
      {
        title: tip(does, page),
        "aria-label": tip(does, page).replace(/ \(.*/, ""),
        "data-does": does,
        onclick: () => run(does),
      },
      icon(SIGNS[does]),
    );
  const gap = (where = "") => h(`span.lp-gap${where}`, { "aria-hidden": "true" });
  const root = h(
    "div.lp-tools",
    { role: "toolbar", "aria-label": "Tools", "aria-orientation": "vertical" },
    ["draw"].map(button),
    gap(".for-boxes"),
    ["fit", "oneToOne"].map(button),
    gap(),
    ["golden", "hide", "light"].map(button),
    gap(),
    ["undo", "redo"].map(button),
    gap(),
    ["previous", "next"].map(button),
    gap(),
    ["help"].map(button),
  );
  /** @param {Record<string, boolean>} on */
  const press = (on) =>
    Object.entries(on).forEach(([does, value]) =>
      root.querySelector(`[data-does=${does}]`)?.setAttribute("aria-pressed", String(value))
    );
  /** @param {string} does @param {boolean} can */
  const enable = (does, can) => {
    const found = root.querySelector(`[data-does=${does}]`);
    if (found instanceof HTMLButtonElement) found.disabled = !can;
  };
  return { root, press, enable };
}

/** How a picture is seen when nobody has turned its light. */
const RESTS = { brightness: 100, contrast: 100, gamma: 1 };

/** @param {import("../canvas/stage.js").Stage} stage */
export function light(stage) {
  /** @type {Record<string, HTMLElement>} */
  const told = {};
  /** @type {Record<string, HTMLInputElement>} */
  const sliders = {};
  /** @param {keyof typeof RESTS} name @param {string} words_ @param {number} min @param {number} max @param {number} step */
  const row = (name, words_, min, max, step) =>
    h(
      "label",
      {},
      words_,
      sliders[name] = h("input", {
        type: "range",
        min,
        max,
        step,
        value: stage.adjust[name],
        "data-name": name,
        "aria-label": words_,
        oninput: () => set(name, Number(sliders[name].value)),
      }),
      told[name] = h("output.lp-value", {}, figure(name, stage.adjust[name])),
    );
  /** @param {keyof typeof RESTS} name @param {number} value */
  const set = (name, value) => {
    stage.adjust[name] = value;
    say(told[name], figure(name, value));
    if (name === "gamma") gamma(value);
    stage.redraw();
  };
  const turn = (/** @type {boolean} */ over) => {
    stage.adjust.invert = over;
    stage.redraw();
  };
  /** @type {HTMLInputElement} */
  const invert = h("input", { type: "checkbox", onchange: () => turn(invert.checked) });
  const reset = () => {
    for (const name of /** @type {(keyof typeof RESTS)[]} */ (Object.keys(RESTS))) {
      set(name, RESTS[name]);
      sliders[name].value = String(RESTS[name]);
    }
    turn(false);
    invert.checked = false;
  };
  const root = h(
    "div.lp-popover",
    { hidden: true, role: "group", "aria-label": "Light" },
    row("brightness", "Brightness", 20, 300, 1),
    row("contrast", "Contrast", 20, 300, 1),
    row("gamma", "Gamma", 0.2, 3, 0.05),
    h("label.lp-check", {}, invert, "Invert"),
    h("button.lp-button", { onclick: reset }, "Reset"),
    filter(),
  );
  const toggle = () => {
    root.hidden = !root.hidden;
    if (!root.hidden) root.querySelector("input").focus();
    return !root.hidden;
  };
  return { root, toggle };
}

/** How far a light is turned. @param {string} name @param {number} value */
function figure(name, value) {
  return name === "gamma" ? value.toFixed(2) : `${value} %`;
}

/** CSS has no gamma, SVG has. */
function filter() {
  const holder = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  holder.setAttribute("width", "0");
  holder.setAttribute("height", "0");
  holder.setAttribute("aria-hidden", "true");
  if (document.getElementById("lp-gamma")) return holder;
  const made = document.createElementNS(holder.namespaceURI, "filter");
  made.id = "lp-gamma";
  made.setAttribute("color-interpolation-filters", "sRGB");
  const transfer = document.createElementNS(holder.namespaceURI, "feComponentTransfer");
  for (const channel of ["R", "G", "B"]) {
    const line = document.createElementNS(holder.namespaceURI, `feFunc${channel}`);
    line.setAttribute("type", "gamma");
    line.setAttribute("exponent", "1");
    transfer.append(line);
  }
  made.append(transfer);
  holder.append(made);
  return holder;
}

/** @param {number} value above 1 brightens the dark parts */
function gamma(value) {
  document.querySelectorAll("#lp-gamma [exponent]").forEach((line) =>
    line.setAttribute("exponent", String(1 / value))
  );
}

const SAVED = {
  saved: "M3 8.500l3.500 3.500L13 4.500",
  saving: "M8 3v5l3 2",
  offline: "M2 2l12 12M4 7a6 6 0 0 1 8 0M8 11v.1",
  failed: "M8 3v6M8 12v.1",
};

/** The line of status: fixed slots, so that nothing moves. @param {() => void} retry */
export function status(retry) {
  const slots = {
    place: h("span.lp-slot.lp-place"),
    name: h("span.lp-slot.lp-file"),
    size: h("span.lp-slot"),
    state: h("span.lp-slot"),
    golden: h("span.lp-slot.for-boxes"),
    zoom: h("span.lp-slot.lp-zoom"),
    saved: h("button.lp-slot.lp-saved", { onclick: retry, role: "status", "aria-live": "polite" }),
  };
  const root = h("div.lp-status", {}, Object.values(slots));
  /** @param {import("./bench.js").Bench} page */
  const render = (page) => {
    const { item } = page.desk;
    const sheet = page.desk.sheet;
    say(slots.place, item ? `${words.count(page.position + 1)} / ${words.count(page.total)}` : "");
    say(slots.name, item?.name ?? "");
    slots.name.title = item
      ? [item.name, item.group && `group ${item.group}`, item.split && `split ${item.split}`].filter(Boolean)
        .join(", ")
      : "";
    say(slots.size, item ? `${item.width}×${item.height}` : "");
    say(slots.state, item ? `${sheet.state}${sheet.label ? `, ${sheet.label}` : ""} · v${item.version}` : "");
    say(
      slots.golden,
      item && page.stage.mode !== "off" ? (item.golden ? `golden: ${page.stage.mode}` : "no golden") : "",
    );
    zoom(page.stage.view);
  };
  const zoom = (/** @type {{scale: number}} */ view) => {
    say(slots.zoom, `${Math.round(view.scale * (window.devicePixelRatio || 1) * 100)} %`);
  };
  let told = "";
  /** @param {{kind: keyof typeof SAVED, words: string}} status */
  const saved = ({ kind, words: text }) => {
    if (told === kind + text) return;
    told = kind + text;
    slots.saved.className = `lp-slot lp-saved ${kind}`;
    slots.saved.title = kind === "saved" ? "Everything is on the server" : `${text}. Press to try again.`;
    fill(
      slots.saved,
      icon(
        SAVED[kind],
      ),
      h("span", {}, text),
    );
  };
  return { root, render, zoom, saved };
}
