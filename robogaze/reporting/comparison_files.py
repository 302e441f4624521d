"""The files of a comparison: comparison.json, its tables (see `table_files`), and the page."""

import json
from pathlib import Path

from robogaze.comparison import Comparison, GateCheck
from robogaze.reporting.pages.bundles import WrittenPage
from robogaze.reporting.pages.comparison import write_comparison_page
from robogaze.reporting.serialize import comparison_json
from robogaze.reporting.tables import table_files
from robogaze.reporting.tables.comparison import comparison_tables
from robogaze.store import write_whole


def write_comparison(
    result: Comparison, folder: Path, checks: tuple[GateCheck, ...] | None = None, domain: str | None = None
) -> WrittenPage:
    """Write all files into a folder, which is made if it does not exist.

    `checks` are the checks of a gate. `domain` is the name of a domain; the page shows its names of types and
    dimensions.
    """
    folder.mkdir(parents=True, exist_ok=True)
    document = json.dumps(comparison_json(result, checks), ensure_ascii=False, indent=1)
    write_whole(folder / "comparison.json", f"{document}\n")
    for name, text in table_files(list(comparison_tables(result, checks))):
        write_whole(folder / name, text)
    return write_comparison_page(result, folder, checks, domain)
