"""Attacks: what the server refuses, and that nothing is saved then."""

import json
import socket
from urllib.parse import urlsplit

import httpx2
import pytest

from web.serving import Server, body, event

ADDRESSES = ("/", "/clips/cup", "/api/guide", "/api/queue", "/api/clips/cup", "/video/cup", "/static/base.css",
             "/api/clips/cup/thumbnail", "/no/such/page")  # fmt: skip


@pytest.mark.parametrize("token", [None, "", "wrong", "token-of-an"])
def test_without_the_token_nothing_is_shown(server: Server, token: str | None) -> None:
    with server.client(token) as client:
        for address in ADDRESSES:
            refused = client.get(address)
            assert refused.status_code == 401, address
            assert "open the address that robogaze annotate printed" in refused.json()["error"]


def test_without_the_token_nothing_is_saved(server: Server) -> None:
    with server.client(None) as client:
        assert client.put("/api/clips/cup", json=body(event())).status_code == 401
        assert client.post("/api/clips/cup/submit?token=token-of-ann", json={"base_revision": 0}).status_code == 401
    assert server.store.drafts() == ()


def test_the_first_visit_turns_the_token_into_a_cookie(server: Server) -> None:
    with server.client(None) as client:
        first = client.get("/?token=token-of-bob")
        assert (first.status_code, first.headers["location"]) == (303, "/")
        assert {part.strip().lower() for part in first.headers["set-cookie"].split(";")} >= {
            "httponly",
            "samesite=strict",
        }
        assert client.get("/api/guide").json()["annotator"] == "bob"


def test_a_wrong_token_sets_no_cookie(server: Server) -> None:
    with server.client(None) as client:
        assert "set-cookie" not in client.get("/?token=wrong").headers


FOREIGN_HOSTS = (
    *("evil.example", "evil.example:{port}", "127.0.0.1.evil.example:{port}", "127.0.0.1@evil.example:{port}"),
    *("10.0.0.1:{port}", "127.0.0.1:1", "[::1", ""),
)


def test_another_host_is_refused(server: Server) -> None:
    for host in FOREIGN_HOSTS:
        with server.client(host=host.format(port=urlsplit(server.address).port)) as client:
            assert client.get("/api/queue").status_code == 421, host


def test_localhost_is_an_allowed_host(server: Server) -> None:
    with server.client(host=f"localhost:{urlsplit(server.address).port}") as client:
        assert client.get("/api/queue").status_code == 200


def test_a_page_of_another_site_saves_nothing(server: Server) -> None:
    for origin in ("http://evil.example", "null", "https://127.0.0.1:{port}", "http://127.0.0.1:1"):
        with server.client(origin=origin.format(port=urlsplit(server.address).port)) as client:
            assert client.put("/api/clips/cup", json=body(event())).status_code == 403, origin
    assert server.store.drafts() == ()


def test_a_page_of_the_same_site_saves(server: Server) -> None:
    with server.client(origin=server.address) as client:
        assert client.put("/api/clips/cup", json=body(event())).status_code == 200


def test_a_page_of_another_annotator_saves_nothing(server: Server) -> None:
    with server.client(**{"x-robogaze-annotator": "bob"}) as client:
        refused = client.put("/api/clips/cup", json=body(event()))
    assert (refused.status_code, "annotates as ann" in refused.json()["error"]) == (403, True)


TRAVERSALS = (
    *("../../etc/passwd", "..%2f..%2f..%2fetc%2fpasswd", "%2fetc%2fpasswd", "....//base.css", "base.css%00.js", "%00"),
    *("cup/../../annotations.sqlite", "annotations.sqlite"),
)


@pytest.mark.parametrize("root", ["/static/", "/video/", "/api/clips/"])
def test_no_path_of_a_request_leads_to_a_file(server: Server, root: str) -> None:
    host = urlsplit(server.address)
    for path in TRAVERSALS:
        with socket.create_connection(("127.0.0.1", host.port or 0), timeout=20) as raw:
            lines = (f"GET {root}{path} HTTP/1.1", f"Host: {host.netloc}", "X-RoboGaze-Token: token-of-ann",
                     "Connection: close")  # fmt: skip
            raw.sendall("\r\n".join((*lines, "", "")).encode())
            answer = b"".join(iter(lambda: raw.recv(65536), b""))
        assert answer.split(b" ", 2)[1] == b"404", (path, answer[:200])
        assert b"root:" not in answer
        assert b"SQLite" not in answer


