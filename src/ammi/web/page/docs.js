// The documentation of the API, made of the server's own description; its examples run with documents of the collection.
import { announce, h } from "./dom.js";
import { ask, get } from "./source.js";
import { failed, loading } from "./states.js";

const main = document.getElementById("view");
const NAMES = {
  search: "Search",
  documents: "Documents",
  changes: "Changes",
  views: "Views of the page",
  service: "Service",
};
const LONGEST = 20_000; // characters of an answer that are shown

async function show() {
  main.replaceChildren(loading("Reading the description…"));
  try {
    const description = await get("/api/openapi.json");
    const [about, { documents }] = await Promise.all([
      get("/api/collection"),
      get("/api/documents", { limit: 1, length: 60, fields: "text" }),
    ]);
    main.replaceChildren(...page(description, about, examplesOf(documents[0])));
  } catch (error) {
    main.replaceChildren(failed(error, show));
  }
}

/** Values for parameters that exist in this collection. */
function examplesOf(document) {
  const words = document?.text?.match(/[\p{L}\p{N}]{3,}/gu)?.slice(0, 3);
  return { id: document?.id ?? "n17", q: words?.join(" ") ?? "inverse of a matrix" };
}

function page(description, about, examples) {
  const requests = Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation })),
  );
  const groups = [...new Set(requests.map((one) => one.tags[0]))].filter((tag) => tag !== "changes" || about.writable);
  return [
    h("h1", { tabindex: "-1" }, "The API of ", h("a", { href: "./" }, about.name)),
    h("p", { class: "lead" }, description.info.description.replaceAll("`", "")),
    !about.writable &&
      h(
        "p",
        { class: "hint" },
        "Start the server with --writable to change documents: the requests for it are listed then.",
      ),
    h(
      "p",
      { class: "hint" },
      "For programs: ",
      h("a", { href: "api/openapi.json" }, "/api/openapi.json"),
      ", OpenAPI 3.1.",
    ),
    ...groups.flatMap((tag) => [
      h("h2", {}, NAMES[tag] ?? tag),
      ...requests.filter((one) => one.tags[0] === tag).map((one) => request(description, one, examples)),
    ]),
  ].filter(Boolean);
}

/** A request, with a field for each parameter, the command for a shell, and a button that sends it. */
function request(description, { path, method, description: text, parameters = [], requestBody }, examples) {
  const answer = h("div", {});
  const given = parameters.filter((one) => one.in !== "header");
  const fields = given.map((one) => field(one, one.required ? exampleOf(description, one, examples) : "", path));
  const content = requestBody?.content?.["application/json"];
  const example = content && JSON.stringify(bodyOf(description, content.schema, examples, path), null, 2);
  const body =
    content && h("textarea", { "aria-label": `Body of ${method} ${path}`, spellcheck: "false", value: example });
  const command = h("pre", { tabindex: 0, role: "group", "aria-label": "The command for a shell" });

  function address() {
    let filled = path;
    const query = new URLSearchParams();
    given.forEach((one, n) => {
      const value = fields[n].input.value.trim();
      if (one.in === "path") filled = filled.replace(`{${one.name}}`, encodeURIComponent(value));
      else if (value) query.append(one.name, value);
    });
    return query.size ? `${filled}?${query}` : filled;
  }

  function spell() {
    const at = `'${location.origin}${address()}'`;
    const how = method === "GET" ? "" : ` -X ${method}`;
    command.textContent = body
      ? `curl${how} -H 'Content-Type: application/json' \\\n    -d '${body.value.replace(/\s*\n\s*/g, " ").replaceAll("'", "'\\''")}' \\\n    ${at}`
      : `curl${how} ${at}`;
  }

  async function send() {
    answer.replaceChildren(loading("Waiting for the answer…"));
    const headers = body ? { "Content-Type": "application/json" } : {};
    const response = await ask(address(), { method, body: body?.value, headers }).catch((error) => error);
    answer.replaceChildren(
      h("p", { class: "hint" }, response.status ? `Status ${response.status}` : response.message),
      h("pre", { tabindex: 0, role: "group", "aria-label": "The answer" }, pretty(response.text ?? "")),
    );
    announce(`Status ${response.status}`);
  }

  const details = h(
    "details",
    { class: "request", oninput: spell },
    h("summary", {}, h("b", {}, method), h("code", {}, path), h("span", {}, text.split("\n")[0])),
    fields.length > 0 &&
      h("div", { class: "values" }, ...fields.flatMap(({ label, input, note }) => [label, input, note])),
    body,
    command,
    h("button", { type: "button", onclick: send }, "Run"),
    answer,
  );
  spell();
  return details;
}

function field({ name, schema, description, required }, value, path) {
  const id = `${path} ${name}`.replace(/\W+/g, "-");
  const usual = schema.default ?? "";
  const input = h("input", { id, value: String(value), placeholder: String(usual) });
  const note = h("small", {}, description ?? schema.description ?? "", required ? " Required." : "");
  return { label: h("label", { for: id }, name), input, note };
}

const exampleOf = (description, { name, schema, example }, examples) =>
  examples[name] ??
  example ??
  resolved(description, schema).examples?.[0] ??
  resolved(description, schema).default ??
  "0";

function resolved(description, schema) {
  const name = schema.$ref?.split("/").at(-1);
  return name ? description.components.schemas[name] : schema;
}

/** An example of a body: its required fields, and those of which one is needed. */
function bodyOf(description, schema, examples, path) {
  if (path.endsWith("/get") || path.endsWith("/known") || path.endsWith("/locate")) return { ids: [examples.id] };
  if (path.endsWith("/like")) return { id: examples.id, k: 3 };
  if (path.endsWith("/search_many")) return { queries: [{ text: examples.q }, { text: "another query" }], k: 3 };
  const { properties = {}, required = [] } = resolved(description, schema);
  const body = Object.fromEntries(required.map((name) => [name, properties[name].examples?.[0] ?? null]));
  return "text" in properties ? { ...body, text: examples.q, ...("k" in properties ? { k: 3 } : {}) } : body;
}

function pretty(text) {
  let shown = text;
  try {
    shown = JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    // lines of JSON, or the metrics
  }
  return shown.length > LONGEST ? `${shown.slice(0, LONGEST)}\n…` : shown;
}

show();
