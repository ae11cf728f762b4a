"""Whole classes: nobody's marks depend on hostile submissions; a killed run goes on."""

from __future__ import annotations

import csv
import functools
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from azumaya.baselines import load_exam
from azumaya.baselines.arena.exams import exam_bytes, exam_file
from azumaya.baselines.arena.matches import MOST_STARTS
from azumaya.baselines.classroom import grading
from azumaya.baselines.classroom.grading import Plan, processor_seconds, room_for
from azumaya.baselines.classroom.handout import starter_text
from azumaya.baselines.classroom.process import Limits, Room, StartingError
from azumaya.baselines.classroom.store import begun_seed
from azumaya.baselines.classroom.submissions import Submission
from azumaya.baselines.play.replay import replay_script
from azumaya.envs import GAMES, Position
from azumaya.envs.position import MAX_SEED
from tests.classroom.submissions import HONEST, LATER, MORE, WRONG
from tests.commands import azumaya, refused
from tests.odd_agents import ODD
from tests.processes import eventually, inheriting, running_in

GAME = "vierer_dominari"
FEW = ("--pairs", 1, "--opponent", "random", "--opponent", "greedy", "--move-limit", "60s",
       "--seed", 0)  # fmt: skip
"""Short matches, always the same. Nobody here is slow, so no machine may be so busy that a move
takes too long."""
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="isolation is Linux's")

HOSTILE = {
    **{name: MORE[name].content for name in ("exits_at_once.py", "forks.py")},
    "exits.py": WRONG["exits.py"].content,
    **{name: hostile.content for name, hostile in LATER.items()},
}
FEW_HOSTILE = ("forks.py", "prints.py")
"""One that fails its check, and one that passes it."""
run_class = functools.partial(azumaya, "class")


def make(folder: Path, files: Mapping[str, bytes]) -> Path:
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


def marks(output: Path) -> dict[str, dict[str, str]]:
    with (output / "marks.csv").open(newline="", encoding="utf-8-sig") as file:
        return {row["submission"]: row for row in csv.DictReader(file)}


@pytest.fixture
def alone(tmp_path: Path) -> Path:
    """A class of one."""
    return make(tmp_path / "class", {"greedy.py": HONEST["greedy.py"]})


def grade(folder: Path, output: Path, *more: object) -> Result:
    """Mark a class by short matches."""
    return run_class("--game", GAME, folder, "--output", output, *FEW, *more)


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """An honest class that has been marked: its folder and that of its marks."""
    place = tmp_path_factory.mktemp("clean")
    folder, output = make(place / "class", HONEST), place / "out"
    done = grade(folder, output)
    assert done.exit_code == 0, done.output
    for name, row in marks(output).items():
        assert re.search(rf"{re.escape(name)}\s+{float(row['mark']):g}\s", done.output), name
    return folder, output


def test_an_honest_class(clean: tuple[Path, Path]) -> None:
    found = marks(clean[1])
    assert {row["status"] for row in found.values()} == {"graded"}
    assert {row["exam_positions"] for row in found.values()} == {
        str(len(load_exam(GAME).positions))
    }
    assert float(found["greedy.py"]["mark"]) > float(found["first.py"]["mark"])
    assert float(found["greedy.py"]["rating_low"]) < float(found["greedy.py"]["rating"])
    assert {row["failures"] for row in found.values()} == {"0"}
    page = (clean[1] / "report.html").read_text()
    assert "isolation: user, process, network and IPC namespaces" in page
    assert 'href="#game-1"' in page
    assert "Costliest moves in games" in page


OWN = ("mark", "exam_kept", "exam_regret", "won_random", "won_greedy", "failures", "remarks")
"""What must not depend on the rest of the class."""


