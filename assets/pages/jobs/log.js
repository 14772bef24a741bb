/** The log of a job as it grows. */

import { h } from "../../common/dom.js";
import { get } from "../../common/net.js";

/** @typedef {import("../../common/answers.js").JobEvent} JobEvent */

const FILE = "Show the log file";

/** The events of a job, read on from where the last reading ended; on demand all that it printed. */
export class Log {
  /** @param {number} id of the job */
  constructor(id) {
    this.id = id;
    this.seq = 0;
    this.told = h("div.log", { tabIndex: 0, role: "log", "aria-label": `Log of job ${id}` });
    this.file = h("pre.log", { tabIndex: 0, hidden: true, "aria-label": `Log file of job ${id}` });
    this.turner = h("button.quiet", {
      title: "The end of the log file, with what the libraries have printed",
      onclick: () => this.turn(),
    }, FILE);
    this.element = h("div.logs", {}, this.told, this.file, this.turner);
  }

  /** Between the story and the file. */
  turn() {
    this.told.hidden = this.file.hidden;
    this.file.hidden = !this.file.hidden;
    this.turner.textContent = this.file.hidden ? FILE : "Show what happened";
    return this.load();
  }

  async read() {
    const { text } = await get(`/api/jobs/${this.id}/log`).catch(() => ({ text: this.file.textContent }));
    follow(
      this.file,
      () => (this.file.textContent = text ||
        "There is no log file here: it has printed nothing yet, or runs on another machine."),
    );
  }

  /** @returns {Promise<JobEvent[]>} what is new */
  async load() {
    /** @type {JobEvent[]} */
    const news = await get(`/api/jobs/${this.id}/events?since=${this.seq}`).catch(() => []);
    follow(this.told, () => news.forEach((one) => this.tell(one)));
    if (!this.file.hidden) await this.read();
    return news;
  }

  /** @param {JobEvent} one */
  tell(one) {
    this.seq = Math.max(this.seq, one.seq);
    if (one.text) {
      this.told.append(
        h(`div.${one.level}`, {}, `${new Date(one.at).toLocaleTimeString("en-GB")}  ${one.text}`),
      );
    }
  }
}

/** Change a log; who reads its end goes on with it. @param {HTMLElement} log @param {() => void} change */
function follow(log, change) {
  const atEnd = log.scrollTop + log.clientHeight >= log.scrollHeight - 8;
  change();
  if (atEnd) log.scrollTop = log.scrollHeight;
}
