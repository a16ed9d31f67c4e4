// Recorded games as a table.
import { h } from "../core/dom.js";
import { versionName, humanize } from "../core/format.js";
import { badge, table, time, versionLink, versionSeenFrom } from "./widgets.js";

const OTHER_WAY = { win: "loss", loss: "win", draw: "draw" };

/**
 * Recorded games. With `version` or `player` each row is from that side; `compared`: with a link to their head to head;
 * `strangers`, as `readStrangers` found them, are named with their trial where that is not `trial`.
 */
export function matchTable(matches, version = null, { compared = true, player = null, trial = null, strangers = new Map() } = {}) {
  const isOther = (match) => (version && match.version_id !== version) || (player && match.player_id !== player);
  const linked = (id, name) => (strangers.has(id) ? versionSeenFrom(trial, { ...strangers.get(id), name }) : versionLink(id, name));
  const seen = matches.map((match) => (isOther(match) ? turned(match) : match));
  return table(
    "Recorded games",
    [
      [
        "Game",
        (match) => [
          h("a", { href: `/matches/${match.id}` }, `#${match.id}`),
          match.moves_pruned_at && h("span", { class: "quiet" }, " moves pruned"),
        ],
      ],
      ["Player", (match) => linked(match.version_id, versionName(match.player, match.version_number))],
      ["Result", (match) => badge(match.result)],
      ["Opponent", (match) => linked(match.opponent_version_id, versionName(match.opponent, match.opponent_version_number))],
      ...(compared ? [["Head to head", headToHead]] : []),
      ["Moves", (match) => match.plies, "number"],
      ["Played for", (match) => humanize(match.stream)],
      ["When", (match) => time(match.played_at)],
    ],
    seen,
    (match) => match.id,
  );
}

/** Versions of these games whose players are not among those of the trial. */
export function strangersAmong(matches, players) {
  const own = new Set(players.map((player) => player.id));
  return matches.flatMap((match) => [
    ...(own.has(match.player_id) ? [] : [match.version_id]),
    ...(own.has(match.opponent_id) ? [] : [match.opponent_version_id]),
  ]);
}

const headToHead = (match) => h("a", { href: `/versions/${match.version_id}/against/${match.opponent_version_id}` }, "compare");

const turned = (match) => ({
  ...match,
  result: OTHER_WAY[match.result],
  player: match.opponent,
  version_id: match.opponent_version_id,
  version_number: match.opponent_version_number,
  opponent: match.player,
  opponent_version_id: match.version_id,
  opponent_version_number: match.version_number,
});
