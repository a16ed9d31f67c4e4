"""What other projects' functions return for fixed inputs: the values that the tests of targets and tools compare with.

    python benchmarks/peers/tool_values.py di_engine FOLDER    FOLDER: a checkout of opendilab/DI-engine
    python benchmarks/peers/tool_values.py sb3                 in an environment that has sb3-contrib
    python benchmarks/peers/tool_values.py tianshou            in an environment that has tianshou

Each call adds one project's values to tests/unit/algorithms/recorded/other_projects.json and imports nothing of
Lanista. DI-engine's modules need torch alone; what its package would load besides is replaced by empty modules.
"""

import importlib
import json
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

FILE = Path(__file__).parents[2] / "tests" / "unit" / "algorithms" / "recorded" / "other_projects.json"
GAMMA, LAMBDA = 0.9, 0.7
STEPS, ROWS, ACTIONS, ATOMS, DECISIONS = 7, 4, 3, 6, 21


def inputs() -> dict[str, torch.Tensor]:
    """The same numbers in every environment: numpy's legacy generator does not change."""
    rng = np.random.RandomState(11)
    found = {
        "reward": rng.randn(STEPS, ROWS),
        "value": rng.randn(STEPS + 1, ROWS),
        "ratio": np.exp(0.8 * rng.randn(STEPS, ROWS)),
        "done": (rng.rand(STEPS, ROWS) < 0.2).astype(float),
        "last_done": np.array([0.0, 1.0, 0.0, 0.0]),
        "logits": rng.randn(STEPS, ROWS, 2, ACTIONS),
        "q": 2.0 * rng.randn(STEPS, ROWS, 2, ACTIONS),
        "mates": rng.randint(0, ACTIONS, (STEPS, ROWS, 2)),
        "atoms": rng.dirichlet(np.ones(ATOMS), (ROWS, ACTIONS)),
        "later_atoms": rng.dirichlet(np.ones(ATOMS), (ROWS, ACTIONS)),
        "quantiles": 2.0 * rng.randn(ROWS, ACTIONS, ATOMS),
        "later_quantiles": 2.0 * rng.randn(ROWS, ACTIONS, ATOMS),
        "taken": rng.randint(0, ACTIONS, ROWS),
        "later_taken": rng.randint(0, ACTIONS, ROWS),
        "errors": rng.randn(DECISIONS),
        "observations": 3.0 + 2.0 * rng.randn(40, 2),
    }
    return {
        name: torch.as_tensor(array).float() if array.dtype == float else torch.as_tensor(array).long()
        for name, array in found.items()
    }


def di_engine(folder: str) -> dict[str, Any]:
    """n-step, rescaled, distributional, quantile, TD(lambda), GAE, V-trace, UPGO, COMA."""
    for name in ("ding", "ding.rl_utils", "ding.hpc_rl", "ding.torch_utils"):
        module = types.ModuleType(name)
        module.__path__ = [str(Path(folder) / name.replace(".", "/"))]
        sys.modules[name] = module
    sys.modules["ding.hpc_rl"].hpc_wrapper = lambda **_: lambda function: function  # type: ignore[attr-defined]
    sys.modules["ding.torch_utils"].to_tensor = torch.as_tensor  # type: ignore[attr-defined]
    td, gae, vtrace, upgo, coma = (
        importlib.import_module(f"ding.rl_utils.{name}") for name in ("td", "gae", "vtrace", "upgo", "coma")
    )
    x = inputs()
    rho, trace = x["ratio"].clamp(max=1.5), x["ratio"].clamp(max=1.0)
    corrected = vtrace.vtrace_nstep_return(rho, trace, x["reward"], x["value"], GAMMA, LAMBDA)
    following = torch.cat([corrected[1:], x["value"][-1:]])
    n_step = td.nstep_return(td.nstep_return_data(x["reward"], x["value"][-1], x["last_done"]), GAMMA, STEPS)
    acts = x["taken"], x["later_taken"]
    rescaled = td.q_nstep_td_data(
        x["quantiles"][:, :, 0], x["later_quantiles"][:, :, 0], *acts, x["reward"], x["last_done"], None
    )
    atoms = td.dist_nstep_td_data(x["atoms"], x["later_atoms"], *acts, x["reward"], x["last_done"], None)
    middles = ((torch.arange(ATOMS) + 0.5) / ATOMS).view(1, -1, 1)
    quantiles = td.qrdqn_nstep_td_data(
        x["quantiles"], x["later_quantiles"], *acts, x["reward"], x["last_done"], middles, None
    )
    teams = coma.coma_data(x["logits"], x["mates"], x["q"], x["q"], x["reward"], None)
    return {
        "n_step": n_step,
        "rescaled_squared_error": td.q_nstep_td_error_with_rescale(rescaled, GAMMA, STEPS)[1],
        "distributional_loss": td.dist_nstep_td_error(atoms, GAMMA, -4.0, 4.0, ATOMS, STEPS)[1],
        "quantile_loss": td.qrdqn_nstep_td_error(quantiles, GAMMA, STEPS)[1],
        "td_lambda": td.generalized_lambda_returns(x["value"], x["reward"], GAMMA, LAMBDA),
        "gae": gae.gae(
            gae.gae_data(x["value"][:-1], x["value"][1:].clone(), x["reward"], x["done"], None), GAMMA, LAMBDA
        ),
        "vtrace": corrected,
        "vtrace_advantage": vtrace.vtrace_advantage(rho, x["reward"], following, x["value"][:-1], GAMMA),
        "upgo": upgo.upgo_returns(x["reward"], x["value"]),
        "coma_policy_loss": coma.coma_error(teams, GAMMA, LAMBDA).policy_loss,
    }


