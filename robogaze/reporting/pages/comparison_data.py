"""A comparison and the clips that changed, as the page shows them, kept in `page.json`.

The page can be written again from this file without the reports.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal

from pydantic import ConfigDict, ValidationError

from robogaze.comparison import Comparison, GateCheck, Run
from robogaze.core.data import Data, fault_of
from robogaze.datasets.layouts.dreamdojo import CONTROL
from robogaze.errors import InputError
from robogaze.reporting.pages.results import PageClip
from robogaze.reporting.pages.run_folders import RunFolders

FILE = "page.json"


class PageRun(Data):
    """A run of a comparison: who judged it, and its clips that changed, by id.

    `controls` counts the real clips, `alarms` the real clips with an event. `page` is the address of the run's page,
    None if there is no page or the clips are in several run folders.
    """

    name: str
    page: str | None
    authors: tuple[str, ...]
    pipelines: tuple[str, ...]
    models: Mapping[str, tuple[str, ...]]
    taxonomies: tuple[str, ...]
    fingerprints: tuple[str, ...]
    controls: int
    alarms: int
    clips: Mapping[str, PageClip]


class ComparisonPageData(Data):
    """A comparison without its annotations, the checks of its gate, the number of shared prompts, and its runs."""

    model_config = ConfigDict(allow_inf_nan=True, ser_json_inf_nan="constants")

    schema_version: Literal[3] = 3
    comparison: Comparison
    checks: tuple[GateCheck, ...] | None
    prompts: int
    runs: tuple[PageRun, ...]

    @property
    def taxonomies(self) -> set[str]:
        """The fingerprints of the taxonomies of the runs."""
        return {taxonomy for run in self.runs for taxonomy in run.taxonomies}


def comparison_page_data(
    result: Comparison, folder: Path, checks: tuple[GateCheck, ...] | None = None
) -> ComparisonPageData:
    """What the page in `folder` shows of a comparison."""
    changed: list[set[str]] = [set() for _ in result.runs]
    for pair in result.pairs:
        for flip in pair.flips.found:
            changed[pair.second].add(flip.before)
            changed[pair.first].add(flip.after)
    folders = RunFolders(folder)
    return ComparisonPageData(
        comparison=replace(
            result,
            runs=tuple(replace(run, annotations={}, metadata={}, listed={}) for run in result.runs),
            prompts=replace(result.prompts, runs=()),
        ),
        checks=checks,
        prompts=result.units,
        runs=tuple(_run(run, clips, folders) for run, clips in zip(result.runs, changed, strict=True)),
    )


def read_page_data(path: Path) -> ComparisonPageData:
    """Read the data of a page. Raises InputError with the file and the key that does not fit."""
    try:
        return ComparisonPageData.model_validate_json(path.read_bytes())
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}; run `robogaze compare --out` again") from error
    except ValidationError as error:
        raise InputError(f"{path}: {fault_of(error)}; run `robogaze compare --out` again") from error


def _run(run: Run, changed: set[str], folders: RunFolders) -> PageRun:
    annotations = [run.annotations[clip_id] for clip_id in sorted(run.annotations)]
    controls = [annotation for annotation in annotations if annotation.fields.get("split") == CONTROL]
    facts = run.metadata.values()
    return PageRun(
        name=run.name,
        page=folders.single_page(annotations),
        authors=_unique(annotation.author for annotation in annotations),
        pipelines=_unique(fact.pipeline for fact in facts),
        models=_models({fact.models for fact in facts}),
        taxonomies=_unique(annotation.taxonomy for annotation in annotations),
        fingerprints=_unique(annotation.fingerprint for annotation in annotations),
        controls=len(controls),
        alarms=sum(bool(annotation.findings) for annotation in controls),
        clips={
            annotation.clip_id: PageClip.of(annotation, folders.video_of(annotation))
            for annotation in annotations
            if annotation.clip_id in changed
        },
    )


def _unique(values: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(sorted({value for value in values if value}))


def _models(texts: set[str]) -> dict[str, tuple[str, ...]]:
    """The models by role, by the names that their servers report, otherwise by their names in the run."""
    found: dict[str, set[str]] = {}
    for text in texts:
        for role, model in json.loads(text).items():
            name = (model.get("identity") or {}).get("name") or model.get("model") or "not named"
            found.setdefault(role, set()).add(str(name))
    return {role: tuple(sorted(names)) for role, names in sorted(found.items())}
