// A replay annotated with policies and values: by one version, by the version to move at each position, or by none.
// With `search`, each version also searches its positions with so many simulations.
import { get } from "./api.js";
import { teamOf } from "./teams.js";

export async function annotatedReplay(match, whose, search) {
  const path = `/matches/${match}/replay`;
  if (whose === "nobody") return get(path);
  if (whose !== "movers") return get(path, { annotate: whose, search });
  const plain = await get(`/matches/${match}`);
  const versions = [...new Set([plain.version_id, plain.opponent_version_id])];
  const asked = await Promise.allSettled(versions.map((version) => get(path, { annotate: version, search })));
  const problem = asked.find((each) => each.status === "rejected")?.reason;
  const found = new Map(versions.flatMap((version, place) => (asked[place].status === "fulfilled" ? [[version, asked[place].value]] : [])));
  if (!found.size && problem.status !== 409) throw problem; // 409: only this version cannot annotate
  const base = found.values().next().value ?? (await get(path));
  const first = (seat) => teamOf(base.positions[0], seat) === plain.seat;
  const annotationOf = (seat) => found.get(first(seat) ? plain.version_id : plain.opponent_version_id);
  return { ...base, problem: problem?.message, positions: base.positions.map((position) => merged(position, annotationOf)) };
}

/** Each seat's legal actions with its own version's probabilities; the value is that of the first seat. */
function merged(position, annotationOf) {
  const theirs = position.seats.map((seat) => annotationOf(seat)?.positions[position.ply]);
  const without = (legal) => legal.map((each) => ({ ...each, probability: null, searched: null }));
  return {
    ...position,
    value: theirs[0]?.value ?? null,
    searched_value: theirs[0]?.searched_value ?? null,
    legal: position.legal.map((legal, place) => theirs[place]?.legal[place] ?? without(legal)),
  };
}
