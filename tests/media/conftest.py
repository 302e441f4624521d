"""What the tests of this folder share: every decoder in turn."""

import pytest

from robogaze.media.decode import DECODERS


@pytest.fixture(params=DECODERS.names())
def decoder(request: pytest.FixtureRequest) -> str:
    """The name of a decoder; the test is skipped if its package is not installed."""
    name: str = request.param
    if name == "decord":
        pytest.importorskip("decord", reason="decord is not installed (pip install 'robogaze[decord]')")
    return name
