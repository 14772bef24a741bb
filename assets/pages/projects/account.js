/** One's own account: another password, and where one is logged in. */

import { ask } from "../../common/dialog.js";
import { field, h, refill } from "../../common/dom.js";
import { get, send } from "../../common/net.js";
import { attempt, toast } from "../../common/site.js";
import { ago } from "../../common/words.js";

/** @typedef {import("../../common/answers.js").LoginCard} Login */

/** Show one's own account. @param {string} name */
export async function account(name) {
  await ask(name, "", [password(), h("h3", {}, "Logged in"), await logins("", "End all others")], {
    wide: true,
  });
}

/**
 * Where somebody is logged in; without a name oneself.
 * @param {string} name @param {string} all what ends all of them
 */
export async function logins(name, all) {
  const of = name ? `?of=${encodeURIComponent(name)}` : "";
  const list = h("div.logins");
  /** @param {string} path */
  const end = (path) => attempt(async () => draw(await send("DELETE", `/api/logins${path}`)));
  /** @param {Login[]} found */
  const draw = (found) =>
    refill(
      list,
      found.map((one) => line(one, () => end(`/${one.id}`))),
      found.some((one) => !one.here) && h("button", { type: "button", onclick: () => end(of) }, all),
      found.length === 0 && h("p.hint", {}, "Nowhere."),
    );
  await attempt(async () => draw(await get(`/api/logins${of}`)));
  return list;
}

/** @param {Login} one @param {() => any} end */
function line(one, end) {
  const words = one.here ? "here" : `seen ${ago(one.seen)}`;
  const place = `${device(one.browser)}, ${one.address || "unknown address"}`;
  return h(
    "div.row.spread",
    {},
    h("span", { title: one.browser }, `${place}: since ${ago(one.began)}, ${words}`),
    !one.here && h("button.quiet", { type: "button", onclick: end, "aria-label": `End ${place}` }, "End"),
  );
}

/** The browser and the system, as people call them. @param {string} agent */
function device(agent) {
  const first = (/** @type {string[]} */ names) => names.find((name) => agent.includes(name)) ?? "";
  const name = first(["Firefox", "Edg", "Chrome", "Safari"]).replace("Edg", "Edge");
  const system = first(["Windows", "Android", "iPhone", "iPad", "Mac OS", "Linux"]);
  return [name, system].filter(Boolean).join(" on ") || agent.slice(0, 40) || "Unknown browser";
}

function password() {
  const old = h("input", { type: "password", autocomplete: "current-password", maxLength: 1000 });
  const fresh = h("input", {
    type: "password",
    autocomplete: "new-password",
    maxLength: 1000,
    placeholder: "8 characters or more",
  });
  const change = () =>
    attempt(async () => {
      await send("PUT", "/api/me/password", { old: old.value, new: fresh.value });
      old.value = fresh.value = "";
      toast("Your password is changed, and all your other logins have ended.", "done");
    });
  return h(
    "div.form-grid.new-password",
    {},
    field("Your password", old),
    field("New password", fresh),
    h("button.primary", { type: "button", onclick: change }, "Change"),
  );
}
