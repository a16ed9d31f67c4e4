// The players of a trial: what each is, how far it is, and its rating.
import { h } from "../core/dom.js";
import { fixed, humanize, newestVersion, plainName, short, whole } from "../core/format.js";
import { badge, table, time, versionLink } from "./widgets.js";

/** A player without an algorithm or a model of its own has the trial's; a bot has none. */
const kind = (player, spec, part) => (player.role === "bot" ? "–" : plainName((player[part] ?? spec[part]).id));

export function playerTable(players, ratings, metrics, spec) {
  const inexact = new Set(metrics.filter((line) => line.name === "exact" && line.values.at(-1) === 0).map((line) => line.player));
  const best = new Map(ratings.map((rating) => [rating.version_id, rating]));
  const order = { main: 0, main_exploiter: 1, league_exploiter: 2, bot: 3, historical: 4 };
  const rows = [...players].sort((a, b) => order[a.role] - order[b.role] || b.created_at.localeCompare(a.created_at));
  return table(
    "Players",
    [
      ["Player", (player) => h("a", { href: `/players/${player.id}` }, player.name)],
      ["Role", (player) => humanize(player.role)],
      ["Algorithm", (player) => kind(player, spec, "algorithm")],
      ["Model", (player) => kind(player, spec, "model")],
      ["Status", (player) => badge(player.status)],
      ["Generation", (player) => whole(player.generation), "number"],
      ["Steps", (player) => short(player.steps), "number"],
      ["Version", (player) => (player.version_id ? versionLink(player.version_id, newestVersion(player)) : "–")],
      // not a function of its task alone: a buffer that is not kept, asynchronous sampling, remote games
      ["Reproducible", (player) => (inexact.has(player.name) ? "no" : "yes")],
      ["Elo", (player) => fixed(best.get(player.version_id)?.value ?? null, 0), "number"],
      ["Since", (player) => time(player.created_at)],
    ],
    rows,
    (player) => player.id,
  );
}
