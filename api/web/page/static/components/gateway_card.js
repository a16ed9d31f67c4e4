// Gateways at which games call in: their load, and of each game what is played and what waits.
import { h } from "../core/dom.js";
import { duration, whole } from "../core/format.js";
import { badge, card, missing, table } from "./widgets.js";

const QUIET_SECONDS = 5;

export function gatewayCard({ gateways, unknown }) {
  if (!gateways) return card("Gateways", missing(unknown?.gateways, "The train worker asks the gateways."));
  if (!gateways.length) {
    return card(
      "Gateways",
      h("p", {}, "No gateway is set up: games that call in need one. ", h("code", {}, "LANISTA_GATEWAYS"), " lists them."),
    );
  }
  const games = gamesOf(gateways);
  return card(
    "Gateways",
    table(
      "Gateway processes",
      [
        ["Process", (each) => h("code", {}, each.address)],
        ["State", (each) => (each.problem ? [badge("dead"), " ", h("small", {}, each.problem)] : badge("alive"))],
        ["Connections", (each) => number(each, each.connections), "number"],
        ["Open sessions", (each) => number(each, each.sessions), "number"],
        ["Ticks/s", (each) => number(each, each.ticks_per_s), "number"],
      ],
      gateways,
      (each) => each.address,
    ),
    games.length
      ? table(
          "Games that call in",
          [
            ["Game", (game) => (game.name ? h("strong", {}, game.name) : "without a name")],
            ["Gamecores", (game) => badge(stateOf(game))],
            ["Sessions", (game) => whole(game.sessions), "number"],
            ["Waiting gamecores", (game) => whole(game.gamecores_waiting), "number"],
            ["Last heard", (game) => (game.heard_seconds === null ? "never" : `${duration(game.heard_seconds)} ago`), "number"],
            ["What waits", waitsFor],
          ],
          games,
          (game) => game.name,
        )
      : h("p", {}, "No game has called in, and none is wanted."),
  );
}

const number = (gateway, value) => (gateway.problem ? "–" : whole(Math.round(value)));

/** Each game once, over all processes that answered. */
function gamesOf(gateways) {
  const games = new Map();
  for (const seen of gateways.flatMap((gateway) => gateway.games)) {
    const known = games.get(seen.name);
    if (!known) {
      games.set(seen.name, { ...seen });
      continue;
    }
    for (const count of ["sessions", "gamecores_waiting", "games"]) known[count] += seen[count];
    // every process of a gateway collects for the same generations
    known.generations = Math.max(known.generations, seen.generations);
    const heard = [known.heard_seconds, seen.heard_seconds].filter((seconds) => seconds !== null);
    known.heard_seconds = heard.length ? Math.min(...heard) : null;
  }
  return [...games.values()];
}

function stateOf(game) {
  if (game.sessions || game.gamecores_waiting) return "connected";
  return game.heard_seconds !== null && game.heard_seconds < QUIET_SECONDS ? "connected" : "away";
}

function waitsFor(game) {
  const several = (count, what) => (count ? `${whole(count)} ${what}${count > 1 ? "s" : ""}` : null);
  const wanted = [several(game.generations, "generation"), several(game.games, "game")].filter(Boolean).join(", ");
  if (!wanted) return "–";
  return stateOf(game) === "away" ? h("strong", {}, `${wanted}: no gamecore calls in`) : wanted;
}
