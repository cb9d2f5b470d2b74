// The bits view: the words and documents of each bit, and which bits depend on each other.
import { arcs } from "./arcs.js";
import { announce, h, latest } from "./dom.js";
import { glimpses } from "./library.js";
import { resultList } from "./results.js";
import { go, link } from "./router.js";
import { get } from "./source.js";
import { fillWith } from "./states.js";
import { counted, decimals, percent } from "./words.js";

const SHOWN = 5; // typical documents of each value

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
      "The meaning of the bits was learned: all of them together are to tell as much about a document as they can.",
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
  const items = answer.bits.map(({ bit, words, balance }) =>
    h(
      "li",
      {},
      h(
        "a",
        {
          href: link("bits", { bit }),
          "aria-current": bit === chosen ? "true" : null,
          title: `1 in ${percent(balance)} of documents`,
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
      step("Previous", bit - 1, about.bits),
      step("Next", bit + 1, about.bits),
    ),
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
    return h("p", { class: "hint" }, "This model has no words.");
  const strongest = Math.max(...[...answer.up, ...answer.down].map(({ weight }) => Math.abs(weight)));
  const list = (pushes, name) =>
    h(
      "ul",
      { class: `pushes ${name}` },
      ...pushes.map(({ word, weight }) => {
        const item = h("li", {}, h("a", { href: link("search", { q: word }) }, word), h("small", {}, decimals(weight)));
        item.style.setProperty("--share", Math.abs(weight) / strongest);
        return item;
      }),
    );
  const source =
    answer.source === "weights"
      ? "Ordered by the weights of the model."
      : "Ordered by how much more often documents with the bit contain them.";
  return [
    h(
      "div",
      { class: "columns" },
      h("div", {}, h("h3", {}, "Words that push it to 1"), list(answer.up, "up")),
      h("div", {}, h("h3", {}, "Words that push it to 0"), list(answer.down, "down")),
    ),
    h("p", { class: "hint" }, source),
  ];
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
