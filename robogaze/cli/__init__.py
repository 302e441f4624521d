"""The command line: the only place that prints, reads the environment and knows exit codes.

stdout is data, stderr is progress and messages.

0 done · 1 error · 2 usage · 3 a gate failed · 4 finished, but some clips are incomplete ·
5 no backend can be reached · 130 interrupted
"""

import os
import sys
import time
from importlib import import_module

import click

from robogaze.cli import interrupt
from robogaze.errors import RobogazeError, Unreachable

_COMMANDS = (
    "score",
    "bench",
    "merge",
    "evaluate",
    "compare",
    "agree",
    "judge-check",
    "report",
    "domain",
    "dataset",
    "forge",
    "doctor",
    "serve",
)
"""Each is a module of this package with a click command of the same name, but for dashes; imported when called for."""

EXIT_ERROR, EXIT_UNFINISHED, EXIT_UNREACHABLE = 1, 4, 5

_THREADS_END_S = 1.0


class _Commands(click.Group):
    """Commands that are imported when they are needed, so that `--help` answers at once."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        name = cmd_name.replace("-", "_")
        command: click.Command = getattr(import_module(f"robogaze.cli.{name}"), name)
        return command


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="robogaze")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def cli(debug: bool) -> None:
    """Find what failed in generated clips: when, why and how badly, with the frames that show it."""


def main() -> None:
    """Run the command line and exit with its code."""
    with interrupt.watching():
        code = _run()
    _let_threads_end()
    sys.exit(code if isinstance(code, int) else 0)


def _run() -> object:
    """What the command line ends with: its exit code, if it is a number."""
    code: object
    try:
        code = cli.main(standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        code = error.exit_code
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo(interrupt.said(), err=True)
        code = interrupt.EXIT_INTERRUPTED
    except Exception as error:
        # The last door: behind it there is only the traceback, which --debug shows.
        if "--debug" in sys.argv:
            raise
        code = _explain(error)
    return code


def _let_threads_end() -> None:
    """Wait, but not long, for threads whose work was given up: a library must not be cut off within a call."""
    from threading import enumerate as threads

    until = time.monotonic() + _THREADS_END_S
    for thread in threads():
        if thread.name == "robogaze work":
            thread.join(max(0.0, until - time.monotonic()))


def _explain(error: Exception) -> int:
    """Say in one sentence what ended the program; the exit code."""
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, RobogazeError):
        click.echo(f"error: {error}", err=True)
        return EXIT_UNREACHABLE if isinstance(error, Unreachable) else EXIT_ERROR
    if isinstance(error, OSError):
        what = f"{error.filename}: {error.strerror}" if error.filename else f"{error.strerror or error}"
        click.echo(f"error: {what}", err=True)
        _give_up_stdout()
        return EXIT_ERROR
    said = " ".join(str(error).split())
    click.echo(f"error: {type(error).__name__}: {said}; this is a fault of RoboGaze, --debug shows where", err=True)
    return EXIT_ERROR


def _give_up_stdout() -> None:
    """Where stdout cannot be written, Python would fail once more when it flushes it at the end."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def quiet_retries() -> None:
    """Let retries pass without a line for each: stdout is data, and what came of them is told at the end."""
    from stamina.instrumentation import set_on_retry_hooks

    set_on_retry_hooks(())
