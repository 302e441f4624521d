"""Which models a run uses, from `KIND:NAME[@URL]` or from a YAML file that binds models to roles.

pictures: {max_side_px: 1024, quality: 90}
models:
  eyes:
    kind: openai
    name: Qwen/Qwen3-VL-8B-Instruct
    url: http://127.0.0.1:8000/v1
    frames: 4 fps, at most 32
  critic: {kind: openai, name: ..., price: {prompt_usd: 1.25, completion_usd: 10}}
roles: {vlm: eyes, critic: critic}
tracker: {sam3: facebook/sam3}
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field, ValidationError, ValidationInfo, field_validator, model_validator

from robogaze.backends.base import Backend, Decoding
from robogaze.backends.batch import BatchBackend
from robogaze.backends.middleware.balance import LoadBalancer
from robogaze.backends.middleware.budget import Budget
from robogaze.backends.middleware.cache import AnswerStore, Cached
from robogaze.backends.middleware.checked import Ended, Typed
from robogaze.backends.middleware.model_identity import ModelIdentityGuard
from robogaze.backends.middleware.outage import OutageWait
from robogaze.backends.middleware.rate_limit import Limited, Price, RateLimits, no_request_was_sent
from robogaze.backends.middleware.retry import Retried, RetryPolicy
from robogaze.backends.openai import Send, Structured, Wire
from robogaze.backends.secrets import api_key, check_key_is_nowhere, secret_in
from robogaze.core.data import Data, first_fault
from robogaze.core.pictures import PictureSettings
from robogaze.core.sampling import Regime
from robogaze.domains.yaml_files import read_yaml
from robogaze.errors import InputError

if TYPE_CHECKING:
    from robogaze.backends.sam3 import Sam3

ROLES = ("vlm", "llm", "critic", "judge")
_STANDS_IN = {"llm": "vlm", "critic": "vlm", "judge": "llm"}
KINDS = ("openai", "transformers", "batch", "scripted")
_SPEC = "KIND:NAME[@URL] with KIND one of " + ", ".join(KINDS)
MAX_PICTURES = 64
"""How many pictures a request may hold where nothing else is said; `robogaze serve` lets as many through."""

SHEET_COLUMNS = 3
"""A contact sheet holds as many rows of as many frames."""

_NO_ANSWER_DEPENDS_ON = {"api_key_env", "timeout_s", "limits", "patience", "price"}


def _regime(value: Any) -> Any:
    return value if isinstance(value, Regime) else Regime.parse(str(value))


class ModelConfig(Data):
    """One model and how it is used."""

    kind: Literal["openai", "transformers", "batch", "scripted"]
    name: str = ""
    """The model's name; for transformers a folder or hub id, for scripted the file of replies."""
    url: str | None = None
    """The server's address, ending in /v1, or those of several servers, with commas between; for batch, the folder of
    requests and answers."""
    server: str | None = None
    """What the addresses are called in keys and reports, so that a run can go on with the same model elsewhere."""
    api_key_env: str | None = None
    """The environment variable that holds the key."""
    present: Literal["frames", "sheets"] = "frames"
    """One picture a frame, or contact sheets of 3 x 3 frames, each about as large as one frame would be."""
    max_pictures: int = Field(default=MAX_PICTURES, ge=1)
    """The most pictures one request may hold."""
    frames: Annotated[Regime, BeforeValidator(_regime)] = Field(
        default=Regime.parse("4 fps, at most 32"), validate_default=True
    )
    """Which frames the model is shown of a clip, thinned out evenly to what one request may hold."""
    send: Send = "images"
    structured: Structured = "json_schema"
    token_limit_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    decoding: Decoding = Decoding()
    timeout_s: float = Field(default=180, gt=0)
    limits: RateLimits = RateLimits()
    patience: RetryPolicy = RetryPolicy()
    price: Price | None = None
    extra_body: dict[str, Any] = {}
    """Added to every request as it stands (openai and batch)."""

    @field_validator("frames")
    @classmethod
    def _fits_one_request(cls, frames: Regime, info: ValidationInfo) -> Regime:
        if not {"present", "max_pictures"} <= info.data.keys():
            return frames  # one of them is at fault itself
        a_picture = 1 if info.data["present"] == "frames" else SHEET_COLUMNS**2
        most = info.data["max_pictures"] * a_picture
        return replace(frames, at_most=min(most, frames.at_most or most))

    @model_validator(mode="after")
    def _address_can_be_asked_and_told(self) -> Self:
        if self.kind != "openai" or self.url is None:
            return self
        for url in self.urls:
            if "@" in url:
                what = "a user or a password"
                raise ValueError(f"url holds {what}, which reports would tell; name a key with api_key_env")
            if not url.lower().startswith(("http://", "https://")):
                raise ValueError(f"url must begin with http:// or https://, not {url!r}")
            if "?" in url or "#" in url:
                raise ValueError("url holds a query (?...), which reports would show; name a key with api_key_env")
            if not _host(url):
                raise ValueError("url names no host, or a port that is none; it is http://HOST:PORT/v1")
        return self

    @model_validator(mode="after")
    def _no_secret_is_told(self) -> Self:
        if (place := secret_in(self.extra_body, "extra_body")) is not None:
            raise ValueError(f"{place} looks like a secret, which reports would show; name a key with api_key_env")
        return self

    @model_validator(mode="after")
    def _cost_can_be_counted(self) -> Self:
        if self.limits.cost_usd is not None and self.price is None:
            raise ValueError("limits.cost_usd needs price, what a million tokens cost; or set limits.calls")
        return self

    @property
    def urls(self) -> tuple[str, ...]:
        """The addresses of its servers; empty for the vendor's own."""
        return () if self.url is None else tuple(url.strip() for url in self.url.split(","))

    @classmethod
    def parse(cls, spec: str) -> Self:
        """Read `KIND:NAME[@URL]`. Raises InputError for any other text."""
        kind, colon, rest = spec.partition(":")
        if kind not in KINDS or not colon or not rest:
            raise InputError(f"a model is {_SPEC}, or the path of a YAML file; {spec!r} is neither")
        name, *urls = re.split("@(?=https?://)", rest, maxsplit=1, flags=re.IGNORECASE)
        if not urls and "@" in name:
            name, *urls = name.rsplit("@", 1)
        if kind == "batch" and not urls:
            name, urls = "", [rest]
        try:
            return cls.model_validate({"kind": kind, "name": name, "url": urls[0] if urls else None})
        except ValidationError as error:
            # Of the spec only the kind and a plain name are shown: the rest may hold a password.
            plain_name = name if re.fullmatch(r"[\w./-]+", name) else "NAME"
            message = f"the model {kind}:{plain_name} cannot be used: {first_fault(error)[1]}"
            if kind == "openai" and urls and "://" not in urls[0]:
                message += f"; write openai:{plain_name}@http://{urls[0].removesuffix('/v1').rstrip('/')}/v1"
            raise InputError(message) from error


