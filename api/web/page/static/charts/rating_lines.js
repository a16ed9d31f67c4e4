// The lines of the rating chart: a line for each player with its snapshots, broken at resets. Pure functions.
/** A line for each player: {name, id, points, best}, the best first; a snapshot belongs to its player's line. */
export function ratingLines(ratings, players, resets = []) {
  const known = new Map(players.map((player) => [player.id, player]));
  const wasReset = new Set(resets.map((each) => each.version_id));
  const lines = new Map();
  for (const rating of [...ratings].sort((one, other) => one.steps - other.steps)) {
    const player = known.get(rating.player_id);
    const id = player?.parent_id ?? rating.player_id;
    const line = lines.get(id) ?? { id, name: known.get(id)?.name ?? rating.player, points: [], best: -Infinity };
    line.points.push({ ...rating, isSnapshot: player?.role === "historical" });
    line.best = Math.max(line.best, rating.value);
    lines.set(id, line);
  }
  for (const { points } of lines.values()) {
    // a snapshot and the version that it was made of have the same steps, and were the last ones before the reset
    const last = new Set(points.filter((point) => wasReset.has(point.version_id)).map((point) => point.steps));
    for (const point of points) point.isReset = last.has(point.steps);
  }
  return [...lines.values()].sort((one, other) => other.best - one.best);
}

/** Pieces of a line between resets: after a reset a player starts anew, so no line joins the two. */
export function pieces(points) {
  const found = [[]];
  for (const [at, point] of points.entries()) {
    found.at(-1).push(point);
    if (point.isReset && points[at + 1]?.steps !== point.steps) found.push([]);
  }
  return found.filter((piece) => piece.length);
}

/** The axis that the ratings need, and their bands at those ends cut off: a wide interval never sets it. */
export function ratingRange(points) {
  const values = points.map((point) => point.value);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const margin = Math.max(50, 0.3 * (high - low));
  return [low - margin, high + margin];
}
