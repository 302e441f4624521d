"""A data set of planted clips.

    clips/<clip id>.mp4    the planted clips and an untouched copy of each source; names reveal nothing
    clips.jsonl            the manifest, sorted by id, so that the order reveals nothing either
    annotations.jsonl      one report per clip
    planted.json           the settings; what was planted, left out and refused, with reasons
    initial/               initial frames, if the sources have them
    .planted/              one file per finished source, the settings, a lock

A run can be resumed: each source is written completely, and each glitch has a separate random generator, seeded with
(seed, source, glitch, number). Sources can be added later with the same settings.
"""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field

from robogaze.core.data import Data
from robogaze.core.report import Report
from robogaze.datasets.manifest import ManifestEntry, file_sha256
from robogaze.errors import VideoError
from robogaze.forge.dataset_folder import dataset_lock, read_record, write_annotations
from robogaze.forge.plant import PLANTERS
from robogaze.forge.plant.planting_config import Glitch, PlantingConfig
from robogaze.forge.plant.planting_scene import DrawRefused, FrameArray, GlitchEdit, PlantingScene, open_frames
from robogaze.forge.plant.truth import clip_of, event_of, report_of, untouched, write_clip
from robogaze.media import check_whole
from robogaze.media.picture_files import picture_bytes
from robogaze.store import file_name, write_whole

MAX_DRAWS = 20
"""The number of times that a glitch is drawn, at other places and times, before the glitch is left out."""

_HIDDEN = ".planted"


