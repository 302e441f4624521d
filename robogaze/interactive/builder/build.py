"""Builds an environment in steps: a producer writes the concept, teams write the design and the program, a proof shows
that the environment can be won, bugs are added, and an agent plays the environment.

Every answer is stored, so the same call resumes a build that was stopped or killed: answered requests are not sent
again, and the same answers lead to the same build. The environment is written when every proof holds.

    FOLDER/world.yaml ...              the environment (see `robogaze.interactive.environments.folder`)
    FOLDER/build/asked.json            the proposal and the options
    FOLDER/build/calls.sqlite          the answers
    FOLDER/build/build.json            the result, the models, and the cost
    FOLDER/build/preliminary-N/        the run folder of the preliminary play before extension N + 1
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from robogaze.backends import AnswerStore, Models, ModelsConfig
from robogaze.core.report import Usage
from robogaze.domains import load_domain
from robogaze.errors import BuildFailed, InputError, OptionError
from robogaze.evaluation.bugs import evaluate_bugs_async
from robogaze.interactive.builder.build_answers import (
    BugAnswer,
    ConceptAnswer,
    ExtensionAnswer,
    RepairAnswer,
    WalkthroughAnswer,
)
from robogaze.interactive.builder.build_client import BUILD_PROMPTS, BuildClient
from robogaze.interactive.builder.builder_spec import BuilderSpec, read_builder
from robogaze.interactive.builder.draft import (
    BUGS_VERSION,
    DesignSection,
    Draft,
    PlantedBug,
    json_text,
    problems,
    replies,
)
from robogaze.interactive.builder.teams import work
from robogaze.interactive.environments.program import problem_in_part
from robogaze.interactive.environments.program_process import MODULES
from robogaze.interactive.play import open_plays
from robogaze.interactive.play_options import DOMAIN, PlayOptions
from robogaze.stages.asking import NoAnswer
from robogaze.store import write_whole
from robogaze.version import VERSION

DIFFICULTIES = ("easy", "medium", "hard")


@dataclass(frozen=True)
class BuildOptions:
    """What is built, and how.

    Args:
        bugs: The number of bugs by difficulty.
        target: The share of the bugs, in [0, 1], that the preliminary agent must find; None for no preliminary play.
    """

    bugs: Mapping[str, int]
    target: float | None = None

    def check(self) -> None:
        """Raise OptionError for a number out of its range and for an unknown difficulty."""
        if unknown := [name for name in self.bugs if name not in DIFFICULTIES]:
            raise OptionError(f"the difficulty of a bug must be one of {', '.join(DIFFICULTIES)}; found: {unknown[0]}")
        if any(number < 0 for number in self.bugs.values()) or not 1 <= sum(self.bugs.values()) <= 12:
            raise OptionError("the total number of bugs must be from 1 to 12")
        if self.target is not None and not 0 <= self.target <= 1:
            raise OptionError(f"target must be in [0, 1], not {self.target}")


@dataclass(frozen=True)
class BuiltEnvironment:
    """A built environment. `found` has the share of bugs that the agent found, one value for each preliminary play."""

    folder: Path
    title: str
    bugs: tuple[PlantedBug, ...]
    walkthrough: tuple[str, ...]
    found: tuple[float, ...]
    target: float | None
    usage: Usage

    @property
    def reached(self) -> bool:
        """Whether the agent found at least the share `target` in the last preliminary play."""
        return self.target is None or self.found[-1] >= self.target

    @property
    def record(self) -> dict[str, Any]:
        """The environment as JSON, without its folder."""
        return {
            "title": self.title,
            "bugs": [bug.record for bug in self.bugs],
            "walkthrough": self.walkthrough,
            "target": self.target,
            "found": self.found,
            "reached": self.reached,
            "usage": self.usage.model_dump(),
        }


async def build_environment(
    proposal: str,
    *,
    model: str,
    out: Path,
    options: BuildOptions,
    environ: Mapping[str, str],
    say: Callable[[str], None] = lambda line: None,
) -> BuiltEnvironment:
    """Build an environment from a proposal, a text of a few sentences. `say` is called with a line of text after each
    step.

    The model also plays the environment, and judges which bugs were found.

    Raises OptionError for an invalid option, InputError if the folder contains another build, and RunStopped if answers
    are pending. Raises BuildFailed if a model gives no valid answer, or if a proof fails in all tries that the builder
    allows.
    """
    options.check()
    models = ModelsConfig.read(model)
    domain = load_domain(DOMAIN)
    for prompt, variables in BUILD_PROMPTS.items():
        domain.prompts.check(prompt, variables)
    kept = out / "build"
    asked = json_text({"proposal": proposal, "bugs": dict(options.bugs), "target": options.target})
    _check_folder(out, asked)
    write_whole(kept / "asked.json", asked)
    with closing(AnswerStore(kept / "calls.sqlite")) as answers:
        opened = Models.open(models, answers, environ, usage=answers)
        try:
            await opened.ready()
            client = BuildClient(domain, opened, _name_of(out))
            build = _Build(read_builder(DOMAIN), options, client, model, models, kept, environ, say)
            draft, found = await build.run(Draft(client.name, proposal))
        except NoAnswer as missing:
            raise BuildFailed(f"{missing.failure.stage}: {missing.failure.message}") from missing
        finally:
            await opened.close()
    draft.write(out)
    assert draft.concept is not None
    built = BuiltEnvironment(
        out, draft.concept.title, draft.bugs, draft.walkthrough, tuple(found), options.target, client.usage()
    )
    head = {"schema_version": 1, "robogaze": VERSION, "proposal": proposal, "models": models.answer_settings()}
    write_whole(kept / "build.json", json_text({**head, **built.record}))
    return built


@dataclass
class _Build:
    """The steps of one build."""

    spec: BuilderSpec
    options: BuildOptions
    client: BuildClient
    model: str
    models: ModelsConfig
    kept: Path
    environ: Mapping[str, str]
    say: Callable[[str], None]

    async def run(self, draft: Draft) -> tuple[Draft, list[float]]:
        concept = await self.client.ask("build_proposal", "concept", ConceptAnswer, draft.known(), {})
        draft = replace(draft, concept=concept)
        self.say(f"concept: {concept.title}")
        for team in self.spec.teams:
            draft = await work(team, draft, self.client, self.spec.reviews)
            made = len(draft.sections) if team.makes == "sections" else len(draft.code)
            self.say(f"{team.title}: {made} {team.makes}")
        found = await self.client.ask("build_walkthrough", "walkthrough", WalkthroughAnswer, draft.known(), {})
        draft = await self._won(replace(draft, walkthrough=tuple(found.commands)), "")
        for difficulty in DIFFICULTIES:
            for number in range(1, self.options.bugs.get(difficulty, 0) + 1):
                draft = await self._planted(draft, difficulty, f"{difficulty} {number}")
        return await self._hard_enough(draft)

    async def _won(self, draft: Draft, where: str) -> Draft:
        """The draft after the corrections that make it winnable. Raises BuildFailed."""
        for number in range(1, self.spec.repairs + 1):
            wrong = await problems(draft)
            if not wrong:
                self.say(f"won with {len(draft.walkthrough)} commands{where}")
                return draft
            variables = {"problem": "; ".join(wrong), "replies": await replies(draft), "modules": MODULES}
            repair = await self.client.ask(
                "build_repair", f"repair {number}{where}", RepairAnswer, draft.known(), variables,
                partial(_parts_fault, draft.taken),
            )  # fmt: skip
            self.say(f"correction {number}{where}: {repair.cause}")
            draft = draft.corrected(repair.parts, repair.walkthrough)
        if wrong := await problems(draft):
            raise BuildFailed(f"the environment cannot be won after {self.spec.repairs} corrections: {wrong[0]}")
        return draft

    async def _planted(self, draft: Draft, difficulty: str, subject: str) -> Draft:
        """The draft with one more proved bug. Raises BuildFailed."""
        problem, before = "", None
        for number in range(1, self.spec.bug_tries + 1):
            variables = {
                "difficulty": difficulty,
                "taken": draft.taken,
                "bugs": tuple(bug.record for bug in draft.bugs),
                "problem": problem,
                "before": before,
            }
            answer = await self.client.ask(
                "build_bug", f"{subject}{f' {number}' if number > 1 else ''}", BugAnswer, draft.known(), variables,
                lambda answer: _bug_fault(answer, draft),
            )  # fmt: skip
            with_bug = draft.with_bug(PlantedBug(difficulty, answer))
            wrong = await problems(with_bug)
            if not wrong:
                self.say(f"bug {answer.id} ({difficulty}): proved in {len(answer.minimal_reproduction)} commands")
                return with_bug
            problem, before = "; ".join(wrong), answer.model_dump()
            self.say(f"bug {answer.id} ({difficulty}) is not proved: {wrong[0]}")
        raise BuildFailed(
            f"no {difficulty} bug could be proved in {self.spec.bug_tries} tries; problem of the last try: {problem}"
        )

    async def _hard_enough(self, draft: Draft) -> tuple[Draft, list[float]]:
        """The draft, extended until the preliminary agent finds the share `target`, and the shares that it found."""
        found: list[float] = []
        if self.options.target is None:
            return draft, found
        for number in range(self.spec.extensions + 1):
            share = await self._played(draft, number)
            found.append(share)
            total = len(draft.bugs)
            self.say(f"bugs that the preliminary agent found: {round(share * total)} of {total}")
            if share >= self.options.target or number == self.spec.extensions:
                break
            draft = await self._extended(draft, share, number + 1)
        return draft, found

    async def _played(self, draft: Draft, number: int) -> float:
        """The share of the bugs that the preliminary agent finds."""
        folder = self.kept / f"preliminary-{number}"
        environment = folder / draft.name
        draft.write(environment)
        preliminary = self.spec.preliminary
        options = PlayOptions(mode=preliminary.mode, budget=preliminary.budget, agent=preliminary.agent)
        async with open_plays([str(environment)], folder / "run", self.models, options, self.environ) as run:
            await run.execute()
        if run.stopped is not None:
            raise run.stopped
        bugs = environment / "bugs" / f"{BUGS_VERSION}.json"
        result = await evaluate_bugs_async(
            {"preliminary": folder / "run"}, bugs, judge=self.model, environ=self.environ
        )
        recall = result.systems[0].scores.recall
        if not recall.defined:
            raise BuildFailed("the judge gave no answer, so it is not known which bugs the preliminary agent found")
        return recall.value

    async def _extended(self, draft: Draft, share: float, number: int) -> Draft:
        total = len(draft.bugs)
        variables = {"found": round(share * total), "total": total, "taken": draft.taken, "modules": MODULES}
        extension = await self.client.ask(
            "build_extension", f"extension {number}", ExtensionAnswer, draft.known(), variables,
            partial(_parts_fault, draft.taken),
        )  # fmt: skip
        self.say(f"extension {number}: {extension.section.title}")
        wider = draft.with_sections([DesignSection(extension.section.title, tuple(extension.section.paragraphs))])
        where = f" after extension {number}"
        wider = await self._won(wider.corrected(extension.parts, extension.walkthrough), where)
        difficulty = DIFFICULTIES[min(number, len(DIFFICULTIES)) - 1]
        return await self._planted(wider, difficulty, f"{difficulty}{where}")


def _parts_fault(taken: Sequence[str], answer: RepairAnswer | ExtensionAnswer) -> str | None:
    for part in answer.parts:
        if part.name in taken:
            return f"parts: {part.name} has a bug in it and must stay as it is"
        if problem := problem_in_part(part.name, "\n".join(part.lines)):
            return f"parts: {part.name}: {problem}"
    return None


def _bug_fault(answer: BugAnswer, draft: Draft) -> str | None:
    if answer.part not in draft.code:
        return f"part: there is no {answer.part}; the parts are {', '.join(draft.code)}"
    if answer.part in draft.taken:
        return f"part: {answer.part} has another bug; change another part"
    if answer.id in [bug.answer.id for bug in draft.bugs]:
        return f"id: there is a bug {answer.id} already"
    if tuple(answer.lines) == draft.code[answer.part]:
        return "lines: they are those of the part without a bug"
    return problem_in_part(answer.part, "\n".join(answer.lines)) or None


def _name_of(out: Path) -> str:
    return out.resolve().name


def _check_folder(out: Path, asked: str) -> None:
    """Raise InputError for a folder that contains anything other than a build with the same proposal and options."""
    path = out / "build" / "asked.json"
    if path.is_file():
        if path.read_text(encoding="utf-8") != asked:
            raise InputError(
                f"{out} already contains a build with other options; use another folder, or the options in {path}"
            )
    elif out.is_dir() and any(out.iterdir()):
        raise InputError(f"{out} is not empty and contains no build; use another folder")
