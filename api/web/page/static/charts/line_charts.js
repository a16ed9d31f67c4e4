// Line charts with Plotly, which is loaded when the first chart is drawn.
import { colour, isDark, seriesColours } from "./colours.js";
import { linesAsCsv, saveButtons } from "./saving.js";
import { h } from "../core/dom.js";

const ADDRESS = "/static/vendor/plotly.min.js";
let library = null;

function plotly() {
  library ??= painted().then(
    () =>
      new Promise((resolve, reject) => {
        const script = h("script", { src: ADDRESS });
        script.onload = () => resolve(window.Plotly);
        script.onerror = () => reject(new Error("the chart library did not load"));
        document.head.append(script);
      }),
  );
  return library;
}

/** After the next frame: parsing 5 MB of script blocks the page, so it is painted first. */
const painted = () =>
  new Promise((done) => {
    requestAnimationFrame(() => setTimeout(done));
  });

/** Prefetch the library while the data of a page loads. */
export function prefetchCharts() {
  if (library || document.querySelector("link[rel=prefetch]")) return;
  document.head.append(h("link", { rel: "prefetch", as: "script", href: ADDRESS }));
}

/**
 * A placeholder for a chart, with buttons that save it. `make` returns {data, layout}; it is called, and the chart updated in
 * place, when a value in `of` changes. `names`: how many the legend has, where they may be many.
 */
export function chart(key, label, make, of, { height: least = 300, names = 0, onclick } = {}) {
  const height = least + legendHeight(names);
  const place = h("div", { class: "chart", role: "img", "aria-label": label, "data-keep": key, key, style: `height:${height}px` });
  place.draw = (drawn) => draw(drawn, { make, of, height, onclick });
  const csv = ({ data, layout }) => linesAsCsv(data, layout.xaxis?.type === "date");
  return h("figure", { class: "charted", key: `${key}-figure` }, place, saveButtons(key, label, csv));
}

/** Draw all charts and maps below `root`. */
export function drawCharts(root) {
  for (const place of root.querySelectorAll("[data-keep]")) place.draw?.(place);
}

async function draw(place, { make, of, height, onclick }) {
  place.onpick = onclick;
  const now = [...of, isDark()];
  if (place.of?.length === now.length && place.of.every((value, at) => value === now[at])) return;
  place.of = now;
  const Plotly = window.Plotly ?? (await plotly());
  if (!place.isConnected || place.of !== now) return; // removed, or replaced by newer data
  const { data, layout = {} } = make();
  await Plotly.react(place, data, themed(layout, height), { displaylogo: false, responsive: true, displayModeBar: false });
  place.dataset.drawn = "yes";
  if (onclick && !place.listens) {
    place.listens = true;
    place.on("plotly_click", (event) => place.onpick?.(event.points[0]));
  }
}

const LEGEND = { name: 115, line: 22 }; // pixels
const [COLUMN, GAP, PADDING] = [480, 16, 110]; // of the grid in which charts stand, and beside the legend in a card

/** The height of the legend's lines beyond the first: many names must not take the room of what is drawn. */
function legendHeight(names) {
  const page = document.getElementById("main")?.clientWidth ?? 0;
  const width = (page >= 2 * COLUMN + GAP ? (page - GAP) / 2 : page) - PADDING;
  return LEGEND.line * Math.max(0, Math.ceil(names / Math.max(1, Math.floor(width / LEGEND.name))) - 1);
}

/** The title of an axis beside its numbers, however long these are. */
const withDistance = (title) => (title ? { title: { standoff: 10, ...title } } : {});

function themed(layout, height) {
  const ink = colour("--ink");
  const line = colour("--line");
  const axis = { gridcolor: line, zerolinecolor: line, linecolor: line, automargin: true };
  return {
    height,
    font: { family: "system-ui, sans-serif", size: 12, color: ink },
    colorway: seriesColours(),
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    margin: { l: 56, r: 16, t: 12, b: 44 },
    legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0 },
    hovermode: "closest",
    hoverlabel: { bgcolor: colour("--card"), bordercolor: line, font: { color: ink } },
    uirevision: "kept",
    ...layout,
    xaxis: { ...axis, ...layout.xaxis },
    yaxis: { ...axis, ...layout.yaxis, ...withDistance(layout.yaxis?.title) },
  };
}

/** The band of the lines that are not drawn one by one: a neutral colour, which no line has. */
export const restLine = (count, band, text) =>
  bandedLine({
    name: `${count} others, median`,
    tint: isDark() ? "#a8a29a" : "#78716c",
    marked: false,
    x: band.map((each) => each.x),
    y: band.map((each) => each.middle),
    low: band.map((each) => each.low),
    high: band.map((each) => each.high),
    text: band.map(text),
  });

/** A line with its 95 % band, a faint one where there are many: two traces with one legend entry. */
export function bandedLine({ name, x, y, low, high, text, order, tint = seriesColours()[order % 6], marked = true, faint = false }) {
  const lines = [
    {
      type: "scatter",
      mode: marked ? "lines+markers" : "lines",
      name,
      legendgroup: name,
      x,
      y,
      text,
      customdata: low ? low.map((value, at) => [value, high[at]]) : undefined,
      line: { color: tint, width: 2 },
      marker: { size: 5 },
      hovertemplate: "%{text}<extra></extra>",
    },
  ];
  if (low?.every((value) => value !== null)) {
    lines.unshift({
      type: "scatter",
      mode: "lines",
      legendgroup: name,
      showlegend: false,
      hoverinfo: "skip",
      fill: "toself",
      x: [...x, ...[...x].reverse()],
      y: [...high, ...[...low].reverse()],
      line: { width: 0 },
      fillcolor: `${tint}${faint ? "12" : "2e"}`,
    });
  }
  return lines;
}
