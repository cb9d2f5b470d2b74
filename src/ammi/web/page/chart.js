// The drawn map: points, names and lasso on two canvases, and which point is under the pointer.
import { debounced, h } from "./dom.js";
import { canvasPoints } from "./dots.js";
import { drawOver } from "./labels.js";
import { crowdColour } from "./palette.js";
import { grid, inside, thinned } from "./pick.js";
import { plane } from "./plane.js";
import { glPoints } from "./points.js";

const MOVE = 700; // milliseconds from a rough layout to a better one
const SLOW = 8; // milliseconds to draw the points: if it takes longer, as without a graphics card, a picture moves
const AROUND = 0.25; // what that picture has beyond each edge of the stage, as a share of its size
const FAR = 1.5; // the most by which it is enlarged
const RARELY = 6; // it stands for so many times the time it took, even if it leaves a part of the stage empty

/** Unpack base64 of little-endian numbers; `Type` is Uint8Array or Uint16Array. */
export function unpacked(base64, Type) {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  return new Type(bytes.buffer);
}

/** Coordinates as x, y, x, y, … from 0 to 1. */
export function placesOf(map) {
  const [xs, ys] = [unpacked(map.x, Uint16Array), unpacked(map.y, Uint16Array)];
  const places = new Float32Array(2 * xs.length);
  for (let point = 0; point < xs.length; point++) {
    places[2 * point] = xs[point] / 65535;
    places[2 * point + 1] = ys[point] / 65535;
  }
  return places;
}

/**
 * A chart in `stage`. `events`: moved(), settled() after it, hovered(point, x, y) with -1 for none, chosen(point),
 * lassoed(line).
 */
