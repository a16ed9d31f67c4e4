"""`lanista serve --weights`: a file of weights behind a gateway, without an API."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from lanista.cli import app
from lanista.serving.file import NOT_FOLLOWED, ServeFile
from lanista.serving.followed import Followed
from lanista.serving.server import ServeOptions
from tests.unit.gateway.fakes import HttpClient, connected
from tests.unit.serving.made_versions import checkpoint_bytes
from tests.unit.serving.test_server import health, tick
from workers.gateway.options import GatewayOptions
from workers.gateway.server import Gateway


async def test_a_file_is_served_without_an_api(tmp_path: Path) -> None:
    path = tmp_path / "main.safetensors"
    path.write_bytes(checkpoint_bytes())
    options = ServeOptions(followed=Followed(project="", alias=path.name), cache=tmp_path)
    async with Gateway(GatewayOptions()) as gateway:
        await ServeFile(path, options)(gateway)
        await gateway.listen()
        async with connected(HttpClient, gateway.ports["http"]) as client:
            await client.step("start", "one")
            assert await tick(client, "one") in range(9)
            told = await health(client)
        assert told["versions"] == {"champion": "main.safetensors"} and told["problem"] == NOT_FOLLOWED


def test_a_trial_file_names_the_alias(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    served: list[str] = []
    monkeypatch.setattr("lanista.serving.followed.find_followed", lambda connect, alias, *rest: served.append(alias))
    file = tmp_path / "trial.yaml"
    gate = "league: {champion_gate: {alias: best}}"
    file.write_text(f"project: games\nmode: serve\ngame: {{id: tic_tac_toe}}\n{gate}\n")
    CliRunner().invoke(app, ["serve", "--trial", str(file), "--cache", str(tmp_path)])
    assert served == ["games@best"]
    file.write_text("game: {id: tic_tac_toe}\n")
    refused = CliRunner().invoke(app, ["serve", "--trial", str(file)])
    assert refused.exit_code != 0 and "mode: train" in refused.output


def test_a_trial_that_serves_is_not_trained(tmp_path: Path) -> None:
    file = tmp_path / "trial.yaml"
    file.write_text("mode: serve\ngame: {id: tic_tac_toe}\n")
    for words in (["trial", "start", str(file)], ["try", str(file)]):
        refused = CliRunner().invoke(app, words)
        assert refused.exit_code == 1 and "lanista serve --trial FILE" in " ".join(refused.output.split()), words


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--weights", "missing.safetensors"], "does not exist"),
        (["--weights", "missing.safetensors", "--canary", "a@b"], "leave out --canary"),
    ],
)
def test_what_cannot_be_served_is_refused(words: list[str], message: str) -> None:
    refused = CliRunner().invoke(app, ["serve", *words])
    assert refused.exit_code != 0 and message in " ".join(refused.output.replace("│", " ").split())
