// Counts of metadata values and orders of documents, computed here for a report, which has no server.

const FEW = 12; // distinct numbers that are counted one by one
const BINS = 25;
const DATE = /^\d{4}-\d\d-\d\d/;

const valuesOf = (document, key) => [...new Set([document.metadata[key] ?? []].flat())].filter((one) => typeof one !== "object");

/** Count the values of keys: `selected(key)` gives the documents that pass all filters but those on the key. */
export function facetsIn(documents, keys, selected, { contains = "", offset = 0, limit = FEW }) {
  return keys.map((key) => {
    const all = tally(documents, key);
    const chosen = selected(key);
    const own = tally(chosen, key);
    const kind = kindOf([...all.keys()], documents.filter((one) => valuesOf(one, key).length).length);
    const values = [...all]
      .map(([value, n]) => ({ value, selected: own.get(value) ?? 0, all: n }))
      .filter((one) => String(one.value).toLowerCase().includes(contains.toLowerCase()))
      .sort((a, b) => b.selected - a.selected || b.all - a.all || compare(a.value, b.value));
    const bins = kind === "number" || kind === "date" ? histogram(kind, [...all.keys()], documents, chosen, key) : [];
    const having = chosen.filter((one) => valuesOf(one, key).length).length;
    const shown = values.slice(Number(offset), Number(offset) + Number(limit));
    return { key, kind, documents: having, distinct: values.length, values: shown, bins };
  });
}

function tally(documents, key) {
  const counts = new Map();
  for (const one of documents) for (const value of valuesOf(one, key)) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

function kindOf(values, n) {
  if (values.length > FEW && values.filter((one) => typeof one === "number").length > values.length / 2) return "number";
  if (values.length > 1 && values.filter((one) => DATE.test(one)).length > values.length / 2) return "date";
  return values.length > FEW && values.length > 0.9 * n ? "text" : "category";
}

function histogram(kind, values, documents, chosen, key) {
  const fits = (value) => (kind === "number" ? typeof value === "number" : DATE.test(value));
  const among = values.filter(fits).sort(compare);
  const edges = kind === "number" ? edgesOf(among[0], among.at(-1)) : yearsOf(among[0], among.at(-1));
  const into = (list, low, high) =>
    list.filter((one) => valuesOf(one, key).some((value) => fits(value) && value >= low && value < high)).length;
  return edges.slice(1).map((high, place) => {
    const low = edges[place];
    return { low, high, selected: into(chosen, low, high), all: into(documents, low, high) };
  });
}

function edgesOf(low, high) {
  const rough = (high - low) / BINS || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= rough);
  const first = Math.floor(low / step);
  const n = Math.floor(high / step) + 2 - first;
  return Array.from({ length: n }, (_, place) => Number(((first + place) * step).toPrecision(12)));
}

/** Return the beginnings of years; of months, if there are few. */
function yearsOf(low, high) {
  const [from, to] = [low, high].map((date) => Number(date.slice(0, 4)) * 12 + Number(date.slice(5, 7)) - 1);
  const step = to - from <= 36 ? 1 : 12 * Math.ceil((to - from) / 12 / BINS);
  const first = from - (from % step);
  const date = (month) => `${String(Math.floor(month / 12)).padStart(4, "0")}-${String((month % 12) + 1).padStart(2, "0")}-01`;
  return Array.from({ length: Math.floor((to - first) / step) + 2 }, (_, place) => date(first + place * step));
}

/** Return documents by the values of a key, those without one last. */
export function sorted(documents, sort) {
  if (!sort) return documents;
  const isDown = !documents.some((one) => sort in one.metadata) && sort.startsWith("-");
  const key = isDown ? sort.slice(1) : sort;
  const first = (one) => [one.metadata[key] ?? []].flat()[0];
  const having = documents.filter((one) => first(one) !== undefined);
  having.sort((a, b) => (isDown ? -1 : 1) * compare(first(a), first(b)));
  return [...having, ...documents.filter((one) => first(one) === undefined)];
}

function compare(a, b) {
  if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}