export function chart(stage, events) {
  let dots = h("canvas", { class: "dots", "aria-hidden": "true" });
  const over = h("canvas", { class: "over", "aria-hidden": "true" });
  let painter = glPoints(dots);
  if (!painter) {
    dots = h("canvas", { class: "dots", "aria-hidden": "true" }); // a canvas used for WebGL has no other context
    painter = canvasPoints(dots);
  }
  stage.replaceChildren(dots, over);
  stage.dataset.painter = painter.kind;
  let places = new Float32Array(0);
  let cells = grid(places);
  let densest = 0; // points on the whole map, if all of it were as dense as its densest part
  let dark = false;
  const overlay = { regions: [], titles: [], lasso: null, mark: null, quiet: false };
  let frame = 0;
  let moving = false;
  let picture = null; // the points as drawn: {x, y, zoom, took, at}; null if they look otherwise by now
  let tries = 2; // drawings that are yet to be measured
  let fastest = Infinity; // milliseconds, of those
  let around = 0; // AROUND if all of them were slow
  const settled = debounced(() => {
    moving = false;
    redraw();
    events.settled();
  }, 150);

  const view = plane(stage, {
    moved() {
      moving = true;
      settled();
      redraw();
      events.moved();
    },
    pointed: (x, y) => events.hovered(x === null ? -1 : pointAt(x, y, 10), x, y),
    tapped: (x, y, reach) => events.chosen(pointAt(x, y, reach)),
    drawn(line, done) {
      overlay.lasso = line.map(([x, y]) => view.place(x, y));
      if (done) events.lassoed(thinned(overlay.lasso));
      redraw();
    },
  });

  function pointAt(x, y, reach) {
    const [across, up] = view.scales();
    return cells.nearest(...view.place(x, y), reach / across, reach / up);
  }
  function redraw() {
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      draw();
    });
  }
  /** Draw the points anew, since they look otherwise. */
  function repaint() {
    picture = null;
    redraw();
  }
  function draw() {
    const { camera } = view;
    const isThere = picture && ["x", "y", "zoom"].every((name) => picture[name] === camera[name]);
    if (!isThere && !(picture && moving && around && canStay())) paint();
    const [x, y] = view.pixel(picture.x, picture.y);
    const [right, down] = [x - stage.clientWidth / 2, y - stage.clientHeight / 2].map(Math.round);
    dots.style.transform = `translate(${right}px, ${down}px) scale(${camera.zoom / picture.zoom})`;
    const [across, up] = view.scales();
    const drawn = drawOver(over, { ...overlay, pixel: view.pixel, area: across * up });
    Object.assign(stage.dataset, drawn, { zoom: camera.zoom.toFixed(2) });
  }
  /** Whether the picture still does: it covers the stage and is hardly enlarged, or it was drawn a moment ago. */
  function canStay() {
    if (performance.now() - picture.at < RARELY * picture.took) return true;
    const by = view.camera.zoom / picture.zoom;
    const [x, y] = view.pixel(picture.x, picture.y);
    const covers = (place, size) => Math.abs(place - size / 2) + size / 2 <= (0.5 + around) * size * by;
    return by < FAR && covers(x, stage.clientWidth) && covers(y, stage.clientHeight);
  }
  function paint() {
    const { x, y, zoom } = view.camera;
    const [across, up] = view.scales();
    const ratio = devicePixelRatio || 1;
    const crowd = Math.min(1.6, Math.max(0.5, (20000 / Math.max(1, places.length / 2)) ** 0.25));
    const size = Math.min(14, 3.2 * crowd * zoom ** 0.35) * ratio;
    const began = performance.now();
    painter.draw({
      x,
      y,
      scaleX: (across * ratio) / dots.width,
      scaleY: (up * ratio) / dots.height,
      size,
      ratio,
      most: (0.25 * densest * size * size) / (across * up * ratio * ratio), // points that cover a pixel there
      crowded: crowdColour(dark),
    });
    if (around || tries) painter.finish(); // later nobody waits for the graphics card
    const at = performance.now();
    picture = { x, y, zoom, took: at - began, at };
    if (!tries || !places.length) return;
    fastest = Math.min(fastest, picture.took);
    if (--tries || fastest < SLOW) return;
    around = AROUND;
    fit();
  }
  function fit() {
    const ratio = devicePixelRatio || 1;
    for (const [canvas, beyond] of [[dots, around], [over, 0]]) {
      canvas.style.setProperty("--around", `${100 * beyond}%`);
      canvas.width = Math.round(stage.clientWidth * (1 + 2 * beyond) * ratio);
      canvas.height = Math.round(stage.clientHeight * (1 + 2 * beyond) * ratio);
    }
    picture = null;
    draw();
  }
  const resized = new ResizeObserver(fit);
  resized.observe(stage);

  return {
    view,
    redraw,
    /** Move the points to a new layout, gliding if the points are the same. */
    move(to) {
      const from = places;
      const still = matchMedia("(prefers-reduced-motion: reduce)").matches || from.length !== to.length;
      places = to;
      cells = grid(to);
      densest = cells.densest();
      if (still) {
        painter.place(to);
        repaint();
        return;
      }
      const started = performance.now();
      const between = new Float32Array(to.length);
      const step = () => {
        const share = Math.min(1, (performance.now() - started) / MOVE);
        const eased = share * share * (3 - 2 * share);
        for (let i = 0; i < to.length; i++) between[i] = from[i] + (to[i] - from[i]) * eased;
        painter.place(between);
        picture = null;
        draw();
        if (share < 1 && places === to) requestAnimationFrame(step);
      };
      step();
    },
    colour(values, table, isDark) {
      painter.colour(values, table);
      dark = isDark;
      repaint();
    },
    light(points, ring = null) {
      painter.light(points, ring);
      overlay.quiet = points !== null;
      repaint();
    },
    name(regions) {
      overlay.regions = regions;
      redraw();
    },
    /** Show the titles of points: [point, title]. */
    title(titles) {
      overlay.titles = titles.map(([point, text]) => [places[2 * point], places[2 * point + 1], text]);
      redraw();
    },
    /** Return the points that are in view; null if there are more than `most`. */
    inView: (most) =>
      cells.within(view.place(0, stage.clientHeight), view.place(stage.clientWidth, 0), most),
    mark(place) {
      overlay.mark = place;
      redraw();
    },
    /** Return the points inside a line, which stays drawn; none for null. */
    around(line) {
      overlay.lasso = line;
      redraw();
      return line ? inside(places, line) : [];
    },
    /** Return the place and zoom that show points, but for a few far away from the others. */
    frame(points) {
      const ends = [0, 1].map((axis) => {
        const sorted = points.map((point) => places[2 * point + axis]).sort((a, b) => a - b);
        return [0.05, 0.95].map((share) => sorted[Math.floor(share * (sorted.length - 1))]);
      });
      const [[left, right], [low, high]] = ends;
      const zoom = Math.max(1.5, Math.min(40, 0.6 / Math.max(right - left, high - low, 1e-6)));
      return { x: (left + right) / 2, y: (low + high) / 2, zoom };
    },
    pixelOf: (point) => view.pixel(places[2 * point], places[2 * point + 1]),
    close() {
      resized.disconnect();
      settled.cancel();
    },
  };
}
