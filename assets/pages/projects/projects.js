/** Projects: what there is and how far it is; make one, its classes. */

import { choices } from "./classes.js";
import { ask } from "../../common/dialog.js";
import { field, fill, h, select } from "../../common/dom.js";
import { members } from "./members.js";
import { get, send } from "../../common/net.js";
import { Reading } from "../../common/reading.js";
import { removal } from "./removal.js";
import { exportFrom, importInto } from "./transfers.js";
import { address, go, page, poll, site, toast } from "../../common/site.js";
import { count, many } from "../../common/words.js";

/** @typedef {import("../../common/answers.js").ProjectCard} Summary */

/** @param {HTMLElement} element */
export function mount(element) {
  const list = h("div.projects");
  fill(element, h("div.sheet", {}, head(), list));
  element.removeAttribute("aria-busy");
  const reading = new Reading("projects", element, "cards");
  let shown = "";
  const show = () =>
    reading.show("projects", () => get("/api/projects"), (found) => {
      if (shown === (shown = JSON.stringify(found))) return;
      draw(list, found);
    });
  page("projects", show);
  poll("projects", 3, ["projects", "labels"], show);
  site.addEventListener("projects", show);
}

function head() {
  return h(
    "div.spread",
    {},
    h(
      "div",
      {},
      h("h1", {}, "Projects"),
      h(
        "p.quiet-text",
        {},
        "Label some images, train a model, let it detect in the others, review what it found, train again.",
      ),
    ),
    h("button.for-admin", { onclick: create }, "New project"),
  );
}

/** @param {HTMLElement} list @param {Summary[]} projects */
function draw(list, projects) {
  if (projects.length === 0) fill(list, empty());
  else fill(list, projects.map(card));
}

/** @param {Summary} project */
function card(project) {
  const named = Object.fromEntries(project.classes.map((one) => [one.name, one.color]));
  const boxes = Object.entries(project.boxes);
  const done = project.images ? (100 * project.labelled) / project.images : 0;
  return h(
    "article.panel.project",
    {},
    h(
      "a.covers",
      { href: address({ project: project.name, tab: "browse" }), tabIndex: -1, "aria-hidden": "true" },
      project.covers.map((cover) =>
        h("img", { src: `/files/${cover.sha256}/thumb`, alt: "", loading: "lazy" })
      ),
    ),
    h(
      "div.inside",
      {},
      h(
        "div.spread",
        {},
        h("h2", {}, h("a", { href: address({ project: project.name, tab: "overview" }) }, project.name)),
        h("button.quiet.for-admin", { onclick: () => removal(project) }, "Remove"),
      ),
      h(
        "div.facts",
        {},
        fact(project, project.images, "image", "images", {}),
        project.goldens > 0 && fact(project, project.goldens, "golden", "goldens", { goldens: "yes" }),
        fact(project, project.images - project.labelled, "unlabelled", "unlabelled", { state: "new" }),
      ),
      h("div.bar", { title: `${Math.round(done)} % labelled` }, h("i", { style: { width: `${done}%` } })),
      h(
        "div.chips",
        {},
        boxes.slice(0, 8).map(([name, number]) =>
          h(
            "span.chip",
            {},
            h("i", { style: { background: named[name] } }),
            name,
            h("span.number.quiet-text", {}, count(number)),
          )
        ),
      ),
      h(
        "div.row",
        {},
        next(project),
        project.images > 0 && h("button.quiet.for-labeler", { onclick: () => importInto(project) }, "Import"),
        h("button.quiet", { onclick: () => exportFrom(project) }, "Export"),
        h("button.quiet.for-admin", { onclick: () => choices(project) }, "Classes"),
        h("button.quiet.for-admin.for-accounts", { onclick: () => members(project) }, "Members"),
      ),
    ),
  );
}

/** The one thing to do next in a project. @param {Summary} project */
function next(project) {
  const left = project.images - project.labelled;
  if (!project.images) {
    return h("button.primary.for-labeler", {
      onclick: () => importInto(project),
    }, "Import pictures");
  }
  /** @param {string} words @param {Record<string, string>} where */
  const to = (words, where) =>
    h("a.button.primary.for-labeler", { href: address({ project: project.name, ...where }) }, words);
  return left
    ? to(`Label ${many(left, "image")}`, { tab: "annotate", state: "new" })
    : to("Train", { tab: "train" });
}

/**
 * @param {Summary} project @param {number} number @param {string} one @param {string} more
 * @param {Record<string, string>} filter
 */
function fact(project, number, one, more, filter) {
  const words = many(number, one, more).split(" ");
  return h(
    "a",
    {
      href: address({ project: project.name, tab: "browse", ...filter }),
      style: { color: "inherit", textDecoration: "none" },
    },
    h("b", {}, words[0]),
    ` ${words.slice(1).join(" ")}`,
  );
}

function empty() {
  return h(
    "div.empty",
    {},
    h("h2", {}, "No project yet"),
    h(
      "p",
      {},
      "A project holds pictures of one product or one kind of scene, and the classes of what is to be found in them.",
    ),
    h("button.primary.for-admin", { onclick: create }, "New project"),
  );
}

async function create() {
  const name = h("input", { name: "name", required: true, maxLength: 200, autofocus: true });
  const task = select(
    [["detect", "Boxes around defects or things"], ["classify", "One class an image"]],
    "detect",
    null,
    { name: "task" },
  );
  const classes = h("textarea", { name: "classes", rows: 4, placeholder: "short\nopen\nmousebite" });
  /** @type {import("../../common/answers.js").Project | undefined} */
  let made;
  const agree = async () => {
    const names = classes.value.split("\n").map((/** @type {string} */ line) => line.trim()).filter(Boolean);
    made = await send("POST", "/api/projects", { name: name.value, task: task.value, classes: names });
  };
  const yes = await ask("New project", "Create", [
    field("Name", name),
    field("What is labelled", task),
    field("Classes, one a line", classes, "More can be added while labelling."),
  ], { agree });
  if (!yes || !made) return;
  toast(`The project ${made.name} is made.`, "done");
  site.dispatchEvent(new Event("projects"));
  go({ project: made.name, tab: "browse" });
}
