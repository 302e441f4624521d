"""The shelves of data that come with the package."""

import pytest

from robogaze.domains import domain_folders
from robogaze.domains.resources import resource_folder


@pytest.mark.parametrize("name", ["taxonomy", "prompts", "judges", "datasets"])
def test_every_resource_folder_is_found_from_any_working_directory(
    name: str, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert resource_folder(name).is_absolute()
    assert any(resource_folder(name).iterdir())


def test_the_taxonomy_folder_has_the_built_in_domains() -> None:
    assert {folder.parent for folder in domain_folders().values()} == {resource_folder("taxonomy")}
    assert "robot" in domain_folders()


def test_a_missing_resource_folder_is_named_with_the_places_searched() -> None:
    with pytest.raises(FileNotFoundError, match=r"lacks its no_such folder \(looked for .*_resources.*no_such or "):
        resource_folder("no_such")
