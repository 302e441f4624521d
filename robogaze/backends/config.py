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
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self

import yaml
from pydantic import Field, ValidationError, model_validator

from robogaze.backends.base import Backend, Decoding
from robogaze.backends.cached import AnswerStore, Cached
from robogaze.backends.limited import Limited, Limits, Price
from robogaze.backends.openai import Send, Structured, Wire
from robogaze.backends.retried import Patience, Retried
from robogaze.core.data import Data
from robogaze.core.pictures import PictureSettings
from robogaze.core.sampling import Regime
from robogaze.errors import InputError

ROLES = ("vlm", "llm", "critic", "judge")
_STANDS_IN = {"llm": "vlm", "critic": "vlm", "judge": "llm"}
KINDS = ("openai", "transformers", "batch", "scripted")
_SPEC = "KIND:NAME[@URL] with KIND one of " + ", ".join(KINDS)


class ModelConfig(Data):
    """One model and how it is used."""

    kind: Literal["openai", "transformers", "batch", "scripted"]
    name: str = ""
    """The model's name; for transformers a folder or hub id, for scripted the file of replies."""
    url: str | None = None
    """The server's address, ending in /v1; for batch, the folder of requests and answers."""
    api_key_env: str | None = None
    """The environment variable that holds the key."""
    frames: Regime = Regime.parse("4 fps, at most 32")
    """Which frames the model is shown of a clip."""
    present: Literal["frames", "sheets"] = "frames"
    """One picture a frame, or contact sheets of 3 x 3 frames (fewer tokens, smaller pictures)."""
    max_pictures: int = Field(default=64, ge=1)
    """The most pictures one request may hold."""
    send: Send = "images"
    structured: Structured = "json_schema"
    token_limit_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    decoding: Decoding = Decoding()
    timeout_s: float = Field(default=180, gt=0)
    limits: Limits = Limits()
    patience: Patience = Patience()
    price: Price | None = None
    extra_body: dict[str, Any] = {}
    """Added to every request as it stands (openai and batch)."""

    @classmethod
    def parse(cls, spec: str) -> Self:
        """Read `KIND:NAME[@URL]`. Raises InputError for any other text."""
        kind, colon, rest = spec.partition(":")
        if kind not in KINDS or not colon or not rest:
            raise InputError(f"a model is {_SPEC}, or the path of a YAML file; {spec!r} is neither")
        name, _, url = rest.rpartition("@") if "@" in rest else (rest, "", "")
        if kind == "batch" and not url:
            name, url = "", rest
        return cls.model_validate({"kind": kind, "name": name, "url": url or None})


class ModelsConfig(Data):
    """The models of a run and the roles they play; a role that is not bound is played by the one it leans on."""

    pictures: PictureSettings = PictureSettings()
    models: dict[str, ModelConfig] = Field(min_length=1)
    roles: dict[Literal["vlm", "llm", "critic", "judge"], str]

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
        """Read a spec or a YAML file. Raises InputError that names the file and the key."""
        path = Path(spec)
        if path.suffix not in (".yaml", ".yml") or spec.partition(":")[0] in KINDS:
            return cls(models={"model": ModelConfig.parse(spec)}, roles={"vlm": "model"})
        try:
            return cls.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
            raise InputError(f"{path} cannot be read as a models file: {error}") from error
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            key = ".".join(str(step) for step in first["loc"])
            raise InputError(f"{path}: {key}: {first['msg']}") from error

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
    """The models of a run, by role; close them when done."""

    def __init__(self, config: ModelsConfig, backends: Mapping[str, Backend]) -> None:
        self.config = config
        self._models = {
            name: Model(name=name, config=config.models[name], backend=backend) for name, backend in backends.items()
        }

    @classmethod
    def open(cls, config: ModelsConfig, answers: AnswerStore | None, environ: Mapping[str, str]) -> "Models":
        """Open every model that plays a role, each behind retries and limits, and behind the cache if there is one.

        Raises InputError for a key that is not set, MissingExtra for a package that is not installed.
        """
        backends: dict[str, Backend] = {}
        for name in dict.fromkeys(config.roles.values()):
            model = config.models[name]
            backend: Backend = Limited.around(_open(model, environ), model.limits, model.price)
            backend = Retried(backend, model.patience)
            backends[name] = Cached(backend, answers) if answers is not None else backend
        return cls(config, backends)

    def __getitem__(self, role: str) -> Model:
        return self._models[self.config.model_of(role)]

    def __iter__(self) -> Any:
        return iter(self._models.values())

    async def ready(self) -> None:
        """Return if every model can be asked. Raises BackendError if not."""
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

        return OpenAIBackend(config.name, config.url, _api_key(config, environ), config.timeout_s, wire)
    if config.kind == "transformers":
        from robogaze.backends.transformers import TransformersBackend

        return TransformersBackend(config.name)
    if config.kind == "batch":
        from robogaze.backends.batch import BatchBackend

        if config.url is None:
            raise InputError("a batch model needs url: the folder of its requests and answers")
        return BatchBackend(config.name, Path(config.url), wire)
    from robogaze.backends.scripted import ScriptedBackend

    return ScriptedBackend.read(Path(config.name))


def _api_key(config: ModelConfig, environ: Mapping[str, str]) -> str:
    """The key for a server.

    The vendor's own key is never sent to another address unless the user names its variable for it.
    """
    if config.api_key_env is not None:
        if config.api_key_env not in environ:
            raise InputError(f"api_key_env names {config.api_key_env}, which is not set in the environment")
        return environ[config.api_key_env]
    if config.url is None:
        if "OPENAI_API_KEY" not in environ:
            raise InputError(f"openai:{config.name} names no server and OPENAI_API_KEY is not set; add @URL or set it")
        return environ["OPENAI_API_KEY"]
    return environ.get("ROBOGAZE_API_KEY", "none")
