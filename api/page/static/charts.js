// Plotly, loaded when the first chart is drawn, in the page's colours.
import { h } from "./dom.js";

const SERIES = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"]; // Okabe and Ito: told apart by everybody
const SERIES_DARK = ["#56B4E9", "#FF9D5C", "#2FCB9B", "#E59CC6", "#F0C04A", "#9AD4FF"];
let library = null;

function plotly() {
  library ??= new Promise((resolve, reject) => {
    const script = h("script", { src: "/static/vendor/plotly.min.js" });
    script.onload = () => resolve(window.Plotly);
    script.onerror = () => reject(new Error("the chart library did not load"));
    document.head.append(script);
  });
  return library;
}

/** Begin to load the library while a page's data is on its way. */
export const warmCharts = () => { plotly().catch(() => {}); };

/** A place for a chart: `make` gives {data, layout} when it is drawn; the same key is updated in place. */
export function chart(key, label, make, { height = 300, onclick } = {}) {
  const place = h("div", { class: "chart", role: "img", "aria-label": label, "data-keep": key, key, style: `height:${height}px` });
  place.draw = { make, height, onclick };
  return place;
}

export function drawCharts(root) {
  for (const place of root.querySelectorAll("[data-keep]")) if (place.draw) draw(place);
}

async function draw(place) {
  const { make, height, onclick } = place.draw;
  const Plotly = window.Plotly ?? await plotly();
  if (!place.isConnected) return;
  const made = make();
  const shown = isDark();
  if (place.made === made && place.shown === shown) return; // a chart that is dear keeps what it made while nothing changed
  Object.assign(place, { made, shown });
  const { data, layout = {} } = made;
  await Plotly.react(place, data, themed(layout, height), { displaylogo: false, responsive: true, displayModeBar: false });
  place.dataset.drawn = "yes";
  if (onclick && !place.listens) {
    place.listens = true;
    place.on("plotly_click", (event) => place.draw.onclick(event.points[0]));
  }
}

function themed(layout, height) {
  const ink = colour("--ink");
  const line = colour("--line");
  const axis = { gridcolor: line, zerolinecolor: line, linecolor: line, automargin: true };
  return {
    height, font: { family: "system-ui, sans-serif", size: 12, color: ink }, colorway: seriesColours(),
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", margin: { l: 56, r: 16, t: 12, b: 44 },
    legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0 }, hovermode: "closest",
    hoverlabel: { bgcolor: colour("--card"), bordercolor: line, font: { color: ink } },
    uirevision: "kept", ...layout,
    xaxis: { ...axis, ...layout.xaxis }, yaxis: { ...axis, ...layout.yaxis },
  };
}

/** A custom property as the browser resolves it, light or dark. */
export function colour(name) {
  const probe = h("span", { style: `color: var(${name}); display: none` });
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

export const isDark = () => {
  const theme = document.documentElement.dataset.theme;
  return theme === "dark" || (theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
};

export const seriesColours = () => (isDark() ? SERIES_DARK : SERIES);

/** A line with its 95 % band: two traces of one legend entry. */
export function bandedLine({ name, x, y, low, high, text, order }) {
  const tint = seriesColours()[order % SERIES.length];
  const lines = [{
    type: "scatter", mode: "lines+markers", name, legendgroup: name, x, y, text,
    line: { color: tint, width: 2 }, marker: { size: 5 }, hovertemplate: "%{text}<extra></extra>",
  }];
  if (low?.every((value) => value !== null)) {
    lines.unshift({
      type: "scatter", mode: "lines", legendgroup: name, showlegend: false, hoverinfo: "skip", fill: "toself",
      x: [...x, ...[...x].reverse()], y: [...high, ...[...low].reverse()], line: { width: 0 }, fillcolor: `${tint}2e`,
    });
  }
  return lines;
}

/** Blue above one half, orange below: told apart by everybody, in light and dark. */
export const diverging = () => (isDark()
  ? [[0, "#f5a04c"], [0.25, "#a86a2d"], [0.5, "#4a4641"], [0.75, "#3377ad"], [1, "#7cc0ff"]]
  : [[0, "#b35806"], [0.25, "#f1a95c"], [0.5, "#fdfcfa"], [0.75, "#8bb7dc"], [1, "#1f5fa6"]]);
