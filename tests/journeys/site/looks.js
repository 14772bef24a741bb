/** What a careful eye would find on a page: controls out of sight, text that is hard to read. */
window.looks = (() => {
  const CONTROLS = "button, select, input:not([type=hidden]), textarea, a.button, h1, h2, h3, summary";
  // These lists may be longer than they are wide: they are scrolled. Tables are on a tablet only.
  const SCROLLED = ".lp-strip, .lp-tools, .tabbar, .log, .figure";
  const TABLET = 1024;
  const pen = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });

  const seen = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true, contentVisibilityAuto: true })
    && element.getClientRects().length > 0;

  const named = (element) => `${element.tagName.toLowerCase()}.${element.className} "${(element.textContent || element.ariaLabel || "").trim().slice(0, 40)}"`;

  function cut(element) {
    const box = element.getBoundingClientRect();
    if (!box.width || !box.height || element.closest(innerWidth < TABLET ? `${SCROLLED}, .sheet > .panel` : SCROLLED)) return false;
    if (box.left < -1 || box.right > innerWidth + 1) return true;
    if (element.matches("button") && element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).overflowX !== "visible") return true;
    for (let above = element.parentElement; above; above = above.parentElement) {
      if (getComputedStyle(above).overflowX === "visible") continue;
      const frame = above.getBoundingClientRect();
      if (box.left < frame.left - 1 || box.right > frame.right + 1) return true;
    }
    return false;
  }

  function layout() {
    const wide = document.documentElement.scrollWidth > innerWidth ? [`the page is ${document.documentElement.scrollWidth} px wide`] : [];
    return [...wide, ...[...document.querySelectorAll(CONTROLS)].filter((one) => seen(one) && cut(one)).map((one) => `cut: ${named(one)}`)];
  }

  function rgba(color) {
    pen.clearRect(0, 0, 1, 1);
    pen.fillStyle = color;
    pen.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = pen.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  }

  const over = (front, back) => [0, 1, 2].map((at) => front[at] * front[3] + back[at] * (1 - front[3])).concat(1);

  function ground(element) {
    const layers = [];
    for (let at = element; at; at = at.parentElement) {
      const layer = rgba(getComputedStyle(at).backgroundColor);
      if (layer[3] > 0) layers.push(layer);
      if (layer[3] === 1) break;
    }
    return layers.reverse().reduce((back, front) => over(front, back), [255, 255, 255, 1]);
  }

  function faded(element) {
    let share = 1;
    for (let at = element; at; at = at.parentElement) share *= Number(getComputedStyle(at).opacity);
    return share;
  }

  function luminance([r, g, b]) {
    const [x, y, z] = [r, g, b].map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  }

  function contrast(element) {
    const back = ground(element);
    const front = rgba(getComputedStyle(element).color);
    const [high, low] = [luminance(over([...front.slice(0, 3), front[3] * faded(element)], back)), luminance(back)].sort((a, b) => b - a);
    return (high + 0.05) / (low + 0.05);
  }

  /** Text over pictures has a ground of its own that no style tells; what is disabled is exempt. */
  function texts() {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const found = new Set();
    while (walker.nextNode()) if (walker.currentNode.data.trim()) found.add(walker.currentNode.parentElement);
    return [...found].filter((one) => seen(one) && !one.closest(":disabled, script, style, option, .cell, .lp-stage, .lp-tile, svg"));
  }

  function colours() {
    return texts().flatMap((one) => {
      const { fontSize, fontWeight } = getComputedStyle(one);
      const large = parseFloat(fontSize) >= 24 || (parseFloat(fontSize) >= 18.66 && Number(fontWeight) >= 700);
      const found = contrast(one);
      return found < (large ? 3 : 4.5) ? [`${found.toFixed(2)}: ${named(one)}`] : [];
    });
  }

  return { layout, colours };
})();
