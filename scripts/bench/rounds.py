"""Calls and rounds of `glide` on the demo clips of games, compared with sequential calls: the table on the demo clips
in docs/games.md.

No model is used. The annotations decide the answers: the scanner names the frames of each window that show an annotated
event, and one frame in the second window of a clip without one; the judge confirms the former in the frames that show
it and rejects the latter, sure in the first step, or (harder) asking for more in the first and sure in the second; what
is confirmed is the same event and is visible where the annotation has it. With a scanner that suspects everything,
every window is examined.

A round is a set of calls that wait for earlier answers. Clips do not wait for each other, so the rounds of a set are
those of its longest clip. In sequence, every call is a round.

    python scripts/bench/rounds.py
"""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robogaze.backends import ModelConfig, Models, ModelsConfig
from robogaze.backends.base import Completion, Request
from robogaze.backends.rehearsal import RehearsalBackend, plainest
from robogaze.core.report import Report
from robogaze.core.time import iou
from robogaze.datasets import find_entries
from robogaze.diagnose import diagnose, open_clip
from robogaze.domains import load_domain
from robogaze.stages.pipeline import Pipeline

DEMO = Path(__file__).parents[2] / "datasets" / "demo-games"


@dataclass(frozen=True)
class Case:
    """How the model answers: the step in which the judge is sure, and whether the scanner suspects everything."""

    name: str
    sure_in_step: int
    wary: bool = False


CASES = (
    Case("sure in the first step", 1),
    Case("sure in the second", 2),
    Case("sure in the second, every window suspected", 2, wary=True),
)


class AnnotationBackend(RehearsalBackend):
    """Answers according to a case and the annotations."""

    def __init__(self, case: Case, truth: dict[str, Report]) -> None:
        self.case, self.truth = case, truth

    def shown(self, clip: str, frames: list[int]) -> list[int]:
        """The frames, of some, that show an annotated event."""
        times_s = self.truth[clip].clip.frame_times_s
        spans = [span for event in self.truth[clip].events for span in event.spans]
        return [frame for frame in frames if any(times_s[frame] in span for span in spans)]

    async def complete(self, request: Request) -> Completion:
        plain = plainest(request.schema or {})
        plain |= dict(self._answers(request, plain))
        return Completion(json.dumps(plain), model="teller", finish_reason="stop")

    def _answers(self, request: Request, plain: dict[str, Any]) -> Iterator[tuple[str, Any]]:
        """The fields that differ from the plainest answer."""
        subject, schema = request.subject.split(), dict(request.schema or {})
        if request.stage == "scan":
            yield "cues", self._cues(request.clip, int(subject[0][1:]), plain["cues"][0], schema)
        if "ruling" in plain:
            frames = schema["properties"]["visible"]["items"]["items"]["enum"]
            seen, sure = self.shown(request.clip, frames), int(subject[2]) >= self.case.sure_in_step
            look = {"tool": "vqa", "frames": frames[:1], "question": request.subject}
            yield from {
                "ruling": ("fault" if seen else "normal") if sure else "needs_more_evidence",
                "visible": [[seen[0], seen[-1]]] if seen else [],
                "confidence": 0.9 if sure else 0.6,
                "next_look": None if sure else look,
            }.items()
        elif "visible" in plain:
            yield "visible", self.shown(request.clip, schema["properties"]["visible"]["items"]["enum"])
        if request.stage == "trace" and "frame" in plain:
            frames = schema["properties"]["frame"]["enum"]
            seen = self.shown(request.clip, frames)
            yield "frame", (seen or frames)[0 if subject[1] == "start" else -1]

    def _cues(self, clip: str, window: int, cue: dict[str, Any], schema: dict[str, Any]) -> list[dict[str, Any]]:
        frames = schema["$defs"]["FindingAnswer"]["properties"]["frames"]["items"]["enum"]
        seen = self.shown(clip, frames)
        if not seen and (self.case.wary or (window == 1 and not self.truth[clip].events)):
            seen = frames[len(frames) // 2 :][:1]
        return [{**cue, "frames": [seen[0], seen[-1]]}] if seen else []


async def reports_of(case: Case, pipeline: Pipeline, truth: dict[str, Report]) -> list[Report]:
    """The reports of the clips in a case."""
    config = ModelsConfig(models={"teller": ModelConfig(kind="scripted")}, roles={"vlm": "teller"})
    models = Models(config, {"teller": AnnotationBackend(case, truth)})
    reports = []
    for entry in find_entries([DEMO / "clips.jsonl"]):
        with open_clip(entry, pipeline, models) as opened:
            report = await diagnose(opened, pipeline, models)
        assert report.status == "complete", report.failures
        assert bool(report.events) == bool(truth[report.clip.id].events), report.clip.id
        reports.append(report)
    return reports


def cells(calls: int, rounds: int) -> str:
    """Calls, rounds and calls per round."""
    return f"{calls} | {rounds} | {calls / rounds:.1f}"


def mean_iou(reports: list[Report], truth: dict[str, Report]) -> float:
    """The IoU of found and annotated spans, as a mean over the clips with an annotated event."""
    values = [
        iou(
            (span for event in report.events for span in event.spans),
            (span for event in truth[report.clip.id].events for span in event.spans),
        )
        for report in reports
        if truth[report.clip.id].events
    ]
    return sum(values) / len(values)


def main() -> None:
    lines = (DEMO / "annotations.jsonl").read_text(encoding="utf-8").splitlines()
    truth = {report.clip.id: report for report in map(Report.model_validate_json, lines)}
    pipeline = Pipeline.build(load_domain("game"), "glide")
    found = [asyncio.run(reports_of(case, pipeline, truth)) for case in CASES]
    print("| clip |", " | ".join(f"{case.name}: calls | rounds | calls a round" for case in CASES), "|")
    print("|---" * (1 + 3 * len(CASES)) + "|")
    for row in zip(*found, strict=True):
        print(
            f"| {row[0].clip.id} |", " | ".join(cells(report.usage.calls, report.usage.rounds) for report in row), "|"
        )
    totals = [
        (sum(report.usage.calls for report in case), max(report.usage.rounds for report in case)) for case in found
    ]
    print("| all nine |", " | ".join(cells(*total) for total in totals), "|")
    for case, reports in zip(CASES, found, strict=True):
        print(f"temporal IoU with the annotations, {case.name}: {mean_iou(reports, truth):.2f}")


if __name__ == "__main__":
    main()
