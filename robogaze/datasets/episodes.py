"""The episodes of LeRobot data sets that pass: their numbers, as the library's `episodes=[...]` takes them.

A clip is an episode where it lies in a data set and is what `meta/` says of the episode: a whole file, or that part of
one. An episode passes when its clip of every camera does; the cameras are those of which the run has any report.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from robogaze.core.clip import Clip
from robogaze.core.report import Report
from robogaze.datasets.layouts import lerobot
from robogaze.datasets.layouts.source import ImportSource


@dataclass(frozen=True)
class Episodes:
    """What a run says of a data set: which episodes pass, of how many, as seen by how many cameras.

    `others` counts clips that lie in the data set and are no episode of it.
    """

    root: Path
    clean: tuple[int, ...]
    scored: int
    cameras: int
    others: int


def clean_episodes(
    reports: Sequence[Report], videos: Mapping[str, Path], dimensions: Collection[str]
) -> tuple[Episodes, ...]:
    """The episodes that are clean in these dimensions, of every LeRobot data set that clips lie in.

    `videos` says where each clip lies.

    Raises InputError for a data set whose description contradicts itself.
    """
    held: dict[Path, list[tuple[Path, Report]]] = {}
    for report in reports:
        video = _in_its_folder(videos[report.clip.id])
        root = next((folder for folder in video.parents if (folder / lerobot.INFO).is_file()), None)
        if root is not None:
            held.setdefault(root, []).append((video, report))
    return tuple(found for root, clips in held.items() for found in _of(root, clips, dimensions))


def _of(root: Path, clips: Sequence[tuple[Path, Report]], dimensions: Collection[str]) -> Iterator[Episodes]:
    source = ImportSource.of(root)
    if not lerobot.recognises(source):
        return
    there: dict[Path, list[lerobot.EpisodeVideo]] = {}
    for one in lerobot.episode_videos(source):
        there.setdefault(_in_its_folder(source.at(one.video)), []).append(one)
    clean: dict[tuple[int, str], bool] = {}
    others = 0
    for video, report in clips:
        episode = next((one for one in there.get(video, ()) if _is(one, report.clip)), None)
        if episode is None:
            others += 1
        else:
            clean[episode.episode, episode.camera] = report.clean_in(dimensions)
    cameras = {camera for _, camera in clean}
    scored = sorted({number for number, _ in clean})
    kept = (number for number in scored if all(clean.get((number, camera)) for camera in cameras))
    yield Episodes(root, tuple(kept), len(scored), len(cameras), others)


def _is(episode: lerobot.EpisodeVideo, clip: Clip) -> bool:
    """Whether a clip is an episode, when both lie in one file; borders are rounded, and a frame is enough to tell."""
    ends = ((episode.start_s, clip.start_s), (episode.end_s, clip.end_s))
    if any((one is None) != (other is None) for one, other in ends):
        return False
    return all(abs(one - other) < 1 / clip.fps for one, other in ends if one is not None and other is not None)


def _in_its_folder(video: Path) -> Path:
    """A file under its own name, for caches link files to where they have others; its folder where it is."""
    return video.parent.resolve() / video.name
