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


def seen(window: int, what: str = "", kind: str = "", *frames: int, confidence: float = 0.5) -> Line:
    """What the scanner says of a window: that nothing is wrong, or one thing that may be."""
    cue = {
        "what": what,
        "frames": [*frames[:1], *frames[-1:]],
        "region": "whole",
        "type": kind,
        "confidence": confidence,
    }
    return line("scan", f"W{window}", {"context": f"Players dig, part {window}.", "cues": [cue] if kind else []})


MEMORY = line(
    "remember",
    "clip",
    {
        "genre": "survival", "setting": "a quarry", "entities": ["a stone"], "seen_once": [], "course": "dig",
        "mechanics": [{"rule": "players dig", "seen_in": ["W0", "W1"]}],
    },
)  # fmt: skip
BLACK = "A black body lies twisted on the ground where the stone was."


def judge(name: str, number: int, ruling: str, confidence: float = 0.9, **fields: Any) -> Line:
    """A ruling; a closer look follows from it if it gives one."""
    answer = {
        "directly_seen": "it is seen", "visible": [], "ordinary": None, "reasoning": f"{name}: {ruling}",
        "ruling": ruling, "type": "model_distortion", "severity": 3, "description": f"{BLACK} ({name})",
        "confidence": confidence, "next_look": None, **fields,
    }  # fmt: skip
    return line("investigate", f"{name} step {number} judge", answer)


def doubt(name: str, number: int, tool: str) -> list[Line]:
    """What is found and said after a ruling in doubt."""
    advocate = {"supporting_evidence": ["twisted"], "appearance": "black", "violated_rules": [], "argument": "broken"}
    skeptic = {"alternative_explanations": ["a ragdoll"], "missing_context": [], "argument": "meant so"}
    return [
        line("investigate", f"{name} step {number} {tool}", {"answer": "A black shape with long arms."}),
        line("investigate", f"{name} step {number} advocate", advocate),
        line("investigate", f"{name} step {number} skeptic", skeptic),
    ]


def vqa(frame: int) -> Line:
    return {"tool": "vqa", "frames": [frame], "question": "How do the limbs of the figure bend?"}


def zoom(*frames: int) -> Line:
    asked = "How do the limbs bend here?"
    return {"tool": "zoom_in", "frames": list(frames), "view": "main", "region": "centre", "question": asked}


def visible(name: str, window: int, *frames: int) -> Line:
    return line("trace", f"{name} W{window}", {"reasoning": f"W{window}", "visible": list(frames)})


SCANNED = [
    seen(0, "A figure bends its limbs oddly.", "model_distortion", 8, 12),
    seen(1, "A black body appears.", "vanishing_object", 40, 44, 48, 52, 56, 60),
    seen(2),
    seen(3, "The crane moves.", "body_jitter", 104, 108),
    seen(4, "A dark body on the ground.", "model_distortion", 136, 140),
    seen(5),
]
REJECTED = [
    judge("H1", 1, "needs_more_evidence", 0.65, next_look=zoom(8, 12)),
    *doubt("H1", 2, "zoom_in"),
    judge("H1", 2, "normal", 0.85, ordinary={"explanation": "all limbs bend like this", "frames": [8]}),
]
#   H2 is visible to the last frame that its judge is shown, so it is followed
ACCEPTED = [judge("H2", 1, "fault", visible=[[38, 76]]), judge("H4", 1, "fault", 0.8, visible=[[136, 141]])]
OPEN = [
    judge("H3", 1, "needs_more_evidence", 0.7, type="body_jitter", next_look=vqa(106)),
    *doubt("H3", 2, "vqa"),
    judge("H3", 2, "fault", 0.45, type="body_jitter", visible=[[104, 108]]),
]
CLOSED = judge("H3", 1, "normal")
SAME = {"reasoning": "the same black body", "same_as": "H2", "description": f"{BLACK} It comes back later."}
TRACED = [
    line("trace", "same", {"same": {"H4": SAME}}),
    visible("H2", 2, 64, 68, 72, 76, 80, 84),
    line("trace", "H2 end 5.41 s", {"reasoning": "it fades", "frame": 86}),
]

CONVERSATION = [*SCANNED, MEMORY, *REJECTED, *ACCEPTED, *OPEN, *TRACED]
DECIDED = [*SCANNED, MEMORY, *REJECTED, *ACCEPTED, CLOSED, *TRACED]


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
    assert event.spans == (Span(38 / 16, 87 / 16), Span(8.5, 142 / 16)), "its first end was found by following it"
    assert event.description == f"{BLACK} It comes back later."
    assert event.severity == 3
    assert report.unseen[0] == (1, 4), "four frames a second were shown"


