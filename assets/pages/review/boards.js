/** The boards of a run as a table: the verdict of each, who says it, its defects. */

import { fill, h, select } from "../../common/dom.js";
import * as net from "../../common/net.js";
import { go } from "../../common/site.js";
import * as words from "../../common/words.js";
import { short } from "../../desk/panel/panel.js";
import { marked } from "./marked.js";

/**
 * @typedef {import("../../common/answers.js").BoardCard} Board
 * @typedef {import("../../common/answers.js").BoardsOfRun} Boards
 */

const GREY = "#9aa3ad";
const EXPORTS = [["html", "Report"], ["pdf", "PDF"], ["csv", "CSV"], ["parquet", "Parquet"]];
const NUMBER = 4;
const NO_CLASS = "None of the classes";
/** @type {[string, string][]} */
const STANDS = [
  ["", "All boards"],
  ["rule-fail", "Failed by the rule"],
  ["rule-pass", "Passed by the rule"],
  ["fail", "Failed by people"],
  ["pass", "Passed by people"],
  ["open", "Not reviewed"],
];
/** @type {[string, string][]} what people and the rule say of pictures that have one answer */
const ANSWERS = [
  ["", "All pictures"],
  ["rule-fail", "Failed by the rule"],
  ["rule-pass", "Passed by the rule"],
  ["rule-ask", "Left to a person"],
  ["accept", "Confirmed by people"],
  ["correct", "Corrected by people"],
  ["false_call", NO_CLASS],
  ["open", "Not reviewed"],
];
/** @type {[string, string][]} */
const SORTS = [["score", "Best score first"], ["doubt", "Most doubtful first"], [
  "detections",
  "Most detections first",
], ["name", "By name"]];
/** What the rows of a run are, and how they are told apart. */
const OF_BOARDS = {
  title: "Boards",
  one: "board",
  heads: ["", "Board", "Lot", "Verdict", "Worst score", "Defects", ""],
  stands: STANDS,
  sorts: SORTS,
  rule: "A person’s verdict goes before the rule’s. ",
  found: (/** @type {string} */ label) => `where ${label} was found`,
};
const OF_PICTURES = {
  title: "Pictures",
  one: "picture",
  heads: ["", "Picture", "Lot", "Verdict", "Score", "Class", ""],
  stands: ANSWERS,
  sorts: SORTS.filter(([name]) => name !== "detections"),
  rule: "A person’s answer goes before the model’s. ",
  found: (/** @type {string} */ label) => `taken for ${label}`,
};
/** @type {[string, string][]} what stands now, whoever says it */
const NOW = [
  ["", "Any verdict"],
  ["fail", "Fail"],
  ["pass", "Pass"],
  ["doubt", "In doubt"],
  ["said", "Judged by people"],
];
/** What plots alone choose, in words. @type {Record<string, string>} */
const ELSE = { ask: "Left to a person", none: "No lot" };
/** Filters that plots lead to. */
const BEHIND = ["defect", "score", "below", "since", "until", "mark", "verdict", "label", "data"];
/** @type {Record<string, string>} */
const STANDING = {
  pass: "that pass",
  fail: "that fail",
  ask: "left to a person",
  doubt: "in doubt",
  said: "that people have judged",
};
/** @type {Record<string, string>} */
const MARKS = { escape: "with a defect that escaped", false_call: "with a false call" };
/** @type {Record<string, string>} */
const VERDICTS = { pass: "Pass", fail: "Fail", ask: "A person decides" };