def sb3() -> dict[str, Any]:
    """GAE, the quantile loss, Ornstein-Uhlenbeck noise, a linear schedule, a running normaliser."""
    from gymnasium import spaces
    from sb3_contrib.common.utils import quantile_huber_loss
    from stable_baselines3.common.buffers import RolloutBuffer
    from stable_baselines3.common.noise import OrnsteinUhlenbeckActionNoise
    from stable_baselines3.common.running_mean_std import RunningMeanStd
    from stable_baselines3.common.utils import LinearSchedule

    x = inputs()
    box = spaces.Box(-1.0, 1.0, (1,))
    buffer = RolloutBuffer(STEPS, box, box, gae_lambda=LAMBDA, gamma=GAMMA, n_envs=ROWS)
    starts = torch.cat([torch.zeros(1, ROWS), x["done"][:-1]])
    for step in range(STEPS):
        nothing = np.zeros((ROWS, 1), np.float32)
        buffer.add(
            nothing, nothing, x["reward"][step].numpy(), starts[step].numpy(), x["value"][step], torch.zeros(ROWS)
        )
    buffer.compute_returns_and_advantage(x["value"][-1], x["done"][-1].numpy())
    rows = torch.arange(ROWS)
    here, later = x["quantiles"][rows, x["taken"]], x["later_quantiles"][rows, x["later_taken"]]
    noise = OrnsteinUhlenbeckActionNoise(np.zeros(3), np.full(3, 0.2), theta=0.15, dt=1.0)
    np.random.seed(5)
    normals = np.random.RandomState(5).normal(size=(6, 3))
    moments = RunningMeanStd(epsilon=0.0, shape=(2,))
    for start, end in ((0, 5), (5, 6), (6, 40)):
        moments.update(x["observations"][start:end].numpy())
    falling = LinearSchedule(1.0, 0.05, 0.4)
    return {
        "gae": buffer.advantages,
        "gae_returns": buffer.returns,
        "quantile_loss": [
            quantile_huber_loss(a[None], b[None], sum_over_quantiles=True) for a, b in zip(here, later, strict=True)
        ],
        "ornstein_uhlenbeck_normals": normals,
        "ornstein_uhlenbeck": [noise() for _ in range(len(normals))],
        "running_mean": moments.mean,
        "running_variance": moments.var,
        "linear_schedule": [falling(1.0 - done) for done in (0.0, 0.1, 0.2, 0.4, 0.9)],
    }


def tianshou() -> dict[str, Any]:
    """The weights and chances of prioritised replay."""
    from tianshou.data import Batch, PrioritizedReplayBuffer

    x = inputs()
    buffer = PrioritizedReplayBuffer(DECISIONS, alpha=0.6, beta=0.4)
    for number in range(DECISIONS):
        done = number == DECISIONS - 1
        buffer.add(Batch(obs=number, act=0, rew=0.0, terminated=done, truncated=False, obs_next=number, info={}))
    buffer.update_weight(np.arange(DECISIONS), x["errors"].numpy())
    chances = buffer.weight[np.arange(DECISIONS)] / buffer.weight.reduce()
    return {"priority_chances": chances, "priority_weights": buffer.get_weight(np.arange(DECISIONS))}


def plain(value: Any) -> Any:
    """Tensors and arrays as lists."""
    if isinstance(value, list):
        return [plain(each) for each in value]
    return value.tolist() if hasattr(value, "tolist") else value


def main() -> None:
    name, *given = sys.argv[1:]
    known: dict[str, Callable[..., dict[str, Any]]] = {"di_engine": di_engine, "sb3": sb3, "tianshou": tianshou}
    found = json.loads(FILE.read_text()) if FILE.exists() else {}
    found["inputs"] = {key: plain(value) for key, value in inputs().items()}
    found[name] = {key: plain(value) for key, value in known[name](*given).items()}
    FILE.parent.mkdir(parents=True, exist_ok=True)
    lines = [
        f' "{part}": {{\n' + ",\n".join(f'  "{key}": {json.dumps(value)}' for key, value in values.items()) + "\n }"
        for part, values in found.items()
    ]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
