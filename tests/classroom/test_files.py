"""The files that are handed in, and the file that keeps what was run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from azumaya.baselines.arena.exams import load_exam
from azumaya.baselines.classroom.games import Played
from azumaya.baselines.classroom.grading import Plan
from azumaya.baselines.classroom.process import Limits
from azumaya.baselines.classroom.sitting import Fault, Sitting
from azumaya.baselines.classroom.store import (
    OPTIONS,
    ClassFile,
    ClassFileError,
    Meeting,
    Mistake,
    Run,
)
from azumaya.baselines.classroom.submissions import LARGEST, collect
from azumaya.envs import Position
from azumaya.envs.notation import record_of
from tests.classroom.submissions import FIRST
from tests.commands import azumaya

GAME = "vierer_dominari"


def test_what_can_be_graded_and_why_the_rest_cannot(tmp_path: Path) -> None:
    (tmp_path / "good.py").write_bytes(FIRST)
    (tmp_path / "upper.PY").write_bytes(FIRST)
    (tmp_path / "empty.py").write_text(" \n")
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / "large.py").write_bytes(b"#" * (LARGEST + 1))
    (tmp_path / "folder.py").mkdir()
    (tmp_path / "link.py").symlink_to("good.py")
    (tmp_path / "outside.py").symlink_to("/etc/passwd")
    (tmp_path / ".hidden.py").write_text("x")
    (tmp_path / "__pycache__").mkdir()
    os.mkfifo(tmp_path / "pipe.py")
    found = {submission.name: submission for submission in collect(tmp_path)}
    assert list(found) == sorted(found)
    assert {name: submission.problem for name, submission in found.items()} == {
        "good.py": "",
        "upper.PY": "",
        "empty.py": "an empty file",
        "notes.txt": "its name does not end in .py",
        "large.py": "larger than 1,048,576 bytes",
        "folder.py": "a folder; one Python file is needed",
        "link.py": "a symbolic link; copy the file itself",
        "outside.py": "a symbolic link; copy the file itself",
        "pipe.py": "not a regular file",
    }
    assert found["good.py"].source == FIRST
    assert found["outside.py"].source == b""


def test_no_line_is_written_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        ClassFile(tmp_path / "class.jsonl", {"seconds": float("inf")})
    assert (tmp_path / "class.jsonl").read_bytes() == b""


def test_odd_names_become_printable(tmp_path: Path) -> None:
    for name in (b"a\xff.py", b"b\n=1.py", "c\u202e.py".encode(), b"<b>.py"):
        (tmp_path / os.fsdecode(name)).write_bytes(FIRST)
    names = [submission.name for submission in collect(tmp_path)]
    assert names == ["<b>.py", "a\\udcff.py", "b\\n=1.py", "c\\u202e.py"]


@pytest.mark.parametrize("pair", [(b"a\n.py", rb"a\n.py"), (b"a\x80.py", rb"a\x80.py")])
def test_no_two_names_become_equal(pair: tuple[bytes, bytes], tmp_path: Path) -> None:
    """The results of two students would be taken for those of one."""
    for name in pair:
        (tmp_path / os.fsdecode(name)).write_bytes(FIRST)
    assert len({submission.id for submission in collect(tmp_path)}) == 2


# ---- the file of a class ----


def played(result: int, seat: int, fault: tuple[int, str] | None = None) -> Played:
    start = Position(GAME)
    move = start.legal_moves()[0]
    return Played(
        result, seat, record_of(start, [move], start.copy().play(move), ("a", "b")), fault
    )


def run_of(identity: str) -> Run:
    exam = load_exam(GAME)
    moves = tuple(min(exam.positions[n].values) for n in (5, 2))
    sitting = Sitting((5, 2), (Fault("here", "failed"),), 250, 0, moves)
    games = played(1, 0), played(-1, 1, (0, "crashed"))
    return Run(
        identity, "", sitting, (Meeting(identity, "random", 0, games),), {"landlock": "x"},
        {"seccomp": "why"}, 1.5, 12, 0.25, 40, "printed",
    )  # fmt: skip


def test_everything_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "class.jsonl"
    meeting = Meeting("a.py@1", "b.py@2", 3, (played(0, 0), played(1, 1)))
    file = ClassFile(path, {"game": GAME})
    file.add_run(run_of("a.py@1"))
    file.add_meeting(meeting)
    found = (Mistake("random", 0, 1, 0, "1a1", 0.5, -1.0, False),)
    file.add_mistakes("a.py@1", found)
    file.close()
    again = ClassFile(path, {"game": GAME})
    assert again.runs == {"a.py@1": run_of("a.py@1")}
    assert again.meetings == {("a.py@1", "b.py@2", 3): meeting}
    assert again.mistakes == {"a.py@1": found}
    again.close()


OTHERS: dict[str, Plan] = {
    "the game": Plan("score_dominari"),
    "--part": Plan(GAME, "public"),
    "--seed": Plan(GAME, seed=1),
    "--opponent": Plan(GAME, opponents=("random",)),
    "--pairs": Plan(GAME, pairs=1),
    "--classmates": Plan(GAME, classmates=1),
    "--move-limit": Plan(GAME, limits=Limits(move=1)),
    "--game-limit": Plan(GAME, limits=Limits(game=1)),
    "--megabytes": Plan(GAME, limits=Limits(megabytes=512)),
    "--allow-baselines": Plan(GAME, limits=Limits(baselines=True)),
    "--require-isolation": Plan(GAME, limits=Limits(isolated=True)),
}


@pytest.mark.parametrize("option", OTHERS)
def test_settings_that_differ_are_named_as_they_are_typed(option: str, tmp_path: Path) -> None:
    path = tmp_path / "class.jsonl"
    file = ClassFile(path, Plan(GAME).settings())
    file.add_run(run_of("a.py@1"))
    file.close()
    with pytest.raises(ClassFileError, match=f"settings: {option}[;,]"):
        ClassFile(path, OTHERS[option].settings())


def test_options_are_named_as_the_command_has_them() -> None:
    done = azumaya("class", "grade", "--help")
    assert {name for name in OPTIONS.values() if name.startswith("--")} <= {*done.output.split()}
