"""Plays against lists of bugs: what counts, what is left out, and by what the scores are broken down."""

import asyncio
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.core.time import Span
from robogaze.errors import InputError, OptionError
from robogaze.evaluation.bug_results import BugEvaluation, SystemBugs
from robogaze.evaluation.bugs import evaluate_bugs, evaluate_bugs_async
from robogaze.judges.base import DescriptionPair, Judgement, unscored
from robogaze.stats.proportions import wilson

DIFFICULTIES = {"a": "easy", "b": "easy", "c": "medium", "d": "hard"}


class SameWord:
    """Two descriptions are the same bug if they are equal; "?" cannot be judged."""

    name, note = "same word", "A judge for tests."
    identity: Mapping[str, Any] = {}

    async def rate(self, pairs: Sequence[DescriptionPair]) -> Sequence[Judgement]:
        return [
            unscored("no answer") if pair.prediction == "?" else Judgement(float(pair.reference == pair.prediction))
            for pair in pairs
        ]


def bugs(environment: str = "castle", names: str = "abcd") -> ClipAnnotation:
    found = tuple(AnnotatedEvent(name, (), name, difficulty=DIFFICULTIES[name]) for name in names)
    return ClipAnnotation(environment, "people", "complete", found)


def report(name: str, step: int = 10, reproduced: bool | None = True) -> AnnotatedEvent:
    return AnnotatedEvent(f"E-{name}-{step}", (Span(step, step + 1),), name, reproduced=reproduced)


def play(
    *reports: AnnotatedEvent | str, environment: str = "castle", status: Any = "complete", session: int = 1, **how: Any
) -> ClipAnnotation:
    events = tuple(report(given) if isinstance(given, str) else given for given in reports)
    setting = {"environment": environment, "budget": 100, "session": session, "memory": "both", **how}
    return ClipAnnotation(f"{environment} {session}", "agent", status, events, play=setting)


def evaluated(
    *plays: ClipAnnotation, references: Sequence[ClipAnnotation] | None = None, **options: Any
) -> BugEvaluation:
    sources = {"agent": list(plays)}
    return evaluate_bugs(sources, list(references or [bugs()]), judge=SameWord(), **options)


def scored(*plays: ClipAnnotation, **options: Any) -> SystemBugs:
    (system,) = evaluated(*plays, **options).systems
    return system


def test_recall_precision_and_f1_of_one_play() -> None:
    scores = scored(play("a", "c", "nothing")).scores
    assert (scores.found, scores.bugs, scores.reports) == (2, 4, 3)
    assert scores.recall == wilson(2, 4)
    assert scores.precision == wilson(2, 3)
    assert scores.f1.value == pytest.approx(2 * 2 / (3 + 4))


def test_a_second_report_of_a_bug_costs_precision_and_is_counted() -> None:
    system = scored(play(report("a", 5), report("a", 9)))
    assert (system.scores.found, system.scores.reports, system.scores.duplicates) == (1, 2, 1)
    assert {(judged.bug, judged.duplicate) for judged in system.reports} == {("a", None), (None, "a")}


def test_an_unscored_play_misses_every_bug_and_is_never_without_bugs() -> None:
    system = scored(play(status="unscored"))
    assert (system.scores.recall.value, system.scores.recall.n) == (0.0, 4)
    assert system.counts["unscored"] == 1
    assert not system.scores.precision.defined


def test_an_environment_that_was_not_played_stays_in_the_denominator() -> None:
    system = scored(play("a", "b", "c", "d"), references=[bugs(), bugs("grid", "ab")])
    assert (system.scores.found, system.scores.bugs) == (4, 6)
    assert system.counts["missing"] == 1


def test_a_play_with_a_failed_judgement_is_left_out_and_its_pairs_are_listed() -> None:
    result = evaluated(play("a"), play("?", session=2))
    (system,) = result.systems
    assert (system.counts["unjudged"], system.scores.plays, system.scores.found) == (1, 1, 1)
    assert not result.judged
    assert {pair.prediction for pair in result.unjudged} == {"?"}


def test_several_plays_count_a_bug_by_the_share_of_plays_that_found_it() -> None:
    result = evaluated(play("a"), play("a", "b", session=2))
    (system,) = result.systems
    assert system.scores.recall.value == pytest.approx(3 / 8)
    assert system.scores.recall.n == 4
    assert {bug.id: (bug.found["agent"], bug.plays["agent"]) for bug in result.bugs} == {
        "a": (2, 2), "b": (1, 2), "c": (0, 2), "d": (0, 2),
    }  # fmt: skip


def test_recall_by_difficulty() -> None:
    recall = scored(play("a", "d")).by_difficulty
    assert list(recall) == ["easy", "medium", "hard"]
    assert [estimate.value for estimate in recall.values()] == [0.5, 0.0, 1.0]


