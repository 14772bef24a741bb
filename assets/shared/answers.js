/**
 * The shapes of what routes answer, as app/routes has them; times are ISO texts.
 *
 * @typedef {"detect" | "classify"} Task
 * @typedef {"new" | "started" | "done" | "skipped"} State of an image
 * @typedef {"train" | "val" | "test"} Split
 * @typedef {"viewer" | "labeler" | "admin"} Role
 * @typedef {{name: string, role: Role}} Person
 * @typedef {Person & {accounts: boolean}} Me
 * @typedef {{id: string, began: string, seen: string, address: string, browser: string,
 *   here: boolean}} Login
 *
 * @typedef {{id: number, index: number, name: string, color: string, hotkey: string,
 *   severity: number}} Class
 * @typedef {{id: number, name: string, task: Task, classes: Class[]}} Project
 * @typedef {Project & {images: number, goldens: number, labelled: number,
 *   boxes: Record<string, number>, covers: {id: number, sha256: string, name: string}[]}} Summary
 *   a project among others
 *
 * @typedef {{run: number, image: number, idx: number}} DetectionRef
 * @typedef {{id: string, x1: number, y1: number, x2: number, y2: number, label: string,
 *   class_id?: number | null, origin: string, author?: string, detection: DetectionRef | null}} Box
 * @typedef {{id: number, name: string, sha256: string, width: number, height: number,
 *   state: State, split: Split | null, group: string, version: number, label: string,
 *   comment: string, author: string, golden: {id: number, sha256: string, lie: number[]} | null,
 *   boxes: Box[]}} Item an image with all that a page draws of it
 * @typedef {{total: number, items: Item[]}} Window
 * @typedef {Record<string, Record<string, number>>} Counts of images, by filter and value
 * @typedef {{action: string, value: string, images: number[]}} Change of many images
 * @typedef {{changed: number, undo: Change[], error?: string}} Changed
 *
 * @typedef {"queued" | "running" | "paused" | "done" | "failed" | "cancelled"} JobState
 * @typedef {{id: number, kind: string, title: string, project: number | null, state: JobState,
 *   attempt: number, author: string, at: string, progress: number, message: string, error: string,
 *   result: Record<string, any>, started: string | null, finished: string | null, worker: string,
 *   wish: "cancel" | "pause" | null, position?: number, waits?: number | null,
 *   needs?: number | null, behind?: number | null}} Job the last four: where it stands in the queue
 * @typedef {{seq: number, at: string, level: string, text: string, data: Record<string, any>}} JobEvent
 * @typedef {{open: Job[], done: Job[], kinds: Record<string, string>, authors: string[],
 *   projects: Record<string, string>}} Listing of jobs
 * @typedef {{cores?: number, gpus?: number, memory_gb?: number}} Amounts
 * @typedef {{name: string, cores: number, gpus: number, memory_gb: number, free: {cores: number},
 *   jobs: Record<string, number>, others: number}} Node
 * @typedef {{nodes?: Node[], free?: Amounts, jobs?: number[]}} Sight of the cluster
 * @typedef {{name: string, host: string, pid: number, started: string, seen: string, sees: Sight}} Worker
 * @typedef {{told: string[], waiting: number, failing: boolean}} Warehouse how it stands
 *
 * @typedef {{map50?: number, map50_95?: number, accuracy?: number, ap_rules?: number, images?: number,
 *   intervals?: {map50?: [number, number]}}} Metrics
 * @typedef {{id: number, name: string, family: string,
 *   state: "training" | "ready" | "failed" | "cancelled", classes: string[], champion: boolean,
 *   at: string, snapshot: number | null, parent: number | null, job: number | null,
 *   parameters: Record<string, any>, metrics: Metrics}} Model
 * @typedef {{truths?: number, images?: number, ap50?: number, ap50_95?: number, precision?: number,
 *   recall?: number, f1?: number, score?: number}} ClassFigures
 * @typedef {{labels: string[], matrix: number[][], score?: number}} Confusion
 * @typedef {Record<string, {recall: number[], precision: number[]}>} PrecisionRecall by class
 * @typedef {{per_class?: Record<string, ClassFigures>, images?: number, split?: Split, iou?: number,
 *   map?: number, map50?: number, map50_95?: number, accuracy?: number, curves?: PrecisionRecall,
 *   confusion?: Confusion, sizes?: Record<string, {map: number, truths: number}>}} Evaluation
 * @typedef {{difference: number | null, better?: boolean | null, interval?: [number, number]}} Difference
 * @typedef {{image: string, image_id: number, gained: number, lost: number, false_calls: number}} ImageDifference
 * @typedef {{model?: string, run?: number, per_class?: Record<string, Difference>,
 *   images?: ImageDifference[]}} Against what a model differs in from another one
 * @typedef {Model & {weights: string, author: string, evaluation: Evaluation, against: Against,
 *   provenance: Record<string, any>, verdict: string, offered: boolean, reigned: boolean}} Details
 *   of a model
 *
 * @typedef {{name: string, title: string, defaults: Record<string, any>, variants: string[],
 *   needs_golden: boolean}} Family
 * @typedef {{families: Family[], models: Model[], jobs: Job[], grows: boolean, goldens: boolean}} Training
 *   what can be trained
 * @typedef {{problems: string[], warnings: string[], images: Partial<Record<Split, number>>,
 *   boxes: Record<string, Partial<Record<Split, number>>>, seconds?: number | null}} Preflight
 *
 * @typedef {{id: number, model: string, family: string, runtime: string, purpose: string,
 *   author: string, at: string, finished: string | null, seconds: number,
 *   source: Record<string, any>, facts: Record<string, any>, images: number, detections: number,
 *   failed: number}} Run
 * @typedef {{runs: Run[], jobs: Job[]}} AtWork
 * @typedef {AtWork & {models: Model[], counts: Counts, tiles: string}} Detecting what can be looked at
 * @typedef {{images?: number[], states?: string[], splits?: string[]}} Source
 * @typedef {{model: string, source: Source, options: {confidence: number, runtime: string | null,
 *   precision: string | null, again: true | null}}} Wanted a detection as the form has it
 * @typedef {{worth: {runtime: string, precision: string, map50: number}[], int8?: string,
 *   model_id?: number | null}} Expectation
 * @typedef {{images: number, known: number, run_id: number | null,
 *   pace: {run_id: number, runtime: string, images_per_second: number} | null}} Recall
 * @typedef {{x1: number, y1: number, x2: number, y2: number, label: string, score: number}} Found
 */

export {};
