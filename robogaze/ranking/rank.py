"""`robogaze.rank`: candidates of each prompt in order of usability."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from robogaze.annotations import Source, SourceError, named_sources
from robogaze.core.clip import Clip
from robogaze.core.data import fault_of
from robogaze.dataframes import data_frame
from robogaze.datasets.clean_clips import entry_of
from robogaze.datasets.manifest import ManifestEntry
from robogaze.errors import InputError, OptionError
from robogaze.ranking.candidate_prompts import GIVEN, KEYS, prompt_key, read_prompts
from robogaze.ranking.candidates import Candidate
from robogaze.ranking.config import RankingConfig
from robogaze.ranking.labels import Label, read_labels, read_scores
from robogaze.ranking.order import PromptRanking, Unranked, rank_prompt
from robogaze.ranking.reading import ReadClip, read_clips
from robogaze.ranking.screening import RANDOM, Screening, screen
from robogaze.ranking.weights import DEFAULT, RankingWeights, read_weights

if TYPE_CHECKING:
    from pandas import DataFrame

_COLUMNS = (
    "prompt",
    "rank",
    "clip_id",
    "run",
    "usability",
    "kept",
    "verdict",
    "events",
    "faulty_s",
    "tied",
    "tiebreak",
)


@dataclass(frozen=True)
class Ranking:
    """The result of `robogaze.rank`.

    `key` is the name of the property that groups clips into prompts. `unplaced` are the clips that have no report and
    whose prompt is not known. `screening` is None without labels.
    """

    config: RankingConfig
    weights: RankingWeights
    key: str
    prompts: tuple[PromptRanking, ...]
    unplaced: tuple[Unranked, ...]
    screening: Screening | None = None

    @property
    def kept(self) -> tuple[Candidate, ...]:
        """The candidates that are kept, prompt by prompt, best first."""
        return tuple(ranked.candidate for prompt in self.prompts for ranked in prompt.ranked if ranked.kept)

    @property
    def unranked(self) -> tuple[Unranked, ...]:
        """All clips without a rank; they are never kept."""
        return (*(clip for prompt in self.prompts for clip in prompt.unranked), *self.unplaced)

    def kept_entries(self) -> tuple[ManifestEntry, ...]:
        """The manifest entries of the candidates that are kept. Raises InputError if an initial frame is missing."""
        return tuple(
            entry_of(candidate.clip, candidate.video, layout_given=candidate.layout_given).with_(
                clip_id=candidate.id, prompt_id=candidate.prompt if self.key == GIVEN else candidate.clip.prompt_id
            )
            for candidate in self.kept
        )

    def clips(self) -> Iterator[tuple[Clip, Path, bool]]:
        """Every ranked clip with its file, and whether it is kept."""
        for prompt in self.prompts:
            for ranked in prompt.ranked:
                yield ranked.candidate.clip, ranked.candidate.video, ranked.kept

    def to_dataframe(self) -> "DataFrame":
        """One row per ranked candidate. Raises MissingExtra without pandas."""
        rows = (
            {
                "prompt": prompt.prompt,
                "rank": ranked.rank,
                "clip_id": ranked.candidate.id,
                "run": ranked.candidate.run,
                "usability": ranked.usability,
                "kept": ranked.kept,
                "verdict": ranked.candidate.annotation.verdict,
                "events": len(ranked.candidate.events),
                "faulty_s": ranked.candidate.faulty_s,
                "tied": list(ranked.tied),
                "tiebreak": ranked.tiebreak,
            }
            for prompt in self.prompts
            for ranked in prompt.ranked
        )
        return data_frame(rows, _COLUMNS)


def rank(
    runs: Mapping[str, Source] | Sequence[Source] | Source,
    *,
    keep: float = 0.5,
    prompts: Path | str | Mapping[str, str] | None = None,
    weights: RankingWeights | Path | str = DEFAULT,
    labels: Path | str | Mapping[str, Label] | None = None,
    scores: Path | str | Mapping[str, Mapping[str, float]] | None = None,
    baseline: str = RANDOM,
    level: float = 0.95,
    mixed: bool = False,
) -> Ranking:
    """Rank the candidates of each prompt by their reports. The result says which candidates to keep, and why.

    Each run is a source of reports, as for `robogaze.compare`: a run folder, a folder of reports, JSONL, or loaded
    reports. `keep` is a number of candidates of each prompt (an int), or a share of them (a float up to 1). `prompts`
    gives the prompt of each clip id: a manifest, a table with `clip_id` and `prompt_id`, or a mapping. By default, the
    prompts are taken from the reports. `weights` is a name in judges/ranking/ or a YAML file.

    `labels` (`clip_id`, `usable`, and `severe` if known) say which clips people find usable. With labels, the result
    also says how usable the kept candidates are, both for the rule and for other measures. `scores` adds measures: a
    table with one column per measure, or a mapping from measure and clip id to score. Every measure is compared with
    the measure `baseline`, with intervals at `level`. `mixed` allows reports of different domains or pipelines.

    Raises InputError for input that cannot be read, and if no prompt has two candidates.
    """
    config = _config(keep=keep, baseline=baseline, level=level, mixed=mixed)
    sources = named_sources(runs)
    if not sources:
        raise SourceError("no run is given")
    if labels is None and scores is not None:
        raise OptionError("`scores` need `labels`; labels say whether people find a clip usable")
    chosen = weights if isinstance(weights, RankingWeights) else read_weights(weights)
    key, grouped, unplaced = _grouped(read_clips(sources, mixed=config.mixed), prompts)
    ranked = tuple(_ranked(prompt, clips, config, chosen) for prompt, clips in sorted(grouped.items()))
    result = Ranking(config, chosen, key, ranked, unplaced)
    if labels is None:
        return result
    known = labels if isinstance(labels, Mapping) else read_labels(Path(labels))
    others = {} if scores is None else scores if isinstance(scores, Mapping) else read_scores(Path(scores))
    return replace(result, screening=screen(ranked, known, others, chosen, config))


def _config(**settings: Any) -> RankingConfig:
    try:
        return RankingConfig(**settings)
    except ValidationError as error:
        raise OptionError(fault_of(error)) from error


def _grouped(
    clips: Sequence[ReadClip], prompts: Path | str | Mapping[str, str] | None
) -> tuple[str, dict[str, list[ReadClip]], tuple[Unranked, ...]]:
    """The name of the key, the clips by prompt, and the clips that have no report and no known prompt."""
    if not any(clip.candidate for clip in clips):
        raise InputError("no clip has a report with any judged dimension; run `robogaze score` first")
    if prompts is None:
        key = prompt_key(clips)
        of = {clip.id: prompt for clip in clips if (prompt := KEYS[key](clip)) is not None}
    else:
        key, of = GIVEN, dict(prompts if isinstance(prompts, Mapping) else read_prompts(Path(prompts)))
        if missing := next((clip.id for clip in clips if clip.candidate and clip.id not in of), None):
            raise InputError(f"the `prompts` do not name the prompt of {missing}; add a row with clip_id and prompt_id")
    grouped: dict[str, list[ReadClip]] = {}
    for clip in clips:
        if clip.id in of:
            grouped.setdefault(of[clip.id], []).append(clip)
    known = {clip.id for clip in clips}
    if key == GIVEN:
        for clip_id, prompt in of.items():
            if clip_id not in known and prompt in grouped:
                grouped[prompt].append(ReadClip(clip_id, "", reason="it has no report"))
    if all(len(together) < 2 for together in grouped.values()):
        raise InputError(
            f"no prompt has two candidates (clips are grouped by {key}); name the prompts in a file with clip_id and "
            "prompt_id (`prompts`)"
        )
    unplaced = tuple(Unranked(clip.id, clip.run, None, clip.reason) for clip in clips if clip.id not in of)
    return key, grouped, unplaced


def _ranked(prompt: str, clips: Sequence[ReadClip], config: RankingConfig, weights: RankingWeights) -> PromptRanking:
    candidates = [replace(clip.candidate, prompt=prompt) for clip in clips if clip.candidate is not None]
    unranked = [Unranked(clip.id, clip.run, prompt, clip.reason) for clip in clips if clip.candidate is None]
    return rank_prompt(prompt, candidates, unranked, config.kept_of(len(clips)), weights)
