/** The classes of a project: name, colour, key, severity, order; merge one into another. */

import { ask } from "../../common/dialog.js";
import { field, h, refill, select } from "../../common/dom.js";
import { get, send } from "../../common/net.js";
import { attempt, site, toast } from "../../common/site.js";
import { many } from "../../common/words.js";

/** @typedef {import("../../common/answers.js").Class} Class */
/** @typedef {() => Promise<any>} Draw shows what the server holds now */
/** @typedef {{id: number, element: HTMLElement, show: (now: Class, every: Class[]) => void}} Line */

/** Show and edit the classes. @param {{id: number, name: string}} project */
export async function choices(project) {
  const list = h("div.class-list");
  const of = `/api/projects/${encodeURIComponent(project.name)}`;
  const base = `${of}/classes`;
  /** @type {Line[]} */
  let lines = [];
  const draw = async () => {
    /** @type {import("../../common/answers.js").Project} */
    const { classes } = await get(of);
    // Whoever types in the next field by now must not lose it: lines stay where they can.
    if (lines.length > 0 && lines.map((one) => one.id).join() === classes.map((one) => one.id).join()) {
      lines.forEach((one, at) => one.show(classes[at], classes));
    } else {
      lines = classes.map((one) => line(one, classes, base, draw));
      refill(
        list,
        lines.length === 0 ? h("p.quiet-text", {}, "No class yet.") : heads(),
        lines.map((one) => one.element),
      );
    }
    site.dispatchEvent(new Event("projects"));
  };
  await attempt(draw);
  await ask(`Classes of ${project.name}`, "", [list, adder(base, draw)], { wide: true });
}

function heads() {
  return h(
    "div.class-line.head",
    { "aria-hidden": "true" },
    ["", "", "Name", "Key", "Severity", ""].map((words) => h("span", {}, words)),
  );
}

/**
 * A class as a line of fields; what a field says is kept when the server takes it.
 * @param {Class} one @param {Class[]} all @param {string} base @param {Draw} draw
 * @returns {Line}
 */
function line(one, all, base, draw) {
  /** @param {any} input @param {() => Record<string, any>} values @returns {any} */
  const kept = (input, values) => {
    input.addEventListener("change", async () => {
      const said = input.value;
      const taken = await attempt(async () => (await send("PATCH", `${base}/${one.id}`, values()), true));
      if (taken) {
        input.dataset.kept = said;
        await attempt(draw);
      } else if (input.value === said) input.value = input.dataset.kept;
    });
    return input;
  };
  const name = kept(h("input"), () => ({ name: name.value }));
  const color = kept(h("input", { type: "color" }), () => ({ color: color.value }));
  const key = kept(h("input", { maxLength: 1, title: "Key" }), () => ({ hotkey: key.value }));
  const severity = kept(
    h("input", { type: "number", min: 0, max: 10, title: "Severity, 0 to 10" }),
    () => ({ severity: Number(severity.value) }),
  );
  const tools = h("span.row");
  /** @param {Class} now @param {Class[]} every */
  const show = (now, every) => {
    told(name, now.name, "Name");
    told(color, now.color, `Colour of ${now.name}`);
    told(key, now.hotkey, `Key of ${now.name}`);
    told(severity, now.severity, `Severity of ${now.name}`);
    refill(
      tools,
      mover(now, every, base, draw, -1),
      mover(now, every, base, draw, 1),
      merger(now, every, base, draw),
      remover(now, base, draw),
    );
  };
  show(one, all);
  const element = h(
    "div.class-line",
    {},
    h("span.number.quiet-text", {}, one.index + 1),
    color,
    name,
    key,
    severity,
    tools,
  );
  return { id: one.id, element, show };
}

/**
 * Say what the server holds, unless somebody is changing just this field.
 * @param {HTMLInputElement} input @param {string | number} value @param {string} label
 */
function told(input, value, label) {
  const changing = input === document.activeElement && input.value !== input.dataset.kept;
  input.ariaLabel = label;
  input.dataset.kept = String(value);
  if (!changing) input.value = String(value);
}

/** @param {Class} one @param {Class[]} all @param {string} base @param {Draw} draw @param {number} step */
function mover(one, all, base, draw, step) {
  const order = all.map((other) => other.id);
  const at = order.indexOf(one.id);
  const words = step < 0 ? "up" : "down";
  return h("button.quiet", {
    type: "button",
    title: `Move ${words}`,
    "aria-label": `Move ${one.name} ${words}`,
    disabled: at + step < 0 || at + step >= order.length,
    onclick: () =>
      attempt(async () => {
        [order[at], order[at + step]] = [order[at + step], order[at]];
        await send("PUT", base, { classes: order });
        await draw();
      }),
  }, step < 0 ? "↑" : "↓");
}

/** @param {Class} one @param {Class[]} all @param {string} base @param {Draw} draw */
function merger(one, all, base, draw) {
  const others = all.filter((other) => other.id !== one.id).map((other) => [String(other.id), other.name]);
  const merge = () =>
    attempt(async () => {
      const into = select(others, others[0][0], null, { "aria-label": `Merge ${one.name} into` });
      const warning = `Every label of ${one.name} becomes one of that class. This cannot be undone.`;
      if (!(await ask(`Merge ${one.name}`, "Merge", [field("Into", into, warning)], { danger: true }))) {
        return;
      }
      await send("POST", `${base}/${one.id}/merge`, { into: Number(into.value) });
      toast(`${one.name} is now part of ${into.selectedOptions[0].text}.`, "done");
      await draw();
    });
  return h("button.quiet", {
    type: "button",
    "aria-label": `Merge ${one.name} …`,
    disabled: others.length === 0,
    onclick: merge,
  }, "Merge into …");
}

/** @param {Class} one @param {string} base @param {Draw} draw */
function remover(one, base, draw) {
  const remove = () =>
    attempt(async () => {
      /** @type {import("../../common/answers.js").Uses} */
      const { boxes, images } = await get(`${base}/${one.id}/uses`);
      const told = images === 0
        ? "No label has it."
        : `With it ${boxes ? many(boxes, "box goes", "boxes go") : "the class goes"} from ${
          many(images, "image")
        }; each image keeps its earlier revisions.`;
      if (
        !(await ask(`Remove the class ${one.name}`, "Remove", [
          h("p", {}, `${told} What runs found keeps this name.`),
        ], { danger: true }))
      ) return;
      await send("POST", `${base}/${one.id}/retire`, {});
      toast(`${one.name} is removed; a class of this name that you add is the same one again.`, "done");
      await draw();
    });
  return h(
    "button.quiet",
    { type: "button", "aria-label": `Remove ${one.name} …`, onclick: remove },
    "Remove …",
  );
}

/** @param {string} base @param {Draw} draw */
function adder(base, draw) {
  const name = h("input", { placeholder: "Name of a new class", "aria-label": "Name of a new class" });
  const add = () =>
    attempt(async () => {
      await send("POST", base, { name: name.value });
      name.value = "";
      await draw();
      name.focus();
    });
  name.addEventListener(
    "keydown",
    (/** @type {KeyboardEvent} */ event) => event.key === "Enter" && (event.preventDefault(), add()),
  );
  return h("div.row", {}, name, h("button", { type: "button", onclick: add }, "Add class"));
}
