// Numbers and documents as text.

const COUNT = new Intl.NumberFormat("en");
const TITLES = ["title", "subject", "headline", "name"]; // metadata keys of titles, the first one counts
const TITLE_LENGTH = 90;

export const count = (n) => COUNT.format(n);
export const counted = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;
export const percent = (share) => `${(100 * share).toFixed(share > 0 && share < 0.0995 ? 1 : 0)}%`;
export const decimals = (x, n = 2) => (Number.isInteger(x) ? count(x) : x.toFixed(n));

/** Write a metadata value on one line. */
export function valueInWords(value) {
  if (Array.isArray(value)) return value.map(valueInWords).join(", ");
  if (value === null || value === undefined) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function beginning(text, length) {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= length ? line : `${line.slice(0, length).replace(/[\s.,;:]+\S*$/, "")}…`;
}

/** Join lines that were broken at a fixed width; lists, tables and verse stay as they are. */
export function reflowed(text) {
  const lines = text.split("\n");
  const goesOn = (line, next) =>
    (line.length >= 45 || (line.length >= 25 && /[a-z,]$/.test(line))) && /^[\p{L}\p{N}"'(]/u.test(next);
  const ends = lines.slice(1).map((next, place) => (goesOn(lines[place], next) ? " " : "\n"));
  const joined = lines.map((line, place) => line + (ends[place] ?? "")).join("");
  return joined.replace(/([.!?"'])\n[ \t]+(?=["'\p{Lu}])/gu, "$1\n\n"); // an indented paragraph
}

/** Return the title of a document from its metadata, else the beginning of its text, else its id. */
export function titleOf({ id, text, metadata }) {
  const key = TITLES.find((name) => typeof metadata?.[name] === "string" && metadata[name].trim());
  if (key) return beginning(metadata[key], TITLE_LENGTH);
  return beginning(text ?? "", TITLE_LENGTH) || `Document ${id}`;
}

/** Return the beginning of a document's text that is its title; nothing if the title is another one. */
export function titleInText(document) {
  const [title, text] = [titleOf(document).replace(/…$/, ""), document.text ?? ""];
  let end = 0;
  for (const word of title.split(" ")) {
    const start = text.indexOf(word, end);
    if (start < 0 || text.slice(end, start).trim()) return "";
    end = start + word.length;
  }
  return text.slice(0, end);
}

/** Return the text that follows the title. */
export function snippetOf(document, length = 240) {
  const title = titleOf(document).replace(/…$/, "");
  const text = (document.text ?? "").replace(/\s+/g, " ").trim();
  return beginning(text.startsWith(title) ? text.slice(title.length) : text, length);
}

/** Return the metadata as texts, without the title. */
export function factsOf(metadata) {
  const facts = Object.entries(metadata ?? {}).map(([key, value]) => [key, valueInWords(value)]);
  return facts.filter(([key, value]) => value && !TITLES.includes(key));
}
