"""Targets along sequences [steps, rows]: n-step returns, and n-step returns of rescaled values.

Everywhere `rewards[t]` follow decision t, `later[t]` is the value of the position after it, and `discounts[t]` weighs
that position: gamma, or 0 where the game ended. `last[t]` is true where the next decision is not in the sequence.
"""

from __future__ import annotations

import torch
from torch import Tensor

RESCALE_SLOPE = 1e-3
"""Keeps the rescaling invertible for large values."""


def n_step(rewards: Tensor, discounts: Tensor, later: Tensor, n: int, last: Tensor | None = None) -> Tensor:
    """G_t = r_t + d_t r_(t+1) + ... up to n rewards, then the value of the position reached (Watkins, 1989).

    Where a sequence ends sooner, fewer rewards are summed.
    """
    ends = _ends(rewards, last)
    found = rewards + discounts * later
    for _ in range(n - 1):
        following = torch.cat([found[1:], found[-1:]])
        found = rewards + discounts * torch.where(ends, later, following)
    return found


def rescale(values: Tensor, slope: float = RESCALE_SLOPE) -> Tensor:
    """h(x) = sign(x) (sqrt(|x| + 1) - 1) + slope x (Pohlen et al., 2018): large returns without clipped rewards."""
    return values.sign() * ((values.abs() + 1.0).sqrt() - 1.0) + slope * values


def unscale(values: Tensor, slope: float = RESCALE_SLOPE) -> Tensor:
    """The inverse of `rescale`."""
    root = (1.0 + 4.0 * slope * (values.abs() + 1.0 + slope)).sqrt()
    return values.sign() * (((root - 1.0) / (2.0 * slope)).square() - 1.0)


def rescaled_n_step(rewards: Tensor, discounts: Tensor, later: Tensor, n: int, last: Tensor | None = None) -> Tensor:
    """h(n-step return of h^-1(later)), as R2D2 learns it (Kapturowski et al., 2019); `later` are rescaled values."""
    return rescale(n_step(rewards, discounts, unscale(later), n, last))


def _ends(rewards: Tensor, last: Tensor | None) -> Tensor:
    ends = torch.zeros_like(rewards, dtype=torch.bool) if last is None else last.clone()
    ends[-1] = True
    return ends