def test_a_body_of_100_mb_is_refused_before_it_is_read(server: Server) -> None:
    with socket.create_connection(("127.0.0.1", urlsplit(server.address).port or 0), timeout=20) as raw:
        lines = ("PUT /api/clips/cup HTTP/1.1", f"Host: {urlsplit(server.address).netloc}",
                 "X-RoboGaze-Token: token-of-ann", "Content-Type: application/json",
                 f"Content-Length: {100 * 2**20}")  # fmt: skip
        raw.sendall("\r\n".join((*lines, "", "")).encode())
        assert raw.recv(65536).startswith(b"HTTP/1.1 413")
    assert server.store.drafts() == ()


def test_a_body_that_hides_its_length_is_refused_at_the_limit(ann: httpx2.Client, server: Server) -> None:
    sent = []

    def pieces():  # type: ignore[no-untyped-def]
        for _ in range(100):
            sent.append(1)
            yield b" " * 2**20

    try:
        refused = ann.put("/api/clips/cup", content=pieces(), headers={"content-type": "application/json"})
        assert refused.status_code == 413
    except httpx2.TransportError:
        pass  # the server has closed the connection while this side was sending
    assert ann.get("/api/clips/cup").json()["annotation"]["revision"] == 0


def test_10000_events_are_refused(ann: httpx2.Client) -> None:
    refused = ann.put("/api/clips/cup", json=body(*({"id": f"{number}"} for number in range(10_000))))
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "events")


def test_a_body_that_is_no_json_object_is_refused(ann: httpx2.Client) -> None:
    for content in (b"", b"{", b"[" * 100_000, b"\xff\xfe", b'{"base_revision": NaN}', b"null", b"[]"):
        refused = ann.put("/api/clips/cup", content=content, headers={"content-type": "application/json"})
        assert refused.status_code in (400, 422), content[:20]


def test_values_that_no_store_can_keep_are_refused(ann: httpx2.Client) -> None:
    contents: list[dict[str, object]] = [
        {"base_revision": 10**30},
        {"base_revision": -1},
        {"base_revision": 0, "seconds_spent": 1e308, "events": [event(description="\ud800")]},
        {"base_revision": 0, "events": [event("\ud800", severity=9)]},
        {"base_revision": 0, "events": [event(spans=[{"start_s": 1e308, "end_s": 1e308}])]},
        {"base_revision": 0, "events": ["e1", None, 3, []]},
        {"base_revision": 0, "events": [event(description="x" * 10_001)]},
        {"base_revision": 0, "events": [event(spans=[{"start_s": 0.1, "end_s": 0.2}] * 101)]},
    ]
    for content in contents:
        text = json.dumps({**body(), **content})
        refused = ann.put("/api/clips/cup", content=text, headers={"content-type": "application/json"})
        assert refused.status_code == 422, content
        assert refused.json()["errors"]


def test_content_types_of_html_forms_are_refused(ann: httpx2.Client) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
        refused = ann.put("/api/clips/cup", content=b'{"base_revision": 0}', headers={"content-type": kind})
        assert refused.status_code == 415, kind


def test_text_is_data(ann: httpx2.Client, server: Server) -> None:
    text = "</script><script>alert(1)</script>'; DROP TABLE revisions; -- \u2028"
    assert ann.put("/api/clips/cup", json=body(event(description=text))).status_code == 200
    answer = ann.get("/api/clips/cup")
    assert answer.json()["annotation"]["events"][0]["description"] == text
    assert (answer.headers["content-type"], answer.headers["x-content-type-options"]) == ("application/json", "nosniff")
    assert server.store.drafts()[0].draft.events[0].description == text


def test_methods_without_a_route_are_refused(ann: httpx2.Client) -> None:
    assert ann.delete("/api/clips/cup").status_code == 405
    assert ann.post("/api/clips/cup", json=body()).status_code == 405


def test_no_answer_is_kept_by_a_cache_or_framed(ann: httpx2.Client) -> None:
    headers = ann.get("/").headers
    assert headers["cache-control"] == "no-store"
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["referrer-policy"] == "no-referrer"
