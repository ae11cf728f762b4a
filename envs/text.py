"""The general form of position texts: rows of cells, the side to move, then `key=value` fields."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from azumaya.envs.errors import PositionError, brief


@dataclass(frozen=True)
class PositionText:
    """The parts of a position text, split but not yet interpreted by a game.

    Attributes:
        rows: the rows of the board from the top, one character per cell.
        to_move: the letter of the side to move.
        fields: the values of the `key=value` fields by key.
    """

    rows: tuple[str, ...]
    to_move: str
    fields: Mapping[str, str]


def split_position(
    text: str, lengths: Sequence[int], alphabet: str, movers: str, keys: Iterable[str]
) -> PositionText:
    """Split a position text and check its form.

    Args:
        text: the position text.
        lengths: the number of cells in each row, from the top.
        alphabet: the characters that may stand for a cell.
        movers: the letters of the sides.
        keys: the keys of the game's fields.

    Raises:
        PositionError: the text is malformed; the message says what is wrong and where.
    """
    parts = _parts_of(text)
    if len(parts) < 2:
        raise PositionError(
            f"position {brief(text)}: must have a board and the side to move ({', '.join(movers)})"
        )
    rows = tuple(parts[0].split("/"))
    _check_rows(rows, lengths, alphabet)
    if len(parts[1]) != 1 or parts[1] not in movers:
        raise PositionError(
            f"position: the side to move is {brief(parts[1])}; must be one of {', '.join(movers)}"
        )
    return PositionText(rows, parts[1], _split_fields(parts[2:], frozenset(keys)))


def join_rows(marks: Iterable[str], lengths: Sequence[int]) -> str:
    """The board of a position text: the marks of all cells, cut into rows of these lengths."""
    left = iter(marks)
    return "/".join("".join(islice(left, length)) for length in lengths)


def _parts_of(text: str) -> list[str]:
    """The words of a position text; raises `PositionError` if it is not a single line."""
    if not isinstance(text, str):
        raise PositionError(f"position: must be a string, not {type(text).__name__}")
    if len(text.strip().splitlines()) > 1:
        raise PositionError(f"position {brief(text)}: must be a single line")
    return text.split()


def _check_rows(rows: Sequence[str], lengths: Sequence[int], alphabet: str) -> None:
    if len(rows) != len(lengths):
        raise PositionError(f"position: the board has {len(rows)} rows; must be {len(lengths)}")
    for r, (row, length) in enumerate(zip(rows, lengths, strict=True), start=1):
        if len(row) != length:
            raise PositionError(
                f"position: row {r} from the top, {brief(row)}, has {len(row)} cells; "
                f"must be {length}"
            )
        for c, mark in enumerate(row, start=1):
            if mark not in alphabet:
                raise PositionError(
                    f"position: {mark!r} in row {r} from the top, column {c}; "
                    f"must be one of {' '.join(alphabet)}"
                )


def _split_fields(parts: Iterable[str], keys: frozenset[str]) -> dict[str, str]:
    fields: dict[str, str] = {}
    for part in parts:
        key, equals, value = part.partition("=")
        if equals and not value and key in keys:
            raise PositionError(
                f"position: the field {key}= has no value; give one or leave it out"
            )
        if not equals or key not in keys:
            known = ", ".join(f"{k}=..." for k in sorted(keys)) or "none"
            raise PositionError(f"position: unknown field {brief(part)}; known fields: {known}")
        if key in fields:
            raise PositionError(f"position: the field {key}= is given twice")
        fields[key] = value
    return fields


def pop_fields(text: str, keys: Iterable[str]) -> tuple[str, dict[str, str]]:
    """A position text without the fields with the given keys, and those fields by key.

    Raises:
        PositionError: `text` is not a string or not a single line, or one of the fields is there
            twice or without a value.
    """
    wanted = frozenset(keys)
    parts = _parts_of(text)
    taken = [part for part in parts[2:] if part.partition("=")[0] in wanted]
    rest = [part for part in parts if part not in taken]
    return " ".join(rest), _split_fields(taken, wanted)


def read_whole(value: str, key: str, low: int, high: int) -> int:
    """The value of the field `key` as a whole number from `low` to `high`.

    Raises:
        PositionError: it is not such a number.
    """
    digits = value.removeprefix("-")
    plain = digits.isascii() and digits.isdecimal() and len(digits) < 10
    if not plain or value != str(int(value)) or not low <= int(value) <= high:
        raise PositionError(f"position: {key}={value}: must be a whole number from {low} to {high}")
    return int(value)


def read_pair(value: str, key: str, first: int, second: int) -> tuple[int, int]:
    """The value of the field `key` as two whole numbers from 0 to `first` and to `second`.

    Raises:
        PositionError: it is no such pair.
    """
    one, comma, other = value.partition(",")
    if not comma:
        raise PositionError(f"position: {key}={value}: must be two numbers, like {key}=1,0")
    return read_whole(one, key, 0, first), read_whole(other, key, 0, second)
