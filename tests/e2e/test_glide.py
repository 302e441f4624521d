"""A conversation about twelve seconds of play, through the whole pipeline and its ablations.

windows    W0         W1      W2      W3      W4      W5
time       0-2        2-4     4-6     6-8     8-10    10-12 s
scanned    limbs      body            crane   body
           H1         H2              H3      H4
decided    rejected   accepted        open    the same as H2
followed                      seen
"""

import asyncio
import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from cli.running import Shell
from making import make_clip, make_footage, models_of, scripted
from synthetic import write_clip

from robogaze.backends.base import Completion, Request
from robogaze.backends.rehearsal import RehearsalBackend, plainest
from robogaze.core.report import Report
from robogaze.core.time import Span
from robogaze.datasets import ManifestEntry
from robogaze.datasets.formats.export import export_reports
from robogaze.diagnose import diagnose, open_clip
from robogaze.domains import Domain, domain_folders, load_domain
from robogaze.stages.client import ModelClient
from robogaze.stages.pipeline import Pipeline

TITLE = "ARK: Survival Evolved"
ABLATIONS = ("glide-no-memory", "glide-no-debate", "glide-no-grounding")

Line = dict[str, Any]


@pytest.fixture(scope="module")
def game() -> Domain:
    return load_domain("game")


