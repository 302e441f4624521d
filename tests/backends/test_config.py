"""Model specs, models files, keys."""

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
def test_a_spec_is_kind_name_and_address(spec: str, wanted: tuple[Any, ...]) -> None:
    model = ModelConfig.parse(spec)
    assert (model.kind, model.name, model.url) == wanted


@pytest.mark.parametrize("spec", ["gpt-5", "vllm:m", "openai:", ":m", ""])
def test_another_form_is_refused_with_the_right_one(spec: str) -> None:
    with pytest.raises(InputError, match=r"KIND:NAME\[@URL\]"):
        ModelConfig.parse(spec)


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("openai:m@host:8000/v1", "url must begin with http:// or https://, not 'host:8000/v1'"),
        ("openai:m@v2", "url must begin with http:// or https://, not 'v2'"),
        ("openai:x@http://user:pw@host/v1", "url holds a user or a password"),
        ("openai:x@user:pw@host/v1", "url must begin with http:// or https://"),
        ("openai:x@http:///v1", "url names no host"),
        ("openai:x@localhost:8133", "the model openai:x cannot be used: url must begin"),
        ("openai:x@localhost:8133", "write openai:x@http://localhost:8133/v1"),
        ("openai:x@localhost:8133/v1", "write openai:x@http://localhost:8133/v1"),
        ("openai:x@user:pw@host", "write openai:NAME@http://host/v1"),
        ("openai:x@http://h/v1?key=pw", "url holds a query"),
        ("openai:x@http://h/v1#pw", "url holds a query"),
        ("openai:x@http://h:pw/v1", "url names no host, or a port that is none"),
        ("openai:x@http://[pw/v1", "url names no host, or a port that is none"),
    ],
)
def test_an_address_is_checked_before_anything_is_asked_and_no_secret_is_told(spec: str, says: str) -> None:
    with pytest.raises(InputError) as error:
        ModelsConfig.read(spec)
    assert says in str(error.value)
    assert "pw" not in str(error.value)
    assert "\n" not in str(error.value)


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
        (("models:", "models: ["), "not valid YAML"),
        (("frames: uniform 16", "frames: 4"), "models.eyes.frames: a frame regime is 'uniform N', 'F fps'"),
        (("frames: uniform 16", "frames: 4 fsp"), "models.eyes.frames: a frame regime is 'uniform N', 'F fps'"),
        (("frames: uniform 16", "frames: 4 fps, limits: {cost_usd: 3}"), "limits.cost_usd needs price"),
        (("frames: uniform 16", "patience: {attempts: 0}"), "models.eyes.patience.attempts: Input should be greater"),
        (("frames: uniform 16", "patience: {first_wait_s: 60}"), "longest_wait_s is shorter than first_wait_s"),
        (('url: "http://127.0.0.1:8000/v1"', "url: 127.0.0.1:8000/v1"), "models.eyes: url must begin with http://"),
        (('"http://127.0.0.1:8000/v1"', '"http://me:pw@127.0.0.1:8000/v1"'), "models.eyes: url holds a user"),
        (("frames: uniform 16", "extra_body: {api_key: pw}"), "models.eyes: extra_body.api_key looks like a secret"),
        (("frames: uniform 16", "extra_body: {a: [{X-API-Key: pw}]}"), "extra_body.a.0.X-API-Key looks like a secret"),
        (("frames: uniform 16", "extra_body: {h: Bearer pw}"), "extra_body.h looks like a secret"),
        (("frames: uniform 16", "extra_body: {user: sk-proj-0123456789abcdef}"), "extra_body.user looks like a secret"),
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
    assert "pw" not in str(error.value)


@pytest.mark.parametrize("content", ["", "# nothing\n", "[]", "eyes", "3"])
def test_a_models_file_that_holds_none_says_what_belongs_there(tmp_path: Path, content: str) -> None:
    path = tmp_path / "models.yaml"
    path.write_text(content)
    with pytest.raises(InputError, match=r"models\.yaml(:1)?: holds no models: it needs the keys models and roles"):
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
def test_a_regime_never_shows_more_pictures_than_the_model_takes(given: str, present: str, shown: str) -> None:
    config = ModelConfig.model_validate({"kind": "scripted", "frames": given, "present": present, "max_pictures": 16})
    assert str(config.frames) == shown
    assert str(config.with_(max_pictures=99).frames) == shown, "what was thinned out does not come back"


def test_what_paces_prices_or_unlocks_the_asking_is_not_what_answers_depend_on() -> None:
    config = ModelsConfig.model_validate(
        {
            "models": {
                "eyes": {
                    "kind": "openai", "name": "m", "url": "http://h/v1", "timeout_s": 9, "api_key_env": "KEY",
                    "price": {"prompt_usd": 1, "completion_usd": 1}, "limits": {"calls": 9},
                    "patience": {"attempts": 9},
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
    assert config.essence() == plain.essence()
    assert config.essence()["models"]["eyes"].keys() == {
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


def test_the_vendors_key_goes_to_the_vendor_only() -> None:
    environ = {"OPENAI_API_KEY": "secret", "MINE": "mine"}
    vendor, own = ModelConfig.parse("openai:m"), ModelConfig.parse("openai:m@http://127.0.0.1:1/v1")
    assert key_sent(vendor, environ) == "secret"
    assert key_sent(own, environ) == "None"
    assert key_sent(own, {**environ, "ROBOGAZE_API_KEY": "lab"}) == "lab"
    assert key_sent(own.with_(api_key_env="MINE"), environ) == "mine"


def test_a_key_that_is_not_set_is_named() -> None:
    with pytest.raises(InputError, match="OPENAI_API_KEY is not set"):
        key_sent(ModelConfig.parse("openai:m"), {})
    with pytest.raises(InputError, match="api_key_env names MINE"):
        key_sent(ModelConfig.parse("openai:m").with_(api_key_env="MINE"), {})


@pytest.mark.parametrize(
    ("key", "says"), [("", "is empty"), ("  ", "is empty"), ("sk-a\n", "line break"), ("sk-ä", "no key has")]
)
def test_a_key_that_cannot_be_one_is_refused_by_its_variable(key: str, says: str) -> None:
    for model, variable in (
        (ModelConfig.parse("openai:m"), "OPENAI_API_KEY"),
        (ModelConfig.parse("openai:m@http://h/v1").with_(api_key_env="MINE"), "MINE"),
    ):
        with pytest.raises(InputError, match=says) as error:
            key_sent(model, {variable: key})
        assert variable in str(error.value)
        assert "sk-" not in str(error.value)


def test_an_empty_key_for_a_server_of_ones_own_is_none() -> None:
    assert key_sent(ModelConfig.parse("openai:m@http://h/v1"), {"ROBOGAZE_API_KEY": ""}) == "None"


def test_a_key_that_is_written_down_as_well_is_refused() -> None:
    for fields in ({"extra_body": {"user": "0123456789"}}, {"url": "http://h/0123456789/v1"}, {"server": "0123456789"}):
        config = ModelConfig.model_validate({"kind": "openai", "name": "m", "url": "http://h/v1", **fields})
        with pytest.raises(InputError, match="reports would show"):
            key_sent(config, {"ROBOGAZE_API_KEY": "0123456789"})


def test_settings_that_only_sound_like_secrets_are_taken() -> None:
    extra = {"max_tokens": 5, "stop_token": "x", "prompt_cache_key": "clips", "skip_special_tokens": True, "key": None}
    assert ModelConfig(kind="openai", name="m", extra_body=extra).extra_body == extra
