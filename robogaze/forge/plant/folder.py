"""The data set of planted clips, and how it comes about.

    clips/<clip id>.mp4    the planted clips, and an untouched one of each source; names tell nothing
    clips.jsonl            the manifest, by id, so that order tells nothing either
    annotations.jsonl      what is true of each: a report a line
    planted.json           the settings; what was planted, left out and refused, and why
    initial/               pictures of the scene before a clip, where the sources have them
    .planted/              one file a source that is done, the settings, a lock

Every source is a unit of work: what a killed process left is done again, with the same result, for each plant draws
from randomness of its own (seed, source, plant, number). Sources may be added later under the same settings.
"""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import Field, ValidationError

from robogaze.core.data import Data, dotted, first_fault
from robogaze.core.report import Report
from robogaze.datasets.manifest import ManifestEntry, file_sha256, manifest_text
from robogaze.errors import InputError, VideoError
from robogaze.forge.dataset_lock import held
from robogaze.forge.plant.edit import GlitchEdit, Refused, planter
from robogaze.forge.plant.frame_array import FrameArray, open_reel
from robogaze.forge.plant.recipe import Plant, PlantingConfig
from robogaze.forge.plant.scene import PlantingScene
from robogaze.forge.plant.truth import clip_of, event, make, report, untouched
from robogaze.media import check_whole
from robogaze.media.picture_files import picture_bytes
from robogaze.store import file_name, write_whole

SCHEMA_VERSION: Literal[1] = 1

DRAWS = 20
"""How often a plant is drawn anew, in another place and moment, before it is left out."""

_HIDDEN = ".planted"


@dataclass(frozen=True)
class PlantingOrder:
    """What is to be planted: the plants, how many of each in every clip, and the seed of all randomness."""

    recipe: PlantingConfig
    plants: tuple[Plant, ...]
    each: int
    seed: int

    @property
    def settings(self) -> Mapping[str, Any]:
        """All that decides what comes of a clip."""
        domain = self.recipe.domain
        return {
            "domain": {"id": domain.id, "version": domain.file.version, "fingerprint": domain.fingerprint},
            "plants": [one.id for one in self.plants],
            "each": self.each,
            "seed": self.seed,
        }


class LeftOut(Data):
    """A plant that no draw of it carried; `reason` is the last one's."""

    source: str
    plant: str
    number: int
    reason: str


class PlantedSource(Data):
    """A clip that is done: the reports of what came of it, the untouched one's first."""

    schema_version: Literal[1] = SCHEMA_VERSION
    source: str
    reports: tuple[Report, ...] = Field(min_length=1)
    left_out: tuple[LeftOut, ...]
    refused: dict[str, dict[str, int]]
    """By plant, how many draws were refused, by reason."""


@dataclass(frozen=True)
class Planted:
    """A whole data set: its sources by id, and the clips that could not be read."""

    sources: tuple[PlantedSource, ...]
    unreadable: tuple[str, ...]
    settings: Mapping[str, Any]

    @property
    def by_plant(self) -> dict[str, dict[str, Any]]:
        """How many there are of each plant, how many were left out, and which draws were refused."""
        made = Counter(_plant_of(one) for source in self.sources for one in source.reports[1:])
        left_out = Counter(one.plant for source in self.sources for one in source.left_out)
        refused: dict[str, Counter[str]] = {name: Counter() for name in self.settings["plants"]}
        for source in self.sources:
            for name, reasons in source.refused.items():
                refused[name].update(reasons)
        return {
            name: {"planted": made[name], "left_out": left_out[name], "refused_draws": dict(sorted(reasons.items()))}
            for name, reasons in refused.items()
        }

    def as_json(self) -> dict[str, Any]:
        """planted.json."""
        return {
            "schema_version": SCHEMA_VERSION,
            "settings": dict(self.settings),
            "sources": len(self.sources),
            "untouched": len(self.sources),
            "planted": sum(len(source.reports) - 1 for source in self.sources),
            "plants": self.by_plant,
            "left_out": [one.model_dump() for source in self.sources for one in source.left_out],
            "unreadable": list(self.unreadable),
        }


def plant_clips(
    entries: Sequence[ManifestEntry],
    order: PlantingOrder,
    out: Path,
    on_done: Callable[[PlantedSource | None], None] = lambda source: None,
) -> Planted:
    """Plant glitches into clips and write the data set. `on_done` is called after each clip, done now or before.

    A clip that cannot be read is listed, and the others go on. Raises RunError when another process holds the folder
    or it was made with other settings.
    """
    unreadable = []
    with held(out, _HIDDEN, order.settings, made="planted"):
        for entry in entries:
            try:
                source = _source(entry, order, out)
            except VideoError as error:
                unreadable.append(str(error))
                source = None
            on_done(source)
        done = tuple(_read(path) for path in sorted((out / _HIDDEN).glob("*.source.json")))
        planted = Planted(tuple(sorted(done, key=lambda one: one.source)), tuple(unreadable), order.settings)
        if done:
            _write(planted, out)
    return planted


def _write(planted: Planted, out: Path) -> None:
    reports = sorted((one for source in planted.sources for one in source.reports), key=lambda one: one.clip.id)
    write_whole(out / "annotations.jsonl", "".join(f"{one.model_dump_json()}\n" for one in reports))
    write_whole(out / "clips.jsonl", manifest_text([_entry(one, out) for one in reports], out))
    write_whole(out / "planted.json", json.dumps(planted.as_json(), ensure_ascii=False, indent=1) + "\n")


