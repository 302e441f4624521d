"""How Sphinx builds the site (scripts/docs).

Two pages are generated at build time: commands.md from the click commands, api.md from `robogaze.__all__`.
"""

import inspect
import re
from collections.abc import Iterator
from typing import Any, get_type_hints

import click
from pydantic import BaseModel
from sphinx.application import Sphinx
from sphinx.util.typing import stringify_annotation

import robogaze
from robogaze.cli import cli

project = "RoboGaze"
author = "RoboGaze developers"
release = robogaze.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_heading_anchors = 4
default_role = "code"
smartquotes = False
suppress_warnings = ["config.cache"]

autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_typehints_format = "short"
autodoc_default_options = {"members": True, "exclude-members": "model_config, model_post_init"}
python_maximum_signature_line_length = 100

READMES = {
    "prompts": "prompts/README.md",
    "egocentric": "taxonomy/egocentric/README.md",
    "offline-judge": "judges/offline/README.md",
}
"""Pages of the site that are READMEs of other folders."""

html_theme = "furo"
html_title = "RoboGaze"
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False


def markdown(text: str) -> str:
    """Plain text as Markdown; what is between backticks stays."""
    parts = text.split("`")
    parts[::2] = [re.sub(r"([\\*_<>|#\[\]])", r"\\\1", part) for part in parts[::2]]
    return "`".join(parts)


def commands(command: click.Command, path: str) -> Iterator[tuple[str, click.Command, click.Context]]:
    """Every command below this one that does something, with its full name."""
    context = click.Context(command, info_name=path)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None, name
            yield from commands(child, f"{path} {name}")
    else:
        yield path, command, context


def command_reference() -> str:
    """Usage, help and options of every command."""
    lines: list[str] = []
    for path, command, context in commands(cli, "robogaze"):
        usage = " ".join(command.collect_usage_pieces(context))
        lines += ["", f"## {path}", "", "```text", f"{path} {usage}", "```", ""]
        lines += [markdown(inspect.cleandoc(command.help or "")), "", "| option | |", "|---|---|"]
        options = [option for option in command.params if isinstance(option, click.Option)]
        records = [record for option in options if (record := option.get_help_record(context))]
        lines += [f"| `{name.replace('|', chr(92) + '|')}` | {markdown(text)} |" for name, text in records]
    return "\n".join(lines)


def api_reference() -> str:
    """A directive for every public name and every class that a public function returns: functions first."""
    public = {name: getattr(robogaze, name) for name in sorted(robogaze.__all__) if not name.startswith("_")}
    classes = [name for name, value in public.items() if inspect.isclass(value)]
    functions = [name for name in public if name not in classes]
    returned = {get_type_hints(public[name])["return"] for name in functions}
    results = [each for each in returned if inspect.isclass(each) and each not in public.values()]
    sections = {
        "Functions": [f".. autofunction:: robogaze.{name}" for name in functions],
        "Classes": [f".. autoclass:: robogaze.{name}" for name in classes],
        "Results": [
            f".. autoclass:: {name}" for name in sorted(f"{each.__module__}.{each.__name__}" for each in results)
        ],
    }
    return "".join(
        "\n".join(["", f"## {title}", "", "```{eval-rst}", *directives, "```", ""])
        for title, directives in sections.items()
    )


def add_generated(app: Sphinx, docname: str, source: list[str]) -> None:
    """Append what is generated to the page that introduces it, and fill in the READMEs of other folders."""
    text = (app.srcdir.parent / READMES[docname]).read_text() if docname in READMES else source[0]
    if docname == "commands":
        text += command_reference()
    elif docname == "api":
        text += api_reference()
    elif docname == "metrics/README":
        text += "\n```{toctree}\n:hidden:\n:glob:\n\n*\n```\n"
    for page, file in READMES.items():
        text = re.sub(rf"\]\((\.\./)+{file}", f"]({page}.md", text)
    source[0] = text


def without_signature(
    app: Sphinx, what: str, name: str, documented: Any, options: Any, signature: str | None, returns: str | None
) -> tuple[str | None, str | None]:
    """A data type lists its fields below its docstring, not in a signature."""
    return ("", None) if is_data(documented) else (signature, returns)


def add_fields(app: Sphinx, what: str, name: str, documented: Any, options: Any, lines: list[str]) -> None:
    """List the fields of a data type with their types."""
    if is_data(documented):
        types = get_type_hints(documented)
        lines += [""]
        for field in documented.model_fields:
            annotation = re.sub(r"~[\w.]*\.", "", stringify_annotation(types[field], "smart"))
            lines += [f"* **{field}**: `{annotation}`"]


def is_data(documented: Any) -> bool:
    """Whether it is a class of pydantic."""
    return inspect.isclass(documented) and issubclass(documented, BaseModel)


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("source-read", add_generated)
    app.connect("autodoc-process-signature", without_signature)
    app.connect("autodoc-process-docstring", add_fields, priority=600)  # below what napoleon reads
