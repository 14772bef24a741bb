/**
 * The shapes that cross the canvas modules; boxes are corners in float pixels of the original image.
 *
 * @typedef {{run: number, image: number, idx: number}} DetectionRef
 * @typedef {{id: string, x1: number, y1: number, x2: number, y2: number, label: string,
 *   class_id?: number | null, origin: string, detection: DetectionRef | null, author?: string}} Box
 * @typedef {{idx: number, run: number, x1: number, y1: number, x2: number, y2: number,
 *   label: string, class_id?: number | null, score: number}} Proposal
 * @typedef {{id: number, index: number, name: string, color: string, hotkey: string,
 *   severity: number}} Class
 * @typedef {{id: number, name: string, sha256: string, width: number, height: number,
 *   state: string, split: string | null, group: string, version: number, label: string,
 *   comment: string, golden: {id: number, sha256: string, lie: number[]} | null, boxes: Box[],
 *   proposals: Proposal[], run: number | null, proposer: string, rejected?: number[],
 *   accepted?: number[], verdict?: string, repeat?: boolean}} Item `repeat`: judged before, shown unmarked
 * @typedef {{boxes: readonly Box[], state: string, label: string, comment: string,
 *   run: number | null, rejected: readonly number[], accepted: readonly number[],
 *   verdict: string}} Sheet `rejected` and `accepted` are numbers of detections of `run`
 * @typedef {{x: number, y: number}} Point
 * @typedef {{x1: number, y1: number, x2: number, y2: number}} Rectangle
 */

export {};
