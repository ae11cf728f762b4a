"""Words of Sudoku tiles: options, starts, move names, position texts, sentences, displays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from azumaya.envs.errors import MoveNameError, OptionError, PositionError
from azumaya.envs.game import TERMINATED, as_states
from azumaya.envs.games.sudoku_words import (
    ALPHABET,
    ROW_LENGTHS,
    candidates_of,
    check_board,
    dead_cells,
    digits_of,
    read_board,
    why_not_there,
    write_board,
)
from azumaya.envs.games.tiles.deal import (
    ALL_TILES,
    DEALT,
    EACH,
    ONE_EACH,
    PILE_DRAWS,
    RANDOM,
    STATE,
    TILES,
    fits,
    lay,
    put_tile,
    stack,
    tile_at,
    total,
)
from azumaya.envs.geometry.houses import first_clash
from azumaya.envs.geometry.sudoku81 import CELL, CELLS, HOUSES, NUMBERS, PEERS, SQUARES, WORDS
from azumaya.envs.kernels.bits import LOW4, U64, board_of, cells_of, nibble
from azumaya.envs.scene import Scene, Stone
from azumaya.envs.symmetries import Settings
from azumaya.envs.text import PositionText, split_position, whole_number

KINDS = {"random": RANDOM, "one_each": ONE_EACH}
DIGITS = "123456789"
MOVERS = "01"


# ---- options ----


def check_start(value: Any) -> str:
    """The canonical form of the option `start`: `random`, `one_each` or 81 of `.` and 1-9."""
    if isinstance(value, str) and value in KINDS:
        return value
    if not isinstance(value, str) or len(value) != CELLS or set(value) - set(ALPHABET + "0"):
        raise OptionError(
            f"start={value!r}: must be 'random', 'one_each' or 81 characters, digits and '.'"
        )
    board = value.replace("0", ".")
    clash = first_clash(_digits(board), HOUSES)
    if clash is not None:
        raise OptionError(f"start: {_twice(clash.number, clash.first, clash.second)}")
    return board


def _digits(board: str) -> list[int]:
    return [0 if mark == "." else int(mark) for mark in board]


def _twice(number: int, first: int, second: int) -> str:
    where = f"on {SQUARES[first]} and {SQUARES[second]}"
    return f"the number {number} lies twice in one row, column or block, {where}"


def check_draws(value: Any) -> str:
    """The canonical form of the option `draws`: a text of digits, at most nine of each."""
    if not isinstance(value, str) or set(value) - set(DIGITS):
        raise OptionError(f"draws={value!r}: must be a text of digits from 1 to 9")
    _check_nine_each(Counter(map(int, value)), "")
    return value


def _check_nine_each(tiles: Mapping[int, int], where: str) -> None:
    for number, count in sorted(tiles.items()):
        if count > EACH:
            raise OptionError(
                f"draws: {count} tiles with the {number}{where}; there are nine of each number"
            )


# ---- starts ----


def starts(settings: Settings) -> np.ndarray:
    """The start from which `reset` deals, `(1,)`; raises `OptionError`."""
    start, draws = settings["start"], settings["draws"] or ""
    states = _blank(settings)
    if start in KINDS:
        states["deal"] = KINDS[start]
        _check_dealable(start, draws)
        laid = DEALT
    else:
        digits = _digits(start)
        _lay_all(states, digits)
        laid = sum(d > 0 for d in digits)
        _check_nine_each(Counter(d for d in [*digits, *map(int, draws)] if d), " with the start")
    states["height"] = TILES - laid - 1
    if draws:
        _show(states, int(draws[0]))
        _fix(states, draws[1:])
    if start not in KINDS:
        _check_first(states)
    return states


def _blank(settings: Settings) -> np.ndarray:
    """An empty board and nine tiles of each number."""
    states = as_states(np.zeros(1, STATE))
    states["candidates"] = board_of(range(CELLS), WORDS)
    states["empty"] = board_of(range(CELLS), WORDS)
    states["left"] = ALL_TILES
    states["misplacement"] = settings["misplacement"]
    states["points"] = settings["reward"] == "points"
    return states


def _lay_all(states: np.ndarray, digits: Sequence[int]) -> None:
    for cell, digit in enumerate(digits):
        if digit:
            lay(states[0], digit - 1, cell)
            states["left"] -= _one(digit)


def _one(number: int) -> np.uint64:
    return U64(1 << 4 * (number - 1))


def _show(states: np.ndarray, number: int) -> None:
    """Draw a tile of a number."""
    states["tile"] = number
    states["left"] -= _one(number)


def _fix(states: np.ndarray, draws: str) -> None:
    """Put these tiles on top of the pile, the first one uppermost."""
    state = states[0]
    for k, digit in enumerate(draws, start=1):
        put_tile(state, int(state["height"]) - k, int(digit))
    states["fixed"] = len(draws)


def _check_dealable(start: str, draws: str) -> None:
    """Whether tiles for a start, on which the first tile fits, are left beside the draws."""
    counts = Counter(map(int, draws))
    if start == "one_each":
        _check_nine_each({n: count + 1 for n, count in counts.items()}, " with the start")
    if len(draws) > TILES - DEALT:
        raise OptionError(
            f"draws: {len(draws)} tiles, but after the start {TILES - DEALT} are left"
        )
    # With eight of a number in eight rows and columns, the ninth tile lies where the two that are
    # free cross, and the number fits nowhere. With seven there is a start on which it fits.
    others = TILES - len(draws) - (EACH - counts[int(draws[0])]) if draws else TILES
    if others < 2:
        raise OptionError(f"draws: they leave no start on which the first tile, {draws[0]}, fits")


def _check_first(states: np.ndarray) -> None:
    """Refuse a board on which the first tile does not fit, or no tile that is left does."""
    state = states[0]
    tile = int(state["tile"])
    if tile and not fits(state, tile - 1):
        raise OptionError(f"start: the first tile, {tile}, fits nowhere")
    if not any(nibble(state["left"], n) + (n + 1 == tile) and fits(state, n) for n in range(9)):
        raise OptionError("start: none of the tiles that are left fits")


def revealed(state: Any) -> Mapping[str, str]:
    """The tiles drawn since the episode began, but for the first, which its start shows."""
    drawn = range(int(state["began"]) - 1, int(state["height"]) - 1, -1)
    return {"draws": "".join(str(int(tile_at(state, k))) for k in drawn)}


# ---- move names ----


def move_name(action: int, settings: Settings, mover: int = 0) -> str:
    """The name of an action, like `e4`."""
    return SQUARES[action]


def parse_move(name: str, settings: Settings, mover: int = 0) -> int:
    """The action of a square; raises `MoveNameError`."""
    if name not in CELL:
        raise MoveNameError(f"{name!r} names no move: a square like e4 is needed")
    return CELL[name]


# ---- position texts ----


def aside(state: Any) -> list[int]:
    """How many tiles of 1 to 9 have been put aside."""
    digits, tile = digits_of(state), int(state["tile"])
    return [
        EACH - digits.count(n) - (tile == n) - int(nibble(state["left"], n - 1))
        for n in range(1, NUMBERS + 1)
    ]


def write_text(state: Any, settings: Settings) -> str:
    """The position text: `tile=` drawn, `score=` of both, `aside=` counts from 1 to 9.

    The game is over where the tile drawn fits nowhere, and where there is none.
    """
    words = [write_board(digits_of(state)), str(int(state["to_move"]))]
    if state["tile"]:
        words.append(f"tile={int(state['tile'])}")
    words.append(f"score={int(state['scores'][0])},{int(state['scores'][1])}")
    if any(aside(state)):
        words.append(f"aside={''.join(map(str, aside(state)))}")
    return " ".join(words)


def read_text(text: str, settings: Settings) -> np.ndarray:
    """The position of a text, `(1,)` states; raises `PositionError`.

    The text does not tell the order of the pile: it is drawn by a key of its own here, and anew
    where an episode begins.
    """
    parts = split_position(text, ROW_LENGTHS, ALPHABET, MOVERS, ("tile", "score", "aside"))
    digits = read_board(parts)
    clash = first_clash(digits, HOUSES)
    if clash is not None:
        raise PositionError(f"position: {_twice(clash.number, clash.first, clash.second)}")
    states = _blank(settings)
    _lay_all(states, digits)
    states["to_move"] = MOVERS.index(parts.to_move)
    _read_aside(states, parts, settings)
    _read_tile(states, parts)
    _read_score(states, parts, digits)
    _shuffle(states, settings["draws"] or "")
    return states


def _read_aside(states: np.ndarray, parts: PositionText, settings: Settings) -> None:
    word = parts.fields.get("aside", "0" * NUMBERS)
    if len(word) != NUMBERS or set(word) - set("0123456789"):
        raise PositionError(f"position: aside={word}: nine digits are needed, one for each number")
    if "aside" in parts.fields and not settings["misplacement"]:
        raise PositionError("position: aside= needs the option misplacement=True")
    for n, count in enumerate(map(int, word)):
        if count > nibble(states["left"][0], n):
            raise PositionError(
                f"position: aside={word}: with those on the board there would be more than nine "
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
    tile = whole_number(parts.fields["tile"], "tile", 1, NUMBERS)
    if not nibble(state["left"], tile - 1):
        raise PositionError(f"position: tile={tile}: all nine tiles with the {tile} are used up")
    _show(states, tile)
    states["height"] = left - 1
    if not fits(state, tile - 1):
        states["over"] = TERMINATED


def _read_score(states: np.ndarray, parts: PositionText, digits: Sequence[int]) -> None:
    first, _, second = parts.fields.get("score", "0,0").partition(",")
    most = _pairs(digits)
    scores = [whole_number(word, "score", 0, most) for word in (first, second)]
    if sum(scores) > most:
        raise PositionError(
            f"position: score={first},{second}: the tiles on the board cannot have scored more "
            f"than {most} points"
        )
    states["scores"][0] = scores
    lead = scores[0] - scores[1]
    if states["points"][0]:
        states["payoff"] = lead
    elif states["over"][0]:
        states["payoff"] = np.sign(lead)


def _pairs(digits: Sequence[int]) -> int:
    """How many pairs of tiles share a row, column or block: each scores a point at most."""
    laid = board_of((cell for cell in range(CELLS) if digits[cell]), WORDS)
    return sum(len(cells_of(PEERS[cell] & laid)) for cell in cells_of(laid)) // 2


def _shuffle(states: np.ndarray, draws: str) -> None:
    """Stack the pile, on top as many of the user's draws as are left."""
    state, left = states[0], int(states["left"][0])
    possible = 0
    for digit in draws:
        if not left >> 4 * (int(digit) - 1) & int(LOW4):
            break
        left -= 1 << 4 * (int(digit) - 1)
        possible += 1
    _fix(states, draws[:possible])
    stack(state, U64(left), U64(0), PILE_DRAWS)
    states["began"] = states["height"]


