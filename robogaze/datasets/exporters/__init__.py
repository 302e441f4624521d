"""Reports in the forms that others read.

write.py       the way out: reports -> a format -> files, and what was left out and why
base.py        what an exporter is, and what it is given
records.py     reports as rows, for the tables among the formats
subset.py      the clips that pass, as a manifest; episodes.py, as numbers of episodes
one module a format; a new one is written like these and named in write.py
"""

from robogaze.datasets.episodes import Episodes, clean_episodes
from robogaze.datasets.exporters.write import EXPORTERS, Export, export_reports
from robogaze.datasets.subset import clean_entries

__all__ = ["EXPORTERS", "Episodes", "Export", "clean_entries", "clean_episodes", "export_reports"]
