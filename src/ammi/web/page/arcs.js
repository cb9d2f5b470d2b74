// The bits in the order of the chain, how often each is 1, and arcs between bits that depend on each other.
import { svg } from "./dom.js";
import { counted, percent } from "./words.js";

const STEP = 14; // from bit to bit
const TALL = 120; // of the arcs
const BAR = 26; // of the balance
const GAP = 16; // between them, for numbers

const middle = (bit) => (bit + 0.5) * STEP;

/** Draw all bits; `chosen` is highlighted, and a click calls `choose(bit)`. */
export function arcs(answer, chosen, choose) {
  const n = answer.bits.length;
  const strongest = Math.max(...answer.links.map((one) => one.information), 1e-9);
  const links = counted(answer.links.length, "arc");
  const label = `${counted(n, "bit")} in the order of the chain, with ${links} between bits that depend on each other`;
  const picture = svg("svg", {
    class: "arcs",
    viewBox: `0 0 ${n * STEP} ${TALL + GAP + BAR}`,
    role: "img",
    "aria-label": label,
  });
  const lines = [...answer.links].reverse().map((one) => arc(one, strongest, n, chosen));
  lines.sort((a, b) => a.classList.contains("mine") - b.classList.contains("mine"));
  const every = n > 96 ? 16 : 8;
  const numbers = answer.bits
    .filter(({ bit }) => bit % every === 0 || bit === chosen)
    .filter(({ bit }) => bit === chosen || chosen === null || Math.abs(bit - chosen) > 1)
    .map(({ bit }) =>
      svg("text", { x: middle(bit), y: TALL + 11, class: bit === chosen ? "mine" : null }, String(bit)),
    );
  picture.append(...lines, ...numbers, ...answer.bits.flatMap((bit) => column(bit, chosen)));
  picture.addEventListener("click", (event) => {
    const x = (event.offsetX / picture.getBoundingClientRect().width) * n * STEP;
    choose(Math.max(0, Math.min(n - 1, Math.floor(x / STEP))));
  });
  return picture;
}

function arc({ a, b, information, same }, strongest, n, chosen) {
  const [x0, x1] = [middle(Math.min(a, b)), middle(Math.max(a, b))];
  const height = TALL * Math.min(1, 0.12 + 0.88 * Math.sqrt((x1 - x0) / (n * STEP)));
  const share = information / strongest;
  const mine = chosen === null ? "" : a === chosen || b === chosen ? "mine" : "apart";
  const path = svg("path", {
    class: `arc ${same ? "together" : "opposite"} ${mine}`,
    d: `M${x0} ${TALL}C${x0} ${TALL - height * 1.33} ${x1} ${TALL - height * 1.33} ${x1} ${TALL}`,
    "stroke-width": (0.4 + 3.6 * share).toFixed(2),
    "stroke-opacity": (0.25 + 0.75 * Math.sqrt(share)).toFixed(2),
  });
  path.append(
    svg(
      "title",
      {},
      `bits ${a} and ${b}: ${information.toFixed(3)} bits in common, ${same ? "equal" : "opposite"} as a rule`,
    ),
  );
  return path;
}

function column({ bit, balance }, chosen) {
  const x = bit * STEP + 1.5;
  const ones = BAR * balance;
  const base = TALL + GAP;
  const name = bit === chosen ? "mine" : "";
  const whole = svg("rect", { class: `share ${name}`, x, y: base, width: STEP - 3, height: BAR });
  whole.append(svg("title", {}, `bit ${bit}: 1 in ${percent(balance)} of documents`));
  return [whole, svg("rect", { class: `share ones ${name}`, x, y: base + BAR - ones, width: STEP - 3, height: ones })];
}
