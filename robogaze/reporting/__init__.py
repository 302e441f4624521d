"""Reports for people: one HTML file that needs nothing else, and tables for a terminal."""

from robogaze.reporting.html import Page, frames_to_show, render_html
from robogaze.reporting.tables import clip_table, summary_lines

__all__ = ["Page", "clip_table", "frames_to_show", "render_html", "summary_lines"]