@dataclass(frozen=True)
class PlantingOptions:
    """The glitches to plant, the number of each per clip, and the seed."""

    config: PlantingConfig
    glitches: tuple[Glitch, ...]
    each: int
    seed: int

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings on which the planted clips of a source depend."""
        domain = self.config.domain
        return {
            "domain": {"id": domain.id, "version": domain.file.version, "fingerprint": domain.fingerprint},
            "glitches": [glitch.id for glitch in self.glitches],
            "each": self.each,
            "seed": self.seed,
        }


class SkippedGlitch(Data):
    """A glitch whose draws were all refused; `reason` is the reason for the last refusal."""

    source: str
    glitch: str
    number: int
    reason: str


class PlantedSource(Data):
    """A finished source: the reports of its clips, starting with the untouched clip."""

    source: str
    reports: tuple[Report, ...] = Field(min_length=1)
    left_out: tuple[SkippedGlitch, ...]
    refused: dict[str, dict[str, int]]
    """The number of refused draws by glitch and reason."""


@dataclass(frozen=True)
class PlantedDataset:
    """A data set: its sources by id, and messages for clips that could not be read."""

    sources: tuple[PlantedSource, ...]
    unreadable: tuple[str, ...]
    settings: Mapping[str, Any]

    @property
    def by_glitch(self) -> dict[str, dict[str, Any]]:
        """For each glitch: how often it was planted, how often it was left out, and the number of refused draws by
        reason.
        """
        reports = (report for source in self.sources for report in source.reports[1:])
        made = Counter(report.provenance.media["planted"]["plant"] for report in reports)
        left_out = Counter(skipped.glitch for source in self.sources for skipped in source.left_out)
        refused: dict[str, Counter[str]] = {name: Counter() for name in self.settings["glitches"]}
        for source in self.sources:
            for name, reasons in source.refused.items():
                refused[name].update(reasons)
        return {
            name: {"planted": made[name], "left_out": left_out[name], "refused_draws": dict(sorted(reasons.items()))}
            for name, reasons in refused.items()
        }

    def as_json(self) -> dict[str, Any]:
        """The contents of planted.json."""
        return {
            "schema_version": 1,
            "settings": dict(self.settings),
            "sources": len(self.sources),
            "untouched": len(self.sources),
            "planted": sum(len(source.reports) - 1 for source in self.sources),
            "glitches": self.by_glitch,
            "left_out": [skipped.model_dump() for source in self.sources for skipped in source.left_out],
            "unreadable": list(self.unreadable),
        }


def plant_clips(
    entries: Sequence[ManifestEntry],
    options: PlantingOptions,
    out: Path,
    on_done: Callable[[PlantedSource | None], None] = lambda source: None,
) -> PlantedDataset:
    """Plant glitches into clips and write the data set. `on_done` is called after each clip, new or existing.

    A clip that cannot be read is listed, and the other clips are planted. Raises RunError if another process uses the
    folder, or if the folder was made with other settings.
    """
    unreadable = []
    with dataset_lock(out, _HIDDEN, options.settings, made="planted"):
        for entry in entries:
            try:
                source = _plant_source(entry, options, out)
            except VideoError as error:
                unreadable.append(str(error))
                source = None
            on_done(source)
        done = [read_record(path, PlantedSource) for path in (out / _HIDDEN).glob("*.source.json")]
        done.sort(key=lambda source: source.source)
        planted = PlantedDataset(tuple(done), tuple(unreadable), options.settings)
        if done:
            write_annotations((report for source in planted.sources for report in source.reports), out)
            write_whole(out / "planted.json", json.dumps(planted.as_json(), ensure_ascii=False, indent=1) + "\n")
    return planted


def _plant_source(entry: ManifestEntry, options: PlantingOptions, out: Path) -> PlantedSource:
    """The result of a source, new or from an earlier run. Raises VideoError."""
    check_whole(entry.path)
    content = file_sha256(entry.path)
    entry.check_content(content)
    name = entry.id_for(content)
    path = out / _HIDDEN / f"{file_name(name)}.source.json"
    if path.is_file():
        return read_record(path, PlantedSource)
    with open_frames(entry) as frames:
        source = _Source(name, entry.with_(initial_frame=_initial(entry, out)), frames, options, out).plant_all()
    write_whole(path, source.model_dump_json())
    return source


def _initial(entry: ManifestEntry, out: Path) -> Path | None:
    """Copy the initial frame into the data set. Returns the path in the data set."""
    if entry.initial_frame is None:
        return None
    content = picture_bytes(entry.initial_frame, f"the initial frame {entry.initial_frame}")
    address = Path("initial") / f"{sha256(content).hexdigest()[:16]}{entry.initial_frame.suffix}"
    write_whole(out / address, content)
    return address


class _Source:
    """One source clip, and what is known while glitches are planted into it."""

    def __init__(
        self, name: str, entry: ManifestEntry, frames: FrameArray, options: PlantingOptions, out: Path
    ) -> None:
        self._name, self._entry, self._frames, self._options, self._out = name, entry, frames, options, out
        self._scene = PlantingScene(frames, entry.instruction)
        self._refused: dict[str, Counter[str]] = {}
        self._instructions = {entry.instruction}

    def plant_all(self) -> PlantedSource:
        """Write the untouched clip and all planted clips."""
        reports = [self._write("", 0, None, untouched(self._frames))]
        left_out = []
        for glitch in self._options.glitches:
            for number in range(1, self._options.each + 1):
                result = self._plant(glitch, number)
                if isinstance(result, Report):
                    reports.append(result)
                else:
                    skipped = SkippedGlitch(source=self._name, glitch=glitch.id, number=number, reason=result)
                    left_out.append(skipped)
        refused = {name: dict(sorted(reasons.items())) for name, reasons in self._refused.items()}
        return PlantedSource(source=self._name, reports=tuple(reports), left_out=tuple(left_out), refused=refused)

    def _plant(self, glitch: Glitch, number: int) -> Report | str:
        """The report of a planted clip, or the reason why nothing was planted."""
        domain = self._options.config.domain
        needs = domain.dimensions[domain.dimension_of[glitch.type]].needs
        if "instruction" in needs and self._entry.instruction is None:
            return "the clip has no instruction"
        change, reason = glitch.instruction_change, ""
        planter = PLANTERS.load(glitch.planter)
        rng = np.random.default_rng((self._options.seed, int(self._digest(glitch.id, number)[:16], 16)))
        # Whether an instruction has matching words does not depend on the draw.
        for _ in range(MAX_DRAWS if change is None else 1):
            try:
                edit = planter(self._scene, rng) if change is None else planter(self._scene, rng, change)
                if edit.instruction is not None and edit.instruction[0] in self._instructions:
                    raise DrawRefused("the same instruction is already planted")
                return self._write(glitch.id, number, glitch, edit)
            except DrawRefused as refusal:
                reason = str(refusal)
                self._refused.setdefault(glitch.id, Counter())[reason] += 1
        return reason

    def _write(self, name: str, number: int, glitch: Glitch | None, edit: GlitchEdit) -> Report:
        """Write a clip and return its report. Raises DrawRefused."""
        clip_id, domain = self._id(name, number), self._options.config.domain
        path = self._out / "clips" / f"{clip_id}.mp4"
        path.parent.mkdir(parents=True, exist_ok=True)
        span = write_clip(path, self._frames, edit)
        entry = self._entry
        if edit.instruction is not None:
            entry = entry.with_(instruction=edit.instruction[0])
            self._instructions.add(edit.instruction[0])
        clip = clip_of(path, self._out, clip_id, self._frames, entry)
        planted = {"source": self._name, "untouched": self._id("", 0), "plant": name, "number": number,
                   "strength": round(edit.strength, 6), "seed": self._options.seed}  # fmt: skip
        events = () if glitch is None else (event_of(clip, glitch, edit, span, domain),)
        return report_of(clip, domain, events, planted)

    def _id(self, glitch: str, number: int) -> str:
        """An id that names the source and not the glitch."""
        stem = "".join(char if char.isascii() and (char.isalnum() or char in "._-") else "_" for char in self._name)
        return f"{stem[:80]}-{self._digest(glitch, number)[:12]}"

    def _digest(self, glitch: str, number: int) -> str:
        key = (self._name, glitch, str(number), str(self._options.seed))
        return sha256("\0".join(key).encode()).hexdigest()
