// A replay with opinions: of one version at every position, of each version where it was to move, or none.
import { get } from "./api.js";

export async function replayWithOpinions(match, whose) {
  const path = `/matches/${match}/replay`;
  if (whose === "nobody") return get(path);
  if (whose !== "movers") return get(path, { annotate: whose });
  const plain = await get(`/matches/${match}`);
  const versions = [...new Set([plain.version_id, plain.opponent_version_id])];
  const asked = await Promise.allSettled(versions.map((version) => get(path, { annotate: version })));
  const problem = asked.find((each) => each.status === "rejected")?.reason;
  const found = new Map(versions.flatMap((version, place) => (asked[place].status === "fulfilled" ? [[version, asked[place].value]] : [])));
  if (!found.size && problem.status !== 409) throw problem; // 409: this version's opinion alone is not to be had
  const base = found.values().next().value ?? (await get(path));
  const opinionOf = (seat) => found.get(seat === plain.seat ? plain.version_id : plain.opponent_version_id);
  return { ...base, problem: problem?.message, positions: base.positions.map((position) => merged(position, opinionOf)) };
}

/** Each seat's legal actions as its own version sees them; the value is the first one's. */
function merged(position, opinionOf) {
  const theirs = position.seats.map((seat) => opinionOf(seat)?.positions[position.ply]);
  const without = (legal) => legal.map((each) => ({ ...each, probability: null }));
  return {
    ...position,
    value: theirs[0]?.value ?? null,
    legal: position.legal.map((legal, place) => theirs[place]?.legal[place] ?? without(legal)),
  };
}
