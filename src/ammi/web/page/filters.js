// Filters on metadata, written as on the command line: key="a","b", year>=1987. Those in force are always in sight.
import { h } from "./dom.js";
import { facetBox, facetsOf, refocus } from "./facets.js";
import { loading } from "./states.js";

const SPELLED = /^([^=<>!]+)(!=|<=|>=|=|<|>)(.*)$/s;
const IN_WORDS = { "=": "is", "!=": "is not", ">=": "from", "<=": "to", "<": "below", ">": "above" };

/** Split a condition into key, operator and value. */
export function parts(condition) {
  const [, key, operator, value] = condition.match(SPELLED) ?? [null, condition, "", ""];
  return { key, operator, value };
}

/** Write a condition in words: labels is acq or earn. */
export function inWords(condition) {
  const { key, operator, value } = parts(condition);
  const plain = value.replaceAll('","', " or ").replaceAll('"', "");
  return `${key} ${IN_WORDS[operator] ?? operator} ${plain}`.trim();
}

/** A chip that takes away what it names. */
export function removable(text, label, remove) {
  return h(
    "button",
    { type: "button", class: "chip on", "aria-label": label, onclick: remove },
    text,
    h("span", { "aria-hidden": "true" }, " ×"),
  );
}

/** The chips of filters; `change(conditions)` gets those that are left. */
export function chipsOf(conditions, change) {
  return conditions.map((condition) =>
    removable(inWords(condition), `Remove the filter ${inWords(condition)}`, () =>
      change(conditions.filter((one) => one !== condition)),
    ),
  );
}

/**
 * Chips of the active filters, and a panel to choose others; a choice calls `change(conditions)`. `selection` is what
 * else limits the documents that the panel counts, such as {q}.
 */
export function filterBar(about, conditions, change, selection = {}) {
  if (!about.keys.length && !conditions.length) return null;
  const panel = h("div", { class: "panel" });
  const shown = () => showKey(panel, select.value, conditions, change, selection);
  const select = h("select", { id: "filter-key", onchange: shown });
  const named = [...about.keys].sort((one, other) => other.indexed - one.indexed); // indexed keys first
  select.append(...named.map((key) => h("option", { value: key.name }, key.name)));
  const body = h("div", {}, h("label", { for: "filter-key" }, "Only documents whose "), select, panel);
  const summary = h("summary", { class: "chip" }, "Filter");
  const close = (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    details.open = false;
    summary.focus();
  };
  const opened = () => details.open && !panel.hasChildNodes() && shown();
  const details = h("details", { class: "filter", ontoggle: opened, onkeydown: close }, summary, body);
  const before = document.querySelector(".filter[open] select"); // the panel that this one replaces
  if (before) {
    select.value = before.value;
    details.open = true;
  }
  return h("div", { class: "filters" }, details, ...chipsOf(conditions, change));
}

async function showKey(panel, key, conditions, change, selection) {
  panel.replaceChildren(loading());
  try {
    const { facets } = await facetsOf({ ...selection, where: conditions }, { keys: [key] });
    panel.replaceChildren(facetBox(facets[0], { selection, conditions, change }));
    refocus(panel);
  } catch (error) {
    panel.replaceChildren(h("p", { class: "message", role: "alert" }, error.message));
  }
}
