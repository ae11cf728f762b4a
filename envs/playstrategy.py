"""Abalone as PlayStrategy writes it: positions as FEN, moves by the cells where they begin and end.

There letters are the columns and numbers the rows, so its `b1` is `a2` here. A FEN has the rows
from the bottom to the top, `S` for a black marble and `s` for a white one; then the marbles that
black and white have pushed out, the player to move, the plies since the last of them, and the
number of the move, which counts from 1 after every white one:

    SS1ss/SSSsss/1SS1ss1/8/9/8/1ss1SS1/sssSSS/ss1SS 0 0 b 0 1

Source: the tests of Mind-Sports-Games/strategygames, `AbaloneFenTest` and `AbaloneVariantTest`.
"""

from __future__ import annotations

import re
from typing import Any

from azumaya.envs.errors import IllegalActionError, MoveNameError, OptionError, PositionError, brief
from azumaya.envs.games.abalone.board import MOVES, TO_WIN
from azumaya.envs.games.abalone.game import ABALONE
from azumaya.envs.games.abalone.text import owners_of
from azumaya.envs.geometry.hex61 import COORDINATES, DIRECTIONS, NEIGHBOUR
from azumaya.envs.position import Position

MARBLES = {".": "1", "b": "S", "w": "s"}
"""By mark in a position text, the mark in a FEN."""
_MARKS = {marble: mark for mark, marble in MARBLES.items() if mark != "."}
_FEN = re.compile(r"([1-9Ss/]+) (\d{1,9}) (\d{1,9}) ([bw])(?: (\d{1,9})(?: (\d{1,9}))?)?")
_SQUARES = tuple(f"{'abcdefghi'[number]}{letter + 1}" for number, letter in COORDINATES)


def write_fen(position: Position) -> str:
    """A position as a FEN.

    How many plies ago the last marble was pushed out is not known here: the FEN has 0.

    Raises:
        OptionError: this is not a position of Abalone.
    """
    _check(position)
    rows, to_move, *_ = str(position).split()
    ran = (re.sub("1+", lambda ones: str(len(ones[0])), row) for row in _as_fen(rows))
    state = position.state[0]
    black_out, white_out = state["out"].tolist()
    if position.is_terminated:  # here the winner stays to move
        to_move = "bw"[1 - position.to_move]
    move = int(state["ply"]) // 2 + 1
    return f"{'/'.join(ran)} {white_out} {black_out} {to_move} 0 {move}"


def read_fen(fen: str, **options: Any) -> Position:
    """The position of a FEN.

    Args:
        fen: the FEN; its last two numbers may be left out.
        **options: the options of the game.

    Raises:
        PositionError: the FEN is malformed, or its position is impossible. That includes one in
            which the player to move has no move: it is a draw there, and lost here.
        OptionError: an option is unknown or has an invalid value.
    """
    found = _FEN.fullmatch(fen.strip()) if isinstance(fen, str) else None
    if found is None:
        raise PositionError(
            f"fen={brief(fen)}: must be nine rows of digits, S and s, two numbers, b or w and "
            "perhaps two more numbers, like 5/6/7/8/4SSSs1/8/7/6/5 0 0 b 0 1"
        )
    board, by_black, by_white, to_move, _, move = found.groups()
    rows = "".join("." * int(mark) if mark.isdigit() else _MARKS.get(mark, mark) for mark in board)
    ply = 2 * (max(int(move or 1), 1) - 1) + (to_move == "w")
    over = max(int(by_black), int(by_white)) >= TO_WIN
    if over:
        to_move = "bw"[to_move == "b"]
    text = f"{'/'.join(reversed(rows.split('/')))} {to_move} out={by_white},{by_black} ply={ply}"
    if over:
        text += f" result={1 if to_move == 'b' else -1}"
    try:
        return Position.from_text(ABALONE, text, **options)
    except PositionError as error:
        raise PositionError(f"fen={brief(fen)}: {error}") from None


def write_move(position: Position, move: str | int) -> str:
    """The name there of a legal move here: where its hindmost marble begins, its foremost ends.

    Of a broadside the marble that begins is the one from which the line goes on most nearly in the
    direction of the move.

    Raises:
        OptionError: this is not a position of Abalone.
        IllegalActionError: the move is not legal.
        MoveNameError: the text names no move.
    """
    _check(position)
    action = position.action(move)
    if action not in position.legal_actions():
        raise IllegalActionError(f"move={brief(move)}: {position.explain(action)}")
    return _name(position, action)


def _name(position: Position, action: int) -> str:
    """The name of a legal action."""
    found = MOVES[action]
    cells, targets, turned = found.cells, found.targets, (found.direction - found.axis) % DIRECTIONS
    if found.size:
        ends = (cells[0], targets[-1]) if turned in (1, DIRECTIONS - 1) else (cells[-1], targets[0])
        return "".join(_SQUARES[cell] for cell in ends)
    owners, cell = owners_of(position.state[0]), cells[0]
    while owners[cell] == position.to_move:
        beyond = NEIGHBOUR[cell][found.direction]
        assert beyond is not None, "one's own marbles never leave the board"
        cell = beyond
    return _SQUARES[cells[0]] + _SQUARES[cell]


def read_move(position: Position, name: str) -> int:
    """The action of a legal move that has this name there.

    Raises:
        OptionError: this is not a position of Abalone.
        MoveNameError: no legal move has this name.
    """
    _check(position)
    named = {_name(position, action): action for action in position.legal_actions()}
    if isinstance(name, str) and name in named:
        return named[name]
    raise MoveNameError(
        f"name={brief(name)}: is no legal move there; a name has two squares, such as "
        f"{next(iter(named), 'a1b2')}"
    )


def _as_fen(rows: str) -> list[str]:
    marbles = "".join(MARBLES.get(mark, mark) for mark in rows)
    return list(reversed(marbles.split("/")))


def _check(position: Any) -> None:
    if not isinstance(position, Position) or position.game is not ABALONE:
        raise OptionError(f"position={brief(position)}: must be a position of Abalone")
