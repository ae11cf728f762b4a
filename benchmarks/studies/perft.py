"""Counts sequences of moves: `python -m azumaya.benchmarks.studies.perft --game abalone --depth 5`.

Two programs that have the same counts for a position have, in all likelihood, the same rules there.
All is counted by the game's kernels, one position at a time, and the last ply by its mask alone.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np
import typer

from azumaya.baselines.arena.game_options import game_named, read_options
from azumaya.baselines.cli.terminal import complaints, guarded
from azumaya.baselines.search.game_kernels import kernels_of
from azumaya.baselines.system.commands import Commands, formerly
from azumaya.benchmarks.studies.seeded_work import GameName
from azumaya.envs import Position
from azumaya.envs.game import RUNNING, Game
from azumaya.envs.kernels.bits import ONE, ZERO, clear, count, lowest, word_count
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.states import copy_state


@functools.cache
def perft_kernel(game: Game, words: int) -> Any:
    """The kernel `perft(states, legal, depth)`; `states[0]` is where sequences begin."""
    play, write_legal = game.rules.play, game.rules.write_legal

    @kernel
    def perft(states: Any, legal: Any, depth: Any) -> Any:
        total, level = 0, 0
        clear(legal[0])
        write_legal(states[0], legal[0])
        while level >= 0:
            if level + 1 == depth:
                total += count(legal[level], words)
                level -= 1
                continue
            word = 0
            while word < words and legal[level, word] == ZERO:
                word += 1
            if word == words:
                level -= 1
                continue
            action = 64 * word + lowest(legal[level, word])
            legal[level, word] &= legal[level, word] - ONE
            level += 1
            copy_state(states, level, states, level - 1)
            play(states[level], action)
            clear(legal[level])
            if states[level].over == RUNNING:
                write_legal(states[level], legal[level])
        return total

    return perft


def perft(position: Position, most: int) -> Iterator[int]:
    """The numbers of sequences of 1, 2, ... up to `most` legal moves from a position.

    Raises:
        HiddenDrawsError: the game has hidden draws.
    """
    game, words = position.game, word_count(position.num_actions)
    kernels_of(position).check_open()
    states, legal = game.new_states(most), np.zeros((most, words), np.uint64)
    states[:1] = position.state
    for depth in range(1, most + 1):
        yield int(perft_kernel(game, words)(states, legal, depth))


def main(
    game: GameName,
    option: Annotated[list[str] | None, typer.Option(help="NAME=VALUE, of the game.")] = None,
    depth: Annotated[int, typer.Option(min=1, max=20, help="The most moves.")] = 4,
    seed: Annotated[int, typer.Option(min=0, help="Of the start, where it is drawn.")] = 0,
) -> None:
    """Count sequences of legal moves from the start of a game."""
    with complaints():
        found = game_named(game)
        start, began = Position(found, seed=seed, **read_options(found, option or ())), time.time()
        for moves, sequences in enumerate(perft(start, depth), 1):
            typer.echo(f"{moves} {sequences:,} ({time.time() - began:.1f} s)")


app = Commands(add_completion=False)
app.command(cls=formerly(game_first=True))(main)

if __name__ == "__main__":
    guarded("perft", app)
