"""How often flags are correct on synthetic clips: `python -m tests.evidence.tracker.flags [COUNT] [SEED]`.

For each oddity, in how many of its clips its flag is raised, and in how many of all other clips it is raised falsely;
and how far the tracker's box is from the thing, in pixels of a 640 x 360 picture.
"""

import sys
from collections import Counter

import numpy as np

from robogaze.evidence.tracker.movement import movement
from robogaze.evidence.tracker.tracking import follow

from .motions import drawn
from .moving import HEIGHT, WIDTH

KINDS = ("jump", "still", "burst", "shake")


def main(count: int, seed: int) -> None:
    """Print the table for a number of clips of each kind."""
    clips: Counter[str] = Counter()
    raised: Counter[tuple[str, str]] = Counter()
    errors: list[float] = []
    there = lost = 0
    for kind, _, scene in drawn(count, seed):
        frames = scene.frames()
        track = follow(lambda place, frames=frames: frames[place], len(frames), 0, scene.box(0, 1.1))  # type: ignore[misc]
        clips[kind] += 1
        raised.update(
            (kind, flagged) for flagged in {flag.kind for flag in movement(track, np.array(scene.times_s)).flags}
        )
        for number, place in enumerate(track.places):
            truth = scene.truth(number)
            if truth is None or not (0 < truth[0] < WIDTH and 0 < truth[1] < HEIGHT):
                continue
            there += 1
            if place is None:
                lost += 1
            else:
                errors.append(float(np.hypot(place.middle[0] * WIDTH - truth[0], place.middle[1] * HEIGHT - truth[1])))
    print("| flag | raised where it should be | where nothing is odd | where something else is odd |")
    print("|---|---|---|---|")
    for kind in KINDS:
        others = [name for name in KINDS if name != kind]
        false, of = sum(raised[name, kind] for name in others), sum(clips[name] for name in others)
        usual = f"{raised['', kind]} of {clips['']}"
        print(f"| {kind} | {raised[kind, kind]} of {clips[kind]} | {usual} | {false} of {of} |")
    median, most = np.percentile(errors, (50, 95))
    print(
        f"\nbox: median {median:.2f} px, 95 % within {most:.2f} px, most {max(errors):.1f} px; lost {lost} of {there}"
    )


if __name__ == "__main__":
    main(*(int(seed) for seed in (*sys.argv[1:], *("6", "11")[len(sys.argv) - 1 :])))
