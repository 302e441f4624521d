"""What the rules for games say of play: nothing that a game might mean, and no more than they can tell."""

import json
from pathlib import Path

import pytest
from cli.running import Shell

from robogaze.domains import Domain, load_domain
from robogaze.domains.prompts import Prompts
from robogaze.evidence import ClipSignals, RuleFinding, SignalRecorder, find, load_extractors
from robogaze.media.decode import Image
from robogaze.stages.measure import Measure, MeasureVariables
from robogaze.stages.pipeline import Pipeline

from .plays import BLINKING, FPS, NORMAL

_SEEDS = range(3)


@pytest.fixture(scope="module")
def game() -> Domain:
    return load_domain("game")


@pytest.fixture(scope="module")
def rules(game: Domain) -> Measure:
    """The stage that measures, as the pipeline without a model has it."""
    assert game.file.pipeline_without_model is not None
    (stage,) = (
        found for _, found in Pipeline.build(game, game.file.pipeline_without_model).stages if type(found) is Measure
    )
    return stage


def measured(rules: Measure, images: list[Image]) -> ClipSignals:
    """What the rules read; other extractors would only take time."""
    read = {name for rule in rules.rules for name in rule.signals}
    gauge = SignalRecorder(
        {
            name: extractor
            for name, extractor in load_extractors().items()
            if read & {signal.name for signal in extractor.signals}
        }
    )
    for number, image in enumerate(images):
        gauge(number, number / FPS, (image,))
    return gauge.evidence(["main"], len(images) / FPS)


def found(rules: Measure, images: list[Image]) -> list[RuleFinding]:
    evidence = measured(rules, images)
    return [finding for rule in rules.rules for finding in find(rule, evidence)]


@pytest.mark.parametrize("play", NORMAL)
def test_normal_play_is_never_accused_and_every_frame_is_measured(game: Domain, rules: Measure, play: str) -> None:
    for seed in _SEEDS:
        evidence = measured(rules, NORMAL[play](seed))
        assert [finding for rule in rules.rules for finding in find(rule, evidence)] == []
        assert rules.notes(game, evidence) == ()


@pytest.mark.parametrize("play", BLINKING)
def test_a_picture_that_goes_out_again_and_again_is_found_with_its_time(rules: Measure, play: str) -> None:
    draw, start, end = BLINKING[play]
    for seed in _SEEDS:
        (finding,) = found(rules, draw(seed))
        assert (finding.span.start, finding.span.end) == pytest.approx((start, end))


def test_it_covers_one_category_partially(game: Domain, rules: Measure) -> None:
    assert (rules.covers(game), rules.covers_partly(game)) == (frozenset(), {"visual_glitch"})


def test_a_clip_is_scored_without_a_model(
    video: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = Shell(monkeypatch, capsys)("score", video, "--domain", "game", "--json")
    assert ran.code == 0, ran.err
    (report,) = json.loads(ran.out)["reports"]
    assert (report["pipeline"], report["status"]) == ("pixels", "complete")
    assert (report["verdict"], report["events"]) == ("undecided", [])
    covered = report["coverage"]["visual_glitch"]
    assert covered["state"] == "partial"
    assert covered["reason"] == "measured in the pixels, which show only some faults of these types: Screen blackout"


def test_a_description_is_one_sentence_with_time_view_and_amount(game: Domain, rules: Measure) -> None:
    for rule in rules.rules:
        game.prompts.check(rule.describe, tuple(MeasureVariables.__annotations__))
        sentence = rendered(game.prompts, rule.describe, view="left half", peak=0.431)
        assert sentence.endswith(".")
        assert "\n" not in sentence
        for part in ("1.25 s", "2.50 s", "left half", "43 %"):
            assert part in sentence
        assert "view" not in rendered(game.prompts, rule.describe, view=None, peak=0.431)


def rendered(prompts: Prompts, name: str, view: str | None, peak: float) -> str:
    amounts = {"start_s": 1.25, "end_s": 2.5, "peak": peak, "unit": "of something"}
    return prompts.render(name, {**amounts, "view": view, "place": None})
