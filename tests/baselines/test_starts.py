"""The books of balanced starts: files, maker, and the balance of what ships."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from azumaya.baselines.arena import starts
from azumaya.baselines.arena.starts import BalancedStart, Book, BookError, balanced_starts
from azumaya.benchmarks.studies import book_maker
from azumaya.benchmarks.studies.book_maker import BookPlan, chance_of_balance
from azumaya.envs import GAMES, Position, find_game
from azumaya.envs.errors import OptionError
from tests.commands import invoke, refused

GAME = "vierer_dominari"
BOOKS = [name for name in GAMES if starts.book_file(name).exists()]
PLAN = BookPlan(GAME, plies=6, least=4, simulations=20, cut=0)


def book(*given: BalancedStart) -> Book:
    return Book("azumaya/vierer_dominari-v0", 3, "uct:20", given, {"seed": 1})


START = BalancedStart("....../....../....../....../....../...... w", 20, 9, 2, 0, 7)


def test_a_book_comes_back_from_its_file(tmp_path: Path) -> None:
    path = tmp_path / "book"
    path.write_text(starts.book_lines(book(START)))
    assert starts.read_book(path) == book(START)
    assert START.rate == 0.5


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", ""),
        ('"version":3,', ""),
        ('"position":', '"x":'),
        ("{", "["),
    ],
)
def test_damaged_books_are_refused(tmp_path: Path, old: str, new: str) -> None:
    path = tmp_path / "book"
    text = starts.book_lines(book(START))
    path.write_text(text.replace(old, new) if old else text.splitlines()[0])
    with pytest.raises(BookError, match="the book of starts is damaged"):
        starts.read_book(path)


def test_a_book_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "book"
    path.write_bytes(starts.book_lines(book(START)).encode("utf-16"))
    with pytest.raises(BookError, match="the book of starts is damaged"):
        starts.read_book(path)


def test_games_without_a_book_and_games_that_do_not_exist() -> None:
    assert balanced_starts("sudoku_moyo_match") == ()
    with pytest.raises(OptionError, match="no such game"):
        balanced_starts("nope")


@pytest.mark.parametrize("game", BOOKS)
def test_shipped_starts_are_balanced_positions_of_the_game(game: str) -> None:
    found = starts.load_book(game)
    assert found is not None
    assert found.game == find_game(game).id
    texts = balanced_starts(game)
    assert balanced_starts(find_game(game)) == texts
    assert balanced_starts(found.game) == texts
    assert len(set(texts)) == len(texts) == len(found.starts)
    assert len(repr(found)) < 1000, "it prints without them"
    for start in found.starts:
        low, high = starts.BALANCED
        assert low < start.rate < high
        assert start.games >= book_maker.LEAST_GAMES
        assert not Position(game, position=start.position).is_over


@pytest.mark.parametrize("game", BOOKS)
def test_shipped_starts_are_those_of_their_seeds(game: str) -> None:
    """The first and the last start come from the settings that the file names."""
    found = starts.load_book(game)
    assert found is not None
    plan = BookPlan(**found.made["plan"])
    for start in (found.starts[0], found.starts[-1]):
        assert book_maker.candidate(plan, start.seed) == (start.position, start.plies)


def test_the_chance_of_balance_by_hand() -> None:
    """Before any game the rate is uniform; after a win its density is 2p, and 2(1 - p) by symmetry.

    So the chances are 0.65 - 0.35, and 0.65 ** 2 - 0.35 ** 2 for one win or one loss.
    """
    assert chance_of_balance(0, 0) == pytest.approx(0.3, abs=1e-3)
    assert chance_of_balance(1, 1) == pytest.approx(0.3, abs=1e-3)
    assert chance_of_balance(1, 0) == pytest.approx(0.3, abs=1e-3)
    assert chance_of_balance(20, 10) > 0.8 > chance_of_balance(20, 6) > chance_of_balance(20, 2)


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Batches in which player_0 wins as often as the list says, over and over."""
    wins = [2]

    def play(*_: object) -> tuple[int, int]:
        wins.append(wins.pop(0))
        return wins[-1], 0

    monkeypatch.setattr(book_maker, "_play", play)
    return wins


def test_even_starts_are_kept_and_decided_ones_dropped(scripted: list[int]) -> None:
    assert book_maker.judge(PLAN, "", 0) == (16, 8, 0, True)
    for wins in (0, 4):
        scripted[:] = [wins]
        assert book_maker.judge(PLAN, "", 0) == (4, wins, 0, False)
    scripted[:] = [3]  # 75 %: it takes longer to see, but such a start is never kept
    games, _, _, kept = book_maker.judge(PLAN, "", 0)
    assert games > 4
    assert not kept


def test_the_games_of_a_seed_depend_on_nothing_else() -> None:
    first = PLAN(5)
    PLAN(6)
    assert PLAN(5) == first
    start, plies = book_maker.candidate(PLAN, 5)
    assert first["position"] == start
    assert first["plies"] == plies
    assert 4 <= plies <= 6


def test_player_0s_wins_are_counted_in_both_seats() -> None:
    """From a start that player_0 wins by force, player_0 wins all games of a batch."""
    lost = (
        "8423657.1/36.187245/197.42.68/914673..2/23.8.9514/"
        "7.6521893/4782.6159/6.3498.../52973.486 d"
    )
    agent = book_maker._agent(50, 0)
    assert book_maker._play("sudoku_moyo", lost, agent, 3) == (0, 0)
    won = str(Position("sudoku_moyo", position=lost).play("7h2"))
    assert book_maker._play("sudoku_moyo", won, agent, 3) == (book_maker.BATCH, 0)


make = functools.partial(invoke, book_maker.make_book)


def test_the_command_makes_a_book_and_continues(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(book_maker, "looks_even", lambda plan, start, seed: True)
    words = ("--game", GAME, "--simulations", 6, "--plies", 4, "--least", 2, "--work", tmp_path)
    output = tmp_path / "book"
    result = make(*words, "--starts", 2, "--output", output)
    assert result.exit_code == 0, result.output
    made = starts.read_book(output)
    assert made is not None
    assert len(made.starts) == 2
    assert made.agent == "uct:6"
    again = tmp_path / "again"
    assert make(*words, "--starts", 2, "--output", again).exit_code == 0
    assert again.read_bytes() == output.read_bytes()
    rest = ("--game", GAME, "--work", tmp_path, "--finish", "--output", again)
    assert make(*rest).exit_code == 0
    assert again.read_bytes() == output.read_bytes()
    refused(make(*words[:-2], "--work", tmp_path, "--simulations", 7), "begun with other settings")
    refused(make("--game", "nope"), "no such game")
    refused(
        make("--game", GAME, "--least", 9, "--plies", 3), "--least 9: must not be above --plies 3"
    )
    lines = [json.loads(line) for line in output.read_text().splitlines()]
    assert lines[0]["made"]["plan"]["simulations"] == 6
