"""Reports and foreign annotations, read as accounts.

read.py        the way in: files -> documents -> the format -> parts -> accounts; what does not fit, and what is
               there twice
files.py       which files of a folder
documents.py   a JSON file, a line of JSONL, a table; places.py finds the line of a key
base.py        what a format is; what it is read with: labels.py (taxonomy and aliases), axis.py (seconds and
               frames), notes.py (what was left out or understood in a certain way), foreign.py (checked types)
one module a format: report, robogaze_demo, robogaze_release, videoglitchbench, gbqa, activitynet, label_studio,
               csv_rows; a new one is written like these and named in read.py
"""

from robogaze.datasets.formats.labels import Labels, load_labels
from robogaze.datasets.formats.notes import Notes, Skipped
from robogaze.datasets.formats.read import FORMATS, Accounts, iter_accounts, read_accounts

__all__ = ["FORMATS", "Accounts", "Labels", "Notes", "Skipped", "iter_accounts", "load_labels", "read_accounts"]
