// The layer over the points: names of regions and titles of documents that do not overlap, the lasso, the marked document.

const FONT = 13; // pixels, and a little more for large regions
const TITLE = 12; // pixels
const AIR = 6; // between two names
const TOOLS = { width: 230, height: 62 }; // the buttons in the corner, which names must not touch
const ROOM = 20_000; // pixels of the map for each name of a level

const widths = new Map(); // measured names

/** The regions of the level that fits a map of so many pixels: finer ones, the nearer it is. */
export function ofLevel(regions, area) {
  const counts = [];
  for (const { level } of regions) counts[level] = (counts[level] ?? 0) + 1;
  const fits = counts.findLastIndex((n) => n * ROOM <= area);
  return regions.filter(({ level }) => level === Math.max(0, fits));
}

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
    const [x, y] = pixel(region.x, region.y);
    const box = boxOf(text, `600 ${size}px`, size, x, y, measure);
    if (fits(box, boxes, width, height)) boxes.push(box);
  }
  return boxes;
}

/** Place the titles of documents, [x, y, title], below their points and beside what is in `boxes`. */
function placedTitles(titles, boxes, pixel, [width, height], measure) {
  const all = [...boxes];
  for (const [x, y, text] of titles) {
    const [left, top] = pixel(x, y);
    const box = boxOf(text, `${TITLE}px`, TITLE, left, top + TITLE + 4, measure);
    if (fits(box, all, width, height)) all.push(box);
  }
  return all.slice(boxes.length);
}

function boxOf(text, font, size, x, y, measure) {
  const half = measure(text, font) / 2;
  const [left, right] = [x - half - AIR, x + half + AIR];
  return { text, font, x, y, left, right, top: y - size * 0.7 - AIR / 2, bottom: y + size * 0.7 + AIR / 2 };
}

const fits = (box, boxes, width, height) =>
  box.left > 0 && box.right < width && box.top > 0 && box.bottom < height &&
  boxes.every((one) => box.right < one.left || box.left > one.right || box.bottom < one.top || box.top > one.bottom);

/** Draw on the canvas over the points, with ink for the text and paper for its outline; count what is drawn. */
export function drawOver(canvas, { regions, titles, pixel, area, lasso, mark, quiet }) {
  const context = canvas.getContext("2d");
  const style = getComputedStyle(canvas);
  const [ink, paper, accent] = [style.color, style.outlineColor, style.accentColor];
  const ratio = canvas.width / Math.max(1, canvas.clientWidth);
  const measure = (text, font) => {
    const key = `${font} ${text}`;
    if (!widths.has(key)) {
      context.font = `${font} ${style.fontFamily}`;
      widths.set(key, context.measureText(text).width);
    }
    return widths.get(key);
  };
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, canvas.clientWidth, canvas.clientHeight);
  const size = [canvas.clientWidth, canvas.clientHeight];
  const shown = ofLevel(regions, area);
  const boxes = placed(shown, pixel, size, measure);
  const ofDocuments = placedTitles(titles, boxes, pixel, size, measure);
  const names = boxes.slice(1);
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.lineJoin = "round";
  for (const { text, font, x, y } of [...ofDocuments, ...names]) {
    context.globalAlpha = quiet && font !== `${TITLE}px` ? 0.55 : 1;
    context.font = `${font} ${style.fontFamily}`;
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
  return { names: names.length, level: shown[0]?.level ?? 0, titles: ofDocuments.length };
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
