"""An unfinished environment: its files, the proof that it can be won, and the proof that each bug can be seen."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from robogaze.datasets.formats.gbqa import bug_file
from robogaze.errors import DomainError, EnvironmentFault
from robogaze.interactive.builder.build_answers import BugAnswer, ConceptAnswer, NamedPart
from robogaze.interactive.builder.build_client import BuildVariables
from robogaze.interactive.environments import load_folder, open_build
from robogaze.interactive.environments.check import check_folder
from robogaze.interactive.environments.folder import EnvironmentFolder
from robogaze.interactive.environments.program import problem_in
from robogaze.store import write_whole

BUGS_VERSION = "1"
"""The version of the bugs of a new environment."""

_TIMEOUT_S = 10.0
_MOST_CHARACTERS = 300
"""The maximum length of a reply in prompts."""


@dataclass(frozen=True)
class DesignSection:
    """A section of the design document."""

    title: str
    paragraphs: tuple[str, ...]


@dataclass(frozen=True)
class PlantedBug:
    """A bug with its difficulty; the lines of the bug replace the lines of one part."""

    difficulty: str
    answer: BugAnswer

    @property
    def record(self) -> dict[str, Any]:
        """The bug as it is written in `bugs/1.json`."""
        names = ("id", "bug_type", "minimal_reproduction", "observed_fault")
        return {**self.answer.model_dump(include=set(names)), "difficulty": self.difficulty}


@dataclass(frozen=True)
class Draft:
    """An unfinished environment; every change gives a new draft."""

    name: str
    request: str
    concept: ConceptAnswer | None = None
    sections: tuple[DesignSection, ...] = ()
    code: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    walkthrough: tuple[str, ...] = ()
    bugs: tuple[PlantedBug, ...] = ()

    @property
    def taken(self) -> tuple[str, ...]:
        """The parts that have a bug in some build."""
        return tuple(bug.answer.part for bug in self.bugs)

    def with_sections(self, sections: Iterable[DesignSection]) -> "Draft":
        return replace(self, sections=(*self.sections, *sections))

    def with_parts(self, parts: Mapping[str, tuple[str, ...]]) -> "Draft":
        return replace(self, code={**self.code, **parts})

    def corrected(self, parts: Iterable[NamedPart], walkthrough: Iterable[str] | None) -> "Draft":
        """The draft with changed parts. If `walkthrough` is not None, it replaces the commands that win."""
        with_parts = self.with_parts({part.name: tuple(part.lines) for part in parts})
        return with_parts if walkthrough is None else replace(with_parts, walkthrough=tuple(walkthrough))

    def with_bug(self, bug: PlantedBug) -> "Draft":
        return replace(self, bugs=(*self.bugs, bug))

    def known(self) -> BuildVariables:
        """The draft as prompts show it."""
        return BuildVariables(
            request=self.request,
            concept=None if self.concept is None else self.concept.model_dump(),
            sections=tuple({"title": part.title, "paragraphs": part.paragraphs} for part in self.sections),
            code=self.code,
            walkthrough=self.walkthrough,
        )

    def write(self, folder: Path) -> None:
        """Write the environment into a folder (see `robogaze.interactive.environments.folder`)."""
        title = self.name if self.concept is None else self.concept.title
        bugs = [bug.record for bug in self.bugs]
        changes = {
            bug.answer.id: [{"at": ["code", bug.answer.part], "value": list(bug.answer.lines)}] for bug in self.bugs
        }
        # JSON is valid YAML, and a list of lines keeps the lines of the program apart.
        files = {
            "world.yaml": json_text({"engine": "program", "title": title, "code": self.code}),
            "faults.yaml": json_text(changes),
            "walkthrough.json": json_text(self.walkthrough),
            "design.md": self._design(title),
            f"bugs/{BUGS_VERSION}.json": bug_file(self.name, title, BUGS_VERSION, bugs),
        }
        for name, text in files.items():
            write_whole(folder / name, text)

    def _design(self, title: str) -> str:
        parts = [f"# {title}\n"]
        if self.concept is not None:
            parts += [f"{self.concept.premise}\n", f"Goal: {self.concept.goal} {self.concept.winning_condition}\n"]
            parts.append("Commands: " + ", ".join(f"`{command}`" for command in self.concept.commands) + "\n")
        for section in self.sections:
            parts += [f"## {section.title}\n", *(f"{text}\n" for text in section.paragraphs)]
        return "\n".join(parts)


async def problems(draft: Draft) -> tuple[str, ...]:
    """The reasons why a proof fails; empty if every proof holds. A proof fails if the program does not run, if the
    walkthrough does not win both without bugs and with all bugs, if it gets other replies when it is repeated, or if a
    bug does not show at the last command of its minimal reproduction.
    """
    if problem := problem_in(draft.code):
        return (problem,)
    with TemporaryDirectory() as above:
        try:
            checked = await check_folder(_written(draft, Path(above)), _TIMEOUT_S)
        except (EnvironmentFault, DomainError) as error:
            return (str(error),)
    return tuple(f"{check.name}: {check.problem}" for check in checked if check.problem)


async def replies(draft: Draft) -> tuple[str, ...]:
    """The replies to the commands of the walkthrough in the build without bugs. The list ends at the first fault."""
    shown = []
    with TemporaryDirectory() as above:
        try:
            environment = open_build(_written(draft, Path(above)), frozenset(), mode="player", timeout_s=_TIMEOUT_S)
        except DomainError as error:
            return (str(error),)
        try:
            shown.append(f"(start) {(await environment.reset()).message[:_MOST_CHARACTERS]}")
            for command in draft.walkthrough:
                reply = await environment.act(command)
                shown.append(
                    f"{command} -> {reply.message[:_MOST_CHARACTERS]}{' (finished)' if reply.finished else ''}"
                )
        except EnvironmentFault as fault:
            shown.append(f"failed: {fault}")
        finally:
            await environment.close()
    return tuple(shown)


def _written(draft: Draft, above: Path) -> EnvironmentFolder:
    draft.write(above / draft.name)
    return load_folder(str(above / draft.name))


def json_text(value: Any) -> str:
    """JSON as it is written into files, with a line for each item."""
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"
