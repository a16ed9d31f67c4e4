// The payoff matrix: heat map, α-rank and Nash mass, cycles, and the games of a selected cell.
import { get, getAll } from "../core/api.js";
import { h } from "../core/dom.js";
import { percent, short, signed, tiny, whole } from "../core/format.js";
import { colourKey, heatMap } from "../charts/heat_map.js";
import { byLikeness, byRating, indices } from "../charts/payoff_order.js";
import { card, empty, orProblem, pick, problemWith, table } from "../components/widgets.js";
import { matchTable } from "../components/match_table.js";
import { part, problemOf } from "../core/parts.js";
import { cycles, hardest, masses, strangersIn } from "../charts/payoff_cards.js";
import { recency } from "../core/opponents.js";
import { readStrangers } from "../core/strangers.js";
import { trialFrame } from "../components/trial_frame.js";

const ORDERS = [
  ["rating", "rating"],
  ["time", "time"],
  ["cluster", "likeness"],
];
const STREAMS = [
  ["all", "all games"],
  ["training", "training games"],
  ["rating", "rating games"],
];
const MEASURES = [
  ["rate", "win rates"],
  ["counts", "raw counts"],
  ["return", "mean returns"],
];
/** A share by which the rate and the counts differ before that is said. */
const FAR = 0.02;
export const title = ({ trial }) => `Payoff of ${trial.name}`;
export const trialOf = (context) => context.parameters.trial;

export async function load(context) {
  const root = `/trials/${context.parameters.trial}`;
  const { stream = "all", row, column } = context.query;
  const [trial, payoff, ratings, alphaRank, nash, games, lineups] = await Promise.all([
    get(root),
    get(`${root}/payoff`, { stream }),
    part(getAll(`${root}/ratings`, {}, { maximum: 1000 })),
    part(get(`${root}/ratings`, { method: "alpha_rank", limit: 12 }), { items: [] }),
    part(get(`${root}/ratings`, { method: "nash_averaging", limit: 500 }), { items: [] }),
    row && column ? part(get(`${root}/matches`, { player_id: row, opponent_id: column, limit: 25 }), { items: [] }) : null,
    part(get(`${root}/payoff/lineups`, { limit: 50 }), { items: [] }),
  ]);
  const strangers = await readStrangers(strangersIn(nash));
  const kept = context.state.payoff; // the same object while nothing changed, so results are reused
  if (!kept || kept.revision !== payoff.revision || kept.stream !== payoff.stream) context.state.payoff = payoff;
  return { trial, payoff: context.state.payoff, ratings, alphaRank, nash, strangers, games, lineups };
}

export function view(data, context) {
  const { trial, payoff } = data;
  if (payoff.players.length < 2) return trialFrame(trial, context, empty("Too few players", "The heat map needs at least two players."));
  const { order = "rating", stream = "all", show = "rate" } = context.query;
  const unordered = order === "rating" ? problemWith("The ratings, by which players are ordered,", data.ratings) : null;
  return trialFrame(
    trial,
    context,
    h(
      "div",
      { class: "filters", key: "filters" },
      pick("Order by", "order", ORDERS, order, (value) => context.setQuery({ order: value === "rating" ? "" : value })),
      pick("Games", "stream", STREAMS, stream, (value) => context.setQuery({ stream: value === "all" ? "" : value })),
      pick("Show", "show", MEASURES, show, (value) => context.setQuery({ show: value === "rate" ? "" : value })),
      h("a", { href: `/api/v1/trials/${trial.id}/payoff?stream=${stream}&format=csv`, download: true }, "CSV"),
    ),
    unordered && h("div", { key: "unordered" }, unordered),
    h(
      "div",
      { class: "beside", key: "map" },
      h(
        "section",
        { class: "card", "aria-label": "Heat map" },
        payoff.win_rate.every((row) => row.every((rate) => rate === null))
          ? empty("No games yet", "Colours appear after the first games.")
          : [colourKey(payoff.min_games), map(data, context)],
        h(
          "p",
          { class: "quiet" },
          "Rows against columns; cells without colour have no games. Large cells say the rate and the games (g), small ones the number of ",
          "games, the smallest nothing: hover shows both. Click a cell for its games, drag to zoom in.",
        ),
      ),
      h("div", {}, cell(data, context), hardest(data, context), masses(data), cycles(data, context)),
    ),
    mixedTeams(data.lineups),
  );
}

