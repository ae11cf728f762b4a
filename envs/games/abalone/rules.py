"""Abalone, by Michel Lalet and Laurent Lévi: the rules.

1. A move shifts one, two or three own marbles, side by side in one line, by one cell in one
   direction: in line or broadside. Cells moved into must be free, except in a push.
2. A push is in line: two marbles against one, three against one or two, directly in front and
   with a free cell or the edge behind them. A marble pushed over the edge is out; own marbles
   never leave the board. A move in line takes all own marbles from the trailing one on, so one
   that would take more than three is none; a marble behind the trailing one stays where it is.
3. Pushing is never forced. Who has first pushed out six opposing marbles wins.
4. A player without a legal move loses. At `max_plies` the game is cut off, with nothing for
   either or, with `tiebreak="marbles"`, won by whoever has pushed out more.

Source: the German rules of Abalone and `shared/rules.md`, section 10.
Decisions: `max_plies` counts from a start position's `ply=`; it is at most 2,097,151.
Bound: `max_plies` steps. Without a limit there is none (marbles can go to and fro for ever), and
`max_steps` is `NO_BOUND`, which stands for that.

Board: see `hex61`; `state.marbles[p]` has the marbles of player p, by place.
Actions: see `abalone_moves`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from azumaya.envs.errors import PositionError
from azumaya.envs.game import (
    TERMINATED,
    TRUNCATED,
    Game,
    Observation,
    Option,
    Options,
    Plane,
    Rules,
    Words,
    new_states,
    one_of,
)
from azumaya.envs.games.abalone import words as words_of
from azumaya.envs.games.abalone.moves import (
    ACTIONS,
    FIRST_THREE,
    FIRST_TWO,
    MOVE_PLACE,
    MOVE_WAYS,
    in_line,
    leaves_and_enters,
    write_lines,
    write_sides,
)
from azumaya.envs.games.abalone.words import BLACK, MOST_PLIES, TO_WIN, WHITE
from azumaya.envs.geometry.hex61 import (
    ARRAY_CELL,
    CELL_OF_PLACE,
    DIRECTIONS,
    DISCS,
    FULL,
    HIGH_BITS,
    LOW_BITS,
    LOW_ROWS,
    RADIUS,
    SIZE,
    array_rows,
    board,
    facing,
    shifted,
)
from azumaya.envs.geometry.symmetry import hexagon
from azumaya.envs.kernels.bits import (
    U64,
    ZERO,
    bit,
    popcount,
    put,
    put_byte,
    word_count,
)
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.rng import draw_start
from azumaya.envs.kernels.rows import any_bit
from azumaya.envs.symmetries import Axis, Content, Moved, Settings, Symmetries

STATE = np.dtype(
    [
        ("marbles", U64, (2,)),  # by player, by place
        ("to_move", np.int64),
        ("over", np.int64),
        ("payoff", np.int64),
        ("out", np.int64, (2,)),  # by player: own marbles pushed out
        ("ply", np.int64),  # steps so far
        ("max_plies", np.int64),  # options: the limit, 0 = none
        ("tiebreak", np.int64),  # do marbles pushed out count at the limit?
    ]
)

NO_BOUND = 2**31 - 1
MARBLE_WORTH = 16
"""To `evaluate`; more than the most a move changes in centrality (five marbles, one step each)."""

PLANES = (
    Plane("own", "marbles of the observer"),
    Plane("opposing", "marbles of the opponent"),
    Plane("board", "the 61 cells of the board"),
    Plane("to move", "1 if the observer is to move", "number"),
    Plane("over", "1 if the game is over", "number"),
    Plane("own out", "own marbles pushed out", "number", TO_WIN),
    Plane("opposing out", "opposing marbles pushed out", "number", TO_WIN),
    Plane("plies left / 16384", "plies left to the limit, divided; 0 if no limit", "number", 127),
    Plane("plies left / 128", "remainder of that, divided", "number", 127),
    Plane("plies left", "remainder of that", "number", 127),
    Plane("tiebreak", "1 if marbles pushed out count at the limit", "number"),
)
CELL_PLANES = 3
FIRST_NUMBER = 8 * word_count(CELL_PLANES * SIZE * SIZE)

SYMMETRIES = Symmetries(
    group=hexagon(),
    fields={"marbles": Moved((Axis.PLAYER,), Content.CELLS)},
    actions=lambda settings: ((Axis.MOVE,),),
    bits=tuple(ARRAY_CELL[cell] for cell in CELL_OF_PLACE),
    moves=leaves_and_enters,
)
"""Moves and pushes are the same in all six directions, and nothing but the layout, which a
position shows, tells the sides of the board or the players apart."""


# ---- rule predicates, on boards ----


@kernel
def free_cells(state):
    """The cells without a marble."""
    return FULL & ~(state.marbles[0] | state.marbles[1])


@kernel
def can_move(state, player):
    """Whether a player could move if it were their turn.

    A marble beside a free cell can go there; without one there is no broadside either, and only
    pushes over the edge are left.
    """
    own, theirs, free = state.marbles[player], state.marbles[1 - player], free_cells(state)
    for direction in range(DIRECTIONS):
        if own & facing(free, direction):
            return True
    return any_bit(in_line(own, theirs, free))


# ---- legal moves ----


@kernel
def write_legal(state, words):
    """All legal moves, found on shifted boards."""
    if state.over:
        return
    own, theirs = state.marbles[state.to_move], state.marbles[1 - state.to_move]
    free = free_cells(state)
    write_lines(own, theirs, free, words)
    write_sides(own, free, words)


# ---- kernels ----


@kernel
def play(state, action):
    """Make a legal move."""
    mover = state.to_move
    first, ways = bit(MOVE_PLACE[action]), np.int64(MOVE_WAYS[action])
    axis, direction = ways >> 3, ways & 7
    if action < FIRST_TWO:
        move_in_line(state, mover, first, direction)
    else:
        group = first | shifted(first, axis)
        if action >= FIRST_THREE:
            group |= shifted(group, axis)
        state.marbles[mover] = (state.marbles[mover] ^ group) | shifted(group, direction)
    state.ply += 1
    settle(state, mover)


@kernel
def move_in_line(state, mover, first, direction):
    """Move the own marbles from the trailing one on, and those they push."""
    own, theirs = state.marbles[mover], state.marbles[1 - mover]
    second = shifted(first, direction) & own
    third = shifted(second, direction) & own
    line = first | second | third
    front = shifted(line, direction) & ~line
    one = front & theirs
    pushed = one | (shifted(one, direction) & theirs)
    behind = shifted(pushed, direction) & ~pushed
    state.marbles[mover] = (own ^ first) | front
    state.marbles[1 - mover] = (theirs ^ one) | behind
    if one != ZERO and behind == ZERO:
        state.out[1 - mover] += 1


@kernel
def settle(state, mover):
    """Rules 3 and 4: the end, or the next turn."""
    other = 1 - mover
    if state.out[other] >= TO_WIN or not can_move(state, other):
        state.over = TERMINATED
        state.payoff = 1 - 2 * mover
        return
    state.to_move = other
    if state.max_plies > 0 and state.ply >= state.max_plies:
        state.over = TRUNCATED
        state.payoff = state.tiebreak * lead(state)


@kernel
def lead(state):
    """1 if player_0 has pushed out more marbles, -1 if fewer, 0 if as many."""
    return np.int64(state.out[1] > state.out[0]) - np.int64(state.out[1] < state.out[0])


@kernel
def observe(state, player, words):
    """The planes of `PLANES`, packed."""
    put_plane(words, 0, state.marbles[player])
    put_plane(words, 1, state.marbles[1 - player])
    put_plane(words, 2, FULL)
    left = state.max_plies - state.ply if state.max_plies > 0 else 0
    put_byte(words, FIRST_NUMBER, np.int64(state.to_move == player and not state.over))
    put_byte(words, FIRST_NUMBER + 1, np.int64(state.over != 0))
    put_byte(words, FIRST_NUMBER + 2, state.out[player])
    put_byte(words, FIRST_NUMBER + 3, state.out[1 - player])
    put_byte(words, FIRST_NUMBER + 4, left >> 14)
    put_byte(words, FIRST_NUMBER + 5, left >> 7 & 127)
    put_byte(words, FIRST_NUMBER + 6, left & 127)
    put_byte(words, FIRST_NUMBER + 7, state.tiebreak)


@kernel
def put_plane(words, plane, marbles):
    """One plane of cells: the board in the 9x9 array of `hex61.array_rows`."""
    start = plane * SIZE * SIZE
    put(words, start, LOW_BITS, array_rows(marbles, 0, LOW_ROWS))
    put(words, start + LOW_BITS, HIGH_BITS, array_rows(marbles, LOW_ROWS, SIZE))


@kernel
def evaluate(state, player):
    """Marbles first, then centrality: 4 for a marble in the centre, 0 for one at the edge."""
    own, theirs = state.marbles[player], state.marbles[1 - player]
    worth = MARBLE_WORTH * (state.out[1 - player] - state.out[player])
    for k in range(RADIUS):
        worth += popcount(own & DISCS[k]) - popcount(theirs & DISCS[k])
    return worth


# ---- host: starts, texts ----


def starts(settings: Settings) -> np.ndarray:
    """The layout, `(1,)` states; raises `PositionError`."""
    layout = settings["layout"]
    if layout not in words_of.LAYOUTS:
        return _start_from(layout, settings)
    states = _new_state(settings)
    for player in (BLACK, WHITE):
        states["marbles"][0, player] = board(words_of.LAYOUTS[layout][player])
    return states


def _start_from(text: str, settings: Settings) -> np.ndarray:
    try:
        states = read_text(text, settings)
    except PositionError as error:
        raise PositionError(str(error).replace("position", "layout", 1)) from None
    if states["over"][0]:
        raise PositionError("layout: the game is over in it, so no episode can start there")
    return states


def _new_state(settings: Settings) -> np.ndarray:
    states = new_states(1, STATE)
    states["max_plies"] = settings["max_plies"]
    states["tiebreak"] = settings["tiebreak"] == "marbles"
    return states


def write_text(state: Any, settings: Settings) -> str:
    """The position text."""
    return words_of.write_text(state)


def read_text(text: str, settings: Settings) -> np.ndarray:
    """The position of a text, `(1,)` states; raises `PositionError`."""
    states = _new_state(settings)
    result = words_of.read_text(text, states)
    state = states[0]
    if result is None:
        _check_running(state)
    else:
        _read_end(state, result)
    return states


def _check_running(state: Any) -> None:
    limit = int(state["max_plies"])
    if limit and state["ply"] >= limit:
        raise PositionError(
            f"position: ply={int(state['ply'])} must be below max_plies={limit} "
            "where no result= is given"
        )
    if not can_move(state, int(state["to_move"])):
        raise PositionError("position: the player to move has no legal move")


def _read_end(state: Any, result: int) -> None:
    """Whether `result=` is how the game ends here, and whether by the rules or the limit."""
    mover, limit, ply = int(state["to_move"]), int(state["max_plies"]), int(state["ply"])
    by_rules = state["out"][1 - mover] >= TO_WIN or not can_move(state, 1 - mover)
    in_time = limit == 0 or ply <= limit
    if in_time and by_rules and state["out"][mover] < TO_WIN and result == 1 - 2 * mover:
        state["over"] = TERMINATED
    elif (
        0 < limit == ply
        and max(state["out"]) < TO_WIN
        and can_move(state, mover)
        and result == state["tiebreak"] * lead(state)
    ):
        state["over"] = TRUNCATED
    else:
        raise PositionError(
            f"position: result={result} is not how this game ends: with the winner to move and "
            "six marbles out or no legal move for the loser; or at ply=max_plies, with what the "
            "tiebreak gives"
        )
    state["payoff"] = result


def check_state(state: Any) -> None:
    """Slow invariants: raises `AssertionError`."""
    black, white = (int(marbles) for marbles in state["marbles"])
    assert not black & white
    assert not (black | white) & ~int(FULL)
    out, mover = state["out"].tolist(), int(state["to_move"])
    assert min(out) >= 0
    assert max(out) <= TO_WIN
    limit, ply = int(state["max_plies"]), int(state["ply"])
    if state["over"] == TERMINATED:
        assert out[1 - mover] == TO_WIN or not can_move(state, 1 - mover)
        assert state["payoff"] == 1 - 2 * mover
        return
    assert max(out) < TO_WIN
    assert can_move(state, mover)
    if state["over"] == TRUNCATED:
        assert ply == limit > 0
        assert state["payoff"] == (lead(state) if state["tiebreak"] else 0)
    else:
        assert state["payoff"] == 0
        assert limit == 0 or ply < limit


GAME = Game(
    name="abalone",
    title="Abalone",
    rules=Rules(
        state=STATE,
        reset=draw_start,
        play=play,
        write_legal=write_legal,
        observe=observe,
        evaluate=evaluate,
    ),
    observation=Observation(shape=(SIZE, SIZE), planes=PLANES),
    options=Options(
        known=(
            Option(
                "layout",
                "standard",
                ", ".join(f'`"{name}"`' for name in words_of.LAYOUTS) + ", or a position text",
                "How the marbles lie at the start.",
                words_of.check_layout,
            ),
            Option(
                "max_plies",
                400,
                f"0 to {MOST_PLIES}",
                "After so many steps the game is truncated; 0: never.",
                words_of.check_plies,
            ),
            Option(
                "tiebreak",
                None,
                '`None`, `"marbles"`',
                "`marbles`: at `max_plies` whoever has pushed out more marbles wins.",
                one_of("tiebreak", "marbles"),
            ),
        ),
        starts=starts,
        num_actions=lambda settings: ACTIONS,
        max_steps=lambda settings: int(settings["max_plies"]) or NO_BOUND,
        variants=(
            {},
            {"layout": "belgian_daisy", "max_plies": 60, "tiebreak": "marbles"},
            {"layout": "german_daisy", "max_plies": 9},
            {"layout": "swiss_daisy", "max_plies": 40, "tiebreak": "marbles"},
            {"layout": "dutch_daisy", "max_plies": 200},
            {"layout": words_of.CLOSE_COMBAT, "max_plies": 0},
            {"layout": words_of.CORNERED, "max_plies": 30},
        ),
    ),
    words=Words(
        move_name=words_of.move_name,
        parse_move=words_of.parse_move,
        action_cells=words_of.action_cells,
        write_text=write_text,
        read_text=read_text,
        explain=words_of.explain,
        scene=words_of.scene,
        check_state=check_state,
    ),
    symmetries=SYMMETRIES,
)
