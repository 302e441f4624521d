"""Model specs, YAML files of models, API keys."""

import asyncio
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
        ("openai:m@HTTPS://h/v1", ("openai", "m", "HTTPS://h/v1")),
    ],
)
def test_spec_has_kind_name_and_address(spec: str, wanted: tuple[Any, ...]) -> None:
    model = ModelConfig.parse(spec)
    assert (model.kind, model.name, model.url) == wanted


@pytest.mark.parametrize("spec", ["gpt-5", "vllm:m", "openai:", ":m", ""])
def test_invalid_spec_is_refused_with_the_right_form(spec: str) -> None:
    with pytest.raises(InputError, match=r"KIND:NAME\[@URL\]"):
        ModelConfig.parse(spec)


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("openai:m@host:8000/v1", "url must begin with http:// or https://, not 'host:8000/v1'"),
        ("openai:x@http://user:pw@host/v1", "url contains a user or a password"),
        ("openai:x@user:pw@host/v1", "url must begin with http:// or https://"),
        ("openai:x@http:///v1", "url has no host"),
        ("openai:x@localhost:8133/v1", "write openai:x@http://localhost:8133/v1"),
        ("openai:x@user:pw@host", "write openai:NAME@http://host/v1"),
        ("openai:x@http://h/v1?key=pw", "url contains a query"),
        ("openai:x@http://h/v1#pw", "url contains a query"),
        ("openai:x@http://h:pw/v1", "url has no host or an invalid port"),
    ],
)
def test_invalid_address_is_refused_without_showing_secrets(spec: str, says: str) -> None:
    with pytest.raises(InputError) as error:
        ModelsConfig.read(spec)
    assert says in str(error.value)
    assert "pw" not in str(error.value)
    assert "\n" not in str(error.value)


def test_unbound_roles_fall_back_to_others(tmp_path: Path) -> None:
    (tmp_path / "models.yaml").write_text(FILE)
    config = ModelsConfig.read(str(tmp_path / "models.yaml"))
    assert [config.model_of(role) for role in ("vlm", "llm", "critic", "judge")] == ["eyes", "eyes", "critic", "eyes"]
    assert str(config.models["eyes"].frames) == "uniform 16"
    assert config.pictures.max_side_px == 512


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("roles: {vlm: eyes", "roles: {vlm: ears"), "roles.vlm is 'ears'"),
        (("vlm: eyes, ", ""), "roles.vlm is missing"),
        (("kind: openai", "kind: opnai"), "models.eyes.kind"),
        (("frames: uniform 16", "frames: 4 fsp"), "models.eyes.frames: a frame regime must be 'uniform N', 'F fps'"),
        (("frames: uniform 16", "frames: 4 fps, limits: {cost_usd: 3}"), "limits.cost_usd needs price"),
        (("frames: uniform 16", "retry: {first_wait_s: 60}"), "longest_wait_s is shorter than first_wait_s"),
        (('url: "http://127.0.0.1:8000/v1"', "url: 127.0.0.1:8000/v1"), "models.eyes: url must begin with http://"),
        (('"http://127.0.0.1:8000/v1"', '"http://me:pw@127.0.0.1:8000/v1"'), "models.eyes: url contains a user"),
        (("frames: uniform 16", "extra_body: {api_key: pw}"), "models.eyes: extra_body.api_key looks like a secret"),
        (("frames: uniform 16", "extra_body: {a: [{X-API-Key: pw}]}"), "extra_body.a.0.X-API-Key looks like a secret"),
        (("frames: uniform 16", "extra_body: {h: Bearer pw}"), "extra_body.h looks like a secret"),
        (("frames: uniform 16", "extra_body: {user: sk-proj-0123456789abcdef}"), "extra_body.user looks like a secret"),
    ],
)
def test_invalid_file_is_named_with_its_key(tmp_path: Path, change: tuple[str, str], says: str) -> None:
    path = tmp_path / "models.yaml"
    path.write_text(FILE.replace(*change, 1))
    with pytest.raises(InputError) as error:
        ModelsConfig.read(str(path))
    assert str(path) in str(error.value)
    assert says in str(error.value)
    assert "pw" not in str(error.value)


@pytest.mark.parametrize("content", ["", "[]"])
def test_file_without_models_says_which_keys_it_needs(tmp_path: Path, content: str) -> None:
    path = tmp_path / "models.yaml"
    path.write_text(content)
    with pytest.raises(
        InputError, match=r"models\.yaml(:1)?: the file defines no models; add the keys models and roles"
    ):
        ModelsConfig.read(str(path))


