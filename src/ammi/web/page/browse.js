// Documents that pass the filters, where nothing is searched for.
import { announce, h } from "./dom.js";
import { resultList } from "./results.js";
import { go, link } from "./router.js";
import { get } from "./source.js";
import { empty } from "./states.js";
import { counted } from "./words.js";

const FIRST = 20; // documents at first, and with each "Show more"

/** List the documents that pass `where`; `k` of them. */
export async function browsed(about, { where, k }, signal) {
  const { rows, total } = await get("/api/table", { where, limit: k, length: 400 }, signal);
  announce(`${counted(total, "document")} pass the filters`);
  if (!rows.length) return [empty("Nothing passes", "No document passes the filters: remove one of them above.")];
  const address = (hit) => link("document", { id: hit.id, where });
  const more = () => go(link("search", { where, k: k + FIRST }), { replace: true });
  return [
    h("p", { class: "hint" }, `${counted(total, "document")}, as they were added.`),
    resultList(rows, { n: about.bits, address, measure: [], label: "Documents that pass the filters" }),
    total > k && k < about.limits.k && h("p", { class: "more" }, h("button", { type: "button", onclick: more }, "Show more")),
  ].filter(Boolean);
}
