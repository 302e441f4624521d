"""How fast a run page opens from disk in Chromium, with all data inside and with data in files: the table under "Size"
in docs/reports.md.

The run is synthetic: clips of 8.7 s at 16 frames per second with a video, events, rejected hypotheses, a ledger of nine
calls and pictures of their frames, in the sizes that `robogaze score` writes. Times count from the start of the
navigation; "list" is when rows of the list can be clicked, "clip" when the first clip is shown. Each is the median of
several visits, the two layouts in turn; each visit uses a new browser.

    python scripts/bench/page.py [--clips 500] [--pictures 12] [--visits 5]
"""

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

import cv2
import numpy as np
from synthetic import write_clip

from robogaze.core.clip import Clip
from robogaze.core.coverage import all_examined
from robogaze.core.events import Event, Evidence, Hypothesis
from robogaze.core.pictures import Picture
from robogaze.core.report import Call, Provenance, Report, Usage
from robogaze.core.time import Span
from robogaze.domains import Domain, default_domain, load_domain
from robogaze.reporting.pages import bundles
from robogaze.reporting.pages.run import ClipPage, run_files

FRAMES, FPS = 139, 16
SINCE_START = """() => {
  const seen = {};
  const look = () => {
    if (!seen.list && document.querySelector(".clips a")) seen.list = performance.now();
    if (!seen.clip && document.querySelector("#clip h2")) seen.clip = performance.now();
    if (!seen.list || !seen.clip) requestAnimationFrame(look);
  };
  look();
  globalThis.seen = seen;
}"""


def pages(domain: Domain, clips: int, pictures: int) -> Iterator[ClipPage]:
    """The clips of the run; the same for the same arguments."""
    rng = np.random.default_rng(0)
    for number in range(clips):
        report = made_up(domain, number, rng)
        frames = sorted(rng.choice(FRAMES, pictures, replace=False).tolist()) if report.events else []
        yield ClipPage(report, "clip.mp4", {frame: jpeg(rng) for frame in frames})


def jpeg(rng: np.random.Generator) -> bytes:
    """A picture of about 20 KB."""
    coarse = rng.integers(0, 255, (32, 48, 3), dtype=np.uint8)
    image = cv2.resize(coarse, (480, 300), interpolation=cv2.INTER_LINEAR)
    noisy = np.clip(image + rng.normal(0, 4, image.shape), 0, 255).astype(np.uint8)
    return cv2.imencode(".jpg", noisy, [cv2.IMWRITE_JPEG_QUALITY, 75])[1].tobytes()


def made_up(domain: Domain, number: int, rng: np.random.Generator) -> Report:
    """A report; every third clip is clean."""
    claims = [] if number % 3 == 0 else [claim(domain, at, rng) for at in range(7)]
    shown = tuple(range(0, FRAMES, 9))
    return Report(
        clip=Clip(
            id=f"clip-{number:05}", uri="clip.mp4", sha256="0" * 64, frame_count=FRAMES,
            frame_times_s=tuple(frame / FPS for frame in range(FRAMES)), duration_s=FRAMES / FPS, fps=FPS,
            width=640, height=400, instruction=f"Pick up the cube number {number} and place it in the green bin",
            checkpoint=f"step_{number % 5}000",
        ),
        domain=domain.ref, pipeline="full", author="bench",
        coverage=all_examined(domain.dimensions, "made up"),
        events=tuple(Event(**fields) for fields in claims[:3]),
        hypotheses=tuple(
            Hypothesis(**fields, verdict="rejected", reason="Not seen.", proposed_by="bench") for fields in claims[3:]
        ),
        usage=Usage(calls=9, rounds=5),
        provenance=Provenance(pictures=tuple(map(picture, shown)), calls=tuple(call(at, shown) for at in range(9))),
    )  # fmt: skip


