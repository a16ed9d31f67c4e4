"""The pages about several trials in a real browser: table, comparison, search, editing, forking, and what viewers see.

They need no worker that trains, so the API of this folder serves them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from api.schemas.enums import Scope
from api.store.core.ids import new_id
from api.web.page_files import PAGE
from tests.e2e.browsing import Watched, open_browser, serious_problems
from tests.integration.api.league import ReadableLeague, readable_league
from tests.integration.api.server import Served
from tests.integration.api.test_sweeps import make as make_sweep
from tests.integration.api.test_trials import SPEC, make, reach, until


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def league(api: Served) -> ReadableLeague:
    return readable_league(api.sessions)


def signed_in(api: Served, browser: Browser, scope: Scope) -> BrowserContext:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, base_url=api.base)
    context.set_default_timeout(90_000)
    page = context.new_page()
    page.goto("/")
    page.get_by_label("Sign in with a token").fill(api.tokens[scope])
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    page.close()
    return context


@pytest.fixture(scope="module")
def as_operator(api: Served, browser: Browser) -> Iterator[BrowserContext]:
    with signed_in(api, browser, Scope.OPERATOR) as context:
        yield context


@pytest.fixture
def page(as_operator: BrowserContext) -> Iterator[Page]:
    """A page that must not have complained by the end of the test."""
    watched = Watched()
    opened = as_operator.new_page()
    watched.follow(opened)
    yield opened
    opened.close()
    watched.assert_clean()


def three(operator: httpx.Client) -> tuple[str, list[str]]:
    """A project with three paused trials: b, c and a."""
    project = f"p-{new_id()}"
    made = [
        make(operator, project=project, name=name, spec=SPEC | {"seed": 1, "algorithm": {"learning_rate": rate}})["id"]
        for name, rate in (("b", 0.001), ("c", 0.002), ("a", 0.001))
    ]
    for trial in made:
        reach(operator, trial, "paused")
    return project, made


def names(page: Page) -> Locator:
    return page.locator(".trial-table tbody a[href^='/trials/0']")


def test_the_table_is_sorted_by_the_server_and_acts_on_several(page: Page, operator: httpx.Client) -> None:
    project, _ = three(operator)
    page.goto(f"/trials?view=table&project={project}")
    expect(names(page)).to_have_text(["a", "c", "b"])
    page.get_by_role("button", name="Name").click()
    expect(names(page)).to_have_text(["a", "b", "c"])
    expect(page).to_have_url(re.compile("sort=name"))
    page.get_by_role("button", name="Name").click()
    expect(names(page)).to_have_text(["c", "b", "a"])
    expect(page.get_by_role("columnheader", name="Name")).to_have_attribute("aria-sort", "descending")
    for name in ("a", "c"):
        page.get_by_role("checkbox", name=f"Select {project}/{name}").check()
    bulk = page.get_by_role("group", name="Selected trials")
    expect(bulk).to_contain_text("2 trials selected")
    expect(bulk.get_by_role("button", name="Archive")).to_be_disabled()
    bulk.get_by_role("button", name="Stop").click()
    dialog = page.get_by_role("dialog", name="Stop 2 trials?")
    dialog.get_by_role("button", name="Stop 2").click()
    expect(dialog.get_by_role("list", name="Result for each trial")).to_contain_text(f"{project}/a ✓ stopping")
    expect(dialog.get_by_role("list", name="Result for each trial")).to_contain_text(f"{project}/c ✓ stopping")
    dialog.get_by_role("button", name="Close").click()
    expect(page.locator(".trial-table .badge", has_text="stopped")).to_have_count(2)
    assert serious_problems(page) == []
    page.get_by_role("checkbox", name="Select all shown trials").check()
    bulk.get_by_role("button", name="Archive").click()
    dialog = page.get_by_role("dialog", name="Archive 2 trials?")
    expect(dialog).to_contain_text("left as it is: paused")
    dialog.get_by_role("button", name="Archive 2").click()
    dialog.get_by_role("button", name="Close").click()
    expect(names(page)).to_have_text(["b"])


def test_the_result_of_a_refused_action_is_told_for_its_trial(page: Page, operator: httpx.Client) -> None:
    project, (first, *_) = three(operator)
    page.goto(f"/trials?view=table&project={project}&sort=name")
    page.get_by_role("checkbox", name=f"Select {project}/b").check()
    page.get_by_role("group", name="Selected trials").get_by_role("button", name="Stop").click()
    stop = f"**/api/v1/trials/{first}/stop"
    page.route(stop, lambda route: route.fulfill(status=200, content_type="application/json", body="no json"))
    dialog = page.get_by_role("dialog", name="Stop 1 trial?")
    dialog.get_by_role("button", name="Stop 1").click()
    expect(dialog.get_by_role("list", name="Result for each trial")).to_contain_text("✗")
    dialog.get_by_role("button", name="Close").click()


def test_a_trial_is_renamed_tagged_and_noted(page: Page, operator: httpx.Client) -> None:
    trial = make(operator, project=f"p-{new_id()}", name="first")
    reach(operator, trial["id"], "paused")
    page.goto(f"/trials/{trial['id']}")
    page.get_by_role("button", name="Edit").click()
    dialog = page.get_by_role("dialog", name="Edit first")
    dialog.get_by_label("Name").fill("second")
    dialog.get_by_label("Tags").fill("Baseline, gpu")
    dialog.get_by_label("Notes").fill("too slow\n<b>but</b> right")
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("second")
    expect(page.locator(".notes")).to_have_text("too slow\n<b>but</b> right")
    expect(page.get_by_role("main")).to_contain_text("formerly first")
    assert serious_problems(page) == []
    page.get_by_role("link", name="gpu").click()
    expect(page.get_by_role("link", name="second")).to_be_visible()
    stored = operator.get(f"/api/v1/trials/{trial['id']}").json()
    assert (stored["name"], stored["tags"], stored["notes"]) == (
        "second",
        ["baseline", "gpu"],
        "too slow\n<b>but</b> right",
    )


def test_the_system_page_names_hosts_with_problems_first_and_connections_that_fail(page: Page) -> None:
    page.goto("/system")
    hosts = page.get_by_role("region", name="Hosts").last.locator("tbody tr")
    expect(hosts.first).to_contain_text("late")
    expect(hosts.first.locator(".badge")).to_have_text("problem")
    expect(hosts.first).to_contain_text("behind Postgres'")
    cuts = page.get_by_role("region", name="Connections that fail").locator("tbody tr")
    expect(cuts).to_have_count(1)
    expect(cuts).to_contain_text("gateway 10.0.0.9:8820")
    assert serious_problems(page) == []


def test_everything_is_found_by_keyboard(page: Page, league: ReadableLeague, operator: httpx.Client) -> None:
    name = operator.get(f"/api/v1/trials/{league.trial_id}").json()["name"]
    page.goto("/system")
    expect(page.get_by_role("heading", name="System")).to_be_visible()
    page.keyboard.press("Control+k")
    box = page.get_by_role("combobox")
    expect(box).to_be_focused()
    box.type(f"{name} main")
    options = page.get_by_role("option")
    expect(options.filter(has_text="player")).not_to_have_count(0)
    assert serious_problems(page) == []
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    expect(page.get_by_role("option", selected=True)).to_have_count(1)
    expect(page.get_by_role("option", selected=True)).to_contain_text("player")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/players/"))
    page.keyboard.press("Control+k")
    page.get_by_role("combobox").type("sched")
    expect(page.get_by_role("option", name="page Schedules")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_fork_shows_what_differs_before_it_starts(page: Page, api: Served, operator: httpx.Client) -> None:
    parent = operator.get(f"/api/v1/trials/{readable_league(api.sessions).trial_id}").json()
    page.goto(f"/trials/{parent['id']}")
    page.get_by_role("link", name="Fork").click()
    editor = page.get_by_role("textbox", name="Trial file of the fork")
    expect(editor).to_have_value(re.compile(f"trial: {parent['name']}-fork"))
    text = editor.input_value()
    differences = page.get_by_role("region", name="Differences")
    start = page.get_by_role("button", name="Start the fork")
    expect(differences).to_contain_text("-fork")
    editor.fill(text.replace("id: tic_tac_toe", "id: connect_four"))
    expect(page.get_by_role("alert").filter(has_text="keeps its parent's game")).to_be_visible()
    expect(start).to_be_disabled()
    wanted = re.sub(r"^(  learning_rate: ).*$", r"\g<1>0.0125", text, flags=re.MULTILINE).replace("seed: ", "seed: 9")
    editor.fill(wanted)
    expect(differences.get_by_role("row", name="algorithm.learning_rate")).to_contain_text("0.0125")
    expect(differences.get_by_role("row", name="seed")).to_be_visible()
    assert serious_problems(page) == []
    start.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(f"{parent['name']}-fork")
    expect(page).not_to_have_url(re.compile("/fork$"))
    fork = page.url.rpartition("/")[2]
    made = operator.get(f"/api/v1/trials/{fork}").json()
    assert made["spec"]["algorithm"]["learning_rate"] == 0.0125
    assert made["forked_from_trial_id"] == parent["id"]
    page.get_by_role("link", name="compare with it").click()
    table = page.get_by_role("region", name="Differences")
    expect(table.get_by_role("row", name="algorithm.learning_rate").locator(".differs")).to_have_text("0.0125")


def test_what_was_typed_outlives_back_and_a_reload(page: Page, operator: httpx.Client) -> None:
    page.goto("/trials/new")
    editor = page.get_by_role("textbox", name="Trial file")
    original = editor.input_value()
    wrong = "project: e2e\ntrial: typed\ngame:\n  id: chess_on_mars\n"
    editor.fill(wrong)
    marked = page.locator(".line-numbers .wrong")
    expect(marked).to_have_text("4")
    expect(page.locator(".line-numbers li")).to_have_count(5)
    page.get_by_role("button", name="line 4").click()
    expect(editor).to_be_focused()
    assert editor.evaluate("area => area.value.slice(area.selectionStart, area.selectionEnd)") == "  id: chess_on_mars"
    assert serious_problems(page) == []
    page.get_by_role("link", name="Trials", exact=True).click()
    expect(page.get_by_role("heading", name="Trials", exact=True)).to_be_visible()
    page.go_back()
    expect(editor).to_have_value(wrong)
    expect(page.get_by_text("was restored")).to_be_visible()
    page.reload()
    expect(editor).to_have_value(wrong)
    page.get_by_role("button", name="Discard the draft").click()
    expect(editor).to_have_value(original)
    expect(page.get_by_text("was restored")).to_have_count(0)
    make(operator)
    page.goto("/tournaments/new")
    page.get_by_label("Name").fill("typed-too")
    page.get_by_label("Format").select_option("swiss")
    page.get_by_role("link", name="System").click()
    expect(page.get_by_role("heading", name="System")).to_be_visible()
    page.go_back()
    expect(page.get_by_label("Name")).to_have_value("typed-too")
    expect(page.get_by_label("Format")).to_have_value("swiss")


def test_a_sweep_is_checked_by_line_and_started(page: Page, operator: httpx.Client) -> None:
    page.goto("/sweeps/new")
    editor = page.get_by_role("textbox", name="Sweep file")
    start = page.get_by_role("button", name="Start the sweep")
    expect(page.get_by_text("This file is valid")).to_be_visible()
    text = editor.input_value()
    editor.fill("base: other.yaml\nspace: {}\n")
    expect(page.locator(".line-numbers .wrong")).to_have_text("1")
    expect(page.locator("#sweep-file-verdict")).to_contain_text("no file of yours can be read here")
    editor.fill(text.replace("method: random", "method: guess"))
    expect(page.locator(".line-numbers .wrong")).to_have_text("3")
    expect(start).to_be_disabled()
    name = f"s-{new_id()[-12:]}"
    editor.fill(text.replace("sweep: learning-rates", f"sweep: {name}"))
    assert serious_problems(page) == []
    start.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(name)
    page.get_by_role("group", name=f"Actions for {name}").get_by_role("button", name="Stop").click()
    page.get_by_label("Reason (recorded)").fill("enough seen")
    page.get_by_role("button", name="Stop permanently").click()
    expect(page.get_by_text(f"{name} is stopping.")).to_be_visible()
    sweep = operator.get(f"/api/v1/sweeps/{page.url.rpartition('/')[2]}").json()
    assert sweep["status"] in ("stopping", "stopped")


def test_trials_are_compared_over_steps_and_time(page: Page, league: ReadableLeague, operator: httpx.Client) -> None:
    _, trials = three(operator)
    page.goto(f"/compare?trials={league.trial_id},{','.join(trials)}")
    rating = page.locator("[data-keep='compare-rating']")
    expect(rating).to_have_attribute("data-drawn", "yes")
    assert rating.evaluate("place => place.data.filter((line) => line.hoverinfo !== 'skip').length") == 1
    steps = rating.evaluate("place => place.data.at(-1).x.at(-1)")
    page.locator("select[name=by]").select_option("time")
    expect(page).to_have_url(re.compile("by=time"))
    until(lambda: rating.evaluate("place => place.data.at(-1).x.at(-1)") != steps)
    page.get_by_label("Metric of the first main").select_option("loss")
    expect(page.locator("[data-keep='compare-metric']")).to_have_attribute("data-drawn", "yes")
    rows = page.get_by_role("region", name="Differences").get_by_role("row")
    expect(rows.filter(has_text="algorithm.learning_rate").locator(".differs")).not_to_have_count(0)
    assert serious_problems(page) == []
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as CSV").click()
    lines = saved.value.path().read_text().splitlines()
    assert lines[0] == "trial,player,metric,generation,steps,value"
    assert any(",rating,," in line for line in lines) and any('"loss"' in line for line in lines)
    page.goto(f"/compare?trials={trials[0]},{trials[2]}")
    expect(page.get_by_role("region", name="What differs in the files")).to_contain_text(
        "Nothing: the files are the same."
    )


CONCERNED = """async () => {
  const { onEvent } = await import("/static/pages/compare.js");
  const query = { trials: "a,b", tournament: "t" };
  const event = (type, trial_id, tournament_id) => ({ type, trial_id, payload: { tournament_id } });
  return [
    onEvent(event("generation.recorded", "b"), { query }),
    onEvent(event("generation.recorded", "c"), { query }),
    onEvent(event("pairing.played", null, "t"), { query }),
    onEvent(event("pairing.played", null, "u"), { query }),
    onEvent(event("ratings.fitted", null, "u"), { query }),
    onEvent(event("trial.status", "c"), { query: { trials: "a,b" } }),
  ];
}"""


def test_trials_are_added_one_after_another_and_only_their_events_count(page: Page, operator: httpx.Client) -> None:
    project, trials = three(operator)
    page.goto("/compare")
    picker = page.get_by_label("Add a trial")
    for count, name in enumerate(("a", "c", "b"), start=1):
        expect(picker).to_have_value("")
        picker.select_option(label=f"{project}/{name}")
        expect(page).to_have_url(re.compile(f"trials=[^&,]+(?:(?:,|%2C)[^&,]+){{{count - 1}}}$"))
        expect(picker.locator("option", has_text=f"{project}/{name}")).to_have_count(0)
    expect(picker).to_have_value("")
    rows = page.get_by_role("region", name="Trials").locator("tbody tr")
    expect(rows).to_have_count(len(trials))
    assert page.evaluate(CONCERNED) == [True, False, True, False, True, False]


def test_a_refresh_keeps_the_commit_that_was_typed_for_a_fork(
    page: Page, league: ReadableLeague, operator: httpx.Client
) -> None:
    trial = operator.get(f"/api/v1/trials/{league.trial_id}").json()
    page.goto(f"/trials/{trial['id']}/fork")
    field = page.get_by_label("At commit")
    expect(field).to_have_value(str(trial["last_commit"]))
    field.fill("0")
    field.blur()
    later = trial | {"last_commit": trial["last_commit"] + 1}
    page.route(f"**/api/v1/trials/{trial['id']}", lambda route: route.fulfill(json=later))
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(page.get_by_text(f"0 to {later['last_commit']}, the newest")).to_be_visible()
    expect(field).to_have_value("0")


HOLD = """
const [real, every] = [window.fetch, window.setInterval];
window.setInterval = (call, pause) => (pause === 3000 ? ((window.tick = call), 0) : every(call, pause));
window.held = [];
window.fetch = (url, options) => {
  if (!String(url).includes("/alerts/channels")) return real(url, options);
  const name = `load-${held.length + 1}`;
  const channel = { id: "c", name, enabled: true, failures: 0, kind: "webhook", target: "there", pending: 0 };
  return new Promise((resolve) => held.push(() => resolve(Response.json({ items: [channel], next_cursor: null }))));
};
new MutationObserver(() => (window.sawOlder ||= document.body?.textContent.includes("load-2")))
  .observe(document, { subtree: true, childList: true, characterData: true });
