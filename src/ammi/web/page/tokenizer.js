// The words of a text, by the rule of ammi/features/alphabet.py: a test compares the two over generated texts.

// Scripts written without spaces: pairs of neighbouring characters stand in for words.
const UNSPACED =
  "\\u3005-\\u3007\\u3041-\\u3096\\u309d-\\u309f\\u30a1-\\u30fa\\u30fc-\\u30ff\\u31f0-\\u31ff\\u3400-\\u4dbf" +
  "\\u4e00-\\u9fff\\uf900-\\ufaff\\u{20000}-\\u{3ffff}\\u0e01-\\u0e3a\\u0e40-\\u0e4e\\u0e81-\\u0ece" +
  "\\u0f40-\\u0fbc\\u1000-\\u103f\\u1780-\\u17d3";
const [U, W] = [`[${UNSPACED}]`, `(?:(?![${UNSPACED}])[\\p{L}\\p{N}\\p{M}_])`];
// Two word characters or more, or an unspaced one alone; else an unspaced one together with the next.
const WORD = new RegExp(`(${W}{2,}|(?<!${U})${U}(?!${U}))|${U}(?=(${U}))`, "gu");

function found(form) {
  return [...form.matchAll(WORD)].map((match) => [match[1] ?? match[0] + match[2], match.index]);
}

/** The words of a text, in their order. */
export function wordsOf(text) {
  return found(text.normalize("NFKC").toLowerCase()).map(([word]) => word);
}

/** The parts of a text in which some words stand, as [start, end]; parts that touch are one. */
export function partsWith(text, words) {
  const wanted = new Set(words);
  const [starts, ends] = [[], []]; // of the character of the text from which each unit of the normal form comes
  let [whole, each, at] = ["", "", 0];
  for (const character of text.match(/\P{M}\p{M}*|\p{M}+/gu) ?? []) {
    const normal = character.normalize("NFKC");
    whole += normal;
    each += normal.toLowerCase();
    for (let unit = normal.toLowerCase().length; unit > 0; unit--) {
      starts.push(at);
      ends.push(at + character.length);
    }
    at += character.length;
  }
  const lower = whole.toLowerCase(); // which knows the end of a word, where Greek has a letter of its own
  const parts = [];
  for (const [word, start] of found(lower.length === each.length ? lower : each)) {
    if (!wanted.has(word)) continue;
    const [begin, end] = [starts[start], ends[start + word.length - 1]];
    const last = parts.at(-1);
    if (last && begin <= last[1]) last[1] = end;
    else parts.push([begin, end]);
  }
  return parts;
}
