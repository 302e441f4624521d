"""Finds arrived clips in the run folder of their checkpoint, so that no clip is scored twice or lost."""

import logging
from collections.abc import Mapping
from hashlib import sha256

from robogaze.datasets import ManifestEntry
from robogaze.run.arrivals import Arrival
from robogaze.store import ManifestLine, StoredRun

_log = logging.getLogger("robogaze")

_KEPT = ("prompt_id", "checkpoint", "split", "task_family", "embodiment", "layout", "start_s", "end_s")
"""Fields that a clip keeps from its first report on."""


def as_known(stored: StoredRun, arrivals: Mapping[str, Arrival]) -> Mapping[str, ManifestEntry]:
    """The entries of clips. Clips that the run folder already contains keep their ids and fields from there.

    A clip is recognised by its path. If the path in the run folder no longer exists, the clip may have been renamed; it
    is then recognised by its size and modification time.
    """
    lines = {(line.path, line.start_s, line.end_s): line for line in stored.lines}
    moved = {
        (line.size_bytes, line.modified_ns): line for line in stored.lines if not (stored.root / line.path).exists()
    }
    taken = {line.clip_id: line.path for line in stored.lines}
    entries = {}
    for key, arrival in arrivals.items():
        entry, path = arrival.entry, stored.address(arrival.entry.path)
        line = lines.get((path, entry.start_s, entry.end_s)) or moved.get(arrival.stamp[0] or (None, None))
        if line is not None:
            entry = _with_line(entry, line, stored)
        elif taken.setdefault(entry.clip_id or "", path) != path:
            entry = entry.with_(clip_id=f"{entry.clip_id}-{sha256(key.encode()).hexdigest()[:8]}")
        entries[key] = entry
    return entries


def _with_line(entry: ManifestEntry, line: ManifestLine, stored: StoredRun) -> ManifestEntry:
    """An entry with the clip id of its line; if this clip has a report, also with the fields of the line."""
    known = entry.with_(clip_id=line.clip_id)
    if not stored.has_report(line.clip_id):
        return known
    fields = {name: getattr(line, name) for name in _KEPT}
    if changed := [name for name, value in fields.items() if getattr(entry, name) != value]:
        _log.warning(
            "%s: the %s changed after the clip was scored; the report is kept", line.clip_id, " and ".join(changed)
        )
    return known.with_(**fields)


def missing_clips(stored: StoredRun) -> Mapping[str, Arrival]:
    """The clips that an earlier start added but did not score, and whose files no longer exist."""
    known = {clip.uri for clip in stored.unreadable}
    missing = {}
    for line in stored.lines:
        path = stored.root / line.path
        if not (path.exists() or stored.has_report(line.clip_id) or line.path in known):
            entry = ManifestEntry(path=path, clip_id=line.clip_id, checkpoint=line.checkpoint)
            missing[line.clip_id] = Arrival(line.clip_id, entry, (None,))
    return missing
