// The map view: a point in the plane for each document, and a panel beside it.
import { chart, placesOf, unpacked } from "./chart.js";
import { announce, debounced, h, latest } from "./dom.js";
import { filterBar } from "./filters.js";
import { colourChoice, legend } from "./legend.js";
import { glimpse, glimpses } from "./library.js";
import { chosenList, foundList, mainLevel, nameOf, oneDocument, regionList } from "./mappanel.js";
import { paletteFor, ringColour } from "./palette.js";
import { nearestFirst, pointsOf } from "./pick.js";
import { go, link, note, stateNow } from "./router.js";
import { get, pause, post } from "./source.js";
import { empty, failed, fillWith, loading } from "./states.js";
import { isDark, onTheme } from "./theme.js";
import { count, counted, titleOf } from "./words.js";

const LIT = 100; // results shown on the map
const NEAR = 6; // the zoom that shows one document
const TITLED = 200; // points in view, or fewer, that are near enough to have titles
const TITLES = 40; // of them have titles: those with room
const APART = [170, 30]; // pixels from one title to the next
const sampleOf = ({ version }) => version.slice(0, version.lastIndexOf("-")); // what follows is how far the map is
// A lasso or a region has other documents on a rough layout: both wait for the final one, so that links stay true.
const isFinal = (map) => map.retry === null;
const shortened = (title) => (title.length > 34 ? `${title.slice(0, 32).trimEnd()}…` : title);
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
  const filters = h("div", {});
  const colourBox = h("div", { class: "colours" });
  const list = h("div", { class: "found" });
  const loads = latest();
  const asks = latest();
  const hovers = latest();
  const titles = latest();
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
    settled: () => nameNear(),
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
    h("button", { type: "button", "aria-label": "Nearer", onclick: () => drawing.view.step(1.6) }, "+"),
    h("button", { type: "button", "aria-label": "Farther", onclick: () => drawing.view.step(1 / 1.6) }, "−"),
    h("button", { type: "button", onclick: () => drawing.view.fly(0.5, 0.5, 1) }, "All"),
    select,
  );
  root.replaceChildren(
    h("h1", { class: "hidden" }, "Map"),
    h("div", { class: "atlas" }, stage, tools, message, tip),
    h("aside", { class: "side", "aria-label": "What is on the map" }, caption, filters, colourBox, list),
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
      bit: params.get("bit"),
      at: params.get("at"),
      lasso: params.get("lasso"),
      region: params.get("region"),
      only: alone,
    };
    return link("map", { ...now, ...kept(), ...changed });
  }
  function noteNow() {
    if (location.hash !== state.address) return; // the page is on its way to another view
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
    alone = state.params.get("only"); // before the camera moves, which notes the address
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
    await Promise.all([showColours(signal), showFound(signal)]);
  }

  function placeCamera() {
    const [x, y, z] = ["x", "y", "z"].map((name) => Number(state.params.get(name)));
    const place = z > 0 ? [x, y, z] : [0.5, 0.5, 1];
    const now = kept();
    if (!map) drawing.view.set(...place);
    else if ((now.x ?? 0.5) != place[0] || (now.y ?? 0.5) != place[1] || (now.z ?? 1) != place[2])
      drawing.view.fly(...place);
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
    nameNear();
    drawing.view.camera.canLasso = isFinal(map);
    select.disabled = !isFinal(map);
    if (!colours) drawing.colour(new Uint8Array(map.points), paletteFor("none", isDark()), isDark());
    const rough = map.state === "rough" ? " A better layout is being computed." : "";
    caption.textContent =
      map.points < map.documents
        ? `A sample: ${count(map.points)} of ${count(map.documents)} documents.${rough}`
        : `${map.points === 1 ? "One document" : `All ${count(map.points)} documents`}, close together where their codes are alike.${rough}`;
  }

  async function showColours(signal) {
    const [asked, bit] = [state.params.get("colour"), state.params.get("bit")];
    const indexed = about.keys.filter((key) => key.indexed).map((key) => key.name);
    const chosen = asked ?? map.colours.find((name) => indexed.includes(name)) ?? map.colours[0] ?? "";
    const key = bit === null ? (asked === "none" ? "" : chosen) : `bit ${bit}`;
    if ((colours?.key ?? "") !== key || !colours) {
      const none = { key: "", kind: "none", names: [], counts: [] };
      const orNone = (error) => {
        if (error.status !== 404) throw error;
        announce(`No document has ${key}`);
        return none; // an old link, from when documents had the key
      };
      const wanted = bit === null ? { key } : { bit };
      colours = key ? await ofThisMap(get("/api/map/colours", wanted, signal)).catch(orNone) : none;
      values = colours.values ? unpacked(colours.values, Uint8Array) : new Uint8Array(map.points);
    }
    if (isFinal(map) && !colours.names.includes(alone)) alone = null;
    recolour();
    if (bit !== null) nameBit(Number(bit), signal).catch(() => null); // words are no condition for colours
  }
  async function nameBit(bit, signal) {
    const { bits } = await get("/api/bits", {}, signal);
    if (colours.key !== `bit ${bit}` || !bits[bit]) return;
    colours.words = [bits[bit].zeros, bits[bit].words];
    recolour();
  }
  function recolour() {
    if (!map || !colours) return;
    drawing.colour(values, paletteFor(colours.kind, isDark()), isDark());
    relight();
    const only = (name) => {
      alone = alone === name ? null : name;
      announce(alone === null ? "All names shown" : `${name} shown alone`);
      noteNow();
      recolour();
      colourBox.querySelector(`.legend [data-name="${CSS.escape(name)}"]`).focus();
    };
    const choice = colourChoice(map.colours, about.bits, colours.key, (changed) => go(address({ ...changed, only: null })));
    const meaning =
      colours.kind === "bit" &&
      h("p", {}, h("a", { class: "chip", href: link("bits", { bit: colours.key.slice(4) }) }, `What ${colours.key} means`));
    const shown = [choice, colours.key && legend(colours, alone, isDark(), only), meaning];
    colourBox.replaceChildren(...shown.filter(Boolean));
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
    const number = region ? map.regions.findIndex((one) => nameOf(one) === region) : -1;
    light(null);
    drawing.mark(null);
    drawing.around(null);
    const where = state.params.getAll("where");
    const selection = { q, lasso, region };
    filters.replaceChildren(filterBar(about, where, (changed) => go(address({ where: changed })), selection) ?? "");
    /** Return the points that pass the filters; null if there are none. */
    const passing = async () =>
      where.length ? new Set((await ofThisMap(get("/api/map/selected", { where }, signal))).points) : null;
    const back = h(
      "p",
      { class: "row" },
      h("a", { class: "chip", href: address(NOTHING) }, "Show the regions"),
      !at && h("a", { class: "chip", href: link("table", { ...selection, where }) }, "Show as a table"),
    );
    if (q)
      await fillWith(list, signal, async () => [
        back,
        ...(await foundList(about, q, state.params.getAll("where"), LIT, signal, lightUp)),
      ]);
    else if ((lasso || region) && !isFinal(map)) list.replaceChildren(back, loading("Waiting for the final layout…"));
    else if (lasso)
      await fillWith(list, signal, async () => [back, ...(await chosenList(about, within(lasso, await passing()), signal))]);
    else if (at)
      await fillWith(list, signal, async () => [back, ...[await oneDocument(about, at, signal, locate)].flat()]);
    else if (number >= 0) await fillWith(list, signal, async () => [back, ...(await ofRegion(number, await passing(), signal))]);
    else if (where.length)
      await fillWith(list, signal, async () => {
        const { points, total } = await ofThisMap(get("/api/map/selected", { where }, signal));
        light(points);
        const table = link("table", { where });
        return [
          h("h2", {}, `${counted(total, "document")} ${total === 1 ? "passes" : "pass"} the filters`),
          h("p", {}, h("a", { class: "chip", href: table }, "Show as a table")),
          regionList(map, mainLevel(map.regions), openRegion),
        ];
      });
    else list.replaceChildren(regionList(map, mainLevel(map.regions), openRegion));
  }
  const inRegion = (number) => pointsOf(unpacked(map.region, Uint16Array), map.regions, number);
  function openRegion(number) {
    const { x, y, zoom } = drawing.frame(inRegion(number));
    go(address({ ...NOTHING, x: x.toFixed(4), y: y.toFixed(4), z: zoom.toFixed(2), region: nameOf(map.regions[number]) }));
  }
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
    if (!state.params.get("z")) drawing.view.fly(places[0].x, places[0].y, NEAR);
  }
  function within(text, among) {
    const numbers = text.split(",").map(Number);
    const line = Array.from({ length: numbers.length >> 1 }, (_, place) => [
      numbers[2 * place],
      numbers[2 * place + 1],
    ]);
    const points = drawing.around(line).filter((point) => !among || among.has(point));
    light(points);
    return points.map((point) => map.ids[point]);
  }
  async function ofRegion(number, among, signal) {
    const points = inRegion(number).filter((point) => !among || among.has(point));
    light(points);
    const inside = map.regions.flatMap(({ parent }, one) => (parent === number ? [one] : []));
    const chosen = nearestFirst(points, placesOf(map), map.regions[number]).map((point) => map.ids[point]);
    return [
      h("h2", {}, map.regions[number].words.join(", ")),
      inside.length > 1 && regionList(map, inside, openRegion, "Inside it"),
      ...(await chosenList(about, chosen, signal)),
    ].filter(Boolean);
  }

  /** Write titles beside points once few enough are in view. */
  async function nameNear() {
    const signal = titles.next();
    const near = map ? drawing.inView(TITLED) : null;
    if (!near) return drawing.title([]);
    const taken = [];
    const apart = ([x, y]) => taken.every(([a, b]) => Math.abs(a - x) > APART[0] || Math.abs(b - y) > APART[1]);
    const chosen = [];
    for (const point of near) {
      const place = drawing.pixelOf(point);
      if (chosen.length === TITLES) break;
      if (!apart(place)) continue;
      taken.push(place);
      chosen.push(point);
    }
    const ids = chosen.map((point) => map.ids[point]);
    const found = await glimpses(ids, signal).catch(() => []);
    const titleOfId = new Map(found.map((one) => [String(one.id), titleOf(one)]));
    if (signal.aborted) return;
    const named = chosen.filter((point) => titleOfId.has(String(map.ids[point])));
    drawing.title(named.map((point) => [point, shortened(titleOfId.get(String(map.ids[point])))]));
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
    for (const one of [loads, asks, hovers, titles]) one.stop();
    describe.cancel();
    noteSoon.cancel();
    drawing.close();
    unfollow();
  }
  return { show, leave };
}
