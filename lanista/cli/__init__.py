"""The command line. Each command's code is imported when the command is called."""

from __future__ import annotations

import gc
import sys

import typer

from lanista.checks.shadowing import refuse_shadowed
from lanista.given_settings import any_given

refuse_shadowed()  # before the packages that may be hidden are imported

# ruff: noqa: E402
from lanista.cli.lazy import LazyCommand, lazy_group

COMMANDS = {
    "up": LazyCommand(
        place="lanista.cli.installation.stack:up",
        help="Start the local stack: Postgres, Temporal, Ray, the workers, the API and TensorBoard.",
        of_stack=True,
    ),
    "down": LazyCommand(
        place="lanista.cli.installation.stack:down", help="Stop the local stack and all its processes; data stays."
    ),
    "status": LazyCommand(
        place="lanista.cli.installation.stack:status",
        help="Show each part of the local stack, and the last log lines of a part that keeps failing.",
    ),
    "doctor": LazyCommand(
        place="lanista.cli.installation.doctor:doctor",
        help="Check every part: version, reachability, disk, memory, Ray's resources. Exit code 0 if everything is "
        "well.",
        of_stack=True,
    ),
    "demo": LazyCommand(
        place="lanista.cli.installation.demo:demo",
        help="Start the stack if it is not running, train a small league and show its champion. Ctrl-C ends it.",
        of_stack=True,
    ),
    "try": LazyCommand(
        place="lanista.cli.local.try_trial:try_trial",
        help="Train a trial file in this process, without a stack, and evaluate what it learnt.",
    ),
    "new": LazyCommand(
        place="lanista.cli.local.new:new",
        help="Make a project from a template: code, a trial file that explains every field, tests, README, Makefile.",
    ),
    "audit": LazyCommand(
        place="lanista.cli.installation.audit:audit",
        help="Recompute payoffs, ratings and counts from the recorded games. Exit code 0 only if everything agrees.",
        of_stack=True,
    ),
    "trace": LazyCommand(
        place="lanista.cli.installation.trace:trace",
        help="List the slowest generations, or show where the time of one went. Needs LANISTA_TRACING=file.",
    ),
    "backup": LazyCommand(
        place="lanista.cli.installation.backup:backup",
        help="Write the database at one moment and all artifacts into a folder, while leagues run.",
        of_stack=True,
    ),
    "prune": LazyCommand(
        place="lanista.cli.installation.prune:prune",
        help="Give up old checkpoints of training, and the moves of old matches, that nothing needs.",
        of_stack=True,
    ),
    "restore": LazyCommand(
        place="lanista.cli.installation.backup:restore",
        help="Restore a backup into a new installation that runs; its leagues go on from the backup's moment.",
        of_stack=True,
    ),
    "api": LazyCommand(
        place="lanista.cli.installation.roles:api", help="Serve the REST API and the page.", of_stack=True
    ),
    "serve": LazyCommand(
        place="lanista.cli.outside_games.serve:serve",
        help="Serve the version that an alias names, or a file of weights, to games that call in.",
        of_stack=True,
    ),
    "gateway": LazyCommand(
        place="lanista.cli.installation.roles:gateway",
        help="Run a gateway: games call in there, to train, to be gated and rated in a league.",
        of_stack=True,
    ),
    "migrate": LazyCommand(
        place="lanista.cli.installation.roles:migrate",
        help="Migrate the database's schema and exit. Safe to repeat and to run concurrently.",
        of_stack=True,
    ),
    "rpc": LazyCommand(
        place="lanista.cli.outside_games.rpc:rpc",
        help="Serve the gRPC services Policy, Parameters and Replay, and those of your own, in the foreground.",
        of_stack=True,
    ),
    "bench": LazyCommand(
        place="lanista.cli.installation.bench:bench",
        help="List the measurements, or run one: lanista bench NAME [ITS OPTIONS]. Needs a source checkout.",
        context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    ),
    "worker": LazyCommand(
        place="lanista.cli.installation.roles:worker",
        help="Run one worker in the foreground, as on a cluster.",
        of_stack=True,
    ),
    "trial": LazyCommand(
        place="lanista.cli.leagues.trial:trial", help="Trials: check, start, watch, pause, resume, stop, fork."
    ),
    "project": LazyCommand(
        place="lanista.cli.leagues.sharing:project", help="Projects: list them, change their share of the crews."
    ),
    "queue": LazyCommand(
        place="lanista.cli.leagues.sharing:queue",
        help="Show who waits for whom: the trials that share crews, their shares, what waits, since when and behind "
        "whom.",
    ),
    "game": LazyCommand(place="lanista.cli.local.game:game", help="Games: check one of your own."),
    "league": LazyCommand(
        place="lanista.cli.leagues.league:league", help="The league: payoff, ratings, decisions and their reasons."
    ),
    "player": LazyCommand(
        place="lanista.cli.leagues.player:player", help="Players of a league: list, add, retune, retire."
    ),
    "match": LazyCommand(place="lanista.cli.leagues.match:match", help="Recorded games: list, show, replay."),
    "play": LazyCommand(
        place="lanista.cli.leagues.play:play",
        help="Play a game against a version in the terminal. Type a move's name or number; Ctrl-C leaves the game.",
    ),
    "model": LazyCommand(
        place="lanista.cli.leagues.model_export:model",
        help="Model versions: list, promote, roll back, download, export.",
    ),
    "gate": LazyCommand(place="lanista.cli.leagues.gate:gate", help="Promotion gates: list, show, stop."),
    "data": LazyCommand(place="lanista.cli.leagues.data:data", help="Data sets for imitation and offline learning."),
    "gamecore": LazyCommand(
        place="lanista.cli.outside_games.gamecore:gamecore",
        help="Recorded games of outside processes: list, download, replay.",
    ),
    "simulator": LazyCommand(
        place="lanista.cli.outside_games.simulator:simulator",
        help="Run a Gymnasium or PettingZoo environment as an outside process that calls a gateway.",
        of_stack=True,
    ),
    "fake": LazyCommand(
        place="lanista.cli.outside_games.fake:fake", help="Stand-ins for the parts of a game that calls in."
    ),
    "convert": LazyCommand(
        place="lanista.cli.local.convert:convert", help="Convert configurations of other systems to trial files."
    ),
    "tournament": LazyCommand(
        place="lanista.cli.leagues.tournament:tournament", help="Tournaments: run, list, show, report, cancel."
    ),
    "schedule": LazyCommand(
        place="lanista.cli.leagues.schedule:schedule",
        help="Schedules of tournaments: create, pause, resume, trigger, delete.",
    ),
    "find": LazyCommand(
        place="lanista.cli.leagues.find:find",
        help="Find trials, players, versions, tournaments and sweeps by name.",
    ),
    "compare": LazyCommand(
        place="lanista.cli.leagues.compare:compare",
        help="Compare trials: what differs in their files, their curves, and their champions against each other.",
    ),
    "sweep": LazyCommand(
        place="lanista.cli.leagues.sweep:sweep",
        help="Sweeps over trials: start, check, list, show, pause, resume, stop.",
    ),
    "alert": LazyCommand(
        place="lanista.cli.leagues.alert:alert",
        help="Alerts by webhook, Slack or e-mail: channels, rules, deliveries.",
    ),
    "share": LazyCommand(
        place="lanista.cli.leagues.share:share",
        help="Read-only links to a trial or a tournament: create, list, revoke.",
    ),
    "probe": LazyCommand(
        place="lanista.cli.leagues.probe:probe",
        help="Train fresh responders against a frozen version. What they win is a lower bound on its exploitability.",
    ),
    "probes": LazyCommand(
        place="lanista.cli.leagues.probe:probes",
        help="List the probes of a trial's versions, newest first: how exploitable each was at least.",
    ),
    "token": LazyCommand(
        place="lanista.cli.installation.token:token", help="API tokens: make, list and revoke them.", of_stack=True
    ),
}
"""Every command and group of commands, in the order of `lanista --help`."""

app = typer.Typer(
    name="lanista",
    cls=lazy_group(COMMANDS),
    help="Durable league training for game-playing agents.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(help="Durable league training for game-playing agents.")
def _lanista() -> None:
    """Makes the app a group."""


def main() -> None:
    """Run the command. Errors that the user can fix are one message, never a stack trace."""
    try:
        _refuse_unknown_settings()
        app()
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:
        from lanista.cli.failures import report

        report(error)
        raise
    finally:
        gc.freeze()  # the interpreter would look through all that was imported once more before it exits


def _refuse_unknown_settings() -> None:
    """Check the names of settings where there are any."""
    if any_given():
        from lanista.settings import refuse_unknown

        refuse_unknown()
