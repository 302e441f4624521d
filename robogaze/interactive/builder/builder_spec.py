"""How environments are built: the content of builders/studio.yaml."""

from typing import Literal

from pydantic import Field

from robogaze.core.data import Data
from robogaze.domains.resources import resource_folder
from robogaze.domains.yaml_files import read_yaml
from robogaze.interactive.environments.base import Mode


class TeamSpec(Data):
    """A team. `makes` says whether it makes sections of the design document or parts of the program. All its members
    are given `brief`.
    """

    id: str
    makes: Literal["sections", "parts"]
    title: str
    brief: str
    most_tasks: int = Field(ge=1)


class Preliminary(Data):
    """How the preliminary agent plays a new environment."""

    agent: str
    mode: Mode
    budget: int = Field(ge=1)


class BuilderSpec(Data):
    """A pipeline that builds environments; see the comments of builders/studio.yaml."""

    schema_version: Literal[1]
    description: str
    teams: tuple[TeamSpec, ...] = Field(min_length=1)
    reviews: int = Field(ge=0)
    repairs: int = Field(ge=0)
    bug_tries: int = Field(ge=1)
    extensions: int = Field(ge=0)
    preliminary: Preliminary


def read_builder(domain: str) -> BuilderSpec:
    """The builder of a built-in domain. Raises DomainError for an invalid file."""
    return read_yaml(resource_folder("taxonomy") / domain / "builders" / "studio.yaml").parse(BuilderSpec)
