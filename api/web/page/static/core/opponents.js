// A player's row of the payoff, the worst opponents first. Pure functions.

/** Opponents with at least `min_games` games: {id, name, role, rate, low, high, games}. */
export function opponentsOf(payoff, id) {
  const row = payoff.players.findIndex((player) => player.id === id);
  if (row < 0) return [];
  return payoff.players
    .map((player, column) => ({
      id: player.id,
      name: player.name,
      role: player.role,
      rate: payoff.win_rate[row][column],
      low: payoff.low[row][column],
      high: payoff.high[row][column],
      games: gamesBetween(payoff, row, column),
    }))
    .filter((each) => each.id !== id && each.rate !== null && each.games >= payoff.min_games && each.high - each.low < 0.999)
    .sort((one, other) => one.rate - other.rate);
}

const gamesBetween = (payoff, row, column) => payoff.wins[row][column] + payoff.draws[row][column] + payoff.losses[row][column];

/** How many games of this payoff a player has played against each other one, by id. */
export function gamesOf(payoff, id) {
  const row = payoff.players.findIndex((player) => player.id === id);
  return new Map(row < 0 ? [] : payoff.players.map((player, column) => [player.id, gamesBetween(payoff, row, column)]));
}

/**
 * Opponents in tables that stay as they are: learning players change, and may be reset, so that their place among the worst
 * would come and go; they are on their own. Of the others the worst and the best, none in both.
 */
export function groupedOpponents(opponents, learns, most) {
  const learning = opponents.filter((each) => learns.includes(each.role));
  const fixed = opponents.filter((each) => !learns.includes(each.role));
  return {
    learning: learning.toSorted((one, other) => one.name.localeCompare(other.name)),
    worst: fixed.slice(0, Math.min(most, Math.ceil(fixed.length / 2))),
    best: [...fixed].reverse().slice(0, Math.min(most, Math.floor(fixed.length / 2))),
  };
}

const FADED = 0.1; // by which the oldest games have lost weight before it is said

/** What an interval is about where old games have lost weight; null where all games still count. */
export const recency = ({ decay }, games) =>
  decay < 1 && games * (1 - decay) > FADED ? "rests on the recent games, not on all; says nothing of a new start after a reset" : null;

/** Who is asked about where nobody is named: the first main player, else the first that learns, else the first. */
export const askedAbout = (players, learns, id) =>
  players.find((player) => player.id === id) ??
  players.find((player) => player.role === "main" && player.status === "active") ??
  players.find((player) => learns.includes(player.role)) ??
  players[0];

/** How sure it is who wins more often, of opponents with the worst first. */
export function aheadNote(name, opponents) {
  const ahead = opponents.filter((each) => each.high < 0.5).length;
  if (ahead) return `${ahead} of ${opponents.length} ${ahead === 1 ? "beats" : "beat"} ${name} more often than not, with 95 % confidence.`;
  const open = opponents.filter((each) => each.low <= 0.5).length;
  return open
    ? `Of ${opponents.length} none beats ${name} more often than not with 95 % confidence; of ${open} it is open.`
    : `${name} beats each of ${opponents.length} more often than not, with 95 % confidence.`;
}
