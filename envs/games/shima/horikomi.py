"""Sudoku Horikomi, by Günter Cornett, a variant of Sudoku Moyo: the rules.

1. A Sudoku puzzle is laid out; its stones belong to the regions they lie in.
2. While any number may still be laid in the neutral region, the player to move lays one there.
3. After that, a player lays a number in any region but the neutral one, the opponent's too.
4. No number stands twice in a row, a column, a block or a region.
5. A player has four stones of each number. A given counts for the owner of its region, a stone
   laid by rule 3 for whoever laid it; what is laid by rule 2 or as a handicap counts for nobody.
6. A player who has no move is skipped; the game ends when neither has one.
7. Then all empty cells get Moyo stones. Fewer Moyo stones in the own four regions wins; then more
   full regions of one's own; then more with eight stones, with seven, and so on; else a draw.

Source: the rulebook of Sudoku Moyo (intellego holzspiele), variant Horikomi, and
`shared/rules.md`, section 3. Decisions: rule 5, and that a starter who cannot move when play
begins after other steps is skipped by rule 6.
Bound: as in Sudoku Moyo.

Board, territories and actions: see `shima`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from azumaya.envs.errors import PositionError
from azumaya.envs.game import (
    TERMINATED,
    Game,
    Observation,
    Options,
    Rules,
    Words,
    new_states,
    numbered_planes,
)
from azumaya.envs.games.shima import board as shima
from azumaya.envs.games.shima import words as words_of
from azumaya.envs.games.shima.board import (
    ALL_STONES,
    CELL_BITS,
    DARK,
    FIELDS,
    FIRST_NUMBER,
    HANDICAP,
    LIGHT,
    PLAY,
    ROW,
    SETUP_BYTES,
    STONES_WITH,
    lay,
    neutral_candidates,
    neutral_room,
    observe_cells,
    observe_setup,
    own,
    play_before,
    region_word,
    word_of,
    write_before,
)
from azumaya.envs.games.shima.territory import OPTIONS, VARIANTS, puzzle_starts
from azumaya.envs.geometry.sudoku81 import CELLS, NUMBERS, WORDS
from azumaya.envs.kernels.bits import U64, ZERO, bit, get, nibble, popcount, put_byte
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.rng import draw_start
from azumaya.envs.kernels.rows import any_bit, load, store, where
from azumaya.envs.scene import Scene, Stone
from azumaya.envs.symmetries import Axis, Content, Moved, Settings
from azumaya.envs.text import PositionText

STATE = np.dtype(
    [
        *FIELDS,
        ("stock", U64, (2,)),  # by player, stones left: four bits a number (bits.nibble)
    ]
)

SET = 4
"""Stones of each number a player has."""
FULL_STOCK = U64(int("4" * NUMBERS, 16))

_FIRST = [w * CELL_BITS // CELLS for w in range(ROW)]
STONES_OF_FIRST = np.array([STONES_WITH[n, w] for w, n in enumerate(_FIRST)], U64)
STONES_OF_SECOND = np.array([ALL_STONES[w] & ~STONES_OF_FIRST[w] for w in range(ROW)], U64)
STOCK_OF_FIRST = np.array([1 << (4 * n) for n in _FIRST], U64)
STOCK_OF_SECOND = STOCK_OF_FIRST << U64(4)
"""A word of a row has stones of two numbers at most: those of each, and the bit of `stock` that
says whether one of them is left (of 4 stones one of the lowest three bits is set)."""

PLANES = (
    *shima.CELL_PLANES,
    *shima.number_planes("0 draft, 1 colour, 2 starter, 3 handicap, 4 play", PLAY),
    *numbered_planes(
        "own stock", "stones of number {n} the observer has left", NUMBERS, "number", SET
    ),
    *numbered_planes(
        "opposing stock", "stones of number {n} the opponent has left", NUMBERS, "number", SET
    ),
)

SYMMETRIES = replace(
    shima.SYMMETRIES,
    fields={**shima.SYMMETRIES.fields, "stock": Moved((Axis.PLAYER,), Content.COUNTS)},
)
"""As in Sudoku Moyo; rule 7 compares regions by how full they are, in whatever order."""

RANK_BITS = 3
"""Three bits hold how many of a player's four regions are alike."""
STONES_RANK = RANK_BITS * (NUMBERS + 1)
CELL_WORTH = 16
"""What a cell counts in `evaluate` beside one choice."""


