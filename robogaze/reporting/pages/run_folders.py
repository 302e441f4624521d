"""Finds the run folders from which annotations were read, to link to the pages and videos of these runs."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from robogaze.core.annotation import ClipAnnotation
from robogaze.reporting.pages.videos import VideoFile
from robogaze.store import ManifestLine, StoredRun


@dataclass(frozen=True)
class RunFolders:
    """The run folders to which a page in `folder` can link; addresses are relative to `folder`. Each manifest is read
    only once.
    """

    folder: Path
    _runs: dict[Path, StoredRun | None] = field(default_factory=dict)
    _lines: dict[Path, Mapping[str, ManifestLine]] = field(default_factory=dict)

    def run_of(self, annotation: ClipAnnotation) -> StoredRun | None:
        """The run folder from which an annotation was read, as `reports/<clip id>.json`. None if it was read from
        somewhere else.
        """
        root = Path(annotation.source).parent.parent
        if root not in self._runs:
            run = StoredRun(root) if (root / "run.json").is_file() else None
            self._runs[root] = run
            self._lines[root] = {} if run is None else {line.clip_id: line for line in run.lines}
        return self._runs[root]

    def page_of(self, annotation: ClipAnnotation) -> str | None:
        """The address of the page of an annotation's run; None if there is no page."""
        run = self.run_of(annotation)
        page = None if run is None else run.root / "index.html"
        return self.address(page) if page is not None and page.is_file() else None

    def single_page(self, annotations: Iterable[ClipAnnotation]) -> str | None:
        """The address of the page of the run from which all these annotations were read. None if they are from several
        runs, or if there is no page.
        """
        found = set(map(self.page_of, annotations))
        return found.pop() if len(found) == 1 else None

    def video_of(self, annotation: ClipAnnotation) -> VideoFile:
        """The video of an annotated clip. Its path is None if the video is not known."""
        run = self.run_of(annotation)
        line = None if run is None else self._lines[run.root].get(annotation.clip_id)
        if run is None or line is None:
            return VideoFile()
        # The manifest has the requested start; the report has the time of the first frame.
        report = None if line.start_s is None else run.report(annotation.clip_id)
        start_s = 0.0 if report is None else report.clip.start_s or 0.0
        return VideoFile(self.address(run.root / line.path), start_s, line.sha256, line.size_bytes, line.modified_ns)

    def address(self, path: Path) -> str:
        """A path relative to the page."""
        try:
            return Path(os.path.relpath(path.resolve(), self.folder.resolve())).as_posix()
        except ValueError:  # another drive
            return path.resolve().as_posix()
