"""A visitor's connection to the server: HTTP over a socket that stays open, as in a browser."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass
from typing import Any

IDLE_SECONDS = 3.0
"""A connection that was idle for longer is closed and opened again."""
RETRY_SECONDS = 1.0
"""A request is sent again only if the connection was idle for longer before it."""
PATIENCE_SECONDS = 300.0


class DroppedError(Exception):
    """The server closed a connection before it had answered, or answered with no HTTP."""


@dataclass(frozen=True)
class Answer:
    """An answer of the server.

    Attributes:
        status: the HTTP status.
        headers: the headers, by name in lower case.
        content: the body.
        seconds: from the first byte sent to the last one received, with connecting.
        retried: whether the request was sent twice, since the server had closed the idle
            connection.
    """

    status: int
    headers: dict[str, str]
    content: bytes
    seconds: float
    retried: bool

    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.content)


class Connection:
    """A connection that opens when it is needed, and keeps the visitor's cookie.

    Args:
        host: the server's address.
        port: its port.
    """

    def __init__(self, host: str, port: int) -> None:
        self._host, self._port = host, port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self._used = 0.0
        self._retried = False
        self.cookie = ""

    async def ask(self, path: str, body: Any = None) -> Answer:
        """Send a request: POST if it has a body, otherwise GET.

        Raises:
            DroppedError: the connection was closed, or there was no answer in time.
        """
        content = b"" if body is None else json.dumps(body).encode()
        method = "GET" if body is None else "POST"
        head = f"{method} {path} HTTP/1.1\r\nHost: {self._host}:{self._port}\r\n"
        if body is not None:
            head += f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n"
        if self.cookie:
            head += f"Cookie: {self.cookie}\r\n"
        began, request = time.perf_counter(), head.encode() + b"\r\n" + content
        self._retried = False
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                status, headers, answer = await self._send(request)
        except (OSError, EOFError, ValueError, TimeoutError) as error:
            self.close()
            raise DroppedError(f"{method} {path}: {type(error).__name__} {error}") from None
        self._used = time.perf_counter()
        self.cookie = headers.get("set-cookie", self.cookie).partition(";")[0]
        return Answer(status, headers, answer, self._used - began, self._retried)

    async def _send(self, request: bytes) -> tuple[int, dict[str, str], bytes]:
        """Send a request; as browsers do, once more if the server has closed an idle connection.

        A connection that was in use until just now is not idle: if the server closes it instead of
        answering, that is a fault.
        """
        idle = self._streams is not None and time.perf_counter() - self._used > RETRY_SECONDS
        try:
            return await self._exchange(request)
        except (ConnectionError, asyncio.IncompleteReadError) as error:
            if not idle or getattr(error, "partial", b""):
                raise
        self.close()
        self._retried = True
        return await self._exchange(request)

    async def _exchange(self, request: bytes) -> tuple[int, dict[str, str], bytes]:
        if self._streams is not None and time.perf_counter() - self._used > IDLE_SECONDS:
            self.close()
        if self._streams is None:
            self._streams = await asyncio.open_connection(self._host, self._port)
        reader, writer = self._streams
        writer.write(request)
        await writer.drain()
        lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        pairs = (line.partition(":") for line in lines[1:] if line)
        headers = {name.lower(): value.strip() for name, _, value in pairs}
        content = await reader.readexactly(int(headers["content-length"]))
        if headers.get("connection") == "close":
            self.close()
        return int(lines[0].split()[1]), headers, content

    def close(self) -> None:
        """Close the connection; the next request opens another one."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None
