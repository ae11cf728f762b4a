"""What the load test counts as dropped, against a server that closes connections."""

from __future__ import annotations

import asyncio

import pytest

from tests.serve.connection import Answer, Connection, DroppedError

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


async def ask_twice(idle_seconds: float, rest: bytes = b"") -> tuple[Answer, int]:
    """Ask a server that answers once per connection, then sends `rest` and closes.

    Returns:
        The second answer, and how many connections there were.
    """
    connections = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        await reader.readuntil(b"\r\n\r\n")
        writer.write(ANSWER)
        await reader.readuntil(b"\r\n\r\n")
        writer.write(rest)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        connection = Connection(*server.sockets[0].getsockname())
        try:
            assert not (await connection.ask("/")).retried
            connection._used -= idle_seconds
            return await connection.ask("/"), connections
        finally:
            connection.close()


def test_a_connection_in_use_that_is_closed_is_dropped() -> None:
    with pytest.raises(DroppedError):
        asyncio.run(ask_twice(0))


def test_a_request_is_sent_again_after_an_idle_time() -> None:
    answer, connections = asyncio.run(ask_twice(2))
    assert answer.retried
    assert (answer.status, answer.content, connections) == (200, b"{}", 2)


def test_an_answer_that_has_begun_is_not_asked_for_again() -> None:
    with pytest.raises(DroppedError):
        asyncio.run(ask_twice(2, rest=ANSWER[:9]))
