"""What an agent's moves lose near the end of its games, where the solver knows every value."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from azumaya.baselines.agents.asking import action_of, name_of
from azumaya.baselines.arena.exam_results import Interval, regret_interval
from azumaya.baselines.search.game_kernels import kernels_of
from azumaya.baselines.search.solver import Solution, SolverRooms, solved_from_the_end
from azumaya.envs import Position
from azumaya.envs.adapters.duel.opponents import Opponent
from azumaya.envs.position import episode_key

STREAM = 1 << 24
"""The keys of an agent's moves come from this environment number."""
KEYS = 8
"""How often an agent is asked for its move in a position."""
NODES, MEGABYTES = 20_000, 16
"""The solver's budget for a position, and its memory."""


@dataclass(frozen=True)
class Endgames:
    """What an agent's moves lose against exact play, where some move is better than another.

    Attributes:
        positions: how many such positions were solved, all with the agent to move.
        plies_left: the most plies that a game still lasted from one of them.
        mistakes: the share of moves that lose anything.
        regret: the value of the best move less that of the agent's, on average.
        interval: the 95 % interval for `regret`.
    """

    positions: int
    plies_left: int
    mistakes: float
    regret: float
    interval: Interval


def endgames_of(
    agent: Opponent,
    games: Iterable[tuple[Sequence[Position], int]],
    seed: int,
    nodes: int = NODES,
) -> Endgames | None:
    """What an agent's moves lose near the end of games; None if nothing could be found out.

    The ends of the games are solved, from the last position backwards as far as the solver can. A
    position counts once, however often it occurs. An agent that plays at random is asked for
    several moves with different keys, and their mean counts.

    Args:
        agent: the agent.
        games: games with the same options, each with its positions, the last of which is over, and
            the agent's seat.
        seed: the seed of the keys.
        nodes: the solver's budget for each position.

    Raises:
        HiddenDrawsError: the game has hidden draws.
    """
    seen, losses, most, farthest = set[str](), list[list[int]](), 0, 0
    for left, position, solution in _solved(games, nodes):
        gains = [gain for gain in solution.moves.values() if gain is not None]
        if str(position) not in seen and min(gains) < max(gains):
            seen.add(str(position))
            losses.append(_lost(agent, position, solution, seed, len(losses)))
            most = max(most, max(gains) - min(gains))
            farthest = max(farthest, left)
    if not losses:
        return None
    regrets = [statistics.fmean(each) for each in losses]
    return Endgames(
        len(regrets),
        farthest,
        statistics.fmean(loss > 0 for each in losses for loss in each),
        statistics.fmean(regrets),
        regret_interval(regrets, most),
    )


def _solved(
    games: Iterable[tuple[Sequence[Position], int]], nodes: int
) -> Iterator[tuple[int, Position, Solution]]:
    """The agent's solved positions, those of each game from the last on, with the plies left."""
    rooms: SolverRooms | None = None
    for path, seat in games:
        own = [
            (len(path) - 1 - ply, position)
            for ply, position in enumerate(path)
            if not position.is_over and position.to_move == seat
        ]
        if own:
            positions = [position for _, position in own]
            rooms = rooms or SolverRooms(kernels_of(positions[0]), MEGABYTES)
            for index, solution in solved_from_the_end(rooms, positions, nodes):
                yield *own[index], solution


def _lost(
    agent: Opponent, position: Position, solution: Solution, seed: int, number: int
) -> list[int]:
    """What each of the agent's moves loses in a position, whose number decides its keys."""
    keys = [int(episode_key(seed, STREAM, KEYS * number + k)) for k in range(KEYS)]
    name = name_of(agent)
    gains = [solution.moves[action_of(agent, position, key, name)] for key in keys]
    assert solution.value is not None
    return [solution.value - gain for gain in gains if gain is not None]
