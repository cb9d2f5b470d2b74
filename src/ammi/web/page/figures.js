// The collection in figures.
import { h, svg } from "./dom.js";
import { isReport } from "./source.js";
import { count, decimals, percent } from "./words.js";

export function figuresView(root, about) {
  function show() {
    document.title = `Figures · ${about.name}`;
    root.replaceChildren(
      ...[h("h1", { tabindex: "-1" }, "In figures"), numbers(about), balance(about), keys(about), notes(about)].filter(
        Boolean,
      ),
    );
  }
  return { show, leave: () => {} };
}

function numbers(about) {
  const { entropy } = about;
  const documents = about.whole ?? about.documents; // a report has a sample, and the figures of all
  const held = documents > about.documents ? `this file holds ${count(about.documents)} of them` : "";
  const rows = [
    [count(documents), documents === 1 ? "document" : "documents", held],
    [
      count(about.distinct_codes),
      "distinct codes",
      documents ? `${percent(about.distinct_codes / documents)} of documents` : "",
    ],
    [count(about.bits), "bits a code"],
    [decimals(entropy.independent, 1), "bits of information, at most", "if all bits were independent"],
    [decimals(entropy.tree, 1), "less the information that bits share", "along the best tree of bits"],
    [decimals(entropy.codes, 1), "bits in the codes as they occur", "at most log₂ of the documents"],
  ];
  const items = rows.map(([value, name, note]) =>
    h("div", {}, h("dd", {}, value), h("dt", {}, name, note && h("small", {}, note))),
  );
  return h("dl", { class: "numbers" }, ...items);
}

function balance(about) {
  const n = about.balance.length;
  if (!n) return null;
  const bars = about.balance.map((share, bit) => `M${bit} 1v${-share}h.8v${share}z`).join("");
  const [least, most] = [Math.min(...about.balance), Math.max(...about.balance)];
  const label = `The bits are 1 in ${percent(least)} to ${percent(most)} of documents`;
  const picture = svg("svg", {
    class: "balance",
    viewBox: `0 0 ${n} 1`,
    preserveAspectRatio: "none",
    role: "img",
    "aria-label": label,
  });
  picture.append(svg("path", { class: "same one", d: bars }), svg("path", { class: "half", d: `M0 .5h${n}` }));
  return h(
    "figure",
    {},
    h(
      "figcaption",
      {},
      `${label}; a bit tells most if it is 1 in half of them (the line). `,
      h("a", { href: "#/bits" }, "What each bit means"),
    ),
    picture,
  );
}

function keys(about) {
  if (!about.keys.length) return null;
  const rows = about.keys.map((key) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, key.name),
      h("td", {}, count(key.documents)),
      h("td", {}, key.kinds.join(", ")),
      h("td", {}, key.indexed ? "yes" : "no"),
    ),
  );
  const head = ["Metadata", "Documents", "Kind", "Fast to filter"].map((name) => h("th", { scope: "col" }, name));
  return h(
    "div",
    { class: "wide", tabindex: 0, role: "group", "aria-label": "Metadata" },
    h("table", {}, h("thead", {}, h("tr", {}, ...head)), h("tbody", {}, ...rows)),
  );
}

function notes(about) {
  const api = h("a", { href: "api/openapi.json" }, "the HTTP API");
  return h(
    "p",
    { class: "hint" },
    `ammi ${about.version}, model ${about.fingerprint ?? "unknown"}. `,
    isReport
      ? null
      : about.writable
        ? ["Documents can be added, replaced and deleted through ", api, "."]
        : ["Programs ask the same through ", api, "; it is read-only."],
  );
}
