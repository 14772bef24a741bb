/** This page is being built. */

/** @param {HTMLElement} element */
export function mount(element) {
  element.removeAttribute("aria-busy");
}
