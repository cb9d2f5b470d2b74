// Elements without markup: texts of documents become text nodes, never HTML.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** An element: h("a", {href: "#/map", onclick: jump}, "Map"). null, undefined and false are left out. */
export function h(tag, properties = {}, ...children) {
  return fill(document.createElement(tag), properties, children);
}

export function svg(tag, properties = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), properties, children);
}

/** Announce a text to screen readers. */
export function announce(text) {
  document.getElementById("status").textContent = text;
}

/** Run `job` after `wait` milliseconds without another call; `cancel()` drops it. */
export function debounced(job, wait) {
  let timer = null;
  const later = (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      timer = null;
      job(...given);
    }, wait);
  };
  later.isWaiting = () => timer !== null;
  later.cancel = () => {
    clearTimeout(timer);
    timer = null;
  };
  return later;
}

/** Abort signals of which only the last is alive: `next()` aborts the one before. */
export function latest() {
  let controller = new AbortController();
  return {
    next() {
      controller.abort();
      controller = new AbortController();
      return controller.signal;
    },
    stop: () => controller.abort(),
  };
}
