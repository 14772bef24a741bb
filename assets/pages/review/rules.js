/** The project's rule as this page knows it: it holds for all who review, and anybody may change it. */

import * as net from "../../common/net.js";
import { toast } from "../../common/site.js";

/** @typedef {import("./verdicts.js").Rule} Rule */

/** How long a person may go on changing it before it is saved. */
const CALM = 400;

export class Rules {
  /** @param {() => string} project @param {() => void} changed is told when another rule stands here */
  constructor(project, changed) {
    this.project = project;
    this.changed = changed;
    /** @type {Rule} */
    this.rule = { threshold: 0.5, thresholds: {}, severity: 1, repeats: 0, version: 0, author: "" };
    /** the project that it is of */
    this.of = "";
    this.saved = Promise.resolve();
    this.changes = this.kept = 0;
  }

  /** @param {Partial<Rule>} changes */
  change(changes) {
    this.rule = { ...this.rule, ...changes };
    this.changes += 1;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => (this.saved = this.saved.then(() => this.save())), CALM);
    this.changed();
  }

  /** One after the other, each over the version before; a rule that somebody else changed is shown. */
  async save() {
    const path = `/api/projects/${encodeURIComponent(this.project())}/review-rule`;
    const { changes } = this;
    try {
      /** @type {Rule} */
      const { version } = await net.send("PUT", path, this.rule);
      this.rule.version = version;
    } catch (error) {
      const { body, message } = /** @type {net.Failure} */ (error);
      if (body?.theirs) this.rule = body.theirs;
      toast(message, "failed");
      this.changed();
    }
    this.kept = changes;
  }

  /** An answer that was asked for before the rule was changed here brings back none of before. @param {Rule} rule */
  hear(rule) {
    const same = this.of === this.project();
    if (same && (this.changes !== this.kept || rule.version < this.rule.version)) return;
    this.rule = rule;
    this.of = this.project();
  }
}
