"""Pages state the recorded rows of `benchmarks.cluster` and no others."""

from __future__ import annotations

from benchmarks.cluster.page import PAGE, ROOT, page, pages, sentence, with_sentence

LEAGUE = {
    "generations": 9,
    "retried": 1,
    "gates": {"passed": 2},
    "most_crew_processes": {"node1": 1, "node2": 1},
    "median_steps_per_second": 12_345,
    "longest_gap_seconds": 4.5,
    "failures": ["crew_lost: the crew was lost\nmore"],
    "audit": 0,
}
TOLD = {"seen": True, "load_average": [1.2, 3.4]}
ROWS = {
    "node_killed": {**LEAGUE, **TOLD, "seconds_to_next_commit": {"main1": 2.0, "main2": 11.5}},
    "two_train_workers": {**TOLD, "leagues": [LEAGUE, LEAGUE], "audit": 0},
    "rolling_upgrade": {**LEAGUE, **TOLD, "served": {"old build": {"old": {"train_generation": 3, "play_games": 2}}}},
    "link_cut": {"seen": False, "problem": "TimeoutError", "load_average": [1, 1]},
}


def test_every_page_states_the_recorded_rows() -> None:
    found = pages()
    assert PAGE in found and ROOT / "docs" / "guides" / "cluster.md" in found
    wrong = [str(path) for path, text in found.items() if path.read_text(encoding="utf-8") != text]
    assert wrong == [], "run python -m benchmarks.cluster.page"


def test_the_sentence_names_what_was_not_seen() -> None:
    assert "3 of 14 rows were seen on hosts made of namespaces, with 36 generations: 3 of 3 audits clean." in sentence(
        ROWS
    )
    assert "After a node was killed the players committed again within 2, 11.5 s." in sentence(ROWS)
    assert "Not seen: one process" in sentence(ROWS) and "link cut" in sentence(ROWS)
    assert sentence({}) == "No row on several hosts is recorded yet."
    text = "<!-- cluster -->\n999 rows\n<!-- end of cluster -->\n"
    assert "999" not in with_sentence(text, ROWS)


def test_the_page_has_a_line_for_each_league() -> None:
    text = page(ROWS)
    line = "| 9 | 1 | 2 passed | node1 1, node2 1 | 12,345 | clean | 1 to 3 |"
    assert f"| node killed {line}" in text and text.count(f"| two train workers {line}") == 2
    assert "- node killed: seconds to next commit main1 2 s, main2 11.5 s" in text
    assert "longest time between two commits of a player 4.5 s" in text
    assert "- rolling upgrade: old build: old 3 generations and 2 other activities" in text
    assert "- node killed: `crew_lost: the crew was lost`" in text
    assert "| link cut" not in text
