"""Balanced starts: positions from which equally strong players win about equally often.

From most starts of some games the same seat wins nearly every game between strong players, so
results over such starts tell little about the players. Each game therefore has a book of starts
from which player_0 wins about half of the games if the same search plays both seats. The books ship
with the package as files of JSON lines; `azumaya.benchmarks.studies.book_maker` made them.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from azumaya.baselines.system.files import line_text
from azumaya.envs import Position
from azumaya.envs.game import Game
from azumaya.envs.kernels.rng import random_below
from azumaya.envs.position import episode_key
from azumaya.envs.registry import find_game

DATA = Path(__file__).with_name("data")
BALANCED = (0.35, 0.65)
"""A start is balanced if player_0's win rate, counting draws as half, is in this range."""
PLIES = 30
"""The most random plies that lead to `some_positions`."""


class BookError(ValueError):
    """A book of starts that is damaged."""


@dataclass(frozen=True)
class BalancedStart:
    """One start of a book, with the games that show its balance.

    Attributes:
        position: the position text; the game has its default options.
        games: games played from it by the book's agent in both seats.
        wins: games won by player_0.
        draws: games drawn or truncated.
        plies: random plies played after the game's own start.
        seed: the seed the start was made from.
    """

    position: str
    games: int
    wins: int
    draws: int
    plies: int
    seed: int

    @property
    def rate(self) -> float:
        """Player_0's win rate, counting a draw as half a win."""
        return (self.wins + self.draws / 2) / self.games


@dataclass(frozen=True)
class Book:
    """The balanced starts of one game.

    Attributes:
        game: the environment id, for example `azumaya/sudoku_moyo-v0`.
        version: increases whenever the starts change; give it with results.
        agent: the agent that played the games in both seats.
        starts: the starts.
        made: the settings of the command that made the book.
    """

    game: str
    version: int
    agent: str
    starts: tuple[BalancedStart, ...] = field(repr=False)
    made: Mapping[str, Any]


def balanced_starts(game: Game | str) -> tuple[str, ...]:
    """The position texts of a game's book, usable as `Position(game, position=text)`.

    They are in the order of the book; empty if the game has no book.

    Raises:
        OptionError: there is no such game.
        BookError: the file of the installed package is damaged.
    """
    book = load_book(game)
    return () if book is None else tuple(start.position for start in book.starts)


def load_book(game: Game | str) -> Book | None:
    """The book of a game; None if it has none.

    Raises:
        OptionError: there is no such game.
        BookError: the file of the installed package is damaged.
    """
    return read_book(book_file(find_game(game).name))


def book_file(name: str) -> Path:
    """Where the book of a game is, or would be, in the package."""
    return DATA / f"{name}.starts.jsonl"


@functools.lru_cache(maxsize=32)
def read_book(path: Path) -> Book | None:
    """The book in a file: a line about the book, then a line for each start.

    Returns:
        The book; None if there is no such file.

    Raises:
        BookError: the file is damaged.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    try:
        head, *rest = map(json.loads, content.decode().splitlines())
        starts = tuple(BalancedStart(**start) for start in rest)
        book = Book(head["game"], head["version"], head["agent"], starts, head["made"])
        if not starts:
            raise BookError("no starts")
    except (ValueError, TypeError, KeyError) as error:
        raise BookError(f"{path}: the book of starts is damaged ({error})") from error
    return book


def book_lines(book: Book) -> str:
    """The text of a book's file."""
    head = {"game": book.game, "version": book.version, "agent": book.agent, "made": book.made}
    lines = [head, *(vars(start) for start in book.starts)]
    return "".join(map(line_text, lines))


# ---- random moves before a start: a key and the number of a draw decide them ----


def random_action(position: Position, key: np.uint64, draw: int) -> int:
    """A legal action of a position that is not over."""
    moves = position.legal_actions()
    return moves[int(random_below(key, draw, len(moves)))]


def some_positions(
    game: str, options: Mapping[str, Any], seed: int, count: int
) -> Iterator[Position]:
    """Running positions after up to `PLIES` random plies, to measure the time of a move."""
    for number in range(count):
        position = Position(game, seed=seed + number, **options)
        key = episode_key(seed, number, 0)
        for ply in range(number % (PLIES + 1)):
            following = position.copy().play(random_action(position, key, ply))
            if following.is_over:
                break
            position = following
        yield position


def random_plies(key: np.uint64, draw: int, least: int, most: int) -> int:
    """How many random plies to play, from `least` to `most`."""
    return least + int(random_below(key, draw, most - least + 1))
