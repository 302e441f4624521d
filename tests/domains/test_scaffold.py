"""The beginnings of a user's own domain."""

from pathlib import Path

import pytest

from robogaze.domains import domain_folders, load_domain
from robogaze.domains.scaffold import scaffold
from robogaze.errors import InputError


# `no`, `null`, 2024 and 1e3 are no texts to YAML.
@pytest.mark.parametrize("name", ["kitchen", "kitchen_v2", "no", "null", "2024", "1e3", "_", "x" * 64])
def test_a_domain_of_any_name_loads_as_it_was_begun(tmp_path: Path, name: str) -> None:
    scaffold(tmp_path / name)
    domain = load_domain(tmp_path / name)
    assert domain.id == name
    assert list(domain.pipelines) == ["specialists", "vanilla"]
    assert len(domain.types) == 1


def test_the_written_files_are_returned(tmp_path: Path) -> None:
    folder = tmp_path / "kitchen"
    written = scaffold(folder)
    assert set(written) == {path for path in folder.rglob("*") if path.is_file()}
    assert folder / "domain.yaml" in written


def test_the_prompts_of_a_new_domain_are_the_shared_ones(tmp_path: Path) -> None:
    scaffold(tmp_path / "kitchen")
    prompts = load_domain(tmp_path / "kitchen").prompts
    for name in ("system", "context", "retry", "vanilla", "propose", "verify"):
        assert prompts.path(name).is_file()


@pytest.mark.parametrize("name", ["My Kitchen", "kitchen-2", "Küche", "x" * 65])
def test_a_name_that_no_domain_can_have_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="cannot be the name of a domain"):
        scaffold(tmp_path / name)
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize("name", domain_folders())
def test_the_name_of_a_built_in_domain_is_taken(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=f"{name} is a built-in domain"):
        scaffold(tmp_path / name)


def test_what_is_there_is_never_written_over(tmp_path: Path) -> None:
    folder = tmp_path / "kitchen"
    folder.mkdir()
    with pytest.raises(InputError, match="exists; choose a folder"):
        scaffold(folder)
    assert not any(folder.iterdir())


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"kitchen cannot be written \(Not a directory\)"):
        scaffold(tmp_path / "file" / "kitchen")
