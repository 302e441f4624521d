"""`robogaze env`: lists, checks and serves interactive environments."""

from __future__ import annotations

import asyncio
import json
import socket
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from robogaze.interactive.environments.check import Checked


@click.group()
def env() -> None:
    """Interactive environments: programs that an agent acts in to find their bugs."""


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
@click.option("--version", help="Version of the documented bugs.  [default: the last]")
@click.option("--timeout", "timeout_s", default=30.0, show_default=True, help="Seconds to wait for a reply.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def check(spec: str, version: str | None, timeout_s: float, as_json: bool) -> int:
    """Check an environment; exit 1 if a check fails.

    SPEC is a built-in environment, a folder, or http://HOST:PORT of a hub. The protocol is checked for all of them. For
    the first two also: the walkthrough wins, with all bugs and without any; the minimal reproduction of each bug shows
    it, and does not in the build that differs in this bug alone.
    """
    from robogaze.cli import EXIT_ERROR
    from robogaze.interactive.environments import load_folder
    from robogaze.interactive.environments.check import check_folder, check_protocol

    folder = None if spec.startswith(("http://", "https://")) else load_folder(spec.partition(":")[0], version)

    async def checked() -> tuple[Checked, ...]:
        protocol = await check_protocol(spec, timeout_s, version)
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
@click.option("--version", help="Version of the documented bugs.  [default: the last]")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=5000, show_default=True, help="Port to listen on; 0 takes a free one.")
def serve(spec: str, version: str | None, host: str, port: int) -> int:
    """Serve an environment over HTTP, with the paths of a GBQA hub, until interrupted.

    SPEC is a built-in environment or a folder; NAME:clean, NAME:+BUG and NAME:-BUG serve other builds of it.

    Example: robogaze env serve castle --port 5000
    """
    from robogaze.errors import MissingExtra
    from robogaze.interactive.environments import load_folder, open_environment
    from robogaze.interactive.environments.server import serve_environment

    folder = load_folder(spec.partition(":")[0], version)
    app = serve_environment(lambda: open_environment(spec, mode="qa", version=version), folder.title, folder.version)
    try:
        import uvicorn
    except ImportError as error:
        raise MissingExtra("uvicorn", "environments") from error
    with socket.create_server((host, port)) as listening:
        click.echo(f"{folder.title} at http://{host}:{listening.getsockname()[1]} (Ctrl-C ends it)", err=True)
        uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listening])
    return 0
