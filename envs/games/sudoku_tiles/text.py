"""Words of Sudoku tiles: move names, position texts, sentences, scenes, checks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from azumaya.envs.errors import PositionError
from azumaya.envs.game import TERMINATED, new_states
from azumaya.envs.games.digits import (
    ALPHABET,
    ROW_LENGTHS,
    candidates_of,
    check_board,
    dead_cells,
    digits_of,
    read_digits,
    why_not_there,
    write_board,
)
from azumaya.envs.games.sudoku_tiles.board import ALL_TILES, EACH, STATE
from azumaya.envs.games.sudoku_tiles.rules import (
    PILE_DRAWS,
    fits,
    lay,
    points_on,
    put_tile,
    stack,
    tile_at,
    total,
)
from azumaya.envs.geometry.houses import first_clash
from azumaya.envs.geometry.sudoku81 import CELLS, FULL, HOUSES, NUMBERS, PEERS, SQUARES, WORDS
from azumaya.envs.kernels.bits import LOW4, U64, board_of, cells_of, nibble
from azumaya.envs.scene import Scene, Stone
from azumaya.envs.symmetries import Settings
from azumaya.envs.text import PositionText, read_pair, read_whole, split_position

MOVERS = "01"
"""The player to move in position texts."""

IDEA = (
    "Place the tile you are shown, with a point for each tile in its row, column and block: "
    "the higher score wins."
)
HOW_TO_PLAY = """\
The board is a Sudoku board of 9x9 cells: columns a to i from left to right, rows 1 to 9 from
bottom to top.
1. There are 81 tiles, nine of each number from 1 to 9. Nine lie on the board at the start.
2. The player to move is shown the next tile, drawn by chance, and places it on an empty cell. No
number may stand twice in a row, a column or a 3x3 block. Then the other player is to move.
3. The tile scores one point for each tile that already lies in its row, column or block, each
counted once.
4. The game ends when the tile drawn fits nowhere, or when there are no more tiles. The higher
score wins; equal scores draw.
A move is named by the square on which the tile goes: e4."""


# ---- move names ----


def move_name(action: int, settings: Settings, mover: int = 0) -> str:
    """The name of an action, like `e4`."""
    return SQUARES[action]


def move_form(settings: Settings) -> str:
    """What names of moves look like."""
    return "a square like e4"


# ---- laying out a board ----


def empty_states(settings: Settings) -> np.ndarray:
    """An empty board with all 81 tiles still to be drawn, `(1,)` states."""
    states = new_states(1, STATE)
    states["candidates"] = FULL
    states["empty"] = FULL
    states["left"] = ALL_TILES
    states["misplacement"] = settings["misplacement"]
    states["points"] = settings["reward"] == "points"
    return states


def lay_all(states: np.ndarray, digits: Sequence[int]) -> None:
    """Lay a tile on every cell whose digit is not 0; `states` is `(1,)`."""
    for cell, digit in enumerate(digits):
        if digit:
            lay(states[0], digit - 1, cell)
            states["left"] -= _one(digit)


def _one(number: int) -> np.uint64:
    return U64(1 << 4 * (number - 1))


def show_tile(states: np.ndarray, number: int) -> None:
    """Make a tile of a number the one drawn."""
    states["tile"] = number
    states["left"] -= _one(number)


def fix_draws(states: np.ndarray, draws: str) -> None:
    """Put the tiles that the user has chosen on top of the pile, the first one uppermost."""
    state = states[0]
    for k, digit in enumerate(draws, start=1):
        put_tile(state, int(state["height"]) - k, int(digit))
    states["fixed"] = len(draws)


# ---- position texts ----


def aside(state: Any) -> list[int]:
    """How many tiles of 1 to 9 have been put aside."""
    digits, tile = digits_of(state), int(state["tile"])
    return [
        EACH - digits.count(n) - (tile == n) - int(nibble(state["left"], n - 1))
        for n in range(1, NUMBERS + 1)
    ]


def write_text(state: Any, settings: Settings) -> str:
    """The position text: `tile=` drawn, `score=` of both, `aside=` counts of 1 to 9.

    The game is over if the tile drawn fits nowhere or none is left.
    """
    parts = [write_board(digits_of(state)), str(int(state["to_move"]))]
    if state["tile"]:
        parts.append(f"tile={int(state['tile'])}")
    parts.append(f"score={int(state['scores'][0])},{int(state['scores'][1])}")
    if any(aside(state)):
        parts.append(f"aside={''.join(map(str, aside(state)))}")
    return " ".join(parts)


def read_text(text: str, settings: Settings) -> np.ndarray:
    """The position of a text, `(1,)` states; raises `PositionError`.

    The text does not contain the order of the hidden tiles. Here a fixed key shuffles them; when an
    episode begins, its key does so again.
    """
    parts = split_position(text, ROW_LENGTHS, ALPHABET, MOVERS, ("tile", "score", "aside"))
    digits = read_digits("".join(parts.rows))
    clash = first_clash(digits, HOUSES)
    if clash is not None:
        raise PositionError(f"position: {clash.text(SQUARES)}")
    states = empty_states(settings)
    lay_all(states, digits)
    states["to_move"] = MOVERS.index(parts.to_move)
    _read_aside(states, parts, settings)
    _read_tile(states, parts)
    _read_score(states, parts, digits)
    _shuffle(states, settings["draws"] or "")
    return states


def _read_aside(states: np.ndarray, parts: PositionText, settings: Settings) -> None:
    counts = parts.fields.get("aside", "0" * NUMBERS)
    if len(counts) != NUMBERS or set(counts) - set("0123456789"):
        raise PositionError(f"position: aside={counts}: must be nine digits, one for each number")
    if "aside" in parts.fields and not settings["misplacement"]:
        raise PositionError("position: aside= needs the option misplacement=True")
    for n, count in enumerate(map(int, counts)):
        if count > nibble(states["left"][0], n):
            raise PositionError(
                f"position: aside={counts}: with those on the board there would be more than nine "
                f"tiles with the {n + 1}"
            )
        states["left"] -= U64(count << 4 * n)


def _read_tile(states: np.ndarray, parts: PositionText) -> None:
    state, left = states[0], int(total(states["left"][0]))
    if "tile" not in parts.fields:
        if left:
            raise PositionError(f"position: tile= is needed, as {left} tiles are left")
        states["over"] = TERMINATED
        return
    tile = read_whole(parts.fields["tile"], "tile", 1, NUMBERS)
    if not nibble(state["left"], tile - 1):
        raise PositionError(f"position: tile={tile}: all nine tiles with the {tile} are used up")
    show_tile(states, tile)
    states["height"] = left - 1
    if not fits(state, tile - 1):
        states["over"] = TERMINATED


def _read_score(states: np.ndarray, parts: PositionText, digits: Sequence[int]) -> None:
    most = _pairs(digits)
    scores = read_pair(parts.fields.get("score", "0,0"), "score", most, most)
    if sum(scores) > most:
        raise PositionError(
            f"position: score={scores[0]},{scores[1]}: the tiles on the board cannot have scored "
            f"more than {most} points"
        )
    states["scores"][0] = scores
    lead = scores[0] - scores[1]
    if states["points"][0]:
        states["payoff"] = lead
    elif states["over"][0]:
        states["payoff"] = np.sign(lead)


def _pairs(digits: Sequence[int]) -> int:
    """How many pairs of tiles share a house; each pair scores at most one point."""
    laid = board_of((cell for cell in range(CELLS) if digits[cell]), WORDS)
    return sum(len(cells_of(PEERS[cell] & laid)) for cell in cells_of(laid)) // 2


def _shuffle(states: np.ndarray, draws: str) -> None:
    """Shuffle the pile; on top come as many of the user's draws as are still left."""
    state, left = states[0], int(states["left"][0])
    possible = 0
    for digit in draws:
        if not left >> 4 * (int(digit) - 1) & int(LOW4):
            break
        left -= 1 << 4 * (int(digit) - 1)
        possible += 1
    fix_draws(states, draws[:possible])
    stack(state, U64(left), U64(0), PILE_DRAWS)
    states["began"] = states["height"]


