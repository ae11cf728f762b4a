"""Seeded work that is stopped and continued, in one process or several."""

from __future__ import annotations

import runpy
import sys
from functools import partial
from pathlib import Path
from types import ModuleType

import pytest

from azumaya.baselines.system.journal import Line
from azumaya.baselines.system.signals import REFUSED
from azumaya.baselines.system.work import WorkFileError, read_work
from azumaya.benchmarks.studies import book_maker, exam_maker, perft, puzzle_winners
from azumaya.benchmarks.studies.seeded_work import WorkerEndedError, do_work, each_line
from tests.baselines.odd_jobs import line_or_die, line_or_sleep
from tests.commands import azumaya, refused

SETTINGS = {"what": "squares"}
OF_GAME = ["--game", "vierer_dominari"]


def square(seed: int) -> Line:
    return {"seed": seed, "square": seed * seed}


def test_lines_come_in_the_order_of_seeds_whatever_the_processes(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    expected = [square(seed) for seed in range(5, 17)]
    assert do_work(one, SETTINGS, square, each_line(), 12, first_seed=5) == expected
    assert do_work(two, SETTINGS, square, each_line(), 12, first_seed=5, workers=2) == expected
    assert one.read_bytes() == two.read_bytes()
    assert read_work(one) == (SETTINGS, expected)


@pytest.mark.parametrize("kept", [0, 3, 20, 25, 60])
def test_work_goes_on_where_it_was_stopped(tmp_path: Path, kept: int) -> None:
    """The file may end anywhere, also within a line."""
    path, whole = tmp_path / "work", tmp_path / "whole"
    do_work(whole, SETTINGS, square, each_line(), 12)
    path.write_bytes(whole.read_bytes()[: len(whole.read_bytes().splitlines()[0]) + 1 + kept])
    done = path.read_bytes().count(b"\n") - 1
    asked: list[int] = []

    def work(seed: int) -> Line:
        asked.append(seed)
        return square(seed)

    do_work(path, SETTINGS, work, each_line(), 12)
    assert path.read_bytes() == whole.read_bytes()
    assert asked == list(range(done, 12))
    do_work(path, SETTINGS, work, each_line(), 12)
    assert len(asked) == 12 - done, "there was enough already"


def test_an_interrupt_loses_no_line(tmp_path: Path) -> None:
    def work(seed: int) -> Line:
        if seed == 4:
            raise KeyboardInterrupt
        return square(seed)

    with pytest.raises(KeyboardInterrupt):
        do_work(tmp_path / "work", SETTINGS, work, each_line(), 12)
    assert read_work(tmp_path / "work")[1] == [square(seed) for seed in range(4)]


def test_a_process_that_dies_ends_the_work_which_then_goes_on(tmp_path: Path) -> None:
    path, work = tmp_path / "work", partial(line_or_die, str(tmp_path / "mark"))
    with pytest.raises(WorkerEndedError, match="start the same work again"):
        do_work(path, SETTINGS, work, each_line(), 12, workers=2)
    assert (tmp_path / "mark").exists()
    assert len(read_work(path)[1]) <= 3
    assert do_work(path, SETTINGS, work, each_line(), 12, workers=2) == [
        square(seed) for seed in range(12)
    ]


def test_the_work_ends_without_what_was_begun_for_later_seeds(tmp_path: Path) -> None:
    """That may take minutes, and nobody waits for it."""
    work = partial(line_or_sleep, 3)
    found = do_work(tmp_path / "work", SETTINGS, work, each_line(), 3, workers=2)
    assert found == [{"seed": seed} for seed in range(3)]


def test_each_result_is_counted_once(tmp_path: Path) -> None:
    """Those of earlier runs, too; otherwise the work would take longer and longer."""
    path, counted = tmp_path / "work", list[int]()

    def count(line: Line) -> int:
        counted.append(line["seed"])
        return len(counted)

    do_work(path, SETTINGS, square, each_line(), 3)
    do_work(path, SETTINGS, square, count, 6)
    assert counted == list(range(6))


def test_what_cannot_be_read_or_done(tmp_path: Path) -> None:
    path = tmp_path / "work"
    with pytest.raises(WorkFileError, match="missing"):
        read_work(tmp_path / "missing")
    path.write_text("[1]\n")
    with pytest.raises(WorkFileError, match=r"line 1: .* is not a JSON object"):
        read_work(path)


@pytest.mark.filterwarnings("ignore:.*found in sys.modules:RuntimeWarning")
@pytest.mark.parametrize(
    ("module", "words"),
    [("book_maker", OF_GAME), ("exam_maker", OF_GAME), ("puzzle_winners", [])],
)
def test_makers_refuse_folders_that_cannot_be(
    module: str,
    words: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(sys, "argv", [module, *words, "--work", str(tmp_path / "file" / "work")])
    with pytest.raises(SystemExit) as left:
        runpy.run_module(f"azumaya.benchmarks.studies.{module}", run_name="__main__")
    assert left.value.code == REFUSED
    said = capsys.readouterr().err
    assert "Not a directory" in said
    assert "Traceback" not in said


@pytest.mark.parametrize("made", [book_maker, exam_maker, puzzle_winners])
def test_makers_have_the_words_of_all_commands(made: ModuleType, tmp_path: Path) -> None:
    """What they took before is read, with a warning."""
    file = tmp_path / "file"
    file.touch()
    of_game = made is not puzzle_winners
    now = ("--game", "vierer_dominari") * of_game + ("--workers", "1")
    before = ("vierer_dominari",) * of_game + ("--jobs", "1")
    for words in (now, before):
        result = azumaya(*words, "--work", file / "work", program=made.app)
        refused(result, "Not a directory")
        warned = result.output.count("is now")
        assert warned == (0 if words == now else 1 + of_game)


def test_perft_takes_the_game_as_all_commands_do() -> None:
    now = azumaya("--game", "vierer_dominari", "--depth", 1, program=perft.app)
    before = azumaya("vierer_dominari", "--depth", 1, program=perft.app)
    assert now.exit_code == before.exit_code == 0, now.output + before.output
    assert "the game is now an option: --game vierer_dominari" in before.output
