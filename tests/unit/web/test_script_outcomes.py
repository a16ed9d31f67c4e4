"""What the page says about how things ended."""

from __future__ import annotations

from pathlib import Path

from tests.unit.web.page_scripts import evaluated

FAILURES = """
const at = "2026-01-01T00:00:00Z";
const failures = [
  { at, outcome: "recovered", recovered_at: "2026-01-01T00:00:14Z", lost_steps: 20000 },
  { at, outcome: "lost", outcome_reason: "player retired", lost_steps: 0 },
  { at, outcome: "open", lost_steps: 8672 },
];
"""


def test_every_problem_has_an_outcome_and_the_summary_counts_them(tmp_path: Path) -> None:
    found = evaluated(
        tmp_path,
        FAILURES + 'const list = await import("./page/components/failure_list.js");'
        "const { outcomeText, failureSummary } = list;"
        "return [...failures.map(outcomeText), failureSummary(failures), failureSummary([failures[1]])];",
    )
    assert found == [
        "Made good 14 s later",
        "Lost for good: player retired",
        "Open: not made good so far",
        "3 problems: 1 made good, 1 lost for good, 1 open. Lost steps: 20,000 of problems made good, 8,672 of problems "
        "open; those made good were made again.",
        "1 problem: 1 lost for good. No steps of training were lost.",
    ]


def test_a_gate_that_failed_refused_its_candidate(tmp_path: Path) -> None:
    assert evaluated(
        tmp_path,
        'const { gateStatus, gateReason } = await import("./page/core/format.js");'
        'return [gateStatus("failed"), gateStatus("passed"), gateReason("the gate failed: LLR -2.97 reached -2.94")];',
    ) == ["refused", "passed", "refused: LLR \u22122.97 reached \u22122.94"]