# ---- sentences and displays ----


def explain(state: Any, action: int, settings: Settings) -> str:
    """Why a cell is legal for the drawn tile, or which rule forbids it."""
    square, tile, digits = SQUARES[action], int(state["tile"]), digits_of(state)
    if state["over"]:
        return f"{square}: the game is over"
    reason = why_not_there(digits, tile, action)
    if reason is None:
        laid = board_of((cell for cell in range(CELLS) if digits[cell]), WORDS)
        points = len(cells_of(PEERS[action] & laid))
        return f"{square} is legal: the {tile} fits the row, column and block and scores {points}"
    if settings["misplacement"] and not digits[action]:
        return f"{square} is legal, but {reason}, so the {tile} scores 0 and is put aside"
    return f"{square}: {reason}" + (
        "" if digits[action] else "; no number may stand twice (rule 2)"
    )


def scene(state: Any, start: Any, settings: Settings) -> Scene:
    """The position as renderers see it, with the tile drawn and the points."""
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
        return f"player_{int(state['to_move'])} to lay the {int(state['tile'])}"
    why = f"the {int(state['tile'])} fits nowhere" if state["tile"] else "no tile is left"
    lead = int(state["scores"][0]) - int(state["scores"][1])
    return f"over, {why}: " + (f"player_{int(lead < 0)} wins" if lead else "a draw")


def _counts(state: Any) -> tuple[str, ...]:
    scores = (f"player_{p}: {int(state['scores'][p])} points" for p in (0, 1))
    left = (f"{n + 1}:{int(nibble(state['left'], n))}" for n in range(NUMBERS))
    return (*scores, "still to be drawn: " + ", ".join(left))


# ---- invariants and cases ----


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


CROWDED = "..4678.126.2195348198342567859761423.2685379171392485696153728428741.6.534528617."
"""So few cells are empty that the tiles may run out."""

VARIANTS: tuple[Settings, ...] = (
    {},
    {"start": "one_each"},
    {"misplacement": True},
    {"reward": "points"},
    {"start": CROWDED},
    {"start": CROWDED, "misplacement": True},
    {"start": "one_each", "draws": "5938", "misplacement": True, "reward": "points"},
    {"start": "1" + "." * 80, "draws": "123456789", "reward": "points"},
)
