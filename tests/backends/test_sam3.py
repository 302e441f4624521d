"""The configuration of a learned tracker and its errors; with weights it runs in tests/servers."""

import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

from robogaze.backends import Models, ModelsConfig
from robogaze.errors import InputError, MissingExtra

EYES = {"models": {"eyes": {"kind": "scripted", "name": "x.yaml"}}, "roles": {"vlm": "eyes"}}


def config(**tracker: str) -> ModelsConfig:
    return ModelsConfig.model_validate({**EYES, **({"tracker": tracker} if tracker else {})})


def test_missing_package_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    (tmp_path / "x.yaml").write_text("[]\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MissingExtra, match=r"pip install 'robogaze\[transformers\]'"):
        Models.open(config(sam3="facebook/sam3"), None, {})


def test_tracker_is_part_of_the_answer_settings() -> None:
    assert config(sam3="facebook/sam3").answer_settings()["tracker"] == {"sam3": "facebook/sam3"}
    assert "tracker" not in config().answer_settings()


@pytest.mark.parametrize("wrong", [{"sam4": "x"}, {"sam3": ""}, {"sam3": "x", "device": "cuda"}])
def test_only_sam3_is_accepted(wrong: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        config(**wrong)


def test_unknown_key_is_named_with_file_and_line(tmp_path: Path) -> None:
    file = tmp_path / "models.yaml"
    file.write_text("models: {eyes: {kind: scripted, name: x.yaml}}\nroles: {vlm: eyes}\ntracker: {sam4: x}\n")
    with pytest.raises(InputError, match=r"models\.yaml:3: tracker\.sam4: unknown key"):
        ModelsConfig.read(str(file))
