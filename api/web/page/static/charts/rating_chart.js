// Ratings over steps or time: the ten best players, the rest as a band; snapshots, resets and promotions marked.
import { bandedLine, chart, restLine } from "./line_charts.js";
import { colour, seriesColours } from "./colours.js";
import { cutBands, pieces, ratingLines, ratingRange } from "./rating_lines.js";
import { h } from "../core/dom.js";
import { counted, fixed, versionName } from "../core/format.js";
import { looksOf } from "../core/roster_colours.js";
import { MOST_LINES, chooseLines, quantileBand, smoothed } from "../core/series.js";
import { xAxis } from "../components/chart_view.js";

const MOST_BANDS = 4; // with more, strong bands would be one grey mass

export function ratingChart({ ratings, players, marks, anchor }, view, label = "") {
  const lines = ratingLines(
    ratings,
    players,
    marks.filter((each) => each.kind === "reset" && each.verdict === "reset"),
  );
  const { shown, rest, found } = chooseLines(lines, view.highlight);
  const looks = looksOf(
    shown.map((line) => line.id),
    view.places,
  );
  const range = ratings.length ? ratingRange(ratings) : [0, 0];
  const cut = shown.flatMap((line, order) => cutBands(line.points, range).map((each) => ({ ...each, tint: tintOf(looks[order]) })));
  const promoted = new Set(marks.filter((each) => each.kind === "promotion" && each.verdict === "promote").map((each) => each.version_id));
  const zero = anchor ? versionName(anchor.player, anchor.number) : "the anchor";
  const x = (each) => (view.over === "time" ? new Date(each.recorded_at).getTime() : each.steps);
  return [
    chart(
      "ratings",
      label || `Elo over ${view.over === "time" ? "time" : "steps"} with 95 percent bands`,
      () => ({
        data: [
          ...restBand(rest, x),
          ...shown.flatMap((line, order) => traces(line, looks[order], x, view.smooth, shown.length > MOST_BANDS)),
          ...markers(
            shown.flatMap((line, order) => line.points.map((each) => ({ ...each, tint: tintOf(looks[order]) }))),
            promoted,
            x,
          ),
          arrows(cut, range, x),
        ],
        layout: { xaxis: xAxis(view), yaxis: { title: { text: `Elo above ${zero}` }, range } },
      }),
      [ratings, marks.length, JSON.stringify(view)],
      { names: shown.length + Math.min(1, rest.length) },
    ),
    h(
      "p",
      { class: "quiet under-chart" },
      `Zero is ${zero}. ◆ snapshot, ★ promoted, ✕ reset.`,
      cut.length ? " ▴ ▾ at the edge: a 95 % band goes on beyond the axis." : "",
      rest.length
        ? ` ${view.highlight ? "" : "The best "}${MOST_LINES} lines; the other ${rest.length} as a band from 10 % to 90 % of them.`
        : "",
      view.highlight && !found ? ` No player has “${view.highlight}” in its name.` : "",
    ),
  ];
}

const tintOf = (look) => seriesColours()[look.colour];
const interval = (each) => `${fixed(each.low, 0)} to ${fixed(each.high, 0)}`;
const says = (each) =>
  `${versionName(each.player, each.number)}<br>${fixed(each.value, 0)} Elo (${interval(each)})<br>${counted(each.games, "game")}`;

const traces = (line, look, x, weight, faint) =>
  pieces(line.points).flatMap((piece, at) =>
    bandedLine({
      name: line.name,
      tint: tintOf(look),
      x: piece.map(x),
      y: smoothed(
        piece.map((each) => each.value),
        weight,
      ),
      low: piece.map((each) => each.low),
      high: piece.map((each) => each.high),
      text: piece.map(says),
      faint,
    }).map((trace) => ({
      ...trace,
      ...(trace.name ? { line: { ...trace.line, dash: look.dash } } : {}),
      ...(line.isFaint ? { opacity: 0.25 } : {}),
      ...(piece.length === 1 && trace.mode !== "lines" ? { error_y: errorBar(piece[0]) } : {}),
      ...(at ? { showlegend: false } : {}),
    })),
  );

/** A single point has no band: its interval is a bar. */
const errorBar = ({ value, low, high }) => ({
  type: "data",
  symmetric: false,
  array: [high === null ? 0 : high - value],
  arrayminus: [low === null ? 0 : value - low],
  thickness: 1.2,
  width: 3,
});

/** In the colour of their line, with an edge that stands out. */
function markers(points, promoted, x) {
  const kinds = [
    ["snapshot", "diamond", (each) => each.isSnapshot && !each.isReset],
    ["reset", "x", (each) => each.isReset],
    ["promoted", "star", (each) => promoted.has(each.version_id)],
  ];
  return kinds
    .map(([name, symbol, isKind]) => [name, symbol, points.filter(isKind)])
    .filter(([, , found]) => found.length)
    .map(([name, symbol, found]) => ({
      type: "scatter",
      mode: "markers",
      name,
      showlegend: false,
      x: found.map(x),
      y: found.map((each) => each.value),
      text: found.map((each) => `${name}: ${says(each)}`),
      hovertemplate: "%{text}<extra></extra>",
      marker: {
        symbol,
        size: symbol === "star" ? 13 : 10,
        color: found.map((each) => each.tint),
        line: { color: colour("--ink"), width: 1.4 },
      },
    }));
}

/** At the edge of the axis, where a band goes on beyond it; no points, so neither hover nor CSV has them. */
const arrows = (cut, [bottom, top], x) => ({
  type: "scatter",
  mode: "markers",
  showlegend: false,
  hoverinfo: "skip",
  x: cut.map(x),
  y: cut.map((each) => (each.isUp ? top : bottom)),
  cliponaxis: false,
  marker: { symbol: cut.map((each) => (each.isUp ? "triangle-up" : "triangle-down")), size: 8, color: cut.map((each) => each.tint) },
});

function restBand(rest, x) {
  const band = quantileBand(rest.flatMap((line) => line.points.map((each) => ({ x: x(each), value: each.value }))));
  return band.length ? restLine(rest.length, band, (each) => `median of ${rest.length} others: ${fixed(each.middle, 0)}`) : [];
}
