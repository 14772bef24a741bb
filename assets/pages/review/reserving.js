/** A bench whose images are reserved for this tab while it works through them: no two people decide one. */

import * as net from "../../common/net.js";
import { toast } from "../../common/site.js";
import { Bench } from "../../desk/bench.js";
import { Heading } from "./heading.js";
import * as holder from "./holder.js";

/**
 * @typedef {import("../../common/answers.js").TakenImages} Taken images reserved for this tab, and how many
 *   more there are
 */

const AHEAD = 6;
const STALE = 5000;
const RENEW = 30_000;

/** The page says which `run` it goes through, hears the project's rule, and says when it is `finished`. */
export class Reserving extends Bench {
  /** @param {HTMLElement} element @param {string} name of the page */
  constructor(element, name) {
    super(element, name);
    this.run = 0;
    this.others = 0;
    this.running = false;
    this.heading = new Heading();
    /** @type {Promise<any>} what is being brought, and all that was before it */
    this.turn = Promise.resolve();
  }

  /** @param {import("./verdicts.js").Rule} _rule */
  hear(_rule) {}

  finished() {}

  /** @override @param {import("../../desk/bench.js").Actions} actions */
  start(actions) {
    super.start(actions);
    setInterval(
      () =>
        this.visible && this.run &&
        net.send("POST", `/api/runs/${this.run}/renew`, { holder: holder.me }).catch(() => null),
      RENEW,
    );
    addEventListener("pagehide", () => this.giveBack({ keepalive: true }));
  }

  /** Reserves the next images for this tab.
   * @param {number} wanted @param {number} count @param {number} [after] @returns {Promise<Taken>} */
  async take(wanted, count, after = 0) {
    const wish = { holder: holder.me, after, wanted, count };
    return net.send("POST", `/api/runs/${this.run}/take?${this.filters}`, wish);
  }

  /** @param {{keepalive?: boolean}} [options] */
  async giveBack(options) {
    if (this.run && this.desk.editable) await holder.giveBack(this.run, options);
  }

  /** One after the other, and of several filters in a row only the last. @override @param {number} image */
  jump(image) {
    const { view } = this;
    this.turn = this.turn.catch(() => null).then(() => view === this.view ? this.bring(image) : undefined);
    return this.turn;
  }

  /** @param {number} image */
  async bring(image) {
    const asked = this.view;
    const there = this.list.find((item) => item.id === image);
    if (there && this.loadedFor === asked) return void this.open(there);
    if (this.loadedFor !== asked) {
      await holder.giveBackOld(this.run);
      await holder.giveBack(this.run);
    }
    const answer = await this.take(image, AHEAD).catch((error) => this.untaken(error, asked));
    if (!answer || asked !== this.view) return undefined;
    this.loadedFor = asked;
    if (answer.held_by) toast(`${answer.held_by} has that image before them; here is the next.`);
    this.receive(answer);
    this.list = this.known(answer.items);
    if (!this.list.length) return this.lack();
    this.focus();
    return void this.open(this.list[0]);
  }

  /** Where nothing of the view stands yet, whoever opens it says so and asks again. @param {net.Failure} error @param {string} asked */
  untaken(error, asked) {
    if (error.status !== 404 && this.loadedFor !== asked) throw error;
    toast(error.message, "failed");
    if (error.status === 404) this.lack();
    return null;
  }

  /** @param {Taken} answer */
  receive(answer) {
    this.others = answer.others;
    this.running = answer.running;
    this.hear(answer.rule);
    // Who only looks goes through what is reviewed, too.
    const ahead = answer.me.role === "viewer" ? answer.total : answer.open;
    if (answer.total) Object.assign(this, { total: answer.total, first: Math.max(0, answer.total - ahead) });
    this.know(answer);
    this.desk.receive(answer.items);
    this.known(answer.items).forEach((item) => (item.seen = performance.now()));
    this.heading.know({
      others: this.others,
      classes: this.desk.classes.map((c) => c.name),
      whole: this.desk.byImage,
    });
  }

  /** @override */
  async extend() {
    if (this.extending) return this.extending;
    const { view } = this;
    const last = this.list.findLast((item) => !item.repeat);
    const coming = this.take(0, AHEAD, last?.id ?? 0).catch((
      error,
    ) => (toast(error.message, "failed"), null));
    this.extending = coming;
    const answer = await coming;
    this.extending = null;
    if (!answer || view !== this.view) return undefined;
    this.receive(answer);
    const known = new Set(this.list.map((item) => item.id));
    this.list.push(
      ...this.known(answer.items).filter((item) => !known.has(item.id)),
    );
    this.show("image");
    return answer;
  }

  /** @override */
  async refresh() {
    const { item } = this.desk;
    if (!item || item.repeat || performance.now() - (item.seen ?? 0) < STALE) return;
    /** @type {import("../../common/answers.js").ImagesOfRun | null} */
    const answer = await net.get(`/api/runs/${this.run}/images/${item.id}`).catch(() => null);
    if (answer) this.desk.receive(answer.items);
    item.seen = performance.now();
  }

  /** @override @param {number} by */
  async step(by) {
    if (this.list[this.at + by]) return this.open(this.list[this.at + by]);
    if (by < 0) return this.stage.hint("This is where you began.");
    const answer = await this.extend();
    if (this.list[this.at + 1]) return this.open(this.list[this.at + 1]);
    return answer ? this.finished() : this.stage.hint("The next images could not be fetched.");
  }
}
