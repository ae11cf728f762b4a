"""Game options on the command line: converted to the right type, or refused in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from azumaya.baselines.arena.game_options import read_options
from azumaya.envs import OptionError, Position, find_game
from azumaya.envs.puzzles.choice import load_puzzles
from tests.cases import CASES, Case


def words_of(options: dict[str, object]) -> list[str]:
    return [f"{name}={value}" for name, value in options.items()]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.label)
def test_written_options_can_be_read_back(case: Case) -> None:
    plain = {n: v for n, v in case.options.items() if isinstance(v, (str, int, tuple, type(None)))}
    read = read_options(case.game, words_of(plain))
    start = Position(case.game, seed=3, **plain)
    assert str(Position(case.game, seed=3, **read)) == str(start)
    assert {n: v for n, v in read.items() if v is not None} == start.options


@pytest.mark.parametrize(
    ("game", "word", "value"),
    [
        ("abalone", "max_plies=12", 12),
        ("abalone", "tiebreak=None", None),
        ("abalone", "tiebreak=marbles", "marbles"),
        ("revers_dominari", "centre=1234", "1234"),
        ("revers_dominari", "referee=false", False),
        ("sudoku_moyo", "handicap=1,3", (1, 3)),
        ("sudoku_moyo", "handicap=(1, 3)", (1, 3)),
        ("sudoku_moyo", "handicap=none", None),
        ("halma_dominari", "setup=123456,654321", ("123456", "654321")),
        ("sudoku_moyo", "position=a b=c", "a b=c"),
    ],
)
def test_values_have_the_type_of_the_option(game: str, word: str, value: object) -> None:
    read = read_options(find_game(game), [word])[word.partition("=")[0]]
    assert (read, type(read)) == (value, type(value))


def test_puzzle_files_that_cannot_be_read_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def closed(*arguments: object, **named: object) -> None:
        raise PermissionError(13, "Permission denied")

    file = tmp_path / "puzzles.txt"
    file.write_text("")
    monkeypatch.setattr(Path, "open", closed)
    for value in (file, str(file)):
        with pytest.raises(OptionError, match=r"puzzle=.* can be read: Permission denied"):
            load_puzzles(value)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["corners"], "option 'corners': must be NAME=VALUE, such as"),
        (["=corners"], "must be NAME=VALUE"),
        (["teritory=corners"], "no such option; did you mean 'territory'"),
        (["territory=corner"], "option territory='corner': must be one of"),
        (["handicap=1,x"], "option handicap='1,x': must be"),
        (["handicap=2,1"], r"option handicap=\(2, 1\): must be"),
        (["puzzle=nowhere.txt"], "option puzzle='nowhere.txt': neither"),
        ([f"puzzle={'x' * 999}"], r"option puzzle='x{120}\.\.\.': neither"),
        (["setup=choose", "setup=fixed"], "option setup: given twice"),
    ],
)
def test_bad_options_are_refused(words: list[str], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        read_options(find_game("sudoku_moyo"), words)
