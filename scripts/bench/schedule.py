"""The cost of a clip under each pipeline, by its length: calls, rounds, prompt tokens and bytes of pictures, and the
share of the prompt that specialists have in common: the tables of docs/cost.md.

Measured against the stub server (tokens are its estimates) on synthetic clips of 640 x 480 at 15 frames a second, with
one action in each half of a window, segments of 5 s, and relevances that change from segment to segment.

    python scripts/bench/schedule.py [--domain game] [--pipeline full --pipeline vanilla]
"""

import argparse
import asyncio
import json
import os
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from statistics import mean
from typing import Any

from stub_server import Body, Reply, Stub, answer, jpeg_tokens, picture_of, pictures_of, running, stage_of, text_of
from synthetic import write_clip

from robogaze.backends import Models, ModelsConfig
from robogaze.core.report import Usage
from robogaze.core.sampling import equal_parts
from robogaze.datasets import ManifestEntry
from robogaze.diagnose import OpenClip, diagnose, open_clip
from robogaze.domains import default_domain, load_domain
from robogaze.stages.pipeline import Pipeline

LENGTHS_S = (6, 9, 17, 49, 142)
FPS, WIDTH, HEIGHT = 15, 640, 480
SEGMENT_S = 5.0
RELEVANCES = (9, 7, 3, 2, 1)
"""Of the dimensions of a segment; the next segment has them two places further."""

SPECIALISTS = "propose"


@dataclass
class Cost:
    """What one clip costs under one pipeline."""

    usage: Usage
    picture_bytes: int
    common_share: float | None

    def __str__(self) -> str:
        tokens = f"{(self.usage.prompt_tokens or 0) / 1000:.0f} thousand prompt tokens"
        return f"{self.usage.calls} calls, {self.usage.rounds} rounds, {tokens}, {self.picture_bytes / 2**20:.1f} MiB"


def typical(body: Body) -> Any:
    """The stub's answer, with what a model typically observes, how it divides the clip, and what it finds relevant."""
    reply = answer(body, specialists=2)
    if "windows" in reply and stage_of(body) == "observe":
        spans = re.findall(r"^W\d+: ([\d.]+) to ([\d.]+) s", text_of(body), re.MULTILINE)
        for notes, (start, end) in zip(reply["windows"].values(), spans, strict=True):
            middle = (float(start) + float(end)) / 2
            times = ((float(start), middle), (middle, float(end)))
            notes["actions"] = [{"start_s": first, "end_s": last, "what": "the bar moves"} for first, last in times]
            notes["suspicions"] = []
    if "segments" in reply:
        reply["segments"] = list(segments(reply["segments"][0]))
    return reply


def segments(stretch: Any) -> Any:
    """A segment of the whole stretch in segments of SEGMENT_S, in which other dimensions are relevant each time."""
    start, end = stretch["span_s"]
    for place, part in enumerate(equal_parts(end - start, SEGMENT_S)):
        ratings = stretch.get("dimensions", {})
        rated = {
            name: {**rating, "relevance": RELEVANCES[(number - 2 * place) % len(RELEVANCES)]}
            for number, (name, rating) in enumerate(ratings.items())
        }
        routing = {"dimensions": rated} if "dimensions" in stretch else {}
        yield {**stretch, "span_s": [round(start + part.start, 2), round(start + part.end, 2)], **routing}


async def cost(pipeline: Pipeline, opened: OpenClip, stub: Stub, url: str) -> Cost:
    """Diagnose a clip and add up what was asked."""
    models = Models.open(ModelsConfig.read(f"openai:stub@{url}"), None, os.environ)
    picture_bytes, specialists = 0, list[list[Any]]()

    def behave(body: Body) -> Reply:
        nonlocal picture_bytes
        picture_bytes += sum(map(len, pictures_of(body)))
        if stage_of(body) == SPECIALISTS and len(specialists) < 6:
            specialists.append(body["messages"][1]["content"])
        return Reply(content=json.dumps(typical(body)))

    stub.behave, stub.keep = behave, False
    clip = opened.clip.with_(instruction="Push the red bar to the right")
    report = await diagnose(replace(opened, clip=clip), pipeline, models)
    await models.close()
    failures = [failure.message for failure in report.failures if failure.kind != "undecided"]
    assert not failures, failures
    return Cost(report.usage, picture_bytes, common_share(specialists))


def common_share(requests: Sequence[Sequence[Any]]) -> float | None:
    """The tokens of the first parts that all requests have in common, as a share of the mean tokens of a request."""
    if len(requests) < 2:
        return None
    common = takewhile(lambda parts: all(part == parts[0] for part in parts), zip(*requests, strict=False))
    return sum(tokens(parts[0]) for parts in common) / mean(sum(map(tokens, parts)) for parts in requests)


def tokens(part: Any) -> int:
    """The stub's estimate for a part of a request."""
    return jpeg_tokens(picture_of(part)) if part["type"] == "image_url" else len(part["text"]) // 4


def tables(found: dict[str, list[Cost]], lengths: Sequence[int]) -> str:
    """The tables of docs/cost.md: a row for each pipeline, a column for each length."""
    columns = {
        "Calls (rounds)": lambda cost: f"{cost.usage.calls} ({cost.usage.rounds})",
        "Prompt tokens, thousands": lambda cost: f"{(cost.usage.prompt_tokens or 0) / 1000:.0f}",
        "Pictures, MiB": lambda cost: f"{cost.picture_bytes / 2**20:.1f}",
        "Common to specialists": lambda cost: "-" if cost.common_share is None else f"{100 * cost.common_share:.0f} %",
    }
    lines = []
    for title, cell in columns.items():
        lines += [
            f"| {title} | " + " | ".join(f"{length} s" for length in lengths) + " |",
            "|---" * (1 + len(lengths)) + "|",
        ]
        lines += [f"| {name} | " + " | ".join(map(cell, costs)) + " |" for name, costs in found.items()] + [""]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--domain", default=default_domain())
    parser.add_argument("--pipeline", action="append", help="default: every pipeline of the domain")
    parser.add_argument("--length", type=int, action="append", help=f"in seconds; default: {LENGTHS_S}")
    options = parser.parse_args()
    lengths = options.length or LENGTHS_S
    domain = load_domain(options.domain)
    built = [Pipeline.build(domain, name) for name in options.pipeline or domain.pipelines]
    found: dict[str, list[Cost]] = {pipeline.name: [] for pipeline in built if pipeline.roles}
    stub = Stub()
    with tempfile.TemporaryDirectory() as folder, running(stub) as url:
        for length in lengths:
            path = write_clip(Path(folder) / f"{length}.mp4", length * FPS, WIDTH, HEIGHT, FPS)
            for measures in (False, True):
                asking = [pipeline for pipeline in built if pipeline.roles and pipeline.measures == measures]
                if not asking:
                    continue
                with open_clip(ManifestEntry(path=path), asking[0], None) as opened:
                    for pipeline in asking:
                        found[pipeline.name].append(asyncio.run(cost(pipeline, opened, stub, url)))
                        print(f"{length} s, {pipeline.name}: {found[pipeline.name][-1]}", flush=True)
    print(tables(found, lengths))


if __name__ == "__main__":
    main()
