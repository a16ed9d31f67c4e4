"""Pages state the recorded figures of durability and no others."""

from __future__ import annotations

from benchmarks.faults.durability_page import PAGE, ROOT, page, pages, peer, sentence, with_sentence

AUDIT = {"after": 2, "lost": 0, "doubled": 0, "orphaned": 0, "damaged": 0, "ok": True}
ROW = {
    "piece": 1,
    "ground": "two hosts",
    "commit": "abc",
    "faults": [
        {"kind": "network cut", "recovery_s": 2.0, "load": 1.0},
        {"kind": "api", "recovery_s": 40.0, "load": 30.0},
    ],
    "audits": [AUDIT],
    "generations": 1200,
    "seconds": 100.0,
    "steps": 500,
    "calm_steps_s": 10,
}


def test_every_page_states_the_recorded_figures() -> None:
    found = pages()
    assert PAGE in found and ROOT / "docs" / "benchmarks.md" in found
    wrong = [str(path) for path, text in found.items() if path.read_text(encoding="utf-8") != text]
    assert wrong == [], "run python -m benchmarks.durability_page"


def test_another_figure_is_found() -> None:
    text = "# Claims\n\n<!-- durability -->\n9,000 faults\n<!-- end of durability -->\n"
    corrected = with_sentence(text, [ROW])
    assert "9,000" not in corrected and "2 faults of 2 kinds in 1 leagues, 1,200 generations: lost 0" in corrected
    assert with_sentence(corrected, [ROW]) == corrected


def test_busy_and_idle_machines_are_told_apart() -> None:
    assert "after 21.0 s (median), 40.0 s at most" in sentence([ROW])
    assert "On an otherwise idle machine (1 of them) it was 2.0 s and 2.0 s" in sentence([ROW])
    busy = {**ROW, "faults": [{**fault, "load": 30.0} for fault in ROW["faults"]]}  # type: ignore[attr-defined]
    assert sentence([busy]).endswith("busy with other work.")
    assert "no recorded piece yet" in sentence([])


def test_the_page_has_a_line_for_each_kind_and_piece() -> None:
    text = page([ROW], {})
    assert "| network cut | 1 | 2.0 s | 2.0 s | 1 to 1 |" in text
    assert "| 1 | two hosts | abc | 2 | 1,200 | 1 of 1 | 1 to 30 |" in text
    assert "| 1 of 1 | 1 to 30, alone |" in page([{**ROW, "alone": True}], {})


def test_the_peers_row_counts_what_was_lost() -> None:
    killed = {
        "kind": "driver",
        "by_itself": False,
        "seconds": 30.5,
        "person": ["notice it", "restore"],
        "load": 2.0,
        "steps_before": 9000,
        "steps_saved": 8000,
        "members_before": ["main", "main_1"],
        "members_after": ["main"],
    }
    row = "| RLlib | driver | 1 | 0 of 1 | 30.5 s | 1,000 | 1 of 2 | notice it, restore | 2 to 2 |"
    assert row in peer({"driver, 1": killed}, [])
    assert "No kill of it is recorded yet." in peer({}, [])


def test_the_same_part_of_lanista_stands_beside_the_peers() -> None:
    killed = {"kind": "driver", "by_itself": True, "seconds": 3.0, "person": [], "load": 2.0, "steps_before": 1}
    killed |= {"steps_saved": 1, "members_before": ["main"], "members_after": ["main"]}
    faults = [{"kind": "train-worker", "recovery_s": wait, "load": 1.0} for wait in (2.0, 4.0)]
    own = [{**ROW, "faults": faults}]
    assert "| Lanista | train-worker | 2 | 2 of 2 | 3.0 s | 0 | 0 | nothing | 1 to 1 |" in peer({"a": killed}, own)
