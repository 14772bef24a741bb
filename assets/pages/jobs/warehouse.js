/** How the warehouse stands, into which results are published; nothing where there is none. */

import { fill, h } from "../../common/dom.js";
import { send } from "../../common/net.js";
import { attempt } from "../../common/site.js";

/** @typedef {import("../../common/answers.js").WarehouseCard} Warehouse */

/** @param {HTMLElement} place @param {Warehouse} stands @param {() => any} then after it was hurried */
export function warehouse(place, { told, waiting, failing }, then) {
  place.hidden = told.length === 0;
  const button = waiting > 0 && h("button.for-labeler", {
    data: { key: "publish" },
    onclick: () => attempt(async () => (await send("POST", "/api/warehouse"), await then())),
  }, "Publish now");
  fill(
    place,
    h("header", {}, h("h2", {}, "Warehouse"), button),
    h("div.inside", {}, told.map((one) => h(failing && one.startsWith("Since") ? "p.warn" : "p", {}, one))),
  );
}
