"""Clients that keep the server waiting, or take many connections, on a server with one second."""

from __future__ import annotations

import asyncio
import itertools
import socket
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any

import pytest
import uvicorn

from azumaya.baselines.play.server.connections import Connection, owner_of

pytestmark = pytest.mark.anyio

HEAD = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999\r\n"
GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
PATIENCE = 60
LONG = 8 << 20
"""Bytes of an answer for which the buffers of the system have no room."""

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Answers:
    """An ASGI application: reads a request, waits, answers.

    Attributes:
        seconds: how long it waits.
        size: bytes of the answer, beginning with `a`.
        reads: whether it reads the body first.
        ended: how many requests have ended, answered or not.
    """

    def __init__(self, seconds: float = 0, size: int = 1, reads: bool = True) -> None:
        self.seconds, self.size, self.reads = seconds, size, reads
        self.ended = asyncio.Semaphore(0)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        while self.reads and (await receive()).get("more_body"):
            pass
        await asyncio.sleep(self.seconds)
        length = (b"content-length", str(self.size).encode())
        await send({"type": "http.response.start", "status": 200, "headers": [length]})
        await send({"type": "http.response.body", "body": b"a", "more_body": True})
        await send({"type": "http.response.body", "body": bytes(self.size - 1), "more_body": True})
        await send({"type": "http.response.body"})
        self.ended.release()


@asynccontextmanager
async def served(app: Answers, most: int = 9) -> AsyncIterator[int]:
    """A server for as long as the block lasts; its port."""
    listening = socket.create_server(("127.0.0.1", 0))
    connection: Any = partial(Connection, counts=Counter(), most=most)
    config = uvicorn.Config(app, http=connection, log_config=None, lifespan="off")
    config.timeout_keep_alive, config.timeout_graceful_shutdown = 1, 1
    server = uvicorn.Server(config)
    running = asyncio.create_task(server.serve([listening]))
    async with asyncio.timeout(PATIENCE):
        yield listening.getsockname()[1]
    server.should_exit = True
    await running


async def connected(port: int, receives: int | None = None) -> Streams:
    """A connection, whose system receives this many bytes before they are read."""
    client = socket.socket()
    if receives is not None:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receives)
    client.setblocking(False)
    await asyncio.get_running_loop().sock_connect(client, ("127.0.0.1", port))
    return await asyncio.open_connection(sock=client, limit=1024)


async def ended(reader: asyncio.StreamReader) -> bytes:
    """What comes until the server closes the connection."""
    with suppress(ConnectionError):
        return await reader.read()
    return b""


async def outlast(port: int, before: bytes, sent: bytes, trickles: bool) -> bytes:
    """Send a part of a request, and perhaps a byte now and then; what came until the end."""
    reader, writer = await connected(port)
    writer.write(before + sent)
    closed = asyncio.create_task(ended(reader))
    while trickles and not closed.done():
        writer.write(b"X")
        await asyncio.wait([closed], timeout=0.2)
    said = await closed
    writer.close()
    return said


def test_requests_that_do_not_come_to_their_ends() -> None:
    """The first of a connection, or one after another."""
    parts = (b"", b"P", HEAD[:-5], HEAD, HEAD + b"\r\n", HEAD + b"\r\n{")
    cases = list(itertools.product((b"", GET), parts, (False, True)))

    async def check() -> list[bytes]:
        async with served(Answers(), most=len(cases)) as port:
            return await asyncio.gather(*(outlast(port, *case) for case in cases))

    answered = [said.endswith(b"\r\na") for said in asyncio.run(check())]
    assert answered == [bool(before) for before, *_ in cases]


async def test_a_request_that_is_being_answered_may_take_longer() -> None:
    async with served(Answers(seconds=1.3)) as port:
        reader, writer = await connected(port)
        for head in (GET, HEAD + b"\r\n" + bytes(9999)):
            writer.write(head)
            assert (await reader.readuntil(b"\r\n\r\na")).startswith(b"HTTP/1.1 200")
        writer.close()


@pytest.mark.parametrize("after", [GET, pytest.param(b"", marks=pytest.mark.slow)])
async def test_an_answer_that_is_not_taken(after: bytes) -> None:
    """Also by a client that asks for more meanwhile."""
    app = Answers(size=LONG)
    async with served(app) as port:
        reader, writer = await connected(port, receives=4096)
        writer.write(GET)
        await reader.readuntil(b"\r\n\r\na")
        writer.write(after)
        await app.ended.acquire()
        with pytest.raises(asyncio.IncompleteReadError):
            await reader.readexactly(LONG - 1)
        writer.close()


@pytest.mark.slow
async def test_an_answer_that_is_taken_slowly() -> None:
    async with served(Answers(size=LONG)) as port:
        reader, writer = await connected(port, receives=4096)
        writer.write(GET)
        await reader.readuntil(b"\r\n\r\na")
        for _ in range(16):
            await reader.readexactly(LONG // 32)
            await asyncio.sleep(0.2)
        await reader.readexactly(LONG // 2 - 1)
        writer.close()


@pytest.mark.parametrize("waits", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("reads", [False, True])
async def test_what_is_no_http_leaves_no_traceback(
    caplog: pytest.LogCaptureFixture, waits: bool, reads: bool
) -> None:
    """Before, while and after the request is answered, by what reads its body or does not."""
    head = b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"

    async with served(Answers(reads=reads)) as port:
        for sent in (head, GET + head, head + b"1\r\na\r\n", HEAD[:-2], b""):
            reader, writer = await connected(port)
            writer.write(sent)
            await asyncio.sleep(0.1 * waits)
            writer.write(b"no length\r\n\r\n")
            await ended(reader)
            writer.close()
    assert {record.getMessage() for record in caplog.records} == {"Invalid HTTP request received."}


async def test_connections_of_one_address_have_a_limit() -> None:
    """One more is refused at once; when one is closed, another may come."""
    async with served(Answers(), most=2) as port:
        for _ in range(2):
            (one, first), (other, second) = [await connected(port) for _ in range(2)]
            refused, third = await connected(port)
            assert b"503" in (said := await ended(refused))
            assert b"--most-connections" in said
            for reader, writer in ((one, first), (other, second)):
                writer.write(GET)
                await reader.readuntil(b"\r\n\r\na")
                writer.close()
                assert await ended(reader) == b""
            third.close()
            await asyncio.sleep(0.1)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("192.0.2.1", "192.0.2.1", True),
        ("192.0.2.1", "192.0.2.2", False),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.2", False),
        ("2001:db8::1", "2001:db8::ffff:2", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("fe80::1%1", "fe80::2%1", True),
        ("::1", "192.0.2.1", False),
        ("", "", True),
    ],
)
def test_who_has_an_address(one: str, other: str, same: bool) -> None:
    assert (owner_of(one) == owner_of(other)) is same
