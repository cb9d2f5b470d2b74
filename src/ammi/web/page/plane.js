// The visible part of the plane, and the pointers, wheels and keys that move it.

const MARGIN = 0.94; // share of the view that the whole map takes
const FARTHEST = 200; // the largest zoom
const PAN = 60; // pixels for an arrow key
const STILL = 6; // pixels that a tap may move
const FLIGHT = 650; // milliseconds from one place to another
const STEP = 180; // milliseconds of a step by key or button
const STEPS = 64; // of a flight, to measure its way

/**
 * A camera over `stage`: {x, y} is the place in the middle, 0 to 1 from left and bottom, `zoom` 1 shows all. Calls
 * `moved()` when it moves, `pointed(x, y)` in pixels or null, `tapped(x, y, reach)`, `drawn(line, done)` for a lasso.
 */
export function plane(stage, { moved, pointed, tapped, drawn }) {
  const camera = { x: 0.5, y: 0.5, zoom: 1, lasso: false, canLasso: false };
  const hands = new Map(); // pointer: where it is
  let start = null; // where the first one came down
  let line = null; // of the lasso
  let spread = 0; // between two pointers
  let goal = null; // of a flight: {x, y, zoom}

  const size = () => [stage.clientWidth || 1, stage.clientHeight || 1];
  function scales() {
    const [width, height] = size();
    const across = Math.min(width, height * 1.6);
    const up = Math.min(height, width * 1.6);
    return [across * MARGIN * camera.zoom, up * MARGIN * camera.zoom]; // pixels of the whole map
  }
  function place(x, y) {
    const [width, height] = size();
    const [across, up] = scales();
    return [camera.x + (x - width / 2) / across, camera.y - (y - height / 2) / up];
  }
  function pixel(x, y) {
    const [width, height] = size();
    const [across, up] = scales();
    return [width / 2 + (x - camera.x) * across, height / 2 - (y - camera.y) * up];
  }
  const limited = (x, y, zoom) => ({
    x: Math.max(-0.2, Math.min(1.2, x)),
    y: Math.max(-0.2, Math.min(1.2, y)),
    zoom: Math.max(0.8, Math.min(FARTHEST, zoom)),
  });
  function set(x, y, zoom) {
    goal = null;
    Object.assign(camera, limited(x, y, zoom));
    moved();
  }
  /** Move there in a while: out, as far as both places are seen, across, and in again. */
  function fly(x, y, zoom, lasting = FLIGHT) {
    const to = limited(x, y, zoom);
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return set(to.x, to.y, to.zoom);
    const from = { ...camera };
    const far = Math.hypot(to.x - from.x, to.y - from.y);
    const [begin, end] = [Math.log(from.zoom), Math.log(to.zoom)];
    const dip = far ? Math.max(0, Math.min(begin, end) - Math.max(0, Math.log(0.8 / far))) : 0;
    const zoomAt = (share) => Math.exp(begin + (end - begin) * share - dip * Math.sin(Math.PI * share));
    const way = [0]; // the nearer, the slower across
    for (let i = 0; i < STEPS; i++) way.push(way[i] + 1 / zoomAt((i + 0.5) / STEPS));
    const began = performance.now();
    goal = to;
    const step = () => {
      if (goal !== to) return;
      const share = Math.min(1, (performance.now() - began) / lasting);
      if (share === 1) return set(to.x, to.y, to.zoom);
      const eased = share * share * (3 - 2 * share);
      const i = Math.floor(eased * STEPS);
      const across = (way[i] + (way[i + 1] - way[i]) * (eased * STEPS - i)) / way[STEPS];
      camera.zoom = zoomAt(eased);
      camera.x = from.x + (to.x - from.x) * across;
      camera.y = from.y + (to.y - from.y) * across;
      moved();
      requestAnimationFrame(step);
    };
    step();
  }
  /** Step from where the camera is, or is going to: nearer by a factor, or across by pixels. */
  function step(factor, dx = 0, dy = 0) {
    const { x, y, zoom } = goal ?? camera;
    const [across, up] = scales().map((scale) => (scale / camera.zoom) * zoom);
    fly(x - dx / across, y + dy / up, zoom * factor, STEP);
  }
  function pan(dx, dy) {
    const [across, up] = scales();
    set(camera.x - dx / across, camera.y + dy / up, camera.zoom);
  }
  /** Nearer by a factor, so that what is under (x, y) stays there. */
  function nearer(factor, x, y) {
    const before = place(x, y);
    camera.zoom = Math.max(0.8, Math.min(FARTHEST, camera.zoom * factor));
    const after = place(x, y);
    set(camera.x + before[0] - after[0], camera.y + before[1] - after[1], camera.zoom);
  }

  const at = (event) => {
    const box = stage.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const between = () => {
    const [[ax, ay], [bx, by]] = [...hands.values()];
    return { x: (ax + bx) / 2, y: (ay + by) / 2, far: Math.hypot(ax - bx, ay - by) };
  };
  stage.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    stage.setPointerCapture(event.pointerId);
    hands.set(event.pointerId, at(event));
    goal = null; // a hand stops a flight
    start = hands.size === 1 ? at(event) : null;
    line = hands.size === 1 && camera.canLasso && (camera.lasso || event.shiftKey) ? [at(event)] : null;
    if (hands.size === 2) spread = between().far;
    pointed(null);
  });
  stage.addEventListener("pointermove", (event) => {
    const here = at(event);
    const before = hands.get(event.pointerId);
    if (!before) {
      if (event.pointerType === "mouse") pointed(...here);
      return;
    }
    const middle = hands.size === 2 ? between() : null;
    hands.set(event.pointerId, here);
    if (line) {
      line.push(here);
      drawn(line, false);
    } else if (middle) {
      const now = between();
      pan(now.x - middle.x, now.y - middle.y);
      if (spread > 0) nearer(now.far / spread, now.x, now.y);
      spread = now.far;
    } else if (!start || Math.hypot(here[0] - start[0], here[1] - start[1]) > STILL) {
      start = null;
      pan(here[0] - before[0], here[1] - before[1]);
    }
  });
  const up = (event) => {
    if (!hands.delete(event.pointerId)) return;
    if (line && line.length > 3) drawn(line, true);
    else if (start && event.type === "pointerup") tapped(...start, event.pointerType === "mouse" ? 10 : 22);
    line = null;
    start = null;
  };
  stage.addEventListener("pointerup", up);
  stage.addEventListener("pointercancel", up);
  stage.addEventListener("pointerleave", () => pointed(null));
  stage.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      nearer(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), ...at(event));
    },
    { passive: false },
  );
  stage.addEventListener("dblclick", (event) => {
    const [x, y] = place(...at(event));
    fly((x + camera.x) / 2, (y + camera.y) / 2, camera.zoom * 2, STEP);
  });
  stage.addEventListener("keydown", (event) => {
    const keys = {
      ArrowLeft: () => step(1, PAN, 0),
      ArrowRight: () => step(1, -PAN, 0),
      ArrowUp: () => step(1, 0, PAN),
      ArrowDown: () => step(1, 0, -PAN),
      "+": () => step(1.5),
      "=": () => step(1.5),
      "-": () => step(1 / 1.5),
      0: () => fly(0.5, 0.5, 1),
    };
    if (!(event.key in keys) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    keys[event.key]();
  });

  return { camera, scales, place, pixel, set, fly, step };
}
