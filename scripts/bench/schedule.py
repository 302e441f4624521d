"""The cost of a clip under each pipeline: calls, rounds, prompt tokens, bytes of pictures, and the share of the prompt
that specialists have in common: the table of docs/cost.md.

Measured against the stub server (tokens are its estimates) over the three clip lengths of the paper's benchmark.

    python scripts/bench/schedule.py
"""

import asyncio
import json
import os
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from statistics import mean
from typing import Any

from stub_server import Reply, Stub, answer, pictures_of, running, stage_of
from synthetic import BENCHMARK_CLIPS, write_clip

from robogaze.backends import Models, ModelsConfig
from robogaze.core.report import Report
from robogaze.datasets import ManifestEntry
from robogaze.diagnose import OpenClip, diagnose, open_clip
from robogaze.domains import default_domain, load_domain
from robogaze.stages.pipeline import Pipeline

SPECIALISTS = "propose"


ROUTED = (2, 3)
"""The numbers of specialists the stub routes to: each clip is scored once with each, 2.5 on average."""


async def costs(pipeline: Pipeline, opened: OpenClip, stub: Stub, url: str) -> list[tuple[Report, list[Any]]]:
    """The reports of a clip under different routings, each with the requests sent for it."""
    models = Models.open(ModelsConfig.read(f"openai:stub@{url}"), None, os.environ)
    found = []
    clip = opened.clip.with_(instruction="Push the red bar to the right")
    for routed in ROUTED:
        stub.behave = lambda body, routed=routed: Reply(content=json.dumps(answer(body, routed)))
        stub.asked.clear()
        report = await diagnose(replace(opened, clip=clip), pipeline, models)
        found.append((report, list(stub.asked)))
    await models.close()
    return found


def common_share(bodies: Sequence[Any]) -> float | None:
    """The length of the longest common prefix of the requests' messages, as a share of their mean length."""
    texts = [json.dumps(body["messages"]) for body in bodies]
    if len(texts) < 2:
        return None
    common = os.path.commonprefix(texts)  # noqa: RUF071 - texts, not paths
    return len(common) / mean(len(text) for text in texts)


def row(name: str, found: Sequence[tuple[Report, list[Any]]]) -> str:
    """A row of the table: means over the clips."""
    usages = [report.usage for report, _ in found]
    shown = mean(sum(len(picture) for body in bodies for picture in pictures_of(body)) for _, bodies in found)
    shares = [
        share
        for _, bodies in found
        if (share := common_share([body for body in bodies if stage_of(body) == SPECIALISTS])) is not None
    ]
    cells = [
        name,
        f"{mean(usage.calls for usage in usages):.1f}",
        f"{mean(usage.rounds for usage in usages):.1f}",
        f"{mean(usage.prompt_tokens or 0 for usage in usages):,.0f}",
        f"{shown / 2**20:.1f}",
        f"{100 * mean(shares):.1f} %" if shares else "-",
    ]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    domain = load_domain(default_domain())
    stub = Stub()
    pipelines = [Pipeline.build(domain, name) for name in domain.pipelines]
    print("| pipeline | calls | rounds | prompt tokens | MiB of pictures | common to specialists |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder, running(stub) as url, ExitStack() as stack:
        clips = [write_clip(Path(folder) / f"{name[:4]}.mp4", *size) for name, size in BENCHMARK_CLIPS.items()]
        for _, group in groupby(sorted(pipelines, key=attrgetter("measures")), attrgetter("measures")):
            asking = [pipeline for pipeline in group if pipeline.roles]
            opened = [stack.enter_context(open_clip(ManifestEntry(path=clip), asking[0], None)) for clip in clips]
            for pipeline in asking:
                found = [cost for clip in opened for cost in asyncio.run(costs(pipeline, clip, stub, url))]
                print(row(pipeline.name, found), flush=True)


if __name__ == "__main__":
    main()
