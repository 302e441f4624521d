"""What models answer while an environment is built."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import StringConstraints, WithJsonSchema

from robogaze.domains.contract import Answer, Phrase, Text, list_of

_WORD = r"^[a-z][a-z0-9_]{0,40}$"
_NAME = r"^[A-Za-z][A-Za-z0-9_]{0,40}$"

Word = Annotated[str, StringConstraints(pattern=_WORD), WithJsonSchema({"type": "string", "pattern": _WORD})]
PartName = Annotated[str, StringConstraints(pattern=_NAME), WithJsonSchema({"type": "string", "pattern": _NAME})]
CodeLine = Annotated[
    str, StringConstraints(max_length=500, pattern=r"^[^\n\r]*$"), WithJsonSchema({"type": "string", "maxLength": 240})
]
"""A line of Python with its indentation."""

Lines = list_of(CodeLine, 120, 1)


class ConceptAnswer(Answer):
    """The concept of an environment, which the producer writes."""

    title: Phrase
    genre: Phrase
    premise: Text
    role: Phrase
    goal: Text
    winning_condition: Text
    mechanics: list_of(Text, 8, 2)  # type: ignore[valid-type]
    commands: list_of(Phrase, 20, 1)  # type: ignore[valid-type]


class Task(Answer):
    """A task of a team; `needs` are the ids of the tasks that must be done first."""

    id: PartName
    title: Phrase
    instructions: Text
    needs: list_of(PartName, 14)  # type: ignore[valid-type]


class PlanAnswer(Answer):
    """The plan of a leader."""

    tasks: list_of(Task, 14, 1)  # type: ignore[valid-type]

    def fault(self, most: int, required: Sequence[str]) -> str | None:
        """Why the plan cannot be carried out, else None."""
        ids = [task.id for task in self.tasks]
        if len(set(ids)) < len(ids):
            return "tasks: two tasks have one id"
        if len(ids) > most:
            return f"tasks: at most {most} are allowed, not {len(ids)}"
        if missing := [name for name in required if name not in ids]:
            return f"tasks: there is no task {', '.join(missing)}"
        if unknown := [need for task in self.tasks for need in task.needs if need not in ids]:
            return f"tasks: a task needs {unknown[0]}, which is no task"
        done: set[str] = set()
        while ready := [task.id for task in self.tasks if task.id not in done and done.issuperset(task.needs)]:
            done.update(ready)
        waiting = [name for name in ids if name not in done]
        return f"tasks: {', '.join(waiting)} need each other" if waiting else None


class SectionAnswer(Answer):
    """The text of a section."""

    paragraphs: list_of(Text, 24, 1)  # type: ignore[valid-type]


class PartAnswer(Answer):
    """The lines of a part."""

    lines: Lines  # type: ignore[valid-type]


class NamedPart(Answer):
    """A part with its name."""

    name: PartName
    lines: Lines  # type: ignore[valid-type]


class Verdict(Answer):
    """A leader's verdict on a result."""

    id: PartName
    accepted: bool
    reason: Text


class ReviewAnswer(Answer):
    """The verdicts on all results of a team."""

    verdicts: list_of(Verdict, 14, 1)  # type: ignore[valid-type]

    def fault(self, ids: Sequence[str]) -> str | None:
        """The error if any id does not have exactly one verdict; None if there is no error."""
        given = [verdict.id for verdict in self.verdicts]
        return None if sorted(given) == sorted(ids) else f"verdicts: there must be one for each of {', '.join(ids)}"


Commands = list_of(Phrase, 80, 1)


class WalkthroughAnswer(Answer):
    """Commands that win."""

    commands: Commands  # type: ignore[valid-type]


class RepairAnswer(Answer):
    """A correction of the program, of the commands that win, or of both."""

    cause: Text
    parts: list_of(NamedPart, 6)  # type: ignore[valid-type]
    walkthrough: Commands | None  # type: ignore[valid-type]


class BugAnswer(Answer):
    """A bug: the lines that replace the lines of a part, the commands that show the bug, and a description of the
    fault.
    """

    id: Word
    bug_type: Phrase
    part: PartName
    lines: Lines  # type: ignore[valid-type]
    minimal_reproduction: list_of(Phrase, 40, 1)  # type: ignore[valid-type]
    observed_fault: Text


class NewSection(Answer):
    """A section with its heading."""

    title: Phrase
    paragraphs: list_of(Text, 12, 1)  # type: ignore[valid-type]


class ExtensionAnswer(Answer):
    """One more mechanic."""

    section: NewSection
    parts: list_of(NamedPart, 6, 1)  # type: ignore[valid-type]
    walkthrough: Commands  # type: ignore[valid-type]
