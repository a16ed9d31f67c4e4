"""Replays and games of people on the page, drawn and answered by a real worker."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from PIL.GifImagePlugin import GifImageFile
from playwright.sync_api import Page, expect

from tests.e2e.browsing import serious_problems
from tests.e2e.leagues import QUICK, League, finished, players, start, wait_until
from tests.e2e.stack import LocalStack

MOST_MOVES = 42


def test_a_recorded_game_is_replayed_with_what_the_mover_thought(page: Page, league: League, stack: LocalStack) -> None:
    path = f"/matches/{league.match}"
    match = stack.call("GET", path)
    replay = stack.call("GET", f"{path}/replay?annotate={league.version}")
    last = len(replay["positions"]) - 1
    assert last == match["plies"] > 4
    page.goto(f"{path}?ply={match['seat']}")
    mine = replay["positions"][match["seat"]]
    policy = page.get_by_role("list", name="Policy")
    expect(policy.get_by_role("listitem")).to_have_count(len(mine["legal"][0]))
    shown = [float(text.removesuffix(" %")) for text in policy.locator(".number").all_inner_texts()]
    thought = sorted((100 * each["probability"] for each in mine["legal"][0]), reverse=True)
    assert shown == pytest.approx(thought, abs=0.051), "one digit after the point"
    expect(page.get_by_label("Policy and value", exact=True).locator(".value")).to_have_text(
        f"{'+' if mine['value'] >= 0 else '−'}{abs(mine['value']):.2f}"
    )
    rows = page.get_by_role("list", name="Every move").get_by_role("button")
    expect(rows).to_have_count(last)
    texts = rows.all_inner_texts()
    opening = replay["opening_plies"]
    assert opening == 2, "that of tic-tac-toe"
    assert all("random" in text and "%" not in text for text in texts[:opening]), "nobody chose these"
    assert all(re.search(r"\d %", text) for text in texts[opening:]), "each other move with its probability"


def test_a_replay_is_walked_by_keyboard_buttons_and_slider(page: Page, league: League, stack: LocalStack) -> None:
    last = stack.call("GET", f"/matches/{league.match}")["plies"]
    page.goto(f"/matches/{league.match}")
    expect(page.get_by_alt_text("The position after 0 moves")).to_be_visible()
    moves = page.get_by_role("group", name="Moves")
    page.keyboard.press("ArrowRight")
    expect(moves).to_contain_text(f"1 of {last}")
    page.get_by_role("button", name="Next move").click()
    expect(moves).to_contain_text(f"2 of {last}")
    page.get_by_label("Position", exact=True).fill("3")
    expect(page.get_by_alt_text("The position after 3 moves")).to_be_visible()
    page.keyboard.press("End")
    expect(page.get_by_role("main")).to_contain_text("The game is over")
    match = stack.call("GET", f"/matches/{league.match}")
    winner = {"win": match["player"], "loss": match["opponent"], "draw": "A draw"}[match["result"]]
    expect(page.get_by_role("heading", level=1)).to_contain_text(winner)
    assert f"ply={last}" in page.url
    page.get_by_label("Annotated by").select_option("nobody")
    page.get_by_role("button", name="First position").click()
    expect(page.get_by_alt_text("The position after 0 moves")).to_be_visible()
    expect(page.get_by_role("list", name="Policy")).to_be_hidden()


def test_a_replay_plays_by_itself_and_its_list_follows(page: Page, league: League, stack: LocalStack) -> None:
    last = stack.call("GET", f"/matches/{league.match}")["plies"]
    page.goto(f"/matches/{league.match}?speed=4")
    moves = page.get_by_role("group", name="Moves")
    page.get_by_role("button", name="▶ Play").click()
    expect(moves).to_contain_text(f"{last} of {last}")
    expect(page.get_by_role("button", name="▶ Play")).to_be_visible()  # it has stopped at the end
    current = page.get_by_role("list", name="Every move").locator("[aria-current]")
    expect(current).to_contain_text(f"{last}.")
    page.add_style_tag(content=".moves { max-height: 3rem }")
    page.keyboard.press("Home")
    expect(moves).to_contain_text(f"0 of {last}")
    page.keyboard.press("End")
    expect(current).to_contain_text(f"{last}.")
    expect(current).to_be_in_viewport(ratio=0.5)
    page.keyboard.press("Home")
    page.get_by_label("Speed").select_option("0.5")
    page.get_by_role("heading", level=1).click()
    page.keyboard.press(" ")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    page.keyboard.press(" ")
    expect(page.get_by_role("button", name="▶ Play")).to_be_visible()
    assert serious_problems(page) == []


def test_a_replay_is_saved_as_gif_and_svg(page: Page, league: League, stack: LocalStack) -> None:
    positions = stack.call("GET", f"/matches/{league.match}/replay")["positions"]
    page.goto(f"/matches/{league.match}?ply=99")
    with page.expect_download() as gif:
        page.get_by_role("button", name="Save GIF").click()
    assert gif.value.suggested_filename == f"game-{league.match}.gif"
    with Image.open(gif.value.path()) as film:
        assert isinstance(film, GifImageFile) and film.n_frames == len(positions)
        film.seek(film.n_frames - 1)
        colours = {colour for _, colour in film.convert("RGB").getcolors(1 << 16) or []}
    assert any(red > 200 and green < 60 and blue < 60 for red, green, blue in colours), "the stones of the first seat"
    with page.expect_download() as svg:
        page.get_by_role("button", name="Save SVG").click()
    assert Path(svg.value.path()).read_text() == positions[-1]["svg"]


def test_a_game_is_played_on_from_a_replay_and_kept_apart(page: Page, league: League, stack: LocalStack) -> None:
    rated = stack.call("GET", f"/trials/{league.trial}/matches?limit=1")
    page.goto(f"/matches/{league.match}?ply=3")
    page.get_by_role("button", name="Play from here").click()
    expect(page.locator(".say")).to_have_text("Your move.")
    expect(page.get_by_alt_text("The position after 3 moves")).to_be_visible()
    expect(page.get_by_role("main")).to_contain_text(f"Games start from game #{league.match} after 3 actions")
    assert play_on(page, by_mouse)
    page.get_by_role("link", name="Watch the replay").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile("won|draw"))
    kept = stack.call("GET", f"/trials/{league.trial}/people-games")["items"][0]
    assert kept["start"] == {"match_id": league.match, "moves": 3}
    assert stack.call("GET", f"/play/{kept['id']}/replay")["positions"][3]["text"]
    page.goto(f"/trials/{league.trial}/matches")
    listed = page.get_by_role("region", name="Games of people").get_by_role("row")
    expect(listed.nth(1)).to_contain_text(f"game #{league.match} after 3 actions")
    assert serious_problems(page) == []
    assert stack.call("GET", f"/trials/{league.trial}/matches?limit=1") == rated


def by_mouse(page: Page) -> None:
    page.locator('.squares button[aria-disabled="false"]').first.click()


def by_number(page: Page) -> None:
    action = page.locator('.squares button[aria-disabled="false"]').first.get_attribute("data-action")
    assert action is not None
    page.keyboard.press(str(int(action) + 1))


def by_arrows(page: Page) -> None:
    """From the first square on, to the first one that is free."""
    squares = page.locator(".squares button")
    squares.first.focus()
    for place in range(squares.count()):
        if squares.nth(place).get_attribute("aria-disabled") == "false":
            break
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")


def play_on(page: Page, move: Callable[[Page], None]) -> str:
    """Play to the end; what the page says of the outcome."""
    say = page.locator(".say")
    for _ in range(MOST_MOVES):
        expect(say).to_have_text(re.compile("Your move|You won|You lost|A draw"))
        if say.get_attribute("data-outcome") is not None:
            return say.inner_text()
        before = page.locator(".board img").get_attribute("alt")
        assert before is not None
        move(page)
        expect(page.locator(".board img")).not_to_have_attribute("alt", before)
    raise AssertionError("the game does not end")


@pytest.mark.parametrize("move", [by_mouse, by_number, by_arrows])
def test_a_whole_game_against_a_version(page: Page, league: League, move: Callable[[Page], None]) -> None:
    page.goto(f"/play/{league.version}?seat=1")
    page.get_by_role("button", name="Start").click()
    expect(page.locator(".squares button").first).to_be_focused()  # from here on the keys are for the board
    expect(page.get_by_role("main")).to_contain_text("plays its most probable move")
    assert play_on(page, move) in ("You won.", "You lost.", "A draw.")
    expect(page.get_by_role("main")).to_contain_text("The game is over")
    assert serious_problems(page) == []
    page.get_by_role("button", name="Play again").click()
    expect(page.locator(".say")).to_have_text("Your move.")


@pytest.mark.parametrize("width", [1280, 390], ids=["wide", "narrow"])
def test_a_whole_game_against_a_bot_by_clicking_columns(page: Page, league: League, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(f"/play/{league.four_in_a_row}")
    page.get_by_role("button", name="Start").click()
    expect(page.locator(".squares button")).to_have_count(7)
    assert serious_problems(page) == []
    page.reload()
    expect(page.locator(".say")).to_have_text("Your move.")  # the game is found again by its address
    page.get_by_role("button", name="New game").click()
    page.get_by_role("button", name="column 4").click()
    expect(page.get_by_alt_text("The position after 2 moves")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert play_on(page, by_mouse)


def test_an_opponent_is_chosen_on_the_page(page: Page, league: League) -> None:
    page.goto(f"/play/{league.version}")
    page.get_by_label("Opponent").select_option(league.bot)
    expect(page.get_by_role("heading", name="You against random v0")).to_be_visible()
    page.get_by_role("button", name="Start").click()
    assert play_on(page, by_number)


BOTS: dict[str, Any] = {
    "start": "paused",
    "league": {
        "preset": "self_play",
        "players": [
            {"name": "main", "role": "main"},
            {"name": "random", "role": "bot", "bot": "random"},
        ],
        "champion_gate": None,
    },
}


def test_a_game_too_long_for_one_message_is_shown_while_it_loads(page: Page, stack: LocalStack) -> None:
    spec = {**BOTS, **QUICK, "game": {"id": "slime_volley"}, "start": "running", "budget": {"steps": 4_000}}
    trial = start(stack, spec)
    wait_until(lambda: finished(stack, trial))
    made = stack.call("GET", f"/trials/{trial}")
    cup = {"trial": made["name"], "entrants": ["latest", "bots"], "games": 2}
    held = stack.call("POST", "/tournaments", {"project": made["project"], "spec": cup})["id"]
    wait_until(lambda: stack.call("GET", f"/tournaments/{held}")["status"] == "completed")
    match = max(stack.call("GET", f"/trials/{trial}/matches")["items"], key=lambda each: each["plies"])
    path = f"/matches/{match['id']}/replay"
    assert stack.call("GET", f"{path}?first=0")["next"] is not None, "it comes in parts"
    whole = stack.call("GET", path)
    last = len(whole["positions"]) - 1
    assert whole["positions"][-1]["done"] and whole["notation"] and whole["next"] is None
    page.goto(f"/matches/{match['id']}")
    expect(page.get_by_role("group", name="Moves")).to_contain_text(f"0 of {last}")
    expect(page.get_by_role("heading", level=1)).not_to_contain_text("loading")
    expect(page.get_by_label("Speed")).to_have_value("30")
    page.keyboard.press("End")
    expect(page.get_by_role("list", name="Every move").locator("[aria-current]")).to_contain_text(f"{last}.")
    expect(page.get_by_role("list", name="Every move")).to_contain_text("earlier moves")
    assert serious_problems(page) == []


def test_a_game_of_openspiel_is_played_on_its_board(page: Page, stack: LocalStack) -> None:
    trial = start(stack, {**BOTS, "game": {"id": "openspiel", "game": "hex(board_size=3)"}})
    page.goto(f"/play/{players(stack, trial)['random']['version_id']}")
    page.get_by_role("button", name="Start").click()
    page.get_by_role("button", name="cell b2", exact=True).click()
    expect(page.get_by_role("button", name="cell b2, not legal")).to_be_visible()
    expect(page.get_by_text("Moves: b2")).to_be_visible()
    assert serious_problems(page) == []
