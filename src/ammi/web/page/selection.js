// What can be done with selected documents: take them along as a file or a link, tag them, delete them, undo that.
import { announce, h } from "./dom.js";
import { onChange } from "./router.js";
import { file, hasToken, isReport, post } from "./source.js";
import { count, counted } from "./words.js";

/** Write the parameters of an address as those of a request, without what is empty. */
export function query(params) {
  const pairs = Object.entries(params).flatMap(([key, value]) => [value ?? []].flat().map((one) => [key, one]));
  return new URLSearchParams(pairs.filter(([, value]) => value !== "")).toString();
}

/** Buttons for the selected documents; `selection` is {q, where, lasso, region, sort}, `total` how many they are. */
export function actions(about, selection, total) {
  if (isReport || !total) return null;
  const changes = about.writable ? [tagging(selection, total), deletion(asBody(selection), total, "document")] : [];
  return h(
    "div",
    { class: "actions", role: "group", "aria-label": "Take the documents along, or change them" },
    download("csv", "CSV", selection),
    download("jsonl", "JSONL", selection),
    copyLink(),
    ...changes,
  );
}

/** Return a selection as the body of a request. */
function asBody({ q, where, lasso, region }) {
  return { text: q || null, where, lasso: lasso ? lasso.split(",").map(Number) : null, region: region || null };
}

function download(format, name, selection) {
  const path = `/api/export?${query({ ...selection, format })}`;
  if (!hasToken()) return h("a", { class: "chip", href: path, download: "" }, `Save as ${name}`);
  const save = async () => {
    const address = URL.createObjectURL(await file(path));
    h("a", { href: address, download: `documents.${format}` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
  };
  return h("button", { type: "button", onclick: () => save().catch(problem) }, `Save as ${name}`);
}

function copyLink() {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      notice("The link is copied.");
    } catch {
      notice("Copy this link: ", h("input", { value: location.href, readonly: true, "aria-label": "Link" }));
    }
  };
  return h("button", { type: "button", onclick: copy }, "Copy link");
}

function tagging(selection, total) {
  const field = h("input", { "aria-label": "Tag", placeholder: "Tag", required: true, maxlength: 200 });
  const send = async (remove) => {
    if (!field.reportValidity()) return;
    const tag = field.value.trim();
    const answer = await post("/api/tag", { ...asBody(selection), tag, remove, expected: total });
    done(`${counted(answer.changed, "document")} ${remove ? "without" : "with"} the tag ${tag}.`, answer);
  };
  const form = h(
    "form",
    {
      class: "row",
      onsubmit: (event) => {
        event.preventDefault();
        send(false).catch(problem);
      },
    },
    field,
    h("button", {}, `Tag ${count(total)}`),
    h("button", { type: "button", onclick: () => send(true).catch(problem) }, "Take it away"),
  );
  const write = ({ target }) => target.open && field.focus();
  return h("details", { class: "change", ontoggle: write }, h("summary", { class: "chip" }, "Tag…"), form);
}

/** A button that deletes after a question; `selected` is the body of a request, or a function that finds it. */
export function deletion(selected, total, what) {
  const remove = async () => {
    const body = typeof selected === "function" ? await selected() : selected;
    const answer = await post("/api/remove", { ...body, expected: total });
    done(`${counted(answer.changed, what)} deleted.`, answer);
  };
  const summary = h("summary", { class: "chip" }, `Delete ${counted(total, what)}…`);
  const keep = () => {
    details.open = false;
    summary.focus();
  };
  const question = h(
    "p",
    { class: "row" },
    `Delete ${counted(total, what)}?`,
    h("button", { type: "button", class: "danger", onclick: () => remove().catch(problem) }, "Delete"),
    h("button", { type: "button", onclick: keep }, "Keep"),
  );
  const details = h("details", { class: "change" }, summary, question);
  return details;
}

/** Tell what was done, with a way back, and let the view show it. */
function done(sentence, { undo }) {
  const back = async () => {
    const { left } = await post("/api/undo", { undo });
    notice(left.length ? `Undone, but for ${counted(left.length, "document")} that others changed since.` : "Undone.");
    dispatchEvent(new Event("ammi-changed"));
  };
  const button = undo && h("button", { type: "button", onclick: () => back().catch(problem) }, "Undo");
  notice(sentence, " ", button);
  dispatchEvent(new Event("ammi-changed"));
}

const problem = (error) => notice(error.message);

/** Show a sentence at the lower edge until it is closed, or, without a control, until the address changes. */
function notice(...content) {
  document.querySelector(".notice")?.remove();
  const close = h("button", { type: "button", "aria-label": "Close", onclick: () => bar.remove() }, "×");
  const isPlain = !content.some((one) => one instanceof Element);
  const bar = h("div", { class: "notice", "data-plain": isPlain || null }, h("span", {}, ...content), close);
  document.body.append(bar);
  announce(bar.querySelector("span").textContent);
}

onChange(() => document.querySelector(".notice[data-plain]")?.remove());
