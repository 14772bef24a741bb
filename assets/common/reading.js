/**
 * How a page gets what it shows: a skeleton while that is slow, the reason where it fails, again until it comes.
 */

import { fill, h } from "./dom.js";
import { Failure } from "./net.js";
import { site, tab } from "./site.js";

/** What is quicker than this is not announced. */
const CALM = 200;
const WAITS = [1000, 2000, 4000, 8000, 15_000];

/** What stands in the place of each page until its first answer. */
const BONES = {
  rows: () => [bar(30), ...Array.from({ length: 5 }, () => bar(100))],
  cards: () => [bar(30), h("div.bones-cards", {}, Array.from({ length: 3 }, () => h("div.skeleton")))],
  forms: () => [
    bar(30),
    h("div.bones-cards", {}, Array.from({ length: 2 }, () => h("div.skeleton"))),
    bar(100),
    bar(100),
  ],
  wall: () => h("div.bones-wall", {}, Array.from({ length: 24 }, () => h("div.skeleton"))),
  stage: () => h("div.bones-stage", {}, h("div.skeleton"), h("div.skeleton")),
};

export class Reading {
  /**
   * @param {string} name of the tab
   * @param {HTMLElement} element what is covered while nothing true stands in it
   * @param {keyof typeof BONES} bones
   */
  constructor(name, element, bones = "rows") {
    this.name = name;
    this.element = element;
    this.bones = bones;
    this.cover = h("div.bones", { role: "status" });
    this.failures = 0;
    /** @type {string | undefined} what stands there */
    this.key = undefined;
    /** @type {symbol | undefined} the newest question */
    this.turn = undefined;
    /** @type {[string, () => Promise<any>, (found: any) => any] | null} what could not be had */
    this.owed = null;
    addEventListener("online", () => this.again());
    site.addEventListener("back", () => this.again());
  }

  /**
   * Ask for what `key` names and draw it. Of several that are asked for the last alone is drawn; what
   * stands there of the same key stays until the answer comes.
   * @template T
   * @param {string} key @param {() => Promise<T>} ask @param {(found: T) => any} [draw]
   */
  async show(key, ask, draw = () => {}) {
    const turn = (this.turn = Symbol(key));
    clearTimeout(this.timer);
    clearTimeout(this.slow);
    if (this.key !== key) {
      this.slow = setTimeout(() => this.hide(BONES[this.bones](), "Loading …"), this.owed ? 0 : CALM);
    }
    let found;
    try {
      found = await ask();
    } catch (error) {
      if (turn === this.turn) this.fail(key, ask, draw, error);
      return;
    }
    if (turn !== this.turn) return;
    this.rest();
    this.key = key;
    await draw(found);
  }

  /** Whether what a key names stands there. @param {string} key */
  stands(key) {
    return this.key === key && !this.owed;
  }

  /** Something else stands there now. */
  rest() {
    clearTimeout(this.timer);
    clearTimeout(this.slow);
    this.turn = undefined;
    this.key = undefined;
    this.owed = null;
    this.failures = 0;
    this.element.classList.remove("reads");
    this.cover.remove();
  }

  /**
   * @param {string} key @param {() => Promise<any>} ask @param {(found: any) => any} draw
   * @param {any} error
   */
  fail(key, ask, draw, error) {
    clearTimeout(this.slow);
    if (error.name === "AbortError") return;
    const may = error instanceof Failure && passing(error);
    if (this.key !== key) this.hide(trouble(error.message, may, () => this.show(key, ask, draw)), "");
    if (!(error instanceof Failure)) throw error;
    if (!may) return;
    this.owed = [key, ask, draw];
    this.timer = setTimeout(() => this.again(), WAITS[Math.min(this.failures++, WAITS.length - 1)]);
  }

  again() {
    if (this.owed && tab() === this.name) this.show(...this.owed);
  }

  /** @param {any} children @param {string} label */
  hide(children, label) {
    this.key = undefined;
    fill(this.cover, children);
    this.cover.ariaLabel = label;
    this.element.append(this.cover);
    this.element.classList.add("reads");
    this.element.removeAttribute("aria-busy");
  }
}

/** Whether the same question may have an answer a moment later. @param {Failure} error */
function passing(error) {
  return !error.status || error.status >= 500 || error.status === 429;
}

/** @param {string} message @param {boolean} may @param {() => void} again */
function trouble(message, may, again) {
  return h(
    "div.empty",
    {},
    h("h2", {}, "This could not be loaded"),
    h("p", { role: "alert" }, message),
    h("p.quiet-text", {}, may ? "It is tried again by itself." : ""),
    h("button", { onclick: again }, "Try again"),
  );
}

/** @param {number} width in percent */
function bar(width) {
  return h("div.skeleton", { style: { width: `${width}%` } });
}
