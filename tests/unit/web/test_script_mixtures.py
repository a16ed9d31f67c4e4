"""The map of opponents holds all of the chosen generation, and tells attempts apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.web.page_scripts import evaluated

PLAN = """
  const { mixtureMap, namedDecision, sumNote } = await import("./page/core/mixtures.js");
  const opponents = (shares) => Object.entries(shares).map(([player, probability]) => ({ player, probability }));
  const plan = (id, generation, attempt, shares) =>
    ({ id, generation, attempt, evidence: { plan: { opponents: opponents(shares) } } });
  const many = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`old-${at}`, 1 / 30]));
  const decisions = [plan(4, 17, 2, { late: 0.1, main: 0.9 }), plan(3, 17, 1, { early: 1 }), plan(2, 16, 1, many)];
  const shown = (decision) => {
    const { columns, chosen, rows, left } = mixtureMap(decisions, decision);
    return { columns: columns.map(({ name }) => name), chosen, rows, left };
  };
"""


def test_all_opponents_of_the_chosen_generation_have_a_row_and_the_rest_is_counted(tmp_path: Path) -> None:
    few, all_of_many = evaluated(tmp_path, PLAN + "return [shown(decisions[0]), shown(decisions[2])];")
    assert few["rows"][:2] == ["main", "late"], "rare ones too, by their share"
    assert len(few["rows"]) + few["left"] == 33
    assert len(all_of_many["rows"]) == 30 and all_of_many["left"] == 3, "however many they are"


def test_attempts_at_a_generation_are_told_apart_and_the_marked_one_is_shown(tmp_path: Path) -> None:
    last, first, named = evaluated(
        tmp_path,
        PLAN
        + """
  const attempts = decisions.slice(0, 2);
  const ids = [undefined, "", "1", "9"].map((each) => namedDecision(attempts, each).id);
  return [shown(decisions[0]), shown(decisions[1]), ids];""",
    )
    assert last["columns"] == first["columns"] == ["16", "17", "17, attempt 2"]
    assert (last["chosen"], first["chosen"]) == (2, 1)
    assert named == [4, 4, 3, 4], "without a number the last attempt"


def test_a_generation_before_those_that_are_drawn_has_a_column_too(tmp_path: Path) -> None:
    found = evaluated(tmp_path, PLAN + "return shown(plan(1, 3, 1, { ancient: 1 }));")
    assert found["columns"][0] == "3" and found["chosen"] == 0 and found["rows"][0] == "ancient"


@pytest.mark.parametrize(
    ("shares", "said"),
    [
        ("[0.5, 0.5]", "Together 100 %."),
        ("[1 / 3, 1 / 3, 1 / 3]", "Together 100 %; rounded as they are shown, 99.9 %."),
        ("[0.5, 0.43]", "Together 93.0 %; the other 7.0 % is not in the record."),
    ],
)
def test_the_table_says_what_its_rows_add_to(tmp_path: Path, shares: str, said: str) -> None:
    body = PLAN + f"return sumNote({shares}.map((probability) => ({{ probability }})));"
    assert evaluated(tmp_path, body) == said
