"""Layouts: read folders of clips from other tools, and list the clips as entries of a manifest.

importer     a path -> its layout -> entries, and what was ignored and why
base         the types: a layout (`FolderLayout`), the source that it reads, and the result
table        the layout of tables, and the rows that other layouts read
tar_files    tar files, read within limits

Each layout is one module. A new layout needs a module like these and a line in LAYOUTS; another package adds a layout
as an entry point in the group `robogaze.layouts` (docs/datasets.md, "Add a layout").
"""

from robogaze.datasets.layouts.base import FolderLayout
from robogaze.registry import Registry

LAYOUTS: Registry[FolderLayout] = Registry(
    "layouts",
    {
        "table": "robogaze.datasets.layouts.table:LAYOUT",
        "lerobot": "robogaze.datasets.layouts.lerobot:LAYOUT",
        "robogaze": "robogaze.datasets.layouts.robogaze_release:LAYOUT",
        "cosmos": "robogaze.datasets.layouts.cosmos:LAYOUT",
        "dreamdojo": "robogaze.datasets.layouts.dreamdojo:LAYOUT",
        "videoglitchbench": "robogaze.datasets.layouts.videoglitchbench:LAYOUT",
        "videofolder": "robogaze.datasets.layouts.videofolder:LAYOUT",
        "webdataset": "robogaze.datasets.layouts.webdataset:LAYOUT",
        "dreamgen": "robogaze.datasets.layouts.dreamgen:LAYOUT",
        "plain": "robogaze.datasets.layouts.plain:LAYOUT",
    },
)
"""The layouts by name. The first layout that recognises a path reads it, so more specific layouts come first."""

__all__ = ["LAYOUTS", "FolderLayout"]
