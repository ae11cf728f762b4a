"""What submissions try that they must not: each attempt fails, is reported, and harms nothing."""

from __future__ import annotations

import os
import resource
import site
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from azumaya.baselines import find_agent
from azumaya.baselines.agents import RandomAgent
from azumaya.baselines.arena.exams import exam_file
from azumaya.baselines.arena.rounds import start_set
from azumaya.baselines.classroom import confine, linux, player
from azumaya.baselines.classroom.confine import (
    LANDLOCK,
    LAYERS,
    NAMESPACES,
    SECCOMP,
    Isolation,
    lacking,
)
from azumaya.baselines.classroom.games import play_both_seats, play_game
from azumaya.baselines.classroom.grading import hidden_from
from azumaya.baselines.classroom.process import (
    FOLDERS,
    IsolationError,
    Limits,
    PlayerProcess,
    Room,
    StartingError,
    SubmissionError,
    _environment,
    _opened,
    remove_left_folders,
)
from azumaya.baselines.classroom.seccomp import MACHINES, program
from azumaya.baselines.classroom.sitting import check
from azumaya.baselines.classroom.submissions import Submission, SubmissionAgent
from azumaya.baselines.system.files import locked
from azumaya.envs import GAMES, Position
from azumaya.envs.kernels.cache import cache_root
from azumaya.envs.notation import GameRecord
from azumaya.envs.position import MAX_SEED, episode_key
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

