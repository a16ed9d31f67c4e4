// The outcome of policy-space response oracles: not one champion but a mixture of the pool.
import { h } from "../core/dom.js";
import { humanize, percent } from "../core/format.js";
import { card, shares } from "./widgets.js";

const MOST = 10;

/** The support of the newest meta-strategy; null in a league that has another outcome. `plans`: the newest decision, in a list. */
export function mixtureCard({ trial, players, plans }) {
  const [plan] = plans;
  if (trial.spec.league?.preset !== "psro" || !plan) return null;
  const names = new Map(players.map((player) => [player.id, player.name]));
  const masses = new Map();
  for (const { player, probability } of plan.evidence.plan?.opponents ?? []) masses.set(player, (masses.get(player) ?? 0) + probability);
  const support = [...masses].filter(([, share]) => share > 0).sort(([, one], [, other]) => other - one);
  const left = support.slice(MOST);
  const strategy = trial.spec.league?.matchmaking?.meta_strategy ?? "nash";
  return card(
    "Mixture",
    shares(
      support.slice(0, MOST).map(([id, share]) => ({
        key: id,
        name: h("a", { href: `/players/${id}` }, names.get(id) ?? id.slice(0, 8)),
        share,
      })),
      "Support of the mixture",
    ),
    h(
      "p",
      { class: "quiet" },
      `The outcome of PSRO: one of these is drawn for each game. By ${humanize(strategy)}, after generation ${plan.generation - 1}.`,
      left.length ? ` ${left.length} more share ${percent(left.reduce((sum, [, share]) => sum + share, 0))}.` : "",
    ),
  );
}