def test_intervals_over_environments_need_two() -> None:
    alone = scored(play("a")).scores.recall_over_environments
    assert alone.value == 0.25
    assert math.isnan(alone.low)
    both = scored(play("a"), play("a", environment="grid"), references=[bugs(), bugs("grid", "ab")]).scores
    assert both.recall_over_environments.n == 2
    assert both.recall_over_environments.low < both.recall.value == pytest.approx(2 / 6)


def test_within_fewer_steps_only_earlier_reports_count() -> None:
    early, late = report("a", 49), report("b", 80)
    steps = {group.setting["steps"]: group.scores.found for group in scored(play(early, late)).by_step}
    assert steps == {50: 1, 100: 2}


def test_a_bug_that_one_of_several_sessions_found_is_found_in_any() -> None:
    scores = scored(play("a"), play("b", session=2), play("b", session=3)).scores
    assert (scores.found_in_any.value, scores.found_in_any.n) == (0.5, 4)
    assert scores.recall.value == pytest.approx(3 / 12)
    assert evaluated(play("a", environment="castle:clean")).systems[0].scores.found_in_any.n == 0


def test_plays_are_grouped_by_what_differs() -> None:
    result = evaluated(
        play("a", memory="none", budget=50),
        play("a", "b", memory="both", budget=50, session=2),
        play("a", memory="both", budget=100, session=2),
    )
    (system,) = result.systems
    assert result.setting == ("budget", "session", "memory")
    assert [tuple(group.setting.values()) for group in system.by_setting] == [
        (50, 1, "none"), (50, 2, "both"), (100, 2, "both"),
    ]  # fmt: skip
    assert [group.scores.found for group in system.by_setting] == [1, 2, 1]


def test_groups_can_be_named() -> None:
    (system,) = evaluated(play("a", memory="none"), play("b", session=2), by=["memory"]).systems
    assert [group.setting for group in system.by_setting] == [{"memory": "both"}, {"memory": "none"}]
    with pytest.raises(InputError, match="plays have no field 'colour'; their fields are: "):
        evaluated(play("a"), by=["colour"])


def test_reports_that_did_not_reproduce_are_counted_or_left_out() -> None:
    reports = (report("a"), report("b", reproduced=False), report("c", reproduced=None))
    kept = scored(play(*reports))
    assert (kept.scores.found, kept.scores.not_reproduced) == (3, 1)
    strict = scored(play(*reports), reproduced_only=True)
    assert (strict.scores.found, strict.scores.reports, strict.counts["left_out"]) == (1, 1, 2)


@pytest.mark.parametrize(
    ("build", "present"), [("castle", "abcd"), ("castle:clean", ""), ("castle:+a+c", "ac"), ("castle:-a", "bcd")]
)
def test_a_build_is_scored_against_the_bugs_in_it(build: str, present: str) -> None:
    scores = scored(play("a", environment=build)).scores
    assert (scores.bugs, scores.found, scores.reports) == (len(present), int("a" in present), 1)


def test_a_report_in_the_clean_build_is_false_and_recall_is_undefined() -> None:
    scores = scored(play("a", environment="castle:clean")).scores
    assert not scores.recall.defined
    assert scores.precision == wilson(0, 1)


def test_a_folder_and_the_address_of_the_only_hub_are_environments_too() -> None:
    assert scored(play("a", environment="made/here/castle")).scores.found == 1
    assert scored(play("a", environment="http://127.0.0.1:5000")).scores.found == 1
    with pytest.raises(InputError, match="no play belongs to an environment with a list of bugs"):
        evaluated(play("a", environment="http://127.0.0.1:5000"), references=[bugs(), bugs("grid", "a")])


def test_a_play_without_a_list_of_bugs_is_named_and_not_scored() -> None:
    result = evaluated(play("a"), play("a", environment="other"))
    assert result.unreferenced == ("other 1",)
    assert result.systems[0].scores.plays == 1


def test_only_a_convention_for_bugs_will_do() -> None:
    with pytest.raises(InputError, match="the convention robogaze is not for lists of bugs"):
        evaluated(play("a"), convention="robogaze")


def test_two_lists_of_one_environment_are_refused() -> None:
    with pytest.raises(InputError, match="castle has two lists of bugs"):
        evaluated(play("a"), references=[bugs(), bugs()])


def test_files_of_gbqa_are_read_without_a_domain(tmp_path: Path) -> None:
    listed = {"game_name": "castle", "bugs": [{"id": 1, "bug_type": "logic error", "observed_fault": "a"}]}
    (tmp_path / "bugs.json").write_text(json.dumps(listed))
    made = {"game": {"name": "castle"}, "bugs": [{"title": "t", "description": "a", "confidence": 0.9, "tags": ["x"]}]}
    (tmp_path / "report.json").write_text(json.dumps(made))
    call = evaluate_bugs_async(tmp_path / "report.json", tmp_path / "bugs.json", judge=SameWord())
    (system,) = asyncio.run(call).systems
    assert (system.name, system.scores.found) == ("report", 1)


def test_a_level_that_is_out_of_its_range_is_refused() -> None:
    with pytest.raises(OptionError, match="level must be above 0 and below 1, not nan"):
        evaluated(play("a"), level=math.nan)
