/** What is taken away for good: a project with all that hangs on it, or images put away before. */

import { ask } from "../../common/dialog.js";
import { field, h } from "../../common/dom.js";
import { get, send } from "../../common/net.js";
import { attempt, site, toast } from "../../common/site.js";
import { many } from "../../common/words.js";

/** Say what would go, and let it go once the name is typed. @param {{name: string}} project */
export async function removal(project) {
  const base = `/api/projects/${encodeURIComponent(project.name)}`;
  const found = await attempt(() => get(`${base}/remains`));
  if (!found) return;
  const name = h("input", { name: "name", required: true, autocomplete: "off", autofocus: !found.put_away });
  const agree = () => send("POST", `${base}/remove`, { name: name.value });
  const yes = await ask(`Remove ${project.name}`, "Remove the project", [
    found.put_away > 0 && putAway(base, found.put_away),
    h("p", {}, `With the project go ${found.words}. There is no way back but a backup.`),
    field(`Type ${project.name} to remove it`, name),
  ], { danger: true, agree });
  if (!yes) return;
  toast(`${project.name} is removed.`, "done");
  site.dispatchEvent(new Event("projects"));
}

/** @param {string} base @param {number} number */
function putAway(base, number) {
  const line = h("div.row", {}, h("span", {}, `${many(number, "image is", "images are")} put away.`));
  /** @param {string} where @param {string} words */
  const act = (where, words) => () =>
    attempt(async () => {
      await send("POST", `${base}/${where}`, {});
      line.replaceChildren(words);
      site.dispatchEvent(new Event("projects"));
    });
  line.append(
    h(
      "button.quiet",
      { type: "button", onclick: act("bring-back", "They are back in Browse.") },
      "Bring them back",
    ),
    h("button.quiet", {
      type: "button",
      onclick: act("purge", "They are being removed; Jobs shows how far it is."),
    }, "Remove them for good"),
  );
  return line;
}
