/** Where the chosen box or detection comes from, and where it went. */

import { fill, h } from "../../common/dom.js";
import * as net from "../../common/net.js";
import { nameOf } from "../../desk/desk.js";

/** @param {{desk: import("../../desk/desk.js").Desk}} page */
export function why(page) {
  const chain = h("ol.lp-chain");
  const details = h("details.lp-section", { ontoggle: () => load() }, h("summary", {}, "Why"), chain);
  let shown = "";
  const load = async () => {
    const { item, byImage } = page.desk;
    const [id] = byImage ? (page.desk.answer ? [nameOf(page.desk.answer)] : []) : page.desk.selected;
    if (!details.open || !item || !id) {
      const none = byImage ? "No model has looked at this picture." : "Choose a detection or a label.";
      return fill(chain, details.open && h("li", {}, none));
    }
    if (item.repeat) return fill(chain, h("li", {}, "Nothing is told of this image before it is decided."));
    const name = id.includes(":") ? `${id.split(":")[0]}:${item.id}:${id.split(":")[1]}` : `${item.id}:${id}`;
    if (shown === `${name}/${item.version}`) return undefined;
    shown = `${name}/${item.version}`;
    /** @type {import("../../common/answers.js").Chain} */
    const answer = await net.get(`/api/why/${encodeURIComponent(name)}`).catch((error) => ({
      links: [{ what: "", text: error.message }],
    }));
    return fill(
      chain,
      answer.links.map((/** @type {{what: string, text: string}} */ link) =>
        h("li", {}, h("b", {}, link.what), " ", link.text)
      ),
    );
  };
  return { root: details, render: load };
}
