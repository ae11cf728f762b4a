"""Halma-Dominari, from "Sudoku goes Classic" by Martin Pforte and Klaus-Peter Rudolph: the rules.

1. Each player has the numbers 1 to 6: white on a1 b1 c1 a2 b2 a3, black on f6 e6 d6 f5 e5 f4, in
   an arrangement drawn, given, or laid in turns (white 1, black 1, white 2, and so on).
2. A move takes one stone one step to a free cell, or jumps over one neighbouring stone of either
   colour to the free cell just behind it, any number of times in a row. Every step and jump goes
   forward: white up, right or both at once; black down, left or both. Jumped stones stay.
3. After the move no number may stand twice in a row, column or block; on the way it may.
4. A stone on the opponent's corner (white: f6, black: a1) may step off the board, and a stone that
   jumps over a stone on that corner, also as the end of a chain, leaves the board. A stone that
   lands on the corner stays there. Nothing else leaves.
5. A player who can move must, one who cannot is skipped; if neither can, the game is a draw.
6. Who has borne off the last own stone wins.

Source: the rulebook of "Sudoku goes Classic" and `shared/rules.md`, section 6.
Decisions: none beyond those. The start cells of the two players share no house, so rule 3 never
binds while stones are laid, and white can always begin (with b2 to c2).
Bound: every move takes a stone at least one nearer to the corner it goes to, in rows plus columns;
six stones are together at most 10 + 9 + 9 + 8 + 8 + 8 = 52 away from it, and each leaves with one
move more: 58 for the winner and 57 for the loser, after 12 steps of laying.

    a6 .. f6   cell 0 .. 5      Actions: number n (1 to 6) to cell c is (n - 1) * 36 + c;
     :    :         :    :      bearing number n off is 216 + n - 1.
    a1 .. f1   cell 30 .. 35
"""

from __future__ import annotations

from typing import Any

import numpy as np

from azumaya.envs.errors import PositionError
from azumaya.envs.game import (
    TERMINATED,
    Game,
    Observation,
    Option,
    Options,
    Plane,
    Rules,
    Words,
    new_states,
    numbered_planes,
)
from azumaya.envs.games.halma import words as words_of
from azumaya.envs.games.halma.moves import (
    CORNER,
    OFF,
    fits,
    goals,
    goals_of,
    jumps_of,
    steps_from,
    stones_of,
    taken_cells,
)
from azumaya.envs.games.halma.words import (
    ACTIONS,
    BLACK,
    CHOOSE,
    NUMBERS,
    OFF_ACTION,
    PLAY,
    START_CELLS,
    WHITE,
)
from azumaya.envs.geometry.dominari36 import (
    BLOCK_OF,
    CELLS,
    COLUMN_OF,
    FULL,
    HOUSES,
    ROW_OF,
    SIZE,
    SQUARES,
)
from azumaya.envs.geometry.houses import first_clash
from azumaya.envs.geometry.symmetry import IDENTITY, square
from azumaya.envs.kernels.bits import (
    U64,
    ZERO,
    bit,
    has,
    lowest,
    popcount,
    put,
    put_byte,
    select,
    word_count,
)
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.rng import random_below
from azumaya.envs.kernels.rows import any_bit, word_in
from azumaya.envs.kernels.states import copy_state
from azumaya.envs.scene import Scene
from azumaya.envs.symmetries import Axis, Content, Moved, Settings, Symmetries

SHUFFLE = CHOOSE + 1
"""The stage of a prepared start whose arrangements `reset` has yet to draw."""

STATE = np.dtype(
    [
        ("stones", U64, (2, NUMBERS)),  # by player and number: its cell as a bit, or nothing
        ("to_move", np.int64),
        ("over", np.int64),
        ("payoff", np.int64),
        ("stage", np.int64),  # PLAY or CHOOSE
    ]
)

MAX_STEPS = 12 + 58 + 57

START = np.array([sum(1 << cell for cell in cells) for cells in START_CELLS], U64)
"""By player, the start cells, `(2,)` uint64."""
LEFT = np.array(
    [
        [SIZE - 1 - COLUMN_OF[c] + ROW_OF[c] + 1 for c in range(CELLS)],
        [COLUMN_OF[c] + SIZE - 1 - ROW_OF[c] + 1 for c in range(CELLS)],
    ]
)
"""By player and cell, rows plus columns to the corner, and one to leave by it."""

