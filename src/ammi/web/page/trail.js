// The breadcrumbs of a document: searches ("?words") and documents ("=id"), kept in the address with how they were asked.
import { h } from "./dom.js";
import { inWords } from "./filters.js";
import { titleFor } from "./library.js";
import { link } from "./router.js";
import { RANKS } from "./words.js";

const LONGEST = 8;
const STEP = /^([?=])([^]*?)(?:\n((?:rank|where|distinct|k)=[^\n]*))?$/;

/** A step: its kind and what it names, and in a second line its rank and filter. */
function step(kind, own, asked = {}) {
  const options = new URLSearchParams();
  for (const key of ["rank", "where", "distinct", "k"])
    for (const value of [asked[key] ?? []].flat()) options.append(key, value);
  return options.size ? `${kind}${own}\n${options}` : `${kind}${own}`;
}

export const searchStep = (q, asked) => step("?", q, asked);
export const documentStep = (id, asked) => step("=", id, asked);
export const trailOf = (state) => state.params.getAll("t");
export const longer = (trail, step) => [...trail, step].slice(-LONGEST);

function parts(step) {
  const [, kind, own, options = ""] = STEP.exec(step) ?? [null, "?", step];
  const params = new URLSearchParams(options);
  const asked = Object.fromEntries([...params.keys()].map((key) => [key, params.getAll(key)]));
  return { isSearch: kind === "?", own, asked };
}

/** Return the words of the search that led here directly; "" if a document did. */
export function wordsBefore(trail) {
  const last = trail.length ? parts(trail.at(-1)) : null;
  return last?.isSearch ? last.own : "";
}

/** The breadcrumbs as links, the last of which leads one step back; titles follow when they are loaded. */
export function breadcrumb(steps, signal) {
  const items = steps.map((step, place) => {
    const { isSearch, own, asked } = parts(step);
    const address = isSearch
      ? link("search", { q: own, ...asked })
      : link("document", { id: own, t: steps.slice(0, place), ...asked });
    const anchor = h("a", { href: address }, isSearch ? `“${own}”` : "…");
    if (!isSearch) {
      titleFor(own, signal)
        .catch(() => `Document ${own}`)
        .then((title) => anchor.replaceChildren(title));
    }
    const how = [...(asked.where ?? []).map(inWords), ...(asked.rank ?? []).map((rank) => `by ${RANKS[rank] ?? rank}`)];
    return h("li", {}, anchor, how.length > 0 && h("small", {}, how.join(", ")));
  });
  return h("nav", { class: "trail", "aria-label": "The way here" }, h("ol", {}, ...items));
}
