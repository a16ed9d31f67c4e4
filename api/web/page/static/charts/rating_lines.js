// The lines of the rating chart: a line for each player with its snapshots, broken at resets. Pure functions.
/** A line for each player: {name, id, points, best}, the best first; a snapshot belongs to its player's line. */
export function ratingLines(ratings, players, resets = []) {
  const known = new Map(players.map((player) => [player.id, player]));
  const lines = new Map();
  for (const rating of [...ratings].sort(byProgress)) {
    const player = known.get(rating.player_id);
    const id = player?.parent_id ?? rating.player_id;
    const line = lines.get(id) ?? { id, name: known.get(id)?.name ?? rating.player, points: [], best: -Infinity };
    line.points.push({ ...rating, isSnapshot: player?.role === "historical", isReset: false });
    line.best = Math.max(line.best, rating.value);
    lines.set(id, line);
  }
  for (const reset of resets) {
    const last = lines.get(reset.player_id)?.points.findLast((point) => isBefore(point, reset));
    if (last) last.isReset = true;
  }
  return [...lines.values()].sort((one, other) => other.best - one.best);
}

const at = (text) => new Date(text).getTime();
/** By steps; a reset keeps the steps, so what was recorded earlier comes first. */
const byProgress = (one, other) => one.steps - other.steps || at(one.recorded_at) - at(other.recorded_at);
/** A reset and the snapshot before it are recorded at once; the version of the reset is what the player goes on from. */
const isBefore = (point, reset) => at(point.recorded_at) <= at(reset.created_at) && point.version_id !== reset.version_id;

/** Pieces of a line between resets: after a reset a player starts anew, so no line joins the two. */
export function pieces(points) {
  const found = [[]];
  for (const point of points) {
    found.at(-1).push(point);
    if (point.isReset) found.push([]);
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

/** Where the axis cuts off the band of a line: for each stretch of such points the one in its middle, with `isUp`. */
export function cutBands(points, [bottom, top]) {
  const sides = [
    [true, ({ high }) => high !== null && high > top],
    [false, ({ low }) => low !== null && low < bottom],
  ];
  return sides.flatMap(([isUp, isCut]) => {
    const stretches = [[]];
    for (const point of points) {
      if (isCut(point)) stretches.at(-1).push(point);
      else if (stretches.at(-1).length) stretches.push([]);
    }
    return stretches.filter((each) => each.length).map((each) => ({ ...each[Math.floor(each.length / 2)], isUp }));
  });
}
