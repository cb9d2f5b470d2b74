// The map view: a point in the plane for each document, and a panel beside it.
import { chart, placesOf, unpacked } from "./chart.js";
import { announce, debounced, h, latest } from "./dom.js";
import { colourChoice, legend } from "./legend.js";
import { glimpse } from "./library.js";
import { chosenList, foundList, nameOf, oneDocument, regionList } from "./mappanel.js";
import { paletteFor, ringColour } from "./palette.js";
import { go, link, note, stateNow } from "./router.js";
import { get, pause, post } from "./source.js";
import { empty, failed, fillWith, loading } from "./states.js";
import { isDark, onTheme } from "./theme.js";
import { count, titleOf } from "./words.js";

const LIT = 100; // results shown on the map
const NEAR = 6; // the zoom that shows one document, or a region
const sampleOf = ({ version }) => version.slice(0, version.lastIndexOf("-")); // what follows is how far the map is
// A lasso or a region has other documents on a rough layout: both wait for the final one, so that links stay true.
const isFinal = (map) => map.retry === null;
const NOTHING = { q: null, at: null, lasso: null, region: null }; // without a query

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
  let isOld = false; // the server has made a new map since
  let colours = null; // and of /api/map/colours
  let values = new Uint8Array(0); // the colour of each point
  let alone = null; // the name of the legend that is shown alone
  let lit = null; // highlighted points: {points, ring}
  let state = null;

  const noteSoon = debounced(noteNow, 300);
  const drawing = chart(stage, {
    moved: noteSoon,
    hovered,
    chosen: (point) => point >= 0 && go(address({ ...NOTHING, at: map.ids[point] })),
    lassoed,
  });
  const select = h(
    "button",
    {
      type: "button",
      "aria-pressed": "false",
      title: "Draw around documents to list them (or hold Shift)",
      disabled: true,
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
  /** Return the address of this map with some parameters changed. */
  function address(changed) {
    const params = state.params;
    const now = {
      q: params.get("q"),
      where: params.getAll("where"),
      colour: params.get("colour"),
      at: params.get("at"),
      lasso: params.get("lasso"),
      region: params.get("region"),
      only: alone,
    };
    return link("map", { ...now, ...kept(), ...changed });
  }
  function noteNow() {
    note(address({}));
    state = stateNow();
  }

  function lassoMode(on) {
    drawing.view.camera.lasso = on;
    select.setAttribute("aria-pressed", String(on));
    stage.classList.toggle("drawing", on);
  }
  function lassoed(line) {
    lassoMode(false);
    const corners = line.flat().map((value) => value.toFixed(5)); // as fine as the coordinates of points
    go(address({ ...NOTHING, lasso: corners.join(",") }));
  }

  async function show(next) {
    state = next;
    const signal = asks.next();
    placeCamera();
    try {
      if (!map || isOld) await load();
      await showAll(signal);
      message.replaceChildren(...nothing());
    } catch (error) {
      if (error.name === "AbortError") return;
      if (!("status" in error)) console.error(error);
      message.replaceChildren(failed(error, () => show(next)));
    }
    document.title = `Map · ${about.name}`;
  }

  async function showAll(signal) {
    alone = state.params.get("only");
    await Promise.all([showColours(signal), showFound(signal)]);
  }

  function placeCamera() {
    const [x, y, z] = ["x", "y", "z"].map((name) => Number(state.params.get(name)));
    drawing.view.set(...(z > 0 ? [x, y, z] : [0.5, 0.5, 1]));
  }

  /** Load the map: a rough one at first, if the server has no better one yet. */
  async function load() {
    const signal = loads.next();
    message.replaceChildren(h("p", { role: "status" }, "Drawing the map…"));
    let answer = await get("/api/map", {}, signal);
    while (answer.state === "computing") {
      message.replaceChildren(h("p", { role: "status" }, `Drawing the map: ${answer.step}…`));
      await pause(1000 * (answer.retry ?? 1), signal);
      answer = await get("/api/map", {}, signal);
    }
    [isOld, colours] = [false, null];
    take(answer);
    if (!isFinal(answer)) refine(signal).catch(() => null);
  }
  /** Ask about points of this map; if the server has made a new map since, load everything again. */
  async function ofThisMap(asked) {
    const answer = await asked;
    if (sampleOf(answer) === sampleOf(map)) return answer;
    isOld = true;
    show(state);
    throw new DOMException("the server has a new map", "AbortError");
  }
  async function refine(signal) {
    while (!isFinal(map) && !signal.aborted) {
      await pause(1000 * map.retry, signal);
      const answer = await get("/api/map", {}, signal).catch(() => map); // the server may answer later
      if (answer.version === map.version) continue;
      take(answer);
      colours = null;
      await showAll(asks.next()).catch(() => null); // the regions and the layout have changed
    }
  }
  const nothing = () => (map.points ? [] : [empty("Nothing to draw", "This collection has no documents yet.")]);
  function take(answer) {
    map = answer;
    message.replaceChildren(...nothing());
    drawing.move(placesOf(map));
    drawing.name(map.regions);
    drawing.view.camera.canLasso = isFinal(map);
    select.disabled = !isFinal(map);
    if (!colours) drawing.colour(new Uint8Array(map.points), paletteFor("none", isDark()));
    const rough = map.state === "rough" ? " A better layout is being computed." : "";
    caption.textContent =
      map.points < map.documents
        ? `A sample: ${count(map.points)} of ${count(map.documents)} documents.${rough}`
        : `${map.points === 1 ? "One document" : `All ${count(map.points)} documents`}, close together where their codes are alike.${rough}`;
  }

  async function showColours(signal) {
    const asked = state.params.get("colour");
    const indexed = about.keys.filter((key) => key.indexed).map((key) => key.name);
    const key =
      asked === "none" ? "" : (asked ?? map.colours.find((name) => indexed.includes(name)) ?? map.colours[0] ?? "");
    if ((colours?.key ?? "") !== key || !colours) {
      const none = { key: "", kind: "none", names: [], counts: [] };
      const orNone = (error) => {
        if (error.status !== 404) throw error;
        announce(`No document has ${key}`);
        return none; // an old link, from when documents had the key
      };
      colours = key ? await ofThisMap(get("/api/map/colours", { key }, signal)).catch(orNone) : none;
      values = colours.values ? unpacked(colours.values, Uint8Array) : new Uint8Array(map.points);
    }
    if (!colours.names.includes(alone)) alone = null;
    recolour();
  }
  function recolour() {
    if (!map || !colours) return;
    drawing.colour(values, paletteFor(colours.kind, isDark()));
    relight();
    const only = (name, place) => {
      alone = alone === name ? null : name;
      announce(alone === null ? "All names shown" : `${name} shown alone`);
      noteNow();
      recolour();
      colourBox.querySelectorAll(".legend button")[place].focus();
    };
    const choice = map.colours.length
      ? colourChoice(map.colours, colours.key, (key) => go(address({ colour: key || "none", only: null })))
      : null;
    colourBox.replaceChildren(...[choice, colours.key && legend(colours, alone, isDark(), only)].filter(Boolean));
  }

  /** Return the highlighted points, limited to the name that is shown alone; null for none. */
  function light(points, ring = null) {
    lit = points && { points, ring };
    relight();
  }
  function relight() {
    const value = colours?.names.indexOf(alone) ?? -1;
    const points = lit?.points ?? (value < 0 ? null : [...values.keys()]);
    drawing.light(value < 0 ? points : points.filter((point) => values[point] === value), lit?.ring ?? null);
  }

  /** Show the results of a search, the documents in a lasso or a region, one document, or the list of regions. */
  async function showFound(signal) {
    const [q, at, lasso, region] = ["q", "at", "lasso", "region"].map((name) => state.params.get(name));
    const number = map.regions.findIndex((one) => nameOf(one) === region);
    light(null);
    drawing.mark(null);
    drawing.around(null);
    const back = h("p", {}, h("a", { class: "chip", href: address(NOTHING) }, "Show the regions"));
    if (q)
      await fillWith(list, signal, async () => [
        back,
        ...(await foundList(about, q, state.params.getAll("where"), LIT, signal, lightUp)),
      ]);
    else if ((lasso || region) && !isFinal(map)) list.replaceChildren(back, loading("Waiting for the final layout…"));
    else if (lasso)
      await fillWith(list, signal, async () => [back, ...(await chosenList(about, within(lasso), signal))]);
    else if (at)
      await fillWith(list, signal, async () => [back, ...[await oneDocument(about, at, signal, locate)].flat()]);
    else if (number >= 0) await fillWith(list, signal, async () => [back, ...(await ofRegion(number, signal))]);
    else list.replaceChildren(regionList(map, (one) => go(address({ ...NOTHING, ...near(one), region: nameOf(one) }))));
  }
  const near = ({ x, y }) => ({ x: x.toFixed(4), y: y.toFixed(4), z: NEAR });
  async function lightUp(hits, signal) {
    const { places } = await ofThisMap(post("/api/map/locate", { ids: hits.map((hit) => hit.id) }, signal));
    light(
      places.map((place) => place.point),
      ringColour(isDark()),
    );
  }
  async function locate(id, signal) {
    const { places } = await ofThisMap(post("/api/map/locate", { ids: [id] }, signal));
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
    light(points);
    return points.map((point) => map.ids[point]);
  }
  async function ofRegion(number, signal) {
    const regions = unpacked(map.region, Uint8Array);
    const points = [...regions.keys()].filter((point) => regions[point] === number);
    light(points);
    const ids = points.map((point) => map.ids[point]);
    return [h("h2", {}, map.regions[number].words.join(" · ")), ...(await chosenList(about, ids, signal))];
  }

  const describe = debounced(async (point) => {
    const signal = hovers.next();
    const id = map.ids[point];
    try {
      const found = await glimpse(id, signal);
      const value = colours?.kind === "category" ? colours.names[values[point]] : null;
      if (!signal.aborted && found) tip.replaceChildren(h("b", {}, titleOf(found)), value ? h("span", {}, value) : "");
    } catch {
      tip.hidden = true; // a missing title is no error
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