"""


def test_slow_loads_are_shown_in_order_and_do_not_pile_up(page: Page) -> None:
    page.add_init_script(HOLD)
    page.goto("/alerts")
    until(lambda: page.evaluate("held.length") == 1)
    expect(page.get_by_text("Loading …")).to_be_visible()
    page.evaluate("void [tick(), tick()]")
    assert page.evaluate("held.length") == 1, "an interval begins no load while another is under way"
    for count in (2, 3):
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        until(lambda count=count: page.evaluate("held.length") == count)
    page.evaluate("held[0]()")
    expect(page.get_by_role("cell", name="load-1", exact=True)).to_be_visible()
    page.evaluate("held[2]()")
    expect(page.get_by_role("cell", name="load-3", exact=True)).to_be_visible()
    page.evaluate("held[1]()")
    page.evaluate("void tick()")  # not to wait for the load
    until(lambda: page.evaluate("held.length") >= 4)
    page.evaluate("held[3]()")
    expect(page.get_by_role("cell", name="load-4", exact=True)).to_be_visible()
    assert not page.evaluate("window.sawOlder"), "what is older than the page never replaces it"


WRITES = re.compile(
    r"\b(start|new|create|pause|resume|stop|archive|fork|edit|rename|promote|roll back|rollback|cancel|delete|revoke"
    r"|trigger|add a|switch o\w+|retry|let the champions|add a player|retire|import)\b",
    re.I,
)
ROUTE = re.compile(r'^  \["(/[^"]*)", "[a-z_]+"\],$', re.MULTILINE)
ALLOWED = {"Start"}  # of a game against a version, which a viewer may play


def controls(page: Page) -> list[str]:
    """Buttons and links to forms, by the name that a person sees; examples only fill the editor."""
    found: list[str] = page.get_by_role("main").evaluate(
        """(main, which) => [...main.querySelectorAll(which)]
          .filter((each) => each.checkVisibility() && !each.disabled)
          .map((each) => (each.getAttribute("aria-label") || each.innerText || each.value).trim())""",
        "button:not(.choice), a.button, a[href$='/new'], a[href$='/fork'], [type=submit]",
    )
    return found


def every_page(known: Mapping[str, object]) -> list[str]:
    """The address of each page of the router whose parameters are known; others need a worker that plays, or a link."""
    routes = [route for route in ROUTE.findall((PAGE / "static/app.js").read_text()) if route != "/tensorboard"]
    fitting = [route for route in routes if set(re.findall(r":(\w+)", route)) <= known.keys()]
    return [re.sub(r":(\w+)", lambda found: str(known[found[1]]), route) for route in fitting]


def test_a_viewer_sees_no_control_that_would_be_refused(
    api: Served, browser: Browser, league: ReadableLeague, operator: httpx.Client
) -> None:
    made = reach(operator, make(operator)["id"], "paused")
    sweep = make_sweep(operator)
    tournament = operator.get("/api/v1/tournaments").json()["items"][0]["id"]
    main, rival = league.league.version_of("main"), league.league.version_of("rival")
    known = {
        "trial": league.trial_id,
        "player": main.player_id,
        "version": main.id,
        "opponent": rival.id,
        "match": league.match_ids[0],
        "tournament": tournament,
        "sweep": sweep["id"],
    }
    addresses = [
        *every_page(known),
        "/trials?view=table",
        f"/trials/{made['id']}",
        f"/trials/{made['id']}/fork",
        f"/compare?trials={league.trial_id},{made['id']}",
    ]
    assert {"/trials/new", f"/trials/{league.trial_id}/promotions", "/system"} <= set(addresses)
    refused: list[str] = []
    shown: list[str] = []
    with signed_in(api, browser, Scope.VIEWER) as context:
        page = context.new_page()
        page.on("response", lambda answer: refused.append(answer.url) if answer.status in (401, 403) else None)
        for address in addresses:
            page.goto(address)
            until(lambda: page.evaluate("performance.getEntriesByName('lanista-shown').length") > 0)
            shown += [f"{address}: {name}" for name in controls(page) if WRITES.search(name) and name not in ALLOWED]
        page.goto("/system")
        expect(page.get_by_role("heading", name="System")).to_be_visible()
        page.keyboard.press("Control+k")
        page.get_by_role("combobox").type("start")
        expect(page.get_by_role("status").filter(has_text="result")).to_be_visible()
        assert page.get_by_role("option", name="page Start").count() == 0
    operator.post(f"/api/v1/sweeps/{sweep['id']}/stop")
    assert shown == [] and refused == []
