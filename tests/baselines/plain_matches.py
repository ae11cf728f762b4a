"""Pairings played object by object: the naive form of `azumaya.baselines.arena.matches`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from azumaya.baselines.arena.rounds import Score
from azumaya.envs import Position
from azumaya.envs.position import episode_key

LOOKS = 1 << 20


def play_plainly(
    game: str,
    agents: Sequence[Any],
    starts: int,
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
) -> Score:
    """What `play_pairing` returns for plain starts, one `Position` and one `act` for each move."""
    wins, draws, losses, pairs = [0, 0], [0, 0], 0, [0] * 5
    for number in range(starts):
        halves = 2
        for seat in (0, 1):
            start = Position(game, seed=seed + number, **(options or {}))
            gain = play_game(start, agents, seat, seed, number)
            wins[seat] += gain > 0
            draws[seat] += gain == 0
            losses += gain < 0
            halves += (gain > 0) - (gain < 0)
        pairs[halves] += 1
    names = [agent.name for agent in agents]
    return Score(*names, sum(wins), sum(draws), losses, tuple(wins), tuple(draws), tuple(pairs))


def play_game(position: Position, agents: Sequence[Any], seat: int, seed: int, number: int) -> int:
    """What the first agent gains in one game, from its seat."""
    turn = 0
    while not position.is_over:
        for which, agent in enumerate(agents):
            if not position.is_over and position.to_move ^ seat == which:
                key = int(episode_key(seed, number, 1 + 4 * turn + 2 * which + seat))
                view = position.resample_hidden(key ^ LOOKS)
                position.play(agent.act([view], [key])[0])
        turn += 1
    return position.returns()[seat]
