"""Two checkpoints as run folders with videos, and the page of their comparison."""

from collections.abc import Mapping
from pathlib import Path

from robogaze.comparison import Comparison, ComparisonConfig, Run
from robogaze.comparison import compare_runs as compare
from robogaze.core.events import Event
from robogaze.core.report import Report
from robogaze.datasets import file_sha256
from robogaze.datasets.formats.read import read_annotations
from robogaze.domains import Domain
from robogaze.reporting.pages.comparison import comparison_page
from robogaze.reporting.pages.comparison_runs import page_runs
from robogaze.reporting.pages.results import write_result_page
from robogaze.store import ManifestLine

from .samples import ATTACK, FPS, FRAMES, make_clip, make_event, make_report, make_video

SHORT = 40
"""How many frames the clips of the new checkpoint have: 2.5 s, where those of the old one have 4 s."""

FALLS = make_event("e1", "physics", "floating", (1.0, 2.0), severity=4, description=f"It hangs in the air. {ATTACK}")
FLASH = make_event("e2", "picture", "flicker", (0.5, 0.5625), severity=1, description="One bright frame.")
STOPS = make_event("e1", "task", "early_end", (2.0, 2.5), severity=3, description="The clip ends while it is held.")

OLD: Mapping[str, tuple[Event, ...]] = {"stack": (FALLS, FLASH), "push": (), "fold": (FLASH,), "lift": (), "turn": ()}
NEW: Mapping[str, tuple[Event, ...]] = {"stack": (STOPS,), "push": (STOPS,), "fold": (), "lift": (), "turn": ()}


def run_folder(root: Path, domain: Domain, events: Mapping[str, tuple[Event, ...]], frames: int = FRAMES) -> Path:
    """A run folder of a clip for each prompt; all have one video."""
    (root / "reports").mkdir(parents=True)
    (root / "run.json").write_text("{}")
    (root / "clip.mp4").write_bytes(make_video(frames))
    lines = []
    for prompt, found in events.items():
        report = clip_report(domain, f"{root.name}-{prompt}", prompt, found, frames)
        (root / "reports" / f"{report.clip.id}.json").write_text(report.model_dump_json())
        lines.append(ManifestLine(clip_id=report.clip.id, path="clip.mp4", sha256=file_sha256(root / "clip.mp4")))
    (root / "manifest.jsonl").write_text("".join(f"{line.model_dump_json()}\n" for line in lines))
    return root


def clip_report(domain: Domain, name: str, prompt: str, events: tuple[Event, ...], frames: int) -> Report:
    """A report of a clip of so many frames."""
    times = tuple(number / FPS for number in range(frames))
    clip = make_clip(name, instruction=prompt, frame_count=frames, frame_times_s=times, duration_s=frames / FPS)
    return make_report(domain, clip, events=events)


def part_run(root: Path, domain: Domain, start_s: float) -> Path:
    """A run folder of one clip with an event, which is the two seconds of its file from a time on."""
    run_folder(root, domain, {"stack": (FALLS,)}, frames=2 * FPS)
    (root / "clip.mp4").write_bytes(make_video())
    path = root / "reports" / f"{root.name}-stack.json"
    report = Report.model_validate_json(path.read_bytes())
    part = {"start_s": start_s, "end_s": start_s + 2.0}
    path.write_text(report.with_(clip=report.clip.with_(**part)).model_dump_json())
    content = file_sha256(root / "clip.mp4")
    line = ManifestLine(clip_id=report.clip.id, path="clip.mp4", sha256=content, **part)
    (root / "manifest.jsonl").write_text(f"{line.model_dump_json()}\n")
    return root


def read(*paths: Path) -> list[Run]:
    """Runs from their folders."""
    return [Run.of(path.stem, read_annotations(path).annotations, path) for path in paths]


def two_runs(folder: Path, domain: Domain) -> list[Run]:
    """The two checkpoints, `old` and `new`, in a folder."""
    return read(run_folder(folder / "old", domain, OLD), run_folder(folder / "new", domain, NEW, frames=SHORT))


def compared(runs: list[Run], **said: object) -> Comparison:
    """A comparison with few resamples."""
    return compare(runs, ComparisonConfig(resamples=50), **said)  # type: ignore[arg-type]


def write_page(result: Comparison, out: Path, domain: Domain | None) -> Path:
    """Write the page and return it."""
    out.mkdir(parents=True, exist_ok=True)
    page = comparison_page(result, page_runs(result, out), None, domain)
    return write_result_page(page, out, domain).path
