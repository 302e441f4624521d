"""How environments are built: the content of builders/NAME.yaml."""

from typing import Literal

from pydantic import Field

from robogaze.core.data import Data
from robogaze.domains.resources import resource_folder
from robogaze.domains.yaml_files import read_yaml
from robogaze.errors import InputError
from robogaze.interactive.environments.base import Mode


class TeamSpec(Data):
    """A team. It `makes` sections of the design document or parts of the program; `brief` is for all its members."""

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


def read_builder(domain: str, name: str) -> BuilderSpec:
    """A builder of a domain. Raises InputError with the known names if there is none, DomainError if it is invalid."""
    folder = resource_folder("taxonomy") / domain / "builders"
    known = {path.stem: path for path in sorted(folder.glob("*.yaml"))}
    if name not in known:
        raise InputError(f"there is no builder {name!r}; the builders are: {', '.join(known)}")
    return read_yaml(known[name]).parse(BuilderSpec)
