// Versions over steps: what came from what, frozen, reset, forked, promoted.
import { get, getAll } from "../api.js";
import { chart, colour, seriesColours, warmCharts } from "../charts.js";
import { h } from "../dom.js";
import { bytes, short, versionName, words } from "../format.js";
import { card, empty, pick, table, time, versionLink } from "../pieces.js";
import { trialFrame } from "../trial_frame.js";

const MARKS = { initial: "circle-open", imported: "square-open", trained: "circle", snapshot: "diamond", reset: "x", rollback: "triangle-left", fork: "star-triangle-up", bot: "hexagon" };
export const enter = warmCharts;
export const title = ({ trial }) => `Lineage of ${trial.name}`;
export const trialOf = (context) => context.parameters.trial;

export async function load({ parameters }) {
  const root = `/trials/${parameters.trial}`;
  const trial = await get(root);
  const [players, versions, aliases] = await Promise.all([getAll(`${root}/players`), getAll(`${root}/versions`, {}, { most: 5000 }),
    getAll(`/projects/${encodeURIComponent(trial.project)}/aliases`)]);
  const moves = await Promise.all(aliases.filter((alias) => alias.game === trial.game).map(async (alias) => ({
    alias, moves: await getAll(`/projects/${encodeURIComponent(trial.project)}/aliases/${alias.name}/history`, { game: alias.game }, { most: 500 }) })));
  return { trial, players, versions, moves };
}

export function view(data, context) {
  const { trial, versions } = data;
  if (!versions.length) return trialFrame(trial, context, empty("No versions yet", "They come as soon as the trial begins."));
  const marked = versions.filter((version) => version.origin !== "trained");
  const by = context.query.by ?? "steps";
  return trialFrame(trial, context,
    h("div", { class: "filters", key: "filters" }, pick("Over", "by", [["steps", "steps"], ["time", "time"]], by, (value) => context.setQuery({ by: value === "steps" ? "" : value }))),
    h("section", { class: "card", key: "tree", "aria-label": "Lineage" }, tree(data, by, context),
      h("p", { class: "quiet" }, "Dots are generations; diamonds are snapshots, crosses resets, rings champions past and present. A click opens the version.")),
    h("div", { key: "table" }, card("Snapshots, resets and forks", table("Versions that mark the league", [
      ["Version", (version) => versionLink(version.id, versionName(version.player, version.number))], ["Origin", (version) => words(version.origin)],
      ["Steps", (version) => short(version.steps), "number"], ["Commit", (version) => version.commit, "number"],
      ["From", (version) => (version.parent_id ? versionLink(version.parent_id, "parent") : "–")], ["Size", (version) => bytes(version.size), "number"], ["When", (version) => time(version.created_at)]],
    marked.slice(0, 500), (version) => version.id))));
}

function tree({ players, versions, moves }, by, context) {
  const lanes = lanesOf(players);
  const known = new Map(versions.map((version) => [version.id, version]));
  const at = (version) => [by === "time" ? version.created_at : version.steps, lanes.get(version.player_id)];
  const promoted = new Set(moves.flatMap((each) => each.moves.map((move) => move.to_version_id)));
  const height = Math.min(2400, Math.max(320, 120 + 26 * new Set(lanes.values()).size));
  const edges = { x: [], y: [] };
  for (const version of versions) {
    const parent = known.get(version.parent_id);
    if (!parent) continue;
    const [[x1, y1], [x2, y2]] = [at(parent), at(version)];
    edges.x.push(x1, x2, null);
    edges.y.push(y1, y2, null);
  }
  const names = new Map([...lanes].map(([id, lane]) => [lane, players.find((player) => player.id === id)?.name]));
  return chart("lineage", `Lineage of ${versions.length} versions`, () => ({
    data: [
      { type: "scatter", mode: "lines", ...edges, line: { color: colour("--line"), width: 1.5, shape: "linear" }, hoverinfo: "skip", showlegend: false },
      ...Object.entries(MARKS).map(([origin, symbol], place) => trace(origin, symbol, place, versions.filter((version) => version.origin === origin), at)).filter((each) => each.x.length),
      trace("promoted", "circle-open", 1, versions.filter((version) => promoted.has(version.id)), at, 17),
    ].filter((each) => each.x.length),
    layout: { xaxis: { title: { text: by === "time" ? "time" : "steps of the player" }, type: by === "time" ? "date" : "linear" }, margin: { l: 130, r: 16, t: 12, b: 44 },
      yaxis: { tickvals: [...names.keys()], ticktext: [...names.values()], autorange: "reversed", zeroline: false } },
  }), { height, onclick: (point) => point.customdata && context.go(`/versions/${point.customdata}`) });
}

function trace(name, symbol, place, versions, at, size = name === "trained" ? 6 : 10) {
  const spots = versions.map(at);
  return { type: "scatter", mode: "markers", name: words(name), x: spots.map((spot) => spot[0]), y: spots.map((spot) => spot[1]), customdata: versions.map((version) => version.id),
    text: versions.map((version) => `${versionName(version.player, version.number)}<br>${words(version.origin)}, ${short(version.steps)} steps`), hovertemplate: "%{text}<extra></extra>",
    marker: { symbol, size, color: seriesColours()[place % 6], line: { width: symbol.endsWith("open") ? 2 : 0 } } };
}

/** A lane for each player; snapshots stand right below the player they were frozen from. */
function lanesOf(players) {
  const children = grouped(players);
  const lanes = new Map();
  const place = (player) => {
    lanes.set(player.id, lanes.size);
    for (const child of children.get(player.id) ?? []) if (!lanes.has(child.id)) place(child);
  };
  const ids = new Set(players.map((player) => player.id));
  for (const player of players) if (!ids.has(player.parent_id) && !lanes.has(player.id)) place(player);
  return lanes;
}

function grouped(players) {
  const found = new Map();
  for (const player of players) found.set(player.parent_id, [...(found.get(player.parent_id) ?? []), player]);
  return found;
}
