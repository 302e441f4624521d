"""Clips on disk: which there are, and what they were generated for."""

from robogaze.datasets.manifest import Entry, UnusableEntry, file_sha256, find_entries, with_ids

__all__ = ["Entry", "UnusableEntry", "file_sha256", "find_entries", "with_ids"]
