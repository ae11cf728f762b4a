"""`azumaya train`: which script runs, with which words."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

import pytest

from azumaya.baselines.cli import passed_on
from azumaya.baselines.cli.passed_on import ALGORITHMS
from tests.commands import azumaya, refused

SCRIPTS = "azumaya.baselines.training"


class BecomeError(Exception):
    """Another program runs from here on."""


@pytest.fixture
def become(monkeypatch: pytest.MonkeyPatch) -> None:
    def instead(program: str, words: list[str]) -> NoReturn:
        raise BecomeError(words[2:])

    monkeypatch.setattr(passed_on.os, "execv", instead)


@pytest.mark.usefixtures("become")
@pytest.mark.parametrize(
    ("typed", "run"),
    [
        ([], ["value"]),
        (["abalone"], ["value", "--game", "abalone"]),
        (["abalone", "--algorithm", "ppo", "--steps", "5"],
         ["ppo", "--game", "abalone", "--steps", "5"]),
        (["--seed=2", "--algorithm=alphazero"], ["alphazero", "--seed=2"]),
        (["--output", "runs/x", "--resume"], ["value", "--output", "runs/x", "--resume"]),
    ],
)  # fmt: skip
def test_the_words_go_to_the_script(typed: list[str], run: list[str]) -> None:
    done: Any = azumaya("train", *typed)
    assert isinstance(done.exception, BecomeError)
    assert done.exception.args == ([f"{SCRIPTS}.{run[0]}", *run[1:]],)


@pytest.mark.usefixtures("become")
def test_help_names_the_algorithms_before_the_options_of_the_script() -> None:
    done: Any = azumaya("train", "--help")
    assert "[--game GAME] [--algorithm value|ppo|alphazero|maskable_ppo]" in done.output
    assert done.exception.args == ([f"{SCRIPTS}.value", "--help"],)


def test_an_unknown_algorithm_is_refused() -> None:
    refused(azumaya("train", "--algorithm", "dqn"), "--algorithm dqn: must be one of value, ppo")
    refused(azumaya("train", "abalone", "--algorithm"), "--algorithm: needs a value")


def test_every_script_is_an_algorithm() -> None:
    """Those with a loop of their own; earlier names only warn."""
    folder = Path(passed_on.__file__).parents[1] / "training"
    loops = {file.stem for file in folder.glob("*.py") if "\ndef train(run" in file.read_text()}
    assert loops == set(ALGORITHMS)
