"""What submissions try that they must not: each attempt fails, is reported, and harms nothing."""

from __future__ import annotations

import os
import site
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from azumaya.baselines import find_agent
from azumaya.baselines.arena.exams import exam_file
from azumaya.baselines.arena.rounds import start_set
from azumaya.baselines.classroom import confine, player
from azumaya.baselines.classroom.games import play_both_seats
from azumaya.baselines.classroom.process import Limits, Room, SubmissionError, _environment
from azumaya.baselines.classroom.seccomp import MACHINES
from azumaya.baselines.classroom.submissions import Submission, SubmissionAgent
from azumaya.envs import GAMES, Position
from azumaya.envs.kernels.cache import cache_root
from azumaya.envs.notation import GameRecord
from azumaya.envs.position import MAX_SEED, episode_key
from tests.cases import nightly
from tests.classroom.running import GAME, PATIENT, QUICK, REQUEST, asked, checked, needs_linux
from tests.classroom.submissions import (
    ATTEMPTS,
    CONFINED,
    FIRST,
    HONEST,
    LATER,
    MORE,
    SEARCHES,
    WRONG,
    Hostile,
    inside,
)
from tests.processes import eventually, running_in


@pytest.fixture
def room(tmp_path: Path, runs: Path) -> Iterator[Room]:
    """A room with a class in it; afterwards nothing in it has changed."""
    here, out = tmp_path / "class", tmp_path / "out"
    for folder in (here, out):
        folder.mkdir()
    for name, content in HONEST.items():
        (here / name).write_bytes(content)
    (out / "class.jsonl").write_text("marks")
    before = {path: path.stat().st_mode for path in (here, *here.iterdir(), *out.iterdir())}
    yield Room(PATIENT, (here, out))
    assert {path: path.stat().st_mode for path in (here, *here.iterdir(), *out.iterdir())} == before
    assert {path.name: path.read_bytes() for path in here.iterdir()} == HONEST
    assert (out / "class.jsonl").read_text() == "marks"


def elsewhere(room: Room) -> Path:
    """A file that is not there, in a folder that is nobody's."""
    return room.hidden[0].parent / "hostile"


def placed(source: bytes, room: Room) -> bytes:
    """A submission with the places of its class filled in."""
    places = {
        b"@HERE@": room.hidden[0],
        b"@OUT@": room.hidden[1],
        b"@EXAM@": exam_file(GAME, "public"),
        b"@ELSEWHERE@": elsewhere(room),
    }
    for mark, place in places.items():
        source = source.replace(mark, os.fsencode(place))
    return source


def reported(hostile: Hostile, room: Room) -> str:
    """What the check of a submission says; empty if it passes."""
    limits = QUICK if "time-out" in hostile.told else PATIENT
    try:
        checked(placed(hostile.content, room), replace(room, limits=limits))
    except SubmissionError as error:
        return str(error)
    return ""


HOSTILE = {**CONFINED, **MORE}


@needs_linux
@pytest.mark.parametrize("name", nightly(HOSTILE, CONFINED))
def test_an_attempt_fails_and_is_reported(name: str, room: Room) -> None:
    assert HOSTILE[name].told in reported(HOSTILE[name], room)


@needs_linux
def test_attempts_are_refused(room: Room) -> None:
    lines = ["for number, attempt in enumerate(ATTEMPTS):", "    try:", "        eval(attempt)"]
    lines += ["        print(number, 'done')", "    except OSError as error:"]
    lines += ["        print(number, type(error).__name__, error.errno)", "sys.stdout.flush()"]
    source = placed(f"ATTEMPTS = {list(ATTEMPTS)!r}\n{inside(*lines)}".encode(), room)
    with asked(source, room) as process:
        pass
    told = [f"{number} {error}" for number, error in enumerate(ATTEMPTS.values())]
    assert process.prints.first.decode().splitlines() == told
    assert not elsewhere(room).exists()


