"""Who may use the server: a client that has a token, uses the server's own name, and does not come from another site.

The address that `robogaze annotate` prints contains a token. The first visit turns the token into a cookie that scripts
cannot read and that requests from other sites do not carry. The Host header is checked, because a name of another site
may resolve to this machine (DNS rebinding).
"""

import hmac
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

TOKEN_HEADER, NAME_HEADER = "x-robogaze-token", "x-robogaze-annotator"

POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self'; "
    "connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


@dataclass(frozen=True)
class AccessRules:
    """What the server accepts: `names` maps each token to the name of an annotator, and `hosts` are the host names
    (without port) that requests may use.

    With `any_address`, requests may also use any IP address; this is for a server that listens on all addresses.
    """

    names: Mapping[str, str]
    hosts: frozenset[str]
    port: int
    any_address: bool = False

    def name_of(self, token: str | None) -> str | None:
        """The annotator with a token; None if nobody has it."""
        given = (token or "").encode()
        found = [name for known, name in self.names.items() if hmac.compare_digest(known.encode(), given)]
        return found[0] if found else None

    def accepts_host(self, host: str) -> bool:
        """Whether a Host header names this server."""
        try:
            parts = urlsplit(f"//{host}")
            name, port = parts.hostname or "", parts.port
        except ValueError:
            return False
        if port not in (self.port, None) or parts.username is not None:
            return False
        return name in self.hosts or (self.any_address and _is_address(name))

    @property
    def cookie(self) -> str:
        """The name of the cookie; browsers share cookies between the ports of a host."""
        return f"robogaze_{self.port}"


@dataclass(frozen=True)
class AccessCheck:
    """Refuses requests that break the rules; the application finds the annotator in `request.state.name`."""

    app: ASGIApp
    rules: AccessRules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            refusal.headers.update(_HEADERS)
            await refusal(scope, receive, send)
            return
        name = self.rules.name_of(_token(headers, self.rules.cookie))
        scope.setdefault("state", {})["name"] = name

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                answer = MutableHeaders(scope=message)
                for key, value in _HEADERS.items():
                    answer.setdefault(key, value)
            await send(message)

        await self.app(scope, receive, with_headers)

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        host = headers.get("host", "")
        if not self.rules.accepts_host(host):
            return _refused(
                421, "this server does not answer under this host name; open the address that robogaze annotate printed"
            )
        if headers.get("origin", f"http://{host}") != f"http://{host}":
            return _refused(403, "the request comes from a page of another site")
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if scope["path"] == "/" and scope["method"] == "GET" and self.rules.name_of(given) is not None:
            answer = RedirectResponse("/", status_code=303)
            answer.set_cookie(self.rules.cookie, given, httponly=True, samesite="strict", path="/")
            return answer
        name = self.rules.name_of(_token(headers, self.rules.cookie))
        if name is None:
            return _refused(401, "the token is missing or wrong; open the address that robogaze annotate printed")
        if headers.get(NAME_HEADER, name) != name:
            return _refused(403, f"this browser now annotates as {name}; reload the page")
        return None


def _refused(status: int, error: str) -> Response:
    return JSONResponse({"error": error}, status_code=status)


def _token(headers: Headers, cookie: str) -> str | None:
    if TOKEN_HEADER in headers:
        return headers[TOKEN_HEADER]
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(cookie)
    except CookieError:
        return None
    return None if found is None else found.value


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
