"""Results for people and other programs: tables, pages that open from disk, JSON, numbers for trackers.

summary.py     counts of a run and sentences about them
tables/        results as tables; terminal, CSV, Markdown, LaTeX
serialize.py   results as JSON
figures.py     SVG
pages/         HTML pages
trackers/      experiment trackers
"""

from robogaze.core.key_frames import frames_to_show
from robogaze.reporting.pages.notebook import report_html
from robogaze.reporting.pages.run import ClipPage, render_html
from robogaze.reporting.tables.clips import clip_table, summary_lines

__all__ = ["ClipPage", "clip_table", "frames_to_show", "render_html", "report_html", "summary_lines"]
