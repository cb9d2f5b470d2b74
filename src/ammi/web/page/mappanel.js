// The panel beside the map: results, the documents in a lasso, one document, or the regions.
import { announce, h } from "./dom.js";
import { glimpses } from "./library.js";
import { resultList } from "./results.js";
import { link } from "./router.js";
import { get } from "./source.js";
import { empty } from "./states.js";
import { searchStep } from "./trail.js";
import { count, counted, snippetOf, titleOf } from "./words.js";

const PAGE = 25; // documents listed at once

const documentAddress = (hit) => link("document", { id: hit.id });

/** The results of a search, which `light(hits, signal)` shows on the map. */
export async function foundList(about, q, where, k, signal, light) {
  const answer = await get("/api/search", { q, k, where, length: 300 }, signal);
  const { hits } = answer;
  await light(hits, signal);
  announce(`${counted(hits.length, "document")} for ${q} on the map`);
  if (!hits.length) return [empty("Nothing found", "Try other words.")];
  const address = (hit) => link("document", { id: hit.id, t: [searchStep(q)] });
  return [
    h("h2", {}, `The ${count(hits.length)} best for “${q}”`),
    resultList(hits, {
      against: answer.query.code,
      n: about.bits,
      address,
      label: `Documents for ${q}`,
    }),
  ];
}

/** List documents by their ids, a page at first and more on demand. */
export async function chosenList(about, ids, signal) {
  announce(`${counted(ids.length, "document")} chosen`);
  if (!ids.length) return [empty("Nothing inside", "Draw a line around some points.")];
  const options = { n: about.bits, address: documentAddress, measure: [], label: "Chosen documents" };
  const list = resultList(await glimpses(ids.slice(0, PAGE), signal), options);
  let shown = PAGE;
  const more = h(
    "button",
    {
      type: "button",
      hidden: ids.length <= PAGE,
      async onclick() {
        const next = await glimpses(ids.slice(shown, shown + PAGE), signal);
        list.append(...resultList(next, options).childNodes);
        shown += PAGE;
        more.hidden = shown >= ids.length;
      },
    },
    "Show more",
  );
  return [h("h2", {}, counted(ids.length, "document")), list, h("p", { class: "more" }, more)];
}

/** One document, which `locate(id, signal)` marks on the map. */
export async function oneDocument(about, id, signal, locate) {
  const [own] = await Promise.all([glimpses([id], signal), locate(id, signal)]);
  if (!own.length) return empty("Not here", `No document has the id ${id}.`);
  announce(titleOf(own[0]));
  const options = { n: about.bits, address: documentAddress, measure: [], label: "The chosen document" };
  return [resultList(own, options), h("p", { class: "text" }, snippetOf(own[0], 600))];
}

/** Return the name of a region, which is also used in addresses. */
export const nameOf = (region) => region.words.join(" ");

/** The numbers of the regions of the level that fills the map: the finest with at most 24. */
export function mainLevel(regions) {
  const levels = [];
  regions.forEach(({ level }, number) => (levels[level] ??= []).push(number));
  return levels.findLast((numbers) => numbers.length <= 24) ?? [];
}

/** Some regions of a map, by their numbers; `open(number)` goes to one. */
export function regionList({ regions, retry }, numbers, open, title = "Regions") {
  if (retry !== null) return h("p", { class: "hint" }, "The regions are being named…"); // a rough layout has others
  if (!regions.length) return h("p", { class: "hint" });
  const named = numbers.filter((number) => regions[number].words.length && regions[number].documents);
  named.sort((a, b) => regions[b].documents - regions[a].documents);
  return h(
    "section",
    { "aria-labelledby": "regions" },
    h("h2", { id: "regions" }, title),
    h(
      "ul",
      { class: "regions" },
      ...named.map((number) =>
        h(
          "li",
          {},
          h(
            "button",
            { type: "button", class: "quiet", onclick: () => open(number) },
            regions[number].words.join(", "),
            " ",
            h("small", {}, count(regions[number].documents)),
          ),
        ),
      ),
    ),
  );
}
