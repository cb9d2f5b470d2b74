// The answers of the server, computed here from the sample that `ammi report` put into the page.
import { facetsIn, sorted } from "./counts.js";
import { inside, pointsOf } from "./pick.js";
import { partsWith, wordsOf } from "./tokenizer.js";

const SHOWN = 10; // hits, by default
const [PASSAGE, LEAD] = [240, 40]; // characters of a passage, and of those before its first word of the query

/** Answer a request in place of the server; throw an error with a status if there is no answer. */
export function answer(data, path, params, body) {
  const parts = path.split("/").slice(2).map(decodeURIComponent); // after /api
  const how = { ...params, ...body };
  const known = {
    collection: () => ({ ...data.collection, whole: data.whole }),
    search: () => search(data, how),
    documents: () => ofDocument(data, parts, how),
    drift: () => problem("A report has no model that could read a text: start from a document.", 422),
    map: () => ofMap(data, parts[1], how),
    topics: () => data.topics.find((one) => one.topics.length >= how.n) ?? data.topics.at(-1),
    facets: () => facets(data, how),
    table: () => table(data, how),
    bits: () => (parts.length > 1 ? bit(data, parts[1]) : data.bits),
    get: () => ({ documents: how.ids.map((id) => cut(find(data, id), how)) }),
  }[parts[0]];
  return known ? known() : problem("A report cannot do that: open the collection with ammi serve.", 404);
}

function problem(message, status) {
  throw Object.assign(new Error(message), { status });
}

function find(data, id) {
  data.byId ??= new Map(data.documents.map((one) => [String(one.id), one]));
  return data.byId.get(String(id)) ?? problem(`The document ${id} is not in the sample of this report.`, 404);
}

function bit(data, number) {
  return data.bit[number] ?? problem(`There is no bit ${number}.`, 404);
}

function cut(document, how) {
  const length = how.length === undefined || how.length === null ? Infinity : Number(how.length);
  const text = document.text === null ? null : document.text.slice(0, length);
  return { ...document, text };
}

function bytes(code) {
  return Uint8Array.from(code.match(/../g) ?? [], (digits) => parseInt(digits, 16));
}

function distance(one, other) {
  const [a, b] = [bytes(one), bytes(other)];
  let bits = 0;
  for (let i = 0; i < a.length; i++) for (let rest = a[i] ^ b[i]; rest; rest &= rest - 1) bits++;
  return bits;
}

function ofDocument(data, parts, how) {
  const document = find(data, parts[1]);
  if (parts[2] === undefined)
    return { ...cut(document, how), why: how.q ? why(document.text ?? "", wordsOf(how.q), 0) : null };
  const others = data.documents.filter((one) => one !== document);
  const near = others.map((one) => ({ ...one, distance: distance(one.code, document.code) }));
  near.sort((a, b) => a.distance - b.distance); // a stable sort: ties stay in order
  const hits = near
    .filter((one) => keeps(how.where, one))
    .map((one) => hit(one, 1 - one.distance / data.collection.bits, how));
  if (parts[2] === "drift") return { start: cut(document, how), steps: steps(hits, how) };
  const found =
    how.radius === undefined || how.radius === null || how.radius === ""
      ? hits
      : hits.filter((one) => one.distance <= how.radius);
  return { document: cut(document, how), hits: found.slice(0, Number(how.k ?? SHOWN)), total: found.length };
}

function steps(hits, how) {
  const wanted = String(how.distances ?? "0,1,5,10,20,50,90")
    .split(",")
    .map(Number);
  const chosen = wanted.map((least) => hits.find((one) => one.distance >= least)).filter(Boolean);
  return [...new Set(chosen)];
}

function hit(document, score, how) {
  const { id, metadata, code } = document;
  return { id, distance: document.distance ?? null, score, text: cut(document, how).text, metadata, code };
}

/** Rank documents by the words they share with a text, rare words first. */
function search(data, how) {
  const text = how.q ?? how.text ?? "";
  const words = [...new Set(wordsOf(text))];
  const having = (data.having ??= data.documents.map((one) => new Set(wordsOf(one.text ?? ""))));
  const rarity = words.map((word) => Math.log(1 + having.length / (1 + having.filter((one) => one.has(word)).length)));
  const hits = data.documents
    .map((one, n) =>
      hit(
        one,
        words.reduce((sum, word, w) => sum + (having[n].has(word) ? rarity[w] : 0), 0),
        how,
      ),
    )
    .filter((one) => one.score > 0 && keeps(how.where, one))
    .sort((a, b) => b.score - a.score);
  const found = hits.slice(0, Number(how.k ?? SHOWN));
  for (const one of found) one.why = why(find(data, one.id).text ?? "", words, one.score);
  const query = { text, code: null, probabilities: null, known: hits.length > 0 };
  return { query, rank: "text", hits: found, total: hits.length };
}

/** Return the words of a query in a text, and the passage that begins before the first of them. */
function why(text, words, score) {
  const parts = partsWith(text, words).map((ends) => ends.map((end) => [...text.slice(0, end)].length));
  const characters = [...text];
  let start = Math.max(0, Math.min((parts[0]?.[0] ?? 0) - LEAD, characters.length - PASSAGE));
  while (start > 0 && start < (parts[0]?.[0] ?? 0) && /\S/.test(characters[start - 1])) start++;
  const passage = characters.slice(start, start + PASSAGE).join("");
  return { passage, start, words: parts, parts: { words: score } };
}

