"""Clips on disk: which there are, and what they were generated for."""

from robogaze.datasets.manifest import ManifestEntry, UnusableEntry, file_sha256, find_entries, with_ids

__all__ = ["ManifestEntry", "UnusableEntry", "file_sha256", "find_entries", "with_ids"]
