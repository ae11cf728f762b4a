"""Programs that are agents: what they are told, how they fail, and how they are ended."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from azumaya.baselines import find_agent
from azumaya.baselines.agents.program import ProgramAgent, ProgramError, request, words_of
from azumaya.baselines.arena.league import games
from azumaya.baselines.arena.league.games import Board, Table
from azumaya.envs import MoveNameError, OptionError, Position
from tests.league.playing import FIRST_LEGAL, GAME, job_of, league_here, outcomes, program
from tests.processes import python


def test_a_program_is_told_game_options_and_position() -> None:
    position = Position("sudoku_moyo", seed=1, territory="corners")
    game, options, text = request(position).split(" ", 2)
    assert (game, options) == ("sudoku_moyo", '{"territory":"corners"}')
    assert Position.from_text(game, text, territory="corners") == position
    assert request(Position(GAME)).split(" ", 2)[1] == "{}"


def test_paths_of_windows_keep_their_backslashes(monkeypatch: pytest.MonkeyPatch) -> None:
    command = r'"C:\My bots\bot.exe" --book books\open.txt'
    assert words_of(command.replace("\\", "/")) == [
        "C:/My bots/bot.exe",
        "--book",
        "books/open.txt",
    ]
    assert words_of(r"my\ bot '' # 1") == ["my bot", "", "#", "1"]
    monkeypatch.setattr(os, "sep", "\\")
    assert words_of(command) == [r"C:\My bots\bot.exe", "--book", r"books\open.txt"]


def test_a_program_plays_a_league(tmp_path: Path) -> None:
    path, name = tmp_path / "league.jsonl", program(FIRST_LEGAL)
    league_here(path, [name])
    ((results, plies, _, faults),) = outcomes(path).values()
    assert faults == (None, None)
    assert min(plies) > 5  # type: ignore[call-overload]
    assert len(results) == 2  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("code", "error", "message"),
    [
        ("while input(): print('no', flush=True)", MoveNameError, "^program:.*: name='no'"),
        ("import sys; sys.exit(3)", ProgramError, "ended with exit code 3"),
        ("import time; time.sleep(99)", ProgramError, "no answer in 0.5 s"),
        ("print('x' * 99999)", ProgramError, "more than 65,536 bytes"),
    ],
)  # fmt: skip
def test_programs_that_fail(code: str, error: type[Exception], message: str) -> None:
    seconds = 0.5 if "no answer" in message else 60.0
    agent = ProgramAgent(program(code).removeprefix("program:"), seconds)
    for _ in range(2):  # it is started again for the next game
        with pytest.raises(error, match=message):
            agent.act([Position(GAME)], [0])
    agent.close()


FLOOD = """
while True: print("no move", flush=True)
"""


def test_a_program_is_ended_after_a_wrong_answer() -> None:
    """Else what it printed meanwhile would be its next answers."""
    agent = ProgramAgent(program(FLOOD).removeprefix("program:"))
    with pytest.raises(MoveNameError, match="no move"):
        agent.act([Position(GAME)], [0])
    assert agent._child is None
    table, name = Table(), program(FLOOD.replace("no move", "6f6"))
    assert "6f6" in table.play(job_of([name, "greedy"]))["fault"][1]
    assert name not in table._agents


INTERRUPTS = """
import os, signal
from pathlib import Path
if Path(MARK).exists():
    while input(): print("1", flush=True)
Path(MARK).touch()
input()
os.kill(int(os.environ["ASKING"]), signal.SIGINT)
input()
print("the late answer", flush=True)
"""


ASKED_TWICE = """
import os, sys
os.environ["ASKING"] = str(os.getpid())
from azumaya.baselines.agents.program import ProgramAgent
from azumaya.envs import Position
agent = ProgramAgent(sys.argv[1])
for _ in range(2):
    try:
        agent.act([Position(sys.argv[2])], [0])
    except BaseException as error:
        print(type(error).__name__)
agent.close()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="the program sends a signal")
def test_a_question_that_was_interrupted_is_not_answered_later(tmp_path: Path) -> None:
    code = INTERRUPTS.replace("MARK", repr(str(tmp_path / "mark")))
    command = program(code).removeprefix("program:")
    done = python("-c", ASKED_TWICE, command, GAME, timeout=120)
    assert done.stdout.splitlines() == ["KeyboardInterrupt", "MoveNameError"], done.stderr


def test_who_watches_a_process_watches_the_time_of_its_programs(
    board: Board, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that any limit on the time per move can be set."""
    code = program("import time\nwhile input(): time.sleep(0.2); print('x', flush=True)")
    for watched, error in ((False, ProgramError), (True, MoveNameError)):
        agent = ProgramAgent(code.removeprefix("program:"), 1e-3, watched=watched)
        with pytest.raises(error):
            agent.act([Position(GAME)], [0])
        agent.close()
    made: list[bool] = []

    class Noted(ProgramAgent):
        def __init__(self, command: str, *, watched: bool = False) -> None:
            made.append(watched)
            super().__init__(command, watched=watched)

    monkeypatch.setattr(games, "ProgramAgent", Noted)
    table, job = Table(board), job_of([code, "greedy"])
    for again in (1, 2):
        assert "'x'" in table.play(job)["fault"][1]
        assert made == [True] * again, "it is made anew after its fault"


def test_programs_that_cannot_be_started(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"no program '\./no_such_program' can be run"):
        find_agent("program:./no_such_program --flag")
    broken = tmp_path / "broken"
    broken.write_bytes(b"\x7fELF")
    broken.chmod(0o755)
    with pytest.raises(ProgramError, match=r"cannot be started: .*"):
        find_agent(f"program:{broken} --flag").act([Position(GAME)], [0])
    with pytest.raises(OptionError, match="a command is needed"):
        find_agent("program:")
    with pytest.raises(OptionError, match="No closing quotation"):
        find_agent("program:bot 'x")