def claim(domain: Domain, at: int, rng: np.random.Generator) -> dict[str, Any]:
    """The fields that an event and a hypothesis share."""
    kind = list(domain.types.values())[int(rng.integers(len(domain.types)))]
    start = float(rng.uniform(0, 6))
    text = f"What was seen as number {at}: {kind.definition}"
    return {
        "id": f"e{at}", "dimension": domain.dimension_of[kind.id], "type": kind.id,
        "spans": (Span(start, start + 2.0),), "severity": int(rng.integers(1, 6)), "confidence": 0.7,
        "description": text, "evidence": (Evidence(text=text, frames=(int(start * FPS),), source="bench"),),
    }  # fmt: skip


def picture(frame: int) -> Picture:
    size = {"width": 640, "height": 400, "sha256": "0" * 64}
    return Picture(id=f"F{frame}", frames=(frame,), times_s=(frame / FPS,), views=("main",), **size)


def call(at: int, shown: tuple[int, ...]) -> Call:
    return Call(
        id=f"c{at}", stage="propose", subject="clip", role="vlm", model="bench", round=1 + at // 3, attempt=1,
        pictures=tuple(f"F{frame}" for frame in shown), key="0" * 64, outcome="answered",
    )  # fmt: skip


def visited(chromium: Any, path: str, index: Path) -> dict[str, float]:
    """Seconds until the list and the clip are shown in a new browser."""
    browser = chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
    page = browser.new_page()
    page.add_init_script(f"({SINCE_START})()")
    page.goto(index.as_uri(), wait_until="commit")
    while len(seen := page.evaluate("globalThis.seen ?? {}")) < 2:
        time.sleep(0.02)
    browser.close()
    return {what: at / 1000 for what, at in seen.items()}


def written(folder: Path, domain: Domain, clips: int, pictures: int) -> tuple[dict[str, Path], Path]:
    """The index of each layout of one run, and the folder of the data files of the second."""
    whole, separate = folder / "whole", folder / "separate"
    (separate / "page").mkdir(parents=True)
    whole.mkdir()
    for root in (whole, separate):
        write_clip(root / "clip.mp4", FRAMES, 320, 192)
    with patch.object(bundles, "IN_PAGE_CHARACTERS", sys.maxsize):
        ((name, text),) = run_files(pages(domain, clips, pictures), [], domain, "bench")
        (whole / name).write_text(text, encoding="utf-8")
    for name, text in run_files(pages(domain, clips, pictures), [], domain, "bench"):
        (separate / name).write_text(text, encoding="utf-8")
    return {"inside": whole / "index.html", "as written": separate / "index.html"}, separate / "page"


def main() -> None:
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clips", type=int, default=500)
    parser.add_argument("--pictures", type=int, default=12)
    parser.add_argument("--visits", type=int, default=5)
    args = parser.parse_args()
    if (path := shutil.which("chromium") or shutil.which("google-chrome")) is None:
        parser.error("no chromium is on the PATH")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        layouts, files = written(Path(folder), load_domain(default_domain()), args.clips, args.pictures)
        seen: dict[str, list[dict[str, float]]] = {name: [] for name in layouts}
        for _ in range(args.visits):
            for name, index in layouts.items():
                seen[name].append(visited(driver.chromium, path, index))
        print(f"{args.clips} clips with {args.pictures} pictures each; medians of {args.visits} visits\n")
        print("| data | index.html, MB | files beside, MB | list, s | clip, s |\n|---|---|---|---|---|")
        for name, index in layouts.items():
            bundles = sum(path.stat().st_size for path in files.glob("*.js")) if name != "inside" else 0
            times = " | ".join(f"{median(visit[what] for visit in seen[name]):.2f}" for what in ("list", "clip"))
            print(f"| {name} | {index.stat().st_size / 1e6:.1f} | {bundles / 1e6:.1f} | {times} |")
        ratio = median(visit["list"] for visit in seen["inside"]) / median(
            visit["list"] for visit in seen["as written"]
        )
        print(f"\nratio of the lists, inside to as written: {ratio:.1f}")


if __name__ == "__main__":
    main()
