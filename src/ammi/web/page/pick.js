// Find points: the one nearest to the pointer, and those inside a lasso.

const CELLS = 128; // cells on each side of the grid

/** A grid over points (x, y, x, y, …) that finds some without looking at all of them. */
export function grid(places) {
  const n = places.length / 2;
  const cell = (value) => Math.max(0, Math.min(CELLS - 1, Math.floor(value * CELLS)));
  const starts = new Uint32Array(CELLS * CELLS + 1);
  const own = new Uint32Array(n);
  for (let point = 0; point < n; point++) {
    own[point] = cell(places[2 * point + 1]) * CELLS + cell(places[2 * point]);
    starts[own[point] + 1]++;
  }
  for (let place = 0; place < CELLS * CELLS; place++) starts[place + 1] += starts[place];
  const next = starts.slice();
  const order = new Uint32Array(n);
  for (let point = 0; point < n; point++) order[next[own[point]]++] = point;

  /** The points in a rectangle; null if there are more than `most`. */
  function within([left, low], [right, high], most) {
    const found = [];
    for (let row = cell(low); row <= cell(high); row++) {
      for (let column = cell(left); column <= cell(right); column++) {
        const place = row * CELLS + column;
        for (let i = starts[place]; i < starts[place + 1]; i++) {
          const [x, y] = [places[2 * order[i]], places[2 * order[i] + 1]];
          if (x >= left && x <= right && y >= low && y <= high && found.push(order[i]) > most) return null;
        }
      }
    }
    return found;
  }

  /** The most points in a cell, as a density: how many there would be on the whole map. */
  function densest() {
    let most = 0;
    for (let place = 0; place < CELLS * CELLS; place++) most = Math.max(most, starts[place + 1] - starts[place]);
    return most * CELLS * CELLS;
  }

  /** The point nearest to (x, y) within the given reach along each axis, or -1. */
  function nearest(x, y, reachX, reachY) {
    let best = -1;
    let least = 1;
    for (let row = cell(y - reachY); row <= cell(y + reachY); row++) {
      for (let column = cell(x - reachX); column <= cell(x + reachX); column++) {
        const place = row * CELLS + column;
        for (let i = starts[place]; i < starts[place + 1]; i++) {
          const far = ((places[2 * order[i]] - x) / reachX) ** 2 + ((places[2 * order[i] + 1] - y) / reachY) ** 2;
          if (far < least) [best, least] = [order[i], far];
        }
      }
    }
    return best;
  }

  return { nearest, within, densest };
}

/** The points inside a closed line of [x, y]: those from which a ray to the right crosses it an odd number of times. */
export function inside(places, line) {
  const [xs, ys] = [line.map(([x]) => x), line.map(([, y]) => y)];
  const [left, right, low, high] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const found = [];
  for (let point = 0; point < places.length / 2; point++) {
    const [x, y] = [places[2 * point], places[2 * point + 1]];
    if (x < left || x > right || y < low || y > high) continue;
    let odd = false;
    for (let i = 0, j = line.length - 1; i < line.length; j = i++) {
      if (ys[i] > y !== ys[j] > y && x < ((xs[j] - xs[i]) * (y - ys[i])) / (ys[j] - ys[i]) + xs[i]) odd = !odd;
    }
    if (odd) found.push(point);
  }
  return found;
}

/** Reduce a line to at most `most` corners. */
export function thinned(line, most = 40) {
  const step = Math.max(1, line.length / most);
  return Array.from({ length: Math.min(most, line.length) }, (_, place) => line[Math.floor(place * step)]);
}

/** The points of a region: those of all regions of the finest level that are in it. */
export function pointsOf(regionOf, regions, number) {
  const own = regions.map((region, one) => one === number);
  regions.forEach(({ parent }, one) => (own[one] ||= parent !== null && own[parent]));
  const points = [];
  regionOf.forEach((region, point) => own[region] && points.push(point));
  return points;
}

/** Order points by how far they are from (x, y): those in the middle of a region are the most like it. */
export function nearestFirst(points, places, { x, y }) {
  const far = new Map(points.map((point) => [point, (places[2 * point] - x) ** 2 + (places[2 * point + 1] - y) ** 2]));
  return [...points].sort((one, other) => far.get(one) - far.get(other));
}