/** @param {number} run @param {URLSearchParams} query */
export async function boardTable(run, query) {
  const asked = new URLSearchParams({ sort: query.get("sort") ?? "score" });
  for (const name of ["stands", "group", "class", ...BEHIND]) {
    for (const value of query.getAll(name)) if (value) asked.append(name, value);
  }
  /** @param {number} after @returns {Promise<Boards>} */
  const part = (after) => net.get(`/api/runs/${run}/boards?${asked}&after=${after}`);
  /** @type {[Boards, string[]]} */
  const [first, lots] = await Promise.all([part(0), net.get(`/api/runs/${run}/groups`)]);
  const kind = first.project.task === "classify" ? OF_PICTURES : OF_BOARDS;
  const rows = h("tbody");
  const more = h("button.quiet", { hidden: true });
  /** @param {Boards} found */
  const add = (found) => {
    rows.append(...found.boards.map((one) => row(run, one, found.project)));
    more.hidden = !found.next;
    more.textContent = `Show more of ${words.many(first.total, kind.one)}`;
    more.onclick = async () => {
      more.disabled = true;
      await part(found.next).then(add).finally(() => more.disabled = false);
    };
  };
  add(first);
  return h(
    "div.sheet",
    {},
    h("div.spread", {}, h("h1", {}, `${kind.title} of run ${run}`), filters(kind, query, asked, lots)),
    h("p", {}, counted(kind, first.total, run)),
    behind(kind, asked),
    changed(Number(query.get("measured")), first.total, asked),
    h(
      "div.panel",
      { onkeydown: (/** @type {KeyboardEvent} */ event) => walk(rows, event) },
      h("table.lp-boards", {}, h("thead", {}, heads(kind)), rows),
    ),
    unread(first),
    h(
      "div.row",
      {},
      more,
      h("a", { href: `?${address({ run: "", sort: "", stands: "", group: "" })}` }, "All runs"),
    ),
  );
}

/** The arrow keys go from board to board; Enter opens the review of one. @param {HTMLElement} rows @param {KeyboardEvent} event */
function walk(rows, event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const links = [...rows.querySelectorAll("a.lp-open")];
  const here = links.findIndex((one) => one.closest("tr")?.contains(document.activeElement));
  const next = /** @type {HTMLElement | undefined} */ (step && links[here + step]);
  if (!next) return;
  event.preventDefault();
  next.focus();
}

/** What the run could not read. @param {Boards} found */
function unread({ unread, unreadable }) {
  if (!unread) return null;
  const more = unread - unreadable.length;
  return h(
    "details",
    {},
    h("summary", {}, `${words.many(unread, "picture")} could not be read`),
    h(
      "ul.reasons",
      {},
      unreadable.map(({ name, error }) => h("li", {}, `${name}: ${error}`)),
      more > 0 && h("li", {}, `and ${words.count(more)} more`),
    ),
  );
}

/** What else the boards are chosen by, as a plot led to them. @param {typeof OF_BOARDS} kind @param {URLSearchParams} asked */
function behind(kind, asked) {
  const [score, below, since, until] = ["score", "below", "since", "until"].map((name) => asked.get(name));
  const mark = asked.get("mark") ?? "";
  const told = [
    asked.get("defect") && `with ${asked.get("defect")}`,
    asked.get("label") && `labelled ${asked.get("label")}`,
    asked.get("class") && kind.found(asked.get("class") ?? ""),
    (score || below) && `with a detection from ${score || "0"} to ${below ? `below ${below}` : "1"}`,
    (since || until) &&
    `of ${since === until ? since : `${since || "the first day"} to ${until || "today"}`}`,
    STANDING[asked.get("verdict") ?? ""],
    ...asked.getAll("data").map((one) => `of ${one.replace("=", " ")}`),
    MARKS[mark] ?? (mark && "with a defect at that place"),
  ].filter(Boolean);
  if (!told.length) return null;
  const clear = () => go(Object.fromEntries([...BEHIND, "class", "measured"].map((name) => [name, ""])));
  return h("p.row", {}, `Only those ${told.join(", ")}. `, h("button.quiet", { onclick: clear }, "Show all"));
}

/**
 * Why a figure of a measurement opens more or fewer pictures than it counted.
 * @param {number} measured @param {number} now @param {URLSearchParams} asked
 */
function changed(measured, now, asked) {
  const alone = [...asked.keys()].every((name) => ["sort", "label", "class"].includes(name));
  if (!measured || !alone || measured === now) return null;
  return h(
    "p.quiet-text",
    {},
    `${
      words.many(measured, "picture")
    } when it was measured: since then pictures were given another class, ` +
      "put away, or classes merged.",
  );
}