@needs_linux
def test_the_process_of_a_submission_holds_nothing_that_is_secret(room: Room) -> None:
    """Not the seed, nor what leads back to it, nor where the class is; the position, it does."""
    seed, position = 0xC0FFEE_0123_4567, Position("sudoku_tiles", seed=5)
    key = int(episode_key(seed, 3, 7))
    numbers = {"seed": seed, "key": key, "key of a start": int(episode_key(seed, 0, 0))}
    words = {"submissions": room.hidden[0], "results": room.hidden[1], "position": position}
    masked = {name: number ^ MAX_SEED for name, number in numbers.items()}
    turned = {name: str(word)[::-1] for name, word in words.items()}
    source = SEARCHES.replace("@NUMBERS@", str(masked)).replace("@WORDS@", str(turned))
    room = replace(room, limits=Limits(move=60.0))
    submission = Submission("x.py", source.encode())
    with closing(SubmissionAgent(submission, "sudoku_tiles", room)) as agent:
        agent.choose(position, key)
    requests, answers = 1, 1
    assert agent.output.decode() == f"['position'] {3 + requests + answers}\n"


def test_who_remembers_a_game_does_not_foresee_another_from_the_same_start() -> None:
    """The tiles differ with the seat and the opponent; played again, a game has the same."""
    starts, names = start_set("sudoku_tiles", seed=5), ("random", "greedy")

    def play() -> list[GameRecord]:
        pairs = [[find_agent("random"), find_agent(name)] for name in names]
        played = [play_both_seats(starts, 3, pair, 0.0) for pair in pairs]
        return [game.record for games in played for game in games]

    records = play()
    assert len({record.start for record in records}) == 1
    assert len({str(record.options["draws"])[:12] for record in records}) == 4
    assert play() == records


@needs_linux
def test_what_is_printed_is_no_answer_and_is_counted(room: Room) -> None:
    agent = checked(LATER["prints.py"].content, room)
    assert agent.printed > 5000 * 30
    assert len(agent.output) <= 2000
    assert agent.output.startswith(b"</pre><script>")


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_with_a_submission_is_said(name: str) -> None:
    """The same code that runs in the process of a submission, in this one."""
    source = WRONG[name].content
    answer = player.guarded(lambda: player.choose(player.load(source, name), REQUEST), name)
    assert WRONG[name].told in answer["error"]
    assert len(answer["error"]) < 400


TRIES = """
import ctypes, errno

def act(position):
    libc = ctypes.CDLL(None, use_errno=True)
    for call in @CALLS@:
        known = libc.syscall(ctypes.c_long(call), *[ctypes.c_long(-1)] * 6), ctypes.get_errno()
        if known not in ((-1, errno.EPERM), (-1, errno.ENOSYS)):
            print(call, *known)
    return position.legal_moves()[0]
"""
"""Makes system calls, and prints those that are not refused."""


@needs_linux
def test_no_other_call_reaches_the_kernel() -> None:
    machine = MACHINES[os.uname().machine]
    debugging = {335, 336}  # they end the process; only the kernel's own code may make them
    calls = set(range(600)) - {*machine.allowed.values()} - debugging
    source = TRIES.replace("@CALLS@", str(sorted(calls)))
    assert checked(source, Room(PATIENT)).output == b""


@needs_linux
def test_a_submission_sees_little_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZUMAYA_SECRET", "x")
    source = inside("print(sorted(os.environ), os.getcwd())")
    output = checked(source, Room(PATIENT)).output
    assert b"AZUMAYA_CACHE_DIR" in output
    assert b"AZUMAYA_SECRET" not in output
    assert output.endswith(b" /\n")


def test_libraries_of_the_user_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """With `pip install --user` the library itself is among them; a submission has another home."""
    monkeypatch.setattr(site, "ENABLE_USER_SITE", True)
    command = [sys.executable, "-c", "import site; print(site.getuserbase())"]
    told = subprocess.check_output(command, env=_environment(), text=True)
    assert told.strip() == site.getuserbase()
    monkeypatch.setattr(site, "ENABLE_USER_SITE", False)  # as with `python -s`
    assert "PYTHONUSERBASE" not in _environment()