PLANES = (
    *numbered_planes("own", "the observer's {n} lies here", NUMBERS),
    *numbered_planes("opposing", "the opponent's {n} lies here", NUMBERS),
    *numbered_planes("room", "free, and the observer's {n} fits by rule 3", NUMBERS),
    Plane("to move", "1 if the observer is to move", "number"),
    Plane("over", "1 if the game is over", "number"),
    Plane("white", "1 if the observer is white and goes up and right", "number", value=Axis.PLAYER),
    Plane("laying", "1 while the stones are laid", "number"),
)
OPPOSING_PLANE, ROOM_PLANE, CELL_PLANES = NUMBERS, 2 * NUMBERS, 3 * NUMBERS
FIRST_NUMBER = 8 * word_count(CELL_PLANES * CELLS)

_SQUARE = square(SIZE)
SYMMETRIES = Symmetries(
    group=(
        (_SQUARE[IDENTITY], _SQUARE["reflection in the rising diagonal"]),
        (_SQUARE[IDENTITY], _SQUARE["half turn"].swapping()),
    ),
    numbers=NUMBERS,
    fields={"stones": Moved((Axis.PLAYER, Axis.NUMBER), Content.CELLS)},
    actions=lambda settings: ((Axis.NUMBER, Axis.CELL), (Axis.NUMBER,)),
    in_order=("stage", CHOOSE),
)
"""The reflection in the line from a1 to f6 makes up of right and right of up, and keeps both start
triangles; the half turn makes white's way black's. No other turn or reflection does either. While
the stones are laid, white goes first and the numbers have their order."""


# ---- rule predicates ----


@kernel
def can_move(state, player):
    """Whether a player could move if it were their turn."""
    return any_bit(goals(state, player, taken_cells(state)))


@kernel
def laid(state, player):
    """How many stones a player has on the board."""
    return popcount(stones_of(state, player))


# ---- kernels ----


@kernel
def reset(states, i, starts, key):
    """Begin an episode; draw the arrangements if they are to be drawn."""
    copy_state(states, i, starts, 0)
    state = states[i]
    if state.stage == SHUFFLE:
        state.stage = PLAY
        for player in range(2):
            room = START[player]
            for n in range(NUMBERS):
                k = random_below(key, player * NUMBERS + n, NUMBERS - n)
                state.stones[player, n] = bit(select(room, k))
                room ^= state.stones[player, n]


@kernel
def write_legal(state, words):
    """The goals of every stone, or where the next stone may be laid."""
    if state.over:
        return
    player = state.to_move
    if state.stage == CHOOSE:
        put(words, laid(state, player) * CELLS, CELLS, START[player] & ~stones_of(state, player))
        return
    found, leaving = goals(state, player, taken_cells(state)), ZERO
    for n in range(NUMBERS):
        cells = word_in(found, n)
        put(words, n * CELLS, CELLS, cells & FULL)
        leaving |= (cells >> OFF) << U64(n)
    put(words, OFF_ACTION, NUMBERS, leaving)


