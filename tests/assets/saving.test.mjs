/** What is on its way to the server: sent once, in order, and never lost. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import test, { after, before } from "node:test";
import "./browser.mjs";

const { Saver } = await import("../../assets/outbox/saving.js");

/** @type {(request: {method: string, path: string, body: any}, answer: import("node:http").ServerResponse) => void} */
let serve = () => {};
const heard = [];
const server = createServer(async (request, answer) => {
  let text = "";
  for await (const part of request) text += part;
  const told = { method: request.method, path: request.url, body: JSON.parse(text) };
  heard.push(told);
  serve(told, answer);
});
const { fetch } = globalThis;

before(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const base = `http://127.0.0.1:${server.address().port}`;
  globalThis.fetch = (path, options) => fetch(new URL(path, base), options);
});
after(() => {
  server.closeAllConnections();
  server.close();
});

const say = (answer, status, body, head = {}) => {
  answer.writeHead(status, { "Content-Type": "application/json", ...head }).end(JSON.stringify(body));
};
/** Each save is the next version of its image. */
const agrees = ({ body }, answer) =>
  say(answer, 200, { version: body.version + 1 }, { ETag: `"${body.version + 1}"` });

const ITEM = { id: 5, name: "board.png", version: 3 };
const sheet = (comment) => ({
  boxes: [],
  state: "started",
  label: "",
  comment,
  run: null,
  rejected: [],
  accepted: [],
  verdict: "",
});
const stored = (page) => Object.keys(localStorage).filter((key) => key.startsWith(`loupe:unsaved:${page}:`));
/** The next time that a saver fires this. */
const fired = (saver, name) =>
  new Promise((done) => saver.addEventListener(name, (event) => done(event.detail), { once: true }));
/** When a saver stands so. */
const stands = async (saver, kind) => {
  while (saver.status.kind !== kind) await fired(saver, "status");
};

/** A page whose saver has looked for what was left, and a server that has heard nothing of it. */
async function opened(page, answers = agrees) {
  serve = answers;
  heard.length = 0;
  const saver = new Saver(page);
  await saver.ready;
  return saver;
}

test("a change is kept here until the server has it", async () => {
  let kept = 0;
  const saver = await opened("kept", (told, answer) => {
    kept = stored("kept").length;
    agrees(told, answer);
  });
  saver.push(ITEM, sheet("one"), "comment");
  assert.deepEqual(await fired(saver, "saved"), { image: 5, version: 4, sheet: sheet("one") });
  assert.equal(kept, 1);
  assert.deepEqual(stored("kept"), []);
  const [{ method, path, body }] = heard;
  assert.deepEqual([method, path, body.version, body.action, body.comment], [
    "PUT",
    "/api/images/5/boxes",
    3,
    "comment",
    "one",
  ]);
});

test("what changes while a save is under way goes after it, over its version", async () => {
  let again = () => {};
  const saver = await opened("after", (told, answer) => {
    if (heard.length === 1) again();
    agrees(told, answer);
  });
  again = () => saver.push(ITEM, sheet("two"), "comment");
  saver.push(ITEM, sheet("one"), "comment");
  await stands(saver, "saving");
  await stands(saver, "saved");
  assert.deepEqual(heard.map(({ body }) => [body.version, body.comment]), [[3, "one"], [4, "two"]]);
  assert.notEqual(heard[0].body.key, heard[1].body.key);
});

test("where the server is away it is kept, said, and sent again under its own key", async () => {
  const saver = await opened("away", (_, answer) => answer.destroy());
  saver.push(ITEM, sheet("one"), "comment");
  await stands(saver, "offline");
  assert.equal(saver.status.words, "No connection: 1 image kept here");
  assert.equal(stored("away").length, 1);
  const [{ body: { key } }] = heard;
  serve = agrees;
  saver.retry();
  await stands(saver, "saved");
  assert.deepEqual(new Set(heard.map(({ body }) => body.key)), new Set([key]));
});

