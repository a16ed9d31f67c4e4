"""Reading a league: every list, its filters and pages, exports, the payoff as matrices."""

from __future__ import annotations

import csv
import io

import httpx
import pytest
from sqlalchemy import select

from api.store.core.ids import new_id
from api.store.payoffs.cells import load_payoff
from api.store.tables import Rating, RatingFit, Trial
from league.types import PlayerId
from tests.integration.api.league import ReadableLeague, readable_league
from tests.integration.api.server import Served


@pytest.fixture(scope="module")
def readable(api: Served) -> ReadableLeague:
    return readable_league(api.sessions)


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_players_come_with_their_present_versions(viewer: httpx.Client, readable: ReadableLeague) -> None:
    players = viewer.get(f"/api/v1/trials/{readable.trial_id}/players").json()["items"]
    assert {player["name"]: player["version_number"] for player in players} == {"main": 2, "rival": 0, "random": 0}
    bots = viewer.get(f"/api/v1/trials/{readable.trial_id}/players", params={"role": "bot"}).json()["items"]
    assert [bot["bot"] for bot in bots] == ["random"]
    one = viewer.get(f"/api/v1/players/{players[0]['id']}")
    assert one.json() == {**players[0], "retired_reason": None, "version_damaged": False}
    assert one.headers["etag"] == '"1"'


def test_a_version_knows_its_lineage_and_its_names(viewer: httpx.Client, readable: ReadableLeague) -> None:
    versions = viewer.get(
        f"/api/v1/trials/{readable.trial_id}/versions", params={"player_id": readable.league.players["main"]}
    ).json()["items"]
    assert [version["number"] for version in versions] == [2, 1, 0]
    newest = viewer.get(f"/api/v1/versions/{versions[0]['id']}").json()
    assert [ancestor["number"] for ancestor in newest["lineage"]] == [1, 0]
    assert newest["aliases"] == [f"champion-{readable.trial_id[-12:]}"]
    stored = readable.league.version_of("main")
    assert newest["uri"] == versions[0]["uri"] == stored.uri and newest["uri"]
    assert newest["lineage"][0]["uri"] == versions[1]["uri"]
    bot = readable.league.version_of("random").id
    assert viewer.get(f"/api/v1/versions/{bot}").json()["uri"] is None
    assert newest["returns"] == {"games": 4, "mean": 0.5, "deviation": 2.0}
    assert viewer.get(f"/api/v1/versions/{versions[-1]['id']}").json()["returns"] is None


def test_the_payoff_agrees_with_the_leagues_own_rules(
    api: Served, viewer: httpx.Client, readable: ReadableLeague
) -> None:
    payoff = viewer.get(f"/api/v1/trials/{readable.trial_id}/payoff").json()
    with api.sessions() as session:
        trial = session.scalars(select(Trial).where(Trial.id == readable.trial_id)).one()
        rules = load_payoff(session, trial, min_games=payoff["min_games"])
    ids = [PlayerId(player["id"]) for player in payoff["players"]]
    met = 0
    for row, player in enumerate(ids):
        for column, opponent in enumerate(ids):
            games = sum(payoff[key][row][column] for key in ("wins", "draws", "losses"))
            assert games == rules.raw_games(player, opponent)
            if not games:
                assert payoff["win_rate"][row][column] is None
                continue
            met += 1
            assert payoff["win_rate"][row][column] == pytest.approx(rules.win_rate(player, opponent), abs=1e-4)
            low, high = rules.interval(player, opponent)
            assert payoff["low"][row][column] == pytest.approx(low, abs=1e-4)
            assert payoff["high"][row][column] == pytest.approx(high, abs=1e-4)
            # the game is zero-sum, so that the margin is the mean return
            margin = rules.return_margin(player, opponent)
            assert payoff["mean_return"][row][column] == pytest.approx(margin, abs=1e-4)
    assert met == 4