function sorted(data, context) {
  const { order = "rating", stream = "all" } = context.query;
  const key = `${order} ${stream} ${data.payoff.revision} ${data.ratings.length}`;
  if (context.state.sorted?.key === key) return context.state.sorted.order;
  const { players, win_rate: rates } = data.payoff;
  const ratingOf = new Map();
  for (const rating of data.ratings) ratingOf.set(rating.player_id, Math.max(rating.value, ratingOf.get(rating.player_id) ?? -Infinity));
  const found = order === "time" ? indices(players) : order === "cluster" ? byLikeness(rates) : byRating(players, rates, ratingOf);
  context.state.sorted = { key, order: found };
  return found;
}

function map(data, context) {
  const { payoff } = data;
  const order = sorted(data, context);
  const place = (id) => order.findIndex((each) => payoff.players[each].id === id);
  const chosen = [place(context.query.row), place(context.query.column)];
  const { name, rate, text, certainty } = measure(payoff, context.query.show);
  return heatMap("payoff", `${name} of ${order.length} players against each other`, {
    rows: order.map((each) => payoff.players[each].name),
    of: [payoff, order, name],
    chosen: chosen.includes(-1) ? null : chosen,
    rate: (row, column) => rate(order[row], order[column]),
    text: (row, column) => text(order[row], order[column]),
    brief: (row, column) => tiny(gamesOf(payoff, order[row], order[column])),
    certainty: (row, column) => certainty(order[row], order[column]),
    thin: (row, column) => isThin(payoff, order[row], order[column]),
    note: (row, column) => hover(payoff, order[row], order[column]),
    pick: (row, column) => context.setQuery({ row: payoff.players[order[row]].id, column: payoff.players[order[column]].id }),
  });
}

const playerLink = (id, name) => h("a", { href: `/players/${id}` }, name);
const gamesOf = (payoff, row, column) => payoff.wins[row][column] + payoff.draws[row][column] + payoff.losses[row][column];

/** Too few games to say anything; older games may have lost their weight, and then the interval is everything. */
const isThin = (payoff, row, column) =>
  row !== column && (gamesOf(payoff, row, column) < payoff.min_games || payoff.high[row][column] - payoff.low[row][column] > 0.999);

/** The values behind the colours; mean returns are scaled so that zero is the middle colour. */
function measure(payoff, show) {
  const count = (row, column) => `${short(gamesOf(payoff, row, column))} g`;
  const certainty = (row, column) => 1 - (payoff.high[row][column] - payoff.low[row][column]);
  if (show === "counts")
    return {
      name: "Raw counts",
      certainty: () => 1,
      rate: (row, column) =>
        payoff.win_rate[row][column] === null
          ? null
          : (payoff.wins[row][column] + payoff.draws[row][column] / 2) / gamesOf(payoff, row, column),
      text: (row, column) => [payoff.wins, payoff.draws, payoff.losses].map((matrix) => short(matrix[row][column])).join("–"),
    };
  if (show !== "return")
    return {
      name: "Win rates",
      certainty,
      rate: (row, column) => payoff.win_rate[row][column],
      text: (row, column) =>
        isThin(payoff, row, column) ? ["?", count(row, column)] : [percent(payoff.win_rate[row][column]), count(row, column)],
    };
  const most = payoff.mean_return.flat().reduce((most_yet, each) => Math.max(most_yet, Math.abs(each ?? 0)), 1e-9);
  const earned = (row, column) => payoff.mean_return[row][column];
  return {
    name: "Mean returns",
    certainty,
    text: (row, column) => [signed(earned(row, column), 2), count(row, column)],
    rate: (row, column) => (earned(row, column) === null ? null : 0.5 + earned(row, column) / (2 * most)),
  };
}

/** "earns +0.12 a game", where returns were counted. */
const earns = (payoff, row, column) =>
  payoff.mean_return[row][column] === null ? null : `earns ${signed(payoff.mean_return[row][column], 2)} a game`;

/** Where the rate is far from that of the counts: it forgets old games, they do not. */
export function forgets(payoff, row, column) {
  const [won, drawn, lost] = [payoff.wins, payoff.draws, payoff.losses].map((matrix) => matrix[row][column]);
  const counted = (won + drawn / 2) / (won + drawn + lost);
  return Math.abs(counted - payoff.win_rate[row][column]) > FAR ? `recent games weigh more: all of them give ${percent(counted, 1)}` : null;
}