# ---- sentences and scenes ----


def explain(state: Any, action: int, settings: Settings) -> str:
    """Why a cell is legal for the drawn tile, or which rule forbids it."""
    square, tile, digits = SQUARES[action], int(state["tile"]), digits_of(state)
    if state["over"]:
        return f"{square}: the game is over"
    reason = why_not_there(digits, tile, action)
    if reason is None:
        points = int(points_on(state, action))
        return f"{square} is legal: the {tile} fits the row, column and block and scores {points}"
    if settings["misplacement"] and not digits[action]:
        return f"{square} is legal, but {reason}, so the {tile} scores 0 and is put aside"
    return f"{square}: {reason}" + (
        "" if digits[action] else "; no number may stand twice (rule 2)"
    )


def scene(state: Any, start: Any, settings: Settings) -> Scene:
    """The position as renderers see it, with the tile drawn, the tiles put aside and the points."""
    digits, givens = digits_of(state), digits_of(start)
    return Scene(
        board="sudoku81",
        grounds=("plain",) * CELLS,
        stones=tuple(
            Stone("tile", str(digits[cell]), given=givens[cell] != 0) if digits[cell] else None
            for cell in range(CELLS)
        ),
        dead=dead_cells(state),
        candidates=candidates_of(state),
        notes=(_note(state), *_counts(state)),
        trays=(
            ("tile drawn", (Stone("tile", str(int(state["tile"]))),) if state["tile"] else ()),
            ("put aside", _tiles(aside(state))),
        ),
    )