@pytest.mark.parametrize(
    "names", [FEW_HOSTILE, pytest.param(HOSTILE, marks=pytest.mark.slow)], ids=["few", "all"]
)
def test_hostile_submissions_change_nobodys_marks(
    names: Iterable[str], clean: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("azumaya.baselines.classroom.process.HOME", str(tmp_path))
    evil = "<img src=x onerror=alert(1)>.py"
    odd = b"raise ValueError(chr(0xd800) + chr(27) + '</script><script>alert(2)</script>')"
    files = {**HONEST, **{name: HOSTILE[name] for name in names}, evil: odd}
    folder, output = make(tmp_path / "class", files), tmp_path / "out"
    done = grade(folder, output, "--workers", 2, "--classmates", 0)
    assert done.exit_code == 0, done.output
    found, before = marks(output), marks(clean[1])
    for name in HONEST:
        assert {k: found[name][k] for k in OWN} == {k: before[name][k] for k in OWN}
    assert set(found) == set(files)
    for name in {*names, evil} - {*LATER}:
        assert (found[name]["status"], found[name]["mark"]) == ("failed", "0.0"), name
    assert "ValueError: \\ud800\\x1b</script>" in found[evil]["remarks"]
    for name in {*names} & {*LATER}:
        assert found[name]["status"] == "graded"
        assert LATER[name].told in found[name]["remarks"]
    if "fails_later.py" in found:
        assert int(found["fails_later.py"]["failures"]) > 2
    assert running_in(tmp_path) == []
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == files
    _check_page((output / "report.html").read_text(), evil)


def _check_page(page: str, evil: str) -> None:
    """Nothing of a submission has become markup: there is only the report's own script."""
    assert evil not in page
    assert "<img" not in page
    scripts = re.findall(r"<script[^>]*>", page)
    assert scripts == ['<script type="application/json" id="games">', '<script type="module">']
    assert page.count("</script>") == 2
    assert f'<script type="module">{replay_script()}</script>' in page
    assert "&lt;/pre&gt;&lt;script&gt;" in page  # what was printed is shown
    assert not re.search(r'\b(?:src|href)="(?!#)', page)
    assert " style=" not in page


def test_only_what_has_changed_is_run_again(clean: tuple[Path, Path], tmp_path: Path) -> None:
    folder, output = make(tmp_path / "class", HONEST), tmp_path / "out"
    output.mkdir()
    lines = (clean[1] / "class.jsonl").read_text().splitlines(keepends=True)
    (output / "class.jsonl").write_text("".join(lines))
    (folder / "first.py").write_bytes(HONEST["first.py"] + b"# edited\n")
    assert grade(folder, output).exit_code == 0
    after = (output / "class.jsonl").read_text().splitlines(keepends=True)
    assert after[: len(lines)] == lines
    more = [json.loads(line) for line in after[len(lines) :]]
    assert [line["id"].partition("@")[0] for line in more if "id" in line] == ["first.py"]
    reviewed = [line["submission"] for line in more if line["record"] == "review"]
    assert [name.partition("@")[0] for name in reviewed] == ["first.py"]
    for name in HONEST:
        assert marks(output)[name]["mark"] == marks(clean[1])[name]["mark"]
    refused(grade(folder, output, "--seed", 3), "other settings: --seed;")


def test_the_best_mark_can_be_chosen(clean: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "class.jsonl").write_bytes((clean[1] / "class.jsonl").read_bytes())
    done = grade(clean[0], tmp_path, "--points", 15)
    assert done.exit_code == 0, done.output
    for name, row in marks(tmp_path).items():
        of_100 = float(marks(clean[1])[name]["mark"])
        assert float(row["mark"]) == pytest.approx(of_100 * 0.15, abs=0.06)


@pytest.mark.slow
def test_nobody_knows_the_games_before_they_are_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without `--seed` one is drawn and kept; the games of `check` are those of seed 0."""
    monkeypatch.setattr("secrets.randbelow", lambda most: most - 1)  # the largest there is
    folder, output = make(tmp_path / "class", HONEST), tmp_path / "out"
    words = "--game", GAME, folder, "--output", output, *FEW[:-2]
    assert run_class(*words).exit_code == 0
    before = (output / "class.jsonl").read_bytes()
    assert json.loads(before.splitlines()[0])["seed"] == MAX_SEED - MOST_STARTS - 1
    monkeypatch.setattr("secrets.randbelow", lambda most: 0)
    assert run_class(*words).exit_code == 0
    assert (output / "class.jsonl").read_bytes() == before, "it goes on with the seed it began with"
    refused(run_class(*words, "--seed", 0), "other settings: --seed;")


@pytest.mark.parametrize("content", [b"", b"{", b"[1]\n", b'{"record":"league","seed":1}\n'])
def test_another_file_has_no_seed(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "class.jsonl").write_bytes(content)
    assert begun_seed(tmp_path / "class.jsonl") is None
    assert begun_seed(tmp_path / "none") is None


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_was_stopped_goes_on(how: int, clean: tuple[Path, Path], tmp_path: Path) -> None:
    folder, output = clean[0], tmp_path / "out"
    words = ["--game", GAME, folder, "--output", output, *FEW, "--workers", 1]
    command = [sys.executable, "-m", "azumaya", "class", *map(str, words)]
    environment = {**os.environ, "NUMBA_RUN": str(tmp_path)}  # which submissions inherit
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, env=environment) as process:
        wait_for_lines(output / "class.jsonl", 2)
        os.kill(process.pid, how)
        code = process.wait(20)
    assert code == (130 if how == signal.SIGINT else -signal.SIGKILL)
    eventually(lambda: not inheriting(f"NUMBA_RUN={tmp_path}"))
    assert not (output / "marks.csv").exists()
    kept = (output / "class.jsonl").read_bytes()
    done = run_class(*words)
    assert done.exit_code == 0, done.output
    assert (output / "class.jsonl").read_bytes().startswith(kept)
    ran = [json.loads(line).get("id") for line in (output / "class.jsonl").open()][1:]
    assert len(ran) == len(set(ran) - {None}) + ran.count(None)  # nobody was run twice
    reviews = [line for line in (output / "class.jsonl").open() if '"review"' in line]
    assert len(reviews) == len(HONEST)
    times = {"ms_per_move"}
    for name, row in marks(output).items():
        before = marks(clean[1])[name]
        assert {k: v for k, v in row.items() if k not in times} == {
            k: v for k, v in before.items() if k not in times
        }


def wait_for_lines(path: Path, count: int) -> None:
    eventually(lambda: path.exists() and path.read_bytes().count(b"\n") >= count)


def test_isolation_that_is_missing_is_told_or_required(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clean: tuple[Path, Path]
) -> None:
    few = functools.partial(Limits, layers=("namespaces", "landlock"))
    monkeypatch.setattr("azumaya.baselines.cli.classroom.Limits", few)
    output = tmp_path / "out"
    done = grade(clean[0], output, "--require-isolation")
    assert done.exit_code == 1
    assert "a submission could start processes" in done.output
    assert "no submission was run without isolation" in done.output
    assert (output / "class.jsonl").read_bytes().count(b"\n") == 1


def test_results_without_required_isolation_are_not_reused(
    clean: tuple[Path, Path], tmp_path: Path
) -> None:
    """What ran unconfined may have read the exam."""
    kept = (clean[1] / "class.jsonl").read_bytes()
    (tmp_path / "class.jsonl").write_bytes(kept)
    done = grade(clean[0], tmp_path, "--require-isolation")
    refused(done, "begun with other settings: --require-isolation;")
    assert (tmp_path / "class.jsonl").read_bytes() == kept


def test_wrong_arguments(tmp_path: Path) -> None:
    folder = make(tmp_path / "class", {})
    some = tmp_path / "some"
    some.mkdir()
    (some / "a.py").write_text("x")
    other, own = exam_file("score_dominari", "public"), tmp_path / "own.jsonl.gz"
    public = load_exam(GAME, "public")
    question = replace(
        public.positions[0], values=dict(list(public.positions[0].values.items())[1:])
    )
    own.write_bytes(exam_bytes(replace(public, positions=(question,))))
    out = ("--output", tmp_path / "out")
    wrong = {
        ("--part", "x"): "--part x",
        ("--weight", "x=1"): "weight x",
        ("--weight", "x"): "NAME=NUMBER",
        ("--weight", "class=1"): "nothing that counts for the mark can be measured",
        ("--opponent", "x"): "agent 'x'",
        ("--seed", 2**64): "seed=",
        ("--exam", tmp_path / "no"): "no",
        ("--exam", other): "not of vierer",
        ("--exam", own): "position 0: the",
        ("--move-limit", "inf"): "inf: must be a time",
        ("--game-limit", "nan"): "--game-limit",
    }
    for words, message in (
        (("--game", "chess", folder, *out), "game 'chess'"),
        (("--game", GAME, tmp_path / "none", *out), "there is no such folder"),
        (("--game", GAME, folder, *out), "there are no submissions"),
        (("--game", GAME, folder, "--output", folder), "must not be in the folder"),
        *((("--game", GAME, some, *out, *more), message) for more, message in wrong.items()),
        (
            ("check", "--game", GAME, some / "a.py", "--game-limit", "inf"),
            "inf: must be a time",
        ),
        (("check", "--game", GAME, tmp_path / "none.py"), "No such file"),
        (("starter", "--game", GAME, some / "a.py"), "exists"),
        (("starter", "--game", "chess", tmp_path / "b.py"), "game 'chess'"),
    ):
        refused(run_class(*words), message)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["marks.csv", "report.html"])
def test_files_of_somebody_else_are_not_replaced(name: str, alone: Path, tmp_path: Path) -> None:
    (tmp_path / name).write_text("a teacher's own")
    refused(grade(alone, tmp_path), f"has a {name} but no class.jsonl")
    assert (tmp_path / name).read_text() == "a teacher's own"


def test_submissions_beside_python_itself_are_refused(
    alone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All that is in their folder is hidden from them."""
    monkeypatch.setattr(sys, "prefix", str(alone / ".venv"))
    refused(grade(alone, tmp_path / "out"), "which submissions must be able to read")


@pytest.mark.parametrize(
    "name", [f"{ODD}:Raises", pytest.param(f"{ODD}:Raises:60", marks=pytest.mark.slow)]
)
def test_nobody_is_marked_by_an_opponent_that_fails(name: str, alone: Path, tmp_path: Path) -> None:
    """It would give everybody full marks, or none."""
    words = ("--pairs", 10, "--opponent", name, "--workers", 1, "--seed", 0)
    done = run_class("--game", GAME, alone, "--output", tmp_path / "out", *words)
    assert done.exit_code == 1
    assert f"opponent {name}: ValueError: [red]what[/b] it says" in done.output
    assert not (tmp_path / "out" / "marks.csv").exists()


def test_an_opponent_of_ones_own_counts(
    alone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where there is no exam, and whatever it calls itself."""
    monkeypatch.setattr(grading, "has_exam", lambda game: False)
    words = ("--pairs", 1, "--opponent", f"{ODD}:Named", "--move-limit", "60s", "--seed", 0)
    done = run_class("--game", GAME, alone, "--output", tmp_path / "out", *words)
    assert done.exit_code == 0, done.output
    (row,) = marks(tmp_path / "out").values()
    assert row["exam_kept"] == ""
    assert float(row[f"won_{ODD}:Named"]) * 100 == float(row["mark"]) > 0
    assert row["remarks"] == ""


def test_opponents_of_the_same_name_have_other_hidden_tiles(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Or a submission that remembers its games against one would foresee those of the other."""
    monkeypatch.setattr(grading, "has_exam", lambda game: False)
    names = f"{ODD}:Named:a", f"{ODD}:Named:b"
    plan = Plan("sudoku_tiles", seed=5, opponents=names, pairs=1, limits=Limits(move=60))
    run = grading.run_alone(Submission("greedy.py", HONEST["greedy.py"]), plan, room_for(plan))
    options = [game.record.options for meeting in run.meetings for game in meeting.games]
    assert len({str(given["draws"])[:12] for given in options}) == 4


def test_a_class_can_be_marked_by_an_exam_of_ones_own(alone: Path, tmp_path: Path) -> None:
    """Another exam, other answers: what was found with one is not taken for the other."""
    own, output = tmp_path / "own.jsonl.gz", tmp_path / "out"
    public = load_exam(GAME, "public")
    own.write_bytes(exam_bytes(replace(public, positions=public.positions[:7])))
    done = grade(alone, output, "--exam", own)
    assert done.exit_code == 0, done.output
    assert re.search(r"^ *1 submission *$", done.output, re.MULTILINE)
    (row,) = marks(output).values()
    assert row["exam_positions"] == "7"
    modes = {path.name: path.stat().st_mode & 0o777 for path in output.iterdir()}
    assert modes == dict.fromkeys(("class.jsonl", "marks.csv", "report.html"), 0o600)
    assert "exam: your own, 7 positions" in (output / "report.html").read_text()
    assert grade(alone, output, "--exam", own).exit_code == 0
    refused(grade(alone, output), "settings: the exam;")


# ---- processor time ----


def test_processor_time_is_enough_for_all_that_the_other_limits_allow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Four cores that are busy with the check, the exam, and the games against the library."""
    monkeypatch.setattr("azumaya.baselines.classroom.grading.available_cores", lambda: 4)
    plan = Plan(GAME, opponents=("random", "greedy"), limits=Limits(move=60, game=100, loading=5))
    exam = 30 + 5 * 60  # the clock is looked at after every five positions
    assert processor_seconds(plan) == 4 * (5 + 4 * 60 + exam + 2 * 2 * 100)
    one = replace(plan, opponents=("random",))  # another pair begins after 30 seconds
    assert processor_seconds(one) == 4 * (5 + 4 * 60 + exam + 30 + 2 * 100)
    endless = replace(plan, limits=Limits(game=1e300))
    assert processor_seconds(endless) == 1 << 31


def test_commands_give_each_process_its_processor_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, rooms = make(tmp_path / "class", {"first.py": HONEST["first.py"]}), list[Room]()

    def look(*arguments: Any) -> Any:
        rooms.append(arguments[-1])
        raise StartingError("seen")

    for name in ("isolation_of", "run_alone"):
        monkeypatch.setattr(f"azumaya.baselines.cli.classroom.{name}", look)
    limits = ("--game-limit", "77s", "--move-limit", "70s")
    for words in (
        ("--game", GAME, folder, "--output", tmp_path / "out"),
        ("check", "--game", GAME, folder / "first.py"),
    ):
        assert run_class(*words, *limits).exit_code == 1
    expected = room_for(Plan(GAME, limits=Limits(70, 77))).cpu
    assert [room.cpu for room in rooms] == [expected, expected]


# ---- for students ----


@pytest.mark.parametrize("game", GAMES)
def test_the_starter_file_is_an_agent(game: str) -> None:
    module: dict[str, Any] = {}
    exec(starter_text(game), module)
    position = Position(game, seed=3)
    move = module["act"](position)
    assert isinstance(module["outcome"](position, move), int)
    position.play(move)
    assert f"azumaya class check --game {game} " in (module["__doc__"] or "")


def test_a_student_checks_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "mine.py"
    assert run_class("starter", "--game", GAME, file).exit_code == 0
    words = ("--game", GAME, file, "--pairs", 1, "--move-limit", "60s")
    check = functools.partial(run_class, "check", *words)
    done = check()
    assert done.exit_code == 0, done.output
    assert "mine.py" in done.output
    assert "isolation: " in done.output
    file.write_text("raise SystemExit\n")
    unloaded = check()
    assert unloaded.exit_code == 1
    told = [line for line in done.output.splitlines() if line.startswith("isolation: ")]
    assert told == [line for line in unloaded.output.splitlines() if line in told]
    file.write_text("def act(position):\n    return 'nonsense'\n")
    failed = check()
    assert failed.exit_code == 1
    assert "gave what is no move" in failed.output


@pytest.mark.slow
@pytest.mark.parametrize("game", GAMES)
def test_every_game_can_be_set(game: str, tmp_path: Path) -> None:
    file = tmp_path / "class" / "starter.py"
    file.parent.mkdir()
    assert run_class("starter", "--game", game, file).exit_code == 0
    done = run_class(
        "--game", game, file.parent, "--output", tmp_path / "out", "--pairs", 1, "--seed", 0
    )
    assert done.exit_code == 0, done.output
    row = marks(tmp_path / "out")["starter.py"]
    assert (row["status"], row["failures"]) == ("graded", "0")
    assert float(row["mark"]) < 40
