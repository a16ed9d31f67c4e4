"""The last known versions on disk."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from workers.serving.comparison import Arm, Comparison
from workers.serving.version_cache import KEPT, VersionCache
from workers.serving.versions import VersionRecord


def stored(cache: VersionCache, number: int) -> VersionRecord:
    data = f"weights {number}".encode()
    record = VersionRecord(id=str(number), name=f"main:{number}", sha256=hashlib.sha256(data).hexdigest(), revision=2)
    cache.place(record.sha256).write_bytes(data)
    os.utime(cache.folder / "versions" / f"{record.sha256}.safetensors", (number, number))
    return record


def test_what_was_put_is_there_for_the_next_process(tmp_path: Path) -> None:
    record = stored(VersionCache(tmp_path), 1)
    VersionCache(tmp_path).put(Arm.CHAMPION, record)
    again = VersionCache(tmp_path)
    assert again.last(Arm.CHAMPION) == record and again.last(Arm.CANARY) is None
    assert again.weights(record.sha256) == b"weights 1"
    again.forget(Arm.CHAMPION)
    assert again.last(Arm.CHAMPION) is None


def test_damaged_files_are_as_good_as_none(tmp_path: Path) -> None:
    cache = VersionCache(tmp_path)
    record = stored(cache, 1)
    (tmp_path / "versions" / f"{record.sha256}.safetensors").write_bytes(b"cut sho")
    (tmp_path / "champion.json").write_text('{"id": "1"')
    assert cache.weights(record.sha256) is None and cache.last(Arm.CHAMPION) is None


def test_old_weights_are_removed_and_those_in_use_stay(tmp_path: Path) -> None:
    cache = VersionCache(tmp_path)
    canary = stored(cache, 0)
    cache.put(Arm.CANARY, canary)
    records = []
    for number in range(1, KEPT + 4):
        records.append(stored(cache, number))
        cache.put(Arm.CHAMPION, records[-1])
    kept = [record for record in records if cache.weights(record.sha256) is not None]
    assert kept == records[-KEPT - 1 :], "the present one, and as many before it as are kept"
    assert cache.weights(canary.sha256) is not None


def test_reports_stay_until_they_are_delivered(tmp_path: Path) -> None:
    compared = Comparison("one", "two")
    compared.add(Arm.CANARY, 1.0)
    report = compared.take()
    assert report is not None
    VersionCache(tmp_path).keep_report(report)
    assert VersionCache(tmp_path).undelivered() == [report]
    VersionCache(tmp_path).delivered(report)
    assert VersionCache(tmp_path).undelivered() == []


def test_what_a_killed_download_left_is_removed_and_one_under_way_stays(tmp_path: Path) -> None:
    cache = VersionCache(tmp_path)
    record = stored(cache, 1)
    left, under_way = (tmp_path / "versions" / f"{name}.partial" for name in ("a", "b"))
    for path in (left, under_way):
        path.write_bytes(b"half")
    os.utime(left, (1, 1))
    cache.put(Arm.CHAMPION, record)
    assert under_way.exists() and not left.exists()
