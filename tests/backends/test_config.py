"""Model specs, models files, keys."""

from pathlib import Path
from typing import Any

import pytest

from robogaze.backends import ModelConfig, Models, ModelsConfig
from robogaze.errors import InputError

FILE = """
pictures: {max_side_px: 512}
models:
  eyes: {kind: openai, name: Qwen/Qwen3-VL-8B-Instruct, url: "http://127.0.0.1:8000/v1", frames: uniform 16}
  critic: {kind: openai, name: big, url: "http://127.0.0.1:8001/v1", api_key_env: BIG_KEY}
roles: {vlm: eyes, critic: critic}
"""


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        ("openai:Qwen/Qwen3-VL@http://127.0.0.1:8000/v1", ("openai", "Qwen/Qwen3-VL", "http://127.0.0.1:8000/v1")),
        ("openai:gpt-5.5", ("openai", "gpt-5.5", None)),
        ("openai:m@v2@http://h/v1", ("openai", "m@v2", "http://h/v1")),
        ("transformers:/models/tiny", ("transformers", "/models/tiny", None)),
        ("batch:post", ("batch", "", "post")),
        ("batch:m@post", ("batch", "m", "post")),
        ("scripted:replies.yaml", ("scripted", "replies.yaml", None)),
    ],
)
def test_a_spec_is_kind_name_and_address(spec: str, wanted: tuple[Any, ...]) -> None:
    model = ModelConfig.parse(spec)
    assert (model.kind, model.name, model.url) == wanted


@pytest.mark.parametrize("spec", ["gpt-5", "vllm:m", "openai:", ":m", ""])
def test_another_form_is_refused_with_the_right_one(spec: str) -> None:
    with pytest.raises(InputError, match=r"KIND:NAME\[@URL\]"):
        ModelConfig.parse(spec)


def test_a_scripted_file_may_end_in_yaml() -> None:
    config = ModelsConfig.read("scripted:replies.yaml")
    assert config.models["model"].kind == "scripted"


def test_roles_lean_on_one_another(tmp_path: Path) -> None:
    (tmp_path / "models.yaml").write_text(FILE)
    config = ModelsConfig.read(str(tmp_path / "models.yaml"))
    assert [config.model_of(role) for role in ("vlm", "llm", "critic", "judge")] == ["eyes", "eyes", "critic", "eyes"]
    assert str(config.models["eyes"].frames) == "uniform 16"
    assert config.pictures.max_side_px == 512


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("frames: uniform 16", "frames: sometimes"), "models.eyes.frames"),
        (("roles: {vlm: eyes", "roles: {vlm: ears"), "roles.vlm names 'ears'"),
        (("vlm: eyes, ", ""), "roles.vlm is missing"),
        (("kind: openai", "kind: opnai"), "models.eyes.kind"),
        (("name: big", "naem: big"), "models.critic.naem"),
        (("models:", "models: ["), "cannot be read"),
    ],
)
def test_a_models_file_that_does_not_fit_is_named_with_its_key(
    tmp_path: Path, change: tuple[str, str], says: str
) -> None:
    path = tmp_path / "models.yaml"
    path.write_text(FILE.replace(*change, 1))
    with pytest.raises(InputError) as error:
        ModelsConfig.read(str(path))
    assert str(path) in str(error.value)
    assert says in str(error.value)


def key_sent(config: ModelConfig, environ: dict[str, str]) -> str:
    models = Models.open(ModelsConfig(models={"m": config}, roles={"vlm": "m"}), None, environ)
    backend = models["vlm"].backend
    while hasattr(backend, "inner"):
        backend = backend.inner
    return str(backend._client.api_key)


def test_the_vendors_key_goes_to_the_vendor_only() -> None:
    environ = {"OPENAI_API_KEY": "secret", "MINE": "mine"}
    vendor, own = ModelConfig.parse("openai:m"), ModelConfig.parse("openai:m@http://127.0.0.1:1/v1")
    assert key_sent(vendor, environ) == "secret"
    assert key_sent(own, environ) == "none"
    assert key_sent(own, {**environ, "ROBOGAZE_API_KEY": "lab"}) == "lab"
    assert key_sent(own.with_(api_key_env="MINE"), environ) == "mine"


def test_a_key_that_is_not_set_is_named() -> None:
    with pytest.raises(InputError, match="OPENAI_API_KEY is not set"):
        key_sent(ModelConfig.parse("openai:m"), {})
    with pytest.raises(InputError, match="api_key_env names MINE"):
        key_sent(ModelConfig.parse("openai:m").with_(api_key_env="MINE"), {})
