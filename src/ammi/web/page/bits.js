// The bits view: the words and documents of each bit, and which bits depend on each other.
import { arcs } from "./arcs.js";
import { announce, h, latest } from "./dom.js";
import { glimpses } from "./library.js";
import { resultList } from "./results.js";
import { go, link } from "./router.js";
import { get, pause } from "./source.js";
import { fillWith, loading } from "./states.js";
import { counted, decimals, percent } from "./words.js";

const SHOWN = 5; // typical documents of each value
const REGIONS = 8; // of each value

export function bitsView(root, about) {
  const overview = h("div", { class: "all" });
  const detail = h("div", { class: "detail" });
  const current = latest();
  let answer = null;
  root.replaceChildren(
    h("h1", { tabindex: "-1" }, "What each bit means"),
    h(
      "p",
      { class: "lead" },
      "A code is a row of yes-or-no questions that were learned, each to say something that the others do not. A bit is about many subjects at once: it is 1 in some regions of the map and 0 in others. Its words are its own: they go with this bit, and with few others.",
    ),
    overview,
    detail,
  );

  async function show(state) {
    const signal = current.next();
    const bit = Math.max(0, Math.min(about.bits - 1, Number(state.params.get("bit")) || 0));
    document.title = `Bit ${bit} · ${about.name}`;
    const all = async () => {
      answer ??= await get("/api/bits", {}, signal);
      return [figure(answer, bit), grid(answer, bit)];
    };
    await Promise.all([
      fillWith(overview, signal, all, "Reading the bits…"),
      fillWith(detail, signal, () => one(about, bit, signal), "Reading the bit…"),
    ]);
    reveal(overview.querySelector(".wide"), overview.querySelector(".arcs .mine"));
    for (const box of overview.querySelectorAll("nav, nav ol")) reveal(box, box.querySelector("[aria-current]"));
  }

  return { show, leave: current.stop };
}

/** Scroll a part of a box into its middle. */
function reveal(box, part) {
  if (!box || !part) return;
  const [outer, inner] = [box, part].map((one) => one.getBoundingClientRect());
  box.scrollLeft += inner.left + inner.width / 2 - outer.left - outer.width / 2;
  box.scrollTop += inner.top + inner.height / 2 - outer.top - outer.height / 2;
}

const open = (bit) => go(link("bits", { bit }));

function figure(answer, chosen) {
  return h(
    "figure",
    { class: "chain" },
    h(
      "div",
      { class: "wide", tabindex: 0, role: "group", "aria-label": "The chain of bits" },
      arcs(answer, chosen, open),
    ),
    h(
      "figcaption",
      {},
      "Bars: how often a bit is 1. Arcs: bits that depend on each other, ",
      h("span", { class: "together" }, "mostly equal"),
      " or ",
      h("span", { class: "opposite" }, "mostly opposite"),
      ".",
    ),
  );
}

function grid(answer, chosen) {
  const items = answer.bits.map(({ bit, words, zeros, balance }) =>
    h(
      "li",
      {},
      h(
        "a",
        {
          href: link("bits", { bit }),
          "aria-current": bit === chosen ? "true" : null,
          title: `1 in ${percent(balance)} of documents: ${words.join(", ")}; 0: ${zeros.join(", ")}`,
        },
        h("b", {}, String(bit)),
        ` ${words.slice(0, 2).join(", ")}`,
      ),
    ),
  );
  return h("nav", { class: "bits", "aria-label": "All bits" }, h("ol", {}, ...items));
}

async function one(about, bit, signal) {
  const answer = await get(`/api/bits/${bit}`, { n: 12, length: 0 }, signal);
  const [ones, zeros] = await Promise.all([answer.ones, answer.zeros].map((typical) => seen(typical, signal)));
  announce(`Bit ${bit}: 1 in ${percent(answer.balance)} of documents`);
  return h(
    "section",
    { "aria-labelledby": "bit" },
    h(
      "div",
      { class: "row heading" },
      h("h2", { id: "bit" }, `Bit ${bit}`),
      h("p", {}, `1 in ${percent(answer.balance)} of documents, ${decimals(answer.entropy, 3)} bits of information`),
      h("a", { class: "chip", href: link("map", { bit }) }, "Colour the map by it"),
      step("Previous", bit - 1, about.bits),
      step("Next", bit + 1, about.bits),
    ),
    regionsWhenReady(answer, signal),
    words(answer),
    partners(answer),
    h("div", { class: "columns" }, side(about, "Typical of 1", ones), side(about, "Typical of 0", zeros)),
  );
}

