// The search view: results while one types, and suggestions before.
import { browsed } from "./browse.js";
import { announce, h, latest } from "./dom.js";
import { filterBar } from "./filters.js";
import { glimpses } from "./library.js";
import { resultList } from "./results.js";
import { go, link } from "./router.js";
import { get, isReport, pause } from "./source.js";
import { empty, fillWith } from "./states.js";
import { key, strip } from "./strip.js";
import { searchStep } from "./trail.js";
import { RANKS, count, counted } from "./words.js";

const SETTLED = 600; // milliseconds without a letter before results on screen give way to "Nothing found"
const FIRST = 20; // results at first, and with each "Show more"
const SUGGESTED = 8; // regions of the map to suggest
const OPENERS = 4; // documents to suggest

export function searchView(root, about) {
  const bar = h("div", { class: "bar" });
  const list = h("div", { class: "list" });
  const current = latest();
  root.replaceChildren(h("h1", { class: "hidden" }, "Search"), bar, list);

  async function show(state) {
    const asked = askedIn(state);
    const signal = current.next();
    document.title = asked.q ? `${asked.q} · ${about.name}` : `${about.name} · ammi`;
    const isBrowsing = !asked.q && asked.where.length > 0;
    bar.replaceChildren(...(asked.q || isBrowsing ? controls(about, asked).filter(Boolean) : []));
    if (isBrowsing) {
      await fillWith(list, signal, () => browsed(about, asked, signal));
      return;
    }
    if (!asked.q) {
      list.replaceChildren(welcome(about, signal));
      return;
    }
    await fillWith(list, signal, () => results(about, asked, signal, list), "Searching…");
  }

  return { show, leave: current.stop };
}

function askedIn({ params }) {
  const k = Number(params.get("k")) || FIRST;
  return { q: params.get("q") ?? "", rank: params.get("rank"), where: params.getAll("where"), k };
}

function controls(about, asked) {
  const change = (changed) => go(link("search", { ...asked, k: null, ...changed }));
  const select = h("select", { id: "rank", onchange: () => change({ rank: select.value }) });
  const ranks = about.reads === "text" ? about.ranks : ["text"]; // a model of vectors gives words no code
  const chosen = asked.rank ?? ranks[0];
  select.append(...ranks.map((rank) => h("option", { value: rank, selected: rank === chosen }, RANKS[rank])));
  return [
    !isReport && asked.q && h("p", { class: "control" }, h("label", { for: "rank" }, "Order by "), select),
    filterBar(about, asked.where, (where) => change({ where }), { q: asked.q }),
    h("a", { class: "chip", href: link("map", { q: asked.q, where: asked.where }) }, "Show on the map"),
    h("a", { class: "chip", href: link("table", { q: asked.q, where: asked.where }) }, "Show as a table"),
  ];
}

async function results(about, asked, signal, list) {
  const { q, k, rank, where } = asked;
  const answer = await get("/api/search", { q, k, rank, where, length: 400 }, signal);
  const { hits, unknown = [], corrected = {} } = answer;
  if (!hits.length && list.querySelector(".results")) await pause(SETTLED, signal); // somebody may be typing on
  announce(hits.length ? `${counted(hits.length, "document")} for ${q}` : `Nothing for ${q}`);
  const isBeginning = /^\p{L}$/u.test(q.trim()); // from two letters on, words that begin so are found
  if (!hits.length)
    return [isBeginning ? empty("Type on") : empty("Nothing found", ...adviceFor(about, asked, answer.query))];
  const t = [searchStep(q, { rank, where, k: k === FIRST ? null : k })];
  const address = (hit) => link("document", { id: hit.id, t, where });
  const compare = (hit) => link("compare", { a: hit.id, t });
  const code = answer.query.code;
  return [
    unknown.length > 0 && h("p", {}, `No document has ${unknown.join(", ")}.`),
    ...Object.entries(corrected).map(([word, right]) =>
      h(
        "p",
        {},
        right.endsWith("*") ? `With words that begin with ${word}.` : `Searched for ${right} instead of ${word}.`,
      ),
    ),
    code && queryStrip(answer.query, about),
    resultList(hits, { against: code, n: about.bits, address, compare, label: `Documents for ${q}` }),
    hits.length >= k && k < about.limits.k && more(asked),
  ].filter(Boolean);
}