GAME = "vierer_dominari"
QUICK = Limits(move=1.0, loading=1.0, megabytes=512)
needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="namespaces are Linux's")


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder in which submissions run; no process is left there."""
    place = tmp_path / "runs"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    yield place
    eventually(lambda: running_in(place) == [])


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
    yield Room(QUICK, (here, out))
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


def reported(name: str, hostile: Hostile, room: Room) -> str:
    """What the check of a submission says; empty if it passes."""
    agent = SubmissionAgent(Submission(name, placed(hostile.content, room)), GAME, room)
    try:
        check(agent, GAME)
    except SubmissionError as error:
        return str(error)
    finally:
        agent.close()
    return ""


@needs_linux
@pytest.mark.parametrize("name", CONFINED)
def test_an_attempt_fails_and_is_reported(name: str, room: Room) -> None:
    assert CONFINED[name].told in reported(name, CONFINED[name], room)


@needs_linux
def test_attempts_are_refused(room: Room) -> None:
    lines = ["for number, attempt in enumerate(ATTEMPTS):", "    try:", "        eval(attempt)"]
    lines += ["        print(number, 'done')", "    except OSError as error:"]
    lines += ["        print(number, type(error).__name__, error.errno)", "sys.stdout.flush()"]
    source = placed(f"ATTEMPTS = {list(ATTEMPTS)!r}\n{inside(*lines)}".encode(), room)
    process = PlayerProcess(GAME, "tries.py", source, room)
    request = {"game": GAME, "options": {}, "position": str(Position(GAME)), "key": 1}
    try:
        process.ask(request, 5)
    finally:
        process.close()
    told = [f"{number} {error}" for number, error in enumerate(ATTEMPTS.values())]
    assert process.prints.first.decode().splitlines() == told


@needs_linux
@pytest.mark.slow
@pytest.mark.parametrize("name", MORE)
def test_another_attempt_fails_and_is_reported(name: str, room: Room) -> None:
    assert MORE[name].told in reported(name, MORE[name], room)
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
    agent = SubmissionAgent(Submission("x.py", source.encode()), "sudoku_tiles", room)
    try:
        agent.choose(position, key)
    finally:
        agent.close()
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
    agent = SubmissionAgent(Submission("prints.py", LATER["prints.py"].content), GAME, room)
    try:
        check(agent, GAME)
    finally:
        agent.close()
    assert agent.printed > 5000 * 30
    assert len(agent.output) <= 2000
    assert agent.output.startswith(b"</pre><script>")


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_with_a_submission_is_said(name: str) -> None:
    """The same code that runs in the process of a submission, in this one."""
    position = Position(GAME)
    request = {"game": GAME, "options": {}, "position": str(position), "key": 1}
    source = WRONG[name].content
    answer = player.guarded(lambda: player.choose(player.load(source, name), request), name)
    assert WRONG[name].told in answer["error"]
    assert len(answer["error"]) < 400


# ---- layers ----

GRANDCHILD = inside(
    "child = os.fork()",
    "if child == 0:",
    "    os.setsid()",
    "    if os.fork() == 0:",
    "        os.closerange(0, 64)",
    "        time.sleep(1000)",
    "    os._exit(0)",
    "os.waitpid(child, 0)",
)
"""Starts a process that has left its parent, its session and all pipes behind; then answers."""


@needs_linux
@pytest.mark.parametrize("layers", [(), (NAMESPACES,)], ids=["nothing", "namespaces"])
def test_no_process_is_left_even_if_it_can_start_some(layers: tuple[str, ...], runs: Path) -> None:
    room = Room(Limits(layers=layers, megabytes=1024))
    process = PlayerProcess(GAME, "x.py", GRANDCHILD.encode(), room)
    assert set(process.isolation.layers) == set(layers)
    assert set(process.isolation.missing) & set(LAYERS) == set(LAYERS) - set(layers)
    assert ("RLIMIT_NPROC" in process.isolation.missing) == (NAMESPACES not in layers)
    assert lacking(process.isolation)
    request = {"game": GAME, "options": {}, "position": str(Position(GAME)), "key": 1}
    try:
        process.ask(request, 5)
        assert len(running_in(runs)) == 2 + 2 * len(layers)
    finally:
        process.close()


def test_folders_of_runs_that_were_killed_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not those of runs that live, nor those that have just been made, nor other files."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    names = ("killed", "full", "new")
    killed, full, new = (tmp_path / f"{FOLDERS}{name}" for name in names)
    for folder in (killed, full, new):
        folder.mkdir()
    (full / "file").write_text("x")
    (tmp_path / f"{FOLDERS}link").symlink_to(killed)
    running = PlayerProcess(GAME, "first.py", FIRST, Room(QUICK))
    (own,) = set(tmp_path.iterdir()) - {killed, full, new, tmp_path / f"{FOLDERS}link"}
    for folder in (killed, full, own):
        os.utime(folder, (0, 0))
    remove_left_folders()
    try:
        assert not killed.exists()
        assert all(folder.exists() for folder in (full, new, own))
    finally:
        running.close()
    assert not own.exists()


def test_the_system_unlocks_the_folder_of_a_run_that_is_killed(tmp_path: Path) -> None:
    code = (
        "import sys, time; from azumaya.baselines.classroom.process import _opened, locked\n"
        "print(locked(_opened(sys.argv[1])), flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code, tmp_path], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"True\n"
        folder = _opened(tmp_path)
        assert not locked(folder)
        other.kill()
    assert locked(folder)
    os.close(folder)


def test_what_a_missing_layer_allows_is_said() -> None:
    every = dict.fromkeys(LAYERS, "in force")
    assert lacking(Isolation(every)) == []
    for layer in (LANDLOCK, SECCOMP):
        without = {name: words for name, words in every.items() if name != layer}
        assert lacking(Isolation(without)), layer
        said = "; ".join(lacking(Isolation(without)))
        assert ("empty and change existing ones" in said) == (layer == LANDLOCK)
    assert "delete and rename files" in lacking(Isolation({NAMESPACES: ""}))
    assert "delete and rename files" not in lacking(Isolation({LANDLOCK: ""}))
    unlimited = Isolation(every, {"RLIMIT_NPROC": "not here"})
    assert lacking(unlimited) == ["start as many threads as its memory holds"]
    assert "use the network" in lacking(Isolation({LANDLOCK: ""}))
    assert "use the network" not in lacking(Isolation({LANDLOCK: "", NAMESPACES: ""}))


@needs_linux
@pytest.mark.usefixtures("runs")
def test_isolation_that_is_required_is_required_of_every_process() -> None:
    """Not only of the first: namespaces, for example, may run out."""
    room = Room(Limits(megabytes=512, layers=(NAMESPACES, LANDLOCK), isolated=True))
    agent = SubmissionAgent(Submission("first.py", FIRST), GAME, room)
    with pytest.raises(IsolationError, match="could start processes"):
        check(agent, GAME)


@pytest.mark.parametrize("what", ["tempfile.mkdtemp", "os.pipe", "subprocess.Popen"])
def test_what_the_system_refuses_is_no_fault_of_a_submission(
    what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk or too many open files: no game is lost by that, and nothing stays open."""
    calls = 0

    def refuse(*arguments: object, **named: object) -> Any:
        nonlocal calls
        calls += 1
        if what == "os.pipe" and calls == 1:
            return pipe()
        raise OSError(28, "No space left on device")

    agents = [SubmissionAgent(Submission("first.py", FIRST), GAME, Room(QUICK)), RandomAgent()]
    pipe, before = os.pipe, sorted(os.listdir("/dev/fd"))
    monkeypatch.setattr(what, refuse)
    with pytest.raises(StartingError, match=r"cannot be started: .*No space left"):
        play_game(start_set(GAME), 0, 0, agents)
    monkeypatch.undo()
    assert sorted(os.listdir("/dev/fd")) == before


