"""Formats of annotations: reads the files of other tools as `ClipAnnotation`, and writes reports for other tools.

read           files -> documents -> the format -> parts -> annotations, and what was skipped
export         reports -> the files of a format, and what was left out
base           what a format is (`Format`), and what it gets while it reads (`ReadingContext`)
label_mapping  other people's labels -> a taxonomy's ids
time_axis      seconds and frames -> spans
records        strict types for the records of a format

Each format is one module that reads it, writes it, or both. A new format needs a module like these and a line in
FORMATS; another package adds a format as an entry point in the group `robogaze.formats` (docs/formats.md, "Add a
format").
"""

from robogaze.datasets.formats.base import Format
from robogaze.registry import Registry

FORMATS: Registry[Format] = Registry(
    "formats",
    {
        "report": "robogaze.datasets.formats.report:FORMAT",
        "csv": "robogaze.datasets.formats.csv_events:FORMAT",
        "robogaze_demo": "robogaze.datasets.formats.robogaze_demo:FORMAT",
        "robogaze_release": "robogaze.datasets.formats.robogaze_release:FORMAT",
        "videoglitchbench": "robogaze.datasets.formats.videoglitchbench:FORMAT",
        "gbqa": "robogaze.datasets.formats.gbqa:FORMAT",
        "gbqa_markdown": "robogaze.datasets.formats.gbqa_markdown:FORMAT",
        "activitynet": "robogaze.datasets.formats.activitynet:FORMAT",
        "label_studio": "robogaze.datasets.formats.label_studio:FORMAT",
        "via": "robogaze.datasets.formats.via:FORMAT",
        "parquet": "robogaze.datasets.formats.parquet:FORMAT",
        "fiftyone": "robogaze.datasets.formats.fiftyone:FORMAT",
        "webvtt": "robogaze.datasets.formats.webvtt:FORMAT",
    },
)

__all__ = ["FORMATS", "Format"]
