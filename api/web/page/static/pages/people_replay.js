// A person's finished game against a version, move by move.
import { get } from "../core/api.js";
import { h } from "../core/dom.js";
import { versionName } from "../core/format.js";
import { badge, time, versionLink } from "../components/widgets.js";
import { startText } from "../components/people_games.js";
import { enterReplay, leaveReplay } from "../components/replay_controls.js";
import { outcomeOf, replayView } from "../components/replay_view.js";
import { loadReplay, stopLoading } from "../core/replay_parts.js";
import { seatsByTeam, teamOf } from "../core/teams.js";

const nameOf = ({ player, version_number: number }) => versionName(player, number);
export const title = ({ replay }) => `A person against ${nameOf(replay.game)}`;
export const onEvent = () => false;
export const enter = (context) => enterReplay(context, ({ state }) => (state.replay?.positions.length ?? 1) - 1);
export function leave(context) {
  leaveReplay(context);
  stopLoading(context);
}

export async function load(context) {
  const path = `/play/${context.parameters.game}/replay`;
  const { annotate } = context.query;
  const read = async (first) => {
    const plain = await get(path, { first });
    return annotate === "nobody" ? plain : get(path, { annotate: plain.game.version_id, first }).catch(() => plain);
  };
  return { replay: await loadReplay(context, `${path} ${annotate}`, read) };
}

export function view({ replay }, context) {
  const { game, positions } = replay;
  const name = nameOf(game);
  const person = { name: game.mine ? "You" : "A person", link: h("strong", {}, game.mine ? "You" : "A person"), version: null };
  const version = { name, link: versionLink(game.version_id, name), version: game.version_id };
  const mine = teamOf(positions[0], game.seat);
  const shown = {
    positions,
    sides: seatsByTeam(positions[0]).map((_, team) => (team === mine ? person : version)),
    isLoading: replay.next !== null,
    problem: replay.problem,
    opening: 0,
    annotators: [
      ["", name],
      ["nobody", "no annotation"],
    ],
    searches: false,
    start: { game_id: game.id },
    file: `game-of-a-person-${game.id.slice(-6)}`,
    facts: [
      ["Played by", game.search ? `${game.search} simulations a move` : game.sampled ? "its policy, sampled" : "its best moves"],
      ["Started from", game.start ? startText(game.start) : null],
      ["When", time(game.finished_at)],
    ],
  };
  return [
    h(
      "div",
      { key: "title" },
      h("p", { class: "crumbs" }, h("a", { href: `/trials/${game.trial_id}/matches` }, "Matches"), " / people's games"),
      h("h1", {}, `${outcomeOf(shown) ?? "Loading …"} `, badge(game.result)),
      h("p", { class: "quiet" }, person.name, " against ", version.link.cloneNode(true), ". It counts in no rating and no payoff."),
    ),
    replayView(shown, context),
  ];
}
