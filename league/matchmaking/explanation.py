"""Explains a match plan in words: each opponent, its share of the games, and the reason."""

from __future__ import annotations

from typing import Final

from league.types import MatchPlan, Opponent

BRANCHES: Final[dict[str, str]] = {
    "self_play": "the learner plays its own latest version",
    "self_play_fallback": "there was no player of the kind this rule looks for, so the learner plays itself",
    "fixed": "its share is given, whatever the results are",
    "past": "every frozen player is as likely as any other",
    "pfsp": "frozen players that the learner beats less often are chosen more often",
    "pfsp_squared": "frozen players are weighted by (1 - win rate)^2",
    "pfsp_hard": "frozen players are weighted by a power of 1 - win rate",
    "pfsp_variance": "frozen players are weighted by win rate * (1 - win rate): even opponents most",
    "pfsp_linear": "frozen players are weighted by 1 - win rate",
    "pfsp_linear_capped": "frozen players are weighted by 1 - win rate, at most 1/2",
    "pfsp_uniform": "every frozen player is as likely as any other",
    "pfsp_capped": "frozen players are weighted by 1 - win rate, at most 1/2",
    "verification_exploiters": "a main-exploiter's snapshot still beats the learner, so those are revisited",
    "verification_forgotten": "the learner does worse than it used to against this past, so it is revisited",
    "main": "the main player as it is now",
    "main_past": "the main player is too strong at present, so its past serves as a curriculum",
    "main_without_past": "the main player is too strong at present, but has no past to practise against",
    "past_quality": "snapshots the learner has beaten less often keep a higher quality and are chosen more often",
    "meta_nash": "its weight in the Nash equilibrium of the pool's games",
    "meta_fictitious_play": "its weight in the result of fictitious play",
    "meta_alpha_rank": "its weight in the stationary distribution of alpha-rank",
    "meta_uniform": "every player of the pool is as likely as any other",
    "meta_projected_replicator": "its weight under projected replicator dynamics",
}


def explain(plan: MatchPlan, most: int = 10) -> str:
    """The reason for a plan, one line for it and one for each of the `most` likeliest opponents."""
    ranked = sorted(plan.opponents, key=lambda opponent: -opponent.probability)
    lines = [f"{plan.learner} was matched by the rule {plan.rule} at payoff revision {plan.payoff_revision}."]
    if plan.note:
        lines.append(f"Note: {plan.note}.")
    lines.extend(_line(opponent, plan) for opponent in ranked[:most])
    if len(ranked) > most:
        rest = sum(opponent.probability for opponent in ranked[most:])
        lines.append(f"And {len(ranked) - most} more opponents share the remaining {rest:.1%} of the games.")
    return "\n".join(lines)


def _line(opponent: Opponent, plan: MatchPlan) -> str:
    reasons = "; also, ".join(
        BRANCHES.get(branch, f"it was chosen by the branch {branch}") for branch in opponent.branch.split("+")
    )
    if opponent.player == plan.learner:
        known = ""
    elif opponent.win_rate is None:
        known = " (the win rate against it is not known yet)"
    else:
        known = f" (the learner's win rate against it is {opponent.win_rate:.0%})"
    return f"{opponent.probability:.1%} of the games against {opponent.player}: {reasons}{known}."
