"""Errors of the system end a command with one line and an exit code, not with a traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from azumaya.baselines.agents import RandomAgent
from azumaya.baselines.arena import entrants
from azumaya.baselines.cli import terminal
from azumaya.baselines.cli.app import app
from azumaya.baselines.system.signals import FAILED, INTERRUPTED
from azumaya.envs.puzzles.bank import BANK_FILE
from tests.commands import azumaya
from tests.odd_agents import ODD
from tests.processes import python, run, start

FULL = Path("/dev/full")
LONG = "x" * 5000
needs_full = pytest.mark.skipif(not FULL.exists(), reason="needs the file /dev/full")
EVALUATE = ("evaluate", "random", "random", "--game", "abalone", "--starts", 1,
            "--option", "max_plies=2")  # fmt: skip
COMMANDS = {
    "evaluate": EVALUATE,
    "play": ("play", "--game", "abalone", "--first", "random", "--option", "max_plies=2"),
}
"""Commands that print in different ways."""
each_command = pytest.mark.parametrize(
    "command", ["evaluate", pytest.param("play", marks=pytest.mark.slow)]
)


def assert_one_line_error(
    result: subprocess.CompletedProcess[str], problem: str, code: int
) -> None:
    assert result.returncode == code, result.stderr
    assert problem in result.stderr
    assert "Traceback" not in result.stderr
    assert "Exception ignored" not in result.stderr


@needs_full
@each_command
def test_full_standard_output(command: str) -> None:
    words = COMMANDS[command]
    with FULL.open("w") as full:
        result = run(*words, stdout=full)
    assert_one_line_error(result, "azumaya: No space left on device", FAILED)
    assert result.stderr.count("\n") == 1


@needs_full
def test_both_streams_full() -> None:
    with FULL.open("w") as full:
        assert run("puzzles", "show", stdout=full, stderr=full).returncode == FAILED
        assert run("puzzles", "show", "nothing", stderr=full).returncode == FAILED
        assert run(*EVALUATE, stderr=full).returncode == 0


@each_command
def test_a_closed_pipe(command: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as closed:
        result = run(*COMMANDS[command], stdout=closed)
    assert result.returncode == 1
    assert result.stderr == ""


def test_a_reader_that_stops_early() -> None:
    with start("puzzles", "generate", "--count", 3000) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert len(process.stdout.readline()) == 82
        process.stdout.close()
        assert process.wait(60) == 1
        assert process.stderr.read() == ""


def test_no_output_at_all() -> None:
    code = "import os, sys; os.close(1); os.execv(sys.executable, sys.argv[1:])"
    result = python("-c", code, sys.executable, "-m", "azumaya", "puzzles", "show")
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(
    "name",
    [
        LONG, "a\nb", "\udcff",
        *(pytest.param(n, marks=pytest.mark.slow) for n in (f"a/{LONG}", "..", "/", "~", "[/b]")),
    ],
)  # fmt: skip
def test_impossible_file_names(name: str, tmp_path: Path) -> None:
    for words in (
        ("evaluate", name),
        ("evaluate", "random", name),
        ("play", "--first", name),
        ("play", "--record", tmp_path / "none" / name),
        ("play", "--game", "abalone", "--option", f"layout={name}"),
        ("play", "--option", f"puzzle={name}"),
        ("play", "--game", name),
        ("puzzles", "generate", "--output", tmp_path / "none" / name / name),
        ("puzzles", "check", tmp_path / name / name),
        ("puzzles", "show", name),
    ):
        result = azumaya(*words)
        assert result.exit_code == 2, (words, result.output)
        assert isinstance(result.exception, SystemExit), words
        assert "Traceback" not in result.output


@pytest.mark.parametrize("name", ["[/b]/policy", "[red]policy", ":smile:", "policy\\", "[/]"])
def test_names_are_not_interpreted_as_markup(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def find(given: str, evaluated: bool = False) -> entrants.Entrant:
        agent = RandomAgent()
        agent.name = given
        return entrants.Entrant(given, agent)

    monkeypatch.setattr("azumaya.baselines.cli.evaluate.find_entrant", find)
    result = azumaya("evaluate", name, *EVALUATE[2:])
    assert result.exit_code == 0, result.output
    assert name in result.output


def test_output_without_unicode_works(tmp_path: Path) -> None:
    few = tmp_path / "few.txt"
    few.write_text("\n".join(BANK_FILE.read_text().splitlines()[:20]))
    words = ("-m", "azumaya", "puzzles", "check", few, "--max-givens=24")
    result = python(*words, environment={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert result.returncode == 1, result.stderr
    assert "puzzles meet every criterion" in result.stdout


@pytest.mark.parametrize("line", ["\0" * 200_000 + "\xff\n" * 3])
def test_unusual_input_lines(line: str) -> None:
    """Lines from a file or pipe as the input of `play`."""
    with start("play", "--seed", 1, stdin=subprocess.PIPE, encoding="latin-1") as process:
        out, err = process.communicate(line, timeout=120)
    assert process.returncode == 0, err
    assert "left after 0 moves" in out
    assert err == ""


def test_the_bare_command_shows_first_steps() -> None:
    result = azumaya()
    assert "First steps" in result.output
    assert "azumaya play" in result.output


@pytest.fixture
def guarded_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[object, str]]:
    """A function that runs a command in a folder: its exit code and its error stream."""
    monkeypatch.chdir(tmp_path)

    def ran(*words: object) -> tuple[object, str]:
        with pytest.raises(SystemExit) as left:
            terminal.guarded("azumaya", lambda: app([str(word) for word in words]))
        return left.value.code, capsys.readouterr().err

    return ran


SHORT = {"evaluate": ("--starts", 1), "exam": (), "exploit": ("--starts", 1, "--games", 1)}
"""Commands that ask an agent for moves, with what makes them short."""


@pytest.mark.parametrize("command", SHORT)
@pytest.mark.parametrize(
    ("name", "message", "place"),
    [
        ("Raises", "act failed: ValueError: [red]what[/b] it says", "in helper"),
        ("Lazy", "act failed: SystemExit: 0", "in fail"),
        ("Checks", "check failed: RuntimeError: not this one", "in check"),
    ],
)
def test_an_agent_that_fails_is_named_with_its_place(
    command: str, name: str, message: str, place: str, guarded_words: Any
) -> None:
    """The end of its own traceback, and not the library's; also where it wants to leave quietly."""
    words = SHORT[command]
    code, told = guarded_words(command, f"{ODD}:{name}", "--game", "vierer_dominari", *words)
    assert code == 1
    assert told.splitlines()[-1] == f"azumaya: agent {ODD}:{name}: {message}"
    assert "odd_agents.py" in told
    assert place in told
    assert "arena" not in told


