"""Environments behind one protocol, in this process or behind HTTP."""

from robogaze.interactive.environments.base import (
    DocumentLine,
    Documents,
    Environment,
    EnvironmentFault,
    Mode,
    Observation,
)

__all__ = ["DocumentLine", "Documents", "Environment", "EnvironmentFault", "Mode", "Observation"]