def test_only_failures_of_the_submission_lose_a_game(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*arguments: object) -> Any:
        raise MemoryError("of the grader")

    agent = SubmissionAgent(Submission("first.py", FIRST), GAME, Room(QUICK))
    monkeypatch.setattr(agent, "choose", fails)
    with pytest.raises(MemoryError, match="of the grader"):
        play_game(start_set(GAME), 0, 0, [agent, RandomAgent()])


def test_a_limit_that_cannot_be_set_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(number: int, limits: tuple[int, int]) -> None:
        if number == resource.RLIMIT_AS:
            raise ValueError("not here")

    monkeypatch.setattr(resource, "setrlimit", refuse)
    found = Isolation(dict.fromkeys(LAYERS, "in force"))
    confine._set_limits(1 << 30, found)
    assert found.missing == {"RLIMIT_AS": "not here"}
    assert lacking(found) == ["take all memory"]


def test_a_folder_is_carved_around_what_is_hidden(tmp_path: Path) -> None:
    secret, open_ = tmp_path / "a" / "secret", tmp_path / "a" / "open"
    for folder in (secret, open_, tmp_path / "b"):
        folder.mkdir(parents=True)
    rights = linux.carve([str(tmp_path)], [str(secret)])
    assert rights == {
        str(tmp_path): linux.READ_DIR,
        str(tmp_path / "a"): linux.READ_DIR,
        str(open_): linux.READ,
        str(tmp_path / "b"): linux.READ,
    }
    assert linux.carve([str(secret)], [str(tmp_path)]) == {}


def test_python_may_be_in_the_folder_of_the_results(tmp_path: Path) -> None:
    """For instance `--output .` in a project with its virtual environment."""
    libraries, own = tmp_path / ".venv" / "lib", tmp_path / "submissions"
    for folder in (libraries, own):
        folder.mkdir(parents=True)
    results = ("class.jsonl", "marks.csv", "report.html", ".marks.csv.7.tmp", "other")
    for name in results:
        (tmp_path / name).write_text("")
    hidden = [str(path) for path in hidden_from(own, tmp_path)]
    assert linux.carve([str(libraries)], hidden) == {str(libraries): linux.READ}
    assert set(linux.carve([str(tmp_path)], hidden)) == {
        str(tmp_path), str(tmp_path / ".venv"), str(tmp_path / "other")
    }  # fmt: skip


@pytest.mark.parametrize("kind", MACHINES)
def test_the_filter_allows_what_it_lists_and_nothing_else(kind: str) -> None:
    """The filter, interpreted; some calls are allowed or not by their first two arguments."""
    machine = MACHINES[kind]
    lines, number = program(machine, 7), machine.allowed

    def decide(call: int, first: int = 0, second: int = 0, code: int = machine.code) -> int:
        loaded, place = 0, 0
        while True:
            operation, yes, no, value = lines[place]
            place += 1
            if operation == 0x20:
                loaded = {0: call, 4: code, 16: first, 24: second}[value]
            elif operation == 0x54:
                loaded &= value
            elif operation == 0x06:
                return value
            else:
                holds = {0x15: loaded == value, 0x35: loaded >= value, 0x45: bool(loaded & value)}
                place += yes if holds[operation] else no

    allowed, refused, absent = 0x7FFF0000, 0x00050001, 0x00050026
    some = {"clone", "tgkill", "prlimit64", "prctl", "fcntl", "ioctl", "socketpair"}
    assert {decide(number[name]) for name in number.keys() - some} == {allowed}
    assert {decide(call) for call in set(range(424)) - {*number.values()}} == {refused}
    assert {decide(call) for call in set(range(424, 600)) - {*number.values()}} == {absent}
    assert decide(0x40000000 + 1) == absent, "a call of another convention"
    assert decide(1, code=0x40000003) == refused, "of another kind of machine"

    def are_allowed(name: str, *arguments: tuple[int, int]) -> list[bool]:
        return [decide(number[name], *both) == allowed for both in arguments]

    assert are_allowed("clone", (0x00010F00, 0), (17, 0)) == [True, False]
    assert are_allowed("tgkill", (7, 0), (8, 0)) == [True, False]
    assert are_allowed("prlimit64", (0, 0), (8, 0)) == [True, False]
    assert are_allowed("prctl", (15, 0), (1, 0), (4, 0)) == [True, False, False]
    assert are_allowed("fcntl", (3, 4), (3, 1030), (3, 5), (3, 1024), (3, 1031)) == [
        True, True, False, False, False
    ]  # fmt: skip
    assert are_allowed("ioctl", (0, 0x541B), (0, 0x5500), (0, 0x40086602)) == [True, False, False]
    assert are_allowed("socketpair", (1, 1 | 0x80000), (1, 2), (1, 3), (2, 1)) == [
        True, False, False, False
    ]  # fmt: skip


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
    agent = SubmissionAgent(Submission("x.py", source.encode()), GAME, Room(QUICK))
    try:
        check(agent, GAME)
    finally:
        agent.close()
    assert agent.output == b""


