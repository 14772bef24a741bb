/** What is said of the image as a whole: its state, a comment, and every revision with its author. */

import { fill, h } from "../../common/dom.js";
import * as net from "../../common/net.js";
import { attempt } from "../../common/site.js";
import * as words from "../../common/words.js";
import { tip } from "../keys.js";

/**
 * @typedef {import("../types.js").Item} Item
 * @typedef {import("../types.js").Revision} Revision
 */

/** @param {{desk: import("../desk.js").Desk, done: () => void, skip: () => void}} page */
export function about({ desk, done, skip }) {
  const comment = h("textarea", {
    rows: 2,
    placeholder: "Comment on this image",
    "aria-label": "Comment on this image",
    title: tip("comment", "annotate"),
    maxLength: 5000,
    onchange: () =>
      comment.value !== desk.sheet.comment && desk.commit("comment", { comment: comment.value }),
    onkeydown: (/** @type {KeyboardEvent} */ e) => {
      if (e.key === "Escape" || (e.key === "Enter" && !e.shiftKey)) {
        e.preventDefault();
        comment.blur();
      }
    },
  });
  const doneButton = h(
    "button.lp-button.primary",
    { onclick: done, title: tip("done", "annotate") },
    h("kbd", {}, "Enter"),
    "Done, next",
  );
  const skipButton = h(
    "button.lp-button",
    { onclick: skip, title: tip("skip", "annotate") },
    h("kbd", {}, "S"),
    "Skip",
  );
  let shown = 0;
  const render = () => {
    const image = desk.item?.id ?? 0;
    const changes = document.activeElement !== comment || shown !== image;
    if (changes && comment.value !== desk.sheet.comment) comment.value = desk.sheet.comment;
    shown = image;
    comment.disabled = doneButton.disabled = skipButton.disabled = !desk.editable || !desk.item;
  };
  const root = h("section.lp-section", {}, comment, h("div.lp-two.for-labeler", {}, skipButton, doneButton));
  const focus = () => {
    render();
    comment.focus();
  };
  return { root, render, focus };
}

/** @param {{desk: import("../desk.js").Desk, restored: (answer: Partial<Item>) => void, renew: () => Promise<any>, preview: (boxes: import("../types.js").Box[] | null) => void}} page */
export function revisions({ desk, restored, renew, preview }) {
  const list = h("div.lp-boxes");
  const details = h(
    "details.lp-section",
    { ontoggle: () => details.open && load() },
    h("summary", {}, "History"),
    list,
  );
  let shown = "";
  const load = async () => {
    const { item } = desk;
    if (!item) return;
    shown = `${item.id}/${item.version}`;
    const rows = await page(item, 0);
    if (desk.item === item) fill(list, rows.length ? rows : h("p.lp-hint", {}, "Nothing saved yet."));
  };
  /** A hundred revisions, and what fetches those before them. @param {Item} item @param {number} before @returns {Promise<HTMLElement[]>} */
  const page = async (item, before) => {
    /** @type {{revisions: Revision[], more: boolean, error?: Error}} */
    const answer = await net.get(`/api/images/${item.id}/history?before=${before}`).catch((error) => ({
      error,
    }));
    if (answer.error) return [h("p.lp-hint", {}, answer.error.message)];
    const rows = answer.revisions.map((r) => row(item, r));
    return answer.more ? [...rows, older(item, answer.revisions[rows.length - 1].version)] : rows;
  };
  /** @param {Item} item @param {number} version */
  const older = (item, version) => {
    const button = h("button.lp-button.lp-wide", {
      onclick: async () => {
        const rows = await page(item, version);
        button.replaceWith(...rows);
        rows[0]?.querySelector("button")?.focus();
      },
    }, `Show those before v${version}`);
    return button;
  };
  /** @param {Item} item @param {Revision} r @returns {HTMLElement} */
  const row = (item, r) =>
    h(
      "div.lp-row.lp-revision",
      {
        onpointerenter: () => preview(r.boxes),
        onpointerleave: () => preview(null),
      },
      h(
        "span.lp-name",
        { title: new Date(r.at).toLocaleString() },
        h("b", {}, `v${r.version} `),
        r.action,
        h(
          "small",
          {},
          `${r.author || "–"}, ${words.ago(r.at)}, ${
            desk.byImage ? r.label || "no class" : words.many(r.boxes.length, "box", "boxes")
          }`,
        ),
      ),
      r.version !== item.version && desk.editable &&
        h("button.lp-quiet", { onclick: () => restore(item, r.version) }, "Restore"),
    );
  /** @param {Item} item @param {number} version */
  const restore = async (item, version) => {
    const answer = await attempt(() =>
      net.send("POST", `/api/images/${item.id}/restore`, { version: item.version, revision: version })
    );
    preview(null);
    if (answer) restored(answer);
    else await renew();
    await load();
  };
  const render = () => {
    if (details.open && desk.item && shown !== `${desk.item.id}/${desk.item.version}`) load();
  };
  return { root: details, render };
}
