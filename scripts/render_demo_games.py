"""Draw the demo clips of games and write down what is true about them.

Needs robogaze and nothing else:  python scripts/render_demo_games.py --out datasets/demo-games
"""

import argparse
from pathlib import Path

from render_demo import dataset
from render_demo.games import clips, film

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    """Read the command line and write the data set's clips, manifest and annotations."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "datasets" / "demo-games", help="the data set's folder")
    parser.add_argument(
        "--annotations-only", action="store_true", help="draw nothing; bring reports up to date with films and domain"
    )
    asked = parser.parse_args()
    if asked.annotations_only:
        done = dataset.read(asked.out).values()
        dataset.write(asked.out, [film.refreshed(report, asked.out) for report in done])
        return
    reports = [film.make(tell(), asked.out) for tell in clips.CLIPS.values()]
    for report in reports:
        told = [
            f"{event.type} {[(round(one.start, 3), round(one.end, 3)) for one in event.spans]}"
            for event in report.events
        ]
        print(report.clip.id, *told)
    dataset.write(asked.out, reports)


if __name__ == "__main__":
    main()
