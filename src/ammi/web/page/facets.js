// The values of metadata keys in a selection: bars of categories to tick, histograms of numbers and dates to brush.
import { debounced, h, svg } from "./dom.js";
import { get } from "./source.js";
import { count, counted } from "./words.js";

const SHOWN = 12; // values at first
const MORE = 50; // and with each "Show more"
const [WIDE, HIGH] = [10, 56]; // of a bar in a histogram

const sought = new Map(); // key: what was looked for among its values
let touched = null; // selects the control used last, which gets the focus when it is drawn again

/** Remember a control by its key and name. */
export function touch(key, name) {
  touched = `[data-key="${CSS.escape(key)}"] [data-name="${CSS.escape(name)}"]`;
}

/** Move the focus to the control used last, if it was drawn again. */
export function refocus(root) {
  if (touched && document.activeElement === document.body) root.querySelector(touched)?.focus();
  touched = null;
}

/** Ask for the counts of a selection {q, where, lasso, region}. */
export const facetsOf = (selection, options, signal) =>
  get("/api/facets", { ...selection, ...options, limit: options.limit ?? SHOWN }, signal);

const PARTS = /^([^=<>!]+)(!=|<=|>=|=|<|>)(.*)$/s;
const keyOf = (condition) => condition.match(PARTS)?.[1] ?? condition;
const valueOf = (conditions, key, operator) =>
  conditions.map((one) => one.match(PARTS) ?? []).find(([, name, sign]) => name === key && sign === operator)?.[3];

/** Return the values of a condition with =, as written. */
function chosenOf(conditions, key) {
  const own = valueOf(conditions, key, "=");
  return new Set(own?.match(/"(?:[^"\\]|\\.)*"|[^,]+/g) ?? []);
}

/** Write a value for a condition: numbers, true and false as they are, everything else in quotes. */
const spelled = (value) => (typeof value === "string" ? JSON.stringify(value) : String(value));

/** Write an edge of a bin without what is the same in all: 1987-01-01 is 1987. */
const shortDate = (date) => (typeof date === "string" ? date.replace(/(-01)?-01$/, "") : date);
const edgeText = (edge) => (typeof edge === "number" ? String(edge) : shortDate(edge));

/**
 * The values of one key. `asked` has the selection besides filters, the filters (`conditions`), and `change`, which is
 * called with other filters.
 */
export function facetBox(facet, asked) {
  const others = asked.conditions.filter((one) => keyOf(one) !== facet.key);
  const isRange = facet.bins.length > 0;
  return h(
    "section",
    { class: "facet", "data-key": facet.key, "aria-label": facet.key },
    h("h3", {}, facet.key, " ", h("small", {}, isRange ? "" : counted(facet.distinct, "value"))),
    isRange && histogram(facet, asked.conditions, (range) => asked.change([...others, ...range])),
    isRange ? range(facet, asked, others) : choices(facet, asked, others),
  );
}

