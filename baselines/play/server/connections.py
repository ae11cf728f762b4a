"""Connections whose clients can neither keep them open by doing nothing, nor take all of them."""

from __future__ import annotations

import asyncio
from collections import Counter
from ipaddress import ip_address
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

LEAST_BYTES = 16_384
"""A client that takes fewer bytes of an answer in the time it has takes none."""
TOO_MANY = "too many connections from this address; close some, or see --most-connections\n"
REFUSAL = (
    "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n"
    f"Content-Type: text/plain; charset=utf-8\r\nContent-Length: {len(TOO_MANY)}\r\n\r\n{TOO_MANY}"
).encode()


class Connection(H11Protocol):
    """A connection that is closed when its client keeps the server waiting.

    uvicorn closes those that are idle after an answer. The same time, `timeout_keep_alive`, is all
    that a client has here for its first byte, for a whole request from its first byte on, and for
    each part of an answer.

    Args:
        given: what uvicorn gives to a protocol.
        counts: how many connections each address has; shared by all connections.
        most: how many it may have; more are refused.
        named: what uvicorn gives by name.
    """

    def __init__(self, *given: Any, counts: Counter[str], most: int, **named: Any) -> None:
        super().__init__(*given, **named)
        self._counts, self._most, self._owner = counts, most, ""
        self._timer: asyncio.TimerHandle | None = None
        self._has_begun = False
        self._unsent = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Refuse the connection if its address has too many."""
        super().connection_made(transport)
        self._owner = owner_of(self.client[0] if self.client else "")
        self._counts[self._owner] += 1
        self._watch()
        if self._counts[self._owner] > self._most:
            transport.write(REFUSAL)
            transport.close()

    def data_received(self, data: bytes) -> None:
        """Go on with a request, or begin one."""
        begins, self._has_begun = not self._has_begun, True
        super().data_received(data)
        self._watch(anew=begins)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP; where an answer has begun already, it cannot be another one."""
        if self.cycle is not None:
            self.cycle.disconnected = True  # whoever answers must not answer as well
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self.transport.abort()

    def on_response_complete(self) -> None:
        """Wait for the next request, unless it is there."""
        super().on_response_complete()
        self._has_begun = False
        self._watch(anew=True)

    def pause_writing(self) -> None:
        """Wait until the client has taken more of an answer."""
        super().pause_writing()
        self._watch()

    def resume_writing(self) -> None:
        """Go on with an answer."""
        super().resume_writing()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop()
        self._counts[self._owner] -= 1
        if not self._counts[self._owner]:
            del self._counts[self._owner]
        super().connection_lost(exc)

    def _watch(self, anew: bool = False) -> None:
        """Limit the time while the server waits for the client; `anew`: from now on."""
        asked = self.cycle is not None and not self.cycle.more_body
        works = asked and not self.cycle.response_complete and not self.flow.write_paused
        if anew or works:
            self._stop()
        if self._timer is None and not works:
            self._start()

    def _start(self) -> None:
        self._unsent = self.transport.get_write_buffer_size()
        self._timer = self.loop.call_later(self.timeout_keep_alive, self._end)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _end(self) -> None:
        """End the connection, unless its client is just taking a long answer."""
        if self.transport.get_write_buffer_size() > self._unsent - LEAST_BYTES:
            self.transport.abort()  # `close` would wait for what the client does not take
        else:
            self._start()


def owner_of(address: str) -> str:
    """Who has an address: with IPv6, one has all those that share the first 64 bits."""
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if found.version == 4 or found.ipv4_mapped:
        return address
    return f"{int(found) >> 64:x}"
