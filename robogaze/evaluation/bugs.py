"""Bug reports of plays against the documented bugs: recall, precision and F1 (GBQA, 3.4).

A play finds a bug if one of its reports is matched to the bug. Recall counts pairs of a bug and a play, and precision
counts reports, as if all plays were one list. A missing or unscored play finds nothing and stays in every denominator.
A play with a failed judgement is left out and counted.
"""

from collections.abc import Mapping, Sequence

from robogaze.annotations import NamedSource, ReadOptions, Source, SourceReader, named_sources
from robogaze.core.annotation import PLAY_FIELDS
from robogaze.errors import InputError, OptionError
from robogaze.evaluation import CONVENTIONS
from robogaze.evaluation.bug_matching import BugConvention
from robogaze.evaluation.bug_results import BugEvaluation
from robogaze.evaluation.bug_scores import JudgedPlay, found_bugs, score_system
from robogaze.evaluation.plays import Play, environments_in, plays_of
from robogaze.judges import open_judge
from robogaze.judges.base import Judge
from robogaze.judges.similarity import judgements
from robogaze.judges.unjudged import RecordingJudge, ask_ahead
from robogaze.sync import synchronous

RUBRIC = "gbqa"


async def evaluate_bugs_async(
    predictions: Mapping[str, Source] | Sequence[Source] | Source,
    references: Source,
    convention: str = "gbqa-0.65",
    *,
    judge: str | Judge = "offline",
    rubric: str | None = None,
    environ: Mapping[str, str] | None = None,
    reading: ReadOptions | None = None,
    by: Sequence[str] | None = None,
    reproduced_only: bool = False,
    level: float = 0.95,
) -> BugEvaluation:
    """Score the bug reports of plays against lists of bugs.

    `references` are bug files, one for each environment. `predictions` are run folders of `robogaze play`, or reports
    of GBQA's agent (JSON or Markdown); systems are named in the same way as in `robogaze.evaluate`. A play is scored
    against the list of bugs of its environment. If the environment was built with only some of these bugs, only they
    count. `by` names the settings of plays by which the scores are broken down; by default, all settings that differ.
    The other arguments are the same as in `evaluate`.

    Raises OptionError for a `level` that is out of its range. Raises InputError if a file cannot be read, if the
    convention is not for bugs, or if no play has a list of bugs.
    """
    if not 0 < level < 1:
        raise OptionError(f"level must be above 0 and below 1, not {level}")
    rules = CONVENTIONS.load(convention)
    if not isinstance(rules, BugConvention):
        raise InputError(f"the convention {convention} is not for lists of bugs; use one that starts with gbqa")
    opened = open_judge(judge, rubric or RUBRIC, environ)
    reader = SourceReader(reading or ReadOptions(), None)
    environments = environments_in(reader.read(NamedSource.of(references)))
    read = [
        plays_of(source.label, reader.read(source), environments, reproduced_only=reproduced_only)
        for source in named_sources(predictions)
    ]
    plays = [play for found, _ in read for play in found]
    unreferenced = tuple(name for _, others in read for name in others)
    _check_any_play(plays, unreferenced, tuple(environments))
    await ask_ahead(opened, lambda planned: _judge_plays(plays, planned, rules))
    recording = RecordingJudge(opened)
    judged = await _judge_plays(plays, recording, rules)
    setting = _setting(plays) if by is None else _known(by)
    systems = tuple(
        score_system(name, [play for play in judged if play.of.system == name], setting, level)
        for name in dict.fromkeys(play.system for play in plays)
    )
    return BugEvaluation(
        convention=convention,
        threshold=rules.threshold,
        judge=opened.name,
        judge_note=opened.note,
        environments=tuple(environments),
        setting=setting,
        unreferenced=unreferenced,
        systems=systems,
        bugs=found_bugs(judged),
        unjudged=recording.unjudged,
    )


evaluate_bugs = synchronous(evaluate_bugs_async)


def _check_any_play(plays: Sequence[Play], unreferenced: Sequence[str], environments: Sequence[str]) -> None:
    if all(play.annotation is None for play in plays):
        raise InputError(
            f"no play belongs to an environment with a list of bugs (environments: {', '.join(environments)}; "
            f"plays: {', '.join(unreferenced) or 'none'})"
        )


async def _judge_plays(plays: Sequence[Play], judge: Judge, rules: BugConvention) -> list[JudgedPlay]:
    found = await judgements([(play.environment, play.reports) for play in plays], judge)
    return [JudgedPlay(play, matrix, rules) for play, (matrix, _) in zip(plays, found, strict=True)]


def _setting(plays: Sequence[Play]) -> tuple[str, ...]:
    """The settings in which plays differ."""
    known = [play.setting for play in plays if play.setting]
    names = (name for name in PLAY_FIELDS if name != "environment")
    return tuple(name for name in names if len({setting.get(name) for setting in known}) > 1)


def _known(by: Sequence[str]) -> tuple[str, ...]:
    if unknown := [name for name in by if name not in PLAY_FIELDS]:
        raise InputError(f"plays have no field {unknown[0]!r}; their fields are: {', '.join(PLAY_FIELDS)}")
    return tuple(by)
