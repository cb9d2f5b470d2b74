// Two documents side by side: the words, the metadata and the bits in which they differ.
import { differences } from "./diff.js";
import { announce, h, latest } from "./dom.js";
import { remember } from "./library.js";
import { textNodes } from "./reading.js";
import { fact, resultList } from "./results.js";
import { link } from "./router.js";
import { get } from "./source.js";
import { empty, fillWith } from "./states.js";
import { bitsOf, differing, key, strip } from "./strip.js";
import { breadcrumb, documentStep, longer, trailOf, wordsBefore } from "./trail.js";
import { counted, factsOf, percent, titleOf } from "./words.js";

const CHOICES = 20; // documents to compare with
const ALIKE = 0.4; // share of words in common from which the differences are marked, and below it what is the same

export function compareView(root, about) {
  const current = latest();

  async function show(state) {
    const signal = current.next();
    const [a, b] = [state.params.get("a"), state.params.get("b")];
    const work = () => (b === null ? choice(about, a, trailOf(state), signal) : both(about, a, b, state, signal));
    await fillWith(root, signal, work, "Comparing…");
  }

  return { show, leave: current.stop };
}

/** Offer the results that led here, or else the nearest documents. */
async function choice(about, a, trail, signal) {
  if (a === null) return empty("Nothing to compare", "Open a document, and choose Compare.");
  const q = wordsBefore(trail);
  const path = `/api/documents/${encodeURIComponent(a)}`;
  const asked = { k: CHOICES, length: 400 };
  const [own, { hits }] = await Promise.all([
    get(path, { length: 400 }, signal),
    q ? get("/api/search", { q, ...asked }, signal) : get(`${path}/like`, asked, signal),
  ]);
  const others = hits.filter((hit) => String(hit.id) !== String(own.id));
  document.title = `Compare · ${about.name}`;
  return [
    breadcrumb(trail, signal),
    h("h1", { tabindex: "-1" }, `Compare “${titleOf(own)}” with…`),
    h("p", { class: "lead" }, q ? `Another document for “${q}”:` : "One of the documents nearest to it:"),
    others.length
      ? resultList(others, {
          n: about.bits,
          against: own.code,
          measure: [],
          address: (hit) => link("compare", { a, b: hit.id, t: trail }),
          label: "Documents to compare with",
        })
      : empty("Nothing to compare", "There is no other document."),
  ];
}

async function both(about, a, b, state, signal) {
  const path = (id) => `/api/documents/${encodeURIComponent(id)}`;
  const [one, other] = await Promise.all([get(path(a), {}, signal), get(path(b), {}, signal)]);
  remember([one, other]);
  const { places, same, share } = differences(one.text ?? "", other.text ?? "");
  const isAlike = share >= ALIKE;
  const marks = isAlike ? places : same;
  const bits = differing(bitsOf(one.code, about.bits), bitsOf(other.code, about.bits));
  const trail = trailOf(state);
  document.title = `${titleOf(one)} and ${titleOf(other)} · ${about.name}`;
  announce(`${percent(share)} of the words are the same, ${counted(bits.length, "bit")} differ`);
  const step = longer(trail, documentStep(one.id));
  return [
    breadcrumb(trail, signal),
    h("h1", { tabindex: "-1" }, "Two documents side by side"),
    h(
      "p",
      { class: "lead" },
      h("b", {}, percent(share)),
      ` of their words are the same, in the same order; ${isAlike ? "the others" : "runs of them"} are marked. `,
      "Their codes differ in ",
      h("b", {}, String(bits.length)),
      ` of ${counted(about.bits, "bit")}. `,
      key(),
    ),
    h(
      "div",
      { class: `columns compared ${isAlike ? "alike" : ""}` },
      side(about, one, other, marks[0], link("document", { id: one.id, t: trail })),
      side(about, other, one, marks[1], link("document", { id: other.id, t: step })),
    ),
    bits.length > 0 && (await bitList(one, about, bits, signal)),
  ].filter(Boolean);
}

function side(about, own, other, places, address) {
  const there = new Map(factsOf(other));
  const facts = factsOf(own).map(([name, value]) => fact(name, there.get(name) === value ? value : h("b", {}, value)));
  return h(
    "article",
    { class: "document" },
    h("h2", { dir: "auto" }, h("a", { href: address, "data-id": own.id }, titleOf(own))),
    h("dl", { class: "facts" }, ...facts),
    strip(own.code, about.bits, other.code),
    h(
      "div",
      { class: "text", dir: "auto" },
      ...(own.text ? textNodes(own.text, { places }) : [h("p", { class: "hint" }, "It has no text.")]),
    ),
  );
}

/** The bits that differ, with the words that push each of them up. */
async function bitList(one, about, bits, signal) {
  const own = bitsOf(one.code, about.bits);
  const { bits: named } = await get("/api/bits", {}, signal);
  const items = bits.map((bit) => {
    const words = named[bit]?.words.join(", ");
    const values = own[bit] ? "1 and 0" : "0 and 1";
    return h(
      "li",
      {},
      h("a", { href: link("bits", { bit }) }, `Bit ${bit}`),
      ` ${values}`,
      words && h("small", {}, words),
    );
  });
  return h(
    "section",
    { "aria-labelledby": "bits-that-differ" },
    h("h2", { id: "bits-that-differ" }, "The bits that differ"),
    h("p", { class: "hint" }, "Left and right value, and words that push the bit to 1."),
    h("ul", { class: "apart" }, ...items),
  );
}
