"""Whether a file is as long as its own boxes say, box by box."""

from pathlib import Path

import pytest

from robogaze.errors import VideoError
from robogaze.media.file_check import check_whole

FTYP, MOOV, MDAT = b"ftyp", b"moov", b"mdat"


def box(kind: bytes, content: bytes = b"content.") -> bytes:
    return (8 + len(content)).to_bytes(4, "big") + kind + content


def long_box(kind: bytes, content: bytes = b"content.") -> bytes:
    """A box whose length stands in 8 bytes, as for more than 4 GB."""
    return (1).to_bytes(4, "big") + kind + (16 + len(content)).to_bytes(8, "big") + content


def open_box(kind: bytes, content: bytes = b"content.") -> bytes:
    """A box that extends to the end of the file."""
    return (0).to_bytes(4, "big") + kind + content


def element(kind: str, *content: bytes) -> bytes:
    """An element of Matroska: its kind (in hex), its length in 8 bytes, its content."""
    inside = b"".join(content)
    return bytes.fromhex(kind) + (1 << 56 | len(inside)).to_bytes(8, "big") + inside


def open_element(kind: str, *content: bytes) -> bytes:
    """An element whose length is left open, as in a live recording."""
    return bytes.fromhex(kind) + b"\xff" + b"".join(content)


SEGMENT, TRACKS, TRACK, TRACK_NUMBER, TRACK_TYPE = "18538067", "1654ae6b", "ae", "d7", "83"
CLUSTER, GROUP, BLOCK_IN_GROUP, SIMPLE_BLOCK = "1f43b675", "a0", "a1", "a3"


def track(number: int, kind: int) -> bytes:
    return element(TRACK, element(TRACK_NUMBER, bytes([number])), element(TRACK_TYPE, bytes([kind])))


def block(track: int, flags: int = 0x80, kind: str = SIMPLE_BLOCK) -> bytes:
    """A frame: its track, its time (2 bytes), its flags, its data."""
    return element(kind, bytes([0x80 | track, 0, 0, flags]), b"frame")


START = bytes.fromhex("1a45dfa3") + b"\x84" + b"head"
VIDEO, SOUND, LACED = 1, 2, 0x04
HEAD = element(TRACKS, track(1, VIDEO), track(2, SOUND))
CLUSTERS = element(CLUSTER, block(1), block(2, LACED), block(1)) * 2


WHOLE = {
    "index last": box(FTYP) + box(MDAT) + box(MOOV),
    "index first": box(FTYP) + box(MOOV) + box(MDAT),
    "a length of 8 bytes": box(FTYP) + box(MOOV) + long_box(MDAT),
    "to the end": box(FTYP) + box(MOOV) + open_box(MDAT),
    "fragments": box(FTYP) + box(MOOV) + box(b"moof") + box(MDAT) + box(b"moof") + box(MDAT),
    "something cut that holds no pictures": box(FTYP) + box(MOOV) + box(MDAT) + box(b"free")[:-4],
    "junk behind": box(FTYP) + box(MOOV) + box(MDAT) + b"junk",
    "matroska": START + element(SEGMENT, HEAD, CLUSTERS),
    "matroska with groups": START
    + element(SEGMENT, HEAD, element(CLUSTER, element(GROUP, block(1, 0, BLOCK_IN_GROUP)))),
    "matroska, junk behind": START + element(SEGMENT, HEAD, CLUSTERS) + b"\0junk",
    "matroska, recorded live": START + open_element(SEGMENT, HEAD, open_element(CLUSTER, block(1)) * 2),
    "of another kind": b"no video at all",
}

FAULTY = {
    "pictures cut": (box(FTYP) + box(MOOV) + box(MDAT)[:-3], "declare 3 bytes more than the file has"),
    "long box cut": (box(FTYP) + box(MOOV) + long_box(MDAT)[:-5], "declare 5 bytes more than the file has"),
    "index cut": (box(FTYP) + box(MDAT) + box(MOOV)[:-1], "declare 1 bytes more than the file has"),
    "fragment cut": (box(FTYP) + box(MOOV) + box(b"moof") + box(MDAT) + box(b"moof")[:-2], "declare 2 bytes more"),
    "a hole between fragments": (
        box(FTYP) + box(MOOV) + box(b"moof") + box(MDAT) + bytes(16) + box(b"moof") + box(MDAT),
        "is damaged at byte 64",
    ),
    "no index": (box(FTYP) + box(MDAT), "was never finished: it has no index"),
    "matroska cut": ((START + element(SEGMENT, HEAD, CLUSTERS))[:-9], "declare 9 bytes more than the file has"),
    "live recording cut": (
        (START + open_element(SEGMENT, HEAD, open_element(CLUSTER, block(1))))[:-6],
        "declare 6 bytes more than the file has",
    ),
    "a hole": (START + element(SEGMENT, HEAD, element(CLUSTER, block(1), bytes(40))), "is damaged at byte 121"),
    "a frame longer than its cluster": (
        START + element(SEGMENT, HEAD, element(CLUSTER, block(1)[:-1])) + CLUSTERS,
        "is damaged at byte 103",
    ),
    "a frame of no track": (START + element(SEGMENT, HEAD, element(CLUSTER, block(3))), "is damaged at byte 103"),
    "several pictures in one frame": (
        START + element(SEGMENT, HEAD, element(CLUSTER, block(1, LACED))),
        "is damaged at byte 103",
    ),
    "a frame of nothing": (
        START + element(SEGMENT, HEAD, element(CLUSTER, element(SIMPLE_BLOCK))),
        "is damaged at byte 103",
    ),
    "empty": (b"", r"is empty \(0 bytes\)"),
}


@pytest.mark.parametrize("name", WHOLE)
def test_complete_file_passes(name: str, tmp_path: Path) -> None:
    path = tmp_path / "clip"
    path.write_bytes(WHOLE[name])
    check_whole(path)


@pytest.mark.parametrize("name", FAULTY)
def test_incomplete_file_is_refused(name: str, tmp_path: Path) -> None:
    content, reason = FAULTY[name]
    path = tmp_path / "clip"
    path.write_bytes(content)
    with pytest.raises(VideoError, match=reason):
        check_whole(path)
