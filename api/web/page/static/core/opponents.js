// A player's row of the payoff, the worst opponents first. A pure function.

/** Opponents with at least `min_games` games: {id, name, rate, low, high, games}. */
export function opponentsOf(payoff, id) {
  const row = payoff.players.findIndex((player) => player.id === id);
  if (row < 0) return [];
  return payoff.players
    .map((player, column) => ({
      id: player.id,
      name: player.name,
      rate: payoff.win_rate[row][column],
      low: payoff.low[row][column],
      high: payoff.high[row][column],
      games: payoff.wins[row][column] + payoff.draws[row][column] + payoff.losses[row][column],
    }))
    .filter((each) => each.id !== id && each.rate !== null && each.games >= payoff.min_games && each.high - each.low < 0.999)
    .sort((one, other) => one.rate - other.rate);
}
