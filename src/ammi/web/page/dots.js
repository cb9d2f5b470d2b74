// Points drawn on a plain canvas without WebGL, with the interface of points.js.
import { css } from "./palette.js";

export function canvasPoints(canvas) {
  const context = canvas.getContext("2d");
  let places = new Float32Array(0);
  let groups = []; // groups of points: [colour, indices]
  let lit = null; // the highlighted points
  let around = null; // the colour of the rings around them

  function dots(points, colour, camera, size) {
    context.fillStyle = colour;
    for (const point of points) {
      const x = (places[2 * point] - camera.x) * camera.scaleX + 0.5;
      const y = 0.5 - (places[2 * point + 1] - camera.y) * camera.scaleY;
      if (x < 0 || x > 1 || y < 0 || y > 1) continue;
      context.fillRect(x * canvas.width - size / 2, y * canvas.height - size / 2, size, size);
    }
  }

  return {
    kind: "canvas",
    place(pairs) {
      places = pairs;
    },
    colour(bytes, table) {
      const byValue = new Map();
      bytes.forEach((value, point) =>
        byValue.has(value) ? byValue.get(value).push(point) : byValue.set(value, [point]),
      );
      groups = [...byValue].map(([value, points]) => [css([...table.slice(value * 4, value * 4 + 3)]), points]);
    },
    light(points, colour = null) {
      lit = points && new Set(points);
      around = colour;
    },
    draw(camera) {
      context.clearRect(0, 0, canvas.width, canvas.height);
      context.globalAlpha = lit ? 0.16 : 0.8;
      for (const [colour, points] of groups) dots(points, colour, camera, camera.size * 0.8);
      if (!lit) return;
      context.globalAlpha = 1;
      if (around) dots([...lit], css(around), camera, camera.size + 7 * camera.ratio);
      for (const [colour, points] of groups)
        dots(
          points.filter((point) => lit.has(point)),
          colour,
          camera,
          camera.size + 2 * camera.ratio,
        );
    },
    finish() {}, // all is drawn at once
  };
}