@kernel
def play(state, action):
    """Make a legal move."""
    mover = state.to_move
    if action >= OFF_ACTION:
        state.stones[mover, action - OFF_ACTION] = ZERO
    else:
        state.stones[mover, action // CELLS] = bit(action % CELLS)
    if state.stage == CHOOSE:
        state.to_move = 1 - mover
        if mover == BLACK and laid(state, BLACK) == NUMBERS:
            state.stage = PLAY
    else:
        settle(state, mover)


@kernel
def settle(state, mover):
    """Rules 5 and 6: the end, or who is to move next."""
    if stones_of(state, mover) == ZERO:
        state.over = TERMINATED
        state.payoff = 1 - 2 * mover
    elif can_move(state, 1 - mover):
        state.to_move = 1 - mover
    elif not can_move(state, mover):
        state.over = TERMINATED


@kernel
def observe(state, player, words):
    """The planes of `PLANES`, packed."""
    free = FULL & ~taken_cells(state)
    for n in range(NUMBERS):
        put(words, n * CELLS, CELLS, state.stones[player, n])
        put(words, (OPPOSING_PLANE + n) * CELLS, CELLS, state.stones[1 - player, n])
        put(words, (ROOM_PLANE + n) * CELLS, CELLS, free & fits(state, player, n))
    put_byte(words, FIRST_NUMBER, np.int64(state.to_move == player and not state.over))
    put_byte(words, FIRST_NUMBER + 1, np.int64(state.over != 0))
    put_byte(words, FIRST_NUMBER + 2, np.int64(player == WHITE))
    put_byte(words, FIRST_NUMBER + 3, np.int64(state.stage == CHOOSE))


@kernel
def evaluate(state, player):
    """Progress: how much less way the own stones have before them than the opponent's."""
    worth = 0
    for n in range(NUMBERS):
        for side in range(2):
            stone = state.stones[side, n]
            if stone:
                left = LEFT[side, lowest(stone)]
                worth += left if side != player else -left
    return worth


# ---- host: starts, texts ----


def starts(settings: Settings) -> np.ndarray:
    """The arrangement, or what it will be drawn or laid on, `(1,)` states."""
    states = new_states(1, STATE)
    setup = settings["setup"]
    if isinstance(setup, tuple):
        for player, digits in enumerate(setup):
            for cell, digit in zip(START_CELLS[player], digits, strict=True):
                states["stones"][0, player, int(digit) - 1] = bit(cell)
    else:
        states["stage"] = CHOOSE if setup == "choose" else SHUFFLE
    return states


def write_text(state: Any, settings: Settings) -> str:
    """The position text."""
    return words_of.write_text(state)


def read_text(text: str, settings: Settings) -> np.ndarray:
    """The position of a text, `(1,)` states; raises `PositionError`."""
    states = new_states(1, STATE)
    result = words_of.read_text(text, states)
    state = states[0]
    if state["stage"] == CHOOSE:
        return states
    mover = int(state["to_move"])
    if result is not None:
        _check_end(state, result)
        state["over"], state["payoff"] = TERMINATED, result
    elif not (laid(state, WHITE) and laid(state, BLACK)):
        raise PositionError("position: a player has no stones, but no result= is given")
    elif not can_move(state, mover):
        raise PositionError(
            f"position: {words_of.side_name(mover)} is to move and cannot, but no result= is given"
        )
    return states


def _check_end(state: Any, result: int) -> None:
    mover = int(state["to_move"])
    stones = [int(laid(state, player)) for player in (WHITE, BLACK)]
    if result:
        possible = stones[mover] == 0 < stones[1 - mover] and result == 1 - 2 * mover
    else:
        possible = min(stones) > 0 and not can_move(state, WHITE) and not can_move(state, BLACK)
    if not possible:
        raise PositionError(
            f"position: result={result} is not how this game ends: the winner is to move and has "
            "no stones left, or (result=0) both have stones and cannot move"
        )


# ---- host: sentences ----


def _taken(state: Any) -> np.uint64:
    """All stones; kernels hand words to the host as plain ints."""
    return U64(taken_cells(state))


def explain(state: Any, action: int, settings: Settings) -> str:
    """Why an action is legal, or which rule forbids it."""
    name = words_of.move_name(action, settings)
    if state["over"]:
        return f"{name}: the game is over"
    player = int(state["to_move"])
    if state["stage"] == CHOOSE:
        return f"{name}{words_of.explain_laying(state, action, int(laid(state, player)))}"
    number = action - OFF_ACTION if action >= OFF_ACTION else action // CELLS
    stone = state["stones"][player, number]
    if not stone:
        return f"{name}: the {number + 1} has left the board already"
    taken = _taken(state)
    if action >= OFF_ACTION:
        return f"{name}{_explain_off(state, player, number, taken)}"
    return f"{name}{_explain_move(state, player, number, action % CELLS, taken)}"


def _explain_off(state: Any, player: int, number: int, taken: Any) -> str:
    corner = SQUARES[lowest(CORNER[player])]
    stone = state["stones"][player, number]
    if stone == CORNER[player]:
        return f" is legal: the stone steps off from {corner} (rule 4)"
    if has(U64(goals_of(state, player, number, taken)), CELLS):
        return f" is legal: the stone jumps over the one on {corner} (rule 4)"
    return f": stones leave by a step from {corner} or a jump over a stone on it only (rule 4)"


def _explain_move(state: Any, player: int, number: int, cell: int, taken: Any) -> str:
    stone, square = state["stones"][player, number], SQUARES[cell]
    start = SQUARES[lowest(stone)]
    if has(taken, cell):
        return f": {square} is not free (rule 2)"
    jump = has(U64(jumps_of(state, player, number, taken)), cell)
    if not jump and not has(U64(steps_from(stone, player, taken)), cell):
        ways = "up and right" if player == WHITE else "down and left"
        return f": no step and no jumps lead from {start} to {square}, going {ways} (rule 2)"
    if not has(U64(fits(state, player, number)), cell):
        other = lowest(state["stones"][1 - player, number])
        house = _shared_house(cell, int(other))
        return (
            f": the {house} of {square} has a {number + 1} on {SQUARES[other]}, and no number may "
            "stand twice (rule 3)"
        )
    how = "jumps" if jump else "goes one step"
    return f" is legal: the stone {how} from {start}, and the {number + 1} fits there"


def _shared_house(cell: int, other: int) -> str:
    houses = (("row", ROW_OF), ("column", COLUMN_OF), ("block", BLOCK_OF))
    return next(name for name, of in houses if of[cell] == of[other])


def scene(state: Any, start: Any, settings: Settings) -> Scene:
    """The position as renderers see it."""
    taken = _taken(state)
    player = int(state["to_move"])
    on_board = [n for n in range(NUMBERS) if state["stones"][player, n]]
    candidates = {
        cell: tuple(n + 1 for n in on_board if has(U64(fits(state, player, n)), cell))
        for cell in range(CELLS)
        if not has(taken, cell)
    }
    return words_of.scene(state, candidates)


def check_state(state: Any) -> None:
    """Slow invariants: raises `AssertionError`."""
    boards = [int(board) for board in state["stones"].ravel()]
    assert all(board & (board - 1) == 0 and not board >> CELLS for board in boards)
    assert sum(boards) == int(_taken(state))
    numbers = [abs(number) for number in words_of.numbers_of(state)]
    assert first_clash(numbers, HOUSES) is None
    counts = [int(laid(state, player)) for player in (WHITE, BLACK)]
    mover = int(state["to_move"])
    if state["stage"] == CHOOSE:
        assert not state["over"]
        assert counts == [counts[BLACK] + mover, counts[BLACK]]
        assert all(int(stones_of(state, p)) & ~int(START[p]) == 0 for p in (WHITE, BLACK))
    elif state["over"]:
        assert state["over"] == TERMINATED
        _check_end(state, int(state["payoff"]))
    else:
        assert state["stage"] == PLAY
        assert min(counts) > 0
        assert can_move(state, mover)
        assert state["payoff"] == 0


GAME = Game(
    name="halma_dominari",
    title="Halma-Dominari",
    rules=Rules(
        state=STATE,
        reset=reset,
        play=play,
        write_legal=write_legal,
        observe=observe,
        evaluate=evaluate,
    ),
    observation=Observation(shape=(SIZE, SIZE), planes=PLANES),
    options=Options(
        known=(
            Option(
                "setup",
                "random",
                '`"random"`, `"choose"`, or two strings of six digits',
                "`random`: the seed draws both arrangements; `choose`: the players lay their "
                "numbers in turns; two strings: white's on a1 b1 c1 a2 b2 a3 and black's on f6 e6 "
                "d6 f5 e5 f4.",
                words_of.check_setup,
            ),
        ),
        starts=starts,
        num_actions=lambda settings: ACTIONS,
        max_steps=lambda settings: MAX_STEPS,
        variants=({}, {"setup": "choose"}, {"setup": ("123456", "654321")}),
    ),
    words=Words(
        move_name=words_of.move_name,
        parse_move=words_of.parse_move,
        action_cells=words_of.action_cells,
        write_text=write_text,
        read_text=read_text,
        explain=explain,
        scene=scene,
        check_state=check_state,
    ),
    symmetries=SYMMETRIES,
)
