// Ratings over steps: the ten best players, the rest as a band; snapshots, resets and promotions marked; search to highlight.
import { bandedLine, chart, saveTable } from "./line_charts.js";
import { colour } from "./colours.js";
import { pieces, quantileBand, ratingLines, ratingRange } from "./rating_lines.js";
import { h } from "../core/dom.js";
import { fixed, versionName } from "../core/format.js";
import { pick } from "../components/widgets.js";

const MOST_LINES = 10;
const SCALES = [
  ["linear", "linear"],
  ["log", "logarithmic"],
];

export function ratingChart({ ratings, players, marks, anchor }, context) {
  const { highlight = "", scale = "linear" } = context.query;
  const wanted = highlight.trim().toLowerCase();
  const lines = ratingLines(
    ratings,
    players,
    marks.filter((each) => each.kind === "reset" && each.verdict === "reset"),
  );
  const named = wanted ? lines.filter((line) => line.name.toLowerCase().includes(wanted)) : [];
  const shown = [...named, ...lines.filter((line) => !named.includes(line))].slice(0, MOST_LINES);
  const rest = lines.filter((line) => !shown.includes(line));
  const promoted = new Set(marks.filter((each) => each.kind === "promotion" && each.verdict === "promote").map((each) => each.version_id));
  const zero = anchor ? versionName(anchor.player, anchor.number) : "the anchor";
  return [
    h(
      "div",
      { class: "filters" },
      pick("Steps", "scale", SCALES, scale, (value) => context.setQuery({ scale: value === "linear" ? "" : value })),
      lines.length > 1
        ? h(
            "label",
            { class: "pick" },
            "Highlight ",
            h("input", { type: "search", value: highlight, onchange: (event) => context.setQuery({ highlight: event.target.value }) }),
          )
        : null,
      saveTable("ratings"),
    ),
    chart(
      "ratings",
      "Elo over steps with 95 percent bands",
      () => ({
        data: [
          ...restBand(rest),
          ...shown.flatMap((line, order) => traces(line, order, wanted && !named.includes(line))),
          ...markers(
            shown.flatMap((line) => line.points),
            promoted,
          ),
        ],
        layout: {
          xaxis: { title: { text: "steps" }, type: scale },
          yaxis: { title: { text: `Elo above ${zero}` }, range: ratingRange(ratings) },
        },
      }),
      [ratings, marks.length, highlight, scale],
    ),
    h(
      "p",
      { class: "quiet" },
      `Zero is ${zero}. ◆ snapshot, ★ promoted, ✕ reset.`,
      rest.length ? ` The ${MOST_LINES} best lines; the other ${rest.length} as a band from 10 % to 90 % of them.` : "",
    ),
  ];
}

const interval = (each) => `${fixed(each.low, 0)} to ${fixed(each.high, 0)}`;
const says = (each) => `${versionName(each.player, each.number)}<br>${fixed(each.value, 0)} Elo (${interval(each)})<br>${each.games} games`;

const traces = (line, order, isFaint) =>
  pieces(line.points).flatMap((piece, at) =>
    bandedLine({
      name: line.name,
      order,
      x: piece.map((each) => each.steps),
      y: piece.map((each) => each.value),
      low: piece.map((each) => each.low),
      high: piece.map((each) => each.high),
      text: piece.map(says),
    }).map((trace) => ({
      ...trace,
      ...(isFaint ? { opacity: 0.25 } : {}),
      ...(at ? { showlegend: false } : {}),
    })),
  );

function markers(points, promoted) {
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
      x: found.map((each) => each.steps),
      y: found.map((each) => each.value),
      text: found.map((each) => `${name}: ${says(each)}`),
      hovertemplate: "%{text}<extra></extra>",
      marker: { symbol, size: symbol === "star" ? 12 : 9, color: colour("--ink") },
    }));
}

function restBand(rest) {
  const band = quantileBand(rest.flatMap((line) => line.points));
  if (!band.length) return [];
  return bandedLine({
    name: `${rest.length} others, median`,
    order: 5,
    x: band.map((each) => each.steps),
    y: band.map((each) => each.middle),
    low: band.map((each) => each.low),
    high: band.map((each) => each.high),
    text: band.map((each) => `median ${fixed(each.middle, 0)} Elo`),
  });
}
