/** How what is said of an image, and a part of a sweep, go to the server. */

import * as net from "../common/net.js";

/** @typedef {import("./saving.js").Entry} Entry */
/** @typedef {import("./saving.js").Sweep} Sweep */

const KEEPALIVE = 60_000;

/** What shall outlive the page goes by the browser's own process, a detour of a millisecond.
 * @param {Entry | Sweep} entry @param {boolean} leaving @returns {Promise<any>} the version, or the answers to a sweep */
export async function put(entry, leaving) {
  const body = entry.items ? swept(entry) : said(entry);
  const keepalive = leaving && JSON.stringify(body).length < KEEPALIVE;
  if (!entry.items) return net.put(place(entry), body, { keepalive });
  return (await net.send("POST", `/api/runs/${entry.run}/decide`, body, { keepalive })).answers;
}

/** @param {Entry} entry @returns {Readonly<import("../common/answers.js").Save>} */
function said({ version, action, sheet, extra, key }) {
  return { version, action, ...sheet, ...extra, key };
}

/** @param {Sweep} entry @returns {import("../common/answers.js").Sweep} */
function swept({ key, items }) {
  return {
    key,
    items: items.map(({ image, idx, verdict, label = "", saw = null }) => ({
      image,
      idx,
      verdict,
      label,
      saw,
    })),
  };
}

/** A blind repeat has a negative number, and is kept beside the labels. @param {Entry} entry */
function place({ image, sheet }) {
  return image < 0 ? `/api/runs/${sheet.run}/repeats/${-image}` : `/api/images/${image}/boxes`;
}
