/** Browse: filters at the left, the wall of thumbnails, what to do with the chosen ones. */

import { Bulk } from "./bulk.js";
import { ask } from "../../common/dialog.js";
import { FILTERS, Filters } from "./filters.js";
import { fill, h, select } from "../../common/dom.js";
import { letters } from "../../common/letters.js";
import { get } from "../../common/net.js";
import { nothingChosen } from "../../common/nothing.js";
import { Reading } from "../../common/reading.js";
import { attempt, go, page, site, tab } from "../../common/site.js";
import { importInto } from "../projects/transfers.js";
import { Wall } from "./wall.js";
import { count, many } from "../../common/words.js";

const SORTS = [["name", "Name"], ["newest", "Newest first"], ["boxes", "Most boxes"], [
  "doubt",
  "Most doubtful",
]];

/** @param {HTMLElement} element */
export function mount(element) {
  const browse = new Browse(element);
  element.removeAttribute("aria-busy");
  page("browse", (query) => browse.show(query), () => browse.wall.hide());
}

class Browse {
  /** @param {HTMLElement} element */
  constructor(element) {
    this.key = "";
    this.chosen = new URLSearchParams();
    this.filters = new Filters();
    this.total = h("span.total", { role: "status" });
    this.rest = h("span.quiet-text");
    this.annotate = h(
      "button.primary.for-labeler",
      { onclick: () => go({ tab: "annotate", image: "" }) },
      "Annotate",
    );
    this.bulk = new Bulk(() => this.reload());
    this.wall = new Wall({
      open: (item) => go({ tab: "annotate", image: item.id }),
      picked: (ids) => this.bulk.show(ids, () => this.wall.clear()),
      counted: (total) => this.say(total),
    });
    this.bulk.all = this.wall.told.all = () => this.pickAll();
    this.wall.told.keys = showKeys;
    this.wall.told.remove = () => this.bulk.remove();
    this.wall.told.undo = () => this.bulk.takeBack();
    this.wall.told.other = (event) => this.name(event);
    this.wall.told.search = () => this.filters.search.focus();
    this.nothing = h("div.empty.over", { hidden: true });
    this.frame = h(
      "div.browse",
      {},
      this.filters.element,
      h("div.wall", {}, this.head(), this.wall.element, this.nothing, this.bulk.element),
    );
    this.empty = nothingChosen(
      "Browse",
      "Here you look through all images of one project, filtered and sorted.",
    );
    fill(element, this.frame, this.empty);
    this.empty.hidden = true;
    this.reading = new Reading("browse", element, "wall");
    site.addEventListener("back", () => this.wall.renew());
    site.addEventListener("saved", () => (this.stale = true));
    site.addEventListener(
      "projects",
      () => this.wall.total || tab() !== "browse" ? (this.stale = true) : this.reload(),
    );
  }

  head() {
    const size = h("input", {
      type: "range",
      min: 96,
      max: 320,
      step: 8,
      value: this.wall.size,
      "aria-label": "Size of the thumbnails",
    });
    size.addEventListener("input", () => this.wall.resize(Number(size.value)));
    this.sort = select(SORTS, "name", (value) => go({ sort: value === "name" ? "" : value }), {
      "aria-label": "Sort by",
    });
    const filters = h(
      "button.quiet.filter-toggle",
      { onclick: () => this.frame.classList.toggle("open") },
      "Filters",
    );
    return h(
      "div.wall-head",
      {},
      filters,
      this.total,
      this.rest,
      h("span.gap"),
      h("label.row", {}, h("span.quiet-text", {}, "Sort"), this.sort),
      h("label.row", {}, h("span.quiet-text", {}, "Size"), size),
      h("button.quiet", { onclick: showKeys, title: "Keys (?)", "aria-label": "Keys" }, "?"),
      this.annotate,
    );
  }

  /** @param {URLSearchParams} query */
  async show(query) {
    const chosen = new URLSearchParams([...query].filter(([name]) => FILTERS.includes(name)));
    const name = query.get("project") ?? "";
    const key = `${name}?${chosen}`;
    this.sort.value = query.get("sort") || "name";
    if (
      key === this.key && !this.stale && (!name || this.reading.stands(name))
    ) return this.wall.layout();
    const moved = key !== this.key;
    this.key = key;
    this.stale = false;
    this.frame.hidden = !name;
    this.empty.hidden = Boolean(name);
    if (this.frame.hidden) return this.reading.rest();
    // A filter is typed while its answer is on the way: only another project clears the page.
    await this.reading.show(
      name,
      () => this.load(name, chosen, moved),
      () => this.shown(),
    );
  }

