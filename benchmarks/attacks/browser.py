"""What a page of another port or site can try, in a real Chromium in which somebody is signed in."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
from playwright.sync_api import BrowserContext, Page, sync_playwright

from benchmarks.attacks.outcome import Outcome

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
REBOUND = "rebound.example"
COOKIE = "lanista_session"
READS = ("session", "trials", "tokens", "system", "audit")
READ = """async ({ base, paths }) => {
  const seen = [];
  const note = (how, what) => seen.push(`${how}: ${what}`);
  for (const path of paths) {
    const address = `${base}/api/v1/${path}`;
    await fetch(address, { credentials: "include" }).then((answer) => note(path, answer.status)).catch(() => {});
  }
  const frame = document.createElement("iframe");
  frame.src = `${base}/system`;
  document.body.append(frame);
  await new Promise((resolve) => setTimeout(resolve, 1500));
  try { if (frame.contentDocument?.body?.textContent) note("frame", "readable"); } catch {}
  const stream = new EventSource(`${base}/api/v1/events?after=0`, { withCredentials: true });
  await new Promise((resolve) => {
    stream.onopen = () => resolve(note("events", "open"));
    stream.onerror = resolve;
  });
  stream.close();
  return seen;
}"""
AS_SCRIPT = """async ({ base, paths }) => {
  const seen = [];
  window.addEventListener("error", (event) => seen.push(`error ${event.message}`));
  for (const path of paths) {
    const script = document.createElement("script");
    script.src = `${base}/api/v1/${path}`;
    await new Promise((resolve) => {
      script.onload = () => resolve(seen.push(`${path} loaded`));
      script.onerror = resolve;
      document.head.append(script);
    });
  }
  return seen;
}"""
CHANGE = """async ({ base, token }) => {
  const plain = { method: "POST", mode: "no-cors", credentials: "include", headers: { "Content-Type": "text/plain" } };
  const send = (path, body, method = "POST") =>
    fetch(`${base}/api/v1/${path}`, { ...plain, method, body: JSON.stringify(body) }).catch(() => {});
  await send("tokens", { name: "made by another page", scope: "admin" });
  await send("session", { token });
  await send("trials", { project: "p", name: "n", spec: { game: { id: "tic_tac_toe" } } });
  await fetch(`${base}/api/v1/session`, { method: "DELETE", credentials: "include" }).catch(() => {});
  const form = document.createElement("form");
  Object.assign(form, { method: "POST", enctype: "text/plain", action: `${base}/api/v1/session`, target: "hidden" });
  const field = document.createElement("input");
  field.name = `{"token": "${token}", "x": "`;
  field.value = `"}`;
  form.append(field);
  const frame = document.createElement("iframe");
  frame.name = "hidden";
  document.body.append(frame, form);
  form.submit();
  await new Promise((resolve) => setTimeout(resolve, 1500));
}"""
START = """async ({ ports }) => {
  const body = JSON.stringify({ workflowType: { name: "TrialWorkflow" }, taskQueue: { name: "league" } });
  for (const port of ports)
    for (const path of ["workflows/attack", "activities/attack"])
      await fetch(`http://127.0.0.1:${port}/api/v1/namespaces/default/${path}`, {
        method: "POST", mode: "no-cors", headers: { "Content-Type": "text/plain" }, body,
        signal: AbortSignal.timeout(3000),
      }).catch(() => {});
}"""


class Foreign(BaseHTTPRequestHandler):
    """A server of somebody else at another port of the same host; it keeps the headers that browsers send."""

    seen: list[dict[str, str]] = []  # noqa: RUF012 one list for all requests is meant

    def do_GET(self) -> None:
        self.seen.append(dict(self.headers.items()))
        body = b"<!doctype html><title>Free games</title><body>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing is printed."""


@contextmanager
def foreign_server() -> Iterator[str]:
    Foreign.seen.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Foreign)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


class Victim:
    """Somebody who is signed in, and opens a foreign page in another tab."""

    def __init__(self, context: BrowserContext, base: str, token: str, foreign: str) -> None:
        self.base, self.foreign, self.context = base, foreign, context
        self.own = context.new_page()
        self.own.goto(base)
        self.own.get_by_label("Sign in with a token").fill(token)
        self.own.get_by_role("button", name="Sign in").click()
        self.own.get_by_role("button", name="Sign out").wait_for()
        self.word = str(self.own.evaluate("localStorage.getItem('lanista-csrf-token')"))

    def visit(self, script: str, arguments: dict[str, Any]) -> tuple[Any, list[tuple[int, str]]]:
        """Run a foreign page's script; returns its result, and every answer that came from elsewhere."""
        page: Page = self.context.new_page()
        answers: list[tuple[int, str]] = []
        page.on("response", lambda answer: answers.append((answer.status, answer.url)))
        page.goto(self.foreign)
        result = page.evaluate(script, arguments)
        page.close()
        return result, [each for each in answers if not each[1].startswith(self.foreign)]

    def still_signed_in(self) -> bool:
        self.own.reload()
        self.own.get_by_role("button", name="Sign out").wait_for()
        return str(self.own.evaluate("localStorage.getItem('lanista-csrf-token')")) == self.word


def steal_the_cookie(victim: Victim) -> tuple[bool, str]:
    """Take the session cookie that the browser sends to another port, and use it."""
    victim.visit("() => 0", {})
    cookies = [each.get("Cookie", "") for each in Foreign.seen]
    stolen = next((each for each in cookies if COOKIE in each), "")
    statuses = {httpx.get(f"{victim.base}/api/v1/{path}", headers={"Cookie": stolen}).status_code for path in READS}
    changed = httpx.post(f"{victim.base}/api/v1/tokens", headers={"Cookie": stolen}, json={"name": "x"}).status_code
    # 429: failed attempts of an address are limited, whatever attack made them
    refused = 401 in statuses and statuses <= {401, 429} and changed == 403
    return refused, f"{'cookie taken' if stolen else 'no cookie sent'}: {statuses}, {changed}"


