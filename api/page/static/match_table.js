// Recorded games as a table.
import { h } from "./dom.js";
import { versionName, words } from "./format.js";
import { badge, table, time, versionLink } from "./pieces.js";

export function matchTable(matches) {
  return table("Recorded games", [
    ["Game", (match) => h("a", { href: `/matches/${match.id}` }, `#${match.id}`)],
    ["Player", (match) => versionLink(match.version_id, versionName(match.player, match.version_number))],
    ["Result", (match) => badge(match.result)],
    ["Opponent", (match) => versionLink(match.opponent_version_id, versionName(match.opponent, match.opponent_version_number))],
    ["Moves", (match) => match.plies, "number"], ["For", (match) => words(match.stream)], ["When", (match) => time(match.played_at)],
  ], matches, (match) => match.id);
}
