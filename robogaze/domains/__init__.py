"""Domains: folders of data (taxonomy, prompts, pipelines), read into one checked object."""

from robogaze.domains.load import default_domain, domain_folders, load_domain
from robogaze.domains.model import Dimension, Domain, EventType, PipelineSpec, StageSpec
from robogaze.domains.prompts import Prompts

__all__ = [
    "Dimension",
    "Domain",
    "EventType",
    "PipelineSpec",
    "Prompts",
    "StageSpec",
    "default_domain",
    "domain_folders",
    "load_domain",
]
