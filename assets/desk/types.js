/**
 * The shapes that cross the canvas modules; boxes are corners in float pixels of the original image.
 *
 * @typedef {import("../common/answers.js").Box} Box
 * @typedef {import("../common/answers.js").Class} Class
 * @typedef {import("../common/answers.js").Proposal} Proposal
 * @typedef {import("../common/answers.js").DeskImage & {seen?: number}} Item `seen`: when it was last asked for
 * @typedef {{boxes: readonly Box[], state: import("../common/answers.js").State, label: string, comment: string,
 *   run: number | null, rejected: readonly number[], accepted: readonly number[],
 *   verdict: import("../common/answers.js").DeskImage["verdict"]}} Sheet `rejected` and `accepted` are numbers of detections of `run`
 * @typedef {import("../common/answers.js").Revision} Revision
 * @typedef {import("../common/answers.js").Revision} Theirs what another person saved of an image meanwhile
 * @typedef {Pick<import("../common/answers.js").ImagesAround, "project" | "me">} Known the project that stands
 *   open, and who looks
 * @typedef {import("../common/answers.js").ImagesAround} Window images around one
 * @typedef {Box | (Proposal & {id: string})} Target what a hand can take
 * @typedef {{x: number, y: number}} Point
 * @typedef {{x1: number, y1: number, x2: number, y2: number}} Rectangle
 */

export {};
