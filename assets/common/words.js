/** Numbers and times as people read them. */

const figures = new Intl.NumberFormat("en");

/** 12480 → "12,480" @param {number} number */
export function count(number) {
  return figures.format(number);
}

/** 1 image, 2 images @param {number} number @param {string} one @param {string} more */
export function many(number, one, more = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : more}`;
}

/** The name of a model; the golden board has no version. @param {string} name */
export function model(name) {
  return name === "golden" ? "Golden board" : name;
}

/**
 * .954: a share as metrics are written; "–" where there is none.
 * @param {number | null | undefined} number
 */
export function share(number, digits = 3) {
  if (number === null || number === undefined || Number.isNaN(number)) return "–";
  return number >= 1 ? number.toFixed(digits) : number.toFixed(digits).replace(/^0/, "");
}

/** 131 → "2 min 11 s" @param {number} seconds */
export function span(seconds) {
  if (!Number.isFinite(seconds)) return "–";
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.round((seconds % 3600) / 60)} min`;
}

/** "3 min ago", from an ISO time. @param {string} iso */
export function ago(iso) {
  const seconds = (Date.now() - Date.parse(iso)) / 1000;
  if (seconds < 45) return "just now";
  if (seconds < 3600) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 86400) return `${Math.round(seconds / 3600)} h ago`;
  return new Date(iso).toLocaleDateString("en", { day: "numeric", month: "short", year: "numeric" });
}

/** Megapixels, bytes and the like: 1536 → "1.5 kB" @param {number} number */
export function bytes(number) {
  for (const unit of ["B", "kB", "MB", "GB"]) {
    if (number < 1000 || unit === "GB") {
      return `${number < 10 && unit !== "B" ? number.toFixed(1) : Math.round(number)} ${unit}`;
    }
    number /= 1000;
  }
  return "";
}
