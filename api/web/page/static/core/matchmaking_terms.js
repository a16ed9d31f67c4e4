// A matchmaking rule's formula with an opponent's numbers. Pure functions.
const SQUARED = [(rate) => (1 - rate) ** 2, (w) => `(1 − ${w})²`];
const VARIANCE = [(rate) => rate * (1 - rate), (w) => `${w} × (1 − ${w})`];
const LINEAR = [(rate) => 1 - rate, (w) => `1 − ${w}`];
const CAPPED = [(rate) => Math.min(0.5, 1 - rate), (w) => `min(½, 1 − ${w})`];
const FORMULAS = {
  pfsp: SQUARED,
  pfsp_squared: SQUARED,
  verification_exploiters: SQUARED,
  verification_forgotten: SQUARED,
  main_past: VARIANCE,
  pfsp_variance: VARIANCE,
  pfsp_linear: LINEAR,
  pfsp_linear_capped: CAPPED,
  pfsp_capped: CAPPED,
};
const EQUAL = ["past", "pfsp_uniform", "meta_uniform"];
const UNKNOWN = 0.5; // the win rate that matchmaking reads where there are too few games
const NEGLIGIBLE = 1e-10;

const percent = (share) => `${(100 * share).toFixed(1)} %`;

const formulaOf = (branch, power) =>
  branch === "pfsp_hard" ? [(rate) => (1 - rate) ** power, (w) => `(1 − ${w})^${power}`] : FORMULAS[branch];

/** Each branch that chose a player, in words with the numbers plugged in, such as "(1 − 0.47)² = 0.28, 28.4 % of the sum". */
export function termsOf(player, winRate, branches, power = 2) {
  return branches.flatMap(({ branch, mass, players, probabilities }) => {
    const at = players?.indexOf(player) ?? -1;
    if (at < 0 || !probabilities[at]) return [];
    const text = part(branch, formulaOf(branch, power), winRate, probabilities[at] / mass, players.length);
    return [mass < 1 - 1e-9 ? `${text}, of ${percent(mass)} of the games` : text];
  });
}

function part(branch, formula, winRate, share, count) {
  if (EQUAL.includes(branch)) return `1 / ${count} = ${percent(share)}`;
  if (!formula) return count === 1 ? "the only one of its branch" : `${percent(share)} of its branch`;
  const rate = winRate ?? UNKNOWN;
  const [weigh, write] = formula;
  const weight = weigh(rate);
  if (weight < NEGLIGIBLE) return `${write(rate.toFixed(2))} = 0: all weights are 0, so each of ${count} is as likely`;
  const assumed = winRate === null || winRate === undefined ? " (not known yet: counts as 0.50)" : "";
  return `${write(rate.toFixed(2))} = ${weight.toFixed(2)}${assumed}, ${percent(share)} of the sum ${(weight / share).toFixed(2)}`;
}
