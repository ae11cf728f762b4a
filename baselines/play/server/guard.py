"""What every request passes: the Host and Origin checks, the limit of its size, safe headers."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from azumaya.baselines.system.files import shown

LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
READING = frozenset({"GET", "HEAD"})
WRITING = frozenset({"POST", "DELETE"})
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Guard:
    """Wraps an ASGI application.

    Args:
        app: the application.
        hosts: the names by which the server may be called, without a port.
        body: the most bytes of a request's body.
    """

    def __init__(self, app: ASGIApp, hosts: Iterable[str], body: int) -> None:
        self._app, self._hosts, self._body = app, frozenset(hosts), body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refused = self._refused(scope["method"], headers)
        if refused is not None:
            status, message = refused
            answer = JSONResponse({"error": message}, status)
            await answer(scope, receive, _with_headers(send))
            return
        await self._app(scope, receive, _with_headers(send))

    def _refused(self, method: str, headers: Headers) -> tuple[int, str] | None:
        host = headers.get("host", "")
        if host_name(host) not in self._hosts:
            return 400, "the Host of the request is not this server; see --allow-host"
        if method in READING:
            return None
        if method not in WRITING:
            return 405, "only GET, POST and DELETE are understood"
        origin = headers.get("origin")
        if origin is not None and not _is_from(origin, host):
            said = f"its Origin is {shown(origin)}, its Host {shown(host)}"
            return 403, f"the request comes from another site: {said}"
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return 403, "the request comes from another site"
        if headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            return 415, "JSON is needed"
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length[:12]) > self._body:
            return 413, f"a request has at most {self._body:,} bytes"
        return None


def host_name(host: str) -> str:
    """A Host header without its port."""
    if host.startswith("["):
        return host.partition("]")[0].lower() + "]"
    return host.partition(":")[0].lower()


def _is_from(origin: str, host: str) -> bool:
    """Whether an Origin header names this host; one that is malformed names none."""
    try:
        return urlsplit(origin).netloc.lower() == host.lower()
    except ValueError:
        return False


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return sending
