// Numbers and documents as text.

const COUNT = new Intl.NumberFormat("en");
export const TITLES = ["title", "subject", "headline", "name"]; // metadata keys of titles, the first one counts
const TITLE_LENGTH = 90;
const LONGEST_TITLE = 200; // characters of a first paragraph that is a title, as for the search
export const RANKS = {
  text: "words and codes",
  distance: "distance of codes",
  asymmetric: "weighted distance of codes",
  vectors: "cosine of vectors",
};

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

/** Write a text on one line, without the rules of tables and headings. */
export const onOneLine = (text) => text.replace(/\s+/g, " ").replace(/([^\p{L}\p{N}\s])\1{4,}/gu, "$1$1$1");

function beginning(text, length) {
  const line = onOneLine(text).trim();
  return line.length <= length ? line : `${line.slice(0, length).replace(/[\s.,;:]+\S*$/, "")}…`;
}

/** Return the title of a document from its metadata, else a short first paragraph, else its beginning, else its id. */
export function titleOf({ id, text, metadata }) {
  const key = TITLES.find((name) => typeof metadata?.[name] === "string" && metadata[name].trim());
  if (key) return beginning(metadata[key], TITLE_LENGTH);
  const [first, ...others] = (text ?? "").trim().split(/\n[^\S\n]*\n/);
  const isTitle = others.length > 0 && first.length <= LONGEST_TITLE;
  return (isTitle ? beginning(first, LONGEST_TITLE) : beginning(text ?? "", TITLE_LENGTH)) || `Document ${id}`;
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

let firstKeys = [];

/** Show these metadata keys before others. */
export const showFirst = (keys) => (firstKeys = keys);

const LONG_FACT = 30; // characters, as of message ids and lists of references, which come last

/** Return the id and the metadata as texts, without the title. */
export function factsOf({ id, metadata }) {
  const facts = Object.entries(metadata ?? {}).map(([key, value]) => [key, valueInWords(value)]);
  const shown = facts.filter(([key, value]) => value && !TITLES.includes(key));
  const place = ([key, value]) => (firstKeys.includes(key) ? 0 : value.length > LONG_FACT ? 2 : 1);
  return [["id", String(id)], ...shown.sort((one, other) => place(one) - place(other))];
}
