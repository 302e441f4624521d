"""Clips to annotate, and a server that serves them to ann and bob."""

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from robogaze.datasets import ManifestEntry
from robogaze.web.annotation_store import AnnotationStore, open_store
from web.serving import Server, serving


@pytest.fixture
def entries(video: Path) -> list[ManifestEntry]:
    """Three clips of 4 s at 16 fps with instructions, of one file."""
    names = ("cup", "pot", "lid")
    return [ManifestEntry(path=video, clip_id=name, instruction=f"Lift the {name}") for name in names]


@pytest.fixture
def server(entries: list[ManifestEntry], tmp_path: Path) -> Iterator[Server]:
    """The clips, served."""
    with serving(entries, tmp_path) as running:
        yield running


@pytest.fixture
def ann(server: Server) -> Iterator[httpx2.Client]:
    """Ann's browser."""
    with server.client() as client:
        yield client


@pytest.fixture
def store(tmp_path: Path) -> Iterator[AnnotationStore]:
    """An empty store."""
    opened = open_store(tmp_path / "store" / "annotations.sqlite")
    yield opened
    opened.close()
