"""Clips chosen from a run, for example the clean clips, as a manifest and as episodes of LeRobot data sets.

A clip counts as an episode if its file is in a LeRobot data set and the clip covers the same part of this file as the
episode does according to `meta/`. An episode is chosen if all its clips, from all cameras, are chosen. Cameras for
which the run has no report do not matter.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from robogaze.core.annotation import FIELDS
from robogaze.core.clip import Clip
from robogaze.core.report import Report
from robogaze.datasets.layouts import lerobot
from robogaze.datasets.layouts.base import ImportSource
from robogaze.datasets.manifest import ManifestEntry
from robogaze.errors import InputError


def clean_entries(
    reports: Sequence[Report], videos: Mapping[str, Path], dimensions: Collection[str]
) -> tuple[ManifestEntry, ...]:
    """Manifest entries of the clips that are clean in these dimensions (`Report.clean_in`).

    `videos` gives the file of each clip, by clip id. Entries keep the clip's id, the SHA-256 of its file, and, if it
    was given, the layout of views. Raises InputError if an initial frame is missing.
    """
    return tuple(
        entry_of(report.clip, videos[report.clip.id], layout_given=report.layout_given)
        for report in reports
        if report.clean_in(dimensions)
    )


def entry_of(clip: Clip, video: Path, *, layout_given: bool) -> ManifestEntry:
    """The manifest entry of a clip. The layout of views is included only if it was given, rather than detected."""
    initial_frame = None if clip.initial_frame is None else Path(clip.initial_frame)
    if initial_frame is not None and not initial_frame.is_file():
        raise InputError(f"{clip.id}: the initial frame {initial_frame} does not exist; "
                         "run this command in the folder in which the run was started")  # fmt: skip
    return ManifestEntry(
        path=video,
        start_s=clip.start_s,
        end_s=clip.end_s,
        sha256=clip.sha256,
        clip_id=clip.id,
        instruction=clip.instruction,
        initial_frame=initial_frame,
        layout=clip.layout if layout_given else None,
        **{name: getattr(clip, name) for name in FIELDS},
    )


@dataclass(frozen=True)
class ChosenEpisodes:
    """The numbers of the `chosen` episodes of a LeRobot data set.

    `scored` is the number of episodes with a report. `cameras` is the number of cameras of these episodes.

    `other_clips` counts the clips of the run whose file is in the data set but which do not match an episode.
    """

    root: Path
    chosen: tuple[int, ...]
    scored: int
    cameras: int
    other_clips: int


def chosen_episodes(clips: Iterable[tuple[Clip, Path, bool]]) -> tuple[ChosenEpisodes, ...]:
    """The chosen episodes of each LeRobot data set that contains some of the clips; each clip comes with its file.

    Raises InputError if a data set's description contradicts itself.
    """
    clips_of: dict[Path, list[tuple[Path, Clip, bool]]] = {}
    for clip, path, chosen in clips:
        video = _in_real_folder(path)
        root = next((folder for folder in video.parents if (folder / lerobot.INFO).is_file()), None)
        if root is not None:
            clips_of.setdefault(root, []).append((video, clip, chosen))
    sources = {root: ImportSource.of(root) for root in clips_of}
    return tuple(_chosen_of(source, clips_of[root]) for root, source in sources.items() if lerobot.recognises(source))


def _chosen_of(source: ImportSource, clips: Sequence[tuple[Path, Clip, bool]]) -> ChosenEpisodes:
    episodes_of: dict[Path, list[lerobot.EpisodeVideo]] = {}
    for episode in lerobot.episode_videos(source):
        episodes_of.setdefault(_in_real_folder(source.at(episode.video)), []).append(episode)
    found: dict[tuple[int, str], bool] = {}
    other_clips = 0
    for video, clip, chosen in clips:
        match = next((episode for episode in episodes_of.get(video, ()) if _covers(clip, episode)), None)
        if match is None:
            other_clips += 1
        else:
            key = match.episode, match.camera
            found[key] = chosen and found.get(key, True)
    cameras = {camera for _, camera in found}
    scored = sorted({number for number, _ in found})
    kept = (number for number in scored if all(found.get((number, camera)) for camera in cameras))
    return ChosenEpisodes(source.path, tuple(kept), len(scored), len(cameras), other_clips)


def _covers(clip: Clip, episode: lerobot.EpisodeVideo) -> bool:
    """Whether a clip of the same file starts and ends at the same times as the episode, to within one frame."""
    ends = ((episode.start_s, clip.start_s), (episode.end_s, clip.end_s))
    if any((end is None) != (other is None) for end, other in ends):
        return False
    return all(abs(end - other) < 1 / clip.fps for end, other in ends if end is not None and other is not None)


def _in_real_folder(video: Path) -> Path:
    """The path with its folder resolved; the file name is kept, because caches link files under other names."""
    return video.parent.resolve() / video.name
