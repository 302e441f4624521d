"""The data set's files: clips.jsonl with a manifest row, annotations.jsonl with a report for each clip.

Nothing here needs the simulator, so that reports can be brought up to date without it.
"""

import json
from collections.abc import Sequence
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

from robogaze.core.clip import Clip, Layout
from robogaze.core.coverage import all_examined
from robogaze.core.report import Report
from robogaze.domains import load_domain
from robogaze.media import decode_clip

DOMAIN = "robot"


def read(folder: Path) -> dict[str, Report]:
    """The reports of a data set by clip, empty when there are none."""
    path = folder / "annotations.jsonl"
    lines = path.read_text().splitlines() if path.is_file() else []
    reports = [Report.model_validate_json(line) for line in lines]
    return {report.clip.id: report for report in reports}


def write(folder: Path, reports: Sequence[Report]) -> None:
    """Write clips.jsonl and annotations.jsonl, a line a clip."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [json.dumps(_row(report.clip)) for report in reports]
    (folder / "clips.jsonl").write_text("".join(f"{row}\n" for row in rows))
    (folder / "annotations.jsonl").write_text("".join(f"{report.model_dump_json()}\n" for report in reports))


def _row(clip: Clip) -> dict[str, str | None]:
    """The clip's line of the manifest; its path is relative to the manifest."""
    single = clip.layout == Layout()
    grid = f"{clip.layout.rows}x{clip.layout.columns}:{','.join(name or '-' for name in clip.layout.views)}"
    return {
        "clip_id": clip.id,
        "path": clip.uri,
        "instruction": clip.instruction,
        "split": clip.split,
        "task_family": clip.task_family,
        "embodiment": clip.embodiment,
        "layout": "single" if single else grid,
    }


def refreshed(report: Report, folder: Path) -> Report:
    """The same report for the film and the domain as they are now; its events stay."""
    clip = report.clip.with_(**measured(folder / report.clip.uri))
    domain = load_domain(DOMAIN)
    return report.with_(
        clip=clip, domain=domain.ref, coverage=all_examined(domain.dimensions, "rendered: the truth is known")
    )


def measured(path: Path) -> dict[str, Any]:
    """What the file itself says about a clip, decoded to its end."""
    with closing(decode_clip(path)) as footage:
        return {
            "sha256": sha256(path.read_bytes()).hexdigest(),
            "frame_count": len(footage.times_s),
            "frame_times_s": tuple(footage.times_s),
            "duration_s": footage.duration_s,
            "fps": len(footage.times_s) / footage.duration_s,
            "width": footage.width,
            "height": footage.height,
        }
