/** Review: go through what a run found, say what is right, and the labels are better. */

import { dress } from "../../desk/dress.js";
import { boardTable } from "./boards.js";
import { LabelsInDoubt } from "./doubts/doubts.js";
import { answer } from "../../desk/panel/answer.js";
import { closeup } from "../../canvas/closeup.js";
import { previewUrl } from "../../canvas/picture_cache.js";
import { nameOf } from "../../desk/desk.js";
import * as ends from "./ends.js";
import * as judging from "./judging.js";
import * as panel from "../../desk/panel/panel.js";
import { Reserving } from "./reserving.js";
import { Rules } from "./rules.js";
import * as ruling from "./ruling.js";
import { comparison, runList } from "./runlist.js";
import * as verdicts from "./verdicts.js";
import { Walls } from "./walls/walls.js";
import { why } from "./why.js";
import { fill, h } from "../../common/dom.js";
import * as memory from "../../common/memory.js";
import * as net from "../../common/net.js";
import { noSuch, nothingChosen } from "../../common/nothing.js";
import { address, go, poll, query as asks, tab, toast } from "../../common/site.js";

/**
 * @typedef {import("../../desk/types.js").Item} Item
 */

export class Review extends Reserving {
  /** @param {HTMLElement} element */
  constructor(element) {
    super(element, "review");
    this.rules = new Rules(() => this.project, () => this.desk.changed("selection"));
    this.least = Number(memory.read("detections") ?? 0.3);
    this.showLabels = this.showDetections = true;
    this.missing = 0;
    this.since = performance.now();
    this.runsOpen = false;
    /** @type {Map<string, any>} of runs, as they were counted */
    this.figures = new Map();
    this.desk.extra = () => ({ review: true, seconds: this.spent() });
    this.closeup = closeup(this.pictures);
    this.walls = new Walls(this);
    this.doubts = new LabelsInDoubt();
    this.classPanel = panel.classes(this.parts());
    this.panels = [
      answer({
        ...this.parts(),
        judge: (what) => this.decide(what),
        rule: () => verdicts.WORDS[verdicts.picture(this.desk, this.rule)],
      }),
      judging.defect(this),
      judging.list(this),
      judging.board(this),
      why(this),
      ruling.scores(this),
      ruling.rule(this),
      this.classPanel,
    ];
    fill(this.side, this.panels.map((one) => one.root));
    this.heading.lost = (run) => this.lose(run);
    /** @type {HTMLElement} */
    this.cover = h("div.lp-cover", { hidden: true });
    this.start(this.actions());
    this.bench.querySelector(".lp-middle")?.prepend(this.heading.root);
    this.element.append(this.cover, this.wall.root);
  }

  /** A run is shown under the project that it belongs to, whatever the address says. @override @param {import("../../desk/types.js").Known} answer */
  know(answer) {
    super.know(answer);
    const named = asks().get("project") ?? "";
    const { id, name } = answer.project;
    if (id && this.run && tab() === "review" && ![name, String(id)].includes(named)) {
      go({ project: name }, { replace: true });
    }
  }

  get wall() {
    return this.walls.now;
  }

  parts() {
    return {
      desk: this.desk,
      color: (/** @type {string} */ label) => this.color(label),
      letter: (/** @type {string} */ label) => this.letter(label),
    };
  }

  /** Seconds since the last decision, or since the image was opened. */
  spent() {
    const now = performance.now();
    const seconds = (now - this.since) / 1000;
    this.since = now;
    return Math.round(seconds * 100) / 100;
  }

  /** @override @param {URLSearchParams} query */
  async arrive(query) {
    const run = Number(query.get("run") ?? 0);
    const view = query.get("view"), wall = view === "wall";
    if (run !== this.run && this.run) this.giveBack();
    const told = !run || view === "boards" || (view === "compare" && Number(query.get("against")) > 0);
    this.cover.hidden = !told;
    this.bench.hidden = told || wall;
    this.walls.turn(Boolean(run) && wall);
    this.run = run;
    if (run) this.figures.clear(); // what is said in a run changes them
    if (run && run === this.missing) return this.reading.rest(), this.lose(run);
    if (told) return this.survey(query, run);
    this.heading.show(run);
    if (wall) return this.walls.show(query);
    this.walls.shown = "";
    return super.arrive(query);
  }

