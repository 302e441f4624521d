"""What the tests of this folder share: every reader in turn."""

import pytest

from robogaze.media.decode import DECODERS


@pytest.fixture(params=DECODERS)
def decoder(request: pytest.FixtureRequest) -> str:
    """The name of a reader; the test is skipped when it is not installed."""
    name: str = request.param
    if name == "decord":
        pytest.importorskip("decord", reason="decord is not installed (pip install 'robogaze[decord]')")
    return name
