"""Data sets: lists of clips (`manifest`, `layouts`), and annotations of them (`formats`).

manifest        entries: the clips to score, from sidecars or a JSONL file
layouts         folders of clips, as other tools arrange them -> a manifest; one file per layout
manifest_check  checks of a manifest's clips
formats         annotations in the formats of other tools, read and written; one file per format
pairing         references and predictions of the same clips
clean_clips     the clips of a run that are clean -> a manifest, episodes
documents       text files: JSON, JSONL, tables
"""

from robogaze.datasets.manifest import ManifestEntry, UnusableEntry, file_sha256, find_entries, with_ids

__all__ = ["ManifestEntry", "UnusableEntry", "file_sha256", "find_entries", "with_ids"]
