"""Counter-based randomness: every draw is a hash of what it is for, so no state is shared or kept.

A game is a pure function of its seed and the actions, whichever table it is played at and whatever
is played beside it; that is what makes pairs of games, retries and replays exact.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)

_ALL = (1 << 64) - 1


def _scramble(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of SplitMix64, in place: a bijection in which every input bit moves every output bit."""
    words ^= words >> np.uint64(30)
    words *= _MIX_1
    words ^= words >> np.uint64(27)
    words *= _MIX_2
    words ^= words >> np.uint64(31)
    return words


def mix(first: ArrayLike, *rest: ArrayLike) -> NDArray[np.uint64]:
    """Hash words (scalars or arrays that broadcast) into one array of 64-bit keys, at least 1-d."""
    # 1-d at least: numpy warns of the intended overflow on scalars, not on arrays.
    key = _scramble(np.atleast_1d(np.asarray(first)).astype(np.uint64) + _GOLDEN)
    for word in rest:
        key = _scramble((key ^ np.atleast_1d(np.asarray(word)).astype(np.uint64)) + _GOLDEN)
    return key


def game_seeds(table_seeds: NDArray[np.uint64], games: NDArray[np.int64]) -> NDArray[np.uint64]:
    """The seed of each table's game number `games`; game 0 is the one named by the table's seed."""
    return np.where(games == 0, table_seeds, mix(table_seeds, games))


def uniform(keys: NDArray[np.uint64]) -> NDArray[np.float64]:
    """One number in [0, 1) from each key made by `mix` (a raw seed is not a key: small seeds all give 0)."""
    return (keys >> np.uint64(11)).astype(np.float64) * 2.0**-53


def below(keys: NDArray[np.uint64], bounds: int | NDArray[np.int64]) -> NDArray[np.int64]:
    """One integer in [0, bound) from each key made by `mix`."""
    return (uniform(keys) * bounds).astype(np.int64)


def mix_ints(first: int, *rest: int) -> int:
    """`mix` of plain integers, for code that handles one table at a time."""
    key = _scramble_int(first + int(_GOLDEN))
    for word in rest:
        key = _scramble_int((key ^ word) + int(_GOLDEN))
    return key


def _scramble_int(word: int) -> int:
    word &= _ALL
    word = (word ^ (word >> 30)) * int(_MIX_1) & _ALL
    word = (word ^ (word >> 27)) * int(_MIX_2) & _ALL
    return word ^ (word >> 31)
