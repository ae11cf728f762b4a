"""Submissions that run in processes of their own, as in class."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from azumaya.baselines.classroom.process import Limits, PlayerProcess, Room
from azumaya.baselines.classroom.sitting import check
from azumaya.baselines.classroom.submissions import Submission, SubmissionAgent
from azumaya.envs import Position

GAME = "vierer_dominari"
QUICK = Limits(move=1.0, loading=1.0, megabytes=512)
"""For submissions that must be too slow."""
PATIENT = Limits(move=60.0, loading=60.0, megabytes=512)
"""For others: no machine may be so busy that these are too slow."""
REQUEST = {"game": GAME, "options": {}, "position": str(Position(GAME)), "key": 1}
needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="namespaces are Linux's")


def checked(source: str | bytes, room: Room, game: str = GAME) -> SubmissionAgent:
    """A submission that has passed its check, and has ended."""
    content = source.encode() if isinstance(source, str) else source
    with closing(SubmissionAgent(Submission("x.py", content), game, room)) as agent:
        check(agent, game)
    return agent


@contextmanager
def asked(source: str | bytes, room: Room, seconds: float = 60.0) -> Iterator[PlayerProcess]:
    """A process that was asked for a move, without a check; afterwards its output is whole."""
    content = source.encode() if isinstance(source, str) else source
    with closing(PlayerProcess(GAME, "x.py", content, room)) as process:
        process.ask(REQUEST, seconds)
        yield process
