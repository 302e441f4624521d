"""The clips in the paths of a command."""

from pathlib import Path

import pytest
from synthetic import write_clip

from robogaze.errors import VideoError
from robogaze.run.clips import list_clips


@pytest.mark.parametrize("name", ["more.csv", "more.tar"])
def test_list_of_clips_among_other_paths_says_how_to_read_it(name: str, tmp_path: Path) -> None:
    clip, listing = write_clip(tmp_path / "cup.mp4", 4, 64, 48), tmp_path / name
    listing.write_text("path\ncup.mp4\n")
    cup, refused = list_clips([clip, listing]).entries
    assert cup.path == clip
    with pytest.raises(VideoError, match=rf"{name} is not a video; a list of clips must be the only PATH"):
        refused.check_content("0" * 64)


def test_table_alone_is_read(tmp_path: Path) -> None:
    clip, table = write_clip(tmp_path / "cup.mp4", 4, 64, 48), tmp_path / "more.csv"
    table.write_text("path\ncup.mp4\n")
    assert [entry.path for entry in list_clips([table]).entries] == [clip]