  /** The runs of a project, its labels in doubt, two runs side by side, or the boards of one. @param {URLSearchParams} query @param {number} run */
  survey(query, run) {
    const project = query.get("project") ?? "";
    if (!run) this.project = "";
    if (!project) {
      return this.reading.rest(),
        fill(
          this.cover,
          nothingChosen(
            "Review",
            "Here you go through what a model found in one project, most doubtful first.",
          ),
        );
    }
    const against = Number(query.get("against"));
    const told = () =>
      query.get("view") === "boards" ? boardTable(run, query) : comparison(project, run, against);
    const doubts = !run && query.get("view") === "doubts";
    const one = () => doubts ? this.doubts.show(project) : told();
    const ask = () =>
      run || doubts ? one().then((root) => ({ root, open: doubts })) : runList(project, this.figures);
    return this.reading.show(run || doubts ? String(query) : project, ask, (list) => {
      this.runsOpen = !run && list.open;
      fill(this.cover, list.root);
    });
  }

  /** The address names a run that there is not. @param {number} run */
  lose(run) {
    this.missing = run;
    if (run !== this.run) return;
    this.reading.rest();
    this.bench.hidden = true;
    this.walls.turn(false);
    this.cover.hidden = false;
    fill(
      this.cover,
      noSuch(`run ${run}`, address({ project: asks().get("project") ?? "", tab: "review" }), "Show the runs"),
    );
  }

  /** A run that is still at work is followed. */
  async follow() {
    if (this.run || !this.runsOpen || this.cover.hidden) return;
    await (asks().get("view") === "doubts" ? this.doubts.follow() : this.survey(asks(), 0));
  }

  /** @override @param {Item} item */
  remember(item) {
    if (!item.repeat) super.remember(item);
  }

  /** @override */
  look_ahead() {
    const near = [1, 2, 3].map((step) => this.list[this.at + step]).filter(Boolean);
    const urls = [this.desk.item, ...near].flatMap((item) => [item, item?.golden]).flatMap((one) =>
      one ? [previewUrl(one)] : []
    );
    this.pictures.prefetch(urls.slice(1));
    if (this.list.length - this.at <= 4) this.extend();
    this.refresh();
  }

  /** @override */
  finished() {
    fill(this.place, ends.finished(this));
    this.place.hidden = false;
    this.desk.turning = true;
  }

  /** @override @param {Item} item */
  open(item) {
    this.since = performance.now();
    const shown = super.open(item);
    this.nextOpen();
    return shown;
  }

  get rule() {
    return this.rules.rule;
  }

  get stands() {
    return verdicts.stands(this.desk, (label) => this.leastOf(label));
  }

  /** As the project's rule sees them, whatever the slider hides. */
  get ruled() {
    return verdicts.stands(this.desk, (label) => this.rule.thresholds[label] ?? this.rule.threshold);
  }

  /** @param {string} label */
  leastOf(label) {
    return Math.max(this.least, this.rule.thresholds[label] ?? 0);
  }

  /** @param {number} value */
  setLeast(value) {
    this.least = Math.min(1, Math.max(0, Math.round(value * 100) / 100));
    memory.keep("detections", String(this.least));
    this.desk.changed("selection");
  }

  /** @param {string} label @param {number} value */
  setClassLeast(label, value) {
    this.setRule({ thresholds: { ...this.rule.thresholds, [label]: value } });
  }

  /** @param {Partial<verdicts.Rule>} changes */
  setRule(changes) {
    this.rules.change(changes);
  }

  /** @override @param {verdicts.Rule} rule */
  hear(rule) {
    this.rules.hear(rule);
  }

  /** @override */
  marks() {
    return this.hidden ? [] : judging.marks(this);
  }