function hover(payoff, row, column) {
  const rate = payoff.win_rate[row][column];
  const who = `${payoff.players[row].name} against ${payoff.players[column].name}`;
  if (rate === null) return row === column ? [] : [who, "have not met"];
  const [won, drawn, lost] = [payoff.wins, payoff.draws, payoff.losses].map((matrix) => whole(matrix[row][column]));
  const counts = `${won} won, ${drawn} drawn, ${lost} lost`;
  const games = gamesOf(payoff, row, column);
  const played = whole(games);
  if (isThin(payoff, row, column)) return [who, `too few games: ${played} of ${payoff.min_games}`, counts];
  return [
    who,
    percent(rate, 1),
    `95 % interval: ${percent(payoff.low[row][column], 1)} to ${percent(payoff.high[row][column], 1)}`,
    recency(payoff, games),
    `${played} games: ${counts}`,
    forgets(payoff, row, column),
    earns(payoff, row, column),
  ].filter(Boolean);
}

function cell({ payoff, games, trial }, context) {
  const row = payoff.players.findIndex((player) => player.id === context.query.row);
  const column = payoff.players.findIndex((player) => player.id === context.query.column);
  if (row < 0 || column < 0) return null;
  const [one, other] = [payoff.players[row], payoff.players[column]];
  const count = [payoff.wins, payoff.draws, payoff.losses].map((matrix) => matrix[row][column]);
  const [rate, earned] = [payoff.win_rate[row][column], earns(payoff, row, column)];
  return h(
    "section",
    { class: "card", key: "cell", "aria-label": "Selected cell" },
    h(
      "div",
      { class: "title" },
      h("h2", {}, playerLink(one.id, one.name), " against ", playerLink(other.id, other.name)),
      h("button", { class: "plain", onclick: () => context.setQuery({ row: "", column: "" }) }, "Close"),
    ),
    h(
      "p",
      {},
      rate === null
        ? "No games between them."
        : [
            isThin(payoff, row, column)
              ? h("strong", {}, `Too few games to tell (fewer than ${payoff.min_games}): `)
              : [
                  h("strong", {}, percent(rate, 1)),
                  ` (${percent(payoff.low[row][column], 1)} to ${percent(payoff.high[row][column], 1)}): `,
                ],
            `${whole(count[0])} won, ${whole(count[1])} drawn, ${whole(count[2])} lost`,
            forgets(payoff, row, column) && ` (${forgets(payoff, row, column)})`,
            recency(payoff, gamesOf(payoff, row, column)) && `. The interval ${recency(payoff, gamesOf(payoff, row, column))}`,
            earned && `; ${earned}`,
          ].filter(Boolean),
    ),
    orProblem(games, () =>
      games?.items.length
        ? [
            matchTable(games.items),
            h("a", { href: `/trials/${trial.id}/matches?player=${one.id}&opponent=${other.id}` }, "All recorded games"),
          ]
        : h("p", { class: "quiet" }, "No recorded games. Training games are only counted."),
    ),
  );
}

/** Teams that a learner shared with a mate. */
function mixedTeams(found) {
  const lineups = found.items;
  if (problemOf(found)) return card("Mixed teams", orProblem(found));
  if (!lineups.length) return null;
  return h(
    "section",
    { class: "card", key: "lineups", "aria-label": "Mixed teams" },
    h("h2", {}, "Mixed teams"),
    h("p", { class: "quiet" }, "Training games in which a learner shared its team. They are in no cell of the heat map."),
    table(
      "Mixed teams",
      [
        ["Team", (each) => each.lineup.map((name, seat) => [seat ? " + " : "", playerLink(each.lineup_ids[seat], name)])],
        ["As", (each) => `team ${each.seat}`],
        ["Opponent", (each) => (each.opponent ? playerLink(each.opponent_id, each.opponent) : "–")],
        ["Win rate", (each) => (each.win_rate === null ? "–" : percent(each.win_rate, 1)), "number"],
        ["Interval", (each) => (each.win_rate === null ? "–" : `${percent(each.low)} to ${percent(each.high)}`), "number"],
        ["Mean return", (each) => (each.mean_return === null ? "–" : signed(each.mean_return, 2)), "number"],
        ["Games", (each) => whole(each.games), "number"],
      ],
      lineups,
      (each) => `${each.lineup_ids} ${each.opponent_id} ${each.seat} ${each.opponent_seat}`,
    ),
  );
}
