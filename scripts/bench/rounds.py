"""Calls and rounds of `glide` on the demo clips of games, compared with sequential calls: the table on the demo clips
in docs/games.md.

No model is used. The annotations decide the answers: the scanner suspects the windows that contain an annotated event,
and the second window of a clip without one; the judge confirms the former and rejects the latter, sure in the first
step, or (harder) asking for more in the first and sure in the second; what is confirmed is the same event and is
visible where the annotation has it. With a scanner that suspects everything, every window is examined.

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
from robogaze.core.time import Span
from robogaze.datasets import find_entries
from robogaze.diagnose import diagnose, open_clip
from robogaze.domains import load_domain
from robogaze.stages.pipeline import Pipeline

DEMO = Path(__file__).parents[2] / "datasets" / "demo-games"
WINDOW_S = 2.0


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

    def shows(self, clip: str, window: int) -> bool:
        """Whether an annotated event is in a window."""
        span = Span(window * WINDOW_S, (window + 1) * WINDOW_S)
        return any(span.overlap(other) > 0 for event in self.truth[clip].events for other in event.spans)

    def suspected(self, clip: str) -> list[int]:
        """The windows that the scanner suspects; the claim H1 is about the first of them."""
        windows = range(int(self.truth[clip].clip.duration_s // WINDOW_S) + 1)
        if self.case.wary:
            return list(windows)
        return [window for window in windows if self.shows(clip, window)] or [1]

    async def complete(self, request: Request) -> Completion:
        plain = plainest(request.schema or {})
        plain |= dict(self._answers(request, plain))
        return Completion(json.dumps(plain), model="teller", finish_reason="stop")

    def _answers(self, request: Request, plain: dict[str, Any]) -> Iterator[tuple[str, Any]]:
        """The fields that differ from the plainest answer."""
        subject = request.subject.split()
        if request.stage == "scan" and int(subject[0][1:]) not in self.suspected(request.clip):
            yield from {"type": "none", "frames": []}.items()
        if "use" in plain:
            yield "use", {**plain["use"], "question": request.subject}
        if "ruling" in plain:
            step, window = int(subject[2]), self.suspected(request.clip)[int(subject[0][1:]) - 1]
            sure = step >= self.case.sure_in_step
            ruling = "fault" if self.shows(request.clip, window) else "normal"
            yield from {
                "ruling": ruling if sure else "needs_more_evidence",
                "confidence": 0.9 if sure else 0.6,
                "next_question": None if sure else "what happens next?",
            }.items()
        if "visible" in plain:
            yield "visible", "yes" if self.shows(request.clip, int(subject[1][1:])) else "no"


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


if __name__ == "__main__":
    main()
