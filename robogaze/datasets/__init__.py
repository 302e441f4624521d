"""Clips on disk: which there are, and what they were generated for."""

from robogaze.datasets.manifest import Entry, file_sha256, find_entries

__all__ = ["Entry", "file_sha256", "find_entries"]