def read_answers(victim: Victim) -> tuple[bool, str]:
    """Read the API's answers with the victim's cookie: by fetch, in a frame, as an event stream."""
    seen, answers = victim.visit(READ, {"base": victim.base, "paths": list(READS)})
    given = [f"{status} {url}" for status, url in answers if status < 400 and "/api/" in url]
    return not seen and not given, "; ".join([*seen, *given]) or "nothing readable"


def load_answers_as_scripts(victim: Victim) -> tuple[bool, str]:
    """Load answers as scripts: only the form of JSON kept other origins from reading them."""
    seen, _ = victim.visit(AS_SCRIPT, {"base": victim.base, "paths": list(READS)})
    # Chromium hides such answers from the page; the API must refuse what a browser without that protection would send
    cookie = next(each["value"] for each in victim.context.cookies() if each.get("name") == COOKIE)
    sent = {"Cookie": f"{COOKIE}={cookie}", "Sec-Fetch-Site": "same-site", "Sec-Fetch-Dest": "script"}
    bare = {"Cookie": sent["Cookie"]}
    statuses = {
        httpx.get(f"{victim.base}/api/v1/{path}", headers=headers).status_code
        for path in READS
        for headers in (sent, bare)
    }
    return not seen and statuses <= {401, 403, 429}, f"statuses {sorted(statuses)}, {seen or 'no script ran'}"


def change_something(victim: Victim, token: str) -> tuple[bool, str]:
    """Make a token, start a trial, sign the victim out or in as somebody else."""
    _, answers = victim.visit(CHANGE, {"base": victim.base, "token": token})
    statuses = {status for status, url in answers if "/api/" in url}
    kept = victim.still_signed_in()
    return statuses <= {401, 403} and kept, f"statuses {sorted(statuses)}, {'still' if kept else 'no longer'} signed in"


def start_by_temporal(victim: Victim, ports: list[int]) -> tuple[bool, str]:
    """Start a workflow or an activity by Temporal's HTTP API, without a preflight."""
    _, answers = victim.visit(START, {"ports": ports})
    taken = [f"{status} {url}" for status, url in answers if status < 400]
    return not taken, ", ".join(taken) or f"none of {len(ports)} ports took it"


def act_from_charts(victim: Victim) -> tuple[bool, str]:
    """Act as the page from within TensorBoard, whose contents user code writes."""
    page = victim.context.new_page()
    page.goto(f"{victim.base}/tensorboard")
    page.wait_for_url("**/tensorboard/*/**")
    script = """async () => {
      const asked = fetch("/api/v1/session", { credentials: "include" });
      const read = await asked.then((answer) => answer.status).catch((error) => error.name);
      return [self.origin, localStorage.getItem("lanista-csrf-token"), document.cookie, read];
    }"""
    origin, word, cookie, read = page.evaluate(script)
    page.close()
    held = origin == "null" and not word and not cookie and read == "TypeError"
    return held, f"origin {origin}, reading: {read}"


def use_after_sign_out(victim: Victim) -> tuple[bool, str]:
    """Use a copy of cookie and CSRF token after the victim has signed out."""
    cookie = next(each["value"] for each in victim.context.cookies() if each.get("name") == COOKIE)
    copied = {"Cookie": f"{COOKIE}={cookie}", "X-CSRF-Token": victim.word}
    before = httpx.get(f"{victim.base}/api/v1/session", headers=copied).status_code
    victim.own.get_by_role("button", name="Sign out").click()
    victim.own.get_by_label("Sign in with a token").wait_for()
    after = httpx.get(f"{victim.base}/api/v1/session", headers=copied).status_code
    return (before, after) == (200, 401), f"before {before}, after {after}"


def rebind(port: int) -> tuple[bool, str]:
    """Point a name of another site at this machine (DNS rebinding)."""
    with chromium(f"--host-resolver-rules=MAP {REBOUND} 127.0.0.1") as context:
        answer = context.new_page().goto(f"http://{REBOUND}:{port}/api/v1/trials")
        status = answer.status if answer else 0
    return status == 400, f"status {status}"


@contextmanager
def chromium(*arguments: str) -> Iterator[BrowserContext]:
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=[*ARGUMENTS, *arguments])
        context = opened.new_context()
        context.set_default_timeout(60_000)
        yield context
        opened.close()


def attack_from_browser(port: int, token: str, other_token: str, ports: list[int]) -> Iterator[Outcome]:
    """Every attack of this file against the API at this port."""
    base = f"http://127.0.0.1:{port}"
    with foreign_server() as foreign, chromium() as context:
        victim = Victim(context, base, token, foreign)
        attacks: list[tuple[Callable[..., tuple[bool, str]], tuple[Any, ...]]] = [
            (steal_the_cookie, (victim,)),
            (read_answers, (victim,)),
            (load_answers_as_scripts, (victim,)),
            (change_something, (victim, other_token)),
            (start_by_temporal, (victim, ports)),
            (act_from_charts, (victim,)),
            (use_after_sign_out, (victim,)),
        ]
        for attack, arguments in attacks:
            yield _outcome(attack, attack(*arguments))
    yield _outcome(rebind, rebind(port))


def _outcome(attack: Callable[..., Any], result: tuple[bool, str]) -> Outcome:
    words = (attack.__doc__ or "").splitlines()[0].rstrip(".")
    return Outcome(attacker="browser", attack=words, held=result[0], seen=result[1])
