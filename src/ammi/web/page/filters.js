// Filters on metadata, written as on the command line: key="a","b", year>=1987.
import { h } from "./dom.js";
import { get } from "./source.js";
import { loading } from "./states.js";
import { count } from "./words.js";

const SPELLED = /^([^=<>!]+)(!=|<=|>=|=|<|>)(.*)$/s;

let touched = ""; // the value ticked last, which gets the focus when the panel is drawn again

/** Split a condition into key, operator and value. */
function parts(condition) {
  const [, key, operator, value] = condition.match(SPELLED) ?? [null, condition, "", ""];
  return { key, operator, value };
}

/** Write a condition in words: labels is acq or earn. */
export function inWords(condition) {
  const { key, operator, value } = parts(condition);
  const plain = value.replaceAll('","', " or ").replaceAll('"', "");
  return `${key} ${{ "=": "is", "!=": "is not", ">=": "from", "<=": "to" }[operator] ?? operator} ${plain}`.trim();
}

/** Return the values of a condition with =, as written. */
function chosenOf(conditions, key) {
  const own = conditions.map(parts).find((one) => one.key === key && one.operator === "=");
  return new Set(own ? (own.value.match(/"(?:[^"\\]|\\.)*"|[^,]+/g) ?? []) : []);
}

/** Write a value for a condition: numbers, true and false as they are, everything else in quotes. */
const spelled = (value) => (/^(-?\d+(\.\d+)?|true|false)$/.test(value) ? value : JSON.stringify(value));

/** Chips of the active filters, and a panel to choose others; a choice calls `change(conditions)`. */
export function filterBar(about, conditions, change) {
  if (!about.keys.length) return null;
  const chips = conditions.map((condition) =>
    h(
      "button",
      {
        type: "button",
        class: "chip on",
        "aria-label": `Remove the filter ${inWords(condition)}`,
        onclick: () => change(conditions.filter((one) => one !== condition)),
      },
      inWords(condition),
      h("span", { "aria-hidden": "true" }, " ×"),
    ),
  );
  const panel = h("div", { class: "panel" });
  const select = h("select", {
    id: "filter-key",
    onchange: () => showKey(panel, about, select.value, conditions, change),
  });
  const named = [...about.keys].sort((one, other) => other.indexed - one.indexed); // indexed keys first
  select.append(...named.map((key) => h("option", { value: key.name }, key.name)));
  const body = h("div", {}, h("label", { for: "filter-key" }, "Only documents whose "), select, panel);
  const opened = () =>
    details.open && !panel.hasChildNodes() && showKey(panel, about, select.value, conditions, change);
  const summary = h("summary", { class: "chip" }, "Filter");
  const close = (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    details.open = false;
    summary.focus();
  };
  const details = h("details", { class: "filter", ontoggle: opened, onkeydown: close }, summary, body);
  const before = document.querySelector(".filter[open] select"); // the panel that this one replaces
  if (before) {
    select.value = before.value;
    details.open = true;
  }
  return h("div", { class: "filters" }, details, ...chips);
}

/** The values of a key: the most frequent ones to tick, or a range of numbers. */
async function showKey(panel, about, name, conditions, change) {
  panel.replaceChildren(loading());
  const others = conditions.filter((one) => parts(one).key !== name);
  const found = await get("/api/map/colours", { key: name }).catch(() => null); // the map has counted the values
  const ticks = found?.kind === "category" && found.names.length ? choices(found, conditions, others, change) : null;
  panel.replaceChildren(...[ticks, range(name, found, conditions, others, change)].filter(Boolean));
  if (document.activeElement === document.body) panel.querySelector(`[data-name="${CSS.escape(touched)}"]`)?.focus();
}

function choices({ key, names, counts }, conditions, others, change) {
  const chosen = chosenOf(conditions, key);
  const toggle = (name, on) => {
    touched = name;
    if (on) chosen.add(spelled(name));
    else chosen.delete(spelled(name));
    change(chosen.size ? [...others, `${key}=${[...chosen].join(",")}`] : others);
  };
  const boxes = names.map((name, place) => {
    const box = h("input", {
      type: "checkbox",
      "data-name": name,
      checked: chosen.has(spelled(name)),
      onchange: () => toggle(name, box.checked),
    });
    return h("label", { class: "choice" }, box, ` ${name} `, h("small", {}, count(counts[place])));
  });
  return h("fieldset", {}, h("legend", {}, `${key} is one of`), ...boxes);
}

function range(key, found, conditions, others, change) {
  const bound = (operator) =>
    conditions
      .map(parts)
      .find((one) => one.key === key && one.operator === operator)
      ?.value.replaceAll('"', "") ?? "";
  const from = h("input", { value: bound(">="), placeholder: found?.low ?? "", "aria-label": `${key} from` });
  const to = h("input", { value: bound("<="), placeholder: found?.high ?? "", "aria-label": `${key} to` });
  const spell = (field, operator) => (field.value.trim() ? [`${key}${operator}${field.value.trim()}`] : []);
  const apply = (event) => {
    event.preventDefault();
    change([...others, ...spell(from, ">="), ...spell(to, "<=")]);
  };
  return h("form", { class: "range", onsubmit: apply }, "from ", from, " to ", to, h("button", {}, "Apply"));
}
