// A player: rating over time, versions, best and worst opponents, games.
import { get, getAll } from "../core/api.js";
import { bandedLine, chart, prefetchCharts } from "../charts/line_charts.js";
import { h } from "../core/dom.js";
import { fixed, humanize, newestVersion, percent, versionName, whole } from "../core/format.js";
import { opponentsOf } from "../core/opponents.js";
import { badge, card, facts, table, time, versionLink } from "../components/widgets.js";
import { matchTable } from "../components/match_table.js";
import { ratingRange } from "../charts/rating_lines.js";

const MOST_VERSIONS = 100;
const MOST_OPPONENTS = 8;
export const enter = prefetchCharts;
export const title = ({ player }) => player.name;
export const onEvent = (event, context) => event.trial_id === context.state.trial && event.type !== "progress";

export async function load(context) {
  const player = await get(`/players/${context.parameters.player}`);
  context.state.trial = player.trial_id;
  const root = `/trials/${player.trial_id}`;
  const [trial, players, ratings, anchor, versions, payoff, games] = await Promise.all([
    get(root),
    getAll(`${root}/players`),
    getAll(`${root}/ratings`, {}, { maximum: 1000 }),
    get(`${root}/ratings`, { limit: 1 }).then(({ fit }) => (fit?.anchor_version_id ? get(`/versions/${fit.anchor_version_id}`) : null)),
    get(`${root}/versions`, { player_id: player.id, limit: MOST_VERSIONS }),
    get(`${root}/payoff`),
    get(`${root}/matches`, { player_id: player.id, limit: 25 }),
  ]);
  return { player, trial, players, ratings, anchor, versions: versions.items, payoff, games: games.items };
}

export function view(data) {
  const { player, trial, players, ratings, versions, games } = data;
  const parent = players.find((each) => each.id === player.parent_id);
  const snapshots = players.filter((each) => each.parent_id === player.id);
  const family = new Set([player.id, ...snapshots.map((each) => each.id)]);
  const rated = ratings.filter((each) => family.has(each.player_id)).sort((one, other) => one.steps - other.steps);
  const rating = new Map(ratings.map((each) => [each.version_id, each]));
  return [
    h(
      "div",
      { class: "title", key: "title" },
      h(
        "div",
        {},
        h("p", { class: "crumbs" }, h("a", { href: "/trials" }, "Trials"), " / ", h("a", { href: `/trials/${trial.id}` }, trial.name)),
        h("h1", {}, player.name, " ", badge(player.status)),
      ),
      player.version_id ? h("a", { class: "button", href: `/play/${player.version_id}` }, "Play against it") : null,
    ),
    h(
      "div",
      { class: "grid", key: "grid" },
      card(
        "Player",
        facts([
          ["Role", humanize(player.role)],
          ["Snapshot of", parent ? h("a", { href: `/players/${parent.id}` }, parent.name) : null],
          ["Generation", whole(player.generation)],
          ["Steps", whole(player.steps)],
          ["Newest version", player.version_id ? versionLink(player.version_id, newestVersion(player)) : "none yet"],
          ["Snapshots", snapshots.length ? whole(snapshots.length) : null],
          ["Since", time(player.created_at)],
        ]),
      ),
      card("Rating over steps", rated.length ? ratingLine(player, rated, data.anchor) : h("p", { class: "quiet" }, "No rating games yet.")),
      ...opponentCards(data),
    ),
    h("div", { key: "versions" }, card("Versions", versionTable(versions, rated, rating))),
    h(
      "div",
      { key: "games" },
      card(
        "Games",
        games.length
          ? [matchTable(games), h("a", { href: `/trials/${trial.id}/matches?player=${player.id}` }, "All recorded games")]
          : h("p", { class: "quiet" }, "No recorded games. Gates and tournaments record their games."),
      ),
    ),
  ];
}

function ratingLine(player, rated, anchor) {
  const zero = anchor ? versionName(anchor.player, anchor.number) : "the anchor";
  return chart(
    "rating",
    `Elo of ${player.name} over steps with its 95 percent band`,
    () => ({
      data: bandedLine({
        name: player.name,
        order: 0,
        x: rated.map((each) => each.steps),
        y: rated.map((each) => each.value),
        low: rated.map((each) => each.low),
        high: rated.map((each) => each.high),
        text: rated.map((each) => `${versionName(each.player, each.number)}<br>${fixed(each.value, 0)} Elo<br>${each.games} games`),
      }),
      layout: {
        xaxis: { title: { text: "steps" } },
        yaxis: { title: { text: `Elo above ${zero}` }, range: ratingRange(rated) },
        showlegend: false,
      },
    }),
    [rated.map((each) => `${each.version_id} ${each.value}`).join()],
  );
}

function opponentCards({ player, players, payoff }) {
  const found = opponentsOf(payoff, player.id);
  if (!found.length) return [];
  const best = [...found].reverse().slice(0, Math.min(MOST_OPPONENTS, Math.floor(found.length / 2))); // none is in both tables
  const versions = new Map(players.map((each) => [each.id, each.version_id]));
  const against = (each) =>
    player.version_id && versions.get(each.id)
      ? h("a", { href: `/versions/${player.version_id}/against/${versions.get(each.id)}` }, "head to head")
      : "–";
  const shown = (caption, rows) =>
    table(
      caption,
      [
        ["Opponent", (each) => h("a", { href: `/players/${each.id}` }, each.name)],
        ["Win rate", (each) => percent(each.rate), "number"],
        ["Interval", (each) => `${percent(each.low)} to ${percent(each.high)}`, "number"],
        ["Games", (each) => whole(each.games), "number"],
        ["Versions", against],
      ],
      rows,
      (each) => each.id,
    );
  return [
    card(
      "Worst opponents",
      shown("Opponents it does worst against", found.slice(0, Math.min(MOST_OPPONENTS, Math.ceil(found.length / 2)))),
    ),
    best.length ? card("Best opponents", shown("Opponents it does best against", best)) : null,
  ];
}

/** The player's own versions, and its snapshots that were rated. */
function versionTable(versions, rated, rating) {
  const own = versions.map((each) => ({
    id: each.id,
    name: versionName(each.player, each.number),
    steps: each.steps,
    at: each.created_at,
  }));
  const known = new Set(own.map((each) => each.id));
  const frozen = rated
    .filter((each) => !known.has(each.version_id))
    .map((each) => ({ id: each.version_id, name: versionName(each.player, each.number), steps: each.steps, at: null }));
  const elo = (each) => rating.get(each.id);
  return table(
    "Versions",
    [
      ["Version", (each) => versionLink(each.id, each.name)],
      ["Steps", (each) => whole(each.steps), "number"],
      ["Elo", (each) => fixed(elo(each)?.value ?? null, 0), "number"],
      ["95 %", (each) => (elo(each) ? `${fixed(elo(each).low, 0)} to ${fixed(elo(each).high, 0)}` : "–"), "number"],
      ["Games", (each) => whole(elo(each)?.games ?? null), "number"],
      ["Created", (each) => time(each.at)],
    ],
    [...own, ...frozen].sort((one, other) => other.steps - one.steps),
    (each) => each.id,
  );
}