function step(text, bit, n) {
  return h("button", { type: "button", disabled: bit < 0 || bit >= n, onclick: () => open(bit) }, text);
}

function words(answer) {
  if (!answer.up.length && !answer.down.length)
    return h("p", { class: "hint" }, "There are no texts, and so no words.");
  const strongest = Math.max(...[...answer.up, ...answer.down].map(({ weight }) => Math.abs(weight)));
  const list = (own, name) =>
    h(
      "ul",
      { class: `pushes ${name}` },
      ...own.map(({ word, weight }) => {
        const item = h("li", {}, h("a", { href: link("search", { q: word }) }, word));
        item.style.setProperty("--share", Math.abs(weight) / strongest);
        return item;
      }),
    );
  return h(
    "div",
    { class: "columns" },
    h("div", {}, h("h3", {}, "Words of 1"), list(answer.up, "up")),
    h("div", {}, h("h3", {}, "Words of 0"), list(answer.down, "down")),
  );
}

/** The regions of the map that tell most about the bit: those where it is mostly 1, and those where it is mostly 0. */
function regions(answer) {
  const named = answer.regions.filter((one) => one.words.length);
  if (!named.length) return [];
  const list = (name, share) => {
    const excess = (one) => one.documents * (share(one) - (name === "up" ? answer.balance : 1 - answer.balance));
    const some = named.filter((one) => share(one) > 0.5).sort((one, other) => excess(other) - excess(one));
    const items = some.slice(0, REGIONS).map((one) => {
      const address = link("map", { bit: answer.bit, region: one.words.join(" ") });
      const item = h("li", {}, h("a", { href: address }, one.words.join(", ")), h("small", {}, percent(share(one))));
      item.style.setProperty("--share", share(one));
      return item;
    });
    return h("ul", { class: `pushes wholly ${name}` }, ...items);
  };
  const columns = [
    h("div", {}, h("h3", {}, "Mostly 1 in"), list("up", (one) => one.ones)),
    h("div", {}, h("h3", {}, "Mostly 0 in"), list("down", (one) => 1 - one.ones)),
  ];
  return [h("div", { class: "columns" }, ...columns)];
}

/** A place that has the regions as soon as the map is there. */
function regionsWhenReady(answer, signal) {
  const place = h("div", {}, ...regions(answer));
  const fill = async () => {
    while (answer.map !== "ready") {
      place.replaceChildren(loading("Drawing the map, whose regions tell what a bit is about…"));
      await pause(2000, signal);
      answer = await get(`/api/bits/${answer.bit}`, { n: 1, length: 0 }, signal);
      place.replaceChildren(...regions(answer));
    }
  };
  fill().catch(() => place.replaceChildren()); // the view was left, or the rest of it is enough
  return place;
}

function partners(answer) {
  const near = answer.links.slice(0, 6).map((one) => {
    const bit = one.a === answer.bit ? one.b : one.a;
    const rule = one.same ? "equal" : "opposite";
    return h(
      "li",
      {},
      h(
        "a",
        { class: "chip", href: link("bits", { bit }) },
        `bit ${bit} `,
        h("small", {}, `${rule}, ${one.information.toFixed(3)} bits in common`),
      ),
    );
  });
  return near.length > 0 && h("div", {}, h("h3", {}, "Depends most on"), h("ul", { class: "chips" }, ...near));
}

const seen = (typical, signal) =>
  glimpses(
    typical.slice(0, SHOWN).map((one) => one.id),
    signal,
  );

function side(about, title, hits) {
  return h(
    "div",
    {},
    h("h3", {}, `${title} `, h("small", {}, counted(hits.length, "document"))),
    hits.length
      ? resultList(hits, {
          n: about.bits,
          address: (hit) => link("document", { id: hit.id }),
          measure: [],
          label: title,
        })
      : h("p", { class: "hint" }, "No document has it."),
  );
}
