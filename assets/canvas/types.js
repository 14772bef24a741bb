/**
 * The shapes that cross the canvas modules; boxes are corners in float pixels of the original image.
 *
 * @typedef {{run: number, image: number, idx: number}} DetectionRef
 * @typedef {{id: string, x1: number, y1: number, x2: number, y2: number, label: string,
 *   origin: string, detection: DetectionRef | null, author?: string}} Box
 * @typedef {{idx: number, run: number, x1: number, y1: number, x2: number, y2: number,
 *   label: string, score: number}} Proposal
 * @typedef {{id: number, index: number, name: string, color: string, hotkey: string,
 *   severity: number}} Class
 * @typedef {{id: number, name: string, sha256: string, width: number, height: number,
 *   state: string, split: string | null, group: string, version: number, label: string,
 *   comment: string, golden: {id: number, sha256: string} | null, boxes: Box[],
 *   proposals: Proposal[], rejected: string[], proposer: string}} Item
 * @typedef {{boxes: readonly Box[], state: string, label: string, comment: string,
 *   rejected: readonly string[]}} Sheet
 * @typedef {{x: number, y: number}} Point
 * @typedef {{x1: number, y1: number, x2: number, y2: number}} Rectangle
 */

export {};
