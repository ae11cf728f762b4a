"""One spelling over all commands; the old ones work and say what is written now."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.main import get_command

from azumaya.baselines.cli.app import app
from azumaya.baselines.system.commands import UNITS, formerly, read_time, shown_time
from azumaya.benchmarks.__main__ import app as bench
from tests.commands import azumaya, refused


def leaves(command: Any, *words: str) -> Any:
    """Every command of a program, with the words that call it."""
    if not hasattr(command, "commands"):
        yield words, command
        return
    for name, inner in command.commands.items():
        yield from leaves(inner, *words, name)


ALL = [
    *leaves(get_command(app)),
    *((("bench", *words), each) for words, each in leaves(get_command(bench))),
]


def names_of(command: Any) -> set[str]:
    return {name for each in command.params for name in each.opts}


@pytest.mark.parametrize(("words", "command"), ALL, ids=[" ".join(words) for words, _ in ALL])
def test_a_game_a_time_and_workers_are_said_in_one_way(
    words: tuple[str, ...], command: Any
) -> None:
    assert "game" not in names_of(command)  # a word without an option
    old = {"--jobs", "--processes", "--minutes", "--seconds", "--milliseconds"}
    assert not names_of(command) & old


@pytest.mark.parametrize("words", [words for words, _ in ALL if words[0] != "bench"], ids=" ".join)
def test_help_is_whole_in_eighty_columns(words: tuple[str, ...]) -> None:
    if words[0] == "train":
        return  # the help of the script
    shown = azumaya(*words, "--help", width=80)
    assert shown.exit_code == 0
    assert "…" not in shown.output
    assert "<bool>" not in shown.output


@pytest.mark.parametrize(
    ("old", "now"),
    [
        (("analyse", "score_dominari"), "the game is now an option: --game score_dominari"),
        (
            ("analyse", "--nodes", 9, "score_dominari"),
            "the game is now an option: --game score_dominari",
        ),
        (
            ("analyse", "--game", "score_dominari", "--milliseconds", 5),
            "--milliseconds 5 is now --time 5ms",
        ),
        (
            ("analyse", "--game", "score_dominari", "--milliseconds=5"),
            "--milliseconds=5 is now --time=",
        ),
        (("play", "abalone", "--first", "random", "--option", "max_plies=1"), "--game abalone"),
    ],
)  # fmt: skip
def test_old_spellings_work_and_say_the_new_one(old: tuple[object, ...], now: str) -> None:
    done = azumaya(*old)
    assert done.exit_code == 0, done.output
    assert now in done.stderr


def test_a_starter_is_written_with_the_old_spelling(tmp_path: Path) -> None:
    done = azumaya("class", "starter", "abalone", tmp_path / "mine.py")
    assert "the game is now an option" in done.stderr
    assert (tmp_path / "mine.py").is_file()
    assert f"{tmp_path / 'mine.py'}: " in done.stdout


def test_an_option_without_its_value_is_refused() -> None:
    refused(azumaya("analyse", "--milliseconds"), "--time")
    refused(azumaya("analyse", "--time", 5), "5: must be a time above 0, such as 10ms, 2s or 5min")


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("10ms", "ms", 10),
        ("2s", "ms", 2000),
        ("700ms", "s", 0.7),
        ("2.5min", "min", 2.5),
        ("1h", "s", 3600),
    ],
)
def test_times(text: str, unit: str, value: float) -> None:
    assert read_time(text, unit) == value
    assert shown_time(value, unit) == text


@pytest.mark.parametrize("text", ["", "5", "ms", "-1s", "0s", "infs", "1e9s", "1 day", "1ms2s"])
def test_no_times(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="must be a time"):
        read_time(text, "s")


def test_every_unit_is_read() -> None:
    for one, other in itertools.product(UNITS, UNITS):
        assert read_time(f"3{one}", other) == 3 * UNITS[one] / UNITS[other]
    for value, message in ((1, "from 2s"), (9, "to 3s")):
        with pytest.raises(typer.BadParameter, match=message):
            read_time(f"{value}s", "s", 2, 3)
    assert [read_time(f"{value}s", "s", 2, 3) for value in (2, 3)] == [2, 3]


def test_words_that_are_as_they_should_be_pass() -> None:
    command = formerly({"--jobs": "--workers"}, {"--wait": "s"}, game_first=True)("any")
    assert [*command._current(["--jobs", "--wait", "--wait", "2s", "--jobs"])] == [
        "--workers", "--wait", "--wait", "2s", "--workers",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("play", "--game", "abalon"), "'abalone'"),
        (("play", "--game", "Vierer"), "'vierer_dominari'"),
        (("play", "--game", "SUDOKU_MOYO"), "'sudoku_moyo'"),
        (("evaluate", "model.zip"), "needs a class, as in the guide One seat"),
        (("evaluate", "gredy"), "'greedy'"),
        (("evaluate", "utc:100"), "'uct:100'"),
        (("exam", "greedy", "--part", "publc"), "'public'"),
        (("play", "--option", "teritory=rows"), "'territory'"),
        (("play", "--option", "territory=row"), "'rows'"),
        (("play", "--game", "abalone", "--option", "layout=daisi"), "daisy"),
        (("train", "--algorithm", "pppo"), "'ppo'"),
    ],
)
def test_the_closest_name_is_offered(words: tuple[str, ...], meant: str) -> None:
    refused(azumaya(*words), f"did you mean {meant}" if "'" in meant else meant)
