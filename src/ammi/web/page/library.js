// A cache of documents, so that a breadcrumb or the map can name one without a request.
import { get, post } from "./source.js";
import { titleOf } from "./words.js";

const MOST = 2000;
const LENGTH = 300; // characters of a text, enough for a title and a snippet
const FIELDS = "text,metadata,code";
const seen = new Map(); // id as a string: document

/** Cache documents, and return them. */
export function remember(documents) {
  for (const one of documents) {
    seen.delete(String(one.id));
    seen.set(String(one.id), { ...one, text: one.text?.slice(0, LENGTH) ?? null, why: null });
  }
  while (seen.size > MOST) seen.delete(seen.keys().next().value);
  return documents;
}

/** Empty the cache: another collection is served. */
export function forget() {
  seen.clear();
}

/** Return the beginning of a document, from the cache if possible. */
export async function glimpse(id, signal) {
  return (await glimpses([id], signal))[0];
}

/** Return the beginnings of documents, in the order of their ids, without deleted ones. */
export async function glimpses(ids, signal) {
  const missing = ids.filter((id) => !seen.has(String(id)));
  if (missing.length) {
    const beginning = { length: LENGTH, fields: FIELDS };
    const one = async (id) => remember([await get(`/api/documents/${encodeURIComponent(id)}`, beginning, signal)]);
    try {
      if (missing.length === 1) await one(missing[0]);
      else remember((await post(`/api/get?length=${LENGTH}&fields=${FIELDS}`, { ids: missing }, signal)).documents);
    } catch (error) {
      if (error.status !== 404) throw error;
      if (missing.length > 1) await Promise.all(missing.map((id) => one(id).catch(() => null)));
    }
  }
  return ids.map((id) => seen.get(String(id))).filter((document) => document !== undefined);
}

export async function titleFor(id, signal) {
  const document = await glimpse(id, signal);
  return document ? titleOf(document) : `Document ${id}`;
}
