"""Render the demo clips and write down what is true about them.

Needs robogaze and mujoco==3.3.0:  pip install -e . mujoco==3.3.0
Run on a machine without a display:  MUJOCO_GL=egl python scripts/render_demo.py --out datasets/demo
"""

import argparse
import sys
from pathlib import Path

from render_demo import dataset

from robogaze.core.report import Report

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    """Read the command line and write the data set's clips, manifest and annotations."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "datasets" / "demo", help="the data set's folder")
    parser.add_argument("--only", metavar="NAME", help="render this clip and leave the others as they are")
    parser.add_argument(
        "--annotations-only", action="store_true", help="render nothing; bring reports up to date with films and domain"
    )
    asked = parser.parse_args()
    done = dataset.read(asked.out)
    if asked.annotations_only:
        dataset.write(asked.out, [dataset.refreshed(report, asked.out) for report in done.values()])
    else:
        _render(asked.out, asked.only, done)


def _render(folder: Path, only: str | None, done: dict[str, Report]) -> None:
    from render_demo import clips, truth  # only rendering needs the simulator

    if only is not None and only not in clips.CLIPS:
        sys.exit(f"--only: there is no clip {only!r} (there is: {', '.join(clips.CLIPS)})")
    for name in clips.CLIPS if only is None else [only]:
        done[name] = truth.make(clips.tell(name), folder)
        print(name, *(f"{event.type} {event.onset_s:.3f}-{event.offset_s:.3f}" for event in done[name].events))
    dataset.write(folder, [done[name] for name in clips.CLIPS if name in done])


if __name__ == "__main__":
    main()
