// Series of metrics: read once and then only what is new, smoothed, the best lines and the rest as a band. Mostly pure.
import { getAll } from "./api.js";

const BINS = 24;
const MOST_POINTS = 300;
const LEAST_POINTS = 25;
const ALL_POINTS = 6000; // of one metric, over all players
export const MOST_LINES = 10;
const COLUMNS = ["generations", "steps", "values", "times"];

/** Points that are read of each series: fewer where there are many players. */
export const pointsFor = (players) => Math.max(LEAST_POINTS, Math.min(MOST_POINTS, Math.round(ALL_POINTS / Math.max(1, players))));

/**
 * The series of these metrics. `known` (a Map that the caller keeps) holds what was read before, of which only newer points are
 * read. `learning`: the players that still get points.
 */
export async function readSeries(known, trial, names, learning) {
  const fresh = names.filter((name) => !known.has(name));
  const path = `/trials/${trial}/metrics`;
  const asked = { times: true, points: pointsFor(learning.length), spread: true };
  const [whole, newer] = await Promise.all([
    fresh.length ? getAll(path, { ...asked, name: fresh }, { maximum: 2000 }) : [],
    readNewer(
      known,
      path,
      names.filter((name) => known.has(name)),
      learning,
    ),
  ]);
  for (const name of fresh) {
    const found = whole.filter((line) => line.name === name);
    if (found.length) known.set(name, found); // one without points is asked for again
  }
  for (const [name, lines] of Map.groupBy(newer, (line) => line.name)) known.set(name, mergeSeries(known.get(name), lines));
  return names.flatMap((name) => known.get(name) ?? []);
}

async function readNewer(known, path, names, learning) {
  if (!names.length) return [];
  const ids = new Set(learning.map((player) => player.id));
  const growing = names.flatMap((name) => known.get(name)).filter((line) => ids.has(line.player_id));
  if (!growing.length) return [];
  const after = Math.min(...growing.map((line) => line.generations.at(-1) ?? 0));
  const lines = await getAll(path, { times: true, points: 500, name: names, after_generation: after }, { maximum: 2000 });
  return lines.filter((line) => line.generations.length);
}

/** Known lines with newer points behind them; a line without new points is the same object as before. */
export function mergeSeries(lines, newer) {
  const more = new Map(newer.map((line) => [line.player_id, line]));
  const merged = lines.map((line) => {
    const found = more.get(line.player_id);
    more.delete(line.player_id);
    const last = line.generations.at(-1) ?? 0;
    const from = found ? found.generations.findIndex((generation) => generation > last) : -1;
    if (from < 0) return line;
    const joined = COLUMNS.map((column) => [column, [...line[column], ...found[column].slice(from)]]);
    return thinned({ ...line, ...Object.fromEntries(joined) }, pointsFor(lines.length));
  });
  return more.size || merged.some((line, at) => line !== lines[at]) ? [...merged, ...more.values()] : lines;
}

/** A line of more than twice as many points, with one for each of `most` equal stretches of generations, and its last. */
function thinned(line, most) {
  const { generations } = line;
  if (generations.length <= 2 * most) return line;
  const [first, last] = [generations[0], generations.at(-1)];
  const stretch = (at) => Math.floor(((generations[at] - first) / (last - first)) * most);
  const isKept = (_, at) => at === 0 || stretch(at) !== stretch(at - 1);
  return { ...line, ...Object.fromEntries(COLUMNS.map((column) => [column, line[column].filter(isKept)])) };
}

/** The places of players by their best rating, that of snapshots included; those without one come last. */
export function bestFirst(players, ratings) {
  const parent = new Map(players.map((player) => [player.id, player.parent_id ?? player.id]));
  const ids = ratings.map((rating) => parent.get(rating.player_id) ?? rating.player_id); // the API sorts by rating
  return new Map([...new Set([...ids, ...players.map((player) => player.id)])].map((id, place) => [id, place]));
}

/** Series in that order. */
export const inOrder = (series, places) =>
  [...series].sort((one, other) => (places.get(one.player_id) ?? Infinity) - (places.get(other.player_id) ?? Infinity));

/** An exponential moving average without the bias of its start; what is missing stays missing. */
export function smoothed(values, weight) {
  if (!weight) return values;
  let [sum, mass] = [0, 0];
  return values.map((value) => {
    if (value === null) return null;
    sum = weight * sum + (1 - weight) * value;
    mass = weight * mass + (1 - weight);
    return sum / mass;
  });
}

/** The lines to draw, those that are looked for first, and the rest; `isFaint` where it was not looked for. */
export function chooseLines(lines, wanted, most = MOST_LINES) {
  const text = wanted.trim().toLowerCase();
  const named = text ? lines.filter((line) => line.name.toLowerCase().includes(text)) : [];
  const drawn = new Set([...named, ...lines.filter((line) => !named.includes(line))].slice(0, most));
  const shown = lines.filter((line) => drawn.has(line)).map((line) => ({ ...line, isFaint: Boolean(text) && !named.includes(line) }));
  return { shown, rest: lines.filter((line) => !drawn.has(line)), found: named.length };
}

/** The 10 %, 50 % and 90 % quantiles of points {x, value} of many lines: [{x, low, middle, high}]. */
export function quantileBand(points) {
  if (!points.length) return [];
  let [first, last] = [Infinity, -Infinity];
  for (const { x } of points) [first, last] = [Math.min(first, x), Math.max(last, x)];
  const bins = Map.groupBy(points, ({ x }) => Math.min(BINS - 1, Math.floor(((x - first) / (last - first || 1)) * BINS)));
  const at = (sorted, share) => sorted[Math.round(share * (sorted.length - 1))];
  return [...bins]
    .sort(([one], [other]) => one - other)
    .map(([, members]) => {
      const values = members.map((point) => point.value).sort((one, other) => one - other);
      const x = members.reduce((sum, point) => sum + point.x, 0) / members.length;
      return { x, low: at(values, 0.1), middle: at(values, 0.5), high: at(values, 0.9) };
    });
}
