// Finished games of people against versions: a list of their own, with counts of their own.
import { h } from "../core/dom.js";
import { versionName, whole } from "../core/format.js";
import { badge, orProblem, table, term, time, versionLink } from "./widgets.js";

/** The recorded position that a game began with. */
export const startText = ({ match_id: match, game_id: game, moves }) => [
  match ? h("a", { href: `/matches/${match}` }, `game #${match}`) : h("a", { href: `/people-games/${game}` }, "a person's game"),
  ` after ${moves} ${moves === 1 ? "action" : "actions"}`,
];

/** The card of a trial's games of people; the query `people_before` turns its pages. */
export function peopleGames(page, counts, context) {
  const { query } = context;
  const { wins, draws, losses } = counts;
  return h(
    "section",
    { class: "card", key: "people", "aria-label": "Games of people" },
    h("h2", {}, term("Games of people")),
    orProblem(counts, () => h("p", { class: "quiet" }, `People won ${whole(wins)}, drew ${whole(draws)} and lost ${whole(losses)}.`)),
    h("p", { class: "quiet" }, "These games count in no rating and no payoff."),
    table(
      "Games of people",
      [
        ["Game", (game) => h("a", { href: `/people-games/${game.id}` }, "Watch")],
        ["Person", (game) => (game.mine ? "you" : "somebody")],
        ["Result", (game) => badge(game.result)],
        ["Opponent", (game) => versionLink(game.version_id, versionName(game.player, game.version_number))],
        ["Seat", (game) => game.seat, "number"],
        ["Moves", (game) => game.plies, "number"],
        ["Started from", (game) => (game.start ? startText(game.start) : "the start")],
        ["When", (game) => time(game.finished_at)],
      ],
      page.items,
      (game) => game.id,
    ),
    h(
      "div",
      { class: "row" },
      query.people_before && h("button", { class: "plain", onclick: () => context.setQuery({ people_before: "" }) }, "Latest"),
      page.next_cursor && h("button", { class: "plain", onclick: () => context.setQuery({ people_before: page.next_cursor }) }, "Older"),
    ),
  );
}
