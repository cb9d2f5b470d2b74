// Which words two texts have in common, in the same order.

const WORD = /[\p{L}\p{N}\p{M}_]+|[^\s\p{L}\p{N}\p{M}_]/gu;
const MOST = 2_000_000; // pairs of words compared between two anchors; beyond it the parts count as different

/** Return the words and signs of a text as [word, start, end]. */
const split = (text) => [...text.matchAll(WORD)].map((one) => [one[0], one.index, one.index + one[0].length]);

/**
 * Align the words of two texts: words that both have once are anchors, and between them the longest common sequence
 * counts. Return the places where each text differs, as [start, end], those of two words and more that are the same,
 * and the share of the words that are the same.
 */
export function differences(one, other) {
  const [a, b] = [split(one), split(other)];
  const [inA, inB] = [new Uint8Array(a.length), new Uint8Array(b.length)];
  const pair = (i, j) => ([inA[i], inB[j]] = [1, 1]);
  const parts = [[0, a.length, 0, b.length]];
  while (parts.length) {
    let [from, to, start, end] = parts.pop();
    while (from < to && start < end && a[from][0] === b[start][0]) pair(from++, start++);
    while (from < to && start < end && a[to - 1][0] === b[end - 1][0]) pair(--to, --end);
    if (from === to || start === end) continue;
    const anchors = inOrder(shared(a, from, to, b, start, end));
    if (!anchors.length) {
      common(a, from, to, b, start, end, pair);
      continue;
    }
    for (const [i, j] of anchors) {
      parts.push([from, i, start, j]);
      pair(i, j);
      [from, start] = [i + 1, j + 1];
    }
    parts.push([from, to, start, end]);
  }
  const n = inA.reduce((sum, is) => sum + is, 0);
  const runs = (text, words, has) =>
    places(text, words, has, 1).filter(([from, to]) => /\S\s+\S/.test(text.slice(from, to)));
  return {
    places: [places(one, a, inA, 0), places(other, b, inB, 0)],
    same: [runs(one, a, inA), runs(other, b, inB)],
    share: a.length + b.length ? (2 * n) / (a.length + b.length) : 1,
  };
}

/** The pairs of words that each of two parts has once, in the order of the first. */
function shared(a, from, to, b, start, end) {
  const once = (words, low, high) => {
    const found = new Map();
    for (let n = low; n < high; n++) found.set(words[n][0], found.has(words[n][0]) ? -1 : n);
    return found;
  };
  const others = once(b, start, end);
  return [...once(a, from, to)]
    .filter(([word, i]) => i >= 0 && (others.get(word) ?? -1) >= 0)
    .map(([word, i]) => [i, others.get(word)]);
}

/** The longest run of pairs whose second numbers grow, too. */
function inOrder(pairs) {
  const last = []; // of the best run of each length
  const before = new Array(pairs.length);
  for (let n = 0; n < pairs.length; n++) {
    let [low, high] = [0, last.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (pairs[last[middle]][1] < pairs[n][1]) low = middle + 1;
      else high = middle;
    }
    before[n] = low ? last[low - 1] : -1;
    last[low] = n;
  }
  const run = [];
  for (let n = last.at(-1) ?? -1; n >= 0; n = before[n]) run.push(pairs[n]);
  return run.reverse();
}

/** Pair the longest common sequence of two parts, unless they are too long to compare. */
function common(a, from, to, b, start, end, pair) {
  const [rows, columns] = [to - from, end - start];
  if (rows * columns > MOST) return;
  const width = columns + 1;
  const longest = new Uint16Array((rows + 1) * width);
  for (let i = rows - 1; i >= 0; i--) {
    for (let j = columns - 1; j >= 0; j--) {
      const at = i * width + j;
      longest[at] =
        a[from + i][0] === b[start + j][0]
          ? longest[at + width + 1] + 1
          : Math.max(longest[at + width], longest[at + 1]);
    }
  }
  for (let [i, j] = [0, 0]; i < rows && j < columns;) {
    if (a[from + i][0] === b[start + j][0]) pair(from + i++, start + j++);
    else if (longest[(i + 1) * width + j] >= longest[i * width + j + 1]) i++;
    else j++;
  }
}

/** The places of words that are in common (1) or not (0); neighbours with only white space between them are one. */
function places(text, words, same, value) {
  const found = [];
  words.forEach(([, start, end], n) => {
    if (same[n] !== value) return;
    const last = found.at(-1);
    if (last && !text.slice(last[1], start).trim()) last[1] = end;
    else found.push([start, end]);
  });
  return found;
}
