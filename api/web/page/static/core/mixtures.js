// Opponent probabilities of several generations as rows and columns of one map. Pure functions.
const LEAST_ROWS = 16; // the chosen generation's opponents are all shown, others as far as there is room

/** How likely each player is; a player may be chosen by several branches. */
export function masses(opponents) {
  const found = new Map();
  for (const { player, probability } of opponents) found.set(player, (found.get(player) ?? 0) + probability);
  return found;
}

const byShare = ([, one], [, other]) => other - one;
export const planName = ({ generation, attempt }) => (attempt > 1 ? `${generation}, attempt ${attempt}` : `${generation}`);

/**
 * A column for each decision, the earliest first, and the players of its rows: all opponents of `shown` by their share, then the most
 * frequent of the others; `left` is how many have no row.
 */
export function mixtureMap(decisions, shown) {
  const known = decisions.some(({ id }) => id === shown?.id) || !shown ? decisions : [...decisions, shown];
  const columns = known
    .map((each) => ({
      id: each.id,
      generation: each.generation,
      attempt: each.attempt,
      name: planName(each),
      met: masses(each.evidence.plan?.opponents ?? []),
    }))
    .sort((one, other) => one.generation - other.generation || one.attempt - other.attempt);
  const chosen = columns.findIndex(({ id }) => id === shown?.id);
  const first = [...(columns[chosen]?.met ?? [])].sort(byShare).map(([player]) => player);
  const total = masses(columns.flatMap(({ met }) => [...met].map(([player, probability]) => ({ player, probability }))));
  const others = [...total]
    .filter(([player]) => !first.includes(player))
    .sort(byShare)
    .map(([player]) => player);
  const rows = [...first, ...others.slice(0, Math.max(0, LEAST_ROWS - first.length))];
  return { columns, chosen, rows, left: total.size - rows.length };
}

/** The decision that an address names: of the attempt that it names, or else the last one of the generation. */
export const namedDecision = (attempts, attempt) => attempts.find((each) => `${each.attempt}` === attempt) ?? attempts[0];

/** What the shares of a table add up to, in words. */
export function sumNote(opponents) {
  const sum = opponents.reduce((all, { probability }) => all + probability, 0);
  const rounded = opponents.reduce((all, { probability }) => all + Math.round(1000 * probability), 0);
  const percent = (share) => `${(100 * share).toFixed(1)} %`;
  if (Math.abs(1 - sum) >= 0.0005) return `Together ${percent(sum)}; the other ${percent(1 - sum)} is not in the record.`;
  return rounded === 1000 ? "Together 100 %." : `Together 100 %; rounded as they are shown, ${percent(rounded / 1000)}.`;
}