/** @param {typeof OF_BOARDS} kind @param {number} total @param {number} run */
function counted(kind, total, run) {
  /** @param {string} name @param {string} text */
  const link = (name, text) => h("a", { href: `/api/runs/${run}/export/${name}`, download: "" }, text);
  return [
    total ? `${words.many(total, kind.one)}. ` : `No ${kind.one} is like that. `,
    kind.rule,
    h("span.off-paper", {}, EXPORTS.map(([name, text]) => [link(name, text), " "])),
  ];
}

/** @param {typeof OF_BOARDS} kind */
function heads(kind) {
  return h("tr", {}, kind.heads.map((name, at) => h(at === NUMBER ? "th.number" : "th", {}, name)));
}

/** @param {typeof OF_BOARDS} kind @param {URLSearchParams} query @param {URLSearchParams} asked @param {string[]} lots */
function filters(kind, query, asked, lots) {
  /** @param {string} name @param {string} label @param {[string, string][]} choices */
  const choice = (name, label, choices) => {
    const now = asked.get(name) ?? "", known = choices.some(([value]) => value === now);
    /** @type {[string, string][]} */
    const other = known ? [] : [[now, ELSE[now] ?? now]];
    return select([...choices, ...other], now, (/** @type {string} */ value) => go({ [name]: value }), {
      "aria-label": label,
    });
  };
  return h(
    "div.row",
    {},
    choice("stands", "Verdict", kind.stands),
    choice("verdict", "Stands", NOW),
    choice("sort", "Order", kind.sorts),
    (lots.length > 0 || query.get("group")) &&
      choice("group", "Lot", [
        ["", "All lots"],
        ...lots.map((one) => /** @type {[string, string]} */ ([one, one])),
      ]),
  );
}

/** @param {number} run @param {Board} board @param {Boards["project"]} project */
function row(run, board, project) {
  const colors = Object.fromEntries(project.classes.map((one) => [one.name, one.color]));
  const open = `?${address({ run, image: board.image, view: "", sort: "", stands: "" })}`;
  const counts = project.task === "classify" ? new Map([[board.called || NO_CLASS, 1]]) : defects(board);
  return h(
    "tr",
    {},
    h(
      "td",
      {},
      h(
        "a.lp-board",
        { href: open, tabindex: -1 },
        marked(board, project.task === "classify" ? [] : marks(board, colors)),
      ),
    ),
    h("td", {}, h("a.lp-open", { href: open }, board.name)),
    h("td", {}, board.group),
    h(
      "td",
      {},
      h(`b.lp-verdict-${board.verdict}`, {}, VERDICTS[board.verdict]),
      h("small", {}, board.said_by ? `by ${board.said_by}` : "by the rule"),
    ),
    h("td.number", {}, board.worst === null ? "–" : short(board.worst)),
    h(
      "td",
      {},
      h(
        "div.chips",
        {},
        [...counts].map(([name, n]) =>
          h(
            "span.chip",
            {},
            h("i", { style: { background: colors[name] ?? GREY } }),
            name,
            project.task !== "classify" && h("b.number", {}, words.count(n)),
          )
        ),
      ),
    ),
    h("td", {}, h("a", { href: open }, board.said_by ? "Look" : "Review")),
  );
}

/** How many defects of each class stand. @param {Board} board @returns {Map<string, number>} */
function defects(board) {
  const counts = new Map();
  board.defects.forEach(({ label }) => counts.set(label, (counts.get(label) ?? 0) + 1));
  return counts;
}

/** What is drawn on a board; what is a label has no score. @param {Board} board @param {Record<string, string>} colors */
function marks(board, colors) {
  return board.defects.map((one) => ({
    ...one,
    color: colors[one.label] ?? GREY,
    dashed: one.score !== null,
  }));
}

/** @param {Record<string, string | number>} more */
function address(more) {
  const query = new URLSearchParams(location.search);
  ["image", "view", "against", ...BEHIND].forEach((name) => query.delete(name));
  for (const [name, value] of Object.entries(more)) {
    value ? query.set(name, String(value)) : query.delete(name);
  }
  return query;
}
