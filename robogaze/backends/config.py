"""The models of a run, from `KIND:NAME[@URL]` or from a YAML file that binds models to roles.

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

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field, ValidationError, ValidationInfo, field_validator, model_validator

from robogaze.backends.base import Decoding
from robogaze.backends.middleware.rate_limit import Price, RateLimits
from robogaze.backends.middleware.retry import RetryPolicy
from robogaze.backends.secrets import secret_in
from robogaze.core.data import Data, first_fault
from robogaze.core.pictures import PictureSettings
from robogaze.core.sampling import Regime
from robogaze.domains.yaml_files import read_yaml
from robogaze.errors import InputError, OptionError

if TYPE_CHECKING:
    from robogaze.backends import OpenBackend
    from robogaze.registry import Registry

Send = Literal["images", "video", "file"]

_FALLBACK = {"llm": "vlm", "critic": "vlm", "judge": "llm"}

MAX_PICTURES = 64
"""Default of `max_pictures`; `robogaze serve` starts servers that accept as many."""

SHEET_COLUMNS = 3
"""Columns and rows of a contact sheet."""

_NOT_IN_ANSWERS = {"api_key_env", "timeout_s", "limits", "retry", "price", "media_path", "reuse_pictures"}


def _regime(value: Any) -> Any:
    return value if isinstance(value, Regime) else Regime.parse(str(value))


class ModelConfig(Data):
    """A model and how it is used."""

    kind: str
    """A name in `robogaze.backends.BACKENDS`."""
    name: str = ""
    """The model's name; for transformers a folder or hub id, for scripted the file of replies."""
    url: str | None = None
    """The server's address, ending in /v1; several servers are separated by commas. For batch, the folder."""
    server: str | None = None
    """A name for the servers in cache keys and reports, so that a run can resume at another address."""
    api_key_env: str | None = None
    """The environment variable that holds the API key."""
    present: Literal["frames", "sheets"] = "frames"
    """One picture per frame, or contact sheets of 3 x 3 frames, each about as large as one frame would be."""
    max_pictures: int = Field(default=MAX_PICTURES, ge=1)
    """The maximum number of pictures in one request."""
    frames: Annotated[Regime, BeforeValidator(_regime)] = Field(
        default=Regime.parse("4 fps, at most 32"), validate_default=True
    )
    """The frames of a clip that the model is shown, thinned out evenly to what fits into one request."""
    send: Send = "images"
    media_path: Path | None = None
    """With `send: file`, a folder in which the server reads pictures, at the same path as here."""
    reuse_pictures: bool = False
    """Name pictures that the server already has instead of sending them again (vLLM)."""
    structured: Literal["json_schema", "json_object", "none"] = "json_schema"
    token_limit_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    decoding: Decoding = Decoding()
    timeout_s: float = Field(default=180, gt=0)
    limits: RateLimits = RateLimits()
    retry: RetryPolicy = RetryPolicy()
    price: Price | None = None
    extra_body: dict[str, Any] = {}
    """Added unchanged to every request (openai and batch); further settings for backends of other packages."""

    @field_validator("kind")
    @classmethod
    def _kind_is_registered(cls, kind: str) -> str:
        if kind not in _backends():
            raise ValueError(f"{kind!r} is not one of the backends: {', '.join(_backends().names())}")
        return kind

    @field_validator("frames")
    @classmethod
    def _fits_one_request(cls, frames: Regime, info: ValidationInfo) -> Regime:
        if not {"present", "max_pictures"} <= info.data.keys():
            return frames  # one of them is invalid and reported
        frames_a_picture = 1 if info.data["present"] == "frames" else SHEET_COLUMNS**2
        maximum = info.data["max_pictures"] * frames_a_picture
        return replace(frames, at_most=min(maximum, frames.at_most or maximum))

    @model_validator(mode="after")
    def _urls_are_valid_and_without_secrets(self) -> Self:
        if self.kind != "openai" or self.url is None:
            return self
        for url in self.urls:
            if "@" in url:
                raise ValueError("url contains a user or a password, and reports would show it; use api_key_env")
            if not url.lower().startswith(("http://", "https://")):
                raise ValueError(f"url must begin with http:// or https://, not {url!r}")
            if "?" in url or "#" in url:
                raise ValueError("url contains a query (?...), and reports would show it; use api_key_env for a key")
            if not _host(url):
                raise ValueError("url has no host or an invalid port; use http://HOST:PORT/v1")
        return self

    @model_validator(mode="after")
    def _extra_body_holds_no_secret(self) -> Self:
        if (place := secret_in(self.extra_body, "extra_body")) is not None:
            raise ValueError(f"{place} looks like a secret, and reports would show it; use api_key_env")
        return self

    @model_validator(mode="after")
    def _server_can_be_sent_references(self) -> Self:
        if (self.send == "file") != (self.media_path is not None):
            raise ValueError("send: file and media_path (a folder that the server may read) must be given together")
        if (self.send == "file" or self.reuse_pictures) and self.kind != "openai":
            raise ValueError(f"send: file and reuse_pictures can be used only with kind: openai, not with {self.kind}")
        if self.reuse_pictures and self.send == "video":
            raise ValueError("reuse_pictures needs pictures, but send: video sends no pictures; use send: images")
        return self

    @model_validator(mode="after")
    def _cost_limit_has_a_price(self) -> Self:
        if self.limits.cost_usd is not None and self.price is None:
            raise ValueError(
                "limits.cost_usd needs price; set price (USD per million tokens), or use limits.calls instead"
            )
        return self

    @property
    def urls(self) -> tuple[str, ...]:
        """The addresses of the model's servers; empty for OpenAI itself."""
        return () if self.url is None else tuple(url.strip() for url in self.url.split(","))

    @property
    def shown_as(self) -> Send:
        """The form in which the model sees frames: images or video. Pictures that are sent as files count as images."""
        return "images" if self.send == "file" else self.send

    @classmethod
    def parse(cls, spec: str) -> Self:
        """Parse `KIND:NAME[@URL]`. Raises InputError for an invalid spec."""
        kind, colon, rest = spec.partition(":")
        if kind not in _backends() or not colon or not rest:
            kinds = ", ".join(_backends().names())
            raise InputError(
                f"a model is KIND:NAME[@URL] with KIND one of {kinds}, or the path of a YAML file; {spec!r} is neither"
            )
        name, *urls = re.split("@(?=https?://)", rest, maxsplit=1, flags=re.IGNORECASE)
        if not urls and "@" in name:
            name, *urls = name.rsplit("@", 1)
        if kind == "batch" and not urls:
            name, urls = "", [rest]
        try:
            return cls.model_validate({"kind": kind, "name": name, "url": urls[0] if urls else None})
        except ValidationError as error:
            # Only the kind and a plain name are shown: the rest of the spec may hold a password.
            plain_name = name if re.fullmatch(r"[\w./-]+", name) else "NAME"
            message = f"the model {kind}:{plain_name} is invalid: {first_fault(error)[1]}"
            if kind == "openai" and urls and "://" not in urls[0]:
                message += f"; write openai:{plain_name}@http://{urls[0].removesuffix('/v1').rstrip('/')}/v1"
            raise InputError(message) from error


