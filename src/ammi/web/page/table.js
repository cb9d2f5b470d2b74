// The table: documents in rows, sorted and page by page, beside counts of their metadata, with or without a search.
import { announce, h, latest } from "./dom.js";
import { facetBox, facetsOf, refocus, touch } from "./facets.js";
import { filterBar, removable } from "./filters.js";
import { remember } from "./library.js";
import { go, link } from "./router.js";
import { actions } from "./selection.js";
import { get } from "./source.js";
import { empty, failed, fillWith } from "./states.js";
import { count, counted, snippetOf, titleOf, TITLES, valueInWords } from "./words.js";

const LIMIT = 50; // documents on a page
const COLUMNS = 8;
const LONGEST = 60; // characters of a value
const MANY = 200; // values of a key: its list stands below the lists of others

export function tableView(root, about) {
  const bar = h("div", { class: "bar" });
  const sums = h("div", { class: "sums" });
  const side = h("aside", { class: "facets", "aria-label": "Counts of the documents" });
  const sheet = h("div", { class: "sheet" });
  const current = latest();
  const wide = matchMedia("(min-width: 1000px)");
  const fold = h("details", { class: "fold" }, h("summary", { class: "chip" }, "Counts and filters"), side);
  const unfold = () => (fold.open = wide.matches);
  unfold();
  wide.addEventListener("change", unfold);
  root.replaceChildren(h("h1", { tabindex: "-1" }, "Table"), bar, sums, h("div", { class: "split" }, fold, sheet));

  async function show(state) {
    const signal = current.next();
    const asked = askedIn(state);
    const change = (changed) => go(link("table", { ...asked, page: null, ...changed }));
    document.title = `Table · ${about.name}`;
    bar.replaceChildren(...barOf(about, asked, change));
    await Promise.all([
      fillWith(sheet, signal, () => page(about, asked, change, sums, signal)),
      fillWith(side, signal, () => counts(asked, change, signal)),
    ]);
    if (!signal.aborted) refocus(root);
  }

  function leave() {
    current.stop();
    wide.removeEventListener("change", unfold);
  }
  return { show, leave };
}

function askedIn({ params }) {
  const [q, lasso, region, sort] = ["q", "lasso", "region", "sort"].map((name) => params.get(name));
  return { q, where: params.getAll("where"), lasso, region, sort, page: Math.max(1, Number(params.get("page")) || 1) };
}

const selectionOf = ({ q, where, lasso, region }) => ({ q, where, lasso, region });

function barOf(about, asked, change) {
  const { q, lasso, region } = asked;
  return [
    q && removable(`“${q}”`, `Remove the search for ${q}`, () => change({ q: null })),
    lasso && removable("drawn on the map", "Remove the area drawn on the map", () => change({ lasso: null })),
    region && removable(`region ${region}`, `Remove the region ${region}`, () => change({ region: null })),
    filterBar(about, asked.where, (where) => change({ where }), { q, lasso, region }),
    h("a", { class: "chip", href: link("map", selectionOf(asked)) }, "Show on the map"),
  ].filter(Boolean);
}

async function counts(asked, change, signal) {
  const { facets } = await facetsOf(selectionOf(asked), {}, signal).catch((error) => {
    if (error.status !== 422) throw error;
    return { facets: [] }; // the table says what is wrong with the filter
  });
  const { q, where, lasso, region } = asked;
  const shared = { selection: { q, lasso, region }, conditions: where, change: (changed) => change({ where: changed }) };
  const hasMany = ({ bins, distinct }) => !bins.length && distinct > MANY;
  const shown = facets.filter((one) => one.distinct > 0).sort((one, other) => hasMany(one) - hasMany(other));
  return shown.length ? shown.map((one) => facetBox(one, shared)) : [h("p", { class: "hint" }, "Nothing to count.")];
}

