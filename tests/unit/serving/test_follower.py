"""The follower: moves of the alias arrive, an API that is away changes nothing, and results are delivered once."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from lanista.client import LanistaError
from lanista.serving.followed import Followed, find_followed
from lanista.serving.follower import AliasFollower
from tests.unit.serving.fake_league import FakeLeague
from workers.serving.comparison import Arm, CanaryReport, Comparison
from workers.serving.version_cache import VersionCache
from workers.serving.versions import ServedVersion, UnservableVersion, VersionRecord, load_version

CHAMPION = Followed(project="board-games", alias="champion")


class Serving:
    """Remembers what it was given."""

    def __init__(self) -> None:
        self.put_in: list[tuple[Arm, str]] = []
        self.reports: list[CanaryReport] = []
        self.refuses = ""

    def put(self, role: Arm, version: ServedVersion) -> None:
        if self.refuses:
            raise UnservableVersion(self.refuses)
        self.put_in.append((role, version.record.name))

    def take_reports(self) -> list[CanaryReport]:
        taken, self.reports = self.reports, []
        return taken


@pytest.fixture
def league() -> FakeLeague:
    made = FakeLeague()
    made.promote(made.add(1))
    return made


@pytest.fixture
def serving() -> Serving:
    return Serving()


def follower(league: FakeLeague, folder: Path, serving: Serving, followed: Followed = CHAMPION) -> AliasFollower:
    return AliasFollower(
        league.connect, followed, VersionCache(folder), serving, load_version, interval=0.001, report_every=0
    )


def a_report() -> CanaryReport:
    compared = Comparison("one", "two")
    compared.add(Arm.CANARY, 1.0)
    report = compared.take()
    assert report is not None
    return report


def test_promotion_and_rollback_arrive_and_weights_are_downloaded_once(
    league: FakeLeague, serving: Serving, tmp_path: Path
) -> None:
    first, second = league.champion, league.add(2)
    followed = follower(league, tmp_path, serving)
    followed.begin()
    followed.look()
    league.promote(second)
    followed.look()
    league.promote(first)
    followed.look()
    assert serving.put_in == [(Arm.CHAMPION, "main:1"), (Arm.CHAMPION, "main:2"), (Arm.CHAMPION, "main:1")]
    assert league.downloads == [first, second]


def test_weights_that_are_others_are_not_served(league: FakeLeague, serving: Serving, tmp_path: Path) -> None:
    followed = follower(league, tmp_path, serving)
    followed.begin()
    second = league.add(2)
    league.promote(second)
    league.sends_instead[second] = league.versions[league.add(3)]
    with pytest.raises(LanistaError, match="other weights than those of main:2"):
        followed.look()
    del league.sends_instead[second]
    followed.look()
    assert serving.put_in == [(Arm.CHAMPION, "main:1"), (Arm.CHAMPION, "main:2")]


def test_it_goes_on_while_the_api_is_away_and_starts_from_the_disk(
    league: FakeLeague, serving: Serving, tmp_path: Path
) -> None:
    follower(league, tmp_path, serving).begin()
    league.away = True
    again = follower(league, tmp_path, serving)
    again.begin()
    assert serving.put_in == [(Arm.CHAMPION, "main:1")] * 2
    assert not again.state.api_reachable and "nobody answers" in again.state.problem
    league.away = False
    league.promote(league.add(2))
    again.look()
    assert serving.put_in[-1] == (Arm.CHAMPION, "main:2") and again.state.api_reachable


def test_a_start_without_api_and_without_anything_on_disk_fails(
    league: FakeLeague, serving: Serving, tmp_path: Path
) -> None:
    league.away = True
    with pytest.raises(LanistaError, match="nobody answers"):
        follower(league, tmp_path, serving).begin()


def test_an_alias_that_does_not_exist_is_an_error_even_where_one_is_on_disk(
    league: FakeLeague, serving: Serving, tmp_path: Path
) -> None:
    follower(league, tmp_path, serving).begin()
    with pytest.raises(LanistaError, match="no such thing"):
        follower(league, tmp_path, serving, Followed(project="board-games", alias="champoin")).begin()


def test_a_version_that_cannot_be_served_is_reported_and_tried_again_after_a_growing_pause(
    league: FakeLeague, serving: Serving, tmp_path: Path
) -> None:
    now, tries = 0.0, []

    def load(data: bytes, record: VersionRecord) -> ServedVersion:
        tries.append((now, record.name))
        return load_version(data, record)

    followed = AliasFollower(league.connect, CHAMPION, VersionCache(tmp_path), serving, load, clock=lambda: now)
    followed.begin()
    league.promote(league.add(2))
    serving.refuses = "another game"
    for moment in (1.0, 5.0, 11.0, 25.0, 31.0):
        now = moment
        followed.look()
    assert followed.state.refused == {Arm.CHAMPION: "main:2: another game"}
    assert tries[1:] == [(1.0, "main:2"), (11.0, "main:2"), (31.0, "main:2")]
    assert len(league.downloads) == 2
    serving.refuses = ""
    now = 71.0
    followed.look()
    assert followed.state.refused == {} and serving.put_in[-1] == (Arm.CHAMPION, "main:2")


@pytest.mark.parametrize("back", [True, False])
def test_a_refusal_ends_when_the_alias_names_another_version(
    league: FakeLeague, serving: Serving, tmp_path: Path, back: bool
) -> None:
    first = league.champion
    followed = follower(league, tmp_path, serving)
    followed.begin()
    league.promote(league.add(2))
    serving.refuses = "another game"
    followed.look()
    assert Arm.CHAMPION in followed.state.refused
    serving.refuses = ""
    league.promote(first if back else league.add(3))
    followed.look()
    assert followed.state.refused == {} and serving.put_in[-1] == (Arm.CHAMPION, "main:1" if back else "main:3")


def test_the_canary_is_served_beside_it(league: FakeLeague, serving: Serving, tmp_path: Path) -> None:
    canary = league.add(7)
    follower(league, tmp_path, serving, Followed(project="board-games", alias="champion", canary=canary)).begin()
    assert serving.put_in == [(Arm.CHAMPION, "main:1"), (Arm.CANARY, "main:7")]


def test_results_are_delivered_when_the_api_is_back(league: FakeLeague, serving: Serving, tmp_path: Path) -> None:
    followed = follower(league, tmp_path, serving)
    report = a_report()
    serving.reports = [report]
    league.away = True
    with pytest.raises(LanistaError):
        followed.deliver()
    league.away = False
    follower(league, tmp_path, serving).deliver()
    follower(league, tmp_path, serving).deliver()
    assert [sent["report_id"] for sent in league.reports] == [report.report_id]


@pytest.mark.parametrize(
    ("status", "kept"), [(401, True), (403, True), (429, True), (500, True), (400, False), (409, False), (422, False)]
)
def test_a_report_that_the_api_refuses_holds_up_no_other_and_is_kept_where_it_may_be_taken_later(
    league: FakeLeague, serving: Serving, tmp_path: Path, status: int, kept: bool
) -> None:
    refused, other = a_report(), a_report()
    serving.reports = [refused, other]
    league.refuse_reports = {refused.report_id: status}
    followed = follower(league, tmp_path, serving)
    followed.deliver()
    assert [sent["report_id"] for sent in league.reports] == [other.report_id]
    league.refuse_reports = {}
    followed.deliver()
    delivered = [sent["report_id"] for sent in league.reports]
    assert delivered == ([other.report_id, refused.report_id] if kept else [other.report_id])


def test_a_thread_follows_until_it_is_stopped_and_delivers_what_is_left(
    league: FakeLeague, serving: Serving, tmp_path: Path
) -> None:
    followed, stop = follower(league, tmp_path, serving), threading.Event()
    followed.begin()
    thread = threading.Thread(target=followed.run, args=(stop,))
    thread.start()
    league.away = True
    league.promote(league.add(2))
    league.away = False
    _wait_for(lambda: serving.put_in[-1] == (Arm.CHAMPION, "main:2"))
    serving.reports = [a_report()]
    stop.set()
    thread.join()
    assert len(league.reports) == 1


def test_the_project_is_found_by_the_api_or_on_disk(league: FakeLeague, tmp_path: Path) -> None:
    found = find_followed(league.connect, "champion", None, None, tmp_path)
    assert found.label == "board-games@champion"
    league.away = True
    with pytest.raises(LanistaError, match="no version of 'champion' is on disk"):
        find_followed(league.connect, "champion", None, None, tmp_path)
    (tmp_path / found.folder).mkdir()
    assert find_followed(league.connect, "champion", None, None, tmp_path) == found
    (tmp_path / "card-games@champion").mkdir()
    with pytest.raises(LanistaError, match="write board-games@champion or card-games@champion"):
        find_followed(league.connect, "champion", None, None, tmp_path)
    assert find_followed(league.connect, "other@champion", None, None, tmp_path).project == "other"


def _wait_for(condition: Any) -> None:
    waited = threading.Event()
    for _ in range(5_000):
        if condition():
            return
        waited.wait(0.002)
    raise AssertionError("it did not come")
