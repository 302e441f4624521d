"""The command line: the only place that prints, reads the environment and knows exit codes.

stdout gets data; stderr gets progress and messages.

0 done · 1 error · 2 usage · 3 a gate failed · 4 finished, but some clips are incomplete ·
5 no backend or environment can be reached · 130 interrupted
"""

import logging
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

import click

from robogaze.cli import interrupt
from robogaze.cli.shared.flags import with_flags
from robogaze.errors import EnvironmentFault, OptionError, RobogazeError, Unreachable

_COMMANDS = (
    "score",
    "bench",
    "merge",
    "evaluate",
    "compare",
    "rank",
    "agree",
    "annotate",
    "annotations",
    "judge-check",
    "play",
    "report",
    "domain",
    "dataset",
    "env",
    "forge",
    "doctor",
    "serve",
)
"""Each is a module of this package with a click command of the same name (dashes aside), imported when needed."""

EXIT_ERROR, EXIT_USAGE, EXIT_UNFINISHED, EXIT_UNREACHABLE = 1, 2, 4, 5

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
    """Find what failed in generated clips, when, why and how badly, and show the frames in which it failed."""


def main() -> None:
    """Run the command line and exit with its code."""
    with interrupt.watching(), _messages():
        code = _run()
    _let_threads_end()
    sys.exit(code if isinstance(code, int) else 0)


class _Stderr(logging.Handler):
    """Prints the messages of the library, one sentence per line."""

    def emit(self, record: logging.LogRecord) -> None:
        click.echo(with_flags(record.getMessage()), err=True)


@contextmanager
def _messages() -> Iterator[None]:
    """Show the messages of the library inside the context."""
    logger, handler = logging.getLogger("robogaze"), _Stderr()
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


def _run() -> object:
    """Run the command; the result is its exit code if it is a number."""
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
        click.echo(interrupt.message(), err=True)
        code = interrupt.EXIT_INTERRUPTED
    except Exception as error:
        # Every other error is shown as one sentence, and with --debug as a traceback.
        if "--debug" in sys.argv:
            raise
        code = _explain(error)
    return code


def _let_threads_end() -> None:
    """Wait briefly for threads whose work was abandoned, because the process must not end inside a library call."""
    from threading import enumerate as threads

    until = time.monotonic() + _THREADS_END_S
    for thread in threads():
        while thread.is_alive() and thread.name == "robogaze work" and time.monotonic() < until:
            thread.join(0.01)  # a thread without work stays alive under another name


def _explain(error: Exception) -> int:
    """Print the error in one sentence; return the exit code."""
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, RobogazeError):
        click.echo(f"error: {with_flags(str(error))}", err=True)
        if isinstance(error, OptionError):
            return EXIT_USAGE
        fault = isinstance(error, EnvironmentFault) and error.kind == "unreachable"
        return EXIT_UNREACHABLE if fault or isinstance(error, Unreachable) else EXIT_ERROR
    if isinstance(error, OSError):
        what = f"{error.filename}: {error.strerror}" if error.filename else f"{error.strerror or error}"
        click.echo(f"error: {what}", err=True)
        _give_up_stdout()
        return EXIT_ERROR
    message = " ".join(str(error).split())
    click.echo(
        f"error: {type(error).__name__}: {message}; this is a bug in RoboGaze; use --debug to see where it is", err=True
    )
    return EXIT_ERROR


def _give_up_stdout() -> None:
    """Replace a stdout that cannot be written, because Python would fail again when it flushes stdout at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def quiet_retries() -> None:
    """Do not print a line for each retry. Failures are counted and shown at the end."""
    from stamina.instrumentation import set_on_retry_hooks

    set_on_retry_hooks(())
