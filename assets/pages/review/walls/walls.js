/** The walls of a review: of the defects on boards, or of pictures that have one class each. */

import { swatch } from "../../../common/letters.js";
import * as holder from "../holder.js";
import { PictureWall } from "./picture_wall.js";
import { Wall } from "./sweep.js";

/** @typedef {import("../../../desk/bench.js").Actions} Actions */

/** What only those may do who say something of pictures. */
const SAYS = new Set(["accept", "reject", "acceptAll", "class", "undo"]);

export class Walls {
  /** @param {import("../review.js").Review} page */
  constructor(page) {
    this.page = page;
    this.shown = "";
    this.learned = 0;
    /** @type {ConstructorParameters<typeof Wall>} */
    const given = [
      page.pictures,
      (label) => swatch(page.color(label), page.letter(label)),
      (label) => page.color(label),
      page.saver,
    ];
    this.both = [new Wall(...given), new PictureWall(...given, () => page.desk.classes)];
  }

  /** The one that the project has. */
  get now() {
    return this.both[Number(this.page.desk.byImage)];
  }

  /** Only one of them stands in the page. @param {boolean} shown */
  turn(shown) {
    const { now } = this;
    this.both.forEach((one) => one === now || one.root.replaceWith(now.root));
    now.root.hidden = !shown;
  }

  /** @param {URLSearchParams} query */
  show(query) {
    const { page } = this;
    const asked = [query.get("project"), page.run, query.get("class")].join();
    if (this.shown === asked && page.reading.stands(`wall ${asked}`)) return undefined;
    this.shown = asked;
    return page.reading.show(`wall ${asked}`, async () => {
      if (this.learned !== page.run) await this.learn();
      this.turn(true);
      await this.now.show(page.run, query.get("class") ?? "");
    }, () => this.now.stand());
  }

  /** The classes and their colours, when the wall is opened first. */
  async learn() {
    const { page } = this;
    const { run } = page;
    page.know(await page.take(0, 1));
    await holder.giveBackOld(run);
    await page.giveBack(); // or it takes away what the wall is given next
    this.learned = run;
  }

  /** What keys do, while a wall is open. @param {Actions} all what they do besides @returns {Actions} */
  over(all) {
    const swept = this.both.map((one) => one.actions());
    const now = () => swept[Number(this.page.desk.byImage)];
    return Object.fromEntries(
      Object.entries(all).map(([name, run]) => [name, (/** @type {KeyboardEvent} */ event) => {
        if (this.now.root.hidden) return run(event);
        if (SAYS.has(name) && !this.page.desk.editable) return false;
        return name === "wall" || name === "help" ? run(event) : now()[name]?.(event) ?? false;
      }]),
    );
  }
}
