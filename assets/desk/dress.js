/** The styles of the workplace. */

import { h } from "../common/dom.js";

/** They stand before anything is laid out, so that nothing jumps. */
export function dress() {
  const href = new URL("../styles/annotate.css", import.meta.url).href;
  if (document.querySelector(`link[href="${href}"]`)) return Promise.resolve();
  const link = h("link", { rel: "stylesheet", href });
  document.head.append(link);
  return new Promise((done) => (link.onload = link.onerror = () => done(undefined)));
}
