// The drawn map: points, names and lasso on two canvases, and which point is under the pointer.
import { debounced, h } from "./dom.js";
import { canvasPoints } from "./dots.js";
import { drawOver } from "./labels.js";
import { crowdColour } from "./palette.js";
import { grid, inside, thinned } from "./pick.js";
import { plane } from "./plane.js";
import { glPoints } from "./points.js";

const MOVE = 700; // milliseconds from a rough layout to a better one
const SMOOTH = 30; // milliseconds of a frame while the map moves
const FEWEST = 16; // at most this many points are skipped for each that is drawn while the map moves

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
  let stride = 1; // draw every stride-th point while the map moves; 1 if that is fast enough
  let late = 0; // consecutive slow frames
  const settled = debounced(() => {
    moving = false;
    stride = Math.ceil(stride / 2); // the delay may have another cause
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
    frame ||= requestAnimationFrame((began) => {
      frame = 0;
      draw();
      if (moving) requestAnimationFrame((ended) => thinOut(ended - began)); // the next frame waits for this one
    });
  }
  function thinOut(took) {
    late = took > 1.5 * SMOOTH ? late + 1 : 0;
    if (late < 2) return; // a single one may come from loading
    stride = Math.min(FEWEST, Math.ceil((stride * took) / SMOOTH));
    late = 0;
  }
  function draw() {
    const [across, up] = view.scales();
    const ratio = devicePixelRatio || 1;
    const crowd = Math.min(1.6, Math.max(0.5, (20000 / Math.max(1, places.length / 2)) ** 0.25));
    const size = Math.min(14, 3.2 * crowd * view.camera.zoom ** 0.35) * ratio;
    stage.dataset.stride = moving ? stride : 1;
    painter.draw({
      x: view.camera.x,
      y: view.camera.y,
      scaleX: across / stage.clientWidth,
      scaleY: up / stage.clientHeight,
      size,
      ratio,
      stride: moving ? stride : 1,
      most: (0.25 * densest * size * size) / (across * up * ratio * ratio), // points that cover a pixel there
      crowded: crowdColour(dark),
    });
    const drawn = drawOver(over, { ...overlay, pixel: view.pixel, area: across * up });
    Object.assign(stage.dataset, drawn, { zoom: view.camera.zoom.toFixed(2) });
  }
  const resized = new ResizeObserver(() => {
    for (const canvas of [dots, over]) {
      canvas.width = Math.round(stage.clientWidth * (devicePixelRatio || 1));
      canvas.height = Math.round(stage.clientHeight * (devicePixelRatio || 1));
    }
    draw();
  });
  resized.observe(stage);

  return {
    view,
    redraw,
    /** Move the points to a new layout, gliding if the points are the same. */
    move(to) {
      const from = places;
      const still = matchMedia("(prefers-reduced-motion: reduce)").matches || from.length !== to.length;
      places = to;
      stride = 1;
      cells = grid(to);
      densest = cells.densest();
      if (still) {
        painter.place(to);
        redraw();
        return;
      }
      const started = performance.now();
      const between = new Float32Array(to.length);
      const step = () => {
        const share = Math.min(1, (performance.now() - started) / MOVE);
        const eased = share * share * (3 - 2 * share);
        for (let i = 0; i < to.length; i++) between[i] = from[i] + (to[i] - from[i]) * eased;
        painter.place(between);
        draw();
        if (share < 1 && places === to) requestAnimationFrame(step);
      };
      step();
    },
    colour(values, table, isDark) {
      painter.colour(values, table);
      dark = isDark;
      redraw();
    },
    light(points, ring = null) {
      painter.light(points, ring);
      overlay.quiet = points !== null;
      redraw();
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
