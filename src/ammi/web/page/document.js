// One document: its text, its code, and the nearest documents.
import { announce, h, latest } from "./dom.js";
import { filterBar } from "./filters.js";
import { remember } from "./library.js";
import { fact, resultList } from "./results.js";
import { go, link } from "./router.js";
import { get, isReport } from "./source.js";
import { empty, fillWith } from "./states.js";
import { certainty, key, strip } from "./strip.js";
import { breadcrumb, documentStep, longer, trailOf } from "./trail.js";
import { counted, factsOf, reflowed, titleOf } from "./words.js";

const FIRST = 20;
const LONG = 1500; // characters of a text before the rest is folded

export function documentView(root, about) {
  const current = latest();

  async function show(state) {
    const signal = current.next();
    const ask = { k: Number(state.params.get("k")) || FIRST, where: state.params.getAll("where") };
    if (state.params.get("distinct")) ask.distinct = true;
    await fillWith(root, signal, () => page(about, state, ask, signal), "Opening the document…");
  }

  return { show, leave: current.stop };
}

async function page(about, state, ask, signal) {
  const path = `/api/documents/${encodeURIComponent(state.id)}`;
  const whole = get(path, {}, signal);
  const [own, { hits }] = await Promise.all([whole, get(`${path}/like`, { ...ask, length: 400 }, signal)]);
  remember([own]);
  document.title = `${titleOf(own)} · ${about.name}`;
  announce(`${titleOf(own)}, with ${counted(hits.length, "neighbour")}`);
  const trail = trailOf(state);
  return [
    breadcrumb(trail, signal),
    h("div", { class: "columns" }, reading(own, about, trail), neighbours(about, own, hits, state, ask)),
  ];
}

function reading(own, about, trail) {
  return h(
    "article",
    { class: "document" },
    h("h1", { tabindex: "-1", dir: "auto" }, titleOf(own)),
    h(
      "dl",
      { class: "facts" },
      fact("id", String(own.id)),
      ...factsOf(own.metadata).map(([key, value]) => fact(key, value)),
    ),
    h(
      "figure",
      { class: "own" },
      h("figcaption", {}, "Its code of ", counted(about.bits, "bit")),
      strip(own.code, about.bits),
      own.probabilities && h("figcaption", {}, "How sure the model is of each bit, up for 1 and down for 0"),
      own.probabilities && certainty(own.probabilities, (bit) => go(link("bits", { bit }))),
    ),
    h(
      "p",
      { class: "row" },
      h("a", { class: "chip", href: link("drift", { id: own.id, t: trail }) }, "Watch it drift"),
      h("a", { class: "chip", href: link("map", { at: own.id }) }, "Show on the map"),
    ),
    fold(own.text),
  );
}

function fold(whole) {
  if (!whole) return h("p", { class: "hint" }, whole === "" ? "Its text is empty." : "This document has no text.");
  const text = reflowed(whole);
  const shown = h("div", { class: "text", dir: "auto" }, text.length > LONG ? `${text.slice(0, LONG)}…` : text);
  if (text.length <= LONG) return shown;
  const unfold = () => {
    shown.replaceChildren(text);
    button.remove();
  };
  const button = h("button", { type: "button", class: "quiet", onclick: unfold }, "Show the whole text");
  return [shown, button];
}

function neighbours(about, own, hits, state, ask) {
  const trail = trailOf(state);
  const here = (changed) =>
    link("document", { id: own.id, t: trail, ...ask, k: ask.k === FIRST ? null : ask.k, ...changed });
  const address = (hit) => link("document", { id: hit.id, t: longer(trail, documentStep(own.id)), where: ask.where });
  const more = h(
    "button",
    { type: "button", onclick: () => go(here({ k: ask.k + FIRST }), { replace: true }) },
    "Show more",
  );
  return h(
    "section",
    { class: "neighbours", "aria-labelledby": "neighbours" },
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
      ? resultList(hits, { against: own.code, n: about.bits, address, label: "Its neighbours" })
      : empty(
          "No neighbours",
          ask.where.length ? "No other document passes the filters." : "The collection has no other document.",
        ),
    hits.length >= ask.k && ask.k < about.limits.k && h("p", { class: "more" }, more),
  );
}