@pytest.mark.parametrize(
    ("given", "present", "shown"),
    [
        ("uniform 8", "frames", "uniform 8"),
        ("uniform 32", "frames", "uniform 16"),
        ("every frame", "frames", "uniform 16"),
        ("4 fps", "frames", "4 fps, at most 16"),
        ("4 fps, at most 32", "frames", "4 fps, at most 16"),
        ("every frame", "sheets", "uniform 144"),
        ("uniform 100", "sheets", "uniform 100"),
    ],
)
def test_frames_are_thinned_out_to_max_pictures(given: str, present: str, shown: str) -> None:
    config = ModelConfig.model_validate({"kind": "scripted", "frames": given, "present": present, "max_pictures": 16})
    assert str(config.frames) == shown
    assert str(config.with_(max_pictures=99).frames) == shown, "frames that were thinned out are not added again"


def test_answer_settings_leave_out_limits_retries_prices_and_keys() -> None:
    config = ModelsConfig.model_validate(
        {
            "models": {
                "eyes": {
                    "kind": "openai", "name": "m", "url": "http://h/v1", "timeout_s": 9, "api_key_env": "KEY",
                    "price": {"prompt_usd": 1, "completion_usd": 1}, "limits": {"calls": 9},
                    "retry": {"attempts": 9},
                },
                "post": {"kind": "batch", "name": "m", "url": "some/folder"},
            },
            "roles": {"vlm": "eyes", "critic": "post"},
        }
    )  # fmt: skip
    plain = ModelsConfig.model_validate(
        {
            "models": {
                "eyes": {"kind": "openai", "name": "m", "url": "http://h/v1"},
                "post": {"kind": "batch", "name": "m", "url": "another/folder"},
            },
            "roles": {"vlm": "eyes", "critic": "post"},
        }
    )
    assert config.answer_settings() == plain.answer_settings()
    assert config.answer_settings()["models"]["eyes"].keys() == {
        "kind", "name", "url", "frames", "present", "max_pictures", "send", "structured", "token_limit_field",
        "decoding", "extra_body",
    }  # fmt: skip


def key_sent(config: ModelConfig, environ: dict[str, str]) -> str:
    models = Models.open(ModelsConfig(models={"m": config}, roles={"vlm": "m"}), None, environ)
    backend = models["vlm"].backend
    while hasattr(backend, "inner"):
        backend = backend.inner
    asyncio.run(models.close())
    return str(backend.http.key)


def test_key_of_the_vendor_is_sent_to_the_vendor_only() -> None:
    environ = {"OPENAI_API_KEY": "secret", "MINE": "mine"}
    vendor, own = ModelConfig.parse("openai:m"), ModelConfig.parse("openai:m@http://127.0.0.1:1/v1")
    assert key_sent(vendor, environ) == "secret"
    assert key_sent(own, environ) == "None"
    assert key_sent(own, {**environ, "ROBOGAZE_API_KEY": "lab"}) == "lab"
    assert key_sent(own.with_(api_key_env="MINE"), environ) == "mine"


def test_missing_key_is_named() -> None:
    with pytest.raises(InputError, match="OPENAI_API_KEY is not set; set OPENAI_API_KEY, or add @URL"):
        key_sent(ModelConfig.parse("openai:m"), {})
    with pytest.raises(InputError, match=r"the environment variable MINE \(api_key_env\) is not set"):
        key_sent(ModelConfig.parse("openai:m").with_(api_key_env="MINE"), {})


@pytest.mark.parametrize(
    ("key", "says"),
    [("", "is empty"), ("  ", "is empty"), ("sk-a\n", "not allowed in keys"), ("sk-ä", "not allowed in keys")],
)
def test_invalid_key_is_refused_by_its_variable(key: str, says: str) -> None:
    for model, variable in (
        (ModelConfig.parse("openai:m"), "OPENAI_API_KEY"),
        (ModelConfig.parse("openai:m@http://h/v1").with_(api_key_env="MINE"), "MINE"),
    ):
        with pytest.raises(InputError, match=says) as error:
            key_sent(model, {variable: key})
        assert variable in str(error.value)
        assert "sk-" not in str(error.value)


def test_empty_key_for_an_own_server_is_no_key() -> None:
    assert key_sent(ModelConfig.parse("openai:m@http://h/v1"), {"ROBOGAZE_API_KEY": ""}) == "None"


def test_key_in_other_settings_is_refused() -> None:
    for fields in ({"extra_body": {"user": "0123456789"}}, {"url": "http://h/0123456789/v1"}, {"server": "0123456789"}):
        config = ModelConfig.model_validate({"kind": "openai", "name": "m", "url": "http://h/v1", **fields})
        with pytest.raises(InputError, match="and reports show these fields"):
            key_sent(config, {"ROBOGAZE_API_KEY": "0123456789"})


def test_settings_that_only_sound_like_secrets_are_accepted() -> None:
    extra = {"max_tokens": 5, "stop_token": "x", "prompt_cache_key": "clips", "skip_special_tokens": True, "key": None}
    assert ModelConfig(kind="openai", name="m", extra_body=extra).extra_body == extra
