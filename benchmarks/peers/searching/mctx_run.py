"""Searched moves a second of pgx's connect four with mctx's Gumbel search: run by the interpreter of build/jax-venv.

Prints one JSON object. It imports nothing of Lanista.
"""

from __future__ import annotations

import json
import sys
import time
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import mctx
import pgx

Params = list[Any]
ENV = pgx.make("connect_four")


def dense(key: Any, rows: int, columns: int) -> Any:
    """Weights and biases of a dense layer."""
    return jax.random.normal(key, (rows, columns)) / jnp.sqrt(rows), jnp.zeros(columns)


def kernel(key: Any, channels: int, filters: int, size: int) -> Any:
    """Weights and biases of a convolution, height and width first."""
    weights = jax.random.normal(key, (size, size, channels, filters)) / jnp.sqrt(size * size * channels)
    return weights, jnp.zeros(filters)


def perceptron(hidden: list[int]) -> Any:
    """Parameters, and a function of them and of observations [rows, 6, 7, 2]."""
    keys = jax.random.split(jax.random.PRNGKey(0), len(hidden) + 1)
    widths = [84, *hidden, 8]
    params = [dense(key, *pair) for key, pair in zip(keys, pairwise(widths), strict=True)]

    def apply(params: Params, seen: Any) -> Any:
        rows = seen.reshape(len(seen), -1)
        for weight, bias in params[:-1]:
            rows = jax.nn.relu(rows @ weight + bias)
        out = rows @ params[-1][0] + params[-1][1]
        return out[:, :7], out[:, 7]

    return params, apply


def residual(channels: int, blocks: int, kind: Any) -> Any:
    """The same for a conv-res network: stem, blocks of two convolutions, a 1x1 one, a dense layer, both heads."""
    keys = iter(jax.random.split(jax.random.PRNGKey(0), 2 * blocks + 4))
    convs = [kernel(next(keys), 2, channels, 3)]
    convs += [kernel(next(keys), channels, channels, 3) for _ in range(2 * blocks)]
    convs += [kernel(next(keys), channels, 8, 1)]
    params = jax.tree.map(
        lambda part: part.astype(kind), [*convs, dense(next(keys), 336, 128), dense(next(keys), 128, 8)]
    )

    def conv(planes: Any, layer: Any) -> Any:
        axes = ("NHWC", "HWIO", "NHWC")
        return jax.lax.conv_general_dilated(planes, layer[0], (1, 1), "SAME", dimension_numbers=axes) + layer[1]

    def apply(params: Params, seen: Any) -> Any:
        planes = jax.nn.relu(conv(seen.astype(kind), params[0]))
        for block in range(blocks):
            inner = jax.nn.relu(conv(planes, params[1 + 2 * block]))
            planes = jax.nn.relu(planes + conv(inner, params[2 + 2 * block]))
        rows = jax.nn.relu(conv(planes, params[-3])).reshape(len(seen), -1)
        rows = jax.nn.relu(rows @ params[-2][0] + params[-2][1])
        out = (rows @ params[-1][0] + params[-1][1]).astype(jnp.float32)
        return out[:, :7], out[:, 7]

    return params, apply


def searching(apply: Any, simulations: int) -> Any:
    """One move at every table: a search, and the step that follows."""
    step = jax.vmap(ENV.step)

    def after(params: Params, key: Any, action: Any, state: Any) -> Any:
        mover = state.current_player
        state = step(state, action)
        logits, value = apply(params, state.observation)
        logits = jnp.where(state.legal_action_mask, logits - logits.max(1, keepdims=True), jnp.finfo(jnp.float32).min)
        reward = state.rewards[jnp.arange(len(mover)), mover]
        value = jnp.where(state.terminated, 0.0, value)
        discount = jnp.where(state.terminated, 0.0, -1.0)
        found = mctx.RecurrentFnOutput(reward=reward, discount=discount, prior_logits=logits, value=value)
        return found, state

    def move(params: Params, state: Any, key: Any) -> Any:
        logits, value = apply(params, state.observation)
        root = mctx.RootFnOutput(prior_logits=logits, value=value, embedding=state)
        found = mctx.gumbel_muzero_policy(
            params=params,
            rng_key=key,
            root=root,
            recurrent_fn=after,
            num_simulations=simulations,
            invalid_actions=~state.legal_action_mask,
            qtransform=mctx.qtransform_completed_by_mix_value,
        )
        state = step(state, found.action)
        fresh = jax.vmap(ENV.init)(jax.random.split(key, len(value)))
        over = state.terminated

        def chosen(new: Any, old: Any) -> Any:
            return jnp.where(over.reshape(-1, *[1] * (old.ndim - 1)), new, old)

        return jax.tree.map(chosen, fresh, state)

    return jax.jit(move)


def main() -> None:
    given = json.loads(sys.argv[1])
    kind = jnp.bfloat16 if given["bf16"] else jnp.float32
    params, apply = (
        perceptron(given["hidden"]) if given["hidden"] else residual(given["channels"], given["blocks"], kind)
    )
    move = searching(apply, given["simulations"])
    tables = given["tables"]
    state = jax.jit(jax.vmap(ENV.init))(jax.random.split(jax.random.PRNGKey(1), tables))
    key = jax.random.PRNGKey(2)
    state = jax.block_until_ready(move(params, state, key))  # compiles
    began, moves = time.process_time(), 0
    while time.process_time() - began < given["seconds"]:
        key, now = jax.random.split(key)
        state = jax.block_until_ready(move(params, state, now))
        moves += tables
    print(json.dumps({"moves_per_second": moves / (time.process_time() - began)}))


if __name__ == "__main__":
    main()
