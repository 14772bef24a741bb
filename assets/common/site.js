/** What crosses the pages: the URL (project, tab, image, filters), the tabs, short messages. */

import { h } from "./dom.js";
import { get } from "./net.js";

/**
 * Fires "change" after every change of the URL, "projects" when projects changed, "back" when the server answers again.
 */
export const site = new EventTarget();

/** The URL's query, a copy. */
export function query() {
  return new URLSearchParams(location.search);
}

/** The project that the URL names, or "". */
export function project() {
  return query().get("project") ?? "";
}

/** The tab that stands open; a link may name one that there is not. */
export function tab() {
  const named = query().get("tab");
  const missing = document.getElementById("projects-button") && !document.getElementById(`${named}-button`);
  return named && !missing ? named : project() ? "overview" : "projects";
}

/**
 * Change the URL's query; null, "" or [] removes a name, a list stands once a value. The tab
 * follows.
 * @param {Record<string, any>} changes
 * @param {{replace?: boolean}} [options] replace: not a step of its own for the back button
 */
export function go(changes, { replace = false } = {}) {
  if (sorted(changed(changes)) === sorted(query())) return;
  history[replace ? "replaceState" : "pushState"](null, "", along(changes));
  follow();
}

/** The address that `go` would go to. @param {Record<string, any>} changes */
export function along(changes) {
  return `${location.pathname}?${changed(changes)}`.replace(/\?$/, "");
}

/** @param {Record<string, any>} changes */
function changed(changes) {
  const next = query();
  for (const [name, value] of Object.entries(changes)) {
    next.delete(name);
    for (const one of [value].flat()) {
      if (one !== null && one !== undefined && one !== "") next.append(name, String(one));
    }
  }
  return next;
}

/** The order of its parts does not make an address another one. @param {URLSearchParams} parts */
function sorted(parts) {
  const copy = new URLSearchParams(parts);
  copy.sort();
  return copy.toString();
}

/** Open the view of an address as if a link to it had been clicked. @param {string} href */
export function visit(href) {
  history.pushState(null, "", href);
  follow();
}

/** The address of a view, to be the href of a link. @param {Record<string, any>} changes */
export function address(changes) {
  const every = Object.entries(changes).flatMap(([name, value]) => [value].flat().map((one) => [name, one]));
  return `/?${new URLSearchParams(every.filter(([, value]) => value !== ""))}`;
}

/**
 * Call `show(query)` now and after every change, as long as the URL names this tab;
 * `hide()` when it no longer does.
 * @param {string} name @param {(query: URLSearchParams) => void} show @param {() => void} [hide]
 */
export function page(name, show, hide = () => {}) {
  let shown = false;
  const look = () => {
    const now = tab() === name;
    if (now) show(query());
    else if (shown) hide();
    shown = now;
  };
  site.addEventListener("change", look);
  look();
}

/** A turn of a poll that takes longer holds up no other. */
const LONGEST = 30_000;
const ANYWAY = 15; // seconds after which a page is asked for without a change
const SHARE = 5; // what takes long is asked for seldom: at most a fifth of the time

/**
 * Call `work` when what this tab shows has changed, while it and the browser's window are looked at.
 * Every `seconds` the server is asked for its marks alone, which is little; work that gives false
 * has shown nothing and is tried again, and what it throws is reported and ends nothing.
 * @param {string} name @param {number} seconds
 * @param {(keyof import("./answers.js").Marks)[]} shown @param {() => any} work
 */
export function poll(name, seconds, shown, work) {
  let seen = "", last = 0, rest = 0;
  const look = async () => {
    /** @type {import("./answers.js").Marks | null} */
    const marks = await get("/api/changes").catch(() => null); // the header says that the server is gone
    if (!marks) return;
    const now = JSON.stringify([project(), shown.map((mark) => marks[mark])]);
    const since = performance.now() - last;
    if (since < rest || (now === seen && since < ANYWAY * 1000)) return;
    last = performance.now();
    if ((await work()) !== false) seen = now;
    rest = SHARE * (performance.now() - last);
  };
  every(seconds, () => (tab() === name && !document.hidden ? look() : undefined));
}

/** Call `work` again and again, whatever becomes of it. @param {number} seconds @param {() => any} work */
export function every(seconds, work) {
  const turn = async () => {
    try {
      await Promise.race([work(), new Promise((done) => setTimeout(done, LONGEST))]);
    } catch (error) {
      reportError(error);
    } finally {
      setTimeout(turn, seconds * 1000);
    }
  };
  setTimeout(turn, seconds * 1000);
}

/** A short message at the lower edge; one that stands there already is said anew, not twice.
 * @param {string} text @param {"note"|"done"|"failed"} kind
 * @param {{words: string, run: () => any} | null} action */
export function toast(text, kind = "note", action = null) {
  const line = h(
    `div.toast.${kind}`,
    { role: kind === "failed" ? "alert" : "status", "data-said": text },
    text,
  );
  if (!action) [...place().children].find((other) => other.getAttribute("data-said") === text)?.remove();
  if (action) line.append(h("button", { onclick: () => (line.remove(), action.run()) }, action.words));
  line.append(h("button.quiet", { title: "Close", onclick: () => line.remove() }, "×"));
  place().append(line);
  setTimeout(() => line.remove(), action || kind === "failed" ? 12000 : 5000);
  return line;
}

/**
 * Run `work`; what it throws is shown as a message.
 * @template T
 * @param {() => T | Promise<T>} work
 * @returns {Promise<T | undefined>}
 */
export async function attempt(work) {
  try {
    return await work();
  } catch (error) {
    const { name, message } = /** @type {Error} */ (error);
    if (name !== "AbortError") toast(message, "failed");
    return undefined;
  }
}

/** Where messages stand: inside the topmost dialog, before which nothing else can. */
function place() {
  const toasts = document.querySelector("#toasts") ?? h("div", { id: "toasts" });
  const dialog = [...document.querySelectorAll("dialog:modal")].at(-1);
  const over = dialog ?? document.body;
  if (toasts.parentElement === over) return toasts;
  over.append(toasts);
  dialog?.addEventListener("close", () => document.body.append(toasts), { once: true });
  return toasts;
}

/** A question belongs to the page that asked it; what no other page may pass by stays. */
function leave() {
  for (
    const dialog of /** @type {NodeListOf<HTMLDialogElement>} */ (document.querySelectorAll(
      "dialog.loupe[open], dialog.lp-keys[open]",
    ))
  ) dialog.close("");
}

function follow() {
  if (stood && stood !== tab()) leave();
  stood = tab();
  const button = document.getElementById(`${tab()}-button`);
  if (button && button.getAttribute("aria-selected") !== "true") button.click();
  site.dispatchEvent(new Event("change"));
}

/** Keep the tabs and the URL together; called once, by the header. */
export function start() {
  document.addEventListener("click", (event) => {
    const link = /** @type {HTMLElement} */ (event.target).closest?.("a[href^='/?']");
    if (
      link && !event.defaultPrevented && !event.ctrlKey && !event.metaKey && !event.shiftKey &&
      event.button === 0
    ) {
      event.preventDefault();
      visit(link.getAttribute("href") ?? "");
    }
  });
  addEventListener("popstate", follow);
  whenTabsStand(follow);
}

/** The tab of the address before. */
let stood = "";

/** Gradio lays out its tabs after the header. @param {() => void} then */
export function whenTabsStand(then) {
  if (document.getElementById("projects-button")) then();
  else requestAnimationFrame(() => whenTabsStand(then));
}
