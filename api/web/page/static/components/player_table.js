// The players of a trial: what each is, how far it is, and its rating.
import { h } from "../core/dom.js";
import { counted, fixed, humanize, newestVersion, plainName, short, versionName, whole } from "../core/format.js";
import { badge, table, time, versionLink } from "./widgets.js";

/** A player without an algorithm or a model of its own has the trial's; a bot has none. */
const kind = (player, spec, part) => (player.role === "bot" ? "–" : plainName((player[part] ?? spec[part]).id));

/** By player, the rating of its newest version that has rating games. */
export function newestRatings(ratings) {
  const found = new Map();
  for (const each of ratings) if (!(found.get(each.player_id)?.number >= each.number)) found.set(each.player_id, each);
  return found;
}

/** The interval and games of a rating, and on hover whose it is, where the player's newest version has none. */
export function ratingNotes(player, { version_id: id, number, low, high, games }) {
  const notes = [low === null ? "" : `${fixed(low, 0)} to ${fixed(high, 0)}`, counted(games, "game")].filter(Boolean).join(", ");
  if (id === player.version_id) return { notes, title: `95 % interval and rating games: ${notes}` };
  const name = versionName(player.name, number);
  return { notes: `v${number}: ${notes}`, title: `Of ${name}, the newest version with rating games: its newest one has none so far` };
}

function elo(player, rating) {
  if (!rating) return "–";
  const { notes, title } = ratingNotes(player, rating);
  return h("span", { title }, fixed(rating.value, 0), h("br"), h("small", {}, notes));
}

export function playerTable(players, ratings, metrics, spec) {
  const inexact = new Set(metrics.filter((line) => line.name === "exact" && line.values.at(-1) === 0).map((line) => line.player));
  const rated = newestRatings(ratings);
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
      ["Elo", (player) => elo(player, rated.get(player.id)), "number"],
      ["Since", (player) => time(player.created_at)],
    ],
    rows,
    (player) => player.id,
  );
}
