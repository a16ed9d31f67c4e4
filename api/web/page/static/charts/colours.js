// Colours for charts, in light and dark theme.
import { h } from "../core/dom.js";

const SERIES = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"]; // Okabe and Ito: safe for colour-blind readers
const SERIES_DARK = ["#56B4E9", "#FF9D5C", "#2FCB9B", "#E59CC6", "#F0C04A", "#9AD4FF"];
const EVEN_LIGHT = [
  [0, "#b35806"],
  [0.25, "#f1a95c"],
  [0.5, "#fdfcfa"],
  [0.75, "#8bb7dc"],
  [1, "#1f5fa6"],
];
const EVEN_DARK = [
  [0, "#f5a04c"],
  [0.25, "#a86a2d"],
  [0.5, "#4a4641"],
  [0.75, "#3377ad"],
  [1, "#7cc0ff"],
];

export const isDark = () => {
  const theme = document.documentElement.dataset.theme;
  return theme === "dark" || (theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
};

export const seriesColours = () => (isDark() ? SERIES_DARK : SERIES);

/** A diverging scale: blue above one half, orange below; safe for colour-blind readers. */
export const diverging = () => (isDark() ? EVEN_DARK : EVEN_LIGHT);

/** The resolved colour of a custom property. */
export function colour(name) {
  const probe = h("span", { style: `color: var(${name}); display: none` });
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

/** The diverging scale as 256 RGB steps. */
export function divergingSteps() {
  const stops = diverging().map(([at, hex]) => [at, parts(hex)]);
  return Array.from({ length: 256 }, (_, step) => between(stops, step / 255));
}

/** A sequential scale of 256 RGB steps; the square root spreads small shares. */
export function massSteps() {
  const [none, all] = (isDark() ? ["#2d2926", "#7cc0ff"] : ["#f3efe8", "#1f5fa6"]).map(parts);
  return Array.from({ length: 256 }, (_, step) =>
    none.map((value, place) => Math.round(value + (all[place] - value) * Math.sqrt(step / 255))),
  );
}

const parts = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

function between(stops, share) {
  const next = Math.max(
    1,
    stops.findIndex(([at]) => at >= share),
  );
  const [[low, from], [high, to]] = [stops[next - 1], stops[next]];
  return from.map((value, place) => Math.round(value + ((to[place] - value) * (share - low)) / (high - low)));
}

/** Black or white text, whichever has more contrast on a colour. */
export const inkOn = ([red, green, blue]) => (0.299 * red + 0.587 * green + 0.114 * blue > 140 ? "#1d1b19" : "#ffffff");