function choices(facet, asked, others) {
  const { key } = facet;
  const chosen = chosenOf(asked.conditions, key);
  const list = h("div", { class: "choices" });
  const note = h("p", { class: "hint", role: "status" });
  let most = 1; // of the counts shown
  let shown = 0;
  const toggle = (value, on) => {
    touch(key, String(value));
    if (on) chosen.add(spelled(value));
    else chosen.delete(spelled(value));
    asked.change(chosen.size ? [...others, `${key}=${[...chosen].join(",")}`] : others);
  };
  const add = (values) => {
    if (!shown) most = Math.max(1, ...values.map((one) => one.selected));
    list.append(...values.map((one) => choice(one, most, chosen.has(spelled(one.value)), toggle)));
    shown += values.length;
  };
  const ask = async (fresh, limit) => {
    const contains = sought.get(key) ?? "";
    const options = { keys: [key], contains, offset: fresh ? 0 : shown, limit };
    const { facets } = await facetsOf({ ...asked.selection, where: asked.conditions }, options);
    if ((sought.get(key) ?? "") !== contains) return; // typed on
    if (fresh) {
      list.replaceChildren();
      shown = 0;
    }
    add(facets[0].values);
    more.hidden = shown >= facets[0].distinct;
    note.replaceChildren(contains ? `${counted(facets[0].distinct, "value")} with “${contains}”` : "");
  };
  const more = h("button", { type: "button", class: "quiet", onclick: () => ask(false, MORE) }, "Show more values");
  add(facet.values);
  more.hidden = shown >= facet.distinct;
  const look = debounced(() => ask(true, SHOWN), 150);
  const field = h("input", {
    type: "search",
    "aria-label": `Find a value of ${key}`,
    placeholder: "Find a value",
    value: sought.get(key) ?? "",
    oninput: () => {
      sought.set(key, field.value.trim());
      look();
    },
  });
  if (sought.get(key)) look();
  return h(
    "fieldset",
    {},
    h("legend", {}, `${key} is one of`),
    facet.distinct > facet.values.length || sought.get(key) ? [field, note] : null,
    list,
    more,
  );
}

function choice({ value, selected, all }, most, isChosen, toggle) {
  const name = String(value);
  const box = h("input", {
    type: "checkbox",
    "data-name": name,
    checked: isChosen,
    onchange: () => toggle(value, box.checked),
  });
  const label = h(
    "label",
    { class: "choice", title: `${count(selected)} of ${count(all)}` },
    box,
    h("span", { dir: "auto" }, ` ${name || "(empty)"} `),
    h("small", {}, count(selected)),
  );
  label.style.setProperty("--share", selected / most);
  return label;
}

/** Bars of the bins, those of all documents behind those of the selected ones, each as high as its highest; a stroke across them calls `choose(conditions)`. */
function histogram({ key, bins, documents }, conditions, choose) {
  const n = bins.length;
  const most = Math.max(1, ...bins.map((bin) => bin.all));
  const high = Math.max(1, ...bins.map((bin) => bin.selected));
  const bar = (share, place, name) => {
    const height = share ? Math.max(1.5, share * HIGH) : 0;
    return svg("rect", { class: name, x: place * WIDE + 1, y: HIGH - height, width: WIDE - 2, height });
  };
  const brush = svg("rect", { class: "brush", y: 0, height: HIGH, width: 0 });
  const chart = svg(
    "svg",
    {
      viewBox: `0 0 ${n * WIDE} ${HIGH}`,
      preserveAspectRatio: "none",
      role: "img",
      "aria-label": `${count(documents)} documents by ${key}, from ${edgeText(bins[0].low)} to ${edgeText(bins[n - 1].high)}`,
    },
    ...bins.map((bin, place) => bar(bin.all / most, place, "all")),
    ...bins.map((bin, place) => bar(bin.selected / high, place, "own")),
    brush,
  );
  const readout = h("p", { class: "readout", "aria-hidden": "true" });
  const told = (from, to) => {
    const selected = bins.slice(from, to + 1).reduce((sum, bin) => sum + bin.selected, 0);
    readout.replaceChildren(`${edgeText(bins[from].low)} – ${edgeText(bins[to].high)}: ${count(selected)}`);
  };
  const ends = () => readout.replaceChildren(edgeText(bins[0].low), h("span", {}, edgeText(bins[n - 1].high)));
  const paint = (from, to) => {
    brush.setAttribute("x", from * WIDE);
    brush.setAttribute("width", (to - from + 1) * WIDE);
  };
  const binAt = (event) => {
    const { left, width } = chart.getBoundingClientRect();
    return Math.max(0, Math.min(n - 1, Math.floor(((event.clientX - left) / width) * n)));
  };
  let start = null;
  const frame = h(
    "div",
    {
      class: "histogram",
      title: "Draw across the bars to choose a range",
      onpointerdown: (event) => {
        start = binAt(event);
        frame.setPointerCapture(event.pointerId);
        paint(start, start);
        told(start, start);
      },
      onpointermove: (event) => {
        const here = binAt(event);
        if (start !== null) paint(Math.min(start, here), Math.max(start, here));
        told(Math.min(start ?? here, here), Math.max(start ?? here, here));
      },
      onpointerleave: ends,
      onpointercancel: () => (start = null),
      onpointerup: (event) => {
        if (start === null) return;
        const [from, to] = [Math.min(start, binAt(event)), Math.max(start, binAt(event))];
        start = null;
        choose([`${key}>=${bins[from].low}`, `${key}<${bins[to].high}`]);
      },
    },
    chart,
  );
  const [low, below] = [valueOf(conditions, key, ">="), valueOf(conditions, key, "<")];
  const from = bins.findIndex((bin) => String(bin.low) === low);
  const to = bins.findIndex((bin) => String(bin.high) === below);
  if (from >= 0 && to >= from) paint(from, to);
  ends();
  return [frame, readout];
}

