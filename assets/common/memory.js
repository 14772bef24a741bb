/** What the browser remembers: one table of all that is kept there, where, for how long and what for. */

/** @typedef {{key: string, store: "browser" | "tab", what: string}} Place */

/** A key that ends with a colon stands before what it is kept of. @satisfies {Record<string, Place>} */
export const PLACES = /** @type {const} */ ({
  theme: { key: "loupe-theme", store: "browser", what: "light, dark, or as the machine has it" },
  project: { key: "loupe-project", store: "browser", what: "the project that was open last" },
  thumbs: { key: "loupe-thumb", store: "browser", what: "how large Browse shows its pictures" },
  proposals: { key: "loupe:threshold", store: "browser", what: "from which score Annotate shows proposals" },
  detections: {
    key: "loupe:review-score",
    store: "browser",
    what: "from which score Review shows detections",
  },
  sweep: { key: "loupe:sweep-size", store: "browser", what: "how large the wall shows classified pictures" },
  folded: { key: "loupe:folded:", store: "browser", what: "the sections of side panels that are folded" },
  unsent: {
    key: "loupe:unsaved:",
    store: "browser",
    what: "what is not yet saved, by the tab that sends it",
  },
  alive: {
    key: "loupe:alive:",
    store: "browser",
    what: "when a tab was last seen, where there are no locks",
  },
  tab: { key: "loupe:tab", store: "tab", what: "the name of this tab" },
  holder: {
    key: "loupe:holder",
    store: "tab",
    what: "who this tab held pictures as when it was last loaded",
  },
  undo: { key: "loupe:undo", store: "tab", what: "what this tab can undo after a reload" },
  swept: { key: "loupe:swept:", store: "tab", what: "the sweeps that this tab can take back" },
});

/** @typedef {keyof typeof PLACES} Name */

/** What is remembered, if anything. @param {Name} name @param {string} [of] */
export function read(name, of = "") {
  return store(name).getItem(PLACES[name].key + of);
}

/** Throws where there is no room. @param {Name} name @param {string} value @param {string} [of] */
export function keep(name, value, of = "") {
  store(name).setItem(PLACES[name].key + of, value);
}

/** @param {Name} name @param {string} [of] */
export function forget(name, of = "") {
  store(name).removeItem(PLACES[name].key + of);
}

/** Of what something is remembered under that name. @param {Name} name @param {string} begins */
export function all(name, begins) {
  const { key } = PLACES[name];
  const found = Object.keys(store(name)).filter((one) => one.startsWith(key + begins));
  return found.map((one) => one.slice(key.length));
}

/** @param {Name} name */
function store(name) {
  return PLACES[name].store === "tab" ? sessionStorage : localStorage;
}
