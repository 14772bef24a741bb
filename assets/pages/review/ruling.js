/** The parts of the review's panel that set what is shown, and when a board fails. */

import { fill, h, select } from "../../common/dom.js";
import { swatch } from "../../common/letters.js";
import { short } from "../../desk/panel/panel.js";

/** @typedef {import("./review.js").Review} Review */

/** @type {[string, string][]} */
const SEVERITIES = Array.from(
  { length: 11 },
  (_, n) => [String(n), n ? `Severity ${n} or more` : "Any class"],
);
/** @type {[string, string][]} */
const REPEATS = [["0", "None"], ["0.05", "5 % of the boards"], ["0.1", "10 % of the boards"]];

/** @param {string} label @param {() => number} get @param {(value: number) => void} set */
function slider(label, get, set) {
  const input = h("input", {
    type: "range",
    min: 0,
    max: 1,
    step: 0.01,
    "aria-label": label,
    oninput: () => set(Number(input.value)),
  });
  const value = h("output.lp-value");
  const render = () => {
    input.value = String(get());
    value.textContent = `≥ ${short(get())}`;
  };
  return { root: h("div.lp-slider", {}, input, value), render };
}

/** The score slider that acts at once. @param {Review} page */
export function scores(page) {
  const all = slider("Least score shown", () => page.least, (v) => page.setLeast(v));
  return {
    root: h(
      "section.lp-section.for-boxes",
      { title: "Detections below it are hidden from you alone; the rule does not change" },
      h("h3", {}, "Shown from this score"),
      all.root,
    ),
    render: all.render,
  };
}

/** When a board fails, for all who review this project. @param {Review} page */
export function rule(page) {
  const severity = select(
    SEVERITIES,
    "1",
    (/** @type {string} */ value) => page.setRule({ severity: Number(value) }),
    {
      "aria-label": "A board fails from",
    },
  );
  const repeats = select(
    REPEATS,
    "0",
    (/** @type {string} */ value) => page.setRule({ repeats: Number(value) }),
    {
      "aria-label": "Blind repeats",
    },
  );
  const counts = slider(
    "Least score that counts",
    () => page.rule.threshold,
    (v) => page.setRule({ threshold: v }),
  );
  const each = h("div.lp-each");
  const root = h(
    "details.lp-section",
    { ontoggle: () => render() },
    h("summary", {}, "Rule and thresholds"),
    h(
      "div.lp-each",
      {},
      h("label", {}, h("span", {}, "Fails from"), severity),
      h(
        "label",
        { title: "What is below it fails nothing; a picture that has one answer goes to a person" },
        h("span", {}, "Counts from score"),
        counts.root,
      ),
    ),
    h("p.lp-rule", {}, "Each class may have its own:"),
    each,
    h("div.lp-each.for-boxes", {
      title: "A few boards come back unmarked, so that the report can say how well answers agree.",
    }, h("label", {}, h("span", {}, "Blind repeats"), repeats)),
  );
  /** @type {[string, ReturnType<typeof slider>][]} */
  let own = [];
  let names = "";
  const render = () => {
    if (!root.open) return;
    severity.value = String(page.rule.severity);
    repeats.value = String(page.rule.repeats);
    [severity, repeats].forEach((one) => (one.disabled = !page.desk.editable));
    counts.render();
    const now = page.desk.classes.map((c) => c.name).join();
    if (now !== names) {
      names = now;
      own = page.desk.classes.map((
        c,
      ) => [
        c.name,
        slider(
          c.name,
          () => page.rule.thresholds[c.name] ?? page.rule.threshold,
          (v) => page.setClassLeast(c.name, v),
        ),
      ]);
      fill(
        each,
        own.map(([name, one]) =>
          h("label", {}, h("span", {}, swatch(page.color(name), page.letter(name)), name), one.root)
        ),
      );
    }
    own.forEach(([, one]) => one.render());
  };
  return { root, render };
}
