"""How each clip of a run is scored: the pipeline of a domain, its models, a decoder."""

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robogaze.backends import ModelsConfig
from robogaze.domains import Domain, default_domain, domain_folders, load_domain
from robogaze.errors import OptionError
from robogaze.stages.pipeline import Pipeline
from robogaze.version import VERSION

SCHEMA_VERSION = 1
"""Of run.json."""

_log = logging.getLogger("robogaze")


@dataclass(frozen=True)
class RunSetup:
    """How each clip is scored. `domain_path` is the name of a built-in domain, or the absolute path of a folder."""

    domain_path: str
    pipeline: Pipeline
    models: ModelsConfig | None = None
    decoder: str = "pyav"

    @property
    def domain(self) -> Domain:
        return self.pipeline.domain

    @property
    def tracked(self) -> dict[str, str | int]:
        """What an experiment tracker records about every run."""
        return {"domain": self.domain.id, "domain_version": self.domain.file.version, "pipeline": self.pipeline.name}

    @property
    def configuration(self) -> dict[str, Any]:
        """The content of run.json, without secrets: a run can be resumed only with an equal configuration."""
        return {
            "schema_version": SCHEMA_VERSION,
            "robogaze": VERSION,
            "domain": {
                "id": self.domain.id,
                "version": self.domain.file.version,
                "fingerprint": self.domain.fingerprint,
            },
            "pipeline": self.pipeline.name,
            "decoder": self.decoder,
            "models": None if self.models is None else self.models.answer_settings(),
        }


def make_setup(
    domain: str | Path | None = None,
    pipeline: str | None = None,
    model: str | Path | None = None,
    *,
    concurrency: int | None = None,
    decoder: str = "pyav",
) -> RunSetup:
    """Load a domain and one of its pipelines; the defaults depend on whether a model is given.

    Raises OptionError if the pipeline needs a model and none is given, and InputError or DomainError if a file is
    invalid.
    """
    path = str(domain or default_domain())
    if path not in domain_folders():
        path = str(Path(path).absolute())
    loaded = load_domain(path)
    chosen = Pipeline.build(loaded, pipeline or _default_pipeline(loaded, model))
    return RunSetup(path, chosen, _models(model, chosen, concurrency), decoder)


def _default_pipeline(domain: Domain, model: str | Path | None) -> str:
    if domain.file.default_pipeline is None:
        raise OptionError(f"the domain {domain.id} has no pipeline for clips; give another `domain`")
    if model is not None:
        return domain.file.default_pipeline
    if domain.file.pipeline_without_model is None:
        raise OptionError(f"the domain {domain.id} has no pipeline without a model; give `model`")
    return domain.file.pipeline_without_model


def _models(model: str | Path | None, pipeline: Pipeline, concurrency: int | None) -> ModelsConfig | None:
    if not pipeline.roles:
        if model is not None:
            _log.warning("the pipeline %s needs no model; `model` is not used", pipeline.name)
        return None
    if model is None:
        raise OptionError(f"the pipeline {pipeline.name} needs a model; give `model`, or another `pipeline`")
    config = ModelsConfig.read(model)
    return config if concurrency is None else config.with_concurrency(concurrency)
