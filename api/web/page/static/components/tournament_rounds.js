// The rounds of a tournament: a bracket for a knockout, a list of rounds otherwise.
import { h } from "../core/dom.js";
import { humanize } from "../core/format.js";

const MOST_PAIRS = 200;

export function rounds(pairings, tournament) {
  const found = new Map();
  for (const pairing of pairings) found.set(pairing.round, [...(found.get(pairing.round) ?? []), pairing]);
  if (!found.size) return h("p", { class: "quiet" }, "No pairings yet.");
  const bracket = tournament.format === "knockout";
  const all = [...found].sort(([one], [other]) => one - other).map(([round, pairs]) => [round, bracket ? together(pairs) : pairs]);
  return h(
    "div",
    { class: bracket ? "bracket" : "rounds", tabindex: 0, role: "region", "aria-label": bracket ? "Bracket" : "Rounds" },
    all.map(([round, pairs]) => {
      const name = bracket && pairs.length === 1 && round === all.at(-1)[0] ? "Final round" : `Round ${round + 1}`;
      return h(
        "section",
        { key: round, "aria-label": name },
        h("h3", {}, name),
        h(
          "ul",
          {},
          pairs.slice(0, MOST_PAIRS).map((pair) => pairingBox(pair)),
        ),
      );
    }),
  );
}

/** Replays of a drawn knockout pairing are merged into one box. */
function together(pairs) {
  const boxes = new Map();
  for (const pair of pairs) {
    const known = boxes.get([pair.first, pair.second].sort().join(" "));
    const turned = known && known.first !== pair.first;
    if (!known) boxes.set([pair.first, pair.second].sort().join(" "), { ...pair });
    else
      Object.assign(known, {
        wins: known.wins + (turned ? pair.losses : pair.wins),
        draws: known.draws + pair.draws,
        losses: known.losses + (turned ? pair.wins : pair.losses),
        status: pair.status,
      });
  }
  return [...boxes.values()];
}

/** Both sides with the games that each won. */
function pairingBox(pair) {
  const played = pair.status === "played" && pair.second !== null;
  const side = (name, won, lost) =>
    h("div", { class: played && won > lost ? "won" : "" }, h("span", { class: "name", title: name }, name), h("b", {}, played ? won : ""));
  const said = pair.second === null ? "bye" : played ? (pair.draws ? `${pair.draws} drawn` : null) : humanize(pair.status);
  return h(
    "li",
    { key: pair.pair, "data-status": pair.status },
    side(pair.first, pair.wins, pair.losses),
    pair.second === null ? null : side(pair.second, pair.losses, pair.wins),
    said && h("small", {}, said),
  );
}
