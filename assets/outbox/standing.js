/** How the saving stands, in a word for the colour and in words for people. */

import { many } from "../common/words.js";

/**
 * @typedef {{kind: "saved" | "saving" | "offline" | "failed", words: string}} Status
 * @typedef {{image: number | string, of?: string, items?: any[]}} Waiting an image, or a part of a sweep
 */

/** @param {{entries: Map<any, Waiting>, later: Waiting[], stuck: Set<any>, failures: number, problem?: string}} saver
 * @returns {Status} */
export function standing({ entries, later, stuck, failures, problem }) {
  if (!entries.size) return { kind: "saved", words: "Saved" };
  if (stuck.size) return { kind: "failed", words: `Not saved: ${problem ?? "a conflict waits"}` };
  if (failures) {
    return { kind: "offline", words: `No connection: ${tally([...entries.values(), ...later])} kept here` };
  }
  return { kind: "saving", words: "Saving…" };
}

/** "2 images and 1 sweep" @param {Waiting[]} all */
function tally(all) {
  const sweeps = new Set(all.filter((entry) => entry.items).map((entry) => entry.of)).size;
  const images = new Set(all.filter((entry) => !entry.items).map((entry) => entry.image)).size;
  return [images && many(images, "image"), sweeps && many(sweeps, "sweep")].filter(Boolean).join(" and ");
}
