"""Weights by path are read only in the allowed folders, whatever the path looks like."""

from __future__ import annotations

from pathlib import Path

import pytest
from temporalio.exceptions import ApplicationError

from orchestrator.catalog import Component
from orchestrator.contracts.errors import Failure
from orchestrator.contracts.trials import InitialWeightsRequest
from orchestrator.storage.artifacts import ArtifactStore
from orchestrator.user_code.import_folders import NotImportable, check_named, find_import, parse_folders
from workers.activities.training import WeightsActivities

SECRET = "kept elsewhere"


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, ...]:
    """Two allowed folders beside a secret; in the first one links that lead out of it."""
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
    (tmp_path / "secret").write_text(SECRET)
    (tmp_path / "first-and-more").mkdir()
    (tmp_path / "first-and-more" / "secret").write_text(SECRET)
    (first / "link").symlink_to(tmp_path / "secret")
    (first / "up").symlink_to(tmp_path)
    (second / "weights").write_text("allowed")
    (first / "inner").symlink_to(second / "weights")
    return first, second


@pytest.mark.parametrize(
    "source",
    ["/etc/passwd", "../secret", "{root}/secret", "{root}/first/../secret", "{root}/first-and-more/secret", ".", "/"],
)
def test_a_path_that_leads_outside_is_refused_by_its_text(source: str, folders: tuple[Path, ...]) -> None:
    named = source.format(root=folders[0].parent)
    for check in (check_named, find_import):
        with pytest.raises(NotImportable, match="LANISTA_IMPORT_FOLDERS") as refusal:
            check(named, folders)
        assert str(folders[0]) in str(refusal.value) and str(folders[1]) in str(refusal.value)


@pytest.mark.parametrize("source", ["link", "up/secret", "{root}/first/link", "{root}/first/up/secret"])
def test_links_are_followed_before_the_folder_is_checked(source: str, folders: tuple[Path, ...]) -> None:
    with pytest.raises(NotImportable, match=r"lies outside|there is no file"):
        find_import(source.format(root=folders[0].parent), folders)


def test_a_file_is_found_in_any_of_the_folders(folders: tuple[Path, ...]) -> None:
    wanted = folders[1] / "weights"
    assert find_import("weights", folders) == find_import(str(wanted), folders) == wanted
    with pytest.raises(NotImportable, match="there is no file 'missing'"):
        find_import("missing", folders)
    assert parse_folders(f" {folders[0]}, {folders[1]} ,") == folders


def test_the_train_worker_reads_no_other_file(folders: tuple[Path, ...], tmp_path: Path) -> None:
    store = ArtifactStore(str(tmp_path / "artifacts"))
    game, model = Component(id="tic_tac_toe"), Component(id="mlp", options={"hidden": [4]})
    plain = InitialWeightsRequest(trial="t", game=game, model=model, seed=1)
    made = WeightsActivities(store).make_initial_weights(plain)
    (folders[0] / "best.safetensors").write_bytes(store.get(made))
    (tmp_path / "outside.safetensors").write_bytes(store.get(made))

    def imported(source: str) -> object:
        request = InitialWeightsRequest(trial="t", game=game, model=model, seed=2, source=source)
        return WeightsActivities(store, folders).make_initial_weights(request)

    assert imported("best.safetensors") == made
    for source in (str(tmp_path / "outside.safetensors"), "link", "/dev/zero"):
        with pytest.raises(ApplicationError) as refusal:
            imported(source)
        assert refusal.value.type == Failure.BAD_INPUT and refusal.value.non_retryable
        assert SECRET not in str(refusal.value)
