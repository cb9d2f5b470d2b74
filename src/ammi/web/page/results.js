// A list of documents, each with its distance, its score, and the bits in which its code differs.
import { h } from "./dom.js";
import { remember } from "./library.js";
import { strip } from "./strip.js";
import { count, counted, decimals, factsOf, onOneLine, snippetOf, titleInText, titleOf } from "./words.js";

const FACTS = 5; // in a result: the id, and metadata

const SOURCES = { words: "from words", code: "from the code", cosine: "from the cosine", id: "for the id" }; // of a score

/** Return a part of a hit's text, which begins at `start`, as nodes in which the words of the query are marked. */
function marked(text, start, { words }) {
  const characters = [...text]; // offsets count code points, a string of JavaScript other units
  const piece = (from, to) => onOneLine(characters.slice(from, to).join(""));
  const nodes = [];
  let at = 0;
  for (const [first, last] of words) {
    const [from, to] = [Math.max(first - start, at), Math.min(last - start, characters.length)];
    if (from >= to) continue;
    nodes.push(piece(at, from), h("mark", {}, piece(from, to)));
    at = to;
  }
  return [...nodes, piece(at)];
}

/** The title of a hit, and the passage that answers the query, or else the text after the title: as nodes. */
function titleAndPassage(hit) {
  const [title, why] = [titleOf(hit), hit.why];
  if (!why) return [[title], [snippetOf(hit)]];
  const inText = [...titleInText(hit)];
  const shown = inText.length ? [...marked(inText.join(""), 0, why), title.endsWith("…") ? "…" : ""] : [title];
  const start = Math.max(why.start, inText.length);
  const passage = marked([...why.passage].slice(start - why.start).join(""), start, why);
  return [shown, [start > inText.length ? "… " : "", ...passage]];
}

/** Return whether a hit has a word of the query; true if words were not looked for. */
function sharesWord({ why }) {
  return !why || why.words.length > 0 || why.parts.words > 0 || "id" in why.parts;
}

/**
 * One document. `against` is the code to compare with, `n` its bits, `address(hit)` where a click leads, `measure` what
 * stands in place of the distance, `compare(hit)` the address of its comparison, `note` a remark.
 */
export function card(hit, { against = null, n, address, measure = distance(hit), compare, note }) {
  const [title, passage] = titleAndPassage(hit);
  const facts = factsOf(hit)
    .filter(([, value]) => value.length <= 60)
    .slice(0, FACTS);
  return h(
    "li",
    { class: "card" },
    h("div", { class: "measure" }, measure),
    h(
      "div",
      { class: "body" },
      h("h3", {}, h("a", { href: address(hit), "data-id": hit.id, dir: "auto" }, ...title)),
      h("p", { class: "snippet", dir: "auto" }, ...passage),
      note && h("p", { class: "hint" }, note),
      facts.length > 0 && h("dl", { class: "facts" }, ...facts.map(([key, value]) => fact(key, value))),
      hit.code && against && strip(hit.code, n, against),
      compare && h("a", { class: "compare", href: compare(hit), "aria-label": `Compare ${titleOf(hit)}` }, "Compare"),
    ),
  );
}

export function fact(key, value) {
  return h("div", {}, h("dt", {}, key), h("dd", {}, value));
}

/** The distance in bits, and the score if another one orders the results. */
export function distance(hit) {
  if (hit.distance === null || hit.distance === undefined) return [h("span", {}, "found by words")];
  return [
    h("b", {}, count(hit.distance)),
    h("span", {}, hit.distance === 1 ? "bit away" : "bits away"),
    Number.isFinite(hit.score) && score(hit),
  ];
}

/** The score, and on demand the parts of which it is the sum. */
function score(hit) {
  const total = `score ${decimals(hit.score)}`;
  const parts = Object.entries(hit.why?.parts ?? {});
  if (!parts.length) return h("small", {}, total);
  const sources = parts.map(([name, part]) => h("small", {}, `${part.toFixed(2)} ${SOURCES[name] ?? name}`));
  return h("details", { class: "parts" }, h("summary", {}, h("small", {}, total)), ...sources);
}

/** Return all results, as a list in which the arrow keys go up and down. */
export function resultList(hits, options) {
  remember(hits);
  const label = options.label ?? counted(hits.length, "document");
  const end = hits.findLastIndex(sharesWord) + 1; // all hits behind it were found by their codes alone
  const cards = hits.map((hit, place) =>
    card(hit, {
      ...options,
      note: place < end && !sharesWord(hit) ? "Near by its code: it has no word of the query" : null,
    }),
  );
  if (end < hits.length)
    cards.splice(end, 0, h("li", { class: "divider" }, "Near by their codes only: no word of the query"));
  return h("ol", { class: "results", "aria-label": label }, ...cards);
}

/** Up and Down go from result to result, Home and End to the first and last; above the first is the search box. */
export function moveAmongResults(event, field) {
  const step = { ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity }[event.key];
  if (step === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
  const links = [...document.querySelectorAll(".results h3 a")];
  const here = links.indexOf(document.activeElement);
  const fromField = document.activeElement === field;
  if (!links.length || (here < 0 && !(fromField && event.key === "ArrowDown"))) return;
  event.preventDefault();
  if (here === 0 && event.key === "ArrowUp") field.focus();
  else links[Math.max(0, Math.min(links.length - 1, here + step))].focus();
}