@needs_linux
def test_a_submission_sees_little_of_the_environment() -> None:
    os.environ["AZUMAYA_SECRET"] = "x"
    source = inside("print(sorted(os.environ), os.getcwd(), os.listdir('.'))")
    agent = SubmissionAgent(Submission("x.py", source.encode()), GAME, Room(QUICK))
    try:
        check(agent, GAME)
    finally:
        agent.close()
        del os.environ["AZUMAYA_SECRET"]
    assert b"AZUMAYA_CACHE_DIR" in agent.output
    assert b"AZUMAYA_SECRET" not in agent.output
    assert b"azumaya-class-" in agent.output
    assert b" []" in agent.output


def test_libraries_of_the_user_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With `pip install --user` the library itself is among them; a submission has another home."""
    monkeypatch.setattr(site, "ENABLE_USER_SITE", True)
    command = [sys.executable, "-c", "import site; print(site.getuserbase())"]
    told = subprocess.check_output(command, env=_environment(str(tmp_path)), text=True)
    assert told.strip() == site.getuserbase()
    monkeypatch.setattr(site, "ENABLE_USER_SITE", False)  # as with `python -s`
    assert "PYTHONUSERBASE" not in _environment(str(tmp_path))


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
@pytest.mark.parametrize("game", GAMES)
def test_kernels_are_compiled_in_class_as_at_home(game: str) -> None:
    """Those of positions are there; no others are taken from the cache of whoever has run it."""
    agent = SubmissionAgent(Submission("x.py", COUNTS.encode()), game, Room(Limits()))
    try:
        check(agent, game)
    finally:
        agent.close()
    assert set(agent.output.splitlines()) == {b"[] None"}


@needs_linux
def test_searches_of_the_library_are_not_compiled_in_every_process() -> None:
    process = PlayerProcess(GAME, "x.py", COUNTS.encode(), Room(Limits(baselines=True)))
    request = {"game": GAME, "options": {}, "position": str(Position(GAME)), "key": 1}
    try:
        process.ask(request, 5)
    finally:
        process.close()
    root = cache_root()
    assert process.prints.first.startswith(f"[] {root}".encode())


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
    agent = SubmissionAgent(Submission("x.py", USES_THE_LIBRARY.encode()), GAME, Room(limits))
    try:
        check(agent, GAME)
    finally:
        agent.close()
    assert set(agent.output.splitlines()) == {b"True"}


@needs_linux
def test_a_submission_stands_still_while_it_is_not_asked(runs: Path) -> None:
    """Its threads take nothing from its opponent."""
    source = inside(
        "threading.Thread(target=exec, args=('while True: pass',), daemon=True).start()"
    )
    process = PlayerProcess(GAME, "x.py", source.encode(), Room(QUICK))

    def states() -> set[str]:
        """T for those that are stopped."""
        told = [Path(f"/proc/{number}/stat").read_text() for number in running_in(runs)]
        return {line.rpartition(")")[2].split()[0] for line in told}

    try:
        eventually(lambda: states() == {"T"})
        for _ in range(2):
            process.ask({"game": GAME, "options": {}, "position": str(Position(GAME)), "key": 1}, 9)
            eventually(lambda: states() == {"T"})
    finally:
        process.close()


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
    room = Room(Limits(move=60.0))
    process = PlayerProcess(GAME, "x.py", source.encode(), room)
    try:
        process.ask({"game": GAME, "options": {}, "position": str(Position(GAME)), "key": 1}, 60)
    finally:
        process.close()
    assert 0 < int(process.prints.first) < confine.PROCESSES


@needs_linux
def test_processor_time_is_that_of_the_room() -> None:
    """What it takes to load the library does not count."""
    source = inside(
        "import resource, time",
        "limits = resource.getrlimit(resource.RLIMIT_CPU)",
        "print({limit - int(time.process_time()) for limit in limits} <= {123, 124})",
    )
    agent = SubmissionAgent(Submission("x.py", source.encode()), GAME, Room(QUICK, cpu=123))
    try:
        check(agent, GAME)
    finally:
        agent.close()
    assert agent.output.startswith(b"True")


@needs_linux
def test_a_slow_game_is_a_time_out() -> None:
    room = Room(Limits(move=0.5, megabytes=512))
    slow = b"import time\n" + FIRST.replace(b"    return", b"    time.sleep(0.05)\n    return")
    agent = SubmissionAgent(Submission("slow.py", slow), GAME, room)
    position = Position(GAME)
    try:
        agent.begin(0.3)
        with pytest.raises(SubmissionError, match=r"moves of one game took more than 0\.3 s"):
            agent.act([position] * 20, range(20))
        agent.begin(5.0)
        agent.act([position], [1])
    finally:
        agent.close()