def test_a_payoff_that_is_known_is_not_sent_again(viewer: httpx.Client, readable: ReadableLeague) -> None:
    path = f"/api/v1/trials/{readable.trial_id}/payoff"
    first = viewer.get(path)
    assert first.headers["content-encoding"] == "gzip"
    again = viewer.get(path, headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    plain = viewer.get(path, headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers and plain.json() == first.json()
    rating = viewer.get(path, params={"stream": "rating"}, headers={"If-None-Match": first.headers["etag"]})
    assert rating.status_code == 200, "another stream is another document"


def test_exports_hold_every_row(viewer: httpx.Client, readable: ReadableLeague) -> None:
    base = f"/api/v1/trials/{readable.trial_id}"
    matches = viewer.get(f"{base}/matches", params={"format": "csv", "limit": 1})
    assert matches.headers["content-type"].startswith("text/csv")
    assert [int(row["id"]) for row in rows(matches.text)] == readable.match_ids[::-1]
    payoff = rows(viewer.get(f"{base}/payoff", params={"format": "csv"}).text)
    assert {(row["player"], row["opponent"]) for row in payoff} >= {("main", "rival"), ("rival", "main")}
    earned = {row["player"]: float(row["mean_return"]) for row in payoff if row["opponent"] in ("main", "rival")}
    assert earned["main"] == -earned["rival"] == 0.5
    decisions = rows(viewer.get(f"{base}/decisions", params={"format": "csv"}).text)
    assert {row["kind"] for row in decisions} == {"matchmaking", "snapshot"}
    ratings = rows(viewer.get(f"{base}/ratings", params={"format": "csv"}).text)
    assert [(row["player"], row["value"]) for row in ratings] == [("main", "100.0"), ("rival", "0.0")]


def test_matches_are_found_by_either_side(viewer: httpx.Client, readable: ReadableLeague) -> None:
    base = f"/api/v1/trials/{readable.trial_id}/matches"
    players = readable.league.players
    for which in (
        {"player_id": players["rival"]},
        {"player_id": players["rival"], "opponent_id": players["main"]},
        {"version_id": readable.league.version_of("rival").id},
        {"stream": "rating"},
    ):
        found = viewer.get(base, params=which).json()["items"]
        assert [match["id"] for match in found] == readable.match_ids[::-1], which
    assert viewer.get(base, params={"player_id": players["random"]}).json()["items"] == []
    assert viewer.get(base, params={"stream": "gating"}).json()["items"] == []
    one = viewer.get(f"/api/v1/matches/{readable.match_ids[0]}").json()
    assert (one["moves"], one["plies"], one["player"], one["opponent"]) == ([4, 0, 8], 3, "main", "rival")
    assert viewer.get("/api/v1/matches/999999999").status_code == 404


def test_decisions_are_filtered_and_paged(viewer: httpx.Client, readable: ReadableLeague) -> None:
    base = f"/api/v1/trials/{readable.trial_id}/decisions"
    plans = viewer.get(base, params={"kind": "matchmaking"}).json()["items"]
    assert [(plan["player"], plan["generation"], plan["evidence"]) for plan in plans] == [("main", 3, {"opponents": 2})]
    first = viewer.get(base, params={"limit": 1}).json()
    second = viewer.get(base, params={"limit": 1, "cursor": first["next_cursor"]}).json()
    assert [first["items"][0]["kind"], second["items"][0]["kind"]] == ["snapshot", "matchmaking"]
    assert second["next_cursor"] is None


def test_metrics_are_series_and_a_diverged_value_is_null(viewer: httpx.Client, readable: ReadableLeague) -> None:
    base = f"/api/v1/trials/{readable.trial_id}/metrics"
    series = {line["name"]: line for line in viewer.get(base).json()["items"]}
    assert set(series) == {"loss", "entropy", "diverged"}
    assert series["loss"]["generations"] == [1, 2] and series["loss"]["steps"] == [1000, 2000]
    assert series["diverged"]["values"] == [None]
    newer = viewer.get(base, params={"name": "loss", "after_generation": 1}).json()["items"]
    assert [line["generations"] for line in newer] == [[2]]
    one = viewer.get(base, params={"name": "loss", "points": 1}).json()["items"]
    assert one[0]["generations"] == [2], "the newest points"
    page = viewer.get(base, params={"limit": 2}).json()
    rest = viewer.get(base, params={"limit": 2, "cursor": page["next_cursor"]}).json()
    assert [line["name"] for line in page["items"] + rest["items"]] == ["diverged", "entropy", "loss"]


def test_metrics_have_names_times_and_points_of_the_whole_run(viewer: httpx.Client, readable: ReadableLeague) -> None:
    base = f"/api/v1/trials/{readable.trial_id}/metrics"
    assert viewer.get(f"{base}/names").json() == {"names": ["diverged", "entropy", "loss"]}
    plain = viewer.get(base, params={"name": ["loss", "entropy"]}).json()["items"]
    spread = viewer.get(base, params={"name": ["loss", "entropy"], "spread": True}).json()["items"]
    assert spread == plain, "fewer points than asked for are all of them, each with its own series"
    one = viewer.get(base, params={"name": "loss", "spread": True, "points": 1, "times": True}).json()["items"][0]
    assert one["generations"] == [2] and len(one["times"]) == 1 and one["times"][0] > 1_700_000_000
    assert plain[0]["times"] == []


def test_an_answer_that_the_caller_has_is_not_sent_again(viewer: httpx.Client, readable: ReadableLeague) -> None:
    path = f"/api/v1/trials/{readable.trial_id}/players"
    first = viewer.get(path)
    assert first.headers["content-encoding"] == "gzip" and first.headers["etag"].startswith("W/")
    again = viewer.get(path, headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    plain = viewer.get(path, headers={"Accept-Encoding": "identity", "If-None-Match": 'W/"other"'})
    assert plain.status_code == 200 and "content-encoding" not in plain.headers and plain.json() == first.json()


def test_a_gate_shows_the_path_of_its_test(operator: httpx.Client, readable: ReadableLeague) -> None:
    listed = operator.get(f"/api/v1/trials/{readable.trial_id}/gates", params={"status": "passed"}).json()["items"]
    assert [gate["id"] for gate in listed] == [readable.gate_id]
    gate = operator.get(f"/api/v1/gates/{readable.gate_id}").json()
    assert [(point["number"], point["llr"]) for point in gate["path"]] == [(1, 1.5), (2, 3.0)]
    assert gate["model"] == gate["settings"]["model"] == listed[0]["model"] == "normalized"
    late = operator.post(f"/api/v1/gates/{readable.gate_id}/stop")
    assert (late.status_code, late.json()["gate_status"]) == (409, "passed")
    assert operator.get(f"/api/v1/gates/{new_id()}").status_code == 404


def test_ratings_come_with_their_fit_and_intervals(viewer: httpx.Client, readable: ReadableLeague) -> None:
    base = f"/api/v1/trials/{readable.trial_id}/ratings"
    ratings = viewer.get(base).json()
    assert ratings["fit"]["id"] == readable.fit_id
    best = ratings["items"][0]
    assert best["low"] == pytest.approx(80.4, abs=0.01) and best["high"] == pytest.approx(119.6, abs=0.01)
    assert ratings["items"][1]["low"] is None
    assert viewer.get(base, params={"method": "alpha_rank"}).json() == {"fit": None, "items": [], "next_cursor": None}
    assert viewer.get(base, params={"method": "guess"}).status_code == 422


def test_ratings_against_a_version_carry_differences_by_full_covariance(
    viewer: httpx.Client, readable: ReadableLeague
) -> None:
    base = f"/api/v1/trials/{readable.trial_id}/ratings"
    main, rival, bot = (readable.league.version_of(name).id for name in ("main", "rival", "random"))
    best, other = viewer.get(base, params={"against": rival}).json()["items"]
    half = 1.959964 * (100 + 25 - 2 * 20) ** 0.5
    interval = [best[name] for name in ("difference", "difference_low", "difference_high")]
    assert interval == pytest.approx([100, 100 - half, 100 + half], abs=1e-4)
    assert [other[name] for name in ("difference", "difference_low", "difference_high")] == [0, 0, 0]
    backwards = viewer.get(base, params={"against": main}).json()["items"]
    assert [item["difference"] for item in backwards] == [0, -100]
    assert [item["difference"] for item in viewer.get(base).json()["items"]] == [None, None]
    first, _ = rows(viewer.get(base, params={"against": rival, "format": "csv"}).text)
    assert float(first["difference_high"]) == pytest.approx(100 + half, abs=1e-4)
    assert "difference" not in viewer.get(base, params={"format": "csv"}).text
    assert viewer.get(base, params={"against": new_id()}).status_code == 404
    unrated = viewer.get(base, params={"against": bot})
    assert unrated.status_code == 422
    assert bot in unrated.json()["detail"] and f"such as {main}, {rival}" in unrated.json()["detail"]
    other_method = viewer.get(base, params={"against": rival, "method": "openskill"})
    assert (other_method.status_code, "bradley_terry only" in other_method.json()["detail"]) == (422, True)


def test_a_fit_is_one_in_which_the_trial_takes_part(
    api: Served, viewer: httpx.Client, readable: ReadableLeague
) -> None:
    other = readable_league(api.sessions)
    with api.sessions.begin() as session:
        for league in (readable, other):
            fit = RatingFit(
                project_id=league.project, game="tic_tac_toe", method="alpha_rank", games=4, last_match_id=1
            )
            session.add(fit)
            session.flush()
            version = league.league.version_of("main").id
            session.add(Rating(fit_id=fit.id, version_id=version, value=1.0, games=4, rank=1))
    for league in (readable, other):
        found = viewer.get(f"/api/v1/trials/{league.trial_id}/ratings", params={"method": "alpha_rank"}).json()
        assert [item["version_id"] for item in found["items"]] == [league.league.version_of("main").id]


def test_an_alias_moves_with_a_reason_and_goes_back(operator: httpx.Client, readable: ReadableLeague) -> None:
    alias = f"/api/v1/projects/board-games/aliases/champion-{readable.trial_id[-12:]}"
    before = operator.get(alias)
    main, rival = readable.league.version_of("main").id, readable.league.version_of("rival").id
    assert before.json()["version_id"] == main and before.headers["etag"] == '"2"'
    target = {"version_id": rival, "reason": "felt like it"}
    stale = operator.put(alias, json=target, headers={"If-Match": '"1"'})
    assert stale.status_code == 412 and "revision 2" in stale.json()["detail"]
    moved = operator.put(alias, json=target, headers={"If-Match": '"2"'})
    assert moved.json()["version_id"] == rival and moved.headers["etag"] == '"3"'
    back = operator.post(f"{alias}/rollback", json={"reason": "it was worse"})
    assert back.json()["version_id"] == main
    history = operator.get(f"{alias}/history").json()["items"]
    assert [(move["move"], move["actor"], move["reason"]) for move in history[:2]] == [
        ("rolled_back", "a operator", "it was worse"),
        ("set", "a operator", "felt like it"),
    ]
    assert operator.put(alias, json={"version_id": new_id(), "reason": "x"}).status_code == 404
    assert operator.put(alias, json={"version_id": rival, "reason": " "}).status_code == 422
    assert operator.get("/api/v1/projects/board-games/aliases/nobody").status_code == 404
    listed = operator.get("/api/v1/projects/board-games/aliases").json()["items"]
    assert f"champion-{readable.trial_id[-12:]}" in {item["name"] for item in listed}


def test_a_checkpoint_is_sent_only_if_it_is_whole(viewer: httpx.Client, readable: ReadableLeague) -> None:
    version = readable.league.version_of("main").id
    gone = viewer.get(f"/api/v1/versions/{version}/checkpoint")
    assert gone.status_code == 409 and "missing" in gone.json()["detail"]
    bot = readable.league.version_of("random").id
    assert viewer.get(f"/api/v1/versions/{bot}/checkpoint").status_code == 404


def test_a_fork_begins_where_the_other_stood(operator: httpx.Client, readable: ReadableLeague) -> None:
    base = f"/api/v1/trials/{readable.trial_id}"
    name = f"fork-{new_id()}"
    made = operator.post(f"{base}/fork", json={"name": name, "at_commit": 1, "changes": {"start": "paused"}})
    assert made.status_code == 201, made.text
    fork = made.json()
    assert (fork["forked_from_trial_id"], fork["forked_at_commit"]) == (readable.trial_id, 1)
    players = operator.get(f"/api/v1/trials/{fork['id']}/players").json()["items"]
    assert {player["name"] for player in players} == {"main", "rival", "random"}
    code = {"name": f"{name}-code", "at_commit": 1, "changes": {"algorithm": {"id": "good:Algorithm"}}}
    forbidden = operator.post(f"{base}/fork", json=code)
    assert forbidden.status_code == 403 and forbidden.json()["errors"][0]["field"] == "trial.algorithm.id"
    late = operator.post(f"{base}/fork", json={"name": "too-late", "at_commit": 99})
    assert late.status_code == 409 and "0 to 2" in late.json()["detail"]


def test_the_rest_that_the_page_needs(viewer: httpx.Client, readable: ReadableLeague) -> None:
    projects = {row["name"]: row for row in viewer.get("/api/v1/projects").json()["items"]}
    assert projects["board-games"]["trials"] >= 1
    catalog = viewer.get("/api/v1/catalog").json()
    assert "connect_four" in {game["name"] for game in catalog["games"]} and catalog["trial_schema"]["properties"]
    schemas = {each["name"]: each["options_schema"] for each in catalog["algorithms"]}
    assert schemas["ppo"]["properties"]["clip"]["default"] == 0.2
    assert set(schemas["bc"]["required"]) == {"dataset", "id"}
    assert None not in schemas.values(), "every algorithm here is built in"
    examples = viewer.get("/api/v1/examples").json()["items"]
    assert "alphastar" in {example["name"] for example in examples}
    assert all(example["spec"]["game"]["id"] for example in examples)
    system = viewer.get("/api/v1/system").json()
    assert system["readiness"]["parts"]["postgres"]["ok"] is True
