/** What the form of a detection offers, in words. */

import { share } from "../../common/words.js";

/** Which images may be looked at. */
export const SOURCES = [
  ["all", "All images"],
  ["new", "New images"],
  ["undone", "Images that are not done"],
  ["test", "Test split"],
  ["val", "Validation split"],
  ["train", "Training split"],
];
/** What is asked for by each of them. @type {Record<string, import("../../common/answers.js").ImageChoice>} */
export const ASKS = {
  all: {},
  new: { states: ["new"] },
  undone: { states: ["new", "started"] },
  test: { splits: ["test"] },
  val: { splits: ["val"] },
  train: { splits: ["train"] },
};

/**
 * How a family may be run on processors, before a benchmark says what else there is.
 * @type {Record<string, string[]>}
 */
export const WAYS = {
  yolo: ["openvino bf16", "openvino int8", "openvino f32"],
  classifier: ["openvino bf16", "openvino f32"],
};
/** @type {Record<string, string>} */
const TITLES = {
  openvino: "OpenVINO",
  onnxruntime: "ONNX Runtime",
  torch: "PyTorch",
  native: "The family's own code",
};

/** How large pictures are looked at. */
export const TILES = [["auto", "In tiles where things would be too small to see"], ["off", "Always whole"], [
  "on",
  "Always in tiles",
]];

/** A runtime and a precision in words. @param {string} way */
export function named(way) {
  const [runtime, precision] = way.split(" ");
  return `${TITLES[runtime] ?? runtime} ${precision}${precision === "int8" ? ", faster" : ""}`;
}

/**
 * What each way was measured to be worth, in words behind its name.
 * @param {import("../../common/answers.js").RuntimeWorth[]} found @param {boolean} whole whether pictures have one class
 */
export function worths(found, whole) {
  /** @type {[string, string][]} */
  const told = found.map((one) => [
    `${one.runtime} ${one.precision}`,
    whole ? `, accuracy ${share(one.accuracy)}` : `, mAP@.5 ${share(one.map50)}`,
  ]);
  return new Map(told);
}
