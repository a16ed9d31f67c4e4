// The slots of a knockout bracket, round by round. Pure functions of the pairings.
const NAMES = { 1: "Final", 2: "Semi-finals", 4: "Quarter-finals" };

/**
 * For each round its name and slots {kind: "match", "bye" or "open", pair, winner, isFinal}. The pairings of a slot are numbered
 * slot, slot + size, ...: a drawn match is played again. A bye has no pairing, and a winner is seen from the round after it.
 */
export function bracketRounds(pairings, entrants, champion = null) {
  const count = Math.max(1, Math.ceil(Math.log2(Math.max(2, entrants))));
  const rounds = Array.from({ length: count }, (_, round) => {
    const size = 2 ** (count - 1 - round);
    const mine = pairings.filter((pair) => pair.round === round);
    const slots = Array.from({ length: size }).map((each, slot) => merged(mine.filter((pair) => pair.pair % size === slot)));
    return { name: NAMES[size] ?? `Round of ${2 * size}`, pairs: slots };
  });
  return rounds.map(({ name, pairs }, round) => ({
    name,
    slots: pairs.map((pair, slot) => ({
      kind: pair ? "match" : round === 0 ? "bye" : "open",
      pair,
      isFinal: round === count - 1,
      winner: pair ? winnerOf(pair, rounds[round + 1]?.pairs[Math.floor(slot / 2)], round === count - 1, champion) : null,
    })),
  }));
}

function winnerOf(pair, next, isFinal, champion) {
  const sides = [pair.first, pair.second];
  if (isFinal) return sides.includes(champion) ? champion : null;
  const advanced = sides.find((name) => next && [next.first, next.second].includes(name));
  if (advanced) return advanced;
  return pair.wins === pair.losses || pair.status !== "played" ? null : sides[pair.wins > pair.losses ? 0 : 1];
}

/** A drawn match and its repetitions as one, from the side of its first pairing. */
function merged(pairs) {
  if (!pairs.length) return null;
  const [first, ...later] = [...pairs].sort((one, other) => one.pair - other.pair);
  const sum = { ...first };
  for (const pair of later) {
    const turned = pair.first !== first.first;
    sum.wins += turned ? pair.losses : pair.wins;
    sum.draws += pair.draws;
    sum.losses += turned ? pair.wins : pair.losses;
    sum.status = pair.status;
  }
  return sum;
}