/** Return whether a document passes filters such as lang=en, year>=1987, key, !key. */
function keeps(where, document) {
  return [where ?? []].flat().every((spelled) => {
    const found = /^([^=<>!]+)(!=|<=|>=|=|<|>)(.*)$/s.exec(spelled);
    const key = found ? found[1].trim() : spelled.replace(/^!/, "").trim();
    const values = [document.metadata[key] ?? []].flat();
    if (!found) return values.length > 0 !== spelled.startsWith("!");
    const wanted = found[3].split(",").map((one) => one.trim().replace(/^"(.*)"$/s, "$1"));
    const among = values.some((value) => wanted.includes(String(value)));
    if (found[2] === "=") return among;
    if (found[2] === "!=") return !among;
    return values.some((value) => compares(found[2], value, typeof value === "number" ? Number(wanted[0]) : wanted[0]));
  });
}

function compares(operator, a, b) {
  return { "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b }[operator];
}

/** Return the documents that pass the search, the filters and the area of a selection. */
function selected(data, how, where = how.where) {
  const found = how.q ? search(data, { ...how, where, k: Infinity }).hits.map((one) => find(data, one.id)) : data.documents;
  const there = pointsIn(data, how);
  return found.filter((one) => keeps(where, one) && (!there || there.has(String(one.id))));
}

/** Return the ids of the documents inside the lasso and the region of a selection; null if it has none of them. */
function pointsIn(data, { lasso, region }) {
  if (!lasso && !region) return null;
  data.places ??= [places(data.map.x), places(data.map.y)];
  const [x, y] = data.places;
  let points = [...x.keys()];
  if (region) {
    const number = data.map.regions.findIndex((one) => one.words.join(" ") === region);
    points = pointsOf(numbers(data.map.region), data.map.regions, number);
  }
  if (lasso) {
    const corners = lasso.split(",").map(Number);
    const line = Array.from({ length: corners.length >> 1 }, (_, n) => [corners[2 * n], corners[2 * n + 1]]);
    const among = new Set(inside(Float32Array.from(x.flatMap((one, point) => [one, y[point]])), line));
    points = points.filter((point) => among.has(point));
  }
  return new Set(points.map((point) => String(data.map.ids[point])));
}

function facets(data, how) {
  const conditions = [how.where ?? []].flat();
  const others = (key) => conditions.filter((one) => !new RegExp(`^!?${escaped(key)}([=<>!]|$)`).test(one));
  const keys = data.collection.keys.map((one) => one.name);
  const found = facetsIn(data.documents, how.keys ?? keys, (key) => selected(data, how, others(key)), how);
  const shown = how.keys ? found : found.filter((one) => one.kind !== "text");
  return { total: selected(data, how).length, documents: data.documents.length, keys, facets: shown };
}

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

function table(data, how) {
  const rows = sorted(selected(data, how), how.sort);
  const [offset, limit] = [Number(how.offset ?? 0), Number(how.limit ?? 50)];
  return { total: rows.length, offset, rows: rows.slice(offset, offset + limit).map((one) => cut(one, how)) };
}

function ofMap(data, what, how) {
  if (what === undefined) return data.map;
  if (what === "selected") {
    const ids = new Set(selected(data, how).map((one) => String(one.id)));
    const points = [...data.map.ids.keys()].filter((point) => ids.has(String(data.map.ids[point])));
    return { total: ids.size, points, version: data.map.version };
  }
  if (what === "colours" && how.bit !== undefined) return ofBit(data, Number(how.bit));
  if (what === "colours") return data.colours[how.key] ?? problem(`No document has the key ${how.key}.`, 404);
  data.pointOf ??= new Map(data.map.ids.map((id, point) => [String(id), point]));
  data.places ??= [places(data.map.x), places(data.map.y)];
  const located = how.ids
    .filter((id) => data.pointOf.has(String(id)))
    .map((id) => {
      const point = data.pointOf.get(String(id));
      return { id, x: data.places[0][point], y: data.places[1][point], point, exact: true };
    });
  return { places: located, version: data.map.version };
}

function ofBit(data, bit) {
  const ones = data.map.ids.map((id) => (parseInt(find(data, id).code[bit >> 2], 16) >> (3 - (bit & 3))) & 1);
  const n = ones.reduce((sum, one) => sum + one, 0);
  const values = btoa(String.fromCharCode(...ones));
  const none = { low: null, high: null, ticks: [], version: data.map.version };
  return { key: `bit ${bit}`, kind: "bit", names: ["0", "1"], counts: [ones.length - n, n], values, ...none };
}

const places = (encoded) => numbers(encoded).map((number) => number / 65535);

/** Return numbers of 16 bits. */
function numbers(encoded) {
  const binary = atob(encoded);
  return Array.from({ length: binary.length / 2 }, (_, n) => binary.charCodeAt(2 * n) + 256 * binary.charCodeAt(2 * n + 1));
}