def _tiles(counts: Sequence[int]) -> tuple[Stone, ...]:
    return tuple(Stone("tile", str(n)) for n, k in enumerate(counts, start=1) for _ in range(k))


def _note(state: Any) -> str:
    if not state["over"]:
        return f"player_{int(state['to_move'])} to place the {int(state['tile'])}"
    payoff = int(state["payoff"])
    result = f"player_{int(payoff < 0)} wins" if payoff else "a draw"
    tile = int(state["tile"])
    why = f"the {tile} fits nowhere" if tile else "no tile is left"
    return f"over, {why}: {result}"


def _counts(state: Any) -> tuple[str, ...]:
    scores = (f"player_{p}: {int(state['scores'][p])} points" for p in (0, 1))
    left = (f"{n + 1}:{int(nibble(state['left'], n))}" for n in range(NUMBERS))
    return (*scores, "still to be drawn: " + ", ".join(left))


# ---- invariants ----


def check_state(state: Any) -> None:
    """Slow invariants: raises `AssertionError`."""
    check_board(state, HOUSES)
    digits, tile, height = digits_of(state), int(state["tile"]), int(state["height"])
    assert (state["empty"] == board_of((c for c in range(CELLS) if not digits[c]), WORDS)).all()
    pile = Counter(int(tile_at(state, k)) for k in range(height))
    assert [pile[n] for n in range(1, 10)] == [int(nibble(state["left"], n)) for n in range(9)]
    assert all(0 <= count <= EACH for count in aside(state))
    assert state["misplacement"] or not any(aside(state))
    assert 0 <= int(state["fixed"]) <= int(state["began"]) >= height
    scores = [int(score) for score in state["scores"]]
    assert min(scores) >= 0
    assert sum(scores) <= _pairs(digits)
    assert bool(state["over"]) == (tile == 0 or not fits(state, tile - 1))
    assert tile or not height
    lead = scores[0] - scores[1]
    gained = lead if state["points"] else np.sign(lead) if state["over"] else 0
    assert int(state["payoff"]) == gained
