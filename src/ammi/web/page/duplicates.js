// Near-duplicates, page by page: groups of documents, and the one to keep of each.
import { announce, h, latest } from "./dom.js";
import { glimpses } from "./library.js";
import { link } from "./router.js";
import { deletion } from "./selection.js";
import { get, isReport, pause, post } from "./source.js";
import { empty, fillWith, loading } from "./states.js";
import { count, counted, percent, snippetOf, titleOf } from "./words.js";

const LIMIT = 20; // groups on a page
const SHOWN = 10; // near-duplicates shown of each group

export function duplicatesView(root, about) {
  const list = h("div", {});
  const current = latest();
  root.replaceChildren(
    h("h1", { tabindex: "-1" }, "Near-duplicates"),
    h(
      "p",
      { class: "lead" },
      "Documents whose text stands nearly word for word in another one: copies, shortened ones, and messages that ",
      "a reply quotes. The first of each group, the longest, is the one to keep; each near-duplicate is shown with ",
      "the share of its text that stands in that one, and its id.",
    ),
    list,
  );

  async function show(state) {
    const page = Math.max(1, Number(state.params.get("page")) || 1);
    document.title = `Near-duplicates, page ${page} · ${about.name}`;
    await fillWith(list, current.next(), (signal) => pageOf(about, list, page, signal), "Looking for near-duplicates…");
  }

  return { show, leave: current.stop };
}

async function pageOf(about, list, page, signal) {
  if (isReport)
    return empty("Not in a report", "Near-duplicates are found in the whole collection: open it with ammi serve.");
  const answer = await found((page - 1) * LIMIT, list, signal);
  if (!answer.total) return empty("No near-duplicates", "No two documents have nearly the same text.");
  const pages = Math.ceil(answer.total / LIMIT);
  const ids = answer.groups.flatMap((group) => [group.kept, ...group.duplicates.slice(0, SHOWN).map((one) => one.id)]);
  const known = (await post("/api/known", { ids }, signal)).ids; // others may have been deleted since
  const seen = new Map((await glimpses(known, signal)).map((one) => [String(one.id), one]));
  announce(`Page ${page} of ${pages}`);
  return [
    h(
      "p",
      { class: "hint" },
      `${counted(answer.total, "group")} with ${counted(answer.duplicates, "near-duplicate")}; `,
      `page ${count(page)} of ${count(pages)}.`,
    ),
    about.writable &&
      answer.duplicates <= about.limits.ids &&
      deletion(() => allCopies(signal), answer.duplicates, "near-duplicate"),
    h(
      "ol",
      { class: "groups", start: answer.offset + 1 },
      ...answer.groups.map((one) => group(one, seen, about.writable)),
    ),
    pager(page, pages),
  ].filter(Boolean);
}

/** Return the near-duplicates of all groups. */
async function allCopies(signal) {
  const ids = [];
  for (let offset = 0; offset !== null; ) {
    const answer = await get("/api/duplicates", { offset, limit: 100, length: 0 }, signal);
    ids.push(...answer.groups.flatMap((one) => one.duplicates.map((copy) => copy.id)));
    offset = answer.next;
  }
  return { ids: [...new Set(ids)] };
}

/** Return a page of groups, once they are computed. */
async function found(offset, list, signal) {
  for (;;) {
    const answer = await get("/api/duplicates", { offset, limit: LIMIT, length: 0 }, signal);
    if (answer.state !== "computing") return answer;
    list.replaceChildren(loading(`Looking for near-duplicates: ${percent(answer.progress)} of the documents…`));
    await pause(1000, signal);
  }
}

function group({ kept, duplicates }, seen, writable) {
  const entry = (id) =>
    h("a", { href: link("document", { id }) }, seen.has(String(id)) ? titleOf(seen.get(String(id))) : `Document ${id}`);
  const first = seen.get(String(kept));
  const items = duplicates
    .slice(0, SHOWN)
    .map((one) =>
      h(
        "li",
        {},
        entry(one.id),
        h("small", {}, ` ${percent(one.similarity)}, id ${one.id} `),
        h("a", { class: "compare", href: link("compare", { a: kept, b: one.id }) }, "Compare"),
      ),
    );
  const more = duplicates.length > SHOWN && h("li", {}, h("small", {}, `and ${count(duplicates.length - SHOWN)} more`));
  return h(
    "li",
    { class: "group" },
    h("h2", {}, entry(kept), " ", h("small", {}, `id ${kept}`)),
    first && h("p", { class: "snippet" }, snippetOf(first, 160)),
    h("ul", {}, ...items, more),
    writable && deletion({ ids: duplicates.map((one) => one.id) }, duplicates.length, "near-duplicate"),
  );
}

function pager(page, pages) {
  return h(
    "nav",
    { class: "row", "aria-label": "Pages" },
    page > 1 && h("a", { class: "chip", href: link("duplicates", { page: page - 1 }) }, "Previous page"),
    page < pages && h("a", { class: "chip", href: link("duplicates", { page: page + 1 }) }, "Next page"),
  );
}
