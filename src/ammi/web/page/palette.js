// Colours that are distinct with any colour vision: eight for names, a scale for numbers, a grey for the rest.

const NAMES = {
  light: ["#0072b2", "#e08a00", "#009e73", "#cc4c00", "#56b4e9", "#c0659a", "#b8a100", "#4d4d4d"],
  dark: ["#4aa3e0", "#f0a830", "#2cc295", "#f07040", "#8fd0f7", "#e08fc0", "#f0e442", "#e4e4e4"],
};
const REST = { light: "#b4b1aa", dark: "#5c5f66" };
const SCALE = ["#2b3a8c", "#3f6fae", "#4a9fb0", "#7cc58e", "#c9dd6a", "#fde725"]; // dark to bright, for any colour vision
export const COLOURED = 8; // names that get a colour of their own

function rgb(hex) {
  return [1, 3, 5].map((place) => parseInt(hex.slice(place, place + 2), 16));
}

function onScale(share) {
  const place = share * (SCALE.length - 1);
  const low = Math.min(Math.floor(place), SCALE.length - 2);
  const [from, to] = [rgb(SCALE[low]), rgb(SCALE[low + 1])];
  return from.map((value, channel) => Math.round(value + (to[channel] - value) * (place - low)));
}

/** Return the colour of a value 0 to 255 of /api/map/colours, as [red, green, blue]. */
export function colourOf(kind, value, dark) {
  const theme = dark ? "dark" : "light";
  if ((kind === "number" || kind === "date") && value < 255) return onScale(value / 254);
  if (kind === "bit") return rgb(NAMES[theme][value ? 0 : 1]);
  if (kind === "category" && value < COLOURED) return rgb(NAMES[theme][value]);
  return kind === "none" ? rgb(NAMES[theme][0]) : rgb(REST[theme]);
}

/** Return the colours of all 256 values, four bytes each. */
export function paletteFor(kind, dark) {
  const table = new Uint8Array(256 * 4);
  for (let value = 0; value < 256; value++) table.set([...colourOf(kind, value, dark), 255], value * 4);
  return table;
}

/** The colour that a crowd of points turns to: darker, or in the dark lighter. */
export const crowdColour = (dark) => (dark ? [255, 255, 255] : [20, 18, 30]);

/** The colour of search results. */
export const ringColour = (dark) => rgb(dark ? "#ff9550" : "#c44a00");

export const css = ([red, green, blue]) => `rgb(${red} ${green} ${blue})`;
