// The rounds of a tournament: a bracket for a knockout, a list of rounds otherwise.
import { h } from "../core/dom.js";
import { humanize } from "../core/format.js";
import { bracketRounds } from "../core/bracket.js";
import { versionLink } from "./widgets.js";

const MOST_PAIRS = 200;

/** Links of entrants by their labels. */
export function entrantLinks(standings) {
  const ids = new Map(standings.map((line) => [line.label, line.version_id]));
  return (label) => (ids.has(label) ? versionLink(ids.get(label), label) : label);
}

export function rounds(pairings, tournament, standings) {
  if (!pairings.length) return h("p", { class: "quiet" }, "No pairings yet.");
  const link = entrantLinks(standings);
  if (tournament.format === "knockout") return bracket(pairings, tournament, standings, link);
  const found = new Map();
  for (const pairing of pairings) found.set(pairing.round, [...(found.get(pairing.round) ?? []), pairing]);
  return h(
    "div",
    { class: "rounds", tabindex: 0, role: "region", "aria-label": "Rounds" },
    [...found]
      .sort(([one], [other]) => one - other)
      .map(([round, pairs]) =>
        section(
          `Round ${round + 1}`,
          pairs.slice(0, MOST_PAIRS).map((pair) => h("li", { key: pair.pair, "data-status": pair.status }, pairingBox(pair, link))),
        ),
      ),
  );
}

const section = (name, boxes) => h("section", { key: name, "aria-label": name }, h("h3", {}, name), h("ul", {}, boxes));

/** Every slot of the bracket has its place, so that the lines between rounds lead to the right boxes. */
function bracket(pairings, tournament, standings, link) {
  const [first, second] = standings;
  const over = tournament.status === "completed" && first?.rank === 1 && second?.rank !== 1;
  const drawn = bracketRounds(pairings, tournament.entrants, over ? first.label : null);
  return h(
    "div",
    { class: "bracket", tabindex: 0, role: "region", "aria-label": "Bracket" },
    drawn.map(({ name, slots }) =>
      section(
        name,
        slots.map((slot, at) =>
          h(
            "li",
            { key: at, class: slot.kind },
            slot.kind === "bye" ? null : h("div", { class: "box", "data-status": slot.pair?.status ?? "open" }, slotBox(slot, link)),
          ),
        ),
      ),
    ),
  );
}

const slotBox = ({ pair, winner, isFinal }, link) =>
  pair ? pairingBox(pair, link, { winner, mark: isFinal && winner !== null }) : h("small", {}, "not decided yet");

/** Both sides with the games that each won. */
function pairingBox(pair, link, { winner = undefined, mark = false } = {}) {
  const played = pair.status === "played" && pair.second !== null;
  const side = (name, won, lost) => {
    const ahead = played && (winner === undefined ? won > lost : winner === name);
    return h(
      "div",
      { class: ahead ? "side won" : "side" },
      h(
        "span",
        { class: "name", title: name },
        link(name),
        mark && ahead ? h("span", { class: "badge", "data-status": "champion" }, "winner") : null,
      ),
      h("b", {}, played ? won : ""),
    );
  };
  const said = pair.second === null ? "bye" : played ? (pair.draws ? `${pair.draws} drawn` : null) : humanize(pair.status);
  return [
    side(pair.first, pair.wins, pair.losses),
    pair.second === null ? null : side(pair.second, pair.losses, pair.wins),
    said && h("small", {}, said),
  ];
}