function adviceFor(about, asked, { known }) {
  const { where, rank } = asked;
  const byWords = link("search", { ...asked, rank: null, k: null });
  if (!about.documents) return ["This collection has no documents yet."];
  if (!known && !isReport && rank && rank !== "text" && about.ranks.includes("text"))
    return ["The model knows none of these words.", h("a", { href: byWords }, "Order by words and codes instead")];
  if (!known && !isReport) return ["The model knows none of these words: type on, or try others."];
  return where.length ? ["No document passes the filters: remove one of them above."] : ["Try other words, or fewer."];
}

function queryStrip(query, about) {
  return h(
    "figure",
    { class: "own" },
    h("figcaption", {}, "Your words as a code of ", counted(about.bits, "bit"), ". Below, ", key(), "."),
    strip(query.code, about.bits),
  );
}

function more(asked) {
  const next = link("search", { ...asked, k: asked.k + FIRST });
  return h(
    "p",
    { class: "more" },
    h("button", { type: "button", onclick: () => go(next, { replace: true }) }, "Show more"),
  );
}

function welcome(about, signal) {
  const ways = h("div", {});
  if (about.documents) fillWith(ways, signal, () => waysIn(about, signal), "Looking for suggestions…");
  const all = counted(about.whole ?? about.documents, "document");
  const sentence = about.documents
    ? [
        isReport ? `A sample of ${count(about.documents)} of ${all}, ` : `${all}, `,
        `each a code of ${counted(about.bits, "bit")}. `,
        "Codes are learned so that documents with similar content have similar codes: ",
        "the fewer bits differ, the nearer two documents are.",
      ]
    : ["This collection has no documents yet: add some with ammi index add, and load the page again."];
  return h(
    "section",
    { class: "welcome" },
    h("h2", {}, about.name),
    h("p", { class: "lead" }, ...sentence),
    isReport && h("p", { class: "hint" }, "This page is one file. Search goes by words, neighbours by codes."),
    ways,
  );
}

/** Return the map once `there(map)` holds, or when it is final. */
async function mapWith(there, signal) {
  for (;;) {
    const map = await get("/api/map", {}, signal);
    if (there(map) || map.retry === null) return map;
    await pause(1000 * map.retry, signal);
  }
}

/** Suggest searches by the names of regions, which a rough map does not have yet. */
async function subjectsOf(map, signal) {
  const { regions } = map.regions.length ? map : await mapWith((later) => later.regions.length, signal);
  const named = regions.filter((one) => one.words.length).slice(0, SUGGESTED);
  const chips = named.map((region) => {
    const q = region.words.join(" ");
    return h("li", {}, h("a", { class: "chip", href: link("search", { q }) }, q));
  });
  return chips.length ? [h("h3", {}, "What it is about"), h("ul", { class: "chips" }, ...chips)] : [];
}

/** Suggestions: searches, documents to open, and the other views. */
async function waysIn(about, signal) {
  const map = await mapWith((one) => one.points, signal);
  const subjects = h("div", {});
  if (about.reads === "text" || isReport)
    fillWith(subjects, signal, () => subjectsOf(map, signal), "Naming the regions…");
  const step = Math.max(1, Math.floor(map.ids.length / OPENERS));
  const openers = await glimpses(map.ids.filter((_, place) => place % step === 0).slice(0, OPENERS), signal);
  return [
    subjects,
    openers.length > 0 && h("h3", {}, "Or start with a document"),
    openers.length > 0 &&
      resultList(openers, {
        n: about.bits,
        address: (hit) => link("document", { id: hit.id }),
        measure: [],
        label: "Documents to start with",
      }),
    h(
      "p",
      { class: "hint" },
      "Or look at ",
      h("a", { href: "#/map" }, `the map of ${counted(map.points || about.documents, "document")}`),
      ", or at ",
      h("a", { href: "#/bits" }, "what each bit means"),
      ", or browse ",
      h("a", { href: "#/table" }, "the table of all documents"),
      !isReport && [". Programs use ", h("a", { href: "docs" }, "the API")],
      ".",
    ),
  ].filter(Boolean);
}
