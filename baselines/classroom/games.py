"""Games of submissions, each with its record: against agents of the library, and each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from azumaya.baselines.arena.league.games import AgentFaultError, Watched
from azumaya.baselines.arena.rounds import Rounds, StartSet, WrongMoveError
from azumaya.baselines.classroom.process import StartingError, SubmissionError
from azumaya.baselines.classroom.submissions import SubmissionAgent, concealed
from azumaya.baselines.system.threads import StoppedError
from azumaya.envs.notation import GameRecord, record_of

Fault = tuple[int, str]
"""Which player lost by a fault, 0 for the first agent and 1 for the second, and what happened."""


@dataclass(frozen=True)
class Played:
    """A game that was played.

    Attributes:
        result: 1, 0 or -1: won, drawn or lost by the first agent.
        seat: the seat of the first agent.
        record: the game as far as it went.
        fault: None, or how it ended.
    """

    result: int
    seat: int
    record: GameRecord
    fault: Fault | None = None


class Noted(Watched):
    """An agent whose moves are written down; its failures name it."""

    def __init__(self, agent: Any, which: int, moves: list[Any]) -> None:
        super().__init__(agent, which, None, 0.0)
        self._moves = moves

    def act(self, positions: Any, keys: Any) -> Any:
        """What the agent gives, for one position."""
        given = super().act(positions, keys)
        self._moves += given
        return given


def play_game(
    starts: StartSet, number: int, seat: int, agents: Sequence[Any], against: str = ""
) -> Played:
    """Play one game; what is hidden in its start is drawn for this seat and second agent alone.

    Args:
        starts: where games start.
        number: the number of the start.
        seat: the seat of the first agent.
        agents: two agents; the clocks of submissions are running.
        against: what tells the second agent from others, if its name does not.

    Raises:
        StartingError: the process of a submission cannot be started.
        StoppedError: the room is being closed.
        Exception: whatever else fails while a submission is asked, and is not its own failure.
    """
    games, moves = Rounds(starts, [number], [seat]), list[Any]()
    names = [str(agent.name) for agent in agents]
    if starts.game.rules.resample is not None:  # whoever remembers an earlier game knows the start
        key = np.uint64(concealed(starts.seed, number, seat, against or names[1]))
        starts.game.rules.resample(games.states[0], key)
    start, fault = games.position(0), None
    noted = [Noted(agent, which, moves) for which, agent in enumerate(agents)]
    try:
        while len(games.running):
            games.play_round(noted, names)
    except (AgentFaultError, WrongMoveError) as error:
        _raise_others(error, agents)
        fault = error.which, str(error).removeprefix("SubmissionError: ")
    end, played = start.copy(), list[str]()
    for move in moves[: games.plies]:  # a move that was refused is the last one noted
        played.append(end.move_name(end.action(move)))
        end.play(move)
    players = (names[seat], names[1 - seat])
    record = record_of(start, played, end, players)
    result = 2 * fault[0] - 1 if fault else int(np.sign(games.gains()[0]))
    return Played(result, seat, record, fault)


def _raise_others(error: AgentFaultError | WrongMoveError, agents: Sequence[Any]) -> None:
    """Raise the cause of an error unless the agent is to blame: its process could not be started.

    For a submission only what it did itself counts, not for instance a system without memory.
    """
    cause = error.__cause__
    if cause is None or isinstance(error, WrongMoveError):
        return
    own = isinstance(agents[error.which], SubmissionAgent)
    if isinstance(cause, StartingError | StoppedError) or (
        own and not isinstance(cause, SubmissionError)
    ):
        raise cause from error


def play_both_seats(
    starts: StartSet, number: int, agents: Sequence[Any], clock: float, against: str = ""
) -> tuple[Played, Played]:
    """Play two games from one start, with swapped seats; submissions have a clock for each game."""
    found = []
    for seat in (0, 1):
        for agent in agents:
            if isinstance(agent, SubmissionAgent):
                agent.begin(clock)
        found.append(play_game(starts, number, seat, agents, against))
    return found[0], found[1]
