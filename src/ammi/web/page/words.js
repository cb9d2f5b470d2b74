// Numbers and documents in words.

const COUNT = new Intl.NumberFormat("en");
const TITLES = ["title", "subject", "headline", "name"]; // metadata keys that hold one, the first that is there
const TITLE_LENGTH = 90;

export const count = (n) => COUNT.format(n);
export const counted = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;
export const percent = (share) => `${(100 * share).toFixed(share > 0 && share < 0.0995 ? 1 : 0)}%`;
export const decimals = (x, n = 2) => (Number.isInteger(x) ? count(x) : x.toFixed(n));

/** A value of the metadata in a line. */
export function valueInWords(value) {
  if (Array.isArray(value)) return value.map(valueInWords).join(", ");
  if (value === null || value === undefined) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function beginning(text, length) {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= length ? line : `${line.slice(0, length).replace(/[\s.,;:]+\S*$/, "")}…`;
}

/** A text whose lines were broken at a fixed width, as paragraphs: what looks like a list, a table or a verse stays. */
export function reflowed(text) {
  const lines = text.split("\n");
  const goesOn = (line, next) =>
    (line.length >= 45 || (line.length >= 25 && /[a-z,]$/.test(line))) && /^[\p{L}\p{N}"'(]/u.test(next);
  const ends = lines.slice(1).map((next, place) => (goesOn(lines[place], next) ? " " : "\n"));
  const joined = lines.map((line, place) => line + (ends[place] ?? "")).join("");
  return joined.replace(/([.!?"'])\n[ \t]+(?=["'\p{Lu}])/gu, "$1\n\n"); // a paragraph that is set in
}

/** What to call a document: its title where the metadata has one, else how its text begins, else its id. */
export function titleOf({ id, text, metadata }) {
  const key = TITLES.find((name) => typeof metadata?.[name] === "string" && metadata[name].trim());
  if (key) return beginning(metadata[key], TITLE_LENGTH);
  return beginning(text ?? "", TITLE_LENGTH) || `Document ${id}`;
}

/** How the text goes on where the title leaves off. */
export function snippetOf(document, length = 240) {
  const title = titleOf(document).replace(/…$/, "");
  const text = (document.text ?? "").replace(/\s+/g, " ").trim();
  return beginning(text.startsWith(title) ? text.slice(title.length) : text, length);
}

/** The metadata in words, without the title. */
export function factsOf(metadata) {
  const facts = Object.entries(metadata ?? {}).map(([key, value]) => [key, valueInWords(value)]);
  return facts.filter(([key, value]) => value && !TITLES.includes(key));
}