def _entry(made: Report, out: Path) -> ManifestEntry:
    clip = made.clip
    given = ("instruction", "checkpoint", "split", "task_family", "embodiment", "layout")
    initial = None if clip.initial_frame is None else out / clip.initial_frame
    return ManifestEntry(
        path=out / clip.uri, clip_id=clip.id, initial_frame=initial, **{name: getattr(clip, name) for name in given}
    )


def _source(entry: ManifestEntry, order: PlantingOrder, out: Path) -> PlantedSource:
    """What comes of a clip, from an earlier start or made now. Raises VideoError."""
    check_whole(entry.path)
    content = file_sha256(entry.path)
    entry.check_content(content)
    name = entry.id_for(content)
    path = out / _HIDDEN / f"{file_name(name)}.source.json"
    if path.is_file():
        return _read(path)
    with open_reel(entry) as reel:
        made = _Bed(name, entry.with_(initial_frame=_initial(entry, out)), reel, order, out).planted()
    write_whole(path, made.model_dump_json())
    return made


def _initial(entry: ManifestEntry, out: Path) -> Path | None:
    """The picture of the scene before the clip, copied into the data set; its address there."""
    if entry.initial_frame is None:
        return None
    content = picture_bytes(entry.initial_frame, f"the initial frame {entry.initial_frame}")
    address = Path("initial") / f"{sha256(content).hexdigest()[:16]}{entry.initial_frame.suffix}"
    write_whole(out / address, content)
    return address


def _read(path: Path) -> PlantedSource:
    try:
        return PlantedSource.model_validate_json(path.read_bytes())
    except ValidationError as error:
        place, message = first_fault(error)
        raise InputError(f"{path}: {dotted(place)}: {message}; remove it and start again") from error


class _Bed:
    """One source and what is planted in it."""

    def __init__(self, name: str, entry: ManifestEntry, reel: FrameArray, order: PlantingOrder, out: Path) -> None:
        self._name, self._entry, self._reel, self._order, self._out = name, entry, reel, order, out
        self._scene = PlantingScene(reel, entry.instruction)
        self._refused: dict[str, Counter[str]] = {}
        self._instructions = {entry.instruction}

    def planted(self) -> PlantedSource:
        """The untouched clip and all planted ones, written."""
        reports = [self._made("", 0, None, untouched(self._reel))]
        left_out = []
        for plant in self._order.plants:
            for number in range(1, self._order.each + 1):
                found = self._plant(plant, number)
                if isinstance(found, Report):
                    reports.append(found)
                else:
                    left_out.append(LeftOut(source=self._name, plant=plant.id, number=number, reason=found))
        refused = {name: dict(sorted(reasons.items())) for name, reasons in self._refused.items()}
        return PlantedSource(source=self._name, reports=tuple(reports), left_out=tuple(left_out), refused=refused)

    def _plant(self, plant: Plant, number: int) -> Report | str:
        """The report of a planted clip, or why there is none."""
        domain = self._order.recipe.domain
        needs = domain.dimensions[domain.dimension_of[plant.type]].needs
        if "instruction" in needs and self._entry.instruction is None:
            return "the clip has no instruction"
        draw, reason = planter(plant.planter, plant.words), ""
        rng = np.random.default_rng((self._order.seed, int(self._digest(plant.id, number)[:16], 16)))
        # Words are either there or not: another draw finds the same.
        for _ in range(DRAWS if plant.words is None else 1):
            try:
                edit = draw(self._scene, rng)
                self._check_new(edit)
                return self._made(plant.id, number, plant, edit)
            except Refused as refusal:
                reason = str(refusal)
                self._refused.setdefault(plant.id, Counter())[reason] += 1
        return reason

    def _check_new(self, edit: GlitchEdit) -> None:
        if edit.instruction is not None and edit.instruction[0] in self._instructions:
            raise Refused("the same instruction was planted already")

    def _made(self, name: str, number: int, plant: Plant | None, edit: GlitchEdit) -> Report:
        """Write a clip and say what is true of it. Raises Refused."""
        clip_id, domain = self._id(name, number), self._order.recipe.domain
        path = self._out / "clips" / f"{clip_id}.mp4"
        path.parent.mkdir(parents=True, exist_ok=True)
        frames = make(path, self._reel, edit)
        entry = self._entry
        if edit.instruction is not None:
            entry = entry.with_(instruction=edit.instruction[0])
            self._instructions.add(edit.instruction[0])
        clip = clip_of(path, self._out, clip_id, self._reel, entry)
        told = {"source": self._name, "untouched": self._id("", 0), "plant": name, "number": number,
                "strength": round(edit.strength, 6), "seed": self._order.seed}  # fmt: skip
        events = () if plant is None else (event(clip, plant, edit, frames, domain),)
        return report(clip, domain, events, told)

    def _id(self, plant: str, number: int) -> str:
        """An id that names the source and not the plant."""
        stem = "".join(sign if sign.isascii() and (sign.isalnum() or sign in "._-") else "_" for sign in self._name)
        return f"{stem[:80]}-{self._digest(plant, number)[:12]}"

    def _digest(self, plant: str, number: int) -> str:
        told = (self._name, plant, str(number), str(self._order.seed))
        return sha256("\0".join(told).encode()).hexdigest()


def _plant_of(made: Report) -> str:
    return str(made.provenance.media["planted"]["plant"])
