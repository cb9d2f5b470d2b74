// Requests to the server, or to the data that `ammi report` put into the page. No other module asks for data.
import { answer } from "./embedded.js";

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
  return ask(query.size ? `${path}?${query}` : path, {}, signal);
}

/** POST JSON and return the answer; the path may have a query. */
export async function post(path, body, signal = undefined) {
  const [bare, query = ""] = path.split("?");
  if (data) return answer(data, bare, Object.fromEntries(new URLSearchParams(query)), body);
  const json = { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } };
  return ask(path, json, signal);
}

export const hasToken = () => sessionStorage.getItem("ammi-token") !== null;

export function keepToken(token) {
  sessionStorage.setItem("ammi-token", token);
}

async function ask(path, options, signal) {
  const token = sessionStorage.getItem("ammi-token");
  const headers = { ...options.headers, ...(token ? { Authorization: `Bearer ${token}` } : {}) };
  for (let tries = 1; ; tries++) {
    const response = await reached(path, { ...options, headers, signal });
    const body = await response.json().catch(() => null);
    if (response.ok && body !== null) return body;
    if (response.status === 503 && tries < TRIES) {
      await pause(1000 * Number(response.headers.get("Retry-After") ?? 1), signal);
      continue;
    }
    throw new Problem(body?.error ?? `The server answered with the status ${response.status}.`, response.status);
  }
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