# ---- rule predicates ----


@kernel
def in_stock(state, player):
    """The stones whose number a player has left, as a row."""
    stock = state.stock[player]
    left = stock | (stock >> U64(1)) | (stock >> U64(2))  # the lowest of four bits tells
    first = where(load(STOCK_OF_FIRST, 0, ROW) & left, load(STONES_OF_FIRST, 0, ROW))
    second = where(load(STOCK_OF_SECOND, 0, ROW) & left, load(STONES_OF_SECOND, 0, ROW))
    return first | second


@kernel
def can_move(state, player):
    """Whether a player could lay a stone if it were their turn: rules 2 to 5."""
    own_choices = load(state.candidates, 0, ROW) & in_stock(state, player)
    return any_bit(neutral_candidates(state) | own_choices)


@kernel
def is_neutral(state, cell):
    """Whether a cell lies in the neutral region."""
    return not (get(state.territory[LIGHT], cell) or get(state.territory[DARK], cell))


@kernel
def filled(state, w):
    """Word `w` of the cells on which a stone lies."""
    cells = ZERO
    for n in range(NUMBERS):
        cells |= word_of(state.stones, n, w)
    return cells


@kernel
def rank(state, player):
    """Rule 7 as one number: the higher wins.

    Most of all count the stones in the own regions (fewer Moyo stones), then the full regions,
    then those with eight stones, and so on.
    """
    low, high = filled(state, 0), filled(state, 1)
    side, worth = own(state, player), 0
    for r in range(NUMBERS):
        in_low, in_high = region_word(state, r, 0), region_word(state, r, 1)
        if (in_low & state.territory[side, 0]) | (in_high & state.territory[side, 1]) != ZERO:
            stones = popcount(low & in_low) + popcount(high & in_high)
            worth += (stones << STONES_RANK) + (1 << (RANK_BITS * stones))
    return worth


# ---- kernels ----


@kernel
def open_play(state):
    """Play begins: the givens are counted. Returns whether the player to move can lay a stone.

    Only givens lie outside the neutral region then.
    """
    for player in range(2):
        side = own(state, player)
        stock = FULL_STOCK
        for n in range(NUMBERS):
            givens = 0
            for w in range(ROW):
                givens += popcount(state.stones[w] & state.territory[side, w] & STONES_WITH[n, w])
            stock -= U64(givens) << U64(4 * n)
        state.stock[player] = stock
    return can_move(state, state.to_move)


@kernel
def write_legal(state, words):
    """Candidates of the numbers in stock, in the opening those in the neutral region.

    After the opening the neutral region has no candidates.
    """
    if state.over:
        return
    if state.stage < HANDICAP:
        write_before(state, words)
        return
    neutral = neutral_candidates(state)
    if any_bit(neutral):
        store(words, 0, neutral)
    else:
        choices = in_stock(state, state.to_move)
        store(words, 0, load(state.candidates, 0, ROW) & choices)


@kernel
def play(state, action):
    """Make a legal move."""
    mover = state.to_move
    if state.stage < PLAY:
        play_before(state, action)
        if state.stage == PLAY:
            open_play(state)
            give_turn(state, state.to_move, mover)
        return
    number, cell = action // CELLS, action % CELLS
    if not is_neutral(state, cell):
        state.stock[mover] -= bit(4 * number)
    lay(state, number, cell)
    give_turn(state, 1 - mover, mover)


@kernel
def give_turn(state, player, mover):
    """Rule 6: the turn goes to a player, else to the other one, else the game is over.

    The side to move is then whoever made the last step.
    """
    if can_move(state, player):
        state.to_move = player
    elif can_move(state, 1 - player):
        state.to_move = 1 - player
    else:
        state.over = TERMINATED
        state.payoff = winner_sign(state)
        state.to_move = mover


