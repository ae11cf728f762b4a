"""Words of Sudoku Horikomi: position texts, sentences, scenes, checks."""

from __future__ import annotations

from typing import Any

import numpy as np

from azumaya.envs.errors import PositionError
from azumaya.envs.game import new_states
from azumaya.envs.games._shima import texts, words
from azumaya.envs.games._shima.board import DARK, HANDICAP, LIGHT, PLAY, STONES_WITH
from azumaya.envs.games._shima.stones import neutral_room
from azumaya.envs.games.sudoku_horikomi.board import SET, STATE
from azumaya.envs.games.sudoku_horikomi.rules import (
    FULL_STOCK,
    can_move,
    is_neutral,
    open_play,
    winner_sign,
)
from azumaya.envs.geometry.sudoku81 import CELLS, NUMBERS
from azumaya.envs.kernels.bits import U64, nibble
from azumaya.envs.scene import Scene, Stone
from azumaya.envs.symmetries import Settings
from azumaya.envs.text import PositionText

IDEA = "Fill your own regions, and spoil your opponent's: whoever has fewer holes at the end wins."
HOW_TO_PLAY = f"""\
{words.BOARD_TEXT}
A turn is one number from 1 to 9 placed on an empty cell. Numbers are never moved or removed.
1. Some numbers lie on the board at the start.
2. While any number can be placed in the neutral region, the player to move must place one there.
3. After that, players place numbers in any light or dark region, their own or the opponent's.
4. No number may stand twice in a row, a column, a block or a region.
5. Each player has four stones of each number. A number on the board at the start is one of the
region owner's stones, a number placed under rule 3 one of the stones of the player who places it;
numbers placed under rule 2 are taken from neither. A player cannot place a number of which they
have no stone left.
6. A player without a move is skipped. The game ends when neither player has one.
7. Whoever has fewer empty cells in their own four regions wins. If equal, whoever has more full
regions of their own wins, then more regions with one empty cell, then with two, and so on. If all
is equal, the game is a draw.
A move is named by the number and the square: 5e4 places a 5 on e4."""


# ---- position texts ----


def write_text(state: Any, settings: Settings) -> str:
    """The position text; `stock=` says how many stones of 1 to 9 light and dark have left.

    It is left out if every stone counts for the owner of its region.
    """
    extra = [] if _is_usual(state) else [f"stock={_stock_text(state)}"]
    return texts.write_text(state, extra)


def _is_usual(state: Any) -> bool:
    if state["stage"] < PLAY:
        return True
    usual = new_states(1, STATE)
    usual[0] = state
    open_play(usual[0])
    return bool((usual["stock"][0] == state["stock"]).all())


def stock_of(state: Any, player: int) -> list[int]:
    """How many stones of 1 to 9 a player has left."""
    return [int(nibble(state["stock"][player], n)) for n in range(NUMBERS)]


def _stock_text(state: Any) -> str:
    light = int(state["light"])
    return ",".join("".join(map(str, stock_of(state, player))) for player in (light, 1 - light))


def read_text(text: str, settings: Settings) -> np.ndarray:
    """The position of a text, `(1,)` states; raises `PositionError`."""
    states, parts = texts.read_text(text, STATE, settings, ("stock",))
    states["stock"] = FULL_STOCK
    if states["stage"][0] == PLAY:
        open_play(states[0])
    if "stock" in parts.fields:
        _read_stock(states, parts)
    state = states[0]
    if state["over"]:
        _check_result(state)
    else:
        texts.check_to_move(state, can_move(state, int(state["to_move"])))
    return states


def _read_stock(states: np.ndarray, parts: PositionText) -> None:
    state, stock = states[0], parts.fields["stock"]
    if state["stage"] != PLAY or neutral_room(state):
        raise PositionError(
            "position: stock= is allowed only once no number fits the neutral region"
        )
    sides = stock.split(",")
    if len(sides) != 2 or any(len(s) != NUMBERS or set(s) - set("01234") for s in sides):
        raise PositionError(
            f"position: stock={stock}: must be the stones left of 1 to 9, each 0 to {SET}, for "
            "light and for dark, like 444444444,444444444"
        )
    for n in range(NUMBERS):
        left = sum(int(side[n]) for side in sides)
        usual = sum(stock_of(state, player)[n] for player in (0, 1))
        if left != usual:
            raise PositionError(
                f"position: stock={stock}: of the {n + 1} both together must have {usual} left, "
                f"not {left}"
            )
    for side, letters in enumerate(sides):
        states["stock"][0, side ^ int(state["light"])] = U64(int(letters[::-1], 16))


def _check_result(state: Any) -> None:
    stuck = state["stage"] == PLAY and not can_move(state, 0) and not can_move(state, 1)
    if not stuck or state["payoff"] != winner_sign(state):
        raise PositionError(f"position: result={int(state['payoff'])} is not how this game ends")


# ---- sentences and scenes ----


def explain(state: Any, action: int, settings: Settings) -> str:
    """Why an action is legal, or which rule forbids it."""
    reason = words.explain_common(state, action, settings)
    if reason is not None:
        return reason
    name, stage = words.move_name(action, settings), int(state["stage"])
    number, cell = action // CELLS + 1, action % CELLS
    fits = f"{name} is legal: the {number} fits the row, column, block and region"
    if is_neutral(state, cell):
        return f"{fits}, in the neutral region"
    if stage == HANDICAP:
        return f"{name}: handicap stones go to the neutral region"
    if neutral_room(state):
        return f"{name}: while a number fits the neutral region, it must be placed there (rule 2)"
    left = stock_of(state, int(state["to_move"]))[number - 1]
    if not left:
        return f"{name}: none of your four stones with the {number} is left (rule 5)"
    return f"{fits}, and {left} of your four are left"


def scene(state: Any, start: Any, settings: Settings) -> Scene:
    """The position as renderers see it; the trays beside the board show the stones left."""
    trays = tuple(
        (words.side_name(state, player), _tray(state, player))
        for player in (int(state["light"]), 1 - int(state["light"]))
    )
    return words.scene(state, start, (_note(state),), trays)


def _tray(state: Any, player: int) -> tuple[Stone, ...]:
    colour = words.OWNER_NAMES[player ^ int(state["light"])]
    left = enumerate(stock_of(state, player), start=1)
    return tuple(Stone(colour, str(n)) for n, count in left for _ in range(count))


def _note(state: Any) -> str:
    if state["over"]:
        if not state["payoff"]:
            return "over: a draw"
        return f"over: {words.side_name(state, int(state['payoff'] < 0))} wins"
    mover = words.side_name(state, int(state["to_move"]))
    if state["stage"] < PLAY:
        return f"{mover}: {words.TASKS[int(state['stage'])]}"
    phase = "opening: neutral region" if neutral_room(state) else "any region but neutral"
    return f"{mover} to move ({phase})"


# ---- invariants ----


def check_state(state: Any) -> None:
    """Slow invariants: raises `AssertionError`."""
    words.check_state(state)
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
