/** Building the page without ever turning text into HTML. */

/**
 * Make an element. Properties are set, `on…` are listeners, `data`, `style` and `aria-…` as named.
 * @param {string} name tag, with classes after dots: "button.primary"
 * @param {Record<string, any>} [properties]
 * @param {...(Node|string|number|null|undefined|false|any[])} children
 * @returns {any}
 */
export function h(name, properties = {}, ...children) {
  const [tag, ...classes] = name.split(".");
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(" ");
  for (const [key, value] of Object.entries(properties)) put(element, key, value);
  element.append(...children.flat(9).filter((child) => child || child === 0));
  return element;
}

/** @param {any} element @param {string} key @param {any} value */
function put(element, key, value) {
  if (value === undefined || value === null) return;
  if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
  else if (key === "data") Object.assign(element.dataset, value);
  else if (key === "style") Object.assign(element.style, value);
  else if (key in element && !key.includes("-")) element[key] = value;
  else element.setAttribute(key, value);
}

/** An icon of the sprite in icons.js. @param {string} path the `d` of a 16×16 drawing */
export function icon(path) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  svg.classList.add("icon");
  const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
  line.setAttribute("d", path);
  line.setAttribute("fill-rule", "evenodd");
  svg.append(line);
  return svg;
}

/**
 * Replace all that stands in `element`; a child that stands there already is left alone.
 * @param {any} element @param {any[]} children
 * @returns {any}
 */
export function fill(element, ...children) {
  const wanted = children.flat(9).filter((child) => child || child === 0).map((
    child,
  ) => (child instanceof Node ? child : document.createTextNode(child)));
  const kept = new Set(wanted);
  for (const child of [...element.childNodes]) if (!kept.has(child)) child.remove();
  wanted.forEach((child, at) =>
    element.childNodes[at] !== child && element.insertBefore(child, element.childNodes[at] ?? null)
  );
  return element;
}

/**
 * Replace all that stands in a list; who works in it by keys goes on where they were.
 * @param {HTMLElement} element @param {any[]} children
 */
export function refill(element, ...children) {
  const controls = () => /** @type {any[]} */ ([...element.querySelectorAll("button, input, select")]);
  const held = /** @type {any} */ (document.activeElement);
  const at = controls().indexOf(held);
  fill(element, ...children);
  if (at < 0) return;
  const there = controls();
  const same = (/** @type {any} */ one) => one?.ariaLabel === held.ariaLabel;
  const [next] = [same(there[at]) && there[at], there.find(same), ...there.slice(at), ...there].filter((
    one,
  ) => one && !one.disabled);
  next?.focus();
}

/**
 * Replace all that stands in `element` by what `made` gives, where what it shows is not that already.
 * Who stands by keys on what has a `data-key` stands on the one of that key again, else on `element`,
 * never on another control.
 * @param {HTMLElement} element @param {any} shows @param {() => any} made
 */
export function redraw(element, shows, made) {
  const now = JSON.stringify(shows);
  if (drawn.get(element) === now) return;
  drawn.set(element, now);
  const held = element.contains(document.activeElement) && document.activeElement?.getAttribute("data-key");
  fill(element, made());
  if (!held) return;
  const next = /** @type {HTMLElement|null} */ (element.querySelector(`[data-key="${held}"]`));
  if (!next) element.tabIndex = -1;
  (next ?? element).focus();
}

/** What stands in an element that is drawn again only when something changes. */
const drawn = new WeakMap();

/**
 * Let `element` say `text`; where it says that already, nothing is laid out again.
 * @param {Element} element @param {string} text
 */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** A labelled field of a form. @param {string} label @param {any} control @param {string} hint */
export function field(label, control, hint = "") {
  return h("label.field", {}, h("span", {}, label), control, hint && h("small", {}, hint));
}

/**
 * A drop-down list.
 * @param {readonly (readonly string[])[]} choices value and words
 * @param {string | null} [value]
 * @param {((value: string) => any) | null} [onchange]
 * @param {Record<string, any>} [properties]
 */
export function select(choices, value, onchange, properties = {}) {
  const options = choices.map(([key, words]) => h("option", { value: key }, words));
  const element = h("select", { ...properties }, options);
  element.value = value ?? "";
  if (onchange) element.addEventListener("change", () => onchange(element.value));
  return element;
}

/**
 * Is the person typing, or in a list or a dialog, so that letters are not ours?
 * @param {KeyboardEvent} event
 */
export function typing(event) {
  const target = /** @type {HTMLElement} */ (event.target);
  if (event.ctrlKey || event.metaKey || event.altKey) return true;
  if (document.querySelector("dialog[open]")) return true;
  // A tick leaves the keys to the page, but for those that it needs itself.
  if (target.matches("input[type=checkbox]")) return [" ", "Enter", "Tab"].includes(event.key);
  return Boolean(target.closest("input, select, textarea, [contenteditable], [role=listbox]"));
}
