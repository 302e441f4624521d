"""forge.yaml: what a domain has planted, and what is said of one that does not hold together."""

from pathlib import Path

import pytest
from domains.folders import make_folder

from robogaze.errors import DomainError, InputError
from robogaze.forge.plant.edit import PLANTERS
from robogaze.forge.plant.recipe import FILE, PlantingConfig, filled, read_recipe

PLANT = """\
schema_version: 1
plants:
  - planter: erase
    type: disappearance
    severity: {3: 0.0, 5: 0.5}
    describe: "Something {where} is gone from {start} on."
"""

WORDS = """\
  - planter: reword
    type: disappearance
    severity: {4: 0.0}
    describe: "The {old}, not the {new}."
    words:
      find: 'the (?P<slot>cup|pot)'
      instead: [cup, pot]
"""


def kitchen(tmp_path: Path, text: str) -> Path:
    """A domain with a forge.yaml."""
    folder = make_folder(tmp_path)
    (folder / FILE).write_text(text, encoding="utf-8")
    return folder


def test_the_built_in_domain_uses_every_planter(recipe: PlantingConfig) -> None:
    assert {plant.planter for plant in recipe.plants.values()} == PLANTERS.keys()


def test_a_domain_brings_its_own(tmp_path: Path) -> None:
    recipe = read_recipe(kitchen(tmp_path, PLANT + WORDS))
    assert {name: plant.type for name, plant in recipe.plants.items()} == dict.fromkeys(
        ("erase", "reword"), "disappearance"
    )


def test_a_domain_without_one_plants_nothing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"the domain kitchen plants nothing: it has no forge\.yaml"):
        read_recipe(make_folder(tmp_path))


def test_the_level_is_the_highest_that_holds_at_a_strength(tmp_path: Path) -> None:
    plant = read_recipe(kitchen(tmp_path, PLANT)).plants["erase"]
    assert [plant.level(strength) for strength in (0.0, 0.49, 0.5, 1.0)] == [3, 3, 5, 5]


def test_plants_are_chosen_by_name(recipe: PlantingConfig) -> None:
    assert [plant.id for plant in recipe.chosen(("tint", "smear"))] == ["smear", "tint"]
    assert len(recipe.chosen(())) == len(recipe.plants)
    with pytest.raises(InputError, match=r"the domain robot plants no 'smaer' \(but smear, "):
        recipe.chosen(("smaer",))


def test_a_description_begins_with_a_capital() -> None:
    assert filled("{where} is dark", {"where": "the picture"}) == "The picture is dark"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("planter: erase", "planter: rub_out", "there is no planter 'rub_out'"),
        ("type: disappearance", "type: theft", "'theft' is not in the taxonomy"),
        ("severity: {3: 0.0, 5: 0.5}", "severity: {3: 0.1}", "no level holds from strength 0 on"),
        ("severity: {3: 0.0, 5: 0.5}", "severity: {3: 0.5, 5: 0.0}", "a higher level must hold from a higher strength"),
        ("severity: {3: 0.0, 5: 0.5}", "severity: {6: 0.0}", "less than or equal to 5"),
        ("{where}", "{whither}", "{whither} stands for nothing"),
        ("{where}", "{where", "cannot be filled in"),
        ("planter: erase", "planter: reword", "reword needs 'words'"),
        ("planter: reword", "planter: cover", "reword needs 'words', and no other planter has any"),
        ("(?P<slot>cup|pot)", "(cup|pot)", "needs the group 'slot'"),
        ("(?P<slot>cup|pot)", "(?P<slot>cup|pot", "no regular expression"),
        ("      instead: [cup, pot]\n", "", "belongs to a 'slot', and a slot needs it"),
        ("    type", "    colour: red\n    type", "colour: unknown key"),
        ("planter: reword", "planter: erase\n    name: reword", "reword needs 'words'"),
    ],
)
def test_a_fault_is_told_with_its_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    folder = kitchen(tmp_path, (PLANT + WORDS).replace(old, new, 1))
    with pytest.raises(DomainError) as error:
        read_recipe(folder)
    assert message in str(error.value)
    assert error.value.line is not None


def test_two_plants_of_one_planter_need_names(tmp_path: Path) -> None:
    again = PLANT.split("plants:\n")[1]
    with pytest.raises(DomainError, match="'erase' is planted twice; give each a name"):
        read_recipe(kitchen(tmp_path, PLANT + again))
    named = kitchen(tmp_path / "b", PLANT + again.replace("- planter", "- name: other\n    planter"))
    assert list(read_recipe(named).plants) == ["erase", "other"]


def test_a_further_dimension_is_one_of_the_taxonomy_and_not_the_type_s_own(tmp_path: Path) -> None:
    for name in ("taste", "consistency"):
        text = PLANT.replace("    severity", f"    secondary: [{name}]\n    severity")
        with pytest.raises(DomainError, match=f"'{name}' is no further dimension"):
            read_recipe(kitchen(tmp_path / name, text))
