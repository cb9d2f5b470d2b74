// Requests to the server, or to the data that `ammi report` put into the page. No other module asks for data.
import { answer } from "./embedded.js";

const TOKEN = "ammi-token"; // of the storage of this tab, and of the channel between tabs
const OTHER_TABS = 1000; // milliseconds that other tabs have to answer
const TRIES = 3; // of a request that a busy server refuses
const embedded = document.getElementById("ammi-data");
const data = embedded ? JSON.parse(embedded.textContent) : null;

export const isReport = data !== null;

/** An error with a sentence that says what to do; `status` is 0 if the server cannot be reached. */
export class Problem extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

/** GET an answer; lists in `params` are repeated, null and "" left out. */
export async function get(path, params = {}, signal = undefined) {
  if (data) return answer(data, path, params, null);
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(params)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== null && one !== undefined && one !== "") query.append(key, one);
    }
  }
  return asked(query.size ? `${path}?${query}` : path, {}, signal);
}

/** POST JSON and return the answer; the path may have a query. */
export async function post(path, body, signal = undefined) {
  const [bare, query = ""] = path.split("?");
  if (data) return answer(data, bare, Object.fromEntries(new URLSearchParams(query)), body);
  const json = { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } };
  return asked(path, json, signal);
}

export const hasToken = () => sessionStorage.getItem(TOKEN) !== null;

export function keepToken(token) {
  sessionStorage.setItem(TOKEN, token);
}

// A new tab gets the token from another tab of this page, if one is open: it is never on the disk, and no other origin
// hears it, unlike a cookie, which all ports of a host share.
const tabs = data ? null : new BroadcastChannel(TOKEN);
let answered = null;
tabs?.addEventListener("message", (event) => {
  if (event.data === null && hasToken()) tabs.postMessage(sessionStorage.getItem(TOKEN));
  else if (typeof event.data === "string") answered?.(event.data);
});

/** Take the token of another tab; return whether there is one. */
async function takeOver(signal) {
  const found = new Promise((resolve) => (answered = resolve));
  tabs.postMessage(null);
  const token = await Promise.race([found, pause(OTHER_TABS, signal)]);
  answered = null;
  if (token) keepToken(token);
  return Boolean(token);
}

/** Return the file at a path. */
export async function file(path, signal) {
  const response = await reached(path, { headers: { Authorization: `Bearer ${sessionStorage.getItem(TOKEN)}` }, signal });
  if (response.ok) return response.blob();
  const body = await response.json().catch(() => null);
  throw new Problem(body?.error ?? `The server answered with the status ${response.status}.`, response.status);
}

/** Send a request and return the status and the text of its answer, whatever the status. */
export async function ask(path, options, signal) {
  const first = await sent(path, options, signal);
  return first.status === 401 && !hasToken() && (await takeOver(signal)) ? sent(path, options, signal) : first;
}

async function sent(path, options, signal) {
  const token = sessionStorage.getItem(TOKEN);
  const headers = { ...options.headers, ...(token ? { Authorization: `Bearer ${token}` } : {}) };
  for (let tries = 1; ; tries++) {
    const response = await reached(path, { ...options, headers, signal });
    if (response.status !== 503 || tries === TRIES) return { status: response.status, text: await response.text() };
    await pause(1000 * Number(response.headers.get("Retry-After") ?? 1), signal);
  }
}

async function asked(path, options, signal) {
  const { status, text } = await ask(path, options, signal);
  let body = null;
  try {
    body = JSON.parse(text);
  } catch {
    // it is no server of ammi
  }
  if (status < 400 && body !== null) return body;
  throw new Problem(body?.error ?? `The server answered with the status ${status}.`, status);
}

async function reached(path, options) {
  try {
    return await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem("The server does not answer: check that ammi serve is still running, and try again.", 0);
  }
}

/** Wait, unless the signal ends it. */
export function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(new DOMException("no longer asked for", "AbortError"));
    });
  });
}
