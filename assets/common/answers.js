/**
 * The shapes of what routes take and answer, as app/routes has them; times are ISO texts. Made by
 * `python -m tests.assets.answers`: what is written here by hand is lost.
 *
 * @typedef {{model?: string, model_id?: number, family?: string, run?: number, iou?: number,
 *   compared?: number, learned?: number, map?: FigureDifference, map50?: FigureDifference,
 *   map50_95?: FigureDifference, accuracy?: FigureDifference, gained?: PictureCount, lost?: PictureCount,
 *   per_class?: Record<string, FigureDifference>, images?: ImageDifference[]}} Against
 * @typedef {{between_boards: Kappa, between_detections: Kappa, within_boards: Kappa,
 *   within_detections: Kappa}} Agreement
 * @typedef {{cores: number, gpus: number, memory_gb: number}} Amounts
 * @typedef {{title: string, author: string, since: string | null}} AskedJob
 * @typedef {{runs: RunCard[], jobs: JobCard[]}} AtWork
 * @typedef {{name: string, low: number, high: number, explains: number | null}} Axis
 * @typedef {{job: JobCard, model: ModelCard}} BegunTraining
 * @typedef {{image: number, name: string, sha256: string, width: number, height: number, group: string,
 *   verdict: string, said_by: string, worst: number | null, defects: DefectMark[], called: string}}
 *   BoardCard
 * @typedef {{project: Project, total: number, next: number, boards: BoardCard[], unread: number,
 *   unreadable: UnreadPicture[]}} BoardsOfRun
 * @typedef {{x1: number, y1: number, x2: number, y2: number, label: string, origin: Origin, id: string,
 *   detection: DetectionRef | null, author: string, class_id: number | null}} Box
 * @typedef {{changed: number}} BroughtBack
 * @typedef {{images: readonly number[], action: "split" | "group" | "state" | "class" | "class-back" |
 *   "delete" | "restore", value?: string}} BulkChange
 * @typedef {{name: string, links: Link[]}} Chain
 * @typedef {{changed: number, undo: UndoStep[], error: string}} Changed
 * @typedef {{image: number, name: string, sha256: string, width: number, height: number,
 *   gained: Proposal[], lost: Proposal[]}} ChangedImage
 * @typedef {{images: number, same: number, next: number, changes: ChangedImage[]}} ChangedImages
 * @typedef {{id: number, index: number, name: string, color: string, hotkey: string, severity: number}}
 *   Class
 * @typedef {{name?: string | null, color?: string | null, hotkey?: string | null,
 *   severity?: number | null}} ClassEdit
 * @typedef {{truths?: number, ap?: number | null, ap50?: number | null, ap50_95?: number | null,
 *   score?: number, precision?: number | null, recall?: number | null, f1?: number | null}} ClassFigures
 * @typedef {{job: number, state: JobState, family: string, scaling: string, repeats: number,
 *   epochs: number, images: number, author: string, at: string, about: Record<string, string>,
 *   configurations: number, lines: Line[]}} ClusterBenchmark
 * @typedef {{workers: Presence[], jobs: Record<string, AskedJob>, costs: Record<string, number>}}
 *   ClusterCard
 * @typedef {{labels: string[], matrix: number[][], score?: number, run?: number}} Confusion
 * @typedef {{id: number, sha256: string, name: string}} Cover
 * @typedef {{recall: number[], precision: number[], score: number[]}} CurvePoints
 * @typedef {{title: string, author: string, jobs: number, seconds: number}} DayOfUse
 * @typedef {{x1: number, y1: number, x2: number, y2: number, label: string, score: number | null}}
 *   DefectMark
 * @typedef {{id: number, name: string, sha256: string, width: number, height: number, state: State,
 *   split: Split | null, group: string, version: number, label: string, comment: string, author: string,
 *   golden: GoldenCard | null, boxes: Box[], proposals: Proposal[], proposer: string, run: number | null,
 *   rejected: number[], accepted: number[], verdict: "" | "pass" | "fail", repeat: boolean,
 *   chances: Record<string, number>}} DeskImage
 * @typedef {{runs: RunCard[], jobs: JobCard[], task: Task, models: ModelCard[], counts: SourceCounts,
 *   goldens: boolean, tiles: string, lot: NewestLot | null}} DetectionChoice
 * @typedef {{model: string, source?: ImageChoice, options?: Options, key?: string}} DetectionForm
 * @typedef {{model: string, source?: ImageChoice, options?: Options, key?: string, after?: number | null}}
 *   DetectionOrder
 * @typedef {{run: number, image: number, idx: number}} DetectionRef
 * @typedef {{answer: "fixed" | "dismissed" | ""}} DoubtAnswer
 * @typedef {{id: number, image: number, name: string, sha256: string, width: number, height: number,
 *   golden: string, lie: number[], kind: string, certainty: number, label: Box | null, found: Box | null,
 *   score: number, answer: string}} DoubtedLabel
 * @typedef {{project: Project, counts: Record<string, number>, doubts: DoubtedLabel[],
 *   job: JobCard | null}} DoubtedLabels
 * @typedef {{role?: Role | null, password?: string | null}} Edit
 * @typedef {{split?: string, iou?: number, images?: number, truths?: number, score?: number,
 *   map?: number | null, map50?: number | null, map50_95?: number | null, accuracy?: number | null,
 *   top3?: number | null, top5?: number | null, macro_f1?: number | null, ece?: number | null,
 *   interval?: number[] | null, intervals?: Record<string, number[] | null>,
 *   per_class?: Record<string, ClassFigures>, curves?: Record<string, CurvePoints>, confusion?: Confusion,
 *   reliability?: ReliabilityPart[], sizes?: Record<string, SizeFigures>}} Evaluation
 * @typedef {{worth: RuntimeWorth[], int8: string, model_id: number | null}} Expectation
 * @typedef {{format: string, images?: readonly number[] | null, states?: readonly string[],
 *   splits?: readonly string[], filter?: string, shares?: readonly number[], seed?: number}} ExportForm
 * @typedef {{name: string, title: string, defaults: Record<string, any>, knobs: Knob[], variants: string[],
 *   needs_golden: boolean, behind: boolean}} FamilyCard
 * @typedef {{difference: number | null, interval: number[] | null, better: boolean | null}}
 *   FigureDifference
 * @typedef {{escapes: number, images: number, defects: number, first: number | null, both: number | null}}
 *   Filtered
 * @typedef {{images: number, known: number, run_id: number | null, pace: Pace | null}} Foreseen
 * @typedef {{family: string, parameters?: Record<string, number | number | string>,
 *   knobs?: Record<string, number | number | string>}} GlimpseForm
 * @typedef {{id: number, sha256: string, lie: number[]}} GoldenCard
 * @typedef {{columns: number, rows: number}} Grid
 * @typedef {{on: boolean}} Grow
 * @typedef {{held: number}} HeldImages
 * @typedef {{revisions: Revision[], more: boolean}} History
 * @typedef {{holder: string}} Holder
 * @typedef {{rows: number}} HurriedRows
 * @typedef {{id: number, name: string, sha256: string, width: number, height: number, state: State,
 *   split: Split | null, group: string, version: number, label: string, comment: string, author: string,
 *   golden: GoldenCard | null, boxes: Box[]}} ImageCard
 * @typedef {{images?: readonly number[] | null, states?: readonly string[] | null, splits?: readonly
 *   string[] | null, groups?: readonly string[] | null}} ImageChoice
 * @typedef {{state?: Record<string, number>, split?: Record<string, number>,
 *   group?: Record<string, number>, author?: Record<string, number>, class?: Record<string, number>,
 *   golden?: Record<string, number>, proposals?: Record<string, number>}} ImageCounts
 * @typedef {{image: string, image_id: number, gained: number, lost: number, false_calls: number}}
 *   ImageDifference
 * @typedef {{total: number, items: ImageCard[]}} ImagePage
 * @typedef {{total: number, position: number, image: number, items: DeskImage[], project: Project,
 *   me: Person}} ImagesAround
 * @typedef {{items: DeskImage[]}} ImagesOfRun
 * @typedef {{token?: string, path?: string, format?: string, masks?: string, lot?: string}} ImportForm
 * @typedef {{epochs?: number, key?: string}} InFull
 * @typedef {{ended: number, axes: Axis[], lines: TrialLine[]}} Insight
 * @typedef {{id: number, kind: string, title: string, project: number | null, state: JobState,
 *   attempt: number, author: string, at: string, progress: number, message: string, error: string,
 *   result: Record<string, any>, started: string | null, finished: string | null, worker: string,
 *   wish: Wish | null, position: number, waits: number | null, needs: number | null,
 *   behind: number | null}} JobCard
 * @typedef {{queued: number, running: number, paused: number}} JobCounts
 * @typedef {{seq: number, at: string, level: string, text: string, data: Record<string, any>}} JobEvent
 * @typedef {{open: JobCard[], done: JobCard[], kinds: Record<string, string>, authors: string[],
 *   projects: Record<string, string>}} JobList
 * @typedef {"queued" | "running" | "paused" | "done" | "failed" | "cancelled"} JobState
 * @typedef {{token: string, model?: string, split?: string, iou?: number}} JudgeForm
 * @typedef {{pairs: number, agreed: number, kappa: number | null}} Kappa
 * @typedef {{name: string, least: number, most: number, whole: boolean, words: string[]}} Knob
 * @typedef {{work: string, processes: number, nodes: number, name: string, turns: number, device: string,
 *   cores: number, batch: number, batch_each: number, startup: number | null, rate: number | null,
 *   slowest: number | null, quickest: number | null, speedup: number | null, efficiency: number | null,
 *   loss: number | null, figure: string, value: number | null, interval: number[] | null,
 *   difference: number | null, difference_interval: number[] | null, equal: boolean | null,
 *   cost: number | null, error: string}} Line
 * @typedef {{what: string, text: string, facts: Record<string, any>}} Link
 * @typedef {{text: string}} LogTail
 * @typedef {{id: string, began: string, seen: string, address: string, browser: string, here: boolean}}
 *   LoginCard
 * @typedef {{trials?: number, hours?: number}} Longer
 * @typedef {{group: string, label: string, defects: number, boards: number}} LotClass
 * @typedef {{jobs: string, models: string, labels: string, projects: string}} Marks
 * @typedef {{name: string, role: Role, accounts: boolean}} Me
 * @typedef {{split?: string, iou?: number, against?: string}} Measured
 * @typedef {{members: string[] | null}} Members
 * @typedef {{into: number}} Merge
 * @typedef {{split?: string, iou?: number, images?: number, truths?: number, score?: number,
 *   map?: number | null, map50?: number | null, map50_95?: number | null, accuracy?: number | null,
 *   top3?: number | null, top5?: number | null, macro_f1?: number | null, ece?: number | null,
 *   interval?: number[] | null, intervals?: Record<string, number[] | null>,
 *   per_class?: Record<string, ClassFigures>}} Metrics
 * @typedef {{run: number, image: number, name: string, sha256: string, label: string, said: string,
 *   score: number}} Mistake
 * @typedef {{images: number, right: number, escapes: number, false_calls: number, at_most: number | null}}
 *   Mistaken
 * @typedef {{id: number, name: string, family: string, state: ModelState, classes: string[],
 *   champion: boolean, at: string, snapshot: number | null, parent: number | null, job: number | null,
 *   parameters: Record<string, any>, metrics: Metrics}} ModelCard
 * @typedef {{id: number, name: string, family: string, state: ModelState, classes: string[],
 *   champion: boolean, at: string, snapshot: number | null, parent: number | null, job: number | null,
 *   parameters: Record<string, any>, metrics: Metrics, weights: string, author: string,
 *   evaluation: Evaluation, against: Against, provenance: Record<string, any>, runtimes: RuntimeWorth[],
 *   verdict: string, offered: boolean, reigned: boolean}} ModelDetails
 * @typedef {"training" | "ready" | "failed" | "cancelled"} ModelState
 * @typedef {{run: number, model: string, at: string}} NamedRun
 * @typedef {{name: string, of: Yield}} NamedYield
 * @typedef {{name: string, role: Role, password: string}} NewAccount
 * @typedef {{name: string}} NewClass
 * @typedef {{old: string, new: string}} NewPassword
 * @typedef {{name: string, task?: Task, classes?: readonly string[]}} NewProject
 * @typedef {{name: string, images: number}} NewestLot
 * @typedef {{id: number}} NextImage
 * @typedef {{cores: number, gpus: number, memory_gb: number, name: string, kind: string, free: Amounts,
 *   jobs: Record<string, number>, others: number}} Node
 * @typedef {{confidence?: number | null, runtime?: string | null, precision?: string | null,
 *   again?: boolean | null, device?: string | null, workers?: number | null, memory_gb?: number | null}}
 *   Options
 * @typedef {{classes: readonly number[]}} Order
 * @typedef {"human" | "model" | "import" | "golden"} Origin
 * @typedef {{project: string, task: string, run: number, left: number, groups: string[], days: string[],
 *   boards: Yield, by_group: NamedYield[], by_day: NamedYield[], classes: StandingClass[],
 *   cells: LotClass[], scores: ScoreBin[], places: Spot[], grid: Grid, mistaken: Mistaken,
 *   runs: NamedRun[], trend: RunYield[], models: RunWorth[], states: Record<string, number>,
 *   columns: Record<string, string[]>}} Overview
 * @typedef {{run_id: number, runtime: string, images_per_second: number}} Pace
 * @typedef {{boxes: Box[], state: State, label: string, run: number | null, rejected: number[],
 *   accepted: number[], verdict: "" | "pass" | "fail"}} PastSheet
 * @typedef {{image: number, past: PastSheet[]}} PastSheets
 * @typedef {{name: string, role: Role}} Person
 * @typedef {{images: number, interval: number[] | null}} PictureCount
 * @typedef {{source?: ImageChoice, key?: string}} Places
 * @typedef {{epoch: number, value: number}} Point
 * @typedef {{problems: string[], warnings: string[], images: Record<string, number>,
 *   boxes: Record<string, Record<string, number>>, seconds: number | null, notes: string[]}} Preflight
 * @typedef {{name: string, host: string, pid: number, started: string, seen: string, sees: Sight}} Presence
 * @typedef {{id: number, name: string, task: Task, classes: Class[]}} Project
 * @typedef {{id: number, name: string, task: Task, classes: Class[], images: number, goldens: number,
 *   labelled: number, boxes: Record<string, number>, covers: Cover[]}} ProjectCard
 * @typedef {{words: string, put_away: number}} ProjectRemains
 * @typedef {{x1: number, y1: number, x2: number, y2: number, label: string, score: number, idx: number,
 *   class_id: number | null, run: number}} Proposal
 * @typedef {{runtime?: string}} Published
 * @typedef {{begin: number, images: number, confidence: number, accuracy: number}} ReliabilityPart
 * @typedef {{name: string}} Removal
 * @typedef {{version: number, revision: number}} Restore
 * @typedef {{version: number, author: string, threshold: number, thresholds: Record<string, number>,
 *   severity: number, repeats: number}} ReviewRule
 * @typedef {{id: number, model: string, family: string, author: string, at: string,
 *   finished: string | null, seconds: number, images: number, detections: number,
 *   classes: Record<string, number>, reviewed: number}} ReviewedRun
 * @typedef {{image_id: number, version: number, author: string, at: string, action: string, state: State,
 *   boxes: Box[], label: string, comment: string, key: string}} Revision
 * @typedef {"viewer" | "labeler" | "admin"} Role
 * @typedef {{version?: number, threshold?: number, thresholds?: Record<string, number>, severity?: number,
 *   repeats?: number}} RuleForm
 * @typedef {{pass: number, fail: number, ask?: number}} RuledBoards
 * @typedef {{id: number, model: string, family: string, runtime: string, purpose: string, author: string,
 *   at: string, finished: string | null, seconds: number, source: Record<string, any>,
 *   facts: Record<string, any>, images: number, detections: number, failed: number}} RunCard
 * @typedef {{images: number, right: number, false_calls: number, escapes: number, agreement: Agreement,
 *   ruled: RuledBoards, filtered: Filtered | null}} RunFigures
 * @typedef {{model: string, figure: string, value: number, champion: boolean}} RunWorth
 * @typedef {{run: number, model: string, at: string, of: Yield}} RunYield
 * @typedef {{runtime?: string, precision?: string, map50?: number | null, map50_95?: number | null,
 *   accuracy?: number | null, ece?: number | null, images_per_second?: number, refused?: string}}
 *   RuntimeWorth
 * @typedef {{version: number, boxes: readonly Box[], state?: State | null, label?: string | null,
 *   comment?: string | null, action?: string, run?: number | null, rejected?: readonly number[] | null,
 *   accepted?: readonly number[] | null, review?: boolean, verdict?: "" | "pass" | "fail",
 *   seconds?: number, key?: string}} Save
 * @typedef {{version: number}} Saved
 * @typedef {{low: number, high: number, detections: number, boards: number}} ScoreBin
 * @typedef {{key?: string}} Search
 * @typedef {{id: number, family: string, state: JobState, at: string, job: number | null, method: string,
 *   space: string, trials: number, hours: number, seconds: number, epochs: number, stopping: boolean,
 *   figure: string, counts: Record<string, number>, best: number | null, model: string, verdict: string}}
 *   SearchCard
 * @typedef {{spaces: Record<string, string>, searches: SearchCard[]}} SearchChoice
 * @typedef {{id: number, family: string, state: JobState, at: string, job: number | null, method: string,
 *   space: string, trials: number, hours: number, seconds: number, epochs: number, stopping: boolean,
 *   figure: string, counts: Record<string, number>, best: number | null, model: string, verdict: string,
 *   leaders: TrialCard[], under_way: TrialCard[], trouble: TrialCard | null, rise: Step[]}} SearchDetails
 * @typedef {{family: string, trials?: number, hours?: number, method?: string, space?: string,
 *   start?: string, parameters?: Record<string, number | number | string>,
 *   knobs?: Record<string, number | number | string>, seed?: number | null, key?: string}} SearchForm
 * @typedef {{x1: number, y1: number, x2: number, y2: number, label: string}} SeenBox
 * @typedef {{picture: string, width: number, height: number, boxes: SeenBox[], label: string}} SeenPicture
 * @typedef {{state?: string, address?: string, cards?: boolean, temp_mb?: number, jobs?: number[],
 *   nodes?: Node[], free?: Amounts}} Sight
 * @typedef {{truths: number, map: number | null, map50: number | null, map50_95: number | null}}
 *   SizeFigures
 * @typedef {{state: Record<string, number>, split: Record<string, number>, golden: Record<string, number>}}
 *   SourceCounts
 * @typedef {"train" | "val" | "test"} Split
 * @typedef {{cell: number, column: number, row: number, defects: number, boards: number}} Spot
 * @typedef {{name: string, color: string, defects: number, boards: number, so_far: number, right: number,
 *   escapes: number, false_calls: number, at_most: number | null}} StandingClass
 * @typedef {"new" | "started" | "done" | "skipped"} State
 * @typedef {{number: number, value: number, seconds: number}} Step
 * @typedef {{key?: string, items: readonly WallVerdict[]}} Sweep
 * @typedef {{score?: number, image?: number}} SweepPlace
 * @typedef {{tiles: WallTile[], others: number, left: number | null, classes: Record<string, number>}}
 *   SweepScreen
 * @typedef {{holder: string, label: string, after?: SweepPlace | null, count?: number}} SweepWish
 * @typedef {{image: number, version: number | null, error: string | null}} SweptImage
 * @typedef {{answers: SweptImage[]}} SweptImages
 * @typedef {{holder: string, after?: number, wanted?: number, count?: number}} Take
 * @typedef {{items: DeskImage[], total: number, open: number, others: number, held_by: string,
 *   running: boolean, rule: ReviewRule, project: Project, me: Person}} TakenImages
 * @typedef {"detect" | "classify"} Task
 * @typedef {{wish: string}} Tiles
 * @typedef {{families: FamilyCard[], models: ModelCard[], jobs: JobCard[], grows: boolean,
 *   goldens: boolean}} TrainingChoice
 * @typedef {{family: string, start?: string, parameters?: Record<string, number | number | string>,
 *   knobs?: Record<string, number | number | string>, seed?: number | null, key?: string}} TrainingForm
 * @typedef {{number: number, state: TrialState, parameters: Record<string, number>, words: string,
 *   epochs: number, value: number | null, device: string, seconds: number, error: string}} TrialCard
 * @typedef {{number: number, curve: Point[]}} TrialCurve
 * @typedef {{number: number, value: number, places: number[]}} TrialLine
 * @typedef {"running" | "done" | "stopped" | "failed"} TrialState
 * @typedef {{x1: number, y1: number, x2: number, y2: number, label: string, score: number}} TriedBox
 * @typedef {{job: JobCard, width: number, height: number}} TriedPicture
 * @typedef {{action: string, value: string, images: number[]}} UndoStep
 * @typedef {{name: string, error: string}} UnreadPicture
 * @typedef {{name: string, bytes: number}} UploadedFile
 * @typedef {{boxes: number, images: number, put_away: number}} Uses
 * @typedef {{total: number, classes: Record<string, number>, tiles: WallTile[]}} WallPage
 * @typedef {{x1: number, y1: number, x2: number, y2: number, label: string, score: number, idx: number,
 *   class_id: number | null, run: number, image: number, sha256: string, width: number, height: number,
 *   verdict: string}} WallTile
 * @typedef {{image: number, idx: number, verdict: "accept" | "false_call" | "", label?: string,
 *   saw?: "accept" | "correct" | "false_call" | "" | null}} WallVerdict
 * @typedef {{told: string[], waiting: number, failing: boolean}} WarehouseCard
 * @typedef {"cancel" | "pause"} Wish
 * @typedef {{passed: number, failed: number, asked: number, said: number, boards: number,
 *   share: number | null, low: number | null, high: number | null}} Yield
 */

export {};
