// Recorded games as a table.
import { h } from "../core/dom.js";
import { versionName, humanize } from "../core/format.js";
import { badge, table, time, versionLink } from "./widgets.js";

const OTHER_WAY = { win: "loss", loss: "win", draw: "draw" };

/** Recorded games. With `version` or `player` each row is from that side; `compared`: with a link to their head to head. */
export function matchTable(matches, version = null, { compared = true, player = null } = {}) {
  const isOther = (match) => (version && match.version_id !== version) || (player && match.player_id !== player);
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
      ["Player", (match) => versionLink(match.version_id, versionName(match.player, match.version_number))],
      ["Result", (match) => badge(match.result)],
      ["Opponent", (match) => versionLink(match.opponent_version_id, versionName(match.opponent, match.opponent_version_number))],
      ...(compared ? [["Head to head", headToHead]] : []),
      ["Moves", (match) => match.plies, "number"],
      ["For", (match) => humanize(match.stream)],
      ["When", (match) => time(match.played_at)],
    ],
    seen,
    (match) => match.id,
  );
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
