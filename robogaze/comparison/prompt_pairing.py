"""Which clips of two checkpoints were generated from the same prompt.

Clip ids differ between checkpoints. Clips are therefore paired by the first of these keys that every clip of every run
has and that is unique within each run. The clips of a run include those that only its manifest lists:

prompt_id                       a field of the clips
instruction                     the instruction of the generator
instruction and initial frame   with the address of its first frame
clip id                         otherwise
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from robogaze.comparison.runs import ManifestClip, Run
from robogaze.core.annotation import ClipAnnotation
from robogaze.errors import InputError, OptionError

AUTO = "auto"


def _with_initial_frame(run: Run, annotation: ClipAnnotation) -> str | None:
    metadata = run.metadata.get(annotation.clip_id)
    if metadata is None or metadata.initial_frame is None or annotation.instruction is None:
        return None
    return f"{annotation.instruction} | {metadata.initial_frame}"


KEYS: Mapping[str, Callable[[Run, ClipAnnotation], str | None]] = {
    "prompt_id": lambda run, annotation: annotation.fields.get("prompt_id"),
    "instruction": lambda run, annotation: annotation.instruction,
    "instruction and initial frame": _with_initial_frame,
    "clip id": lambda run, annotation: annotation.clip_id,
}
"""The keys by name, in the order of preference."""

_LISTED: Mapping[str, Callable[[str, ManifestClip], str | None]] = {
    "prompt_id": lambda clip_id, clip: clip.fields.get("prompt_id"),
    "instruction": lambda clip_id, clip: clip.instruction,
    "clip id": lambda clip_id, clip: clip_id,
}
"""The keys that a manifest gives; it has the content hash of an initial frame, but not its address."""


@dataclass(frozen=True)
class PromptPairing:
    """The clips of every run by prompt.

    `key` is the name of the key. `passed_over` explains, one sentence for each key, why earlier keys could not be used;
    keys that no clip has are not mentioned. `unit` gives the resampling unit of each prompt. If clips are paired by
    their ids, several clips (seeds) may share a `prompt_id`, or an instruction and initial frame; these clips are not
    independent.
    """

    key: str
    passed_over: tuple[str, ...]
    runs: tuple[Mapping[str, ClipAnnotation], ...]
    unit: Mapping[str, str]

    def units(self, place: int) -> Mapping[str, str]:
        """What each clip of a run was generated from, by clip id."""
        return {annotation.clip_id: self.unit[prompt] for prompt, annotation in self.runs[place].items()}

    def shared(self, *places: int) -> tuple[str, ...]:
        """The prompts for which every one of these runs has a clip, in order."""
        return tuple(sorted(set.intersection(*(set(self.runs[place]) for place in places))))

    def unpaired(self, first: int, other: int) -> tuple[int, int]:
        """For each of two runs, the number of clips without a partner in the other run."""
        shared = len(self.shared(first, other))
        return len(self.runs[first]) - shared, len(self.runs[other]) - shared

    def missing(self, place: int, run: Run) -> int:
        """The number of clips that a run should have and does not have; its unreadable clips are not counted.

        A run should have the clips that its own manifest lists. It should also have a clip for every prompt of the
        other runs, if any two runs share prompts or if this run has no annotated clips. A clip whose prompt is not
        known may be the clip of such a prompt.
        """
        everywhere = {prompt for clips in self.runs for prompt in clips}
        comparable = len(everywhere) < sum(len(clips) for clips in self.runs) or not self.runs[place]
        elsewhere = len(everywhere - set(_prompts(run, self.key).values())) if comparable else 0
        addresses, lost = {clip.address for clip in run.listed.values()}, set(run.at)
        unlisted = sum(address not in addresses for address in run.at)
        unknown = unlisted + (0 if self.key in _LISTED else len(run.unreported))
        unmade = sum(clip.address not in lost for clip in run.unreported.values())
        return unmade + max(0, elsewhere - unknown)


def by_prompt(runs: Sequence[Run], chosen: str = AUTO) -> PromptPairing:
    """Every run's clips by prompt. Raises OptionError for an unknown key, and InputError if a `chosen` key does not
    identify the clips.
    """
    if chosen not in (AUTO, *KEYS):
        raise OptionError(f"`pair_by` must be one of {', '.join((AUTO, *KEYS))}, not {chosen!r}")
    passed_over: list[str] = []
    for name in KEYS if chosen == AUTO else (chosen,):
        why_not = next((reason for run in runs if (reason := _why_not(run, name))), None)
        if why_not is None:
            key = KEYS[name]
            clips = tuple(
                {f"{key(run, annotation)}": annotation for annotation in run.annotations.values()} for run in runs
            )
            return PromptPairing(name, tuple(passed_over), clips, _units(runs, name, clips))
        if any(KEYS[name](run, annotation) is not None for run in runs for annotation in run.annotations.values()):
            passed_over.append(f"not by {name}: {why_not}")
    raise InputError(f"clips cannot be paired by {chosen}: {why_not}")


def _units(runs: Sequence[Run], key: str, clips: Sequence[Mapping[str, ClipAnnotation]]) -> Mapping[str, str]:
    """The unit of each prompt. The unit is the prompt itself, except when clips are paired by id and their prompt is
    known.
    """
    units: dict[str, str] = {}
    for run, by_key in zip(runs, clips, strict=True):
        for prompt, annotation in by_key.items():
            made = made_from(run, annotation) or annotation.instruction
            units.setdefault(prompt, f"made from {made}" if made is not None and key == "clip id" else prompt)
    return units


def made_from(run: Run, annotation: ClipAnnotation) -> str | None:
    """The prompt of a clip: its `prompt_id`, else its instruction and initial frame; None if it has neither."""
    return annotation.fields.get("prompt_id") or _with_initial_frame(run, annotation)


def _why_not(run: Run, name: str) -> str | None:
    """Why a key cannot be used for a run, None if it can."""
    seen: dict[str, str] = {}
    for clip_id, value in sorted(_prompts(run, name).items()):
        if value is None:
            return f"{clip_id} of {run.name} has no {name}"
        if (other := seen.setdefault(value, clip_id)) != clip_id:
            return f"{other} and {clip_id} of {run.name} have the same {name}"
    return None


def _prompts(run: Run, name: str) -> Mapping[str, str | None]:
    """The value of a key for every clip of a run, by clip id; a clip without a report only if the manifest gives it."""
    prompts = {clip_id: KEYS[name](run, annotation) for clip_id, annotation in run.annotations.items()}
    if name in _LISTED:
        prompts |= {clip_id: _LISTED[name](clip_id, clip) for clip_id, clip in run.unreported.items()}
    return prompts
