/**
 * Who holds pictures. Each loading of a tab has a name of its own: when a page is loaded anew, the
 * farewell of the one before may come late, and gives back nothing of what this one was given.
 */

import * as memory from "../../common/memory.js";
import * as net from "../../common/net.js";
import * as tabs from "../../outbox/tabs.js";

const tab = tabs.name();
const before = memory.read("holder");

/** What this loading of the tab is called. */
export const me = net.token();
memory.keep("holder", me);

/** @type {Set<number>} the runs of which nothing is left from before */
const gone = new Set();

/** Others may have what this tab held of a run. @param {number} run @param {{keepalive?: boolean}} [options] */
export function giveBack(run, options) {
  return send(run, me, options);
}

/** Once for each run: what the tab held before it was loaded anew. @param {number} run */
export async function giveBackOld(run) {
  const own = await tabs.own; // a duplicated tab has never held what the first one holds
  if (!before || own !== tab || gone.has(run)) return;
  gone.add(run);
  await send(run, before);
}

/** @param {number} run @param {string} holder @param {{keepalive?: boolean}} [options] */
function send(run, holder, options) {
  return net.send("POST", `/api/runs/${run}/give-back`, { holder }, options).catch(() => null);
}
