// A recorded game, move by move, with the policies and values of the versions.
import { get } from "../core/api.js";
import { h } from "../core/dom.js";
import { counted, humanize, versionName } from "../core/format.js";
import { time, versionLink } from "../components/widgets.js";
import { enterReplay, leaveReplay } from "../components/replay_controls.js";
import { outcomeOf, replayView } from "../components/replay_view.js";
import { annotatedPart } from "../core/replay_annotations.js";
import { loadReplay, stopLoading } from "../core/replay_parts.js";
import { seatsByTeam } from "../core/teams.js";

export const title = ({ match }) => `Game #${match.id}`;
export const onEvent = () => false;
export const enter = (context) => enterReplay(context, ({ state }) => (state.replay?.positions.length ?? 1) - 1);
export function leave(context) {
  leaveReplay(context);
  stopLoading(context);
}

export async function load(context) {
  const { match } = context.parameters;
  const { annotate = "movers", search } = context.query;
  const { state } = context;
  if (state.match?.id !== Number(match)) state.match = await get(`/matches/${match}`);
  if (state.match.moves_pruned_at) return { match: state.match }; // it has a result, and no moves any more
  const replay = await loadReplay(context, `${match} ${annotate} ${search}`, (first) => annotatedPart(match, annotate, search, first));
  return { match: replay.match, replay };
}

export function view({ match, replay }, context) {
  const own = side(match.version_id, versionName(match.player, match.version_number));
  const other = side(match.opponent_version_id, versionName(match.opponent, match.opponent_version_number));
  if (!replay) {
    const sides = match.seat === 1 ? [other, own] : [own, other];
    const words = ["No replay: the moves were pruned on ", time(match.moves_pruned_at), ". The result is kept."];
    return [heading(match, own, sides, counted(match.plies, "move")), h("p", { class: "card", key: "pruned", role: "status" }, words)];
  }
  const { positions } = replay;
  const sides = seatsByTeam(positions[0]).map((_, team) => (team === match.seat ? own : other));
  const game = {
    positions,
    sides,
    isLoading: replay.next !== null,
    opening: replay.opening_plies,
    annotators: [
      ["", "the player to move"],
      [own.version, own.name],
      [other.version, other.name],
      ["nobody", "no annotation"],
    ],
    searches: true,
    problem: replay.problem,
    start: { match_id: match.id },
    file: `game-${match.id}`,
    facts: [
      ["Played for", occasion(match)],
      ["When", time(match.played_at)],
      ["Random opening", replay.opening_plies ? counted(replay.opening_plies, "move") : null],
      ["Seed", h("code", {}, match.seed)],
    ],
  };
  const outcome = outcomeOf(game) ?? (game.isLoading ? "loading …" : "not finished");
  return [heading(match, own, sides, outcome), replayView(game, context)];
}

const heading = (match, own, sides, outcome) =>
  h(
    "div",
    { key: "title" },
    h("p", { class: "crumbs" }, match.trial_id ? h("a", { href: `/trials/${match.trial_id}/matches` }, "Matches") : "Game"),
    h("h1", {}, `Game #${match.id}: ${outcome}`),
    h(
      "p",
      { class: "quiet" },
      sides.flatMap(({ link }, place) => [place ? " against " : "", link.cloneNode(true)]),
      `: ${match.result} for ${own.name} · `,
      h("a", { href: `/versions/${match.version_id}/against/${match.opponent_version_id}` }, "head to head"),
    ),
  );

const side = (version, name) => ({ version, name, link: versionLink(version, name) });

/** What it was played for, as a link to it. */
function occasion(match) {
  const words = humanize(match.stream);
  if (match.tournament_id) return h("a", { href: `/tournaments/${match.tournament_id}` }, words);
  if (match.gate_id) return h("a", { href: `/trials/${match.trial_id}/matches?gate=${match.gate_id}` }, words);
  return words;
}
