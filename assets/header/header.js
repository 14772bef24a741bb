/** The line above the pages: the project, the tabs, running jobs, the theme, who is here. */

import { account } from "../pages/projects/account.js";
import { fill, h, icon, say, select } from "../common/dom.js";
import * as memory from "../common/memory.js";
import { Failure, get } from "../common/net.js";
import { noSuch } from "../common/nothing.js";
import { people } from "../pages/projects/people.js";
import { address, every, go, project, site, start, tab, visit } from "../common/site.js";
import { still } from "./stillness.js";
import { tabbar } from "./tabbar.js";
import * as theme from "../common/theme.js";

/** @typedef {import("../common/answers.js").ProjectCard} Summary */

const HALF = "M8 1.5a6.5 6.5 0 1 1 0 13a6.5 6.5 0 0 1 0-13zM8 3v10A5 5 0 0 1 8 3z";

const EVERY = 4; // seconds between two beats
const SLOW = 10_000; // an answer that takes longer is missed
const MISSES = 2; // in a row: one slow answer is none
const GONE = [502, 503, 504]; // what a proxy says when there is nobody behind it

/** @type {Summary[]} */
let projects = [];
let missed = 0;
let greeted = false;
let last = new Date();
const line = h("p.gone", { role: "status" });
const lost = h("div.shell.lost");

/** @param {HTMLElement} element */
export async function mount(element) {
  const chooser = h("span.chooser");
  const jobs = h("span.running", { "aria-live": "polite" });
  const person = h("span.person");
  fill(
    element,
    h("div.brand", {}, h("a", { href: "/?tab=projects", title: "All projects" }, "Loupe"), chooser),
    tabbar(),
    h("div.corner", {}, jobs, guide(), themeButton(), person),
  );
  document.body.append(line, lost);
  element.removeAttribute("aria-busy");
  still();
  start();
  site.addEventListener("change", () => choose(chooser));
  site.addEventListener("change", () => seek(chooser));
  site.addEventListener("projects", () => load(chooser));
  const greet = () =>
    greeted ||
    Promise.all([load(chooser).then(() => seek(chooser)), welcome(person)]).then(() => (greeted = true), () =>
      null);
  site.addEventListener("back", greet);
  await greet();
  await beat(jobs).catch(() => null);
  every(EVERY, () => Promise.all([greet(), beat(jobs)]));
}

/** @param {HTMLElement} chooser */
async function load(chooser) {
  projects = await get("/api/projects");
  site.dispatchEvent(new CustomEvent("listed", { detail: projects }));
  choose(chooser);
}

/**
 * Before an address is said to name no project, the list is asked for anew: it may be a young one.
 * @param {HTMLElement} chooser
 */
async function seek(chooser) {
  const named = project();
  const about = named !== "" && !["projects", "jobs"].includes(tab());
  const asked = about && !current() && (await load(chooser).then(() => true, () => false));
  if (named !== project()) return;
  const missing = asked && !current();
  document.documentElement.toggleAttribute("data-lost", missing);
  fill(lost, missing && noSuch(`project ${named}`, "/?tab=projects", "Show projects"));
}

/** The project that the address names, if there is one. */
function current() {
  return projects.find((one) => one.name === project()) ??
    projects.find((one) => String(one.id) === project());
}

/** @param {HTMLElement} chooser */
function choose(chooser) {
  const now = current();
  document.title = now ? `${now.name} · Loupe` : "Loupe";
  remember(now);
  const choices = projects.map((one) => [one.name, one.name]);
  const list = select([["", "Choose a project"], ...choices], now?.name ?? "", open, {
    "aria-label": "Project",
  });
  fill(chooser, list);
}

/**
 * A page that is about one project shows the one looked at last, or the only one.
 * @param {Summary | undefined} now
 */
function remember(now) {
  if (now) return memory.keep("project", String(now.id));
  const last = projects.find((one) => String(one.id) === memory.read("project")) ??
    (projects.length === 1 && projects[0]);
  if (last && !project() && !["projects", "jobs"].includes(tab())) {
    setTimeout(() => go({ project: last.name }, { replace: true }));
  }
  return undefined;
}

/** @param {string} name */
function open(name) {
  visit(address({ project: name, tab: name ? (tab() === "projects" ? "overview" : tab()) : "projects" }));
}

/** @param {HTMLElement} place */
async function welcome(place) {
  /** @type {import("../common/answers.js").Me} */
  const me = await get("/api/me");
  Object.assign(document.documentElement.dataset, { role: me.role, accounts: me.accounts ? "yes" : "no" });
  const title = `Role: ${me.role}`;
  fill(
    place,
    me.accounts
      ? h("button.quiet", { title, onclick: () => account(me.name) }, me.name)
      : h("span", { title }, me.name),
  );
  if (me.accounts) place.append(h("button.quiet.for-admin", { onclick: () => people() }, "People"));
  if (me.accounts) {
    place.append(h("form", { method: "post", action: "/logout" }, h("button.quiet", {}, "Log out")));
  }
}

/** The guide stands beside the work, in a tab of its own. */
function guide() {
  return h("a.guide-link", { href: "/guide", target: "loupe-guide", title: "How Loupe is used" }, "Guide");
}

function themeButton() {
  const button = h("button.quiet", { "aria-label": "Theme" }, icon(HALF));
  const show = () => (button.title = `Theme: ${theme.chosen()}`);
  button.addEventListener("click", () => {
    theme.choose(theme.THEMES[(theme.THEMES.indexOf(theme.chosen()) + 1) % theme.THEMES.length]);
    show();
  });
  show();
  return button;
}

/** The number of running and waiting jobs, asked for only while somebody looks. @param {HTMLElement} place */
async function beat(place) {
  if (document.hidden) return;
  /** @type {import("../common/answers.js").JobCounts | Error} */
  const now = await get("/api/jobs/counts", { signal: AbortSignal.timeout(SLOW) }).catch((error) => error);
  heard(!(now instanceof Error) || (now instanceof Failure && now.status > 0 && !GONE.includes(now.status)));
  if (now instanceof Error) return;
  const busy = now.running + now.queued;
  fill(
    place,
    busy > 0 && h("a", { href: address({ project: project(), tab: "jobs" }) }, h("i.dot"), `${busy}`),
  );
  place.title = busy ? `${now.running} running, ${now.queued} waiting` : "";
}

/**
 * Say that the server is gone once it has missed two beats: every page shows what it last had.
 * @param {boolean} answered
 */
function heard(answered) {
  const back = answered && missed > 0;
  missed = answered ? 0 : missed + 1;
  if (answered) last = new Date();
  const gone = missed >= MISSES;
  document.documentElement.toggleAttribute("data-gone", gone);
  say(
    line,
    gone
      ? `The server does not answer; what stands here is from ${
        last.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" })
      }.`
      : "",
  );
  if (back) site.dispatchEvent(new Event("back"));
}
