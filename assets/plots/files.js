/** Plots as files: a drawing that needs no stylesheet, a picture of it, or any text. */

const KEPT = ["fill", "stroke", "stroke-width", "font-size", "font-family", "font-weight", "opacity"];
const SHARP = 2; // pixels of the picture for one on the page

/** Let the browser save something. @param {string} name @param {string} type @param {BlobPart} content */
export function save(name, type, content) {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = Object.assign(document.createElement("a"), { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** A drawing with the looks that it has on the page. @param {Element} stage where it is laid out @param {Element} svg */
export function script(stage, svg) {
  stage.append(svg);
  const { backgroundColor } = getComputedStyle(stage);
  for (const one of svg.querySelectorAll("*")) {
    const looks = getComputedStyle(one);
    for (const name of KEPT) one.setAttribute(name, looks.getPropertyValue(name));
    if (one.classList.contains("room")) one.setAttribute("fill", "none");
    for (const name of ["class", "style", "tabindex", "href"]) one.removeAttribute(name);
  }
  svg.remove();
  svg.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  svg.setAttribute("style", `background: ${backgroundColor}`);
  return new XMLSerializer().serializeToString(svg);
}

/** Save a drawing as a picture. @param {string} name @param {Element} stage @param {Element} svg */
export async function picture(name, stage, svg) {
  const image = new Image();
  const url = URL.createObjectURL(new Blob([script(stage, svg)], { type: "image/svg+xml" }));
  image.src = url;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.naturalWidth * SHARP;
  canvas.height = image.naturalHeight * SHARP;
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(url);
  canvas.toBlob((blob) => blob && save(name, "image/png", blob));
}