test("a save whose answer was lost is ours, not a conflict", async () => {
  const saver = await opened("lost", (_, answer) => answer.destroy());
  saver.push(ITEM, sheet("one"), "comment");
  await stands(saver, "offline");
  const theirs = { ...sheet("one"), version: 4, key: heard[0].body.key, author: "me" };
  serve = (_, answer) => say(answer, 409, { error: "Somebody was faster.", theirs });
  const landed = fired(saver, "saved");
  saver.push(ITEM, sheet("two"), "comment");
  saver.retry();
  assert.deepEqual(await landed, { image: 5, version: 4, sheet: sheet("one") });
  serve = agrees;
  await stands(saver, "saved");
  assert.deepEqual([heard.at(-1).body.version, heard.at(-1).body.comment], [4, "two"]);
});

test("another person's change is shown, and what is chosen is saved over it", async () => {
  const theirs = { ...sheet("theirs"), version: 9, key: "another", author: "Kim" };
  const saver = await opened(
    "conflict",
    (_, answer) => say(answer, 409, { error: "Kim was faster.", theirs }),
  );
  saver.push(ITEM, sheet("mine"), "comment");
  const { entry, theirs: shown } = await fired(saver, "conflict");
  assert.equal(shown.comment, "theirs");
  assert.equal(saver.status.kind, "failed");
  serve = agrees;
  saver.overwrite(entry, 9, sheet("both"));
  await stands(saver, "saved");
  const { version, comment, action } = heard.at(-1).body;
  assert.deepEqual([version, comment, action], [9, "both", "merge"]);
});

test("an image that has been deleted is said once, and not sent for ever", async () => {
  const saver = await opened("deleted", (_, answer) => say(answer, 404, { error: "There is no image 5." }));
  saver.push(ITEM, sheet("one"), "comment");
  const { entry, message } = await fired(saver, "lost");
  assert.deepEqual([entry.name, message], ["board.png", "There is no image 5."]);
  assert.deepEqual(stored("deleted"), []);
  assert.equal(saver.status.kind, "saved");
});

test("what is refused waits for a person, and goes when it has changed", async () => {
  const saver = await opened("refused", (_, answer) => say(answer, 400, { error: "A box is outside." }));
  saver.push(ITEM, sheet("one"), "comment");
  await stands(saver, "failed");
  assert.equal(saver.status.words, "Not saved: A box is outside.");
  serve = agrees;
  saver.push(ITEM, sheet("two"), "comment");
  await stands(saver, "saved");
});

test("what was left before a reload is sent by the page after it", async () => {
  const first = await opened("reload", (_, answer) => answer.destroy());
  first.push(ITEM, sheet("one"), "comment");
  await stands(first, "offline");
  clearTimeout(first.timer); // that page is gone
  const second = await opened("reload");
  await stands(second, "saved");
  assert.deepEqual(heard.map(({ body }) => body.comment), ["one"]);
  assert.deepEqual(stored("reload"), []);
});

test("a sweep goes in parts, and each image has its answer", async () => {
  const saver = await opened(
    "sweep",
    ({ body }, answer) =>
      say(answer, 200, { answers: body.items.map(({ image }) => ({ image, version: 2 })) }),
  );
  const items = Array.from({ length: 900 }, (_, image) => ({ image, idx: 0, verdict: "accept", before: "" }));
  let told = 0;
  saver.addEventListener("swept", (event) => (told += event.detail.answers.length));
  saver.sweep(8, items);
  assert.equal(saver.sweeping(8).length, 900);
  await stands(saver, "saved");
  assert.deepEqual(heard.map(({ path, body }) => [path, body.items.length]), [
    ["/api/runs/8/decide", 400],
    ["/api/runs/8/decide", 400],
    ["/api/runs/8/decide", 100],
  ]);
  assert.equal(told, 900);
});

test("a blind repeat is kept beside the labels", async () => {
  const saver = await opened("repeat");
  saver.push({ ...ITEM, id: -5 }, { ...sheet("again"), run: 8 }, "reviewed");
  await stands(saver, "saving");
  await stands(saver, "saved");
  assert.equal(heard[0].path, "/api/runs/8/repeats/5");
});
