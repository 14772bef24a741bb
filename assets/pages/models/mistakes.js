/** What a classifier got wrong, what it was surest of first; each picture leads into Review. */

import { h } from "../../common/dom.js";
import { get } from "../../common/net.js";
import { address, project } from "../../common/site.js";
import { many, share } from "../../common/words.js";

/** @typedef {import("../../common/answers.js").Mistake} Mistake */

/**
 * A place that fills itself.
 * @param {string} model
 */
export function mistakes(model) {
  const place = h("div");
  /** @type {Promise<Mistake[]>} */
  const asked = get(
    `/api/projects/${encodeURIComponent(project())}/detect/mistakes/${encodeURIComponent(model)}`,
  );
  asked.then((found) => found.length && place.append(list(found))).catch(() => null);
  return place;
}

/** @param {Mistake[]} found */
function list(found) {
  return h(
    "details",
    {},
    h("summary", {}, `${many(found.length, "mistake")}, the surest first`),
    h("div.mistakes", {}, found.map(one)),
  );
}

/** @param {Mistake} found */
function one(found) {
  const words = `is ${found.label}, said ${found.said} (${share(found.score, 2)})`;
  return h(
    "a",
    {
      href: address({ project: project(), tab: "review", run: found.run, image: found.image }),
      title: `${found.name}: ${words}`,
    },
    h("img", { src: `/files/${found.sha256}/thumb`, alt: found.name, loading: "lazy" }),
    h("span", {}, words),
  );
}