const DATE = /^\d{4}(-\d\d){0,2}$/; // or a month, or a year
const TIME = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d\S*)$/;

/** Return the date so many days after one, or so many months or years, whichever it is. */
function dateAfter(date, step) {
  const [year, month, day] = date.split("-").map(Number);
  const [years, months, days] = month ? (day ? [0, 0, step] : [0, step, 0]) : [step, 0, 0];
  const moved = Date.UTC(year + years, (month ?? 1) - 1 + months, (day ?? 1) + days);
  return new Date(moved).toISOString().slice(0, date.length);
}

/** The fields of a range. It includes the whole last day, month or year: documents may have a time of day. */
function range({ key, bins }, { conditions, change }, others) {
  const areDates = typeof bins[0].low === "string";
  const plain = (value) => value?.replaceAll('"', "") ?? "";
  const lowest = plain(valueOf(conditions, key, ">=") ?? valueOf(conditions, key, ">"));
  const below = plain(valueOf(conditions, key, "<"));
  const highest = areDates && DATE.test(below) ? dateAfter(below, -1) : below || plain(valueOf(conditions, key, "<="));
  const last = bins.at(-1).high;
  const lastDay = areDates && DATE.test(last) ? dateAfter(last, -1) : last;
  const field = (name, value, placeholder) =>
    h("input", { value, placeholder, "data-name": name, "aria-label": `${key} ${name}` });
  const from = field("from", lowest, edgeText(bins[0].low));
  const to = field("to", highest, edgeText(lastDay));
  const untouched = [from.value, to.value];
  const spell = (input, place, sign, old) => {
    const value = input.value.trim();
    const sameSign = conditions.find((one) => keyOf(one) === key && one.startsWith(`${key}${old}`));
    if (value && value === untouched[place] && sameSign) return [sameSign];
    if (!value || !areDates) return value ? [`${key}${sign}${value}`] : [];
    if (sign === "<=" && DATE.test(value)) return [`${key}<"${dateAfter(value, 1)}"`];
    return [`${key}${sign}"${value.replace(TIME, "$1T$2")}"`];
  };
  const isDate = (input) => {
    const value = input.value.trim();
    const isSpelled = (DATE.test(value) || TIME.test(value)) && !Number.isNaN(Date.parse(value.slice(0, 10)));
    const isRight = !areDates || !value || isSpelled;
    input.setCustomValidity(isRight ? "" : "Write a date, such as 1993-04-16 or 1993-04.");
    return input.reportValidity();
  };
  const apply = (event) => {
    event.preventDefault();
    if (![from, to].every(isDate)) return;
    touch(key, "to");
    change([...others, ...spell(from, 0, ">=", ">"), ...spell(to, 1, "<=", "<")]);
  };
  return h("form", { class: "range", onsubmit: apply }, "from ", from, " to ", to, h("button", {}, "Apply"));
}
