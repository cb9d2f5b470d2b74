// Messages of a view that is loading, has failed, or is empty.
import { h } from "./dom.js";
import { hasToken, keepToken } from "./source.js";

const PATIENCE = 200; // milliseconds before a view shows that it is loading

/** A progress bar with a sentence. */
export function loading(text = "Loading…") {
  return h("p", { class: "message waiting", role: "status" }, text);
}

export function empty(title, ...advice) {
  return h("div", { class: "message" }, h("h2", {}, title), ...advice.map((line) => h("p", {}, line)));
}

/** An error, and what to do: a field for the token, a link to the search, or a button to try again. */
export function failed(error, again) {
  if (error.status === 401) return tokenForm(again);
  if (error.status === 422) return empty("Nothing found", sentence(error.message)); // no document can pass a filter
  const gone = error.status === 404;
  const title = error.status === 0 ? "No answer" : gone ? "Not here" : "That did not work";
  const reason = gone ? error.message.replace(/: [^:]*$/, "") : error.message; // without the advice for programs
  return h(
    "div",
    { class: "message problem", role: "alert" },
    h("h2", {}, title),
    h("p", {}, sentence(reason)),
    gone
      ? h("a", { class: "chip", href: "#/search" }, "Search instead")
      : h("button", { type: "button", onclick: again }, "Try again"),
  );
}

/** Write the sentence of the server with a capital and a full stop. */
const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;

function tokenForm(again) {
  const field = h("input", { id: "token", type: "password", autocomplete: "off", required: true });
  const send = (event) => {
    event.preventDefault();
    keepToken(field.value.trim());
    again();
  };
  return h(
    "form",
    { class: "message", onsubmit: send },
    h("h2", {}, "A token is needed"),
    h("p", { role: "alert" }, hasToken() ? "The token is wrong." : "This server needs a token."),
    h("label", { for: "token" }, "The token that ammi serve was given"),
    h("p", { class: "row" }, field, h("button", {}, "Open the collection")),
  );
}

/**
 * Put into `root` what `work(signal)` gives, and until then that it is being waited for; a failure with a way to try
 * again. Whatever was there stays until the answer is, so that results do not flicker while somebody types.
 */
export async function fillWith(root, signal, work, waiting = "Loading…") {
  const timer = setTimeout(() => {
    root.setAttribute("aria-busy", "true");
    if (!root.hasChildNodes()) root.replaceChildren(loading(waiting));
  }, PATIENCE);
  try {
    const content = await work(signal);
    if (!signal.aborted) root.replaceChildren(...[content].flat());
  } catch (error) {
    if (signal.aborted) return;
    if (!("status" in error)) console.error(error);
    const again = () => {
      root.replaceChildren(loading(waiting));
      return fillWith(root, signal, work, waiting);
    };
    root.replaceChildren(failed(error, again));
  } finally {
    clearTimeout(timer);
    if (!signal.aborted) root.removeAttribute("aria-busy");
  }
}