async def test_the_report_keeps_the_verdict_of_every_suspicion(game: Domain, play: Path) -> None:
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
    assert (limbs.verdict, limbs.reason, limbs.confidence) == (
        "rejected", "H1: normal Ordinary explanation: all limbs bend like this", 0.15
    )  # fmt: skip
    assert [piece.source for piece in limbs.evidence] == ["scan", "zoom_in"]
    second = next(request for request in asked if request.subject == "H1 step 2 zoom_in")
    assert "How do the limbs bend here?" in second.parts[-1]


async def test_an_undecided_debate_leaves_its_category_open(game: Domain, play: Path) -> None:
    report, _ = await examine(game, play, "glide", *CONVERSATION)
    crane = report.hypotheses[2]
    assert (crane.verdict, crane.type) == ("unverified", "body_jitter")
    assert report.status == "partial"
    assert report.undecided_dimensions == ("physics_glitch",)
    assert [failure.kind for failure in report.failures] == ["undecided"]
    assert len(report.events) == 1, "what was decided stands"


async def test_the_title_and_the_memory_are_quoted_as_data(game: Domain, play: Path) -> None:
    _, asked = await examine(game, play, "glide", *DECIDED)
    for request in asked:
        known = next(part for part in request.parts if isinstance(part, str))
        assert f'Title of the game: "{TITLE}"' in known
        assert ("Memory of the whole clip" in known) is (request.stage not in ("scan", "remember"))


async def test_rounds_are_those_of_the_hardest_case_and_calls_of_all(game: Domain, play: Path) -> None:
    report, _ = await examine(game, play, "glide", *DECIDED)
    #   scan, memory, a ruling, a step in doubt of three rounds, sameness, the window after W1, the edge
    assert report.usage.rounds == 1 + 1 + 1 + 3 + 1 + 1 + 1
    #   six windows, memory, four rulings, a step in doubt of four questions, sameness, a window, an edge
    assert report.usage.calls == 6 + 1 + 4 + 4 + 1 + 1 + 1


