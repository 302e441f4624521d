"""forge.yaml: the glitches of a domain, and errors for invalid ones."""

from pathlib import Path

import pytest
from domains.folders import make_folder

from robogaze.errors import DomainError, InputError
from robogaze.forge.plant import PLANTERS
from robogaze.forge.plant.planting_config import FILE, PlantingConfig, load_planting_config

PLANT = """\
schema_version: 1
glitches:
  - planter: erase
    type: disappearance
    severity: {3: 0.0, 5: 0.5}
    description: "Something {where} is gone from {start} on."
"""

WORDS = """\
  - planter: reword
    type: disappearance
    severity: {4: 0.0}
    description: "The {old}, not the {new}."
    instruction_change:
      pattern: 'the (?P<slot>cup|pot)'
      replacements: [cup, pot]
"""


def kitchen(tmp_path: Path, text: str) -> Path:
    """A domain with a forge.yaml."""
    folder = make_folder(tmp_path)
    (folder / FILE).write_text(text, encoding="utf-8")
    return folder


def test_the_built_in_domain_uses_every_planter(config: PlantingConfig) -> None:
    assert {glitch.planter for glitch in config.glitches.values()} == set(PLANTERS.names())
    assert all(PLANTERS.load(name) for name in PLANTERS.names())


def test_a_domain_without_the_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"the domain kitchen has no forge\.yaml, so nothing can be planted"):
        load_planting_config(make_folder(tmp_path))


def test_the_severity_is_the_highest_level_that_applies(tmp_path: Path) -> None:
    glitch = load_planting_config(kitchen(tmp_path, PLANT)).glitches["erase"]
    assert [glitch.level(strength) for strength in (0.0, 0.49, 0.5, 1.0)] == [3, 3, 5, 5]


def test_glitches_are_selected_by_name(config: PlantingConfig) -> None:
    assert [glitch.id for glitch in config.select(("tint", "smear"))] == ["smear", "tint"]
    assert len(config.select(())) == len(config.glitches)
    with pytest.raises(InputError, match=r"the domain robot has no glitch 'smaer'; known: smear, "):
        config.select(("smaer",))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("planter: erase", "planter: rub_out", "unknown planter 'rub_out'; known: smear, "),
        ("type: disappearance", "type: theft", "'theft' is not in the taxonomy"),
        ("severity: {3: 0.0, 5: 0.5}", "severity: {3: 0.1}", "one level must apply from strength 0"),
        (
            "severity: {3: 0.0, 5: 0.5}",
            "severity: {3: 0.5, 5: 0.0}",
            "a higher level must apply from a higher",
        ),
        ("severity: {3: 0.0, 5: 0.5}", "severity: {6: 0.0}", "less than or equal to 5"),
        ("{where}", "{whither}", "unknown field {whither}"),
        ("{where}", "{where", "is not a valid format string"),
        ("planter: erase", "planter: reword", "reword needs 'instruction_change'"),
        ("planter: reword", "planter: cover", "reword needs 'instruction_change'; no other planter may have"),
        ("(?P<slot>cup|pot)", "(cup|pot)", "needs the group 'slot'"),
        ("(?P<slot>cup|pot)", "(?P<slot>cup|pot", "is not a regular expression"),
        ("      replacements: [cup, pot]\n", "", "is required with the group 'slot'"),
        ("    type", "    colour: red\n    type", "colour: unknown key"),
        ("planter: reword", "planter: erase\n    name: reword", "reword needs 'instruction_change'"),
    ],
)
def test_an_invalid_file_is_an_error_with_its_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    folder = kitchen(tmp_path, (PLANT + WORDS).replace(old, new, 1))
    with pytest.raises(DomainError) as error:
        load_planting_config(folder)
    assert message in str(error.value)
    assert error.value.line is not None


def test_two_glitches_of_one_planter_need_names(tmp_path: Path) -> None:
    again = PLANT.split("glitches:\n")[1]
    with pytest.raises(DomainError, match="'erase' is used twice; give each glitch a different name"):
        load_planting_config(kitchen(tmp_path, PLANT + again))
    named = kitchen(tmp_path / "b", PLANT + again.replace("- planter", "- name: other\n    planter"))
    assert list(load_planting_config(named).glitches) == ["erase", "other"]


def test_a_secondary_dimension_is_another_one_of_the_taxonomy(tmp_path: Path) -> None:
    for name in ("taste", "consistency"):
        text = PLANT.replace("    severity", f"    secondary: [{name}]\n    severity")
        message = f"'{name}' is not a dimension of the domain, or is the glitch's own dimension"
        with pytest.raises(DomainError, match=message):
            load_planting_config(kitchen(tmp_path / name, text))