  /**
   * The page was covered while it was read: what has no size draws nothing, and may never hear that it has one again.
   */
  shown() {
    this.wall.layout();
    this.say(this.wall.total);
  }

  /** @param {string} name @param {URLSearchParams} chosen @param {boolean} moved */
  async load(name, chosen, moved) {
    if (moved) this.bulk.show(new Set(), () => {});
    const base = `/api/projects/${encodeURIComponent(name)}`;
    this.base = base;
    this.chosen = chosen;
    const classes = this.classes(base);
    const window = this.wall.load(`${base}/images?${chosen}`, classes, moved);
    await Promise.all([window, this.filters.load(base, chosen, classes)]);
  }

  /** @param {string} base @returns {Promise<import("./cell.js").Looks>} */
  async classes(base) {
    /** @type {import("../../common/answers.js").Project} */
    const found = (this.of = await get(base));
    const whole = found.task === "classify";
    this.frame.dataset.of = whole ? "classes" : "boxes";
    this.bulk.classes = whole ? found.classes : [];
    this.filters.whole = whole;
    const sorts = SORTS.filter(([name]) => !whole || name !== "boxes");
    const { value } = this.sort;
    fill(this.sort, sorts.map(([name, words]) => h("option", { value: name }, words)));
    this.sort.value = value;
    const signs = letters(found.classes);
    return Object.fromEntries(
      found.classes.map((one) => [one.name, { color: one.color, letter: signs[one.name] ?? "" }]),
    );
  }

  /** A key that may be that of a class. @param {KeyboardEvent} event */
  name(event) {
    if (event.key.length !== 1 || event.ctrlKey || event.metaKey || event.altKey) return false;
    const item = this.wall.item(this.wall.current);
    const named = this.bulk.name(event.key, item ? [item.id] : []);
    if (named && !this.wall.picked.size) this.wall.move(1, false);
    return named;
  }

  reload() {
    this.stale = true;
    return this.show(new URLSearchParams(location.search));
  }

  async pickAll() {
    // Nothing may be done to a selection that is still growing.
    this.bulk.element.inert = true;
    const ids = await attempt(() => get(`${this.base}/images/ids?${this.chosen}`));
    this.bulk.element.inert = false;
    if (ids) this.wall.pick(ids);
  }

  /** @param {number} total */
  say(total) {
    fill(this.total, many(total, "image"));
    const fresh = this.filters.counts?.state?.new;
    fill(
      this.rest,
      fresh
        ? h("a", {
          href: "#",
          title: "Show these alone",
          onclick: (/** @type {Event} */ event) => (event.preventDefault(), go({ state: "new" })),
        }, `${count(fresh)} unlabelled`)
        : "",
    );
    this.annotate.disabled = total === 0;
    this.nothing.hidden = total > 0;
    if (total === 0) {
      fill(
        this.nothing,
        this.chosen.size
          ? noneLeft(() => this.filters.clearAll())
          : noneYet(() => this.of && importInto(this.of)),
      );
    }
  }
}

/** @param {() => void} clear */
function noneLeft(clear) {
  return [h("h2", {}, "No image passes these filters"), h("button", { onclick: clear }, "Clear filters")];
}

/** @param {() => void} bring */
function noneYet(bring) {
  return [
    h("h2", {}, "No image yet"),
    h(
      "p",
      {},
      "Pictures come in by Import, with the labels that lie beside them: DeepPCB, VOC, YOLO, COCO, class folders or plain pictures.",
    ),
    h("button.primary.for-labeler", { onclick: bring }, "Import pictures"),
  ];
}

const KEYS = [
  ["← → ↑ ↓", "Move; with Shift choose on the way"],
  ["J  K", "Next, previous"],
  ["Enter", "Open in Annotate"],
  ["X or Space", "Choose this one"],
  ["Ctrl A", "Choose all that the filters show"],
  ["1–9", "Class of the chosen ones, or of this one, where pictures are classified"],
  ["R", "None of the classes, likewise"],
  ["Esc", "Choose none"],
  ["Del", "Delete the chosen ones"],
  ["Z", "Take back the last change of many"],
  ["/", "Search the names"],
  ["Home  End", "First, last"],
  ["?", "This list"],
];

function showKeys() {
  ask(
    "Keys in Browse",
    "",
    h(
      "table",
      {},
      h(
        "tbody",
        {},
        KEYS.map(([keys, words]) => h("tr", {}, h("td", {}, h("kbd", {}, keys)), h("td", {}, words))),
      ),
    ),
  );
}