@kernel
def winner_sign(state):
    """Rule 7: 1 if player_0 has won, -1 if player_1 has, 0 for a draw."""
    lead = rank(state, 0) - rank(state, 1)
    return np.int64(lead > 0) - np.int64(lead < 0)


@kernel
def observe(state, player, words):
    """The planes of `PLANES`, packed."""
    observe_cells(state, player, words)
    observe_setup(state, player, words, FIRST_NUMBER)
    at = FIRST_NUMBER + SETUP_BYTES
    for n in range(NUMBERS):
        put_byte(words, at + n, nibble(state.stock[player], n))
        put_byte(words, at + NUMBERS + n, nibble(state.stock[1 - player], n))


@kernel
def evaluate(state, player):
    """The own cells that are filled or can be, and the choices left there, less the opponent's.

    With one step of lookahead this beat random play in 98 % of 1,000 games and the cells alone
    in 65 %; the choices alone won 79 % and 15 %.
    """
    mine, theirs = own(state, player), own(state, 1 - player)
    worth = 0
    for w in range(WORDS):
        alive = filled(state, w)
        for n in range(NUMBERS):
            if nibble(state.stock[0] | state.stock[1], n):
                choices = word_of(state.candidates, n, w)
                alive |= choices
                worth += popcount(choices & state.territory[mine, w])
                worth -= popcount(choices & state.territory[theirs, w])
        worth += CELL_WORTH * popcount(alive & state.territory[mine, w])
        worth -= CELL_WORTH * popcount(alive & state.territory[theirs, w])
    return worth


# ---- host: starts, texts, sentences ----


def starts(settings: Settings) -> np.ndarray:
    """The puzzles laid out."""
    return puzzle_starts(STATE, settings, open_play, stock=FULL_STOCK)


def write_text(state: Any, settings: Settings) -> str:
    """The position text; `stock=` says how many stones of 1 to 9 light and dark have left.

    It is left out where every stone counts for the owner of its region.
    """
    extra = [] if _is_usual(state) else [f"stock={_stock_text(state)}"]
    return words_of.write_text(state, extra)


def _is_usual(state: Any) -> bool:
    if state["stage"] < PLAY:
        return True
    usual = _one(state)
    open_play(usual[0])
    return bool((usual["stock"][0] == state["stock"]).all())


def _one(state: Any) -> np.ndarray:
    states = new_states(1, STATE)
    states[0] = state
    return states


def stock_of(state: Any, player: int) -> list[int]:
    """How many stones of 1 to 9 a player has left."""
    return [int(nibble(state["stock"][player], n)) for n in range(NUMBERS)]


def _stock_text(state: Any) -> str:
    light = int(state["light"])
    return ",".join("".join(map(str, stock_of(state, player))) for player in (light, 1 - light))


def read_text(text: str, settings: Settings) -> np.ndarray:
    """The position of a text, `(1,)` states; raises `PositionError`."""
    states, parts = words_of.read_text(text, STATE, settings, ("stock",))
    states["stock"] = FULL_STOCK
    if states["stage"][0] == PLAY:
        open_play(states[0])
    if "stock" in parts.fields:
        _read_stock(states, parts)
    state = states[0]
    if state["over"]:
        _check_result(state)
    else:
        words_of.check_to_move(state, can_move(state, int(state["to_move"])))
    return states


def _read_stock(states: np.ndarray, parts: PositionText) -> None:
    state, word = states[0], parts.fields["stock"]
    if state["stage"] != PLAY or neutral_room(state):
        raise PositionError(
            "position: stock= stands only when no number fits the neutral region any more"
        )
    sides = word.split(",")
    if len(sides) != 2 or any(len(s) != NUMBERS or set(s) - set("01234") for s in sides):
        raise PositionError(
            f"position: stock={word}: the stones left of 1 to 9, each 0 to {SET}, are needed for "
            "light and for dark, like 444444444,444444444"
        )
    for n in range(NUMBERS):
        left = sum(int(side[n]) for side in sides)
        usual = sum(stock_of(state, player)[n] for player in (0, 1))
        if left != usual:
            raise PositionError(
                f"position: stock={word}: of the {n + 1} both together must have {usual} left, "
                f"not {left}"
            )
    for side, letters in enumerate(sides):
        states["stock"][0, side ^ int(state["light"])] = U64(int(letters[::-1], 16))


