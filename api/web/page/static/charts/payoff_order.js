// Orders of players for the heat map, and cycles among them. Pure functions of matrices.

/** Best first: by rating where there is one, else by mean win rate. */
export function byRating(players, rates, ratingOf) {
  const mean = rates.map((row) => average(row.filter((rate) => rate !== null)));
  const rated = players.some((player) => ratingOf.has(player.id));
  const worth = players.map((player, place) => (rated ? (ratingOf.get(player.id) ?? -Infinity) : mean[place]));
  return indices(players).sort((a, b) => worth[b] - worth[a] || mean[b] - mean[a]);
}

export const indices = (items) => items.map((_, place) => place);

/** Similar rows side by side: a greedy chain from the strongest player to the nearest remaining one. */
export function byLikeness(rates) {
  const rows = rates.map((row) => Float64Array.from(row, (rate) => rate ?? 0.5));
  const left = new Set(indices(rates));
  let last = indices(rates).reduce((best, place) => (average(rows[place]) > average(rows[best]) ? place : best), 0);
  const order = [];
  while (left.size) {
    order.push(last);
    left.delete(last);
    let nearest = Infinity;
    let next = last;
    for (const place of left) {
      const distance = squares(rows[last], rows[place], nearest);
      if (distance < nearest) [nearest, next] = [distance, place];
    }
    last = next;
  }
  return order;
}

function squares(one, other, enough) {
  let sum = 0;
  for (let place = 0; place < one.length && sum < enough; place += 1) sum += (one[place] - other[place]) ** 2;
  return sum;
}

const average = (values) => (values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : 0.5);

/**
 * Cycles of three: [a, b, c, margin], sorted by their smallest margin; no player is in two of them. `low` are the lower ends of
 * the win rates' 95 % intervals: an edge counts only where its interval is above one half, and it rests on `minGames`.
 */
export function strongestCycles(low, games, minGames, most = 3) {
  const size = low.length;
  const margin = low.map((row, a) => Float64Array.from(row, (end, b) => (end !== null && games[a][b] >= minGames ? end - 0.5 : -1)));
  const found = [];
  let threshold = 0;
  for (let a = 0; a < size; a += 1) {
    for (let b = a + 1; b < size; b += 1) {
      if (margin[a][b] <= threshold) continue;
      for (let c = a + 1; c < size; c += 1) {
        if (c === b) continue;
        const weakest = Math.min(margin[a][b], margin[b][c], margin[c][a]);
        if (weakest > threshold) found.push([a, b, c, weakest]);
      }
    }
    if (found.length > 200) {
      found.sort((one, other) => other[3] - one[3]).splice(100);
      threshold = found.at(-1)[3];
    }
  }
  return distinct(
    found.sort((one, other) => other[3] - one[3]),
    most,
  );
}

function distinct(cycles, most) {
  const seen = new Set();
  const kept = [];
  for (const cycle of cycles) {
    if (kept.length === most) break;
    if (cycle.slice(0, 3).some((player) => seen.has(player))) continue;
    cycle.slice(0, 3).forEach((player) => seen.add(player));
    kept.push(cycle);
  }
  return kept;
}
