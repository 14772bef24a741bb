/** Which model a person is offered first: one that was measured to find something. */

/** @typedef {import("../../common/answers.js").ModelCard} Model */

/** Below this nothing is found that one could work with. */
const NOTHING = 0.05;

/** What was measured of a model. @param {Model | undefined} model */
export function worth(model) {
  return model?.metrics.map50 ?? model?.metrics.accuracy;
}

/** Whether a model was measured and finds next to nothing. @param {Model} model */
export function worthless(model) {
  const found = worth(model) ?? NaN;
  return Number.isFinite(found) && found < NOTHING;
}

/**
 * The name of what to detect with: the champion, else the best of the others; the golden board where
 * there are goldens and no model is worth it; "" where nothing is.
 * @param {Model[]} models @param {boolean} goldens
 */
export function best(models, goldens) {
  const some = models.filter((one) => one.state === "ready" && !worthless(one)).sort((a, b) =>
    (worth(b) ?? 0) - (worth(a) ?? 0)
  );
  const chosen = some.find((one) => one.champion) ?? some[0];
  return chosen?.name ?? (goldens ? "golden" : "");
}