class TrackerConfig(Data):
    """A learned tracker: `sam3` is the folder or the hub id of the weights of SAM 3."""

    sam3: str = Field(min_length=1)


class ModelsConfig(Data):
    """The models of a run and the roles they play; a role that is not bound falls back to another."""

    pictures: PictureSettings = PictureSettings()
    models: dict[str, ModelConfig] = Field(min_length=1)
    roles: dict[Literal["vlm", "llm", "critic", "judge"], str]
    tracker: TrackerConfig | None = None
    """What follows things through frames; None for RoboGaze's own tracker, which needs no weights."""

    @model_validator(mode="after")
    def _roles_name_models(self) -> Self:
        for role, name in self.roles.items():
            if name not in self.models:
                raise ValueError(f"roles.{role} names {name!r}; there is: {', '.join(self.models)}")
        if "vlm" not in self.roles:
            raise ValueError("roles.vlm is missing: it names the model that looks at clips")
        return self

    @classmethod
    def read(cls, spec: str) -> Self:
        """Read a spec or a YAML file. Raises InputError that names the file, the line and the key."""
        path = Path(spec)
        if path.suffix not in (".yaml", ".yml") or spec.partition(":")[0] in KINDS:
            return cls(models={"model": ModelConfig.parse(spec)}, roles={"vlm": "model"})
        file = read_yaml(path)
        if not isinstance(file.content, dict):
            raise file.fault("holds no models: it needs the keys models and roles (see docs/models.md)")
        return file.parse(cls)

    def essence(self) -> dict[str, Any]:
        """What answers and reports depend on: all but what paces, prices or unlocks the asking."""
        told = self.model_dump(mode="json", exclude={"models": {"__all__": _NO_ANSWER_DEPENDS_ON}})
        for model in told["models"].values():
            if model["kind"] == "batch" or model["server"] is not None:
                del model["url"]  # a folder, which may be moved, or addresses that go by another name
            if model["server"] is None:
                del model["server"]
        if self.tracker is None:
            del told["tracker"]
        return told

    def with_concurrency(self, requests: int) -> Self:
        """The same models, each with so many requests under way at once."""
        limited = {
            name: model.with_(limits=model.limits.with_(concurrency=requests)) for name, model in self.models.items()
        }
        return self.with_(models=limited)

    def model_of(self, role: str) -> str:
        """The name of the model that plays a role."""
        while role not in self.roles:
            role = _STANDS_IN[role]
        return self.roles[role]