  /** @override */
  targets() {
    const open = this.showDetections
      ? this.stands.filter((s) => !s.own).map((s) => ({ ...s.detection, id: nameOf(s.detection) }))
      : [];
    return [...(this.showLabels ? this.desk.sheet.boxes : []), ...open];
  }

  nextOpen() {
    const next = this.stands.filter((s) => s.open).sort((a, b) => b.detection.score - a.detection.score)[0];
    this.desk.select(next ? [nameOf(next.detection)] : []);
  }

  /** @param {"accept" | "reject"} what */
  decide(what) {
    if (!this.desk.item || !this.desk.editable) return;
    if (this.desk.byImage) return this.desk.name(what === "accept" ? this.desk.answer?.label ?? "" : "");
    const meant = judging.meant(this);
    if (!meant.length) return this.stage.hint("Everything here is decided. Enter goes on.");
    judging[what](this.desk, meant);
    this.nextOpen();
  }

  acceptAll() {
    if (this.desk.byImage) return this.stage.hint("On the wall (W) this accepts a whole screen.");
    judging.accept(this.desk, this.stands.filter((s) => s.open));
    return this.nextOpen();
  }

  /** @param {Item["verdict"]} verdict "": as the rule says */
  finish(verdict) {
    if (!this.desk.item || !this.desk.editable) return undefined;
    if (this.desk.byImage) return this.step(1);
    const chosen = verdict || verdicts.board(this.desk, this.ruled, this.rule).verdict;
    this.desk.commit("reviewed", { state: "done", verdict: chosen });
    return this.step(1);
  }

  /** Takes back the last decision; after a reload the server tells which it was. */
  async takeBack() {
    const { desk } = this;
    if (!desk.editable || this.undone()) return undefined;
    while (this.saver.entries.size) {
      if (this.saver.status.kind !== "saving") return this.stage.hint("Not everything is saved yet.");
      await new Promise((done) => this.saver.addEventListener("status", done, { once: true }));
    }
    /** @type {import("../../common/answers.js").PastSheets} */
    const answer = await net.get(`/api/runs/${this.run}/undo?image=${Math.max(0, desk.item?.id ?? 0)}`).catch(
      (error) => (toast(error.message, "failed"), { image: 0 }),
    );
    if (!answer.image) return this.stage.hint("There is nothing of yours to take back.");
    if (answer.image !== desk.item?.id) await this.jump(answer.image);
    if (answer.image !== desk.item?.id) return undefined;
    desk.history.remember(
      answer.image,
      answer.past.map((sheet) => ({ ...desk.sheet, ...sheet })),
    );
    return this.undone();
  }

  /** @override */
  press() {
    super.press();
    this.tools.enable("undo", this.desk.editable);
  }

  actions() {
    const own = {
      undo: () => this.takeBack(),
      accept: () => this.decide("accept"),
      reject: () => this.decide("reject"),
      acceptAll: () => this.acceptAll(),
      lower: () => this.setLeast(this.least - 0.05),
      raise: () => this.setLeast(this.least + 0.05),
      pass: () => this.finish("pass"),
      fail: () => this.finish("fail"),
      done: () => (this.drawing && this.cursor ? this.corner() : this.finish("")),
      search: () => this.classPanel.focus(),
      unlabelled: () => this.step(1),
      copyPrevious: () => false,
      wall: () => go({ view: this.wall.root.hidden ? "wall" : "" }),
    };
    /** @type {import("../../desk/bench.js").Actions} */
    const all = { ...this.common(), ...own };
    return this.walls.over(all);
  }

  /** @override */
  get visible() {
    return this.bench.offsetParent !== null || this.wall.root.offsetParent !== null;
  }

  /** @override */
  empty() {
    return ends.empty(asks().get("stands") ?? "");
  }
}

/** @param {HTMLElement} element */
export async function mount(element) {
  await dress();
  const page = new Review(element);
  poll("review", 3, ["jobs", "labels"], () => page.follow());
  /** @type {any} */ (element).page = page;
  return page;
}
