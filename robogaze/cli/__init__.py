"""The command line: the only place that prints, reads the environment and knows exit codes.

stdout is data, stderr is progress and messages.

0 done · 1 error · 2 usage · 3 a gate failed · 4 finished, but some clips were not judged to the end ·
5 no backend can be reached · 130 interrupted
"""

import sys
from importlib import import_module

import click

from robogaze.errors import RobogazeError, Unreachable

_COMMANDS = ("score", "evaluate", "agree", "judge-check", "report", "domain", "doctor", "serve")
"""Each is a module of this package with a click command of the same name, but for dashes; imported when called for."""

EXIT_ERROR, EXIT_UNFINISHED, EXIT_UNREACHABLE, EXIT_INTERRUPTED = 1, 4, 5, 130


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
    """Say what failed, when, why and how badly in generated clips, with the frames that show it."""


def main() -> None:
    """Run the command line and exit with its code."""
    try:
        code = cli.main(standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        code = error.exit_code
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        code = EXIT_INTERRUPTED
    except RobogazeError as error:
        if "--debug" in sys.argv:
            raise
        click.echo(f"error: {error}", err=True)
        code = EXIT_UNREACHABLE if isinstance(error, Unreachable) else EXIT_ERROR
    sys.exit(code if isinstance(code, int) else 0)
