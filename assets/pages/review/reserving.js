/** A bench whose images are reserved for this tab while it works through them: no two people decide one. */

import * as net from "../../shared/net.js";
import { toast } from "../../shared/site.js";
import { Bench } from "../../desk/bench.js";

const AHEAD = 6;
const STALE = 5000;
const RENEW = 30_000;

/** The page says which `run` it goes through, has a `heading`, and says when it is `finished`. */
export class Reserving extends Bench {
  start(actions) {
    super.start(actions);
    setInterval(
      () =>
        this.visible && this.run &&
        net.send("POST", `/api/runs/${this.run}/renew`, { holder: this.saver.tab }).catch(() => null),
      RENEW,
    );
    addEventListener("pagehide", () => this.giveBack());
  }

  /** Reserves the next images for this tab. */
  async take(wanted, count, after = 0) {
    const holder = this.saver.tab;
    return net.send("POST", `/api/runs/${this.run}/take?${this.filters}`, { holder, after, wanted, count });
  }

  giveBack() {
    if (!this.run || !this.desk.editable) return;
    net.send("POST", `/api/runs/${this.run}/give-back`, { holder: this.saver.tab }, { keepalive: true })
      .catch(() => null);
  }

  /** One after the other, and of several filters in a row only the last. */
  jump(image) {
    const { view } = this;
    this.turn = Promise.resolve(this.turn).catch(() => null).then(() =>
      view === this.view && this.bring(image)
    );
    return this.turn;
  }

  async bring(image) {
    const asked = this.view;
    const there = this.list.find((item) => item.id === image);
    if (there && this.loadedFor === asked) return void this.open(there);
    if (this.loadedFor !== asked) {
      await net.send("POST", `/api/runs/${this.run}/give-back`, { holder: this.saver.tab }).catch(() => null);
    }
    const answer = await this.take(image, AHEAD).catch((error) => this.untaken(error, asked));
    if (!answer || asked !== this.view) return undefined;
    this.loadedFor = asked;
    if (answer.held_by) toast(`${answer.held_by} has that image before them; here is the next.`);
    this.receive(answer);
    this.list = answer.items.map((item) => this.desk.items.get(item.id));
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

  receive(answer) {
    Object.assign(this, { others: answer.others, running: answer.running });
    this.hear(answer.rule);
    // Who only looks goes through what is reviewed, too.
    const ahead = answer.me.role === "viewer" ? answer.total : answer.open;
    if (answer.total) Object.assign(this, { total: answer.total, first: Math.max(0, answer.total - ahead) });
    this.know(answer);
    this.desk.receive(answer.items);
    answer.items.forEach((item) => (this.desk.items.get(item.id).seen = performance.now()));
    this.heading.know({ others: this.others, classes: this.desk.classes.map((c) => c.name) });
  }

  async extend() {
    if (this.extending) return this.extending;
    const { view } = this;
    const last = this.list.findLast((item) => !item.repeat);
    this.extending = this.take(0, AHEAD, last?.id ?? 0).catch((
      error,
    ) => (toast(error.message, "failed"), null));
    const answer = await this.extending;
    this.extending = null;
    if (!answer || view !== this.view) return undefined;
    this.receive(answer);
    const known = new Set(this.list.map((item) => item.id));
    this.list.push(
      ...answer.items.filter((item) => !known.has(item.id)).map((item) => this.desk.items.get(item.id)),
    );
    this.show("image");
    return answer;
  }

  async refresh() {
    const { item } = this.desk;
    if (!item || item.repeat || performance.now() - (item.seen ?? 0) < STALE) return;
    const answer = await net.get(`/api/runs/${this.run}/images/${item.id}`).catch(() => null);
    if (answer) this.desk.receive(answer.items);
    item.seen = performance.now();
  }

  async step(by) {
    if (this.list[this.at + by]) return this.open(this.list[this.at + by]);
    if (by < 0) return this.stage.hint("This is where you began.");
    const answer = await this.extend();
    if (this.list[this.at + 1]) return this.open(this.list[this.at + 1]);
    return answer ? this.finished() : this.stage.hint("The next images could not be fetched.");
  }
}
