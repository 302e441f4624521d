"""docs/forge-sheets.md shows a sheet for each type and for each way to be unusual and right."""

import re
from pathlib import Path

import pytest

pytest.importorskip("mujoco", reason="needs the simulator: pip install 'robogaze[forge]'")

from robogaze.forge.simulate.simulation_config import SimulationConfig

DOCS = Path(__file__).parents[3] / "docs"
SHEETS = {path.stem: path for path in (DOCS / "pictures" / "forge").iterdir()}


def test_there_is_a_sheet_of_everything_and_the_page_shows_it(recipe: SimulationConfig) -> None:
    shown = re.findall(r"\]\(pictures/forge/([\w-]+)\.webp\)", (DOCS / "forge-sheets.md").read_text())
    assert sorted(shown) == sorted(SHEETS)
    wanted = {*recipe.types, *(f"clean-{one.make}" for one in recipe.clean if one.make != "plain")}
    assert wanted <= set(SHEETS)


def test_sheets_are_small() -> None:
    sizes = [path.stat().st_size for path in SHEETS.values()]
    assert max(sizes) < 60_000
    assert sum(sizes) < 1_600_000