COUNTS = """
import copy
import pickle

from azumaya.envs.kernels import cache, rng

compiled, whole = [], cache.CachedDispatcher.compile

def count(self, signature):
    compiled.append(self.py_func.__name__)
    return whole(self, signature)

cache.CachedDispatcher.compile = count

def act(position):
    position.is_terminated, position.is_truncated, position.options, position.state
    position.revealed(position.copy()), position.scene(), position.svg(), position.draw()
    position.legal_words(), position.observation(1), position == position.resample_hidden(7)
    copy.deepcopy(position), pickle.dumps(position), position.action_cells(0)
    after = position.copy()
    for _ in range(500):
        if not after.is_over:
            after.explain(after.legal_moves()[-1])
            after.play(after.legal_moves()[-1])
    after.returns(), str(after), repr(after), after.observation(0)
    print(sorted(set(compiled)), rng.mix._cache.cache_path)
    return position.legal_moves()[0]
"""
"""Does all that a position can, and prints the kernels that were not there and where they are."""


@needs_linux
@pytest.mark.parametrize("game", nightly(GAMES, (GAME, "sudoku_tiles")))
def test_kernels_are_compiled_in_class_as_at_home(game: str) -> None:
    """Those of positions are there; no others are taken from the cache of whoever has run it."""
    output = checked(COUNTS, Room(Limits(move=60.0)), game).output
    assert set(output.splitlines()) == {b"[] None"}


@needs_linux
def test_searches_of_the_library_are_not_compiled_in_every_process() -> None:
    with asked(COUNTS, Room(Limits(baselines=True))) as process:
        pass
    assert process.prints.first.startswith(f"[] {cache_root()}".encode())


USES_THE_LIBRARY = """
import azumaya.wrappers.flat
from azumaya.baselines import find_agent, load_exam

agent = find_agent("greedy")

def act(position):
    try:
        load_exam("vierer_dominari", "public")
    except ValueError as error:
        print("Permission denied" in str(error), flush=True)
    return agent.act([position], [1])[0]
"""


@needs_linux
def test_agents_of_the_library_may_be_allowed_and_the_exams_are_not() -> None:
    """Also where its packages are in several places, because it was installed to be edited."""
    limits = Limits(move=60.0, loading=60.0, baselines=True)
    assert set(checked(USES_THE_LIBRARY, Room(limits)).output.splitlines()) == {b"True"}


@needs_linux
def test_a_submission_stands_still_while_it_is_not_asked(runs: Path) -> None:
    """Its threads take nothing from its opponent."""
    source = inside(
        "threading.Thread(target=exec, args=('while True: pass',), daemon=True).start()"
    )

    def states() -> set[str]:
        """T for those that are stopped."""
        told = [Path(f"/proc/{number}/stat").read_text() for number in running_in(runs)]
        return {line.rpartition(")")[2].split()[0] for line in told}

    with asked(source, Room(PATIENT)) as process:
        eventually(lambda: states() == {"T"})
        process.ask(REQUEST, 60)
        eventually(lambda: states() == {"T"})


@needs_linux
def test_threads_are_few_for_root_too() -> None:
    source = inside(
        "end, started = threading.Event(), 0",
        "threading.stack_size(1 << 16)",
        "try:",
        "    while started < 1000:",
        "        threading.Thread(target=end.wait).start()",
        "        started += 1",
        "except RuntimeError:",
        "    print(started, flush=True)",
        "end.set()",
    )
    with asked(source, Room(Limits(move=60.0))) as process:
        pass
    assert 0 < int(process.prints.first) < confine.PROCESSES


@needs_linux
def test_processor_time_is_that_of_the_room() -> None:
    """What it takes to load the library does not count."""
    source = inside(
        "import resource, time",
        "limits = resource.getrlimit(resource.RLIMIT_CPU)",
        "print({limit - int(time.process_time()) for limit in limits} <= {123, 124})",
    )
    assert checked(source, Room(PATIENT, cpu=123)).output.startswith(b"True")


@needs_linux
def test_a_slow_game_is_a_time_out() -> None:
    room = Room(PATIENT)
    slow = b"import time\n" + FIRST.replace(b"    return", b"    time.sleep(0.05)\n    return")
    position = Position(GAME)
    with closing(SubmissionAgent(Submission("slow.py", slow), GAME, room)) as agent:
        agent.begin(0.3)
        with pytest.raises(SubmissionError, match=r"moves of one game took more than 0\.3 s"):
            agent.act([position] * 20, range(20))
        agent.begin(60.0)
        agent.act([position], [1])
