"""The documentation is checked: every block of code and every command is read by a rule, every link leads somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.documentation.blocks import ROOT, Block, blocks_of, pages, prose_of
from benchmarks.documentation.check import problems
from benchmarks.documentation.commands import commands_in, problems_of_mention, problems_of_script
from benchmarks.documentation.links import problems_of_links
from benchmarks.documentation.rules import NOT_CHECKED, RULES, problems_of_block
from benchmarks.documentation.running import problems_of_running


def block(language: str, text: str) -> Block:
    return Block(page=ROOT / "README.md", line=1, language=language, text=text)


def test_there_is_nothing_wrong_with_any_page() -> None:
    assert [problem for page in pages() for problem in problems(page)] == []


def test_every_language_without_a_rule_names_what_checks_it() -> None:
    assert {name for name, rule in RULES.items() if rule.__name__ == "_left_out"} == set(NOT_CHECKED) - {"text"}


@pytest.mark.parametrize(
    ("language", "text", "wrong"),
    [
        ("", "anything", "no rule for the language"),
        ("python", "def f(:", "does not read it"),
        ("python", "from lanista.games import make_gmae", "has no make_gmae"),
        ("python", "import lanista.gmaes", "no module lanista.gmaes"),
        ("yaml", "game: {id: connect_four}\nbudgett: {steps: 1}", "neither a trial file"),
        ("yaml", "algorithm: {id: ppo, learning_rat: 1}", "learning_rat"),
        ("yaml", "project: p\ngame: {id: tic_tac_toe}\nformat: swiss\nentrants: [lates]", "lates"),
        ("sh", "for x in 1 2; do", "bash does not read it"),
        ("sh", "lanista trial strat examples/pfsp.yaml", "strat"),
        ("sh", "lanista trial start examples/pfsp.yaml --wach", "--wach"),
        ("sh", "lanista trial start", "FILE"),
        ("sh", "lanista try examples/missing.yaml", "examples/missing.yaml does not exist"),
        ("sh", "cd x && make tset", "no target tset"),
        ("sh", "python -m benchmarks.nothing", "no module benchmarks.nothing"),
        ("sh", "pip install 'lanista[stak]'", "no extra stak"),
        ("sh", "frobnicate", "no rule for the program"),
        ("console", "lanista up", "no line has the prompt"),
        ("console", "$ lanista down --force\nstopped", "--force"),
        ("json", "{", "no JSON"),
        ("toml", "prot = 1", "prot is no setting"),
        ("text", "lanista up", "a command in a block of text"),
    ],
)
def test_what_is_wrong_in_a_block_is_found(language: str, text: str, wrong: str) -> None:
    assert any(wrong in problem for problem in problems_of_block(block(language, text))), problems_of_block(
        block(language, text)
    )


def test_right_commands_are_right() -> None:
    script = (
        "LANISTA_HOME=x .venv/bin/lanista up --detach  # in the background\nlanista trial list --json | jq '.[0]' > out"
    )
    assert problems_of_script(script) == []
    assert list(commands_in(script))[1:] == [["lanista", "trial", "list", "--json"], ["jq", ".[0]"]]


def test_commands_in_sentences_are_checked() -> None:
    assert problems_of_mention("lanista trial show TRIAL --file") == []
    assert problems_of_mention("lanista trial") == []
    assert "no command shwo" in problems_of_mention("lanista trial shwo")[0]
    assert "no option --fiel" in problems_of_mention("lanista trial show TRIAL --fiel")[0]


def test_links_that_lead_nowhere_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        '# A page\n\n## Two, three: four\n\n[x](other.md) [y](#two-three-four) [z](#two) <img src="no.png">\n'
        "```sh\n[not](a-link.md)\n```\n"
    )
    assert [problem.partition(":5: ")[2].partition(":")[0] for problem in problems_of_links(page)] == [
        "other.md",
        "#two",
        "no.png",
    ]
    assert "not" not in prose_of(page)


def test_marked_blocks_run_with_the_files_of_their_page(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "<!-- file: own.py -->\n```python\nVALUE = 3\n```\n\n<!-- run -->\n```console\n$ cat own.py\nVALUE = 3\n```\n\n"
        "<!-- run -->\n```python\nfrom own import VALUE\n\nassert VALUE == 4, VALUE\n```\n\n"
        "```python\nraise SystemExit\n```\n"
    )
    (found,) = problems_of_running(page)
    assert found.startswith(f"{page}:13: ended with 1") and "AssertionError: 3" in found
    assert [one.runs for one in blocks_of(page)] == [False, True, True, False]


def test_the_cpp_of_the_guides_calls_what_the_client_has() -> None:
    header = (ROOT / "clients/cpp/lanista_gamecore.hpp").read_text(encoding="utf-8")
    shown = [one.text for page in pages() for one in blocks_of(page) if one.language == "cpp"]
    called = {name for text in shown for name in re.findall(r"(?:gateway\.|lanista::)(\w+)", text)}
    assert {"Gateway", "start", "tick", "end"} <= called
    assert [name for name in called if not re.search(rf"\b{name}\b", header)] == []
