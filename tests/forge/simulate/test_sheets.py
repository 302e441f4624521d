"""docs/forge-sheets.md has a sheet for each type and each clean variation."""

import re
from pathlib import Path

import pytest

pytest.importorskip("mujoco", reason="needs the simulator: pip install 'robogaze[forge]'")

from robogaze.forge.simulate.simulation_config import SimulationConfig

DOCS = Path(__file__).parents[3] / "docs"
SHEETS = {path.stem: path for path in (DOCS / "pictures" / "forge").iterdir()}


def test_every_type_and_variation_has_a_sheet_on_the_page(config: SimulationConfig) -> None:
    shown = re.findall(r"\]\(pictures/forge/([\w-]+)\.webp\)", (DOCS / "forge-sheets.md").read_text())
    assert sorted(shown) == sorted(SHEETS)
    wanted = {*config.types, *(f"clean-{variation.make}" for variation in config.clean if variation.make != "plain")}
    assert wanted <= set(SHEETS)


def test_sheets_are_small() -> None:
    sizes = [path.stat().st_size for path in SHEETS.values()]
    assert max(sizes) < 60_000
    assert sum(sizes) < 1_600_000
