/**
 * The tabs of this browser by name. Each shows that it lives, so that what it still has to send is
 * its own; what a tab that is gone has left is taken over by one other.
 */

import * as memory from "../common/memory.js";

const BEAT = 5000;
/** A tab in the background has its clock slowed down to one beat a minute. */
const GONE = 180_000;

/** What this tab is called; a duplicated one is renamed before this settles. @type {Promise<string>} */
export const own = settle(memory.read("tab") ?? renamed());

/** The name as far as it is known at once. */
export function name() {
  return memory.read("tab") ?? renamed();
}

/** @param {string} tab */
export async function alive(tab) {
  if (!navigator.locks) return recent(tab);
  const { held } = await navigator.locks.query();
  return (held ?? []).some((lock) => lock.name === `loupe:${tab}`);
}

/** Two tabs never take over the same things. @param {() => Promise<void>} work @returns {Promise<void>} */
export function alone(work) {
  return navigator.locks ? navigator.locks.request("loupe:adopt", work) : work();
}

function renamed() {
  const made = Array.from(crypto.getRandomValues(new Uint32Array(2)), (n) => n.toString(36)).join("");
  memory.keep("tab", made);
  return made;
}

/** @param {string} tab @returns {Promise<string>} */
async function settle(tab) {
  return (await (navigator.locks ? lock(tab) : lease(tab))) ? tab : settle(renamed());
}

/** Held for as long as the tab lives. @param {string} tab @returns {Promise<boolean>} */
function lock(tab) {
  return new Promise((answer) => {
    navigator.locks.request(`loupe:${tab}`, { ifAvailable: true }, (got) => {
      answer(Boolean(got));
      return got ? new Promise(() => {}) : undefined;
    });
  });
}

/** Without locks, as on a page that came by plain HTTP: a time in storage, written again and again. @param {string} tab */
async function lease(tab) {
  if (recent(tab)) return false;
  const beat = () => memory.keep("alive", String(Date.now()), tab);
  beat();
  setInterval(beat, BEAT);
  addEventListener("pagehide", () => memory.forget("alive", tab));
  addEventListener("pageshow", beat);
  return true;
}

/** @param {string} tab */
function recent(tab) {
  const seen = Number(memory.read("alive", tab) ?? 0);
  if (seen && Date.now() - seen > GONE) memory.forget("alive", tab);
  return Date.now() - seen <= GONE;
}
