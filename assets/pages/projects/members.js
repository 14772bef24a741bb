/** Who works in a project: everybody with an account, or chosen people. */

import { ask } from "../../common/dialog.js";
import { fill, h } from "../../common/dom.js";
import { get, send } from "../../common/net.js";
import { attempt, toast } from "../../common/site.js";

/** @typedef {import("../../common/answers.js").Person} Person */

/** Show and change the members. @param {{id: number, name: string}} project */
export async function members(project) {
  const base = `/api/projects/${encodeURIComponent(project.name)}/members`;
  const found = await attempt(async () => ({ ...(await get(base)), people: await get("/api/people") }));
  if (!found) return;
  const all = radio("Everybody with an account", found.members === null);
  const some = radio("Only these people, and admins", found.members !== null);
  /** @type {ReturnType<typeof person>[]} */
  const boxes = found.people.map((/** @type {Person} */ one) => person(one, found.members ?? []));
  const list = h("fieldset.members", {}, h("legend", {}, "People"), boxes.map(({ line }) => line));
  const show = () => (list.disabled = all.input.checked);
  [all, some].forEach(({ input }) => input.addEventListener("change", show));
  show();
  if (!(await ask(`Members of ${project.name}`, "Save", [all.line, some.line, list]))) return;
  const names = all.input.checked
    ? null
    : boxes.filter(({ input }) => input.checked && !input.disabled).map(({ name }) => name);
  await attempt(async () => {
    await send("PUT", base, { members: names });
    toast(
      names
        ? `${project.name} is for its members now.`
        : `${project.name} is open to everybody with an account.`,
      "done",
    );
  });
}

/** @param {string} words @param {boolean} checked */
function radio(words, checked) {
  const input = h("input", { type: "radio", name: "who", checked });
  return { input, line: h("label.row", {}, input, words) };
}

/** @param {Person} one @param {string[]} chosen */
function person({ name, role }, chosen) {
  const admin = role === "admin";
  const input = h("input", { type: "checkbox", checked: admin || chosen.includes(name), disabled: admin });
  return {
    name,
    input,
    line: fill(
      h("label.row"),
      input,
      h("b", {}, name),
      h("span.quiet-text", {}, admin ? "admin, enters every project" : role),
    ),
  };
}
