// The legend of the map, and the choice of the metadata key to colour by.
import { h } from "./dom.js";
import { COLOURED, colourOf, css } from "./palette.js";
import { count, decimals } from "./words.js";

const SHORT = 16; // characters of a name for which half of the panel has room

/** A select of the key, or the bit, to colour by; a choice calls `change({colour, bit})`. */
export function colourChoice(keys, bits, chosen, change) {
  const bitsGroup = h("optgroup", { label: "Bits" });
  const option = (value, name, bit = null) =>
    h("option", { value, selected: value === chosen, "data-bit": bit }, name);
  for (let bit = 0; bit < bits; bit++) bitsGroup.append(option(`bit ${bit}`, `bit ${bit}`, bit));
  const select = h("select", {
    id: "colour",
    onchange: () => {
      const { bit } = select.selectedOptions[0].dataset;
      change(bit === undefined ? { colour: select.value || "none", bit: null } : { colour: null, bit });
    },
  });
  select.append(option("", "nothing"), ...keys.map((key) => option(key, key)), bitsGroup);
  return h("p", { class: "control" }, h("label", { for: "colour" }, "Colour by "), select);
}

/** The mark of a name: a disc, or a ring if it shares the grey of all others. */
function swatch(colour, shared = false) {
  const mark = h("i", { class: "swatch" });
  if (shared) mark.style.border = `2px solid ${css(colour)}`;
  else mark.style.background = css(colour);
  return mark;
}

/** The names with their colours, each a button that calls `only(name)`; or the scale of numbers. */
export function legend(colours, alone, dark, only) {
  if (colours.kind === "number" || colours.kind === "date") return scale(colours, dark);
  const items = colours.names.map((name, value) =>
    h(
      "li",
      {},
      h(
        "button",
        {
          type: "button",
          class: "quiet",
          "aria-pressed": String(alone === name),
          "data-name": name,
          onclick: () => only(name),
        },
        swatch(colourOf(colours.kind, value, dark), colours.kind === "category" && value >= COLOURED),
        ` ${name} `,
        colours.words && h("span", { class: "words" }, colours.words[value].join(", ")),
        h("small", {}, count(colours.counts[value])),
      ),
    ),
  );
  const rest = h("li", { class: "rest" }, swatch(colourOf("category", 255, dark)), " other or no value");
  const all = colours.kind === "bit" ? [items[1], items[0]] : [...items, rest];
  const long = colours.names.some((name) => name.length > SHORT) ? "long" : "";
  return h("ul", { class: `legend ${colours.kind} ${long}`, "aria-label": `Colours of ${colours.key}` }, ...all);
}

/** The colours of numbers or dates, with the values at a few places: a skewed scale has its own. */
function scale(colours, dark) {
  const bar = h("div", { class: "scale", "aria-hidden": "true" });
  const stops = [0, 50, 101, 152, 203, 254].map((value) => css(colourOf("number", value, dark)));
  bar.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
  const rounded = (tick) => (typeof tick === "number" ? decimals(Number(tick.toPrecision(3))) : tick);
  const whole = colours.kind === "number" && colours.high - colours.low >= 10;
  const ticks = colours.ticks.map((tick) => (whole ? year(tick, colours) : rounded(tick)));
  const shown = colours.kind === "date" ? [ticks[0], ticks[2], ticks[4]] : ticks;
  return h("div", { class: "scales" }, bar, h("p", { class: "ticks" }, ...shown.map((tick) => h("span", {}, tick))));
}

/** A number without decimals; a year without a separator. */
function year(number, { low, high }) {
  return low >= 1000 && high <= 2999 ? String(Math.round(number)) : count(Math.round(number));
}
