"""The options of plays, and the configuration that is written to run.json."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any, get_args

from robogaze.backends import ModelsConfig
from robogaze.domains import Domain, load_domain
from robogaze.domains.model import AgentMemory
from robogaze.errors import InputError, OptionError
from robogaze.interactive.environments.base import Mode
from robogaze.interactive.play_client import PLAY_PROMPTS
from robogaze.version import VERSION

SCHEMA_VERSION = 1
"""The version of run.json."""

DOMAIN = "interactive"
"""The built-in domain of plays."""


@dataclass(frozen=True)
class PlayOptions:
    """How environments are played.

    Args:
        mode: With `qa`, the agent also reads documents and source; with `player`, it reads replies only.
        budget: The number of steps of each play.
        sessions: The number of plays in each environment.
        agent: An agent of the domain.
        memory: The memory of the agent: none, in_session, cross_session or both. None keeps the agent's own setting.
        seed: The seed of the first session; each further session adds 1. None uses the seed in the model's settings.
        at_once: The maximum number of plays at the same time.
        timeout_s: How long to wait for a reply of an environment.
        max_calls: The maximum number of calls, across restarts.
        max_cost_usd: The maximum cost, across restarts.
        outage_s: How long to wait for a model's server that becomes unreachable.
        retry_failed: Play again where answers were invalid.
        domain: A domain with agents: the built-in domain, or the folder of a custom domain.
    """

    mode: Mode = "qa"
    budget: int = 200
    sessions: int = 1
    agent: str = "full"
    memory: AgentMemory | None = None
    seed: int | None = None
    at_once: int = 8
    timeout_s: float = 30.0
    max_calls: int | None = None
    max_cost_usd: float | None = None
    outage_s: float = 0.0
    retry_failed: bool = False
    domain: str | Path = DOMAIN

    def check(self) -> None:
        """Raise OptionError for an unknown mode or memory, and for a number that is out of its range."""
        for name, known in (("mode", get_args(Mode)), ("memory", (None, *get_args(AgentMemory)))):
            if (chosen := getattr(self, name)) not in known:
                raise OptionError(f"{name} must be one of {', '.join(filter(None, known))}, not {chosen!r}")
        for name in ("budget", "sessions", "at_once", "max_calls"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise OptionError(f"{name} must be at least 1, not {value}")
        if self.max_cost_usd is not None and not 0 < self.max_cost_usd < inf:
            raise OptionError(f"max_cost_usd must be above 0 and finite, not {self.max_cost_usd}")
        if not 0 < self.timeout_s < inf:
            raise OptionError(f"timeout_s must be above 0 and finite, not {self.timeout_s}")
        if not 0 <= self.outage_s < inf:
            raise OptionError(f"outage_s must be at least 0 and finite, not {self.outage_s}")


def check_plays(environments: Sequence[str], options: PlayOptions) -> Domain:
    """The domain of plays.

    Raises OptionError for an option that is out of its range, InputError for an unknown agent, for an environment that
    is named twice and for no environment, and DomainError for a prompt with an unknown variable.
    """
    options.check()
    if not environments:
        raise InputError("no environment is given")
    if len(set(environments)) != len(environments):
        raise InputError("an environment is listed twice; use `sessions` to play an environment several times")
    domain = load_domain(options.domain)
    if options.agent not in domain.agents:
        known = ", ".join(domain.agents) or "none"
        raise InputError(f"the domain {domain.id} has no agent {options.agent!r}; its agents are: {known}")
    for prompt, variables in PLAY_PROMPTS.items():
        domain.prompts.check(prompt, variables)
    return domain


def configuration_of(options: PlayOptions, domain: Domain, models: ModelsConfig) -> dict[str, Any]:
    """The content of run.json, which must be the same when a run is resumed. The environments and the number of
    sessions are not part of it, so they may change.
    """
    return {
        "schema_version": SCHEMA_VERSION,
        "robogaze": VERSION,
        "domain": {"id": domain.id, "version": domain.file.version, "fingerprint": domain.fingerprint},
        "pipeline": options.agent,
        "play": {
            "mode": options.mode,
            "budget": options.budget,
            "memory": options.memory or domain.agents[options.agent].memory,
            "seed": options.seed,
        },
        "models": models.answer_settings(),
    }
