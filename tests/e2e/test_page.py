"""The page's frame: signing in, addresses, colours, and what it says when something is wrong."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Browser, expect

from api.schemas.events import KINDS, Progress, read_event
from api.web.live.feed import frame_of
from tests.e2e.browsing import Watched, sign_in
from tests.e2e.stack import LocalStack


@pytest.mark.parametrize("width", [1280, 360], ids=["wide", "narrow"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_shows_every_part_without_a_complaint(
    stack: LocalStack, browser: Browser, scheme: str, width: int
) -> None:
    watched = Watched()
    page = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 800})  # type: ignore[arg-type]
    watched.follow(page)
    page.goto(stack.page)
    expect(page.locator("#summary")).to_have_text("All parts are ready.")
    for part in ("postgres", "temporal", "ray"):
        expect(page.locator(f'[data-part="{part}"] .state')).to_have_text("ready")
    expect(page.get_by_label("Sign in with a token")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width, "nothing may stick out sideways"
    page.close()
    watched.assert_clean()


def test_signing_in_lasts_and_shows_the_link_to_tensorboard(stack: LocalStack, browser: Browser) -> None:
    watched = Watched()
    context = browser.new_context()
    page = context.new_page()
    watched.follow(page)
    sign_in(page, stack)
    page.get_by_role("link", name="System").click()
    link = page.get_by_role("link", name="TensorBoard")
    expect(link).to_be_visible()
    gateways = page.get_by_role("region", name="Gateways")
    expect(gateways.get_by_role("table", name="Gateway processes").get_by_text("alive")).to_be_visible(timeout=30_000)
    page.reload()
    expect(link).to_be_visible()
    watched.assert_clean()
    address = link.get_attribute("href")
    assert address is not None
    page.goto(address)
    expect(page).to_have_title("TensorBoard")
    expect(page.get_by_role("button", name="Settings").or_(page.get_by_text("No dashboards")).first).to_be_visible()
    assert page.evaluate("self.origin") == "null", "what user code wrote into charts must not act as the page"
    page.goto(f"{stack.page}/tensorboard")
    expect(page).to_have_title("TensorBoard")
    page.goto(stack.page)
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("Sign in with a token")).to_be_visible()
    refused = page.goto(address)
    assert refused is not None and refused.status == 401, "the link ends with the session"
    context.close()


def test_signing_out_forgets(stack: LocalStack, browser: Browser) -> None:
    watched = Watched()
    context = browser.new_context()
    page = context.new_page()
    watched.follow(page)
    sign_in(page, stack)
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("Sign in with a token")).to_be_visible()
    page.reload()
    expect(page.get_by_label("Sign in with a token")).to_be_visible()
    assert context.cookies() == []
    context.close()
    watched.assert_clean()


def test_a_wrong_token_is_refused_in_words(stack: LocalStack, browser: Browser) -> None:
    page = browser.new_page()
    page.goto(stack.page)
    page.get_by_label("Sign in with a token").fill("lanista_wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("unknown, expired or revoked")
    page.close()


def test_an_address_of_something_that_is_not_there_says_so(stack: LocalStack, browser: Browser) -> None:
    context = browser.new_context()
    page = context.new_page()
    sign_in(page, stack)
    page.goto(f"{stack.page}/trials/00000000-0000-4000-8000-000000000000")
    expect(page.get_by_role("heading", name="Not found")).to_be_visible()
    expect(page.get_by_role("alert")).to_contain_text("there is no trial")
    page.goto(f"{stack.page}/trials/a/b/c/d")
    expect(page.get_by_role("main")).to_contain_text("No page has the address /trials/a/b/c/d")
    context.close()


def test_the_chosen_colours_stay(stack: LocalStack, browser: Browser) -> None:
    context = browser.new_context(color_scheme="light")
    page = context.new_page()
    page.goto(stack.page)
    background = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(background)
    for name in ("Theme: auto. Change", "Theme: light. Change"):
        page.get_by_role("button", name=name).click()
    dark = page.evaluate(background)
    assert dark != light
    page.reload()
    assert page.evaluate(background) == dark
    context.close()


def sign_in_link(stack: LocalStack) -> str:
    printed = stack.up_on_a_terminal()
    found = re.search(r"http://\S+/signin#code=[\w.-]+", printed)
    assert found, printed
    return found[0]


def test_the_link_of_lanista_up_signs_in_once(stack: LocalStack, browser: Browser) -> None:
    link = sign_in_link(stack)
    watched = Watched()
    context = browser.new_context()
    page = context.new_page()
    watched.follow(page)
    page.goto(link)
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    assert page.url == f"{stack.page}/trials", "the code stays in no address"
    watched.assert_clean()
    context.close()
    stranger = browser.new_context()
    page = stranger.new_page()
    page.goto(link)
    expect(page.get_by_role("alert")).to_contain_text("was used before")
    stranger.close()
    code = link.partition("code=")[2]
    logged = [log.name for log in stack.home.logs.iterdir() if code in log.read_text(errors="replace")]
    assert logged == []
    assert "code=" not in stack.up().stdout, "what is redirected may be kept"


def test_a_link_asks_before_it_replaces_a_session(stack: LocalStack, browser: Browser) -> None:
    link = sign_in_link(stack)
    context = browser.new_context()
    page = context.new_page()
    sign_in(page, stack)
    before = context.cookies()
    page.goto(link)
    question = page.get_by_role("dialog", name="Sign in again?")
    question.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    assert context.cookies() == before
    page.goto(link)
    question.get_by_role("button", name="Sign in again").click()
    expect(question).to_be_hidden()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    after = context.cookies()
    assert after != before
    page.goto(link)
    question.get_by_role("button", name="Sign in again").click()
    expect(page.locator("#toasts")).to_contain_text("was used before")
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    assert context.cookies() == after, "a code of no use ends no session"
    context.close()


FORM = """async () => {
  const { h, patchChildren } = await import("/static/core/dom.js");
  const form = h("form");
  const options = () => ["a", "b", "c"].map((value) => h("option", { value }, value));
  const show = (value) => patchChildren(form, [h("input", { value }), h("select", { value }, options())]);
  show("a");
  const [input, select] = form.children;
  const seen = [];
  const note = () => seen.push([input.value, select.value]);
  input.value = "typed";
  select.value = "b";
  show("a");
  note();
  show("c");
  note();
  return seen;
}"""


def test_a_refresh_keeps_what_was_typed_and_brings_what_has_changed(stack: LocalStack, browser: Browser) -> None:
    page = browser.new_page()
    page.goto(stack.page)
    assert page.evaluate(FORM) == [["typed", "b"], ["c", "c"]]
    page.close()


LRU = """async () => {
  const { LruCache } = await import("/static/core/lru_cache.js");
  const cache = new LruCache(2);
  cache.set("a", 1);
  cache.set("b", 2);
  cache.get("a");
  cache.set("c", 3);
  return [cache.size, cache.get("a") ?? null, cache.get("b") ?? null, cache.get("c") ?? null];
}"""

COMMITS = """async () => {
  const { load, details } = await import("/static/pages/trials.js");
  const answer = (path, commit) => path.endsWith("/trials") ? [{ id: "t", project: "p", last_commit: commit }] : [];
  for (let size = -1; size !== details.size; await new Promise((resolve) => setTimeout(resolve, 500)))
    size = details.size; // the page loads the details of the stack's own trials: wait for them
  const seen = [];
  for (const commit of [1, 2, 3]) {
    window.fetch = async (url) => Response.json({ items: answer(new URL(url, location).pathname, commit) });
    await new Promise((resolve) => load({ query: {}, redraw: resolve }));
    seen.push([details.size, details.get("t").commit]);
  }
  return seen;
}"""


def test_the_list_of_trials_keeps_one_entry_per_trial_however_often_it_commits(
    stack: LocalStack, browser: Browser
) -> None:
    context = browser.new_context()
    page = context.new_page()
    sign_in(page, stack)
    expect(page).to_have_url(f"{stack.page}/trials")
    assert page.evaluate(LRU) == [2, 1, None, 3]
    sizes = page.evaluate(COMMITS)
    assert [commit for _, commit in sizes] == [1, 2, 3]
    assert len({size for size, _ in sizes}) == 1
    context.close()


CONFLICT = """async () => {
  const { ask } = await import("/static/components/dialog.js");
  const refuse = async () => { throw Object.assign(new Error("the trial is stopping"), { status: 409 }); };
  ask({ title: "Pause?", action: "Pause", perform: refuse });
}"""


def test_a_dialog_stays_open_and_names_a_conflict(stack: LocalStack, browser: Browser) -> None:
    page = browser.new_page()
    page.goto(stack.page)
    page.evaluate(CONFLICT)
    dialog = page.get_by_role("dialog", name="Pause?")
    dialog.get_by_role("button", name="Pause").click()
    expect(dialog.get_by_role("alert")).to_have_text("Conflict: the trial is stopping")
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_be_hidden()
    page.close()


EVENTS = """async (frames) => {
  const connections = [];
  let ended;
  const all = new Promise((resolve) => { ended = resolve; });
  window.fetch = async (address, { headers }) => {
    connections.push({ address, position: headers["Last-Event-ID"] ?? null });
    if (connections.length === 2) { ended(); return new Response("", { status: 401 }); }
    const pieces = frames.join("").match(/[^]{1,7}/g); // frames arrive in pieces of any size
    const encoder = new TextEncoder();
    return new Response(new ReadableStream({
      start(controller) {
        for (const piece of pieces) controller.enqueue(encoder.encode(piece));
        controller.close();
      },
    }));
  };
  const { follow, recentEvents, stopFollowing } = await import("/static/core/event_stream.js");
  const { happeningList } = await import("/static/components/happening_list.js");
  const { patchChildren } = await import("/static/core/dom.js");
  const heard = [];
  stopFollowing();
  follow(null, { onEvent: (event) => heard.push(event.type), onConnection: () => {} });
  await all;
  const list = document.createElement("div");
  patchChildren(list, [happeningList(recentEvents(), { id: "t" })]);
  const said = (line) => line.textContent.replace(line.querySelector("time").textContent, "").trim();
  const lines = [...list.querySelectorAll("li")].map((line) => [line.className, said(line)]);
  return { address: connections[0].address, resumed: connections[1].position, heard, lines };
}"""


def test_every_kind_of_event_shows_as_its_sentence(stack: LocalStack, browser: Browser) -> None:
    """Each kind with its example, and one of a plug-in with markup in it, which is shown as text."""
    payloads = {kind: payload.example() for kind, payload in KINDS.items() if kind != Progress.KIND}
    payloads["plug-in.danced"] = {"player": "<b>main</b>"}
    when = datetime(2030, 1, 1, tzinfo=UTC)
    frames = [
        frame_of(number, None, kind, json.dumps(payload), when).encoded(named=False).decode()
        for number, (kind, payload) in enumerate(payloads.items(), start=1)
    ]
    page = browser.new_page()
    page.goto(stack.page)
    shown = page.evaluate(EVENTS, frames)
    page.close()
    assert "named=false" in shown["address"]
    assert shown["heard"] == list(payloads)
    assert shown["resumed"] == str(len(payloads)), "a connection that broke goes on behind the last event"
    read = [read_event(kind, payload) for kind, payload in payloads.items()]
    assert shown["lines"] == [[event.level, event.text] for event in reversed(read) if not event.transient]
    assert ["plain", "<b>main</b>: plug-in danced"] in shown["lines"]
