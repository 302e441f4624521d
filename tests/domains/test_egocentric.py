"""A domain made of data only: what its prompts ask, and a conversation through the whole of its pipeline.

The clip: a cup is to be put on a saucer with the right hand. The left hand does it, behind the other arm.
"""

from pathlib import Path
from typing import Any

import pytest
from making import scripted

import robogaze
from robogaze.core.report import Report
from robogaze.core.time import Span
from robogaze.datasets import ManifestEntry
from robogaze.diagnose import diagnose, open_clip
from robogaze.domains import Domain, domain_folders, load_domain
from robogaze.domains.resources import resource_folder
from robogaze.stages.pipeline import Pipeline

Line = dict[str, Any]

TASK = "Put the cup on the saucer with your right hand"
NOTES = {
    "actions": [{"start_s": 0.5, "end_s": 3.0, "what": "the left hand carries the cup"}],
    "suspicions": [{"start_s": 0.5, "end_s": 3.0, "what": "the left hand does the work"}],
    "left_hand": ["takes the cup"],
    "right_hand": [],
    "object_state_changes": ["the cup leaves the table"],
    "view_changes": ["the head bends down"],
    "task_progress": "the cup is on its way",
    "normal_occlusion_or_ambiguity": ["the arm covers the saucer"],
}
STEPS = [{"name": "carry", "expected_outcome": "cup on saucer", "completion_criterion": "the hand has let go"}]
GROUNDED = {
    "task_memory": {
        "goal": "the cup stands on the saucer",
        "demanded": [{"quote": "with your right hand", "visible_sign": "the right hand carries the cup"}],
        "inferred": ["the cup stands upright"],
        "ambiguous": [],
        "objects": ["the cup"],
        "target_locations": ["the saucer"],
        "hands": ["right"],
        "subtasks": STEPS,
    },
    "scene_memory": {
        "visible_objects": ["a white cup", "a blue saucer"],
        "hands_in_view": [],
        "viewpoint": "down at a table",
        "spatial_relations": ["the cup is left of the saucer"],
        "occlusions": [],
        "uncertainty": [],
    },
    "boxes": [{"name": "a white cup", "view": "main", "box": [100, 400, 250, 600]}],
}
RATED = {
    name: {"reason": "x", "relevance": relevance}
    for name, relevance in {
        "instruction_consistency": 9, "object_scene_consistency": 0, "hand_body_consistency": 8, "visual_quality": 0
    }.items()
}  # fmt: skip


def line(stage: str, reply: Any, subject: str | None = None) -> Line:
    return {"when": {"stage": stage, **({} if subject is None else {"subject": subject})}, "reply": reply}


def claims(dimension: str, *found: tuple[str, str, list[float]]) -> Line:
    shared = {"evidence": "it is seen", "frames": [16], "dimension": dimension, "severity_proposal": 4}
    shared |= {"box": None, "box_frame": None, "box_view": None}
    reported = [{**shared, "type": kind, "description": text, "span_s": span} for kind, text, span in found]
    return line("propose", {"hypotheses": [{**event, "confidence": 0.8} for event in reported]}, dimension)


def decision(choice: str, **fields: Any) -> Line:
    known = {"verified_evidence": "seen", "frames": [16], "rationale": f"why {choice}", "decision": choice}
    rest = {"merge_with": None, "primary_dimension": None, "type": None, "refined_span_s": [0.5, 3.0]}
    return {**known, **rest, "severity": 4 if choice == "ACCEPT" else None, "confidence": 0.9, **fields}


OF_THE_INSTRUCTION = {"primary_dimension": "instruction_consistency", "type": "wrong_effector"}

CONVERSATION = [
    line("direct", {"events": []}),
    line("ground", GROUNDED),
    line("observe", {"windows": {"W0": NOTES}}),
    line(
        "segment",
        {
            "segments": [
                {"subtask": "carry", "span_s": [0.0, 4.0], "departure": "with the left hand", "dimensions": RATED}
            ]
        },
    ),
    claims("task_progress"),
    claims("instruction_consistency", ("wrong_effector", "The left hand takes the cup.", [0.5, 3.0])),
    claims("object_scene_consistency"),
    claims(
        "hand_body_consistency",
        ("hand_occluded_during_manipulation", "The arm covers the fingers.", [1.0, 2.0]),
        ("left_right_hand_identity_confusion", "The left hand takes the cup.", [0.5, 3.0]),
    ),
    claims("visual_quality"),
    line(
        "verify",
        {
            "decisions": {
                "H1": decision("ACCEPT"),
                "H2": decision("REJECT", frames=[], confidence=0.1),
                "H3": decision("MERGE", merge_with="H1", **OF_THE_INSTRUCTION),
            }
        },
    ),
]


@pytest.fixture(scope="module")
def egocentric() -> Domain:
    return load_domain("egocentric")


async def examine(domain: Domain, video: Path, instruction: str | None) -> tuple[Report, list[Any]]:
    models, backend = scripted(*CONVERSATION)
    pipeline = Pipeline.build(domain, "full")
    with open_clip(ManifestEntry(path=video, instruction=instruction), pipeline, models) as opened:
        return await diagnose(opened, pipeline, models), backend.asked


async def test_the_whole_pipeline_ends_in_a_report(egocentric: Domain, video: Path) -> None:
    report, asked = await examine(egocentric, video, TASK)
    assert (report.status, report.failures) == ("complete", ())
    assert {each.state for each in report.coverage.values()} <= {"examined", "ruled_out"}
    assert len(report.coverage) == 5
    assert [hypothesis.verdict for hypothesis in report.hypotheses] == ["accepted", "rejected", "merged"]
    (event,) = report.events
    assert (event.dimension, event.type, event.severity) == ("instruction_consistency", "wrong_effector", 4)
    assert event.secondary == ()
    assert event.spans == (Span(0.5, 3.0),)
    assert len(asked) == len(CONVERSATION)


async def test_prompts_say_that_the_clip_is_real_and_who_wears_the_camera(egocentric: Domain, video: Path) -> None:
    _, asked = await examine(egocentric, video, TASK)
    for request in asked:
        assert "a real event" in request.system
        assert "generative" not in request.system
        assert "of the person who wears the camera" in request.system
    specialist, critic = (str(asked[place].parts) for place in (-2, -1))
    for words in (TASK, "the cup stands upright", "the left hand carries the cup"):
        assert words in critic
    assert "the left hand does the work" in specialist
    assert "the left hand does the work" not in critic, "the critic is not shown suspicions"


def test_it_brings_no_python() -> None:
    """Its folders hold data, and the package does not know its name."""
    folders = (domain_folders()["egocentric"], resource_folder("prompts") / "egocentric")
    kinds = {path.suffix for folder in folders for path in folder.rglob("*") if path.is_file()}
    assert kinds <= {".yaml", ".md", ".j2"}
    code = Path(robogaze.__file__).parent.rglob("*.py")
    assert not [path for path in code if "egocentric" in path.read_text(encoding="utf-8")]
