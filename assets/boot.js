/** Fills the places that Gradio lays out: each with the module that one of its classes names. */

(() => {
  const here = /** @type {HTMLScriptElement} */ (document.currentScript).src;
  const MOUNTS = "mounts-";
  const filled = new WeakSet();

  /** @param {Element} place */
  function fill(place) {
    const named = [...place.classList].find((one) => one.startsWith(MOUNTS));
    if (!named || filled.has(place)) return;
    filled.add(place);
    const shell = document.createElement("div");
    shell.className = "shell";
    shell.setAttribute("aria-busy", "true");
    place.append(shell);
    import(new URL(`${named.slice(MOUNTS.length)}.js`, here).href).then((module) => module.mount(shell));
  }

  // Gradio makes a tab when it is visited first.
  const look = () => document.querySelectorAll(".shell-block").forEach(fill);
  new MutationObserver(look).observe(document.documentElement, { childList: true, subtree: true });
  look();
})();
