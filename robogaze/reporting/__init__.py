"""Reports for people: pages that open from disk and need nothing else, and tables for a terminal."""

from robogaze.core.key_frames import frames_to_show
from robogaze.reporting.pages.run import Page, render_html
from robogaze.reporting.tables.clips import clip_table, summary_lines

__all__ = ["Page", "clip_table", "frames_to_show", "render_html", "summary_lines"]