class Model(Data):
    """A model ready to be asked."""

    name: str
    config: ModelConfig
    backend: Any


class Models:
    """The models of a run, by role, and the learned tracker if there is one; close them when done."""

    def __init__(self, config: ModelsConfig, backends: Mapping[str, Backend], tracker: "Sam3 | None" = None) -> None:
        self.config = config
        self.tracker = tracker
        self._models = {
            name: Model(name=name, config=config.models[name], backend=backend) for name, backend in backends.items()
        }

    @classmethod
    def open(
        cls,
        config: ModelsConfig,
        answers: AnswerStore | None,
        environ: Mapping[str, str],
        *,
        budget: AnswerStore | None = None,
        purse: Budget | None = None,
        outage_s: float = 0.0,
        tell: Callable[[str], None] = lambda text: None,
    ) -> "Models":
        """Open every model that plays a role, each behind retries and limits, and behind the cache if there is one.

        Calls and cost are counted from what `budget` says was spent, and written there, as is which model each server
        says it is; without one from nothing. `purse` caps all models together. A server that goes away is waited for,
        up to `outage_s`, and `tell` is given a sentence about it.
        Raises InputError for a key that is not set, MissingExtra for a package that is not installed.
        """
        backends: dict[str, Backend] = {}
        for name in dict.fromkeys(config.roles.values()):
            model, opened = config.models[name], _open(config.models[name], environ)
            spent = None if budget is None else budget.spent(name)
            was_sent = opened.was_sent if isinstance(opened, BatchBackend) else no_request_was_sent
            backend: Backend = Limited.around(Typed(opened), model.limits, model.price, spent, was_sent, purse)
            backend = Retried(Ended(backend), model.patience)
            if budget is not None:
                backend = ModelIdentityGuard(backend, name, budget.first_told)
            backend = OutageWait.around(backend, outage_s, tell)
            backends[name] = Cached(backend, answers) if answers is not None else backend
        return cls(config, backends, None if config.tracker is None else _open_tracker(config.tracker))

    def __getitem__(self, role: str) -> Model:
        return self._models[self.config.model_of(role)]

    def __iter__(self) -> Any:
        return iter(self._models.values())

    async def ready(self) -> None:
        """Return if every model can be asked.

        Raises BackendError if not, InputError where the tracker's weights cannot be loaded.
        """
        if self.tracker is not None:
            await self.tracker.ready()
        for model in self:
            await model.backend.ready()

    async def close(self) -> None:
        """Close every model."""
        for model in self:
            await model.backend.close()


def _open(config: ModelConfig, environ: Mapping[str, str]) -> Backend:
    wire = Wire(config.send, config.structured, config.token_limit_field, config.extra_body)
    if config.kind == "openai":
        from robogaze.backends.openai import OpenAIBackend

        key = api_key(config.name, config.url, config.api_key_env, environ)
        check_key_is_nowhere(key, json.dumps(config.model_dump(mode="json", exclude={"api_key_env"})))
        servers = [
            OpenAIBackend(config.name, url, key, config.timeout_s, wire, server=config.server)
            for url in config.urls or (None,)
        ]
        if len(servers) == 1:
            return servers[0]
        return LoadBalancer(servers, {**servers[0].identity, "url": config.server or config.url})
    if config.kind == "transformers":
        from robogaze.backends.transformers import TransformersBackend

        return TransformersBackend(config.name)
    if config.kind == "batch":
        if config.url is None:
            raise InputError("a batch model needs url: the folder of its requests and answers")
        return BatchBackend(config.name, Path(config.url), wire)
    from robogaze.backends.scripted import ScriptedBackend

    return ScriptedBackend.read(Path(config.name))


def _open_tracker(config: TrackerConfig) -> "Sam3":
    from robogaze.backends.sam3 import Sam3

    return Sam3(config.sam3)


def _host(url: str) -> str | None:
    """The host of an address, None where it names none."""
    try:
        parts = urlsplit(url)
        return parts.hostname if parts.port != 0 else None
    except ValueError:
        return None
