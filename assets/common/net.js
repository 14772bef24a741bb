/** Calls to our own routes: JSON in and out, the CSRF header on writes, errors as sentences. */

/** A request that was refused or did not arrive; `message` is a sentence to show. */
export class Failure extends Error {
  /** @param {string} message @param {number} status 0: no answer @param {any} body */
  constructor(message, status, body = {}) {
    super(message);
    this.status = status;
    this.body = body;
  }
}

/** @param {string} path @param {{signal?: AbortSignal}} [options] */
export async function get(path, options = {}) {
  return read(await call("GET", path, undefined, options));
}

/**
 * @param {"POST"|"PUT"|"PATCH"|"DELETE"} method
 * @param {string} path
 * @param {any} [body] sent as JSON, or as it is when it is FormData or a Blob
 * @param {{signal?: AbortSignal, keepalive?: boolean}} [options]
 */
export async function send(method, path, body, options = {}) {
  return read(await call(method, path, body, options));
}

/**
 * Put a new version in place of the one that was seen; its number stands in the head of the
 * answer, so nobody waits for the rest.
 * @param {string} path @param {any} body @param {{keepalive?: boolean}} options @returns {Promise<number>}
 */
export async function put(path, body, options) {
  const answer = await call("PUT", path, body, options);
  const tag = answer.headers.get("ETag");
  return tag ? Number(tag.replaceAll('"', "")) : (await read(answer)).version;
}

/**
 * Send one file as it is; `told` hears the share that has gone.
 * @param {string} path @param {Blob} file @param {(share: number) => void} told
 * @returns {Promise<any>}
 */
export function upload(path, file, told) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("PUT", path);
    request.setRequestHeader("X-Loupe", "1");
    request.responseType = "json";
    request.upload.addEventListener("progress", (event) => told(event.loaded / event.total));
    request.addEventListener(
      "error",
      () => reject(new Failure("The server does not answer. Is it still running?", 0)),
    );
    request.addEventListener("load", () => {
      if (request.status < 300) resolve(request.response);
      else {reject(
          new Failure(request.response?.error || `The server answered ${request.status}.`, request.status),
        );}
    });
    request.send(file);
  });
}

/** A name that nobody else will choose; works without HTTPS, where randomUUID does not. */
export function token() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}

/** @param {string} method @param {string} path @param {any} body @param {RequestInit} [options] */
async function call(method, path, body, options) {
  const raw = body instanceof FormData || body instanceof Blob;
  /** @type {Record<string, string>} */
  const headers = { Accept: "application/json" };
  if (method !== "GET") headers["X-Loupe"] = "1";
  if (body !== undefined && !raw) headers["Content-Type"] = "application/json";
  let answer;
  try {
    answer = await fetch(path, {
      method,
      headers,
      body: body === undefined || raw ? body : JSON.stringify(body),
      ...options,
    });
  } catch (error) {
    if (error instanceof Error && error.name === "AbortError") throw error;
    throw new Failure("The server does not answer. Is it still running?", 0);
  }
  return answer.ok ? answer : refuse(answer);
}

/** @param {Response} answer @returns {Promise<any>} */
async function read(answer) {
  return answer.status === 204 ? null : answer.json();
}

/** @param {Response} answer @returns {Promise<never>} */
async function refuse(answer) {
  const body = await answer.json().catch(() => ({}));
  if (answer.status === 401) location.assign(`/login?next=${encodeURIComponent(location.href)}`);
  throw new Failure(body.error || `The server answered ${answer.status}.`, answer.status, body);
}
