// Drift: documents at growing distance from one, with a slider over the distance.
import { announce, debounced, h, latest } from "./dom.js";
import { remember } from "./library.js";
import { distance, resultList } from "./results.js";
import { link, note } from "./router.js";
import { get } from "./source.js";
import { empty, fillWith } from "./states.js";
import { strip } from "./strip.js";
import { breadcrumb, documentStep, longer, trailOf } from "./trail.js";
import { counted, snippetOf, titleOf } from "./words.js";

const TABLE = [0, 1, 5, 10, 20, 50, 90]; // the distances of the paper's Table 3

export function driftView(root, about) {
  const current = latest();
  const show = (state) =>
    fillWith(root, current.next(), (signal) => page(about, state, signal), "Measuring the distances of all documents…");
  return { show, leave: current.stop };
}

async function page(about, state, signal) {
  const distances = Array.from({ length: about.bits + 1 }, (_, distance) => distance).join(",");
  const path = `/api/documents/${encodeURIComponent(state.id)}/drift`;
  const { start, steps } = await get(path, { distances, length: 600 }, signal);
  remember([start]);
  remember(steps);
  document.title = `Drift of ${titleOf(start)} · ${about.name}`;
  const trail = trailOf(state);
  if (!steps.length) return empty("No other document", "The collection has no other document to drift to.");
  const address = (hit) => link("document", { id: hit.id, t: longer(trail, documentStep(start.id)) });
  return [
    breadcrumb([...trail, documentStep(start.id)], signal),
    h("h1", { tabindex: "-1" }, "How it drifts"),
    h(
      "p",
      { class: "lead" },
      "Move the slider: the further away, the more bits differ, and the less the two documents have in common.",
    ),
    slider(about, state, start, steps, address),
    table(about, start, steps, address),
  ];
}

/** Return the step nearest to a distance. */
function nearest(steps, distance) {
  return steps.reduce((best, step) =>
    Math.abs(step.distance - distance) < Math.abs(best.distance - distance) ? step : best,
  );
}

function slider(about, state, start, steps, address) {
  const farthest = steps.at(-1).distance;
  const asked = state.params.get("d");
  const first = asked === null ? Math.min(Math.round(about.bits / 8), farthest) : Number(asked) || 0;
  const output = h("div", {});
  const far = h("b", { "aria-hidden": "true" }); // screen readers get it from the slider
  const range = h("input", {
    id: "distance",
    type: "range",
    min: steps[0].distance,
    max: farthest,
    step: 1,
    value: first,
  });
  const tell = debounced((text) => announce(text), 400);

  function move() {
    const step = nearest(steps, Number(range.value));
    const title = titleOf(step);
    range.setAttribute("aria-valuetext", `${counted(step.distance, "bit")} away: ${title}`);
    far.textContent = range.value;
    output.replaceChildren(portrait(about, step, start.code, address(step), distance({ ...step, score: null })));
    note(link("drift", { id: start.id, t: trailOf(state), d: range.value }));
    tell(`${counted(step.distance, "bit")} away: ${title}`);
  }

  range.addEventListener("input", move);
  const view = h(
    "section",
    { class: "drift", "aria-label": "At growing distance" },
    h("div", { class: "slide" }, h("label", { for: "distance" }, "Bits that differ ", far), range),
    h(
      "div",
      { class: "columns" },
      portrait(about, start, null, link("document", { id: start.id, t: trailOf(state) }), [
        h("span", {}, "It begins as"),
      ]),
      output,
    ),
  );
  move();
  return view;
}

/** One of the two compared documents. */
function portrait(about, document, other, address, measure) {
  return h(
    "article",
    { class: "portrait" },
    h("p", { class: "measure" }, measure),
    h("h2", {}, h("a", { href: address, "data-id": document.id }, titleOf(document))),
    strip(document.code, about.bits, other),
    h("p", { class: "text" }, snippetOf(document, 500)),
  );
}

function table(about, start, steps, address) {
  const reached = TABLE.filter((far) => far <= steps.at(-1).distance).map((far) =>
    steps.find((step) => step.distance >= far),
  );
  const chosen = [...new Set(reached)].map((step) => ({ ...step, score: null }));
  return h(
    "section",
    { "aria-labelledby": "table" },
    h("h2", { id: "table" }, "Step by step"),
    resultList(chosen, { against: start.code, n: about.bits, address, label: "Documents at growing distance" }),
  );
}
