/** The classes of a project: name, colour, key, severity, order; merge one into another. */

import { ask } from "./dialog.js";
import { field, h, refill, select } from "./dom.js";
import { get, send } from "./net.js";
import { attempt, site, toast } from "./site.js";

/** Show and edit the classes. @param {{id: number, name: string}} project */
export async function choices(project) {
  const list = h("div.class-list");
  const base = `/api/projects/${project.id}/classes`;
  const draw = async () => {
    const now = await get(`/api/projects/${project.id}`);
    refill(list, now.classes.length === 0 ? h("p.quiet-text", {}, "No class yet.") : heads(), now.classes.map((one) => line(one, now.classes, base, draw)));
    site.dispatchEvent(new Event("projects"));
  };
  await attempt(draw);
  await ask(`Classes of ${project.name}`, "", [list, adder(base, draw)], { wide: true });
}

function heads() {
  return h("div.class-line.head", { "aria-hidden": "true" }, ["", "", "Name", "Key", "Severity", ""].map((words) => h("span", {}, words)));
}

function line(one, all, base, draw) {
  const change = (values) => attempt(async () => (await send("PATCH", `${base}/${one.id}`, values), await draw()));
  const name = h("input", { value: one.name, "aria-label": "Name", onchange: () => change({ name: name.value }) });
  const color = h("input", { type: "color", value: one.color, "aria-label": `Colour of ${one.name}`, onchange: () => change({ color: color.value }) });
  const key = h("input", { value: one.hotkey, maxLength: 1, "aria-label": `Key of ${one.name}`, title: "Key", onchange: () => change({ hotkey: key.value }) });
  const severity = h("input", { type: "number", min: 0, max: 10, value: one.severity, title: "Severity, 0 to 10", "aria-label": `Severity of ${one.name}`, onchange: () => change({ severity: Number(severity.value) }) });
  return h("div.class-line", {},
    h("span.number.quiet-text", {}, one.index + 1), color, name, key, severity,
    h("span.row", {}, mover(one, all, base, draw, -1), mover(one, all, base, draw, 1), merger(one, all, base, draw)));
}

function mover(one, all, base, draw, step) {
  const order = all.map((other) => other.id);
  const at = order.indexOf(one.id);
  const words = step < 0 ? "up" : "down";
  return h("button.quiet", {
    type: "button", title: `Move ${words}`, "aria-label": `Move ${one.name} ${words}`,
    disabled: at + step < 0 || at + step >= order.length,
    onclick: () => attempt(async () => {
      [order[at], order[at + step]] = [order[at + step], order[at]];
      await send("PUT", base, { classes: order });
      await draw();
    }),
  }, step < 0 ? "↑" : "↓");
}

function merger(one, all, base, draw) {
  const others = all.filter((other) => other.id !== one.id).map((other) => [String(other.id), other.name]);
  const merge = () => attempt(async () => {
    const into = select(others, others[0][0], null, { "aria-label": `Merge ${one.name} into` });
    const warning = `Every box of ${one.name} becomes a box of that class. This cannot be undone.`;
    if (!(await ask(`Merge ${one.name}`, "Merge", [field("Into", into, warning)], { danger: true }))) return;
    await send("POST", `${base}/${one.id}/merge`, { into: Number(into.value) });
    toast(`${one.name} is now part of ${into.selectedOptions[0].text}.`, "done");
    await draw();
  });
  return h("button.quiet", { type: "button", "aria-label": `Merge ${one.name} …`, disabled: others.length === 0, onclick: merge }, "Merge into …");
}

function adder(base, draw) {
  const name = h("input", { placeholder: "Name of a new class", "aria-label": "Name of a new class" });
  const add = () => attempt(async () => {
    await send("POST", base, { name: name.value });
    name.value = "";
    await draw();
    name.focus();
  });
  name.addEventListener("keydown", (event) => event.key === "Enter" && (event.preventDefault(), add()));
  return h("div.row", {}, name, h("button", { type: "button", onclick: add }, "Add class"));
}
