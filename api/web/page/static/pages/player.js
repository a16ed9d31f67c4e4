// A player: rating over time, versions, best and worst opponents, games.
import { get, getAll } from "../core/api.js";
import { prefetchCharts } from "../charts/line_charts.js";
import { ratingChart } from "../charts/rating_chart.js";
import { h } from "../core/dom.js";
import { fixed, humanize, newestVersion, percent, versionName, whole } from "../core/format.js";
import { gamesOf, groupedOpponents, opponentsOf } from "../core/opponents.js";
import { badge, card, facts, orProblem, problemWith, table, time, versionLink } from "../components/widgets.js";
import { LEARNS } from "../components/trial_facts.js";
import { part, problemOf } from "../core/parts.js";
import { readStrangers } from "../core/strangers.js";
import { matchTable, strangersAmong } from "../components/match_table.js";
import { chartView, viewControls } from "../components/chart_view.js";

const MOST_VERSIONS = 100;
const MOST_RATINGS = 5000; // of the trial, the best first: those of a weak player come late
const MOST_OPPONENTS = 8;
export const enter = prefetchCharts;
export const title = ({ player }) => player.name;
export const onEvent = (event, context) => event.trial_id === context.state.trial && event.type !== "progress";

export async function load(context) {
  const player = await get(`/players/${context.parameters.player}`);
  context.state.trial = player.trial_id;
  const root = `/trials/${player.trial_id}`;
  const [trial, players, ratings, anchor, versions, payoff, ratingPayoff, games, resets, promotions] = await Promise.all([
    get(root),
    part(getAll(`${root}/players`)),
    part(getAll(`${root}/ratings`, {}, { maximum: MOST_RATINGS })),
    part(readAnchor(root)),
    part(get(`${root}/versions`, { player_id: player.id, limit: MOST_VERSIONS }), { items: [] }),
    part(get(`${root}/payoff`), { players: [] }),
    part(get(`${root}/payoff`, { stream: "rating" }), { players: [] }),
    part(get(`${root}/matches`, { player_id: player.id, limit: 25 }), { items: [] }),
    part(get(`${root}/decisions`, { limit: 200, kind: "reset", player_id: player.parent_id ?? player.id }), { items: [] }),
    part(get(`${root}/decisions`, { limit: 200, kind: "promotion" }), { items: [] }),
  ]);
  return {
    player,
    trial,
    strangers: await readStrangers(strangersAmong(games.items, players)),
    players,
    ratings,
    anchors: anchor,
    anchor: anchor[0],
    versions,
    payoff,
    ratingPayoff,
    games,
    resets,
    promotions,
    marks: [...resets.items, ...promotions.items],
  };
}

/** The version that is zero on the Elo axis, in a list; an empty one where there is no fit yet. */
async function readAnchor(root) {
  const { fit } = await get(`${root}/ratings`, { limit: 1 });
  return fit?.anchor_version_id ? [await get(`/versions/${fit.anchor_version_id}`)] : [];
}

export function view(data, context) {
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
      player.version_id && !player.version_damaged
        ? h("a", { class: "button", href: `/play/${player.version_id}` }, "Play against it")
        : null,
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
          ["Retired", player.retired_at ? [time(player.retired_at), player.retired_reason ? `: ${player.retired_reason}` : ""] : null],
          ["Checkpoint", player.version_damaged ? "damaged, so it cannot be played" : null],
        ]),
        problemWith("Snapshots and parents", players),
      ),
      ratingCard(data, rated, context),
      ...opponentCards(data),
    ),
    h(
      "div",
      { key: "versions" },
      card(
        "Versions",
        orProblem(versions, () => versionTable(versions.items, rated, rating)),
        problemWith("Their ratings", ratings),
      ),
    ),
    h(
      "div",
      { key: "games" },
      card(
        "Games",
        orProblem(games, () =>
          games.items.length
            ? [
                matchTable(games.items, null, { player: player.id, trial: trial.id, strangers: data.strangers }),
                h("a", { href: `/trials/${trial.id}/matches?player=${player.id}` }, "All recorded games"),
              ]
            : h("p", { class: "quiet" }, "No recorded games. Gates and tournaments record their games."),
        ),
      ),
    ),
  ];
}

/** The chart of the trial's page, of this player and its snapshots alone: broken at resets, promotions marked. */
function ratingCard({ player, players, ratings, anchors, anchor, marks, resets, promotions }, rated, context) {
  const look = chartView(context.query, players);
  const heading = `Rating over ${look.over === "time" ? "time" : "steps"}`;
  if (problemOf(ratings)) return card(heading, orProblem(ratings));
  if (!rated.length) return card(heading, h("p", { class: "quiet" }, "No rating games yet."));
  const own = `Elo of ${player.name} over ${look.over === "time" ? "time" : "steps"} with its 95 percent band`;
  return card(
    heading,
    h("div", { class: "filters" }, viewControls(look, context, 1)),
    ratingChart({ ratings: rated, players, marks, anchor }, look, own),
    problemWith("Resets", resets),
    problemWith("Promotions", promotions),
    problemWith("Who is zero on this axis", anchors),
  );
}

function opponentCards({ player, trial, payoff, ratingPayoff }) {
  if (problemOf(payoff)) return [card("Opponents", orProblem(payoff))];
  const found = opponentsOf(payoff, player.id);
  if (!found.length) return [];
  const { learning, worst, best } = groupedOpponents(found, LEARNS, MOST_OPPONENTS);
  const rated = gamesOf(ratingPayoff, player.id);
  const recorded = ({ id }) =>
    rated.get(id)
      ? h(
          "a",
          { href: `/trials/${trial.id}/matches?stream=rating&player=${player.id}&opponent=${id}` },
          `${whole(rated.get(id))} rating game${rated.get(id) === 1 ? "" : "s"}`,
        )
      : problemOf(ratingPayoff)
        ? "not known"
        : "training only";
  const shown = (heading, caption, rows) =>
    rows.length
      ? card(
          heading,
          table(
            caption,
            [
              ["Opponent", (each) => h("a", { href: `/players/${each.id}` }, each.name)],
              ["Win rate", (each) => percent(each.rate, 1), "number"],
              ["Interval", (each) => `${percent(each.low, 1)} to ${percent(each.high, 1)}`, "number"],
              ["Games", (each) => whole(each.games), "number"],
              ["Recorded", recorded],
            ],
            rows,
            (each) => each.id,
          ),
          counted(trial),
        )
      : null;
  return [
    shown("Worst opponents", "Opponents it does worst against", worst),
    shown("Best opponents", "Opponents it does best against", best),
    shown("Learning opponents", "Opponents that learn", learning),
  ];
}

/** What the win rates of a payoff are made of. */
function counted({ spec }) {
  const memory = spec.league?.payoff?.memory_games;
  const fades = memory
    ? ` Newer games count more: after ${whole(memory)} games a result has a third of its weight, and intervals are about the recent ones.`
    : "";
  return h("p", { class: "quiet" }, `Training and rating games of all versions of both players.${fades}`);
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
    .map((each) => ({ id: each.version_id, name: versionName(each.player, each.number), steps: each.steps, at: each.recorded_at }));
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