@pytest.mark.parametrize("command", SHORT)
def test_an_illegal_move_is_a_failure_of_the_agent(command: str, guarded_words: Any) -> None:
    """And no wrong usage of the command."""
    words = SHORT[command]
    name = f"{ODD}:NoMove"
    code, told = guarded_words(command, name, "--game", "vierer_dominari", *words)
    assert code == 1
    assert told.startswith(f"azumaya: {name}'s ")
    assert len(told.splitlines()) == 1


def test_an_agent_needs_nothing_but_act(guarded_words: Any) -> None:
    words = (f"{ODD}:Plain", "random", "--game", "vierer_dominari", "--starts", 1)
    assert guarded_words("evaluate", *words) == (0, "")
    code, told = guarded_words("evaluate", f"{ODD}:Fast", *words[1:])
    assert code == 1
    assert f"agent {ODD}:Fast: act_states failed: ValueError: [red]what[/b] it says" in told


def test_a_game_is_recorded_also_if_an_agent_fails(guarded_words: Any) -> None:
    words = ("vierer_dominari", "--first", f"{ODD}:Plain", "--second", f"{ODD}:Raises")
    code, told = guarded_words("play", *words, "--record", "games.jsonl")
    assert code == 1
    assert f"agent {ODD}:Raises: act failed: ValueError: [red]what[/b] it says" in told
    (record,) = Path("games.jsonl").read_text().splitlines()
    assert json.loads(record)["moves"] == ["1a6"]


def test_moves_may_be_given_by_name_in_a_game(guarded_words: Any) -> None:
    words = ("vierer_dominari", "--first", f"{ODD}:Names", "--second", f"{ODD}:Repeats")
    code, told = guarded_words("play", *words)
    assert code == 1
    assert f"agent {ODD}:Repeats: " in told
    assert "1a6" in told


def test_ctrl_c_ends_a_command_that_is_still_set_up(capsys: pytest.CaptureFixture[str]) -> None:
    """Typer answers it as soon as it parses the words, which is some 0.2 s later."""

    def set_up() -> None:
        raise KeyboardInterrupt

    with pytest.raises(SystemExit) as ended:
        terminal.guarded("azumaya", set_up)
    assert ended.value.code == INTERRUPTED
    assert capsys.readouterr() == ("", "")
