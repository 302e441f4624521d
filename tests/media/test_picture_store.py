"""The pictures of a clip in a temporary file."""

from contextlib import closing

import pytest

from robogaze.media.picture_store import PictureStore


def test_pictures_are_read_as_they_were_stored() -> None:
    with closing(PictureStore()) as store:
        first, second = store.add(b"one"), store.add(b"second")
        assert (bytes(second), bytes(first)) == (b"second", b"one")
        assert (len(first), len(second)) == (3, 6)


def test_closed_store_has_no_pictures() -> None:
    store = PictureStore()
    stored = store.add(b"one")
    store.close()
    with pytest.raises(ValueError, match="closed file"):
        bytes(stored)
