"""Shell completion, asked as the shells' scripts of typer ask."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from azumaya.baselines.agents.names import EXAMPLES, find_agent
from azumaya.baselines.cli.app import app
from azumaya.envs import GAMES


def asked(shell: str, **environment: str) -> str:
    """What the command prints when a shell asks it."""
    request = {"_AZUMAYA_COMPLETE": f"complete_{shell}", **environment}
    result = CliRunner().invoke(app, [], prog_name="azumaya", env=request)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("azumaya ex", ["exercise", "exam", "exploit", "export"]),
        ("azumaya exam --pa", ["--part"]),
        ("azumaya exam --part ", ["public", "held-out"]),
        ("azumaya play --game ", [*GAMES]),
        ("azumaya analyse --game sudoku_t", ["sudoku_tiles"]),
        ("azumaya texts write prompts.jsonl --game ab", ["abalone"]),
        ("azumaya play --game abalone --first ", ["human", *EXAMPLES]),
        ("azumaya evaluate ", [*EXAMPLES]),
        ("azumaya evaluate random gr", ["greedy"]),
        ("azumaya serve --agent gr", ["greedy"]),
        ("azumaya league rep", ["report"]),
        ("azumaya league gre", ["greedy"]),
        ("azumaya league random gre", ["greedy"]),
        ("azumaya league --plain", ["--plain-starts"]),
        ("azumaya class --game abal", ["abalone"]),
        ("azumaya class check --game abal", ["abalone"]),
    ],
)
def test_bash_completes(line: str, expected: list[str]) -> None:
    number = line.count(" ")
    assert asked("bash", COMP_WORDS=line, COMP_CWORD=f"{number}").split() == expected


def test_zsh_and_fish_show_meanings() -> None:
    line = "azumaya exam gre"
    meaning = EXAMPLES["greedy"]
    assert f'"greedy":"{meaning}"' in asked("zsh", _TYPER_COMPLETE_ARGS=line)
    fish = {"_TYPER_COMPLETE_FISH_ACTION": "get-args", "_TYPER_COMPLETE_ARGS": line}
    assert asked("fish", **fish).split("\t") == ["greedy", f"{meaning}\n"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_agent_that_is_offered_exists(name: str) -> None:
    assert find_agent(name).name == name
