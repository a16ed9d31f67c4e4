"""`lanista.AsyncClient`: the client for asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

import httpx
from httpx_sse import EventSource, SSEError
from tenacity import AsyncRetrying

from lanista.client import server_sent_events
from lanista.client.calls import alerts as alert_calls
from lanista.client.calls import composed, games
from lanista.client.calls import league as league_calls
from lanista.client.calls import probes as probe_calls
from lanista.client.calls import registry as registry_calls
from lanista.client.calls import shares as share_calls
from lanista.client.calls import sweeps as sweep_calls
from lanista.client.calls import tournaments as tournament_calls
from lanista.client.calls import trials as trial_calls
from lanista.client.calls.call import Call, Listing, Steps, TrialRef
from lanista.client.downloads import Download, Downloaded, save_async
from lanista.client.errors import UnexpectedAnswer, problem_of
from lanista.client.items import AsyncItems
from lanista.client.local import ApiAddress, find_api
from lanista.client.method import as_method
from lanista.client.own_process import only_to_async
from lanista.client.server_sent_events import StreamPosition
from lanista.client.transport import Retries, arguments_of, check, client_options, read, unreachable

if TYPE_CHECKING:
    from api.schemas.events import Event

P = ParamSpec("P")
Result = TypeVar("Result")


def _single(describe: Callable[P, Call[Result]]) -> Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, Result]]:
    async def method(client: AsyncClient, /, *args: P.args, **kwargs: P.kwargs) -> Result:
        return await client.send(describe(*args, **kwargs))

    return as_method(method, describe)


def _list(describe: Callable[P, Listing[Result]]) -> Callable[Concatenate[AsyncClient, P], AsyncItems[Result]]:
    def method(client: AsyncClient, /, *args: P.args, **kwargs: P.kwargs) -> AsyncItems[Result]:
        listing = describe(*args, **kwargs)
        return AsyncItems(listing.item, client.iterate(listing))

    return as_method(method, describe)


def _several(
    describe: Callable[P, Steps[Result]],
) -> Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, Result]]:
    async def method(client: AsyncClient, /, *args: P.args, **kwargs: P.kwargs) -> Result:
        return await client.run(describe(*args, **kwargs))

    return as_method(method, describe)


class AsyncClient:
    """Talks to a Lanista API without blocking. No address: LANISTA_URL with LANISTA_TOKEN, else the local stack.

    Lists are asynchronous iterators that fetch page after page. Lost connections, 429 and 503 are retried.
    """

    def __init__(
        self,
        url: str | ApiAddress | None = None,
        token: str | None = None,
        *,
        timeout: float = 30.0,
        retries: Retries | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        where = find_api(url, token)
        self.retries = retries or Retries()
        self._timeout = timeout
        options = client_options(where.url, where.token, timeout)
        if where.owner is not None:
            options |= only_to_async(where.owner)
        self._http = httpx.AsyncClient(**options, transport=transport)

    @property
    def url(self) -> str:
        return str(self._http.base_url).rstrip("/")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def send(self, call: Call[Result]) -> Result:
        """Send a call and read its answer; transient failures are retried."""
        arguments = arguments_of(call)
        return read(call, await self._retried(self._http.request, **arguments))

    async def iterate(self, listing: Listing[Result]) -> AsyncIterator[Result]:
        """Every item; the next page is fetched when it is needed."""
        cursor: str | None = None
        while True:
            page = await self.send(listing.page(cursor))
            for item in page.items:
                yield item
            cursor = page.next_cursor
            if cursor is None:
                return

    async def run(self, steps: Steps[Result]) -> Result:
        """Send calls that depend on each other."""
        answer: Any = None
        while True:
            try:
                call = steps.send(answer)
            except StopIteration as end:
                result: Result = end.value
                return result
            answer = await self.send(call)

    async def download_checkpoint(self, version_id: str, path: str | Path) -> Downloaded:
        """Download a version's weights to a file, block by block: whole and verified, or not written at all."""
        download = Download(registry_calls.checkpoint(version_id), Path(path))
        try:
            response: httpx.Response = await AsyncRetrying(**self.retries.policy())(save_async, self._http, download)
        except httpx.TransportError as error:
            raise download.lost(error, unreachable(self.url, error)) from None
        check(response)
        return download.result

    async def events(
        self, trial: TrialRef | None = None, *, after: int | None = None, newest: int | None = None
    ) -> AsyncIterator[Event]:
        """Follow the events of one trial or of all: after an event's id, or from now on (0: from the beginning).

        `newest` starts with that many of the newest events instead.
        A lost connection is resumed after the last event: none is missed, none comes twice. A trial's
        stream also holds `progress` events, which have no id.
        """
        position = StreamPosition(trial, after, newest)
        while True:
            response = await self._retried(self._open, position)
            if not response.is_success:
                raise problem_of(response)
            try:
                async for sent in EventSource(response).aiter_sse():
                    event = position.read(sent)
                    if event is not None:
                        yield event
            except SSEError as error:
                raise UnexpectedAnswer(str(error)) from None
            except httpx.TransportError:
                pass  # lost, as when the API restarts: resume after the last event
            finally:
                await response.aclose()
            await asyncio.sleep(server_sent_events.PAUSE_SECONDS)

    async def _open(self, position: StreamPosition) -> httpx.Response:
        request = self._http.build_request(**position.arguments(self._timeout))
        response = await self._http.send(request, stream=True)
        if not response.is_success:
            await response.aread()
        return response

    async def _retried(
        self, send: Callable[..., Coroutine[Any, Any, httpx.Response]], *args: Any, **kwargs: Any
    ) -> httpx.Response:
        try:
            response: httpx.Response = await AsyncRetrying(**self.retries.policy())(send, *args, **kwargs)
        except httpx.TransportError as error:
            raise unreachable(self.url, error) from None
        return response

    trials = _list(trial_calls.trials)
    trial = _single(trial_calls.trial)
    trial_progress = _single(trial_calls.trial_progress)
    trial_overview = _single(trial_calls.trial_overview)
    trial_failures = _list(trial_calls.trial_failures)
    create_trial = _single(trial_calls.create_trial)
    validate_trial = _single(trial_calls.validate_trial)
    upload_code = _single(trial_calls.upload_code)
    pause_trial = _single(trial_calls.pause_trial)
    resume_trial = _single(trial_calls.resume_trial)
    stop_trial = _single(trial_calls.stop_trial)
    fork_trial = _single(trial_calls.fork_trial)
    archive_trial = _single(trial_calls.archive_trial)
    trial_file = _single(trial_calls.trial_file)
    change_trial = _single(trial_calls.change_trial)
    players = _list(trial_calls.players)
    player = _single(trial_calls.player)
    add_player = _single(trial_calls.add_player)
    change_player = _single(trial_calls.change_player)

    payoff = _single(league_calls.payoff)
    lineups = _list(league_calls.lineups)
    ratings = _several(league_calls.ratings)
    decisions = _list(league_calls.decisions)
    metrics = _list(league_calls.metrics)
    metric_names = _single(league_calls.metric_names)
    compare = _single(league_calls.compare)
    search = _single(league_calls.search)
    matches = _list(league_calls.matches)
    match = _single(league_calls.match)
    export = _single(league_calls.export)
    gates = _list(league_calls.gates)
    gate = _single(league_calls.gate)
    stop_gate = _single(league_calls.stop_gate)

    versions = _list(registry_calls.versions)
    version = _single(registry_calls.version)
    checkpoint = _single(registry_calls.checkpoint)
    import_weights = _single(registry_calls.import_weights)
    code_archive = _single(registry_calls.code_archive)
    aliases = _list(registry_calls.aliases)
    alias = _single(registry_calls.alias)
    set_alias = _single(registry_calls.set_alias)
    alias_history = _list(registry_calls.alias_history)
    roll_back_alias = _single(registry_calls.roll_back_alias)
    canaries = _list(registry_calls.canaries)
    report_canary = _single(registry_calls.report_canary)
    projects = _list(registry_calls.projects)
    change_project = _single(registry_calls.change_project)
    crew_queue = _single(registry_calls.crew_queue)
    catalog = _single(registry_calls.catalog)
    examples = _list(registry_calls.examples)
    system = _single(registry_calls.system)
    silent_parts = _single(registry_calls.silent_parts)
    system_history = _single(registry_calls.system_history)
    logs = _single(registry_calls.logs)
    log_lines = _single(registry_calls.log_lines)
    who_am_i = _single(registry_calls.who_am_i)
    tokens = _list(registry_calls.tokens)
    create_token = _single(registry_calls.create_token)
    revoke_token = _single(registry_calls.revoke_token)
    audit = _list(registry_calls.audit)

    tournaments = _list(tournament_calls.tournaments)
    tournament = _single(tournament_calls.tournament)
    create_tournament = _single(tournament_calls.create_tournament)
    cancel_tournament = _single(tournament_calls.cancel_tournament)
    entrants = _list(tournament_calls.entrants)
    standings = _several(tournament_calls.standings)
    pairings = _list(tournament_calls.pairings)
    tournament_report = _single(tournament_calls.tournament_report)
    write_report = _single(tournament_calls.write_report)
    schedules = _list(tournament_calls.schedules)
    schedule = _single(tournament_calls.schedule)
    create_schedule = _single(tournament_calls.create_schedule)
    change_schedule = _single(tournament_calls.change_schedule)
    trigger_schedule = _single(tournament_calls.trigger_schedule)
    delete_schedule = _single(tournament_calls.delete_schedule)

    alert_channels = _list(alert_calls.alert_channels)
    alert_channel = _single(alert_calls.alert_channel)
    create_alert_channel = _single(alert_calls.create_alert_channel)
    change_alert_channel = _single(alert_calls.change_alert_channel)
    delete_alert_channel = _single(alert_calls.delete_alert_channel)
    test_alert_channel = _single(alert_calls.test_alert_channel)
    alert_rules = _list(alert_calls.alert_rules)
    create_alert_rule = _single(alert_calls.create_alert_rule)
    delete_alert_rule = _single(alert_calls.delete_alert_rule)
    alert_deliveries = _list(alert_calls.alert_deliveries)
    retry_alert_delivery = _single(alert_calls.retry_alert_delivery)

    league_report = _single(share_calls.league_report)
    shares = _list(share_calls.shares)
    create_share = _single(share_calls.create_share)
    revoke_share = _single(share_calls.revoke_share)

    sweeps = _list(sweep_calls.sweeps)
    sweep = _single(sweep_calls.sweep)
    create_sweep = _single(sweep_calls.create_sweep)
    validate_sweep = _single(sweep_calls.validate_sweep)
    sweep_trials = _list(sweep_calls.sweep_trials)
    sweep_importances = _single(sweep_calls.sweep_importances)
    pause_sweep = _single(sweep_calls.pause_sweep)
    resume_sweep = _single(sweep_calls.resume_sweep)
    stop_sweep = _single(sweep_calls.stop_sweep)
    probes = _list(probe_calls.probes)
    probe = _single(probe_calls.probe)
    create_probe = _single(probe_calls.create_probe)
    stop_probe = _single(probe_calls.stop_probe)

    replay = _single(games.replay)
    head_to_head = _single(games.head_to_head)
    opening_names = _single(games.opening_names)
    begin_game = _single(games.begin_game)
    game = _single(games.game)
    make_move = _single(games.make_move)
    people_games = _list(games.people_games)
    people_counts = _single(games.people_counts)
    people_replay = _single(games.people_replay)
    recorded_games = _list(games.recorded_games)
    recorded_game = _single(games.recorded_game)
    recorded_game_picture = _single(games.recorded_game_picture)

    league = _several(composed.league)
    find_trial = _several(composed.find_trial)
    find_player = _several(composed.find_player)
    find_version = _several(composed.find_version)
    find_sweep = _several(composed.find_sweep)
