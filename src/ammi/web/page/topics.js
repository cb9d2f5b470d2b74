// Topics: the regions of the map as a table, with their words, categories and documents.
import { announce, h, latest } from "./dom.js";
import { glimpses } from "./library.js";
import { go, link } from "./router.js";
import { get, pause } from "./source.js";
import { empty, fillWith } from "./states.js";
import { count, counted, percent, titleOf } from "./words.js";

const USUAL = 24; // topics
const NAMED = 3; // words in the name of a topic, as on the map

export function topicsView(root, about) {
  const current = latest();
  async function show(state) {
    const signal = current.next();
    document.title = `Topics · ${about.name}`;
    const n = Number(state.params.get("n")) || USUAL;
    await fillWith(root, signal, () => page(about, n, signal), "Drawing the map, whose regions are the topics…");
  }
  return { show, leave: current.stop };
}

async function page(about, n, signal) {
  let answer = await get("/api/topics", { n }, signal);
  while (answer.state === "computing") {
    await pause(1000, signal);
    answer = await get("/api/topics", { n }, signal);
  }
  const { topics, levels } = answer;
  if (!topics.length) return empty("Nothing to tell", "This collection has no documents yet.");
  const shown = await glimpses([...new Set(topics.flatMap((topic) => [...topic.typical, ...topic.odd]))], signal);
  const titles = new Map(shown.map((one) => [String(one.id), titleOf(one)]));
  announce(counted(topics.length, "topic"));
  return [
    h("h1", { tabindex: "-1" }, "What the documents are about"),
    h("p", { class: "lead" }, "Regions of the map, the largest first. Odd documents are those least like the others."),
    levels.length > 1 && sizes(levels, topics.length),
    table(topics, titles),
    exports(about, n),
  ].filter(Boolean);
}

function sizes(levels, shown) {
  const button = (n) =>
    h(
      "button",
      { type: "button", "aria-pressed": String(n === shown), onclick: () => go(link("topics", { n }), { replace: true }) },
      String(n),
    );
  return h("div", { class: "bar row", role: "group", "aria-label": "Number of topics" }, "Topics ", ...levels.map(button));
}

function table(topics, titles) {
  const largest = Math.max(...topics.map((topic) => topic.share));
  const keys = [...new Set(topics.flatMap((topic) => Object.keys(topic.categories)))];
  const head = ["Words", "Documents", ...keys, "Typical", "Odd"];
  return h(
    "div",
    { class: "wide", tabindex: 0, role: "group", "aria-label": "Topics" },
    h(
      "table",
      { class: "topics" },
      h("thead", {}, h("tr", {}, ...head.map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, ...topics.map((topic) => row(topic, keys, titles, largest))),
    ),
  );
}

function row(topic, keys, titles, largest) {
  const name = topic.words.slice(0, NAMED);
  const size = h("td", { class: "size" }, `${count(topic.documents)} `, h("small", {}, percent(topic.share)));
  size.style.setProperty("--share", topic.share / largest);
  return h(
    "tr",
    {},
    h(
      "th",
      { scope: "row" },
      h("a", { href: link("map", { region: name.join(" ") }) }, name.join(", ") || "No words"),
      h("small", {}, topic.words.slice(NAMED).join(", ")),
    ),
    size,
    ...keys.map((key) => h("td", { "data-name": key }, values(topic.categories[key] ?? {}))),
    h("td", { "data-name": "Typical" }, documents(topic.typical, titles)),
    h("td", { "data-name": "Odd" }, documents(topic.odd, titles)),
  );
}

function values(shares) {
  const items = Object.entries(shares).map(([value, share]) => h("li", {}, `${value} `, h("small", {}, percent(share))));
  return h("ul", {}, ...items);
}

function documents(ids, titles) {
  const known = ids.filter((id) => titles.has(String(id)));
  return h(
    "ul",
    {},
    ...known.map((id) => {
      const title = titles.get(String(id));
      return h("li", {}, h("a", { href: link("document", { id }), "data-id": String(id), title }, title));
    }),
  );
}

function exports(about, n) {
  const command = `ammi topics ${about.name} -n ${n} --csv`;
  return h("p", { class: "hint" }, "The same as a file: ", h("code", {}, command), ".");
}
