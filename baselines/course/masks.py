"""Notebook 1: the mask of a number in Vierer-Dominari."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

from azumaya.baselines.course.verdict import WrongAnswerError, checked, require, returned
from azumaya.envs import Position
from azumaya.envs.errors import brief
from azumaya.envs.geometry.dominari36 import CELLS, FULL, PEERS, SQUARES, beside
from azumaya.envs.kernels.bits import U64, cells_of
from azumaya.envs.whole import as_whole

GAME = "vierer_dominari"
NUMBERS = 5
GAMES = 100
NumberMask = Callable[[Sequence[int], int, int], int]


def number_mask(stones: Sequence[int], taken: int, number: int) -> int:
    """The course's answer: the cells where a number may be placed, as an int."""
    free = int(FULL) & ~taken
    for cell in cells_of([U64(stones[number - 1])]):  # type: ignore[arg-type]
        free &= ~int(PEERS[cell])
    return free & int(beside(U64(taken))) if taken else free


def boards_of(position: Position) -> tuple[list[int], int]:
    """The stones of each number and all stones, blanks included, as ints: bit `c` is cell `c`."""
    state = position.state[0]
    return [int(board) for board in state["stones"]], int(state["colours"][0] | state["colours"][1])


@checked(number_mask)
def check_number_mask(answer: NumberMask) -> str:
    """Check `answer(stones, taken, number)` against the rules in random games.

    Args:
        answer: returns the cells where `number`, 1 to 5, may be placed, as an int whose bit `c` is
            cell `c`. `stones[n - 1]` are the cells with number `n`, and `taken` those with any
            stone.
    """
    compared = 0
    for position in _random_positions():
        stones, taken = boards_of(position)
        mask = position.action_mask()
        for number in range(1, NUMBERS + 1):
            given = _whole(returned(answer, list(stones), taken, number))
            for cell, square in enumerate(SQUARES):
                legal = bool(mask[CELLS * (number - 1) + cell])
                if bool(given >> cell & 1) != legal:
                    _refuse(position, f"{number}{square}", legal)
            require(
                not given >> CELLS,
                f"in {position}: the mask of {number} has bits beyond cell {CELLS - 1}; "
                "were cells shifted off the board?",
            )
            compared += CELLS
    return f"{compared:,} bits in {GAMES} games, and all of them agree with the rules."


def _random_positions() -> Iterator[Position]:
    """The positions of random games in which a number is to be placed."""
    rng = random.Random(1)
    for _ in range(GAMES):
        position = Position(GAME)
        while not position.is_over:
            actions = position.legal_actions()
            if actions[0] < NUMBERS * CELLS:
                yield position
            position.play(rng.choice(actions))


def _whole(given: object) -> int:
    number = as_whole(given)
    if number is None or number < 0:
        hint = "" if number is None else " An AND with the full board removes the bits that ~ sets."
        raise WrongAnswerError(
            f"the answer must be an int that is not negative, and was {brief(given)}.{hint}"
        )
    return number


def _refuse(position: Position, move: str, legal: bool) -> None:
    told = "leaves out" if legal else "allows"
    require(False, f"in {position}: your mask {told} {move}, but {position.explain(move)}.")
