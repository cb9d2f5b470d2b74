// A code as a strip of bits: filled for 1, hollow for 0, taller and coloured where it differs from another code.
// A click on a cell colours the map by that bit.
import { h, svg } from "./dom.js";
import { go, link, stateNow } from "./router.js";
import { counted } from "./words.js";

const CELL = 6; // width of a bit, of which GAP stays free; a further gap after every eighth
const GAP = 1;
const GROUP = 3;
const HEIGHT = 14;
const LOW = 3; // margin above and below a bit that does not differ
const ROW = 64; // bits before a strip breaks into another row

/** Return the bits of a hexadecimal code, as a list of 0 and 1. */
export function bitsOf(code, n) {
  return Array.from({ length: n }, (_, bit) => (parseInt(code[bit >> 2], 16) >> (3 - (bit & 3))) & 1);
}

/** Return the left edge of a bit. */
const left = (bit) => (bit % ROW) * CELL + ((bit % ROW) >> 3) * GROUP;
const top = (bit) => Math.floor(bit / ROW) * (HEIGHT + 4);

export function differing(bits, others) {
  return bits.flatMap((bit, place) => (bit === others[place] ? [] : [place]));
}

function inWords(places, n) {
  const where = places.length && places.length <= 12 ? `: ${places.join(", ")}` : "";
  return places.length
    ? `differs in ${places.length} of ${counted(n, "bit")}${where}`
    : `the same ${counted(n, "bit")}`;
}

/** A frame for `n` bits, with a description for screen readers. */
function frame(n, label, height) {
  const rows = Math.ceil(n / ROW);
  const width = left(Math.min(n, ROW) - 1) + CELL;
  const box = `0 0 ${width} ${rows * height + (rows - 1) * 4}`;
  const picture = svg("svg", { class: "strip", viewBox: box, role: "img", "aria-label": label });
  const name = svg("title", {});
  picture.append(name);
  picture.addEventListener("pointermove", (event) => {
    const bit = bitAt(picture, event, n);
    name.textContent = bit === undefined ? "" : `Colour the map by bit ${bit}`;
  });
  picture.addEventListener("click", (event) => {
    const bit = bitAt(picture, event, n);
    if (bit !== undefined) go(mapOf(bit));
  });
  return picture;
}

/** The bit of the cell under a pointer; a gap belongs to the cell before it. */
function bitAt(picture, event, n) {
  const scale = picture.viewBox.baseVal.width / picture.getBoundingClientRect().width;
  const [x, y] = [event.offsetX * scale, event.offsetY * scale];
  const row = Math.floor(y / (HEIGHT + 4));
  return Array.from({ length: n }, (_, bit) => bit).findLast((bit) => Math.floor(bit / ROW) === row && x >= left(bit));
}

/** The address of the map coloured by a bit: of the map as it is, if it is open. */
export function mapOf(bit) {
  const { view, params } = stateNow();
  if (view !== "map") return link("map", { bit });
  const kept = Object.fromEntries([...new Set(params.keys())].map((key) => [key, params.getAll(key)]));
  return link("map", { ...kept, colour: null, only: null, bit });
}

const box = (x, y, width, height) => `M${x} ${y}h${width}v${height}h${-width}z`;

/** Draw the strip of a code, compared with `other` if given. */
export function strip(code, n, other = null) {
  const bits = bitsOf(code, n);
  const others = other === null ? bits : bitsOf(other, n);
  const paths = { "same zero": "", "same one": "", "other zero": "", "other one": "" };
  for (let bit = 0; bit < n; bit++) {
    const same = bits[bit] === others[bit];
    const inset = same ? LOW : 0;
    const cell = box(left(bit), top(bit) + inset, CELL - GAP, HEIGHT - 2 * inset);
    paths[`${same ? "same" : "other"} ${bits[bit] ? "one" : "zero"}`] += cell;
  }
  const drawn = Object.entries(paths).filter(([, d]) => d);
  const label = other === null ? `a code of ${counted(n, "bit")}` : inWords(differing(bits, others), n);
  const picture = frame(n, label, HEIGHT);
  picture.append(...drawn.map(([name, d]) => svg("path", { class: name, d })));
  return picture;
}

/** Draw the probability of each bit as a bar, up to 1 or down to 0. */
export function certainty(probabilities) {
  const n = probabilities.length;
  const half = HEIGHT / 2;
  let ones = "";
  let zeros = "";
  for (let bit = 0; bit < n; bit++) {
    const sure = Math.max(0.06, Math.abs(probabilities[bit] - 0.5) * 2) * half;
    if (probabilities[bit] >= 0.5) ones += box(left(bit), top(bit) + half - sure, CELL - GAP, sure);
    else zeros += box(left(bit), top(bit) + half, CELL - GAP, sure);
  }
  const doubtful = probabilities.filter((p) => p > 0.1 && p < 0.9).length;
  const label = `how sure the model is of each of ${counted(n, "bit")}: it doubts ${doubtful}`;
  const picture = frame(n, label, HEIGHT);
  picture.append(svg("path", { class: "same one", d: ones }), svg("path", { class: "sure zero", d: zeros }));
  return picture;
}

/** The legend of a differing bit. */
export function key() {
  return h("span", { class: "key" }, h("i", {}), "marks a bit that differs");
}
