// The page: opens the view that the address names, and handles the search box and the keys.
import { bitsView } from "./bits.js";
import { compareView } from "./compare.js";
import { duplicatesView } from "./duplicates.js";
import { documentView } from "./document.js";
import { debounced } from "./dom.js";
import { driftView } from "./drift.js";
import { figuresView } from "./figures.js";
import { mapView } from "./map.js";
import { forget } from "./library.js";
import { moveAmongResults } from "./results.js";
import { go, heightLeft, link, onChange, stateNow } from "./router.js";
import { searchView } from "./search.js";
import { get, isReport, keepToken } from "./source.js";
import { failed, loading } from "./states.js";
import { tableView } from "./table.js";
import { themeSwitch } from "./theme.js";
import { topicsView } from "./topics.js";
import { count, counted, showFirst } from "./words.js";

const VIEWS = {
  search: searchView,
  document: documentView,
  compare: compareView,
  drift: driftView,
  map: mapView,
  topics: topicsView,
  table: tableView,
  bits: bitsView,
  duplicates: duplicatesView,
  figures: figuresView,
};
const FRESH = 3000; // milliseconds before the collection is asked for again
const TYPING = 100; // milliseconds of quiet before a search
const SEARCHED = ["search", "map", "table"]; // views that answer a search
const KEPT = ["rank", "sort", "where", "colour", "bit", "only", "x", "y", "z"]; // stay in the address when other words are typed

const main = document.getElementById("view");
const field = document.getElementById("q");
let about = null;
let current = null; // the view that is open
let left = ""; // the document that was left last, which gets the focus on the way back
let asked = 0; // time of the last request for the collection
let turns = 0; // changes of the address

/** Take a token out of the end of the address. */
function takeToken() {
  const [, rest, token] = location.hash.match(/^#(.*?)[?&]?token=([^&]*)$/) ?? [];
  if (!token) return;
  keepToken(new URLSearchParams(`token=${token}`).get("token"));
  history.replaceState(null, "", rest ? `#${rest}` : location.pathname);
}

async function start() {
  main.replaceChildren(loading("Opening the collection…"));
  try {
    about = await get("/api/collection");
  } catch (error) {
    main.replaceChildren(failed(error, start));
    return;
  }
  showCollection();
  await follow(stateNow(), "first");
}

function showCollection() {
  asked = Date.now();
  document.getElementById("name").textContent = about.name;
  const whole = about.whole > about.documents ? `${count(about.documents)} of ` : ""; // a report has a sample
  document.getElementById("size").textContent = whole + counted(about.whole ?? about.documents, "document");
  showFirst(about.keys.filter((key) => key.indexed).map((key) => key.name));
  field.maxLength = about.limits.query;
  field.disabled = about.reads !== "text" && !about.ranks.includes("text") && !isReport;
  if (field.disabled) field.placeholder = about.reads ? "It reads vectors, not words" : "No model to read words";
  if (!isReport) return;
  field.placeholder = "Search by words";
  document.querySelector('nav [data-view="duplicates"]')?.remove(); // a report has none
}

/** Ask for the collection again: documents come and go, and another collection may be served. */
async function renew() {
  if (isReport || Date.now() - asked < FRESH) return;
  const now = await get("/api/collection").catch(() => about); // the view reports a server that does not answer
  if (now.name !== about.name || now.fingerprint !== about.fingerprint) {
    current?.leave();
    current = null;
    forget();
  }
  Object.assign(about, now); // the views share this object
  showCollection();
}

async function follow(state, how) {
  if (!about) return;
  const turn = ++turns;
  const height = heightLeft(); // read now: when the old view is removed, the page scrolls, and that is remembered
  if (how !== "first") waited.cancel(); // letters typed before this step
  await renew();
  if (turn !== turns) return; // the address has changed meanwhile
  const name = state.view in VIEWS ? state.view : "search";
  if (current?.name !== name) {
    current?.leave();
    main.replaceChildren();
    main.dataset.shows = name;
    current = { name, ...VIEWS[name](main, about) };
  }
  for (const anchor of document.querySelectorAll("nav [data-view]")) {
    if (anchor.dataset.view === name) anchor.setAttribute("aria-current", "page");
    else anchor.removeAttribute("aria-current");
  }
  showQuery(state, name);
  if (how === "new") scrollTo(0, 0);
  document.title = `${about.name} · ammi`; // until the view sets its own
  const before = left;
  left = state.id;
  await current.show(state);
  if (how === "new" || how === "back") settle(how, before, height);
}

/** Show the query of the address in the search box. Letters typed meanwhile stay, and so does a space at the end. */
function showQuery(state, name) {
  if (waited.isWaiting()) return;
  const q = state.params.get("q") ?? "";
  if (SEARCHED.includes(name) && field.value.trim() !== q) field.value = q;
}

/** After a step of the history: restore the scroll position, and move the focus to where reading goes on. */
function settle(how, before, height) {
  if (how === "back") scrollTo(0, height);
  if (document.activeElement === field || main.querySelector(".filter[open]")) return;
  if (document.activeElement?.closest(".facets, .table")) return; // of the same view, where one goes on
  const back =
    how === "back" && before ? [...main.querySelectorAll("[data-id]")].find((one) => one.dataset.id === before) : null;
  (back ?? main.querySelector("h1[tabindex]") ?? main).focus({ preventScroll: true });
}

/** Search for the typed text, on the map if it is open, else in a list. The first letter is a new step back. */
function search() {
  const state = stateNow();
  const q = field.value.trim();
  const here = SEARCHED.includes(state.view);
  if (here && q === (state.params.get("q") ?? "")) return;
  const kept = here ? Object.fromEntries(KEPT.map((key) => [key, state.params.getAll(key)])) : {};
  const address = link(here ? state.view : "search", { q, ...kept });
  go(address, { replace: here && Boolean(state.params.get("q")) && Boolean(q) });
}

const waited = debounced(search, TYPING);

field.addEventListener("input", waited);
field.form.addEventListener("submit", (event) => {
  event.preventDefault();
  waited.cancel();
  search();
});
addEventListener("keydown", (event) => {
  const typing = event.target instanceof HTMLElement && event.target.matches("input, select, textarea");
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    field.focus();
    field.select();
  } else if (event.key === "Escape" && !typing) {
    field.focus();
  } else if (!typing || event.target === field) {
    moveAmongResults(event, field);
  }
});
addEventListener("ammi-changed", () => {
  asked = 0; // ask for the collection again, and show the view as it is now
  forget();
  follow(stateNow(), "same");
});
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});

themeSwitch(document.getElementById("theme"));
takeToken();
onChange(follow);
start();
