// The address holds the whole state: #/view/id?key=value. Views read it, and change it by `go`.

const followers = [];
let clicked = false; // whether the next change of the address comes from a link, not from Back or Forward
const heights = new Map(); // address: its scroll position
let shown = location.hash;

/** Return the state in the address: view, id of a document, a URLSearchParams, and the address itself. */
export function stateNow() {
  const address = location.hash;
  const [path, query = ""] = address.slice(1).split("?");
  const [, view = "", ...rest] = path.split("/");
  return { view: view || "search", id: decoded(rest.join("/")), params: new URLSearchParams(query), address };
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // a broken link: the view will say that there is no such document
  }
}

/** Return the address of a state. null, undefined and "" are left out; a list is repeated. */
export function link(view, { id = null, ...params } = {}) {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(params)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== null && one !== undefined && one !== "") query.append(key, one);
    }
  }
  const path = id === null ? `#/${view}` : `#/${view}/${encodeURIComponent(id)}`;
  return query.size ? `${path}?${query}` : path;
}

/** Go to an address: as a new step of the history, or in place of this one. */
export function go(address, { replace = false } = {}) {
  if (address === location.hash) return;
  remember();
  history[replace ? "replaceState" : "pushState"](null, "", address);
  follow(replace ? "same" : "new");
}

/** Write a detail of the state into the address without opening the view again. */
export function note(address) {
  if (address !== location.hash) history.replaceState(null, "", address);
  shown = location.hash;
}

/** Call `follower(state, how)` at every change: "new" a step on, "back" one back or forward, "same" in place. */
export function onChange(follower) {
  followers.push(follower);
}

/** Return the scroll position at which this address was left. */
export const heightLeft = () => heights.get(location.hash) ?? 0;

function remember() {
  heights.set(shown, window.scrollY);
}

function follow(how) {
  shown = location.hash;
  for (const follower of followers) follower(stateNow(), how);
}

addEventListener("click", (event) => {
  const target = event.target instanceof Element ? event.target.closest('a[href^="#/"]') : null;
  if (target) clicked = true;
});
addEventListener("scroll", remember, { passive: true });
addEventListener("hashchange", () => {
  follow(clicked ? "new" : "back");
  clicked = false;
});
