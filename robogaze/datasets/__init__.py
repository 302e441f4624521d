"""Clips on disk: which there are, and what they were generated for."""

from robogaze.datasets.manifest import Entry, find_entries

__all__ = ["Entry", "find_entries"]