class Tester(RehearsalBackend):
    """Suspects every third window, is sure in the first step, the second or the third, and confirms every other one."""

    async def complete(self, request: Request) -> Completion:
        said = plainest(request.schema or {})
        name, *rest = request.subject.split()
        if request.stage == "scan":
            said["cues"] = [] if int(name[1:]) % 3 else said["cues"]
        if rest[2:] == ["judge"]:
            said |= self._ruling(int(name[1:]), int(rest[1]), request)
        if request.subject == "same":
            said["same"] = {name: {**record, "same_as": name} for name, record in said["same"].items()}
        return Completion(json.dumps(said), model="tester", finish_reason="stop")

    def _ruling(self, case: int, step: int, request: Request) -> Line:
        assert request.schema is not None
        frames = request.schema["properties"]["visible"]["items"]["items"]["enum"]
        look = {"tool": "vqa", "frames": frames[:1], "question": request.subject}
        if step <= case % 3:
            return {"ruling": "needs_more_evidence", "confidence": 0.6, "next_look": look}
        middle = frames[len(frames) // 2]
        return {"ruling": "fault" if case % 2 else "normal", "confidence": 0.9, "visible": [[middle, middle]],
                "ordinary": {"explanation": "it is meant so", "frames": frames[:1]}}  # fmt: skip


#   calls: windows, memory, one for each suspicion, four more for a second step and two for a third, sameness
#   rounds: scan, memory, a ruling, a second step of three and a third of two, sameness
@pytest.mark.parametrize(
    ("seconds", "calls", "rounds"),
    [
        (10, 5 + 1 + 2 + 2 * 4 + 1 * 2 + 0, 1 + 1 + 1 + 3 + 2 + 0),
        (20, 10 + 1 + 4 + 3 * 4 + 1 * 2 + 1, 1 + 1 + 1 + 3 + 2 + 1),
        (60, 30 + 1 + 10 + 7 * 4 + 3 * 2 + 1, 1 + 1 + 1 + 3 + 2 + 1),
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
    assert len(asked) == 6, "one for each window, and no memory without a suspicion"


@pytest.mark.parametrize("pipeline", ["glide", *ABLATIONS, "vanilla"])
@pytest.mark.parametrize(
    "dead", [{"error": {"kind": "refused"}, "repeat": True}, {"text": "I see no bugs.", "repeat": True}]
)
async def test_a_model_that_never_answers_or_never_answers_validly_is_unscored(
    game: Domain, play: Path, pipeline: str, dead: Line
) -> None:
    report, _ = await examine(game, play, pipeline, dead)
    assert (report.status, report.verdict, report.events) == ("unscored", "undecided", ())
    assert report.failures


@pytest.mark.parametrize("stage", ["scan", "remember", "investigate", "trace"])
async def test_a_model_that_fails_midway_leaves_no_clean_clip(game: Domain, play: Path, stage: str) -> None:
    alive = [decided for decided in DECIDED if decided["when"]["stage"] != stage]
    report, _ = await examine(game, play, "glide", *alive)
    assert not report.clean
    assert stage in {failure.stage for failure in report.failures}
    expected = {"scan": "unscored", "remember": "unscored"}
    assert report.status == expected.get(stage, "partial")
    if stage == "investigate":
        assert {hypothesis.verdict for hypothesis in report.hypotheses} == {"unverified"}
        assert report.events == ()


async def test_a_window_without_an_answer_is_a_failure(game: Domain, play: Path) -> None:
    quiet = [seen(window) for window in range(5)]
    report, _ = await examine(game, play, "glide", *quiet, MEMORY)
    assert (report.status, report.clean) == ("partial", False)
    assert [failure.stage for failure in report.failures] == ["scan"]


# The ablations.


@pytest.mark.parametrize("name", ABLATIONS)
async def test_an_ablation_sends_fewer_requests(game: Domain, play: Path, name: str) -> None:
    whole, _ = await examine(game, play, "glide", *DECIDED)
    less, _ = await examine(game, play, name, *DECIDED)
    without = {"glide-no-memory": 1, "glide-no-debate": 2, "glide-no-grounding": 1 + 1 + 1}
    assert less.status == "complete"
    assert less.usage.calls == whole.usage.calls - without[name]


async def test_without_grounding_every_window_is_an_event(game: Domain, play: Path) -> None:
    report, _ = await examine(game, play, "glide-no-grounding", *DECIDED)
    assert [event.spans for event in report.events] == [(Span(38 / 16, 77 / 16),), (Span(8.5, 142 / 16),)]


async def test_without_memory_a_window_is_judged_by_itself(game: Domain, play: Path) -> None:
    _, asked = await examine(game, play, "glide-no-memory", *DECIDED)
    assert not [request for request in asked if "Memory of the whole clip" in str(request.parts)]


def test_an_ablation_is_the_whole_pipeline_without_one_part(game: Domain) -> None:
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


async def test_the_baseline_asks_once_and_reports_every_span(game: Domain, play: Path) -> None:
    event = {
        "description": BLACK, "evidence": "it lies there", "frames": [31], "dimension": "visual_glitch",
        "type": "model_distortion", "spans_s": [[8.0, 10.0], [2.0, 6.5]], "severity": 3,
    }  # fmt: skip
    report, asked = await examine(game, play, "vanilla", line("direct", "sample 1", {"events": [event]}))
    assert len(asked) == 1
    assert [event.spans for event in report.events] == [(Span(2.0, 6.5), Span(8.0, 10.0))]


async def test_drafts_describe_each_short_segment(game: Domain, play: Path) -> None:
    first = seen(0, BLACK, "model_distortion", 16, 40, confidence=0.4)
    report, asked = await examine(game, play, "drafts", first, seen(1))
    assert len(asked) == 2  # 12 s in segments shorter than 10 s
    assert [(event.description, event.confidence) for event in report.events] == [(BLACK, 0.4)]


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
        "bugs": ["A black body lies twisted on the ground."], "time_nodes": [[[2, 6], [8, 10]]],
    }  # fmt: skip
    (tmp_path / "truth.json").write_text(json.dumps([record]))
    paths = ("--reference", tmp_path / "truth.json", "--prediction", found)
    ran = robogaze("evaluate", "--domain", "game", *paths, "--convention", convention, "--json")
    assert ran.code == 0, ran.err
    written = json.loads(ran.out)
    assert written["convention"] == convention
    (system,) = written["systems"]
    scores = system["micro"] if convention == "glide-paper" else system["metrics"]
    assert scores["miou"]["value"] == pytest.approx((49 + 6) / 96), "55 of the 96 frames of 2-6 and 8-10 s"
    assert scores["f1_iou"]["value"] == pytest.approx(scores["desc_f1"]["value"] * 55 / 96)
