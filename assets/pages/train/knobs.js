/** What a family can be told besides what all are told: a field each, empty as the family has it. */

import { field, h, select } from "../../common/dom.js";

/** @typedef {import("../../common/answers.js").Knob} Knob */
/** @typedef {Record<string, string | number>} Values */

/** @param {readonly Knob[]} known @param {(values: Values) => void} then what is set by now */
export function knobs(known, then) {
  if (!known.length) return null;
  /** @type {Values} */
  const values = {};
  /** @param {string} name @param {string | number} value */
  const set = (name, value) => {
    if (value === "") delete values[name];
    else values[name] = value;
    then({ ...values });
  };
  return h(
    "details",
    {},
    h("summary", {}, "How it learns"),
    h("div.form-grid", { style: { marginTop: "8px" } }, known.map((one) => knob(one, set))),
  );
}

/** @param {Knob} one @param {(name: string, value: string | number) => void} set */
function knob(one, set) {
  const words = one.name.replaceAll("_", " ");
  if (one.words?.length) {
    return field(
      words,
      select(
        [["", "as usual"], ...one.words.map((each) => [each, each])],
        "",
        (value) => set(one.name, value),
      ),
    );
  }
  const input = h("input", {
    type: "number",
    min: one.least,
    max: one.most,
    step: one.whole ? 1 : "any",
    placeholder: "as usual",
    title: `from ${one.least} to ${one.most}`,
  });
  input.addEventListener(
    "change",
    () => set(one.name, input.value === "" ? "" : Number(input.value)),
  );
  return field(words, input);
}
