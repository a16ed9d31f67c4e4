// What the comparison of trials draws, lists and saves. Pure functions.
import { bandedLine } from "../charts/line_charts.js";
import { seriesColours } from "../charts/colours.js";
import { ratingRange } from "../charts/rating_lines.js";
import { duration, humanize, versionLabel } from "../core/format.js";

const Z = 1.96;
const axisTitle = (by) => (by === "time" ? "hours since the trial's start" : "steps of the player");
const hours = (seconds) => seconds / 3600;

/** Ratings of the first main and its snapshots, a line with its band for each trial. */
export function ratingTraces(trials, by) {
  const data = trials.flatMap(({ label, ratings }, order) =>
    ratings.length
      ? bandedLine({
          name: label,
          order,
          x: ratings.map((point) => (by === "time" ? hours(point.seconds) : point.steps)),
          y: ratings.map((point) => point.value),
          low: ratings.map((point) => point.low),
          high: ratings.map((point) => point.high),
          text: ratings.map((point) => `${label}: ${point.label}<br>${Math.round(point.value)} Elo after ${duration(point.seconds)}`),
        })
      : [],
  );
  const range = ratingRange(trials.flatMap((trial) => trial.ratings));
  const title = zeroOf(trials) ? `Elo above ${zeroOf(trials)}` : "Elo, each above its own zero";
  return { data, layout: { xaxis: { title: { text: axisTitle(by) }, rangemode: "tozero" }, yaxis: { title: { text: title }, range } } };
}

/** The version that is zero for all trials, or null where they are of different fits. */
export function zeroOf(trials) {
  const rated = trials.filter((trial) => trial.rating_fit_id);
  const same = rated.every((trial) => trial.rating_fit_id === rated[0].rating_fit_id);
  return (same && versionLabel(rated[0]?.rating_zero ?? "")) || null;
}

/** One metric of each trial's first main. */
export function metricTraces(trials, name, by) {
  const colours = seriesColours();
  const data = trials.flatMap((trial, order) => {
    const series = trial.curves.find((each) => each.name === name);
    if (!series) return [];
    const clock = new Map(trial.generations.map((generation, at) => [generation, trial.seconds[at]]));
    const points = series.generations
      .map((generation, at) => ({ x: by === "time" ? hours(clock.get(generation)) : series.steps[at], y: series.values[at] }))
      .filter((point) => Number.isFinite(point.x)); // inherited by a fork: it was recorded before the fork began
    const line = { color: colours[order % colours.length], width: 2 };
    return [
      {
        type: "scatter",
        mode: points.length < 3 ? "lines+markers" : "lines",
        name: trial.label,
        x: points.map(({ x }) => x),
        y: points.map(({ y }) => y),
        line,
      },
    ];
  });
  return { data, layout: { xaxis: { title: { text: axisTitle(by) }, rangemode: "tozero" }, yaxis: { title: { text: humanize(name) } } } };
}

export const metricNames = (trials) => [...new Set(trials.flatMap((trial) => trial.curves.map((series) => series.name)))];

/** Results between champions, with the share of points and its 95 % interval (Wilson; a draw is half a point). */
export function championGames({ trials, head_to_head: met }) {
  const byId = new Map(trials.map((trial) => [trial.id, trial]));
  return met.map(({ first, second, wins, draws, losses }) => {
    const games = wins + draws + losses;
    const score = (wins + draws / 2) / games;
    const middle = (score + Z ** 2 / (2 * games)) / (1 + Z ** 2 / games);
    const half = (Z / (1 + Z ** 2 / games)) * Math.sqrt((score * (1 - score)) / games + Z ** 2 / (4 * games ** 2));
    return { first: byId.get(first), second: byId.get(second), wins, draws, losses, score, low: middle - half, high: middle + half };
  });
}

/** The curves and ratings as `lanista compare --csv` writes them: one row for each value. */
export function comparisonCsv({ trials }) {
  const text = (value) =>
    `"${String(value ?? "")
      .replace(/^([=+\-@])/, "'$1")
      .replaceAll('"', '""')}"`;
  const rows = trials.flatMap((trial) => [
    ...trial.curves.flatMap((series) =>
      series.values.map((value, at) =>
        [text(trial.label), text(series.player), text(series.name), series.generations[at], series.steps[at], value ?? ""].join(","),
      ),
    ),
    ...trial.ratings.map((point) => [text(trial.label), text(point.label), "rating", "", point.steps, point.value].join(",")),
  ]);
  return ["trial,player,metric,generation,steps,value", ...rows].join("\r\n");
}
