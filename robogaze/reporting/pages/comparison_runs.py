"""The runs of a comparison in the form in which its page shows them: who judged each run, and which of its clips
changed.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from robogaze.comparison import Comparison, Run
from robogaze.datasets.layouts.dreamdojo import CONTROL
from robogaze.reporting.pages.results import PageClip
from robogaze.reporting.pages.run_folders import RunFolders


@dataclass(frozen=True)
class PageRun:
    """A run of a comparison: who judged it, and which of its clips changed. `clips` has the changed clips by id.

    `controls` is the number of real clips, and `alarms` is the number of real clips with an event. `page` is the
    address of the run's page; it is None if there is no page, or if the clips are in several run folders.
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


def page_runs(result: Comparison, folder: Path) -> tuple[PageRun, ...]:
    """The runs of a comparison for the page in `folder`."""
    changed: list[set[str]] = [set() for _ in result.runs]
    for pair in result.pairs:
        for flip in pair.flips.found:
            changed[pair.second].add(flip.before)
            changed[pair.first].add(flip.after)
    folders = RunFolders(folder)
    return tuple(_run(run, clips, folders) for run, clips in zip(result.runs, changed, strict=True))


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
    """The models by role; each model has the name that its server reports, otherwise its name in the run."""
    found: dict[str, set[str]] = {}
    for text in texts:
        for role, model in json.loads(text).items():
            name = (model.get("identity") or {}).get("name") or model.get("model") or "not named"
            found.setdefault(role, set()).add(str(name))
    return {role: tuple(sorted(names)) for role, names in sorted(found.items())}
