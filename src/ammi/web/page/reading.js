// A text as it was written: white space stays where it carries meaning, and the words of a query are marked.
import { h } from "./dom.js";

const LONG = 1500; // characters before the rest is folded
const REFLOW = "ammi-reflow"; // in the storage of the browser
const phone = matchMedia("(max-width: 700px)"); // where broken lines are broken once more

const GAP = /[^\s.!?:;,]\t+\S|[^\s.!?]  +\S|\S {3,}\S/; // columns; two spaces after a sentence are none
const RULE = /^[\s|+=_*#~.:-]{4,}$/;
const CODE =
  /^(?:>>> |\.\.\. |\$ |[#%]!|import |from \w+ import |def |class |return\b|@\w)|[{};\\]\s*$|\w\(.*\)\s*[:{]?$|[=!<>]=|[-=]>|::|^\s+\w+ = /;
const ENTRY = /^[\w.*][\w.*, ]{0,50} : \S/; // of a list of parameters
const LOG = /^\s*\[?(?:\d{1,4}[-:./]\d{1,2}[-:./ ]|[A-Z][a-z]{2} +\d{1,2} \d\d:|\d+\.\d+\.\d+\.\d+\b)/;

/** Return whether a paragraph, as lines, is code, a table or a log, whose columns mean something. */
function hasLayout(lines) {
  const share = (test) => lines.filter((line) => test.test(line)).length / lines.length;
  if (lines.length === 1) return /^(?:>>> |\s*\|.*\|\s*$)|\t.*\t/.test(lines[0]);
  const depths = new Set(lines.map((line) => line.search(/\S/)));
  return share(GAP) >= 0.4 || share(LOG) > 0.5 || share(CODE) >= (depths.size > 1 ? 0.3 : 0.5) || share(/\|.*\|/) > 0.5;
}

/** Split a text into blocks of prose and of layout, each with its white space: together they are the text. */
export function blocksOf(text) {
  const paragraphs = text.match(/(?:[^\n]*\S[^\n]*(?:\n|$))+(?:[^\S\n]*\n)*|^(?:[^\S\n]*\n)+/g) ?? [text];
  const found = paragraphs.map((paragraph) => {
    const lines = paragraph.trimEnd().split("\n");
    return {
      text: paragraph,
      lines: lines.length,
      layout: hasLayout(lines) && !lines.every((line) => RULE.test(line)),
    };
  });
  const rows = (layout) => found.reduce((sum, one) => sum + (one.layout === layout ? one.lines : 0), 0);
  if (rows(true) > 2 * rows(false)) for (const one of found) one.layout = true; // a program with some comments
  const blocks = [];
  for (const { text, layout } of found) {
    if (blocks.at(-1)?.layout === layout) blocks.at(-1).text += text;
    else blocks.push({ text, layout });
  }
  return blocks;
}

/** Join lines that were broken at a fixed width; lists, quotes and verse stay as they are. No character moves. */
export function reflowed(text) {
  const goesOn = (line, next) =>
    !ENTRY.test(next) &&
    (line.length >= 45 || (line.length >= 25 && /[a-z,]$/.test(line))) && /^[\p{L}\p{N}"'(]/u.test(next);
  const lines = text.split("\n");
  return lines
    .map((line, n) => line + (n + 1 === lines.length ? "" : goesOn(line, lines[n + 1]) ? " " : "\n"))
    .join("");
}

/** Return places in a text, which count code points, as places in a string of JavaScript. */
function inUnits(text, places) {
  if (!/[\ud800-\udbff]/.test(text)) return places;
  const starts = [];
  let at = 0;
  for (const character of text) {
    starts.push(at);
    at += character.length;
  }
  return places.map((ends) => ends.map((end) => starts[end] ?? at));
}

/** Return the part of a text from `start` to `end` as nodes, with the marked places. */
function withMarks(text, start, end, places) {
  const nodes = [];
  let at = start;
  for (const [from, to] of places) {
    if (to <= at || from >= end) continue;
    nodes.push(text.slice(at, Math.max(at, from)), h("mark", {}, text.slice(Math.max(at, from), Math.min(to, end))));
    at = Math.min(to, end);
  }
  return [...nodes, text.slice(at, end)];
}

/** The nodes of a text up to `end`: paragraphs, and boxes of text with its columns. */
export function textNodes(text, { places = [], join = false, end = text.length } = {}) {
  let at = 0;
  const nodes = [];
  for (const block of blocksOf(text)) {
    if (at >= end) break;
    const shown = join && !block.layout ? text.slice(0, at) + reflowed(block.text) : text;
    const content = withMarks(shown, at, Math.min(end, at + block.text.length), places);
    nodes.push(
      block.layout
        ? h("pre", { tabindex: 0, role: "group", "aria-label": "Text with columns" }, ...content)
        : h("div", { class: "prose" }, ...content),
    );
    at += block.text.length;
  }
  return nodes;
}

function kept() {
  try {
    return localStorage.getItem(REFLOW);
  } catch {
    return null; // a report opened where storage is not allowed
  }
}

function keep(choice) {
  try {
    localStorage.setItem(REFLOW, choice);
  } catch {
    // it holds until the document is closed
  }
}

/** Return whether a part of a document can be seen, also if the document scrolls on its own. */
function isVisible(part) {
  const { top, bottom } = part.getBoundingClientRect();
  const box = part.closest(".document")?.getBoundingClientRect();
  return top >= Math.max(0, box?.top ?? 0) && bottom <= Math.min(innerHeight, box?.bottom ?? innerHeight);
}

/** A document's text with the words of a query marked; `reveal()` scrolls to the passage that `why` names. */
export function reading(text, why) {
  const places = why ? inUnits(text, why.words) : [];
  const [[first]] = why?.words.length ? inUnits(text, [[why.start, why.start]]) : [[-1]];
  const shown = h("div", { class: "text", dir: "auto" });
  const mayJoin = blocksOf(text).some((block) => !block.layout && reflowed(block.text) !== block.text);
  let join = (kept() ?? String(phone.matches)) === "true";
  let end = text.length > LONG && first < LONG - 300 ? LONG : text.length;
  let here = 0;

  function draw() {
    shown.replaceChildren(...textNodes(text, { places, join, end }), end < text.length ? "…" : "");
    rest.hidden = end >= text.length;
    flow.setAttribute("aria-pressed", join);
  }

  /** Go to a marked word, which is unfolded first. */
  function go(place) {
    here = (place + places.length) % places.length;
    if (places[here][1] > end) {
      end = text.length;
      draw();
    }
    for (const old of shown.querySelectorAll("mark.here")) old.classList.remove("here");
    const marks = [...shown.querySelectorAll("mark")];
    const mark = marks[Math.min(here, marks.length - 1)];
    mark.classList.add("here");
    if (!isVisible(mark)) mark.scrollIntoView({ block: "center" });
    count.textContent = `${here + 1} of ${places.length}`;
  }

  const flow = h("button", { type: "button", onclick: () => choose(!join) }, "Join broken lines");
  const choose = (chosen) => {
    keep(String((join = chosen)));
    draw();
  };
  const unfold = () => {
    end = text.length;
    draw();
  };
  const rest = h("button", { type: "button", class: "quiet", onclick: unfold }, "Show the whole text");
  const count = h("span", {}, String(places.length));
  const step = (by, name) =>
    h("button", { type: "button", "aria-label": `${name} word of the query`, onclick: () => go(here + by) }, name);
  const tools = [
    mayJoin && flow,
    places.length > 0 && h("span", { class: "hint" }, "Words of the query: ", count),
    places.length > 1 && step(-1, "Previous"),
    places.length > 1 && step(1, "Next"),
  ].filter(Boolean);
  draw();
  const best = places.findIndex(([from]) => from >= first);
  return {
    nodes: [tools.length > 0 && h("div", { class: "row read" }, ...tools), shown, rest],
    reveal: () => best >= 0 && go(best),
  };
}
