// One metric of any number of players: up to ten lines, the rest as a band, smoothed or not, over steps or time.
import { chart, restLine } from "./line_charts.js";
import { seriesColours } from "./colours.js";
import { fixed } from "../core/format.js";
import { looksOf } from "../core/roster_colours.js";
import { MOST_LINES, chooseLines, quantileBand, smoothed } from "../core/series.js";
import { xAxis } from "../components/chart_view.js";

const stamp = (line) => `${line.id}:${line.y.length}:${line.y.at(-1)}`;

/** `series` as the API answers, in the order in which lines are chosen; `view` by `chartView`. */
export function trendChart(key, label, series, view, { unit, logarithmic = false, stepped = false, height } = {}) {
  const lines = series.map((each) => ({
    id: each.player_id,
    owner: each.owner ?? each.player_id,
    name: each.player,
    x: view.over === "time" ? each.times.map((second) => second * 1000) : each.steps,
    y: smoothed(each.values, view.smooth),
    raw: each.values,
  }));
  const { shown, rest } = chooseLines(lines, view.highlight);
  const looks = looksOf(
    shown.map((line) => line.owner),
    view.places,
  );
  return chart(
    key,
    label,
    () => ({
      data: [
        ...restBand(rest),
        ...(view.smooth ? shown.map((line, order) => lineTrace(line, looks[order], { y: line.raw, faint: 0.25, isQuiet: true })) : []),
        ...shown.map((line, order) => lineTrace(line, looks[order], { y: line.y, faint: line.isFaint ? 0.25 : 1, stepped })),
      ],
      layout: {
        xaxis: xAxis(view),
        yaxis: { title: { text: unit }, ...scale(lines, logarithmic) },
        showlegend: lines.length > 1,
      },
    }),
    [lines.map(stamp).join(), JSON.stringify(view), logarithmic],
    { height, names: shown.length + Math.min(1, rest.length) },
  );
}

/** A logarithmic axis for positive values; else one that shows zero where it is near. */
function scale(lines, logarithmic) {
  const values = lines.flatMap((line) => line.y).filter((value) => value !== null);
  if (logarithmic && values.some((value) => value > 0)) return { type: "log", exponentformat: "power" };
  const most = values.reduce((found, value) => Math.max(found, Math.abs(value)), 0);
  const small = most < 1 ? { exponentformat: "none" } : {}; // else Plotly writes 0.0003 as 300µ
  return { type: "linear", rangemode: values.every((value) => value >= 0) ? "tozero" : "normal", ...small };
}

function lineTrace(line, look, { y, faint, isQuiet = false, stepped = false }) {
  return {
    type: "scatter",
    mode: line.x.length < 3 ? "lines+markers" : "lines",
    name: line.name,
    legendgroup: line.id,
    x: line.x,
    y,
    opacity: faint,
    connectgaps: false,
    line: {
      color: seriesColours()[look.colour],
      width: isQuiet ? 1 : 2,
      dash: look.dash,
      shape: stepped ? "hv" : "linear",
    },
    ...(isQuiet ? { showlegend: false, hoverinfo: "skip" } : {}),
  };
}

function restBand(rest) {
  const points = rest.flatMap((line) => line.x.map((x, at) => ({ x, value: line.y[at] }))).filter((point) => point.value !== null);
  const band = quantileBand(points);
  return band.length ? restLine(rest.length, band, (each) => `median of ${rest.length} others: ${fixed(each.middle, 3)}`) : [];
}

/** What a reader must know about the lines that are not drawn one by one. */
export const restNote = (count) =>
  count > MOST_LINES ? `${MOST_LINES} lines; the other ${count - MOST_LINES} as a band from 10 % to 90 % of them.` : "";
