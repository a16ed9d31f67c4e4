// A replay annotated with policies and values: by one version, by the version to move at each position, or by none.
// With `search`, each version also searches its positions with so many simulations.
import { get } from "./api.js";
import { teamOf } from "./teams.js";

/** The part of the replay that begins at the position `first`; its `next` is where the following part begins, or null. */
export async function annotatedPart(match, whose, search, first) {
  const path = `/matches/${match}/replay`;
  if (whose === "nobody") return get(path, { first });
  if (whose !== "movers") return get(path, { annotate: whose, search, first });
  const plain = await get(`/matches/${match}`);
  const versions = [...new Set([plain.version_id, plain.opponent_version_id])];
  const asked = await Promise.allSettled(versions.map((version) => get(path, { annotate: version, search, first })));
  const problem = asked.find((each) => each.status === "rejected")?.reason;
  const found = new Map(versions.flatMap((version, place) => (asked[place].status === "fulfilled" ? [[version, asked[place].value]] : [])));
  if (!found.size && problem.status !== 409) throw problem; // 409: only this version cannot annotate
  const base = found.values().next().value ?? (await get(path, { first }));
  const isOwn = (seat) => teamOf(base.positions[0], seat) === plain.seat;
  const annotationOf = (seat) => found.get(isOwn(seat) ? plain.version_id : plain.opponent_version_id);
  const positions = base.positions.map((position, place) => merged(position, place, annotationOf));
  return { ...base, problem: problem?.message, positions };
}

/** Each seat's legal actions with its own version's probabilities; the value is that of the first seat. */
function merged(position, at, annotationOf) {
  const theirs = position.seats.map((seat) => annotationOf(seat)?.positions[at]);
  const without = (legal) => legal.map((each) => ({ ...each, probability: null, searched: null }));
  return {
    ...position,
    value: theirs[0]?.value ?? null,
    searched_value: theirs[0]?.searched_value ?? null,
    legal: position.legal.map((legal, place) => theirs[place]?.legal[place] ?? without(legal)),
  };
}