async function page(about, asked, change, sums, signal) {
  const { sort, page: number } = asked;
  const params = { ...selectionOf(asked), sort, offset: (number - 1) * LIMIT, limit: LIMIT, length: 300 };
  const refused = (error) => {
    if (error.status !== 422) throw error;
    return { rows: [], total: 0, offset: 0, reason: failed(error) };
  };
  const { rows, total, offset, reason } = await get("/api/table", params, signal).catch(refused);
  remember(rows);
  const of = total < about.documents ? ` of ${count(about.documents)}` : "";
  const last = offset + rows.length;
  announce(`${counted(total, "document")}, ${count(Math.min(offset + 1, last))} to ${count(last)}`);
  const said = asked.q && total ? ", those that answer the search best" : "";
  sums.replaceChildren(
    h("p", { class: "hint" }, h("b", {}, count(total)), `${of} ${total === 1 && !of ? "document" : "documents"}${said}`),
    ...[actions(about, { ...selectionOf(asked), sort }, total)].filter(Boolean),
  );
  if (!rows.length) {
    return reason ?? empty(
      total ? "No such page" : "No documents",
      total ? "Go back to the first page." : "No document passes all of this: remove a filter above.",
    );
  }
  return [
    h("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Table of documents" }, table(about, rows, sort, change)),
    pager(asked, total, change),
  ];
}

function table(about, rows, sort, change) {
  const titled = TITLES.find((key) => about.keys.some((one) => one.name === key));
  const here = new Set(rows.flatMap((row) => Object.keys(row.metadata)));
  const keys = about.keys
    .filter((one) => one.name !== titled && (here.has(one.name) || one.indexed))
    .sort((one, other) => other.indexed - one.indexed || other.documents - one.documents)
    .slice(0, COLUMNS)
    .map((one) => one.name);
  const isNumber = (key) => rows.every((row) => ["number", "undefined"].includes(typeof (row.metadata[key] ?? undefined)));
  const numbers = new Set(keys.filter(isNumber));
  const named = (row) => !titled && typeof row.id === "string"; // a name, such as that of a function
  return h(
    "table",
    { class: "table", "data-key": "" },
    h("thead", {}, h("tr", {}, header("document", titled, sort, change), keys.map((key) => header(key, key, sort, change, numbers)))),
    h(
      "tbody",
      {},
      rows.map((row) =>
        h(
          "tr",
          {},
          h(
            "th",
            { scope: "row" },
            h("a", { href: link("document", { id: row.id }), "data-id": row.id, dir: "auto" }, titleOf(row)),
            h("small", { dir: "auto" }, named(row) ? `${row.id} · ` : "", snippetOf(row, 90)),
          ),
          keys.map((key) => cell(row.metadata[key], numbers.has(key))),
        ),
      ),
    ),
  );
}

function cell(value, isNumber) {
  const text = valueInWords(value).replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)\S*$/, "$1 $2");
  const short = text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text;
  return h("td", { class: isNumber ? "number" : null, dir: "auto", title: short === text ? null : text.slice(0, 1000) }, short);
}

/** A header that sorts: up at the first click, down at the second, and as before at the third. */
function header(name, key, sort, change, numbers = new Set()) {
  const attributes = { scope: "col", class: numbers.has(key) ? "number" : null };
  if (!key) return h("th", attributes, name);
  const order = sort === key ? "ascending" : sort === `-${key}` ? "descending" : null;
  const next = { ascending: `-${key}`, descending: null }[order] ?? (order ? null : key);
  const sign = { ascending: " ↑", descending: " ↓" }[order] ?? "";
  const sortBy = () => {
    touch("", key);
    change({ sort: next });
  };
  const button = h(
    "button",
    { type: "button", class: "quiet", "data-name": key, onclick: sortBy },
    name,
    h("span", { "aria-hidden": "true" }, sign),
  );
  return h("th", { ...attributes, "aria-sort": order }, button);
}

function pager(asked, total) {
  const pages = Math.ceil(total / LIMIT);
  const to = (page) => link("table", { ...asked, page: page === 1 ? null : page });
  return h(
    "nav",
    { class: "row pages", "aria-label": "Pages" },
    asked.page > 1 && h("a", { class: "chip", href: to(asked.page - 1) }, "Previous page"),
    h("span", { class: "hint" }, `page ${count(asked.page)} of ${count(pages)}`),
    asked.page < pages && h("a", { class: "chip", href: to(asked.page + 1) }, "Next page"),
  );
}
