"""`robogaze env`: lists, checks, serves and builds interactive environments."""

from __future__ import annotations

import asyncio
import json
import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING

import click

from robogaze.cli import interrupt
from robogaze.cli.shared.runs import model_option
from robogaze.cli.shared.types import FiniteRange, GivenPath

if TYPE_CHECKING:
    from robogaze.interactive.builder.build import BuiltEnvironment
    from robogaze.interactive.environments.check import Checked


@click.group()
def env() -> None:
    """List, check, serve and build interactive environments: programs in which an agent looks for bugs."""


@env.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def list_(as_json: bool) -> int:
    """List the built-in environments and their documented bugs."""
    from robogaze.interactive.environments import built_in_environments, load_folder

    folders = [load_folder(name) for name in built_in_environments()]
    if as_json:
        rows = [
            {
                "name": folder.name,
                "title": folder.title,
                "engine": folder.engine,
                "version": folder.version,
                "bugs": [{"id": bug.id, "difficulty": bug.difficulty} for bug in folder.bugs],
            }
            for folder in folders
        ]
        click.echo(json.dumps({"schema_version": 1, "environments": rows}))
        return 0
    for folder in folders:
        bugs = ", ".join(f"{bug.id} ({bug.difficulty})" for bug in folder.bugs)
        click.echo(f"{folder.name:12} {folder.title} (engine {folder.engine}); bugs: {bugs}")
    return 0


@env.command()
@click.argument("spec")
@click.option(
    "--timeout",
    "timeout_s",
    type=FiniteRange(min=0, min_open=True),
    default=30.0,
    show_default=True,
    help="Seconds to wait for a reply.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def check(spec: str, timeout_s: float, as_json: bool) -> int:
    """Check an environment; the exit code is 1 if a check fails.

    SPEC is a built-in environment, a folder, or the address http://HOST:PORT of a hub. The protocol is always checked.
    For a built-in environment or a folder, the command also checks the walkthrough and the bugs. The walkthrough must
    win both in the build with all bugs and in the build without bugs. For each bug, the minimal reproduction must show
    the bug in a build that has this bug, and must not show it in the same build without this bug.
    """
    from robogaze.cli import EXIT_ERROR
    from robogaze.datasets.builds import is_address
    from robogaze.interactive.environments import load_folder
    from robogaze.interactive.environments.check import check_folder, check_protocol

    folder = None if is_address(spec) else load_folder(spec.partition(":")[0])

    async def checked() -> tuple[Checked, ...]:
        protocol = await check_protocol(spec, timeout_s)
        return protocol if folder is None else (*protocol, *await check_folder(folder, timeout_s))

    results = asyncio.run(checked())
    failed = sum(bool(result.problem) for result in results)
    if as_json:
        rows = [{"check": result.name, "problem": result.problem or None} for result in results]
        click.echo(json.dumps({"schema_version": 1, "environment": spec, "failed": failed, "checks": rows}))
    else:
        for result in results:
            click.echo(
                f"{'FAILED' if result.problem else 'ok':7}{result.name}{result.problem and ': ' + result.problem}"
            )
    click.echo(f"{len(results) - failed} of {len(results)} checks passed", err=True)
    return EXIT_ERROR if failed else 0


@env.command()
@click.argument("spec")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=5000, show_default=True, help="Port to listen on; 0 takes any free port.")
def serve(spec: str, host: str, port: int) -> int:
    """Serve an environment over HTTP until you interrupt the command. The server uses the URL paths of a GBQA hub.

    SPEC is a built-in environment or a folder. NAME:clean serves the build without bugs. NAME:+BUG serves the build
    with only this bug. NAME:-BUG serves the build with all bugs except this one.

    Example: robogaze env serve castle --port 5000
    """
    from robogaze.errors import MissingExtra
    from robogaze.interactive.environments import load_folder, open_environment
    from robogaze.interactive.environments.server import serve_environment

    folder = load_folder(spec.partition(":")[0])
    app = serve_environment(lambda: open_environment(spec, mode="qa"), folder.title, folder.version)
    try:
        import uvicorn
    except ImportError as error:
        raise MissingExtra("uvicorn", "environments") from error
    with socket.create_server((host, port)) as listening:
        click.echo(f"{folder.title} at http://{host}:{listening.getsockname()[1]} (Ctrl-C ends the server)", err=True)
        uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listening])
    return 0


@env.command()
@click.argument("proposal")
@model_option(required=True)
@click.option("--out", required=True, type=GivenPath(file_okay=False), help="New folder for the environment.")
@click.option("--bugs", default="easy=2,medium=1", show_default=True, metavar="DIFFICULTY=N,...",
              help="Number of bugs of each difficulty: easy, medium or hard.")  # fmt: skip
@click.option("--target", type=FiniteRange(0, 1), metavar="SHARE",
              help="Extend the environment until an agent finds at least this share of the bugs.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def new(
    proposal: str,
    model: str,
    out: Path,
    bugs: str,
    target: float | None,
    as_json: bool,
) -> int:
    """From a PROPOSAL of a few sentences, build an environment with bugs.

    A model writes the design document and the program, and adds the bugs. The program runs in a separate process. The
    command runs the program to prove that the environment can be won and that each bug can be reproduced. Run the same
    command again to resume a build. To play the environment, use `robogaze play FOLDER`.
    """
    from robogaze.cli import EXIT_UNFINISHED, quiet_retries
    from robogaze.interactive.builder.build import BuildOptions, build_environment
    from robogaze.interactive.environments.program import without_network

    options = BuildOptions(_numbers(bugs), target)
    quiet_retries()
    if not without_network():
        click.echo(
            "warning: programs run with network access, because this system cannot start a process without "
            "network access",
            err=True,
        )
    interrupt.keeps(f"answers are kept in {out}; run the same command again to resume")
    built = asyncio.run(
        build_environment(
            proposal, model=model, out=out, options=options, environ=os.environ,
            say=lambda line: click.echo(line, err=True),
        )
    )  # fmt: skip
    _show_built(built, as_json)
    if not built.reached:
        click.echo(
            f"the share of bugs that the agent found is {built.found[-1]:.2f}; the target is at least {built.target:g}",
            err=True,
        )
    return 0 if built.reached else EXIT_UNFINISHED


def _numbers(bugs: str) -> dict[str, int]:
    """`easy=2,medium=1` as numbers by difficulty."""
    found: dict[str, int] = {}
    for part in bugs.split(","):
        name, sign, number = part.strip().partition("=")
        if not sign or not number.isdecimal() or name in found:
            raise click.UsageError(f"--bugs must be DIFFICULTY=N,..., such as easy=2,medium=1; found: {bugs!r}")
        found[name] = int(number)
    return found


def _show_built(built: BuiltEnvironment, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps({"schema_version": 1, "folder": str(built.folder), **built.record}))
        return
    click.echo(f"{built.title}: {built.folder}")
    for bug in built.bugs:
        click.echo(f"  {bug.answer.id} ({bug.difficulty}): {bug.answer.observed_fault}")
    click.echo(f"    can be won with {len(built.walkthrough)} commands; calls to models: {built.usage.calls}")
