/** What modules ask of a browser and Node has not: its storage, the page's own events, a clock that ends with it. */

import { setMaxListeners } from "node:events";

const page = new EventTarget();
setMaxListeners(0, page);
const { setInterval: tick } = globalThis;

function storage() {
  const method = (value) => ({ value, enumerable: false });
  return Object.create({}, {
    getItem: method(function (key) {
      return Object.hasOwn(this, key) ? this[key] : null;
    }),
    setItem: method(function (key, value) {
      this[key] = String(value);
    }),
    removeItem: method(function (key) {
      delete this[key];
    }),
  });
}

Object.assign(globalThis, {
  localStorage: storage(),
  sessionStorage: storage(),
  addEventListener: page.addEventListener.bind(page),
  removeEventListener: page.removeEventListener.bind(page),
  dispatchEvent: page.dispatchEvent.bind(page),
  setInterval: (...given) => tick(...given).unref(),
});
Object.defineProperty(globalThis, "navigator", { value: {}, configurable: true });
