"""A shell for the tests of the command line."""

from functools import partial

import pytest

from cli.running import Shell
from robogaze.backends.middleware.outage import OutageWait


@pytest.fixture
def robogaze(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    """The command line."""
    return Shell(monkeypatch, capsys)


@pytest.fixture
def quick_outages(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that went away is looked for after 0.05 s instead of 5 s."""
    monkeypatch.setattr("robogaze.backends.models.OutageWait", partial(OutageWait, poll_s=0.05))
