/** Accounts: who may enter, and as what. */

import { logins } from "./account.js";
import { ask } from "../../common/dialog.js";
import { field, h, refill, select } from "../../common/dom.js";
import { get, send } from "../../common/net.js";
import { attempt, toast } from "../../common/site.js";

/** @typedef {import("../../common/answers.js").Person} Person */
/** @typedef {(found: Person[]) => any} Draw */

const ROLES = [["viewer", "Viewer: looks"], ["labeler", "Labeler: labels and reviews"], [
  "admin",
  "Admin: everything",
]];

/** Show and change the accounts. */
export async function people() {
  const list = h("div", { style: { display: "grid", gap: "8px" } });
  /** @type {Draw} */
  const draw = (found) => refill(list, found.map((one) => line(one, draw)));
  await attempt(async () => draw(await get("/api/people")));
  await ask("People", "", [list, adder(draw)], { wide: true });
}

/** @param {Person} one @param {Draw} draw */
function line(one, draw) {
  const path = `/api/people/${encodeURIComponent(one.name)}`;
  /** @param {{role?: string, password?: string}} body @param {string} said */
  const change = (body, said) =>
    attempt(async () => {
      try {
        draw(await send("PATCH", path, body));
        toast(said, "done");
      } finally {
        draw(await get("/api/people"));
      }
    });
  const role = select(ROLES, one.role, (value) => change({ role: value }, `${one.name} is a ${value} now.`), {
    "aria-label": `Role of ${one.name}`,
  });
  const password = h("input", {
    type: "password",
    placeholder: "New password",
    autocomplete: "new-password",
    "aria-label": `New password of ${one.name}`,
  });
  const set = h("button", {
    type: "button",
    onclick: () =>
      password.value && change({ password: password.value }, `The password of ${one.name} is changed.`),
  }, "Set");
  const places = h("button.quiet", {
    type: "button",
    onclick: () => where(one.name),
    "aria-label": `Logins of ${one.name}`,
  }, "Logins");
  const close = h("button.quiet", {
    type: "button",
    onclick: () => remove(one.name, path, draw),
    "aria-label": `Remove ${one.name}`,
  }, "Remove");
  return h("div.row.spread", {}, h("b", {}, one.name), h("span.row", {}, role, password, set, places, close));
}

/** @param {string} name */
async function where(name) {
  await ask(`Where ${name} is logged in`, "", await logins(name, "End all"), { wide: true });
}

/** @param {string} name @param {string} path @param {Draw} draw */
function remove(name, path, draw) {
  const words =
    "The account and its logins end, and it leaves every project's members. What was labelled and reviewed stays, with the name.";
  return ask(`Remove ${name}?`, "Remove", h("p", {}, words), {
    danger: true,
    agree: async () => {
      draw(await send("DELETE", path));
      toast(`${name} may no longer log in.`, "done");
    },
  });
}

/** @param {Draw} draw */
function adder(draw) {
  const name = h("input", { autocomplete: "off", maxLength: 100 });
  const password = h("input", {
    type: "password",
    autocomplete: "new-password",
    placeholder: "8 characters or more",
  });
  const role = select(ROLES, "labeler");
  const add = () =>
    attempt(async () => {
      await send("POST", "/api/people", { name: name.value, password: password.value, role: role.value });
      toast(`${name.value} may log in now.`, "done");
      name.value = password.value = "";
      draw(await get("/api/people"));
    });
  return h(
    "div.form-grid.new-person",
    {},
    field("Name", name),
    field("Password", password),
    field("Role", role),
    h("button.primary", { type: "button", onclick: add }, "Add"),
  );
}
