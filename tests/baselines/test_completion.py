"""Shell completion: what may follow, how shells are told, and that it imports nothing slow."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from azumaya.baselines.commands import app
from azumaya.baselines.completion import AGENTS, PLAYERS, REQUEST, TABLE, candidates
from azumaya.baselines.completion_table import table_bytes
from azumaya.baselines.search.naming import is_search_name
from azumaya.envs import GAMES, Position

COMMAND = f"#!/bin/sh\nexec {sys.executable} -m azumaya\n"
HEAVY = ("numpy", "numba", "gymnasium", "typer", "rich", "azumaya.envs")
IMPORTED = f"""
import sys
from azumaya.baselines.cli import main
try:
    main()
except SystemExit as end:
    assert end.code == 0
found = [name for name in {HEAVY} if name in sys.modules]
assert not found, found
"""


def after(line: str) -> list[str]:
    """What may stand at the end of a line; the last word of the line is incomplete."""
    *words, incomplete = line.split(" ")[1:]
    return list(candidates(json.loads(TABLE.read_text("utf-8")), words, incomplete))


# ---- the table ----


def test_the_table_is_that_of_the_commands() -> None:
    assert TABLE.read_bytes() == table_bytes(), "run: python -m azumaya.baselines.completion_table"


def test_every_setting_that_is_offered_is_valid() -> None:
    for game in GAMES:
        for text in after(f"azumaya play {game} --option "):
            name, _, value = text.partition("=")
            given = {"True": True, "False": False, "400": 400}.get(value, value)
            assert Position(game, **{name: given}).options[name] == given, (game, text)


def test_every_agent_that_is_offered_exists() -> None:
    plain = {"random", "greedy", "champion"}
    assert plain <= AGENTS.keys()
    searches = [name for name in AGENTS if name not in plain and not name.startswith("champion:")]
    assert len(searches) > 4
    assert all(map(is_search_name, searches))


# ---- what may follow ----


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("azumaya ex", ["exam"]),
        ("azumaya play ", list(GAMES)),
        ("azumaya play sudoku_t", ["sudoku_tiles"]),
        ("azumaya play abalone --first ", list(PLAYERS)),
        ("azumaya evaluate ", list(AGENTS)),
        ("azumaya evaluate random gr", ["greedy"]),
        ("azumaya evaluate random greedy ", []),
        ("azumaya exam random greedy uct:", ["uct:1000", "uct:10ms"]),
        ("azumaya exam random --game ", list(GAMES)),
        ("azumaya exam random --game=ab", ["--game=abalone"]),
        ("azumaya exam --part held-out --pa", []),
        ("azumaya exam --game abalone --ga", ["--game"]),
        ("azumaya exam --part ", ["public", "held-out"]),
        ("azumaya exam -- --", []),
        ("azumaya play --seed 3 aba", ["abalone"]),
        ("azumaya play --record ", []),
        ("azumaya play abalone --option ti", ["tiebreak=marbles"]),
        ("azumaya evaluate uct:9 --game sudoku_tiles --option reward=p", ["reward=points"]),
        ("azumaya serve --no", ["--no-browser"]),
        ("azumaya texts ", ["write", "score"]),
        ("azumaya texts write prompts.jsonl --leg", ["--legal-moves"]),
        ("azumaya league rep", ["report"]),
        ("azumaya league gre", ["greedy"]),
        ("azumaya league play gre", ["greedy"]),
        ("azumaya league random --plain", ["--plain-starts"]),
        ("azumaya class abal", ["abalone"]),
        ("azumaya nonsense --v", ["--version"]),
    ],
)  # fmt: skip
def test_what_may_follow(line: str, expected: list[str]) -> None:
    assert after(line) == expected


def test_options_of_all_games_are_offered_where_no_game_is_named() -> None:
    offered = after("azumaya play --option ")
    assert {"territory=corners", "tiebreak=marbles", "referee=False"} <= set(offered)


# ---- the shells ----


def asked(shell: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "azumaya"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, REQUEST: f"complete_{shell}", **environment},
    )


@pytest.mark.parametrize("line", ["azumaya ", "azumaya exam --", "azumaya texts wr"])
def test_commands_and_options_are_those_that_typer_finds(
    line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Typer's own completion is slow, but it knows the commands."""
    monkeypatch.setenv(REQUEST, "complete_fish")
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", line)
    monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
    theirs = CliRunner().invoke(app, [], prog_name="azumaya").output
    words = {
        row.partition("\t")[0] for row in theirs.splitlines() if "\t" in row
    }  # help is wrapped
    assert words
    assert set(after(line)) == words


def test_bash_completes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bash runs the script of `--show-completion`, and breaks words at `:` and `=`."""
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("there is no bash")
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    shown = CliRunner().invoke(app, ["--show-completion", "bash"], prog_name="azumaya")
    command = tmp_path / "azumaya"
    command.write_text(COMMAND)
    command.chmod(0o755)
    cases = {
        "azumaya exam gre": "greedy",
        "azumaya exam uct : 1": "1000 10ms",
        "azumaya exam uct :": "1000 10ms",
        "azumaya play abalone --option layout = b": "belgian_daisy",
        "azumaya play --option ti": "tiebreak=marbles",
        "azumaya exam 'a b' --game = vie": "vierer_dominari",
        "azumaya replay ga": "",
    }
    lines = [shown.output]
    for case in cases:
        lines += [
            f"COMP_WORDS=({case}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))",
            f'_azumaya_completion {command}; echo "${{COMPREPLY[@]}}"',
        ]
    done = subprocess.run(
        [bash, "--norc"], input="\n".join(lines), capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == list(cases.values())


def test_zsh_is_given_words_with_their_meanings() -> None:
    done = asked("zsh", _TYPER_COMPLETE_ARGS="azumaya exam uct:10m")
    words = r"""(("uct\\:10ms":"tree search, time per move"))"""
    assert done.stdout == f"_arguments '*: :{words}'\n"
    assert asked("zsh", _TYPER_COMPLETE_ARGS="azumaya replay ").stdout == "_files\n"
    zsh = shutil.which("zsh")
    if zsh is None:
        return
    program = '_arguments() { print -rn -- "$1" }; eval $(print -r -- "$ANSWER")'
    answer = {"ANSWER": done.stdout}
    told = subprocess.run(
        [zsh, "-fc", program], capture_output=True, text=True, check=False, env=answer
    )
    assert told.stdout == f"*: :{words}"


def test_fish_is_told_whether_and_which() -> None:
    line = {"_TYPER_COMPLETE_ARGS": "azumaya exam gre"}
    done = asked("fish", _TYPER_COMPLETE_FISH_ACTION="get-args", **line)
    assert done.stdout == f"greedy\t{AGENTS['greedy']}\n"
    assert asked("fish", _TYPER_COMPLETE_FISH_ACTION="is-args", **line).returncode == 0
    line = {"_TYPER_COMPLETE_ARGS": "azumaya replay ga"}
    assert asked("fish", _TYPER_COMPLETE_FISH_ACTION="is-args", **line).returncode == 1


def test_an_open_quote_is_no_error() -> None:
    done = asked("fish", _TYPER_COMPLETE_ARGS="azumaya exam 'ran")
    assert done.stdout == f"random\t{AGENTS['random']}\n"
    assert done.stderr == ""


# ---- what it imports ----


def test_a_completion_imports_nothing_slow() -> None:
    environment = {REQUEST: "complete_zsh", "_TYPER_COMPLETE_ARGS": "azumaya play "}
    done = subprocess.run(
        [sys.executable, "-c", IMPORTED],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "abalone" in done.stdout
