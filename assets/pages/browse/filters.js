/** The filters of Browse: each value with the number of images it would show; the URL holds them. */

import { fill, h } from "../../common/dom.js";
import { swatch } from "../../common/letters.js";
import { get } from "../../common/net.js";
import { go, query } from "../../common/site.js";
import { count } from "../../common/words.js";

export const FILTERS = [
  "state",
  "split",
  "class",
  "group",
  "author",
  "golden",
  "proposals",
  "goldens",
  "since",
  "until",
  "data",
  "text",
  "sort",
];
/** @typedef {import("./cell.js").Looks} Looks */

/** @typedef {import("../../common/answers.js").ImageCounts} ImageCounts */

/** @type {[keyof ImageCounts, string, Record<string, string>][]} */
const GROUPS = [
  ["state", "State", { new: "New", started: "Started", done: "Done", skipped: "Skipped" }],
  ["class", "Class", { none: "No box" }],
  ["split", "Split", { train: "Train", val: "Validation", test: "Test", none: "Not assigned" }],
  ["golden", "Golden", { yes: "Has a golden", no: "Has none" }],
  ["proposals", "Proposals", { yes: "Has proposals", no: "Has none" }],
  ["group", "Lot", { none: "No lot" }],
  ["author", "Last edited by", { none: "Nobody yet" }],
];
/** @type {Partial<Record<keyof ImageCounts, [string, Record<string, string>]>>} what they are called where
 * pictures are classified */
const WHOLE = {
  class: ["Class", { none: "None" }],
  proposals: ["A model's answer", { yes: "Has one", no: "Has none" }],
};
/** @type {[string, string][]} */
const DAYS = [["since", "From this day"], ["until", "To this day"]];
const SHOWN = 8;

export class Filters {
  constructor() {
    this.search = h("input", {
      type: "search",
      placeholder: "Text in the name  /",
      "aria-label": "Text in the name",
    });
    this.search.addEventListener(
      "input",
      () => this.later(() => go({ text: this.search.value }, { replace: true })),
    );
    this.lists = h("div", { style: { display: "grid", gap: "16px" } });
    this.clear = h("button.quiet", { onclick: () => this.clearAll() }, "Clear filters");
    this.days = DAYS.map(([name, label]) => day(name, label));
    const came = h("fieldset", {}, h("legend", {}, "Came"), h("div.row", {}, this.days));
    this.element = h("aside.filters", { "aria-label": "Filters" }, this.search, this.lists, came, this.clear);
    /** @type {Set<string>} */
    this.open = new Set();
    /** @type {ImageCounts | null} */
    this.counts = null;
    /** whether pictures are classified, not boxed */
    this.whole = false;
  }

  /** @param {() => void} work */
  later(work) {
    clearTimeout(this.timer);
    this.timer = setTimeout(work, 200);
  }

  clearAll() {
    go(Object.fromEntries(FILTERS.filter((name) => name !== "sort").map((name) => [name, ""])));
  }

  /** @param {string} base @param {URLSearchParams} chosen @param {Promise<Looks>} classes */
  async load(base, chosen, classes) {
    if (document.activeElement !== this.search) this.search.value = chosen.get("text") || "";
    this.asked?.abort();
    this.asked = new AbortController();
    const [counts, looks] = await Promise.all([
      get(`${base}/images/counts?${chosen}`, { signal: this.asked.signal }),
      classes,
    ]);
    this.counts = counts;
    this.draw(chosen, looks);
  }

  /** @param {URLSearchParams} chosen @param {Looks} looks */
  draw(chosen, looks) {
    const focused = document.activeElement?.getAttribute("data-filter");
    const names = Object.keys(looks);
    /** @type {Record<string, string[]>} */
    const orders = {
      class: [...names, "none"],
      state: ["new", "started", "done", "skipped"],
      split: ["train", "val", "test", "none"],
      golden: ["yes", "no"],
      proposals: ["yes", "no"],
    };
    fill(
      this.lists,
      GROUPS.map(([name, ...other]) => {
        const [title, words] = this.whole ? WHOLE[name] ?? other : other;
        return this.group(name, title, words, orders[name], chosen, looks);
      }),
    );
    for (const input of this.days) {
      // Half a date is none yet: to set one would take away what somebody is writing.
      if (document.activeElement !== input) input.value = chosen.get(input.name) ?? "";
    }
    this.clear.hidden = ![...chosen.keys()].some((name) => name !== "sort");
    if (focused) {
      /** @type {HTMLElement|null} */ (this.lists.querySelector(`[data-filter="${CSS.escape(focused)}"]`))
        ?.focus();
    }
  }

  /**
   * @param {keyof ImageCounts} name @param {string} title
   * @param {Record<string, string>} words
   * @param {string[] | undefined} order @param {URLSearchParams} chosen @param {Looks} looks
   */
  group(name, title, words, order, chosen, looks) {
    const counts = this.counts?.[name] ?? {};
    const values = order ?? Object.keys(counts);
    if (["group", "author"].includes(name) && values.every((value) => value === "none")) return null;
    const on = chosen.getAll(name);
    const open = this.open.has(name) || values.length <= SHOWN + 2;
    const shown = values.filter((value, at) => open || at < SHOWN || on.includes(value));
    const more = h("button.quiet", {
      type: "button",
      onclick: () => (this.open.add(name), this.draw(chosen, looks)),
    }, `${values.length - shown.length} more`);
    return h(
      name === "golden" ? "fieldset.for-boxes" : "fieldset",
      {},
      h("legend", {}, title),
      shown.map((value) =>
        this.line(
          name,
          value,
          words[value] ?? value,
          counts[value] ?? 0,
          on.includes(value),
          name === "class" ? looks[value] : undefined,
        )
      ),
      shown.length < values.length && more,
    );
  }

  /**
   * @param {string} name @param {string} value @param {string} words @param {number} number
   * @param {boolean} on @param {import("./cell.js").Look} [look]
   */
  line(name, value, words, number, on, look) {
    const box = h("input", { type: "checkbox", checked: on, data: { filter: `${name} ${value}` } });
    box.addEventListener("change", () => this.toggle(name, value, box.checked));
    return h(
      `label${number === 0 && !on ? ".none" : ""}`,
      { title: words },
      box,
      look ? swatch(look.color, look.letter) : h("i"),
      h("span.name", {}, words),
      h("span.n", {}, count(number)),
    );
  }

  /** @param {string} name @param {string} value @param {boolean} on */
  toggle(name, value, on) {
    const single = ["golden", "proposals"].includes(name);
    const kept = single ? [] : query().getAll(name).filter((one) => one !== value);
    go({ [name]: on ? [...kept, value] : kept });
  }
}

/** From which day, or to which, the pictures came. @param {string} name @param {string} label */
function day(name, label) {
  return h("input", {
    type: "date",
    name,
    "aria-label": label,
    title: label,
    data: { filter: name },
    max: "2999-12-31",
    onchange: (/** @type {any} */ event) => {
      const { value } = event.target;
      if (!value || value >= "1900") go({ [name]: value }); // of 2026 the first key makes the year 2
    },
  });
}
