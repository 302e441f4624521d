"""How a learned tracker is named, and what is said where it cannot be used; with weights it runs in tests/servers."""

import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

from robogaze.backends import Models, ModelsConfig
from robogaze.errors import InputError, MissingExtra

EYES = {"models": {"eyes": {"kind": "scripted", "name": "x.yaml"}}, "roles": {"vlm": "eyes"}}


def config(**tracker: str) -> ModelsConfig:
    return ModelsConfig.model_validate({**EYES, **({"tracker": tracker} if tracker else {})})


def test_without_its_packages_the_way_to_them_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    (tmp_path / "x.yaml").write_text("[]\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MissingExtra, match=r"pip install 'robogaze\[transformers\]'"):
        Models.open(config(sam3="facebook/sam3"), None, {})


def test_a_tracker_is_part_of_what_reports_depend_on_and_its_absence_is_not_told() -> None:
    assert config(sam3="facebook/sam3").essence()["tracker"] == {"sam3": "facebook/sam3"}
    assert "tracker" not in config().essence()


@pytest.mark.parametrize("wrong", [{"sam4": "x"}, {"sam3": ""}, {"sam3": "x", "device": "cuda"}])
def test_a_tracker_is_sam3_and_nothing_else(wrong: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        config(**wrong)


def test_a_mistake_in_the_file_is_told_with_its_key(tmp_path: Path) -> None:
    file = tmp_path / "models.yaml"
    file.write_text("models: {eyes: {kind: scripted, name: x.yaml}}\nroles: {vlm: eyes}\ntracker: {sam4: x}\n")
    with pytest.raises(InputError, match=r"models\.yaml:3: tracker\.sam4: unknown key"):
        ModelsConfig.read(str(file))
