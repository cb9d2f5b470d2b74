// The layer over the points: names of regions that do not overlap, the lasso, the marked document.

const FONT = 13; // pixels, and a little more for large regions
const AIR = 6; // between two names
const TOOLS = { width: 230, height: 62 }; // the buttons in the corner, which names must not touch

const widths = new Map(); // measured names

/** Place the names, those of large regions first; a name that would cover another is left out. */
export function placed(regions, pixel, [width, height], measure) {
  const boxes = [{ left: 0, right: TOOLS.width, top: height - TOOLS.height, bottom: height }];
  const largest = Math.max(1, ...regions.map((region) => region.documents));
  for (const region of [...regions].sort((a, b) => b.documents - a.documents)) {
    if (!region.words.length) continue;
    const used = (words) => boxes.some((box) => box.text === words);
    const text = [2, 3].map((n) => region.words.slice(0, n).join(" · ")).find((words) => !used(words));
    if (!text) continue;
    const size = FONT + Math.round(3 * Math.sqrt(region.documents / largest));
    const half = measure(text, size) / 2;
    const [x, y] = pixel(region.x, region.y);
    const box = {
      text,
      size,
      x,
      y,
      left: x - half - AIR,
      right: x + half + AIR,
      top: y - size * 0.7 - AIR / 2,
      bottom: y + size * 0.7 + AIR / 2,
    };
    const seen = box.left > 0 && box.right < width && box.top > 0 && box.bottom < height;
    const free = boxes.every(
      (one) => box.right < one.left || box.left > one.right || box.bottom < one.top || box.top > one.bottom,
    );
    if (seen && free) boxes.push(box);
  }
  return boxes.slice(1);
}

/** Draw on the canvas over the points, with ink for the text and paper for its outline. */
export function drawOver(canvas, { regions, pixel, lasso, mark, quiet }) {
  const context = canvas.getContext("2d");
  const style = getComputedStyle(canvas);
  const [ink, paper, accent] = [style.color, style.outlineColor, style.accentColor];
  const ratio = canvas.width / Math.max(1, canvas.clientWidth);
  const font = (size) => `600 ${size}px ${style.fontFamily}`;
  const measure = (text, size) => {
    const key = `${size} ${text}`;
    if (!widths.has(key)) {
      context.font = font(size);
      widths.set(key, context.measureText(text).width);
    }
    return widths.get(key);
  };
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, canvas.clientWidth, canvas.clientHeight);
  const boxes = placed(regions, pixel, [canvas.clientWidth, canvas.clientHeight], measure);
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.lineJoin = "round";
  context.globalAlpha = quiet ? 0.55 : 1;
  for (const { text, size, x, y } of boxes) {
    context.font = font(size);
    context.lineWidth = 4;
    context.strokeStyle = paper;
    context.strokeText(text, x, y);
    context.fillStyle = ink;
    context.fillText(text, x, y);
  }
  context.globalAlpha = 1;
  context.strokeStyle = accent;
  context.lineWidth = 2;
  if (lasso)
    outline(
      context,
      lasso.map(([x, y]) => pixel(x, y)),
    );
  if (mark) ring(context, pixel(...mark), paper, accent);
  return boxes.length;
}

function outline(context, line) {
  context.beginPath();
  line.forEach(([x, y], place) => (place ? context.lineTo(x, y) : context.moveTo(x, y)));
  context.closePath();
  context.stroke();
  context.save();
  context.globalAlpha = 0.08;
  context.fillStyle = context.strokeStyle;
  context.fill();
  context.restore();
}

function ring(context, [x, y], paper, accent) {
  for (const [colour, width] of [
    [paper, 6],
    [accent, 3],
  ]) {
    context.beginPath();
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.arc(x, y, 9, 0, 2 * Math.PI);
    context.stroke();
  }
}
