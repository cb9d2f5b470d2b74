// One document: its text, its code, and the nearest documents.
import { announce, h, latest } from "./dom.js";
import { filterBar } from "./filters.js";
import { remember } from "./library.js";
import { reading } from "./reading.js";
import { fact, resultList } from "./results.js";
import { go, link } from "./router.js";
import { get, isReport, pause } from "./source.js";
import { empty, fillWith } from "./states.js";
import { certainty, key, strip } from "./strip.js";
import { breadcrumb, documentStep, longer, trailOf, wordsBefore } from "./trail.js";
import { counted, factsOf, titleOf } from "./words.js";

const FIRST = 20;
const NEAR = "distance,score,text,metadata,code";
const PATIENCE = 1500; // milliseconds until the focus goes to the document, though its neighbours are not there

export function documentView(root, about) {
  const current = latest();
  const others = latest();
  let shown = null; // the document that is open, with the words it was found by
  let near = null;

  async function show(state) {
    const trail = trailOf(state);
    const ask = { k: Number(state.params.get("k")) || FIRST, where: state.params.getAll("where") };
    if (state.params.get("distinct")) ask.distinct = true;
    const open = JSON.stringify([state.id, trail]);
    if (shown !== open) {
      shown = null;
      near = h("section", { class: "neighbours", "aria-labelledby": "neighbours" });
      await fillWith(
        root,
        current.next(),
        (signal) => page(about, state.id, trail, near, signal),
        "Opening the document…",
      );
      const article = root.querySelector(".document");
      if (!article) return;
      shown = open;
      article.reveal();
    }
    const signal = others.next();
    const filled = fillWith(
      near,
      signal,
      () => neighbours(about, state.id, trail, ask, signal),
      "Looking for the nearest documents…",
    );
    await Promise.race([filled, pause(PATIENCE, signal).catch(() => null)]);
  }

  return {
    show,
    leave() {
      current.stop();
      others.stop();
    },
  };
}

async function page(about, id, trail, near, signal) {
  const own = await get(`/api/documents/${encodeURIComponent(id)}`, { q: wordsBefore(trail) }, signal);
  remember([own]);
  document.title = `${titleOf(own)} · ${about.name}`;
  announce(titleOf(own));
  return [breadcrumb(trail, signal), h("div", { class: "columns" }, article(own, about, trail), near)];
}

function article(own, about, trail) {
  const text = own.text ? reading(own.text, own.why) : null;
  const none = h("p", { class: "hint" }, own.text === "" ? "Its text is empty." : "This document has no text.");
  const shown = h(
    "article",
    { class: "document" },
    h("h1", { tabindex: "-1", dir: "auto" }, titleOf(own)),
    h("dl", { class: "facts" }, ...factsOf(own).map(([key, value]) => fact(key, value))),
    h(
      "p",
      { class: "row" },
      h("a", { class: "chip", href: link("drift", { id: own.id, t: trail }) }, "Watch it drift"),
      h("a", { class: "chip", href: link("map", { at: own.id }) }, "Show on the map"),
      h("a", { class: "chip", href: link("compare", { a: own.id, t: trail }) }, "Compare"),
    ),
    text ? text.nodes : none,
    h(
      "figure",
      { class: "own" },
      h("figcaption", {}, "Its code of ", counted(about.bits, "bit")),
      strip(own.code, about.bits),
      own.probabilities && h("figcaption", {}, "How sure the model is of each bit, up for 1 and down for 0"),
      own.probabilities && certainty(own.probabilities),
    ),
  );
  return Object.assign(shown, { reveal: () => text?.reveal() });
}

async function neighbours(about, id, trail, ask, signal) {
  const path = `/api/documents/${encodeURIComponent(id)}/like`;
  const { document: own, hits } = await get(path, { ...ask, length: 400, fields: NEAR }, signal);
  announce(`${counted(hits.length, "neighbour")} of ${titleOf(own)}`);
  const here = (changed) => link("document", { id, t: trail, ...ask, k: ask.k === FIRST ? null : ask.k, ...changed });
  const onward = longer(trail, documentStep(own.id, { where: ask.where, distinct: ask.distinct }));
  const address = (hit) => link("document", { id: hit.id, t: onward, where: ask.where });
  const compare = (hit) => link("compare", { a: own.id, b: hit.id, t: onward });
  const shown = (hit) => (about.ranks.includes("vectors") ? hit : { ...hit, score: null }); // else it is the distance
  const more = h(
    "button",
    { type: "button", onclick: () => go(here({ k: ask.k + FIRST }), { replace: true }) },
    "Show more",
  );
  return [
    h("h2", { id: "neighbours" }, "Nearest to it ", key()),
    h(
      "div",
      { class: "bar" },
      filterBar(about, ask.where, (where) => go(here({ where }))),
      !isReport &&
        h(
          "a",
          { class: "chip", href: here({ distinct: ask.distinct ? null : true }) },
          ask.distinct ? "With near-duplicates" : "Without near-duplicates",
        ),
    ),
    hits.length
      ? resultList(hits.map(shown), { against: own.code, n: about.bits, address, compare, label: "Its neighbours" })
      : empty(
          "No neighbours",
          ask.where.length ? "No other document passes the filters." : "The collection has no other document.",
        ),
    hits.length >= ask.k && ask.k < about.limits.k && h("p", { class: "more" }, more),
  ].filter(Boolean);
}