class TrackerConfig(Data):
    """A learned tracker: `sam3` is the folder or the hub id of the weights of SAM 3."""

    sam3: str = Field(min_length=1)


class ModelsConfig(Data):
    """The models of a run and their roles; a role that is not bound falls back to another role."""

    pictures: PictureSettings = PictureSettings()
    models: dict[str, ModelConfig] = Field(min_length=1)
    roles: dict[Literal["vlm", "llm", "critic", "judge"], str]
    tracker: TrackerConfig | None = None
    """None for RoboGaze's own tracker, which needs no weights."""

    @model_validator(mode="after")
    def _roles_name_models(self) -> Self:
        for role, name in self.roles.items():
            if name not in self.models:
                raise ValueError(f"roles.{role} is {name!r}, which is not one of the models: {', '.join(self.models)}")
        if "vlm" not in self.roles:
            raise ValueError("roles.vlm is missing; set it to the name of the model that examines frames")
        return self

    @classmethod
    def read(cls, spec: str | Path) -> Self:
        """Read a spec or a YAML file. Raises InputError that names the file, the line and the key."""
        path, text = Path(spec), str(spec)
        if path.suffix not in (".yaml", ".yml") or text.partition(":")[0] in _backends():
            return cls(models={"model": ModelConfig.parse(text)}, roles={"vlm": "model"})
        file = read_yaml(path)
        if not isinstance(file.content, dict):
            raise file.fault("the file defines no models; add the keys models and roles (see docs/models.md)")
        return file.parse(cls)

    def answer_settings(self) -> dict[str, Any]:
        """The settings that affect answers and reports, for run.json; limits, retries, prices and keys are left out."""
        settings = self.model_dump(mode="json", exclude={"models": {"__all__": _NOT_IN_ANSWERS}})
        for name, model in settings["models"].items():
            if model["kind"] == "batch" or model["server"] is not None:
                del model["url"]  # a folder, which may be moved, or addresses that `server` names
            if model["server"] is None:
                del model["server"]
            model["send"] = self.models[name].shown_as
        if self.tracker is None:
            del settings["tracker"]
        return settings

    def check_cost_is_limited(self) -> None:
        """Raise OptionError if `max_cost_usd` cannot be enforced for every model that has a role."""
        models = [self.models[name] for name in dict.fromkeys(self.roles.values())]
        if any(model.price is None for model in models):
            raise OptionError("`max_cost_usd` needs the price of every model in the models file; see docs/models.md")
        if any(model.kind == "batch" for model in models):
            raise OptionError(
                "`max_cost_usd` cannot limit a batch, because the cost of a batch is known only afterwards; use "
                "`max_calls`"
            )

    def with_concurrency(self, requests: int) -> Self:
        """A copy in which each model has at most `requests` requests in progress."""
        limited = {
            name: model.with_(limits=model.limits.with_(concurrency=requests)) for name, model in self.models.items()
        }
        return self.with_(models=limited)

    def model_of(self, role: str) -> str:
        """The name of the model for a role."""
        while role not in self.roles:
            role = _FALLBACK[role]
        return self.roles[role]


def _backends() -> "Registry[OpenBackend]":
    from robogaze.backends import BACKENDS  # which imports this module

    return BACKENDS


def _host(url: str) -> str | None:
    """The host of an address; None without a host or with an invalid port."""
    try:
        parts = urlsplit(url)
        return parts.hostname if parts.port != 0 else None
    except ValueError:
        return None
