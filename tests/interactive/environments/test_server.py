"""The server: a hub's paths and replies, refusals of what cannot be answered, and documents that are read only."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from robogaze.interactive.environments import Environment, Mode, open_environment
from robogaze.interactive.environments.server import serve_environment


class Hub:
    """Sends requests to a served environment and keeps the sessions that it opened."""

    def __init__(self, spec: str, mode: Mode = "qa") -> None:
        self.opened: list[Environment] = []

        def open_session() -> Environment:
            self.opened.append(open_environment(spec, mode=mode))
            return self.opened[-1]

        self.client = TestClient(serve_environment(open_session, "The Castle", "1"))

    def post(self, path: str, body: Any = None) -> tuple[int, dict[str, Any]]:
        reply = self.client.post(f"/api/agent/{path}", json={} if body is None else body)
        return reply.status_code, reply.json()

    def new(self) -> str:
        return str(self.post("new")[1]["game_id"])


@pytest.fixture
def hub() -> Iterator[Hub]:
    hub = Hub("castle")
    with hub.client:
        yield hub


def test_a_new_session_has_an_id_and_the_keys_of_a_hub(hub: Hub) -> None:
    status, reply = hub.post("new")
    assert status == 200
    assert set(reply) == {"success", "game_id", "message", "state", "game_over", "turn"}
    assert set(reply["state"]) == {"room", "items", "inventory", "flags", "turn_count", "can_see"}
    assert set(reply["state"]["room"]) == {"id", "name", "description", "exits", "dark"}


def test_a_command_and_the_state(hub: Hub) -> None:
    session = hub.new()
    status, reply = hub.post("command", {"game_id": session, "command": "take matches"})
    assert (status, reply["turn"], reply["game_over"]) == (200, 1, False)
    assert reply["state"]["inventory"] == [{"id": "matches", "name": "matches", "state": {}}]
    state = hub.client.get(f"/api/agent/state/{session}").json()
    assert (state["game_id"], state["state"]) == (session, reply["state"])


def test_health_names_the_environment(hub: Hub) -> None:
    reply = hub.client.get("/api/health").json()
    assert reply == {"status": "healthy", "game": "The Castle", "version": "1"}


def test_a_screen_is_in_the_reply() -> None:
    (picture,) = Hub("warehouse").post("new")[1]["pictures"]
    assert picture.startswith("iVBORw0KGgo")


@pytest.mark.parametrize(
    ("path", "body", "message"),
    [
        ("command", {"command": "look"}, "game_id: Field required"),
        (
            "command",
            {"game_id": "gone", "command": "look"},
            "there is no session with this game_id; start a session at /api/agent/new",
        ),
        ("command", {"game_id": ["a"], "command": "look"}, "game_id: Input should be a valid string"),
        ("command", ["look"], "Input should be an object"),
        ("code/read", {}, "path: Field required"),
        (
            "code/read",
            {"path": "/etc/passwd"},
            "'/etc/passwd' is not one of the documents: design.md, rooms.py, world.json",
        ),
        ("code/read", {"path": "design.md", "start_line": 0}, "start_line: Input should be greater than or equal to 1"),
        ("code/read", {"path": "design.md", "end_line": "all"}, "end_line: Input should be a valid integer"),
        ("code/search", {"pattern": "("}, "the pattern is not a regular expression: "),
    ],
)
def test_what_cannot_be_answered_is_a_bad_request(hub: Hub, path: str, body: Any, message: str) -> None:
    status, reply = hub.post(path, body)
    assert status == 400
    assert reply["success"] is False
    assert reply["message"].startswith(message)


def test_a_request_that_is_not_json_or_lacks_its_command(hub: Hub) -> None:
    assert hub.client.post("/api/agent/command", content=b"{").status_code == 400
    status, reply = hub.post("command", {"game_id": hub.new()})
    assert (status, reply["message"]) == (400, "command: Field required")


def test_lines_of_a_document_are_numbered(hub: Hub) -> None:
    reply = hub.post("code/read", {"path": "design.md", "start_line": 1, "end_line": 3})[1]
    assert reply["content"].startswith("   1  # The Castle of Saint Orel: design\n   2  \n   3  A deterministic")
    assert reply["total_lines"] > 3


def test_a_search_takes_a_regular_expression(hub: Hub) -> None:
    reply = hub.post("code/search", {"pattern": r"^#+ Ru\w+", "max_results": 5})[1]
    assert reply["matches"] == [{"path": "design.md", "line": reply["matches"][0]["line"], "text": "## Rules"}]


def test_the_debug_log_is_that_of_a_session(hub: Hub) -> None:
    first, second = hub.new(), hub.new()
    hub.post("command", {"game_id": first, "command": "take matches"})
    path = "/api/agent/code/debug_logs"
    assert "matches: hall -> carried" in hub.client.get(f"{path}?game_id={first}").json()["logs"]
    assert hub.client.get(f"{path}?game_id={second}").json()["logs"] == ""
    assert hub.client.get(path).status_code == 400


@pytest.mark.parametrize("path", ["code/write", "code/restore"])
def test_documents_cannot_be_written(hub: Hub, path: str) -> None:
    reply = hub.client.post(f"/api/agent/{path}", json={"path": "design.md", "content": ""})
    assert reply.status_code == 404


def test_an_environment_without_documents_has_none_to_read() -> None:
    hub = Hub("castle", mode="player")
    assert hub.client.get("/api/agent/code/files").status_code == 400
    assert hub.post("code/read", {"path": "design.md"})[1]["message"] == "this environment has no documents"


def test_the_oldest_session_ends_when_there_are_too_many(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("robogaze.interactive.environments.server.MOST_SESSIONS", 2)
    sessions = [hub.new() for _ in range(3)]
    alive = [hub.post("command", {"game_id": session, "command": "look"})[0] for session in sessions]
    assert alive == [400, 200, 200]


async def test_commands_that_come_at_once_are_done_one_after_another() -> None:
    from httpx2 import ASGITransport, AsyncClient

    hub = Hub("castle")
    app: Any = hub.client.app
    async with AsyncClient(transport=ASGITransport(app), base_url="http://hub") as client:
        session = (await client.post("/api/agent/new", json={})).json()["game_id"]
        body = {"game_id": session, "command": "look"}
        replies = await asyncio.gather(*(client.post("/api/agent/command", json=body) for _ in range(20)))
    assert sorted(reply.json()["turn"] for reply in replies) == list(range(1, 21))
