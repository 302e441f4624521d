"""The manifest of a run: its clips, in order."""

from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from robogaze.core.clip import Layout, address
from robogaze.core.data import Data, fault_of
from robogaze.errors import InputError

_NO_REPORT_DEPENDS_ON = ("clip_id", "path", "size_bytes", "modified_ns")
"""Fields that a report does not depend on."""


class ManifestLine(Data):
    """A clip of the run: its path relative to the run folder, and everything that its report depends on.

    `start_s` and `end_s` are the requested part of the file, None for the whole file. If `layout` is None, the layout
    is recognised from the first frame. The file is hashed again only if its `size_bytes` or `modified_ns` changes.
    """

    clip_id: str
    path: str
    sha256: str
    start_s: float | None = None
    end_s: float | None = None
    instruction: str | None = None
    prompt_id: str | None = None
    layout: Layout | None = None
    initial_frame_sha256: str | None = None
    checkpoint: str | None = None
    split: str | None = None
    task_family: str | None = None
    embodiment: str | None = None
    size_bytes: int | None = None
    modified_ns: int | None = None

    @property
    def address(self) -> str:
        """The clip's file and, unless the clip is the whole file, the part of the file in seconds."""
        return address(self.path, self.start_s, self.end_s)

    def differs(self, other: "ManifestLine") -> str | None:
        """The first field that differs between the two lines, among the fields that a report depends on; None if none
        differs.
        """
        fields = (name for name in type(self).model_fields if name not in _NO_REPORT_DEPENDS_ON)
        return next((name for name in fields if getattr(self, name) != getattr(other, name)), None)


def read_manifest(root: Path) -> Iterator[ManifestLine]:
    """The lines of a run's manifest; none if the file does not exist. Raises InputError for a damaged file."""
    path = root / "manifest.jsonl"
    # Bytes are split at newlines only; text would also be split at separators that an instruction may contain.
    for number, line in enumerate(path.read_bytes().splitlines() if path.is_file() else (), start=1):
        try:
            yield ManifestLine.model_validate_json(line)
        except ValidationError as error:
            raise InputError(f"{path}:{number} is damaged ({fault_of(error)}); choose another `out`") from error
