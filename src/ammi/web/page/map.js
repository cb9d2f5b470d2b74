// The map view: a place in the plane for each document, and a panel that says what is there.
import { chart, placesOf, unpacked } from "./chart.js";
import { announce, debounced, h, latest } from "./dom.js";
import { colourChoice, legend } from "./legend.js";
import { glimpse } from "./library.js";
import { chosenList, foundList, oneDocument, regionList } from "./mappanel.js";
import { paletteFor, ringColour } from "./palette.js";
import { go, link, note } from "./router.js";
import { get, pause, post } from "./source.js";
import { empty, failed, fillWith } from "./states.js";
import { isDark, onTheme } from "./theme.js";
import { count, titleOf } from "./words.js";

const LIT = 100; // results that are lit up
const NEAR = 6; // the zoom that shows one document, or a region

export function mapView(root, about) {
  const stage = h("div", {
    class: "stage",
    tabindex: 0,
    role: "application",
    "aria-label": `Map of ${about.name}: arrow keys move it, plus and minus zoom, 0 shows all`,
  });
  const tip = h("div", { class: "tip", hidden: true });
  const message = h("div", { class: "over-stage" });
  const caption = h("p", { class: "hint" });
  const colourBox = h("div", { class: "colours" });
  const list = h("div", { class: "found" });
  const loads = latest();
  const asks = latest();
  const hovers = latest();
  let map = null; // the answer of /api/map
  let colours = null; // and of /api/map/colours
  let alone = null; // the name of the legend that is shown alone
  let state = null;

  const noteSoon = debounced(() => note(addressNow()), 300);
  const drawing = chart(stage, {
    moved: noteSoon,
    hovered,
    chosen: (point) => point >= 0 && go(address({ at: map.ids[point], q: null, lasso: null })),
    lassoed,
  });
  const select = h(
    "button",
    {
      type: "button",
      "aria-pressed": "false",
      title: "Draw around documents to list them (or hold Shift)",
      onclick: () => lassoMode(!drawing.view.camera.lasso),
    },
    "Lasso",
  );
  const tools = h(
    "div",
    { class: "tools", role: "group", "aria-label": "Move the map" },
    h("button", { type: "button", "aria-label": "Nearer", onclick: () => drawing.view.nearer(1.6) }, "+"),
    h("button", { type: "button", "aria-label": "Farther", onclick: () => drawing.view.nearer(1 / 1.6) }, "−"),
    h("button", { type: "button", onclick: () => drawing.view.set(0.5, 0.5, 1) }, "All"),
    select,
  );
  root.replaceChildren(
    h("h1", { class: "hidden" }, "Map"),
    h("div", { class: "atlas" }, stage, tools, message, tip),
    h("aside", { class: "side", "aria-label": "What is on the map" }, caption, colourBox, list),
  );
  const unfollow = onTheme(() => recolour());

  const kept = () => {
    const { x, y, zoom } = drawing.view.camera;
    return zoom === 1 && x === 0.5 && y === 0.5 ? {} : { x: x.toFixed(4), y: y.toFixed(4), z: zoom.toFixed(2) };
  };
  /** The address of this map with something changed. */
  function address(changed) {
    const params = state.params;
    const now = {
      q: params.get("q"),
      where: params.getAll("where"),
      colour: params.get("colour"),
      at: params.get("at"),
      lasso: params.get("lasso"),
    };
    return link("map", { ...now, ...kept(), ...changed });
  }
  const addressNow = () => address({});

  function lassoMode(on) {
    drawing.view.camera.lasso = on;
    select.setAttribute("aria-pressed", String(on));
    stage.classList.toggle("drawing", on);
  }
  function lassoed(line) {
    lassoMode(false);
    go(
      address({
        lasso: line
          .flat()
          .map((value) => value.toFixed(3))
          .join(","),
        q: null,
        at: null,
      }),
    );
  }

  async function show(next) {
    const first = state === null;
    state = next;
    const signal = asks.next();
    if (first) placeCamera();
    try {
      if (!map) await load();
      await Promise.all([showColours(), showFound(signal)]);
    } catch (error) {
      if (error.name === "AbortError") return;
      if (!("status" in error)) console.error(error);
      message.replaceChildren(failed(error, () => show(next)));
    }
    document.title = `Map · ${about.name}`;
  }

  function placeCamera() {
    const [x, y, z] = ["x", "y", "z"].map((name) => Number(state.params.get(name)));
    if (z > 0) drawing.view.set(x, y, z);
  }

  /** The map, first a rough one perhaps, and then better ones as they come. */
  async function load() {
    const signal = loads.next();
    message.replaceChildren(h("p", { role: "status" }, "Drawing the map…"));
    let answer = await get("/api/map", {}, signal);
    while (answer.state === "computing") {
      message.replaceChildren(h("p", { role: "status" }, `Drawing the map: ${answer.step}…`));
      await pause(1000 * (answer.retry ?? 1), signal);
      answer = await get("/api/map", {}, signal);
    }
    take(answer);
    if (answer.retry !== null) refine(signal).catch(() => null);
  }
  async function refine(signal) {
    while (map.retry !== null) {
      await pause(1000 * map.retry, signal);
      const answer = await get("/api/map", {}, signal);
      if (answer.version === map.version) continue;
      take(answer);
      colours = null;
      await Promise.all([showColours(), showFound(asks.next())]); // regions and places are others now
    }
  }
  function take(answer) {
    map = answer;
    message.replaceChildren(...(map.points ? [] : [empty("Nothing to draw", "This collection has no documents yet.")]));
    drawing.move(placesOf(map));
    drawing.name(map.regions);
    if (!colours) drawing.colour(new Uint8Array(map.points), paletteFor("none", isDark()));
    const rough = map.state === "rough" ? " A better layout is on its way." : "";
    caption.textContent =
      map.points < map.documents
        ? `A sample: ${count(map.points)} of ${count(map.documents)} documents.${rough}`
        : `All ${count(map.points)} documents, near to each other where their codes are alike.${rough}`;
  }

  async function showColours() {
    const asked = state.params.get("colour");
    const fast = about.keys.filter((key) => key.fast).map((key) => key.name);
    const key =
      asked === "none" ? "" : (asked ?? map.colours.find((name) => fast.includes(name)) ?? map.colours[0] ?? "");
    if ((colours?.key ?? "") !== key || !colours) {
      colours = key ? await get("/api/map/colours", { key }) : { key: "", kind: "none", names: [], counts: [] };
      alone = null;
    }
    recolour();
  }
  function recolour() {
    if (!map || !colours) return;
    const values = colours.values ? unpacked(colours.values, Uint8Array) : new Uint8Array(map.points);
    drawing.colour(values, paletteFor(colours.kind, isDark()));
    const only = (value) => {
      alone = value;
      drawing.light(value === null ? null : [...values.keys()].filter((point) => values[point] === value));
      announce(value === null ? "All names shown" : `${colours.names[value]} shown alone`);
      recolour();
      colourBox.querySelectorAll(".legend button")[value ?? 0]?.focus();
    };
    const choice = map.colours.length
      ? colourChoice(map.colours, colours.key, (key) => go(address({ colour: key || "none" })))
      : null;
    colourBox.replaceChildren(...[choice, colours.key && legend(colours, alone, isDark(), only)].filter(Boolean));
  }

  /** What is asked for: the results of a search, the documents in a lasso, one document, or the regions there are. */
  async function showFound(signal) {
    const [q, at, lasso] = ["q", "at", "lasso"].map((name) => state.params.get(name));
    drawing.light(null);
    drawing.mark(null);
    drawing.around(null);
    const back = h(
      "p",
      {},
      h("a", { class: "chip", href: address({ q: null, at: null, lasso: null }) }, "Show the regions"),
    );
    if (q)
      await fillWith(list, signal, async () => [
        back,
        ...(await foundList(about, q, state.params.getAll("where"), LIT, signal, lightUp)),
      ]);
    else if (lasso)
      await fillWith(list, signal, async () => [back, ...(await chosenList(about, within(lasso), signal))]);
    else if (at)
      await fillWith(list, signal, async () => [back, ...[await oneDocument(about, at, signal, locate)].flat()]);
    else list.replaceChildren(regionList(map.regions, zoomTo));
  }
  async function lightUp(hits, signal) {
    const { places } = await post("/api/map/locate", { ids: hits.map((hit) => hit.id) }, signal);
    drawing.light(
      places.map((place) => place.point),
      ringColour(isDark()),
    );
  }
  async function locate(id, signal) {
    const { places } = await post("/api/map/locate", { ids: [id] }, signal);
    if (!places.length) return;
    drawing.mark([places[0].x, places[0].y]);
    if (!state.params.get("z")) drawing.view.set(places[0].x, places[0].y, NEAR);
  }
  function within(text) {
    const numbers = text.split(",").map(Number);
    const line = Array.from({ length: numbers.length >> 1 }, (_, place) => [
      numbers[2 * place],
      numbers[2 * place + 1],
    ]);
    const points = drawing.around(line);
    drawing.light(points);
    return points.map((point) => map.ids[point]);
  }
  function zoomTo(region, number) {
    drawing.view.set(region.x, region.y, NEAR);
    const regions = unpacked(map.region, Uint8Array);
    const points = [...regions.keys()].filter((point) => regions[point] === number);
    drawing.light(points);
    const signal = asks.next();
    const back = h(
      "p",
      {},
      h("button", { type: "button", class: "chip", onclick: () => showFound(asks.next()) }, "Show the regions"),
    );
    fillWith(list, signal, async () => [
      back,
      h("h2", {}, region.words.slice(0, 3).join(" · ")),
      ...(await chosenList(
        about,
        points.map((point) => map.ids[point]),
        signal,
      )),
    ]);
  }

  const describe = debounced(async (point) => {
    const signal = hovers.next();
    const id = map.ids[point];
    try {
      const found = await glimpse(id, signal);
      const value = colours?.kind === "category" ? colours.names[unpacked(colours.values, Uint8Array)[point]] : null;
      if (!signal.aborted && found) tip.replaceChildren(h("b", {}, titleOf(found)), value ? h("span", {}, value) : "");
    } catch {
      tip.hidden = true; // a name that cannot be had is not worth an error
    }
  }, 60);
  let hovering = -1;
  function hovered(point) {
    stage.classList.toggle("pointing", point >= 0);
    tip.hidden = point < 0;
    if (point < 0 || point === hovering) {
      if (point < 0) describe.cancel();
      hovering = point;
      return;
    }
    hovering = point;
    const [x, y] = drawing.pixelOf(point);
    tip.style.left = `${Math.min(stage.clientWidth - 140, Math.max(140, x))}px`;
    tip.style.top = `${y + (y > stage.clientHeight - 90 ? -70 : 14)}px`;
    tip.replaceChildren("…");
    describe(point);
  }

  function leave() {
    for (const one of [loads, asks, hovers]) one.stop();
    describe.cancel();
    noteSoon.cancel();
    drawing.close();
    unfollow();
  }
  return { show, leave };
}