def _check_result(state: Any) -> None:
    stuck = state["stage"] == PLAY and not can_move(state, 0) and not can_move(state, 1)
    if not stuck or state["payoff"] != winner_sign(state):
        raise PositionError(f"position: result={int(state['payoff'])} is not how this game ends")


def explain(state: Any, action: int, settings: Settings) -> str:
    """Why an action is legal, or which rule forbids it."""
    reason = words_of.explain_common(state, action, settings)
    if reason is not None:
        return reason
    name, stage = words_of.move_name(action, settings), int(state["stage"])
    number, cell = action // CELLS + 1, action % CELLS
    fits = f"{name} is legal: the {number} fits the row, column, block and region"
    if is_neutral(state, cell):
        return f"{fits}, in the neutral region"
    if stage == HANDICAP:
        return f"{name}: handicap stones go to the neutral region"
    if neutral_room(state):
        return f"{name}: while a number fits the neutral region, it must be laid there (rule 2)"
    left = stock_of(state, int(state["to_move"]))[number - 1]
    if not left:
        return f"{name}: none of your four stones with the {number} is left (rule 5)"
    return f"{fits}, and {left} of your four are left"


def scene(state: Any, start: Any, settings: Settings) -> Scene:
    """The position as renderers see it, with the stones left beside the board."""
    trays = tuple(
        (words_of.side_name(state, player), _tray(state, player))
        for player in (int(state["light"]), 1 - int(state["light"]))
    )
    return words_of.scene(state, start, (_note(state),), trays)


def _tray(state: Any, player: int) -> tuple[Stone, ...]:
    colour = words_of.OWNER_NAMES[player ^ int(state["light"])]
    left = enumerate(stock_of(state, player), start=1)
    return tuple(Stone(colour, str(n)) for n, count in left for _ in range(count))


def _note(state: Any) -> str:
    if state["over"]:
        if not state["payoff"]:
            return "over: a draw"
        return f"over: {words_of.side_name(state, int(state['payoff'] < 0))} wins"
    mover = words_of.side_name(state, int(state["to_move"]))
    if state["stage"] < PLAY:
        return f"{mover}: {words_of.TASKS[int(state['stage'])]}"
    phase = "opening: neutral region" if neutral_room(state) else "any region but neutral"
    return f"{mover} to move ({phase})"


def check_state(state: Any) -> None:
    """Slow invariants: raises `AssertionError`."""
    words_of.check_state(state)
    movable = [bool(can_move(state, player)) for player in (0, 1)]
    if state["over"]:
        assert not any(movable)
        assert state["payoff"] == winner_sign(state)
    elif state["stage"] >= PLAY:
        assert movable[int(state["to_move"])]
        assert not state["payoff"]
    outside = state["territory"][LIGHT] | state["territory"][DARK]
    for n in range(NUMBERS):
        left = [stock_of(state, player)[n] for player in (0, 1)]
        assert all(0 <= count <= SET for count in left)
        laid = state["stones"] & outside & STONES_WITH[n]
        stones = sum(int(w).bit_count() for w in laid)
        assert sum(left) == 2 * SET - (stones if state["stage"] == PLAY else 0), f"stock of {n + 1}"


GAME = Game(
    name="sudoku_horikomi",
    title="Sudoku Horikomi",
    rules=Rules(
        state=STATE,
        reset=draw_start,
        play=play,
        write_legal=write_legal,
        observe=observe,
        evaluate=evaluate,
    ),
    observation=Observation(shape=(9, 9), planes=PLANES, houses_only=True),
    options=Options(
        known=OPTIONS,
        starts=starts,
        num_actions=words_of.num_actions,
        max_steps=lambda settings: shima.MAX_STEPS,
        variants=VARIANTS,
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
