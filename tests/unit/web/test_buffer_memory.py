"""A trial whose full replay buffers would take more memory than the workers have for them is refused."""

from api.web.temporal.check_components import UnusableComponent, _too_large_buffers, own_components
from orchestrator.catalog import Kind
from orchestrator.contracts.interactive import ComponentVerdict
from orchestrator.spec import TrialSpec

MB = 1 << 20
PLAYERS = [
    {"name": "main", "role": "main"},
    {"name": "other", "role": "main"},
    {"name": "random", "role": "bot", "bot": "random"},
]


def refused(buffer: int, allowed: int, players: list | None = None, **more: object) -> list[UnusableComponent]:
    """What is refused where a full buffer takes `buffer` MB and `allowed` MB are."""
    spec = TrialSpec.model_validate(
        {
            "game": {"id": "gymnasium", "env": "CartPole-v1"},
            "algorithm": {"id": "dqn", "capacity": 10_000},
            "league": {"preset": "self_play", "players": players or PLAYERS},
            "budget": {"steps": 1000},
            **more,
        }
    )
    wanted = list(own_components(spec))
    asked = [each.check.kind is Kind.ALGORITHM or each.check.algorithm is not None for each in wanted]
    verdicts = [
        ComponentVerdict(usable=True, buffer_bytes=buffer * MB if tried else 0, buffer_memory=allowed * MB)
        for tried in asked
    ]
    return _too_large_buffers(wanted, verdicts)


def test_buffers_count_once_for_each_learning_player_and_training_process() -> None:
    assert refused(50, 100) == []
    (found,) = refused(51, 100)
    assert found.path == ("algorithm", "capacity") and found.name == "10000"
    assert found.problem == (
        "a full buffer takes 51.0 MB; there are 2 of them, one for each training process of each player that learns "
        "so, and all buffers of the trial take 102.0 MB; allowed: 100.0 MB (LANISTA_BUFFER_MEMORY_MB). Choose a "
        "capacity of at most 9,803, compressed: true, or a larger LANISTA_BUFFER_MEMORY_MB"
    )
    assert refused(25, 100, generation={"rollout_actors": 2}) == []
    assert len(refused(26, 100, generation={"rollout_actors": 2})) == 1
    split = {"rollout_actors": 4, "trainers": 2, "topology": "split"}
    assert refused(25, 100, generation=split) == [] and len(refused(26, 100, generation=split)) == 1


def test_algorithms_of_single_players_count_together_with_the_trials() -> None:
    own = [{**PLAYERS[0], "algorithm": {"id": "dqn", "capacity": 500}}, *PLAYERS[1:]]
    assert refused(50, 100, own) == []
    found = refused(51, 100, own)
    assert {each.path for each in found} == {
        ("algorithm", "capacity"),
        ("league", "players", 0, "algorithm", "capacity"),
    }


def test_a_worker_that_does_not_say_its_memory_refuses_nothing() -> None:
    assert refused(10**6, 0) == []


def test_a_data_set_counts_as_a_buffer() -> None:
    (found,) = refused(51, 100, algorithm={"id": "bc", "dataset": ["games/*.npz"]})
    assert found.path == ("algorithm", "dataset")
    assert found.problem.startswith("the data set takes 51.0 MB; there are 2 of them")
    assert found.problem.endswith("Choose a smaller data set, or a larger LANISTA_BUFFER_MEMORY_MB")
