/**
 * The shapes that cross the canvas modules; boxes are corners in float pixels of the original image.
 *
 * @typedef {import("../shared/answers.js").Box} Box
 * @typedef {import("../shared/answers.js").Class} Class
 * @typedef {{idx: number, run: number, x1: number, y1: number, x2: number, y2: number,
 *   label: string, class_id?: number | null, score: number}} Proposal
 * @typedef {{id: number, name: string, sha256: string, width: number, height: number,
 *   state: string, split: string | null, group: string, version: number, label: string,
 *   comment: string, golden: {id: number, sha256: string, lie: number[]} | null, boxes: Box[],
 *   proposals: Proposal[], run: number | null, proposer: string, rejected?: number[],
 *   accepted?: number[], verdict?: string, repeat?: boolean, seen?: number}} Item `repeat`: judged before, shown unmarked
 * @typedef {{boxes: readonly Box[], state: string, label: string, comment: string,
 *   run: number | null, rejected: readonly number[], accepted: readonly number[],
 *   verdict: string}} Sheet `rejected` and `accepted` are numbers of detections of `run`
 * @typedef {{version: number, author: string, key: string, boxes: Box[], state: string, label: string,
 *   comment: string}} Theirs what another person saved of an image meanwhile
 * @typedef {{version: number, author: string, action: string, at: string, boxes: Box[], state: string,
 *   label: string, comment: string}} Revision
 * @typedef {{project: import("../shared/answers.js").Project,
 *   me: import("../shared/answers.js").Person}} Known the project that stands open, and who looks
 * @typedef {Known & {items: Item[], image: number, position: number, total: number}} Window images around one
 * @typedef {Box | (Proposal & {id: string})} Target what a hand can take
 * @typedef {{x: number, y: number}} Point
 * @typedef {{x1: number, y1: number, x2: number, y2: number}} Rectangle
 */

export {};
