// The breadcrumbs of a document: searches ("?words") and documents ("=id"), kept in the address.
import { h } from "./dom.js";
import { titleFor } from "./library.js";
import { link } from "./router.js";

const LONGEST = 8;

export const searchStep = (q) => `?${q}`;
export const documentStep = (id) => `=${id}`;
export const trailOf = (state) => state.params.getAll("t");
export const longer = (trail, step) => [...trail, step].slice(-LONGEST);

function addressOf(steps, place) {
  const own = steps[place].slice(1);
  return steps[place].startsWith("?")
    ? link("search", { q: own })
    : link("document", { id: own, t: steps.slice(0, place) });
}

/** The breadcrumbs as links, the last of which leads one step back; titles follow when they are loaded. */
export function breadcrumb(steps, signal) {
  const items = steps.map((step, place) => {
    const anchor = h("a", { href: addressOf(steps, place) }, step.startsWith("?") ? `“${step.slice(1)}”` : "…");
    if (step.startsWith("=")) {
      titleFor(step.slice(1), signal)
        .catch(() => `Document ${step.slice(1)}`)
        .then((title) => anchor.replaceChildren(title));
    }
    return h("li", {}, anchor);
  });
  return h("nav", { class: "trail", "aria-label": "The way here" }, h("ol", {}, ...items));
}
