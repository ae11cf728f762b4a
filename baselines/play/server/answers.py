"""Requests and answers as JSON."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from azumaya.baselines.play.server.limits import RefusalError
from azumaya.baselines.system.files import UnusableFileError, parse_json


class JSONAnswer(Response):
    """An answer as JSON. A view has some 30 kB, for which `json` would take a millisecond."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """The content as bytes."""
        return msgspec.json.encode(content)


async def body_of(request: Request, most: int) -> Any:
    """The JSON of a request, of at most `most` bytes; it may come in pieces, without a length.

    Raises:
        RefusalError: it is larger, or no JSON.
    """
    content = b""
    async for piece in request.stream():
        content += piece
        if len(content) > most:
            raise RefusalError(413, f"a request has at most {most:,} bytes")
    try:
        return parse_json(content)
    except UnusableFileError as error:
        raise RefusalError(400, str(error)) from None


async def object_of(request: Request, most: int) -> dict[str, Any]:
    """The JSON object of a request; raises as `body_of`."""
    body = await body_of(request, most)
    if not isinstance(body, dict):
        raise RefusalError(400, "a JSON object is needed")
    return body


async def unless_left(request: Request, work: Coroutine[Any, Any, Any]) -> Any:
    """The result of some work for a request whose body was read; cancelled if its client leaves.

    Raises:
        ClientDisconnect: it has left.
    """
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_end_of(request))
    try:
        await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        working.cancel()
        leaving.cancel()


async def _end_of(request: Request) -> None:
    """Wait until the client of a request has left."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
