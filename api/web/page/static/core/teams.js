// The teams of a game, from any of its positions. Where each seat is a team of its own, a team's number is its seat's.

/** The team of a seat. */
export const teamOf = (position, seat) => position.teams?.[seat] ?? seat;

/** The seats of each team, in the order of the teams. */
export function seatsByTeam(position) {
  const found = [];
  position.returns.forEach((_, seat) => (found[teamOf(position, seat)] ??= []).push(seat));
  return found;
}

/** Each team's return: the sum of its seats'. */
export const teamReturns = (position) => seatsByTeam(position).map((seats) => seats.reduce((sum, seat) => sum + position.returns[seat], 0));
