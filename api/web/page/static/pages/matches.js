// Recorded games, filtered by player and purpose.
import { get, getAll } from "../core/api.js";
import { h } from "../core/dom.js";
import { card, empty, orProblem, pick, problemWith } from "../components/widgets.js";
import { part, problemOf } from "../core/parts.js";
import { matchTable, strangersAmong } from "../components/match_table.js";
import { peopleGames } from "../components/people_games.js";
import { recordedGames } from "../components/recorded_games.js";
import { readStrangers } from "../core/strangers.js";
import { trialFrame } from "../components/trial_frame.js";

const RECORDED = 20;

export const title = ({ trial }) => `Matches of ${trial.name}`;
export const trialOf = (context) => context.parameters.trial;
export const onEvent = (event) => ["gate.progress", "gate.finished", "ratings.fitted", "trial.status"].includes(event.type);

export async function load({ parameters, query }) {
  const root = `/trials/${parameters.trial}`;
  const which = {
    stream: query.stream,
    player_id: query.player,
    opponent_id: query.player ? query.opponent : null,
    gate_id: query.gate,
    version_id: query.version,
    tournament_id: query.tournament,
  };
  const [trial, players, page, recorded, people, counts] = await Promise.all([
    get(root),
    part(getAll(`${root}/players`)),
    part(get(`${root}/matches`, { ...which, limit: 100, cursor: query.before }), { items: [] }),
    part(get(`${root}/recorded-games`, { limit: RECORDED, cursor: query.recorded_before }), { items: [] }),
    part(get(`${root}/people-games`, { limit: RECORDED, cursor: query.people_before }), { items: [] }),
    part(get(`${root}/people-games/counts`), {}),
  ]);
  const strangers = await readStrangers(strangersAmong(page.items, players));
  return { trial, players, page, strangers, recorded, people, counts };
}

export function view({ trial, players, page, strangers, recorded, people, counts }, context) {
  const { query } = context;
  const names = [["", "any player"], ...players.map((player) => [player.id, player.name])];
  return trialFrame(
    trial,
    context,
    h(
      "div",
      { class: "filters", key: "filters" },
      pick(
        "Games",
        "stream",
        [
          ["", "all"],
          ["gating", "gates"],
          ["rating", "ratings"],
        ],
        query.stream ?? "",
        (value) => context.setQuery({ stream: value, before: "" }),
      ),
      pick("Player", "player", names, query.player ?? "", (value) => context.setQuery({ player: value, before: "" })),
      query.player &&
        pick("Against", "opponent", names, query.opponent ?? "", (value) => context.setQuery({ opponent: value, before: "" })),
      (query.gate || query.version || query.tournament) &&
        h("button", { class: "plain", onclick: () => context.setQuery({ gate: "", version: "", tournament: "", before: "" }) }, "Show all"),
      h("a", { href: `/api/v1/trials/${trial.id}/matches?format=csv`, download: true }, "CSV"),
    ),
    problemOf(players) && h("div", { key: "players" }, problemWith("The players, for the filters,", players)),
    problemOf(page)
      ? h("div", { key: "list" }, card("Games", orProblem(page)))
      : page.items.length
        ? h(
            "section",
            { class: "card", key: "list", "aria-label": "Games" },
            matchTable(page.items, null, { trial: trial.id, strangers }),
            h(
              "div",
              { class: "row" },
              query.before && h("button", { class: "plain", onclick: () => context.setQuery({ before: "" }) }, "Latest"),
              page.next_cursor && h("button", { class: "plain", onclick: () => context.setQuery({ before: page.next_cursor }) }, "Older"),
            ),
          )
        : empty("No recorded games", "Gates and tournaments record their games move by move. Training games are only counted."),
    problemOf(people)
      ? h("div", { key: "people" }, card("Games of people", orProblem(people)))
      : people.items.length || query.people_before
        ? peopleGames(people, counts, context)
        : null,
    problemOf(recorded)
      ? h("div", { key: "recorded" }, card("Recorded sessions", orProblem(recorded)))
      : recorded.items.length || query.recorded_before
        ? recordedGames(trial, players, recorded, context)
        : null,
  );
}
