// Two versions against each other: results by seat and opening with intervals, and their recorded games.
import { get } from "../core/api.js";
import { h } from "../core/dom.js";
import { counted, percent, versionName, whole } from "../core/format.js";
import { part, problemOf } from "../core/parts.js";
import { trialName } from "../core/strangers.js";
import { card, empty, ofTrial, orProblem, table, versionLink } from "../components/widgets.js";
import { matchTable } from "../components/match_table.js";

export const title = ({ one, other }) => `${nameOf(one)} against ${nameOf(other)}`;
const PLAYED = ["pairing.played", "tournament.finished", "gate.progress", "gate.finished"];
/** Games of the trials of the two, or of a tournament of the whole project. */
export const onEvent = (event, { state }) =>
  PLAYED.includes(event.type) && (event.trial_id === null || state.trials?.includes(event.trial_id));
const nameOf = (version) => versionName(version.player, version.number);

export async function load({ parameters: { version, opponent }, state }) {
  const between = `/versions/${version}/against/${opponent}`;
  const [one, other, results] = await Promise.all([get(`/versions/${version}`), get(`/versions/${opponent}`), get(between)]);
  state.trials = [one.trial_id, other.trial_id];
  const isTheirs = (match) => [match.version_id, match.opponent_version_id].includes(other.id);
  const [trial, games] = await Promise.all([
    get(`/trials/${one.trial_id}`),
    part(
      get(`/trials/${one.trial_id}/matches`, {
        player_id: one.player_id,
        opponent_id: other.player_id,
        version_id: one.id,
        limit: 50,
      }).then(({ items }) => items.filter(isTheirs)),
    ),
  ]);
  const elsewhere = other.trial_id === one.trial_id ? null : await trialName(other.trial_id);
  return {
    one,
    other,
    trial,
    elsewhere,
    results,
    games,
    names: await readNames(between, results.openings, state),
  };
}

/** What people call the moves of each opening; those that are not known yet are asked for, and numbers do where nobody answers. */
async function readNames(path, openings, state) {
  state.names ??= new Map();
  if (openings.some(({ opening }) => opening.length && !state.names.has(opening.join()))) {
    const { items } = await get(`${path}/openings`).catch(() => ({ items: [] }));
    for (const { opening, names } of items) state.names.set(opening.join(), names.join(" "));
  }
  return state.names;
}

export function view({ one, other, trial, elsewhere, results, games, names }) {
  const { total, seats, openings } = results;
  return [
    h(
      "div",
      { class: "title", key: "title" },
      h(
        "div",
        {},
        h(
          "p",
          { class: "crumbs" },
          h("a", { href: "/trials" }, "Trials"),
          " / ",
          h("a", { href: `/trials/${one.trial_id}` }, trial.name),
          " / ",
          h("a", { href: `/players/${one.player_id}` }, one.player),
        ),
        h(
          "h1",
          {},
          versionLink(one.id, nameOf(one)),
          " against ",
          versionLink(other.id, nameOf(other)),
          other.trial_id === one.trial_id ? "" : ofTrial(other.trial_id, elsewhere),
        ),
        h("p", { class: "leads" }, verdict(total)),
      ),
      h("a", { class: "button plain", href: `/versions/${other.id}/against/${one.id}` }, "Swap sides"),
    ),
    total.games
      ? h(
          "div",
          { key: "results" },
          card(
            "By seat",
            scores("Results by seat", ["Seat", (each) => each.seat], seats, (each) => each.seat),
          ),
          card("By opening", openingScores(openings, names), results.pruned ? prunedWords(results.pruned) : null),
        )
      : empty("No recorded games", "Gates and tournaments record their games; training games are only counted."),
    problemOf(games) ? h("div", { key: "games" }, card("Games", orProblem(games))) : null,
    games.length ? h("div", { key: "games" }, card("Games", matchTable(games, one.id, { compared: false }))) : null,
  ];
}

function verdict({ games, win_rate: rate, low, high, wins, draws, losses }) {
  if (!games) return "They have not met in a recorded game.";
  const known = low > 0.5 ? "ahead" : high < 0.5 ? "behind" : "no winner by more than chance";
  return (
    `${percent(rate, 1)} (95 % interval ${percent(low)} to ${percent(high)}): ${known}. ` +
    `${whole(wins)} won, ${whole(draws)} drawn, ${whole(losses)} lost in ${counted(games, "game")}.`
  );
}

const prunedWords = (games) =>
  h("p", { class: "quiet" }, `Older games that are not among these, because their moves were pruned: ${whole(games)}.`);

/** The random opening moves by their names, with the results of each seat. */
const openingScores = (openings, names) =>
  scores(
    "Results by opening",
    ["Opening", (each) => (each.opening.length ? (names.get(each.opening.join()) ?? each.opening.join(" ")) : "usual start")],
    openings,
    (each) => each.opening.join(" "),
    [["Seat by seat", (each) => each.seats.map((seat) => h("div", {}, `seat ${seat.seat}: ${scoreText(seat)}`))]],
  );

const scoreText = ({ wins, draws, losses }) => `${wins} won, ${draws} drawn, ${losses} lost`;

const scores = (caption, first, rows, keyOf, more = []) =>
  table(
    caption,
    [
      first,
      ["Games", (each) => whole(each.games), "number"],
      ["Won", (each) => whole(each.wins), "number"],
      ["Drawn", (each) => whole(each.draws), "number"],
      ["Lost", (each) => whole(each.losses), "number"],
      ["Win rate", (each) => percent(each.win_rate), "number"],
      ["Interval", (each) => `${percent(each.low)} to ${percent(each.high)}`, "number"],
      ...more,
    ],
    rows,
    keyOf,
  );
