"""The child's side of a supervised process: requests come in and answers go out as lines.

Only the standard library is used, since a child may confine itself before it imports anything else.
"""

from __future__ import annotations

import json
import os
from typing import Any


class Messages:
    """The requests to this process, and its answers.

    They take standard input and output for themselves: what the process, or one that it starts,
    reads from now on is empty, and what it prints goes to standard error.

    Attributes:
        pipes: the descriptors of the two pipes, which no other process inherits.
    """

    def __init__(self) -> None:
        self.pipes = os.dup(0), os.dup(1)
        nowhere = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nowhere, 0)
        os.close(nowhere)
        os.dup2(2, 1)
        self._requests, self._answers = (
            os.fdopen(pipe, mode) for pipe, mode in zip(self.pipes, ("rb", "wb"), strict=True)
        )

    def read(self) -> Any:
        """The next request, from JSON; None at the end."""
        line = self.read_line()
        return None if line is None else json.loads(line)

    def answer(self, content: Any) -> None:
        """Answer the request, as JSON."""
        self.answer_line(json.dumps(content).encode())

    def read_line(self) -> bytes | None:
        """The next request as it came; None at the end."""
        return self._requests.readline() or None

    def answer_line(self, line: bytes) -> None:
        """Answer the request with a line."""
        self._answers.write(line + b"\n")
        self._answers.flush()
