// The legend of the map, and the choice of the metadata key to colour by.
import { h } from "./dom.js";
import { COLOURED, colourOf, css } from "./palette.js";
import { count, decimals } from "./words.js";

/** A select of the key to colour by; a choice calls `change(key)`, "" for none. */
export function colourChoice(keys, chosen, change) {
  const select = h("select", { id: "colour", onchange: () => change(select.value) });
  select.append(
    ...[["", "nothing"], ...keys.map((key) => [key, key])].map(([value, name]) =>
      h("option", { value, selected: value === chosen }, name),
    ),
  );
  return h("p", { class: "control" }, h("label", { for: "colour" }, "Colour by "), select);
}

/** The mark of a name: a disc, or a ring if it shares the grey of all others. */
function swatch(colour, shared = false) {
  const mark = h("i", { class: "swatch" });
  if (shared) mark.style.border = `2px solid ${css(colour)}`;
  else mark.style.background = css(colour);
  return mark;
}

/** The names with their colours, each a button that calls `only(name, position)`; or the scale of numbers. */
export function legend(colours, alone, dark, only) {
  if (colours.kind === "number") return scale(colours, dark);
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
          onclick: () => only(name, value),
        },
        swatch(colourOf("category", value, dark), value >= COLOURED),
        ` ${name} `,
        h("small", {}, count(colours.counts[value])),
      ),
    ),
  );
  const rest = h("li", { class: "rest" }, swatch(colourOf("category", 255, dark)), " other or no value");
  return h("ul", { class: "legend", "aria-label": `Colours of ${colours.key}` }, ...items, rest);
}

function scale(colours, dark) {
  const bar = h("span", { class: "scale", "aria-hidden": "true" });
  const stops = [0, 50, 101, 152, 203, 254].map((value) => css(colourOf("number", value, dark)));
  bar.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
  return h("p", { class: "row" }, decimals(colours.low), bar, decimals(colours.high));
}
