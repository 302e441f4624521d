"""A team of a build: a leader and workers.

The leader plans tasks. The workers do tasks side by side; a task is ready when the tasks that it needs are done. Then
the leader reviews the results, and results that are not accepted are made again.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from robogaze.interactive.builder.build_answers import (
    PartAnswer,
    PlanAnswer,
    ReviewAnswer,
    SectionAnswer,
    Task,
)
from robogaze.interactive.builder.build_client import BuildClient
from robogaze.interactive.builder.builder_spec import TeamSpec
from robogaze.interactive.builder.draft import DesignSection, Draft
from robogaze.interactive.environments.program import REQUIRED, problem_in_part
from robogaze.interactive.environments.program_process import MODULES

Result = tuple[str, ...]
"""Paragraphs of a section, or lines of a part."""


async def work(team: TeamSpec, draft: Draft, client: BuildClient, reviews: int) -> Draft:
    """The draft with the results of a team. Raises NoAnswer if a model gives no valid answer, and RunStopped if answers
    are pending.
    """
    required = REQUIRED if team.makes == "parts" else ()
    plan: PlanAnswer = await client.ask(
        "build_plan", team.id, PlanAnswer, draft.known(), {"team": team, "required": required},
        lambda plan: plan.fault(team.most_tasks, required),
    )  # fmt: skip
    tasks = tuple(plan.tasks)
    results: dict[str, Result] = {}
    while ready := [task for task in tasks if task.id not in results and all(need in results for need in task.needs)]:
        # All tasks of a round are shown the same draft, so that no answer depends on which task is done first.
        now = _with(team, draft, tasks, results)
        at = client.next_round
        done = await _all([_do(team, task, tasks, now, client, at) for task in ready])
        results.update(zip((task.id for task in ready), done, strict=True))
    for round_ in range(1, reviews + 1):
        sent_back = await _review(team, tasks, _with(team, draft, tasks, results), client, round_)
        again = [task for task in tasks if task.id in sent_back]
        now = _with(team, draft, tasks, results)
        at = client.next_round
        redone = await _all(
            [_do(team, task, tasks, now, client, at, sent_back[task.id], results[task.id], round_) for task in again]
        )
        results.update(zip((task.id for task in again), redone, strict=True))
        if not again:
            break
    return _with(team, draft, tasks, results)


async def _all(work: Sequence[Any]) -> list[Any]:
    """All results. The first error is raised after all work has ended, so that a batch contains a whole round."""
    found = await asyncio.gather(*work, return_exceptions=True)
    for result in found:
        if isinstance(result, BaseException):
            raise result
    return found


async def _do(
    team: TeamSpec,
    task: Task,
    tasks: Sequence[Task],
    draft: Draft,
    client: BuildClient,
    at: int,
    reason: str = "",
    before: Result = (),
    review: int = 0,
) -> Result:
    variables = {
        "team": team, "task": task, "tasks": tasks, "reason": reason, "before": before, "modules": MODULES,
    }  # fmt: skip
    subject = f"{task.id}{f' {review}' if review else ''}"
    if team.makes == "sections":
        section = await client.ask("build_section", subject, SectionAnswer, draft.known(), variables, first_round=at)
        return tuple(section.paragraphs)
    part = await client.ask(
        "build_part", subject, PartAnswer, draft.known(), variables,
        lambda part: problem_in_part(task.id, "\n".join(part.lines)) or None, at,
    )  # fmt: skip
    return tuple(part.lines)


async def _review(
    team: TeamSpec, tasks: Sequence[Task], draft: Draft, client: BuildClient, round_: int
) -> Mapping[str, str]:
    """The reasons why results are sent back, by the id of the task."""
    ids = [task.id for task in tasks]
    review: ReviewAnswer = await client.ask(
        "build_review", f"{team.id} {round_}", ReviewAnswer, draft.known(), {"team": team, "tasks": tasks},
        lambda review: review.fault(ids),
    )  # fmt: skip
    return {verdict.id: verdict.reason for verdict in review.verdicts if not verdict.accepted}


def _with(team: TeamSpec, draft: Draft, tasks: Sequence[Task], results: Mapping[str, Result]) -> Draft:
    """The draft with the results so far, in the order of the plan."""
    made = [(task, results[task.id]) for task in tasks if task.id in results]
    if team.makes == "sections":
        return draft.with_sections(DesignSection(task.title, result) for task, result in made)
    return draft.with_parts({task.id: result for task, result in made})
