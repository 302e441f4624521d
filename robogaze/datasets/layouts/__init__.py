"""Clips as others lay them out, read as entries of a manifest.

read.py        the way in: a path -> its layout -> entries, and what was ignored and why
source.py      which files there are
base.py        what an importer is, and what it fills
rows.py        rows that describe a clip, whatever they are written in; arrow.py reads and writes Parquet
archives.py    tar files, gone through within bounds
unpack.py      clips in archives, written as files of their own
check.py       whether the clips of a manifest are what it says
one module a layout; a new one is written like these and named in read.py
"""

from robogaze.datasets.layouts.importer import AUTO, IMPORTERS, Imported, import_clips, manifest_text, with_content
from robogaze.datasets.layouts.unpack import placed, unpack
from robogaze.datasets.layouts.webdataset import UNPACKED

__all__ = [
    "AUTO",
    "IMPORTERS",
    "UNPACKED",
    "Imported",
    "import_clips",
    "manifest_text",
    "placed",
    "unpack",
    "with_content",
]