@pytest.fixture(scope="module")
def play(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve seconds at 16 fps."""
    return write_clip(tmp_path_factory.mktemp("play") / "4f2x.mp4", frames=192, width=160, height=112)


@pytest.fixture
def robogaze(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    """The command line."""
    return Shell(monkeypatch, capsys)


def line(stage: str, subject: str, reply: Any) -> Line:
    return {"when": {"stage": stage, "subject": subject}, "reply": reply}


def seen(window: int, cues: str = "Nothing", kind: str = "none", confidence: float = 0.1) -> Line:
    frames = [] if kind == "none" else [window * 32, window * 32 + 4]
    said = {"context": f"Players dig, part {window}.", "cues": cues, "frames": frames, "type": kind}
    return line("scan", f"W{window}", {**said, "confidence": confidence})


MEMORY = line(
    "remember",
    "clip",
    {"genre": "survival", "setting": "a quarry", "entities": ["a stone"], "mechanics": ["digging"], "course": "dig"},
)
BLACK = "A black body lies twisted on the ground where the stone was."


def step(
    name: str, number: int, use: Line | None, ruling: str = "", confidence: float = 0.9, **fields: Any
) -> list[Line]:
    """One step of a case: a plan, and unless it ends there, what follows from it."""
    at = f"{name} step {number}"
    planned = line("investigate", f"{at} plan", {"reasoning": "open", "use": use})
    if use is None:
        return [planned]
    told = {
        "directly_seen": "it is seen", "reasoning": f"{name}: {ruling}", "ruling": ruling, "type": "model_distortion",
        "description": f"{BLACK} ({name})", "confidence": confidence, "next_question": None, **fields,
    }  # fmt: skip
    advocate = {"supporting_evidence": ["twisted"], "appearance": "black", "violated_rules": [], "argument": "broken"}
    skeptic = {"alternative_explanations": ["a ragdoll"], "missing_context": [], "argument": "meant so"}
    return [
        planned,
        line("investigate", f"{at} {use['tool']}", {"answer": "A black shape with long arms."}),
        line("investigate", f"{at} advocate", advocate),
        line("investigate", f"{at} skeptic", skeptic),
        line("investigate", f"{at} judge", told),
    ]


def vqa(window: int) -> Line:
    return {"tool": "vqa", "frames": [window * 32], "question": "Describe all figures, their limbs and the ground."}


def zoom(window: int) -> Line:
    frames = [window * 32, window * 32 + 4]
    return {"tool": "zoom_in", "frames": frames, "view": "main", "region": "centre", "question": "Describe the limbs."}


def visible(name: str, window: int, answer: str) -> Line:
    return line("trace", f"{name} W{window}", {"reasoning": f"W{window}: {answer}", "visible": answer})


SCANNED = [
    seen(0, "A figure bends its limbs oddly.", "model_distortion", 0.55),
    seen(1, "A black body appears.", "vanishing_object", 0.8),
    seen(2),
    seen(3, "The crane moves.", "body_jitter", 0.4),
    seen(4, "A dark body on the ground.", "model_distortion", 0.7),
    seen(5),
]
REJECTED = [
    *step("H1", 1, vqa(0), "needs_more_evidence", 0.65, next_question="Do the limbs bend like this elsewhere?"),
    *step("H1", 2, zoom(0), "normal", 0.85),
]
ACCEPTED = [*step("H2", 1, vqa(1), "fault"), *step("H4", 1, vqa(4), "fault", 0.8)]
OPEN = [
    *step("H3", 1, vqa(3), "needs_more_evidence", 0.7, type="body_jitter", next_question="Is the wind on?"),
    *step("H3", 2, zoom(3), "fault", 0.45, type="body_jitter"),
    *step("H3", 3, None),
]
CLOSED = step("H3", 1, vqa(3), "normal")
TRACED = [
    line("trace", "same", {"same": {"H4": {"reasoning": "the same black body", "same_as": "H2"}}}),
    *(visible("H2", window, "yes" if window == 2 else "no") for window in (0, 2, 3, 5)),
]
TOLD = line("trace", "H2 summary", {"description": f"{BLACK} It comes back later."})

CONVERSATION = [*SCANNED, MEMORY, *REJECTED, *ACCEPTED, *OPEN, *TRACED, TOLD]
DECIDED = [*SCANNED, MEMORY, *REJECTED, *ACCEPTED, *CLOSED, *TRACED, TOLD]


async def examine(game: Domain, play: Path, name: str, *lines: Line, **known: Any) -> tuple[Report, list[Any]]:
    models, backend = scripted(*lines)
    pipeline = Pipeline.build(game, name)
    entry = ManifestEntry(path=play, instruction=TITLE, **known)
    with open_clip(entry, pipeline, models) as opened:
        return await diagnose(opened, pipeline, models), backend.asked


async def test_a_fault_in_two_windows_is_one_event_with_two_spans(game: Domain, play: Path) -> None:
    report, _ = await examine(game, play, "glide", *DECIDED)
    assert (report.status, report.failures) == ("complete", ())
    (event,) = report.events
    assert (event.dimension, event.type) == ("visual_glitch", "model_distortion")
    assert event.spans == (Span(2.0, 6.0), Span(8.0, 10.0)), "W2 was found by following it, W3 lies between"
    assert event.description == f"{BLACK} It comes back later."
    assert event.severity is None
    assert report.unseen[0] == (1, 4), "four frames a second were shown"


async def test_the_report_keeps_what_became_of_every_suspicion(game: Domain, play: Path) -> None:
    report, _ = await examine(game, play, "glide", *DECIDED)
    assert {hypothesis.id: (hypothesis.verdict, hypothesis.merged_into) for hypothesis in report.hypotheses} == {
        "H1": ("rejected", None),
        "H2": ("accepted", None),
        "H3": ("rejected", None),
        "H4": ("merged", "H2"),
    }
    assert all(hypothesis.reason for hypothesis in report.hypotheses)


async def test_a_false_alarm_is_rejected_after_a_closer_look(game: Domain, play: Path) -> None:
    report, asked = await examine(game, play, "glide", *DECIDED)
    limbs = report.hypotheses[0]
    assert (limbs.verdict, limbs.reason, limbs.confidence) == ("rejected", "H1: normal", 0.15)
    assert [one.source for one in limbs.evidence] == ["scan", "vqa", "zoom_in"]
    second = next(request for request in asked if request.subject == "H1 step 2 plan")
    assert "Do the limbs bend like this elsewhere?" in second.parts[-1]


async def test_an_undecided_debate_leaves_its_category_open(game: Domain, play: Path) -> None:
    report, _ = await examine(game, play, "glide", *CONVERSATION)
    crane = report.hypotheses[2]
    assert (crane.verdict, crane.type) == ("unverified", "body_jitter")
    assert report.status == "partial"
    assert report.undecided_dimensions == ("physics_glitch",)
    assert [failure.kind for failure in report.failures] == ["undecided"]
    assert len(report.events) == 1, "what was decided stands"


async def test_the_title_and_the_memory_are_told_as_data(game: Domain, play: Path) -> None:
    _, asked = await examine(game, play, "glide", *DECIDED)
    for request in asked:
        known = next(part for part in request.parts if isinstance(part, str))
        assert f'Title of the game: "{TITLE}"' in known
        assert ("Memory of the whole clip" in known) is (request.stage not in ("scan", "remember"))


async def test_rounds_are_those_of_the_hardest_case_and_calls_of_all(game: Domain, play: Path) -> None:
    report, _ = await examine(game, play, "glide", *DECIDED)
    #   scan, memory, two steps of four rounds, sameness, all windows beside W1 and W4 together with the summary
    assert report.usage.rounds == 1 + 1 + 2 * 4 + 1 + 1
    #   six windows, memory, five steps of five questions, sameness, four windows, summary
    assert report.usage.calls == 6 + 1 + 5 * 5 + 1 + 4 + 1


class Tester(RehearsalBackend):
    """Suspects every third window, is sure after one step, two or three, and confirms every other suspicion."""

    async def complete(self, request: Request) -> Completion:
        said = plainest(request.schema or {})
        name, *rest = request.subject.split()
        if request.stage == "scan" and int(name[1:]) % 3:
            said |= {"type": "none", "frames": []}
        if rest[2:] == ["plan"]:
            said["use"] = {"tool": "vqa", "frames": _frames(request), "question": request.subject}
        if rest[2:] == ["judge"]:
            case, number = int(name[1:]), int(rest[1])
            said |= {"ruling": "fault" if case % 2 else "normal", "confidence": 0.9 if number > case % 3 else 0.6}
        if request.subject == "same":
            said["same"] = {name: {"reasoning": "another", "same_as": name} for name in said["same"]}
        if "visible" in said:
            said["visible"] = "no"
        return Completion(json.dumps(said), model="tester", finish_reason="stop")


def _frames(request: Request) -> list[int]:
    """A frame of the window that a plan is about."""
    stated = re.search(r"frames (\d+), ", str(request.parts[-1]))
    assert stated is not None
    return [int(stated[1])]


#   calls: windows, memory, five a step, sameness of what was confirmed, windows beside it
#   rounds: scan, memory, three steps of four, sameness, windows beside
@pytest.mark.parametrize(
    ("seconds", "calls", "rounds"),
    [
        (10, 5 + 1 + 5 * 5 + 0 + 1, 1 + 1 + 3 * 4 + 0 + 1),
        (20, 10 + 1 + 8 * 5 + 1 + 3, 1 + 1 + 3 * 4 + 1 + 1),
        (60, 30 + 1 + 20 * 5 + 1 + 9, 1 + 1 + 3 * 4 + 1 + 1),
    ],
)
async def test_rounds_do_not_grow_with_the_length_of_the_clip(
    game: Domain, seconds: float, calls: int, rounds: int
) -> None:
    pipeline, clip = Pipeline.build(game, "glide"), make_clip(seconds)
    footage = make_footage(clip)
    client = ModelClient(game, clip, footage, models_of(Tester()))
    end = await pipeline.run(pipeline.start(clip), client)
    footage.close()
    assert end.failures == ()
    assert (client.usage().calls, client.usage().rounds) == (calls, rounds)


async def test_a_learned_tracker_is_named_in_the_report(game: Domain, play: Path) -> None:
    models, _ = scripted(*(seen(window) for window in range(6)), MEMORY)
    identity = {"kind": "sam3", "name": "facebook/sam3"}
    models.tracker = SimpleNamespace(identity=identity)
    pipeline = Pipeline.build(game, "glide")
    with open_clip(ManifestEntry(path=play, instruction=TITLE), pipeline, models) as opened:
        report = await diagnose(opened, pipeline, models)
    assert report.provenance.models["tracker"] == {"identity": identity}


# What is not found is not clean unless it was looked for.


async def test_a_clip_in_which_nothing_is_suspected_is_clean(game: Domain, play: Path) -> None:
    report, asked = await examine(game, play, "glide", *(seen(window) for window in range(6)), MEMORY)
    assert report.clean
    assert len(asked) == 7


@pytest.mark.parametrize("pipeline", ["glide", *ABLATIONS, "vanilla"])
@pytest.mark.parametrize(
    "dead", [{"error": {"kind": "refused"}, "repeat": True}, {"text": "I see no bugs.", "repeat": True}]
)
async def test_a_dead_or_babbling_model_is_unscored(game: Domain, play: Path, pipeline: str, dead: Line) -> None:
    report, _ = await examine(game, play, pipeline, dead)
    assert (report.status, report.verdict, report.events) == ("unscored", "undecided", ())
    assert report.failures


@pytest.mark.parametrize("stage", ["scan", "remember", "investigate", "trace"])
async def test_a_model_that_dies_on_the_way_leaves_nothing_clean(game: Domain, play: Path, stage: str) -> None:
    alive = [one for one in DECIDED if one["when"]["stage"] != stage]
    report, _ = await examine(game, play, "glide", *alive)
    assert not report.clean
    assert stage in {failure.stage for failure in report.failures}
    expected = {"scan": "unscored", "remember": "unscored"}
    assert report.status == expected.get(stage, "partial")
    if stage == "investigate":
        assert {hypothesis.verdict for hypothesis in report.hypotheses} == {"unverified"}
        assert report.events == ()


async def test_a_window_nobody_answered_for_is_a_failure(game: Domain, play: Path) -> None:
    quiet = [seen(window) for window in range(5)]
    report, _ = await examine(game, play, "glide", *quiet, MEMORY)
    assert (report.status, report.clean) == ("partial", False)
    assert [failure.stage for failure in report.failures] == ["scan"]


# The ablations.


@pytest.mark.parametrize("name", ABLATIONS)
async def test_an_ablation_asks_less(game: Domain, play: Path, name: str) -> None:
    whole, _ = await examine(game, play, "glide", *DECIDED)
    less, _ = await examine(game, play, name, *DECIDED)
    without = {"glide-no-memory": 1, "glide-no-debate": 2 * 5, "glide-no-grounding": 1 + 4 + 1}
    assert less.status == "complete"
    assert less.usage.calls == whole.usage.calls - without[name]


async def test_without_grounding_every_window_is_an_event(game: Domain, play: Path) -> None:
    report, _ = await examine(game, play, "glide-no-grounding", *DECIDED)
    assert [event.spans for event in report.events] == [(Span(2, 4),), (Span(8, 10),)]


async def test_without_memory_a_window_is_judged_by_itself(game: Domain, play: Path) -> None:
    _, asked = await examine(game, play, "glide-no-memory", *DECIDED)
    assert not [request for request in asked if "Memory of the whole clip" in str(request.parts)]


def test_an_ablation_is_the_whole_pipeline_less_one_thing(game: Domain) -> None:
    whole = dict(Pipeline.build(game, "glide").stages)
    lacking = {}
    for name in ABLATIONS:
        stages = dict(Pipeline.build(game, name).stages)
        lacking[name] = {key for key in whole if whole[key] != stages.get(key)}
    assert lacking == {
        "glide-no-memory": {"remember"},
        "glide-no-debate": {"investigate"},
        "glide-no-grounding": {"trace"},
    }


async def test_the_baseline_is_one_look_and_knows_what_comes_back(game: Domain, play: Path) -> None:
    event = {
        "description": BLACK, "evidence": "it lies there", "frames": [31], "dimension": "visual_glitch",
        "type": "model_distortion", "spans_s": [[8.0, 10.0], [2.0, 6.5]], "severity": 3,
    }  # fmt: skip
    report, asked = await examine(game, play, "vanilla", line("direct", "sample 1", {"events": [event]}))
    assert len(asked) == 1
    assert [one.spans for one in report.events] == [(Span(2.0, 6.5), Span(8.0, 10.0))]


def test_the_genres_are_those_of_the_benchmark() -> None:
    genres = yaml.safe_load((domain_folders()["game"] / "genres.yaml").read_text())["genres"]
    assert (len(genres), sum(map(len, genres.values()))) == (6, 21)
    assert sum(count for subgenres in genres.values() for count in subgenres.values()) == 5238
    assert {name: sum(subgenres.values()) for name, subgenres in genres.items()} == {
        "Action": 3834,
        "Simulation": 974,
        "RPG": 313,
        "Strategy": 60,
        "Puzzle": 47,
        "Adventure": 10,
    }


# Scored as published.


@pytest.mark.parametrize(("convention", "as_file"), [("glide-paper", False), ("glide-released", True)])
def test_reports_are_scored_against_a_file_of_the_benchmark(
    game: Domain, play: Path, tmp_path: Path, robogaze: Shell, convention: str, as_file: bool
) -> None:
    clip_id = f"{TITLE}/4f2x"
    report, _ = asyncio.run(examine(game, play, "glide", *DECIDED, clip_id=clip_id))
    found = tmp_path / ("batch_report.json" if as_file else "report.json")
    exported = export_reports([report], {clip_id: play}, "videoglitchbench", tmp_path).files["batch_report.json"]
    found.write_text(str(exported) if as_file else report.model_dump_json())
    record = {
        "id": 1, "video_name": "4f2x.mp4", "game_name": TITLE, "no_bugs": False,
        "bugs": ["A black body lies twisted on the ground."], "time_nodes": [[[2, 6], [8, 11]]],
    }  # fmt: skip
    (tmp_path / "truth.json").write_text(json.dumps([record]))
    paths = ("--reference", tmp_path / "truth.json", "--prediction", found)
    ran = robogaze("evaluate", "--domain", "game", *paths, "--convention", convention, "--json")
    assert ran.code == 0, ran.err
    told = json.loads(ran.out)
    assert told["convention"] == convention
    (system,) = told["systems"]
    scores = system["micro"] if convention == "glide-paper" else system["metrics"]
    assert scores["miou"]["value"] == pytest.approx(6 / 7), "the union of both spans against 2-6 and 8-11 s"
    assert scores["f1_iou"]["value"] == pytest.approx(scores["desc_f1"]["value"] * 6 / 7)
