"""`azumaya puzzles`: its output, files and exit codes."""

from __future__ import annotations

import functools
import subprocess
import sys
from pathlib import Path

import pytest

from azumaya.baselines.cli import puzzles as puzzle_commands
from azumaya.baselines.system.signals import FAILED
from azumaya.envs.puzzles import generator, load_bank
from azumaya.envs.puzzles.bank import BANK_FILE, BANK_SEED
from azumaya.envs.puzzles.generator import generate
from azumaya.envs.puzzles.grid import to_text
from tests.commands import azumaya
from tests.processes import run

SOLVED = "534678912672195348198342567859761423426853791713924856961537284287419635345286179"
SEED = 31
puzzles = functools.partial(azumaya, "puzzles")


def lines(file: Path) -> list[str]:
    return [line for line in file.read_text().splitlines() if not line.startswith("#")]


def test_generate_prints_puzzles() -> None:
    result = puzzles("generate", "--count", 3, "--seed", SEED)
    assert result.exit_code == 0
    assert result.stdout.split() == generate(3, SEED)


def test_generate_writes_a_file_that_begins_as_the_bank_does(tmp_path: Path) -> None:
    file = tmp_path / "new.txt"
    result = puzzles("generate", "--count", 4, "--seed", BANK_SEED, "--output", file)
    assert result.exit_code == 0
    assert "4 puzzles in" in result.stderr
    assert BANK_FILE.read_bytes().startswith(file.read_bytes())


def test_one_puzzle_is_no_puzzles(tmp_path: Path) -> None:
    command = ("generate", "--count", 1, "--output", tmp_path / "new.txt")
    assert "1 puzzle in" in puzzles(*command).stderr
    assert "already has 1 puzzle; nothing was changed" in puzzles(*command).stderr


def test_generate_continues_where_it_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "new.txt"
    command = ["generate", "--count", 5, "--seed", SEED, "--output", file]
    monkeypatch.setattr(puzzle_commands, "BATCH", 2)
    make, calls = generator.generate, []

    def stops(*args, **options):
        calls.append(options.get("first"))
        if calls[-1] == 2:
            raise KeyboardInterrupt
        return make(*args, **options)

    monkeypatch.setattr(generator, "generate", stops)
    result = puzzles(*command)
    assert result.exit_code == 130
    assert "stopped after 2 of 5" in result.stderr
    assert lines(file) == make(2, SEED)

    monkeypatch.setattr(generator, "generate", make)
    with file.open("a") as torn:
        torn.write("53..7")
    result = puzzles(*command)
    assert result.exit_code == 0
    assert "5 puzzles in" in result.stderr
    assert "2 of them from an earlier run" in result.stderr
    assert lines(file) == make(5, SEED)
    whole = file.read_bytes()
    assert puzzles(*command).exit_code == 0
    assert file.read_bytes() == whole


def test_generate_does_not_mix_puzzles_of_other_options(tmp_path: Path) -> None:
    file = tmp_path / "new.txt"
    puzzles("generate", "--count", 1, "--seed", SEED, "--output", file)
    whole = file.read_bytes()
    result = puzzles("generate", "--count", 2, "--seed", SEED + 1, "--output", file)
    assert result.exit_code == 2
    assert "was not made with these options" in result.stderr
    assert file.read_bytes() == whole


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--relax", "edges"), "unknown criteria ['edges']"),
        (("--max-givens", 3), "for '--max-givens'"),
        (("--max-givens", -5), "for '--max-givens'"),
        (("--max-givens", "9" * 20), "for '--max-givens'"),
        (("--count", "9" * 20), "for '--count'"),
        (("--seed", "9" * 20), "for '--seed'"),
    ],
)
def test_generate_refuses_what_it_cannot_do(words, problem: str, tmp_path: Path) -> None:
    file = tmp_path / "new.txt"
    result = puzzles("generate", "--count", 1, *words, "--output", file)
    assert result.exit_code == 2
    assert problem in result.stderr
    assert not file.exists()


def test_check_passes_good_puzzles(tmp_path: Path) -> None:
    file = tmp_path / "good.txt"
    file.write_text("\n".join(generate(3, SEED)))
    result = puzzles("check", file)
    assert result.exit_code == 0
    assert result.stdout.strip() == "3 of 3 puzzles meet every criterion"


def test_check_says_which_criterion_each_puzzle_misses(tmp_path: Path) -> None:
    file = tmp_path / "bad.txt"
    good = generate(1, SEED)[0]
    file.write_text(f"# three\n{good}\n\n{SOLVED}\n{'55' + '.' * 79}\n")
    result = puzzles("check", file)
    assert result.exit_code == 1
    assert "1 of 3 puzzles meet every criterion" in result.stdout
    rows = [row.split() for row in result.stdout.splitlines() if row.strip()[:1].isdigit()]
    found = {tuple(row[:2]) for row in rows if row[1] != "of"}
    assert found == {("4", "givens"), ("4", "centre"), ("4", "lines"), ("5", "rule")}
    assert "5 lies on a9 and on b9, in row 9" in result.stdout
    relaxed = [word for name in ("givens", "centre", "lines") for word in ("--relax", name)]
    assert "2 of 3" in puzzles("check", file, *relaxed).stdout
    assert puzzles("check", file, "--relax", "edges").exit_code == 2


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("53..\n", "bad.txt:1:5: 4 cells"),
        ("", "it contains no puzzle"),
        (None, "bad.txt: No such file"),
    ],
)
def test_files_that_cannot_be_read_are_refused(tmp_path: Path, content, problem: str) -> None:
    file = tmp_path / "bad.txt"
    if content is not None:
        file.write_text(content)
    result = puzzles("check", file)
    assert result.exit_code == 2
    assert problem in result.stderr


@pytest.mark.parametrize("place", ["", "none/a.txt", "file/a.txt"])
@pytest.mark.parametrize("count", [0, 2])
def test_generate_refuses_unwritable_files_first(
    place: str, count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("mine")
    monkeypatch.setattr(puzzle_commands, "_batches", None)  # fails if puzzles are generated
    result = puzzles("generate", "--count", count, "--output", tmp_path / place)
    assert result.exit_code == 2
    assert f"--output {tmp_path / place}: " in result.stderr
    assert "folder" in result.stderr
    assert [f.name for f in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_text() == "mine"


def test_generate_does_nothing_if_there_are_enough_puzzles(tmp_path: Path) -> None:
    file = tmp_path / "new.txt"
    command = ("generate", "--seed", SEED, "--output", file, "--count")
    puzzles(*command, 3)
    whole = file.read_bytes()
    result = puzzles(*command, 2)
    assert result.exit_code == 0
    assert "already has 3 puzzles, more than --count 2; nothing was changed" in result.stderr
    assert "already has 3 puzzles; nothing was changed" in puzzles(*command, 3).stderr
    assert file.read_bytes() == whole


@pytest.mark.parametrize("tail", ["my notes", "53..7x", f"{SOLVED}\n12\n", "5" * 82])
def test_generate_does_not_change_files_with_other_content(tail: str, tmp_path: Path) -> None:
    file = tmp_path / "new.txt"
    puzzles("generate", "--count", 1, "--seed", SEED, "--output", file)
    with file.open("a") as more:
        more.write(tail)
    whole = file.read_bytes()
    result = puzzles("generate", "--count", 3, "--seed", SEED, "--output", file)
    assert result.exit_code == 2
    assert "lines that this command did not write" in result.stderr
    assert file.read_bytes() == whole


def test_a_full_disk_loses_no_puzzle(tmp_path: Path) -> None:
    """A limit on the size of files stands in for a full disk; Python ignores its signal."""
    file, limit = tmp_path / "new.txt", 1500
    puzzles("generate", "--count", 3, "--seed", SEED, "--output", file)
    before = file.read_bytes()
    result = run("puzzles", "generate", "--count", 40, "--seed", SEED, "--output", file, size=limit)
    assert result.returncode == FAILED
    assert f"--output {file}: File too large" in result.stderr
    assert result.stderr.count("\n") == 1
    assert file.read_bytes().startswith(before)
    assert puzzles("generate", "--count", 40, "--seed", SEED, "--output", file).exit_code == 0
    assert lines(file) == generate(40, SEED)


def board_of(output: str) -> list[str]:
    """The 81 cells of a board drawn without colours."""
    rows = [line for line in output.splitlines()[:11] if not line.startswith("   -")]
    return [cell for row in rows for cell in row.replace("|", " ").split()[1:]]


def test_show_draws_a_puzzle_of_the_bank() -> None:
    result = puzzles("show", "--number", 2)
    assert result.exit_code == 0
    puzzle = to_text(load_bank()[1])
    marks = board_of(result.stdout)
    assert "".join(mark[0] if mark[0].isdigit() else "." for mark in marks) == puzzle
    assert puzzle in result.stdout
    assert "meets every criterion" in result.stdout


def test_show_without_colours_marks_blocks_regions_and_givens() -> None:
    puzzle = to_text(load_bank()[0])
    result = puzzles("show", "--solution")
    assert "\x1b" not in result.stdout
    assert result.stdout.count("|") == 18
    assert result.stdout.count("------------+------------+------------") == 2
    assert "capital: given" in result.stdout
    regions = ["LLLDDDLLL"] * 3 + ["LLLNNNDDD"] * 3 + ["DDDLLLDDD"] * 3
    for mark, given, region in zip(board_of(result.stdout), puzzle, "".join(regions), strict=True):
        assert mark[1] == (region.lower() if given == "." else region)
        assert given in (".", mark[0])
    empty = board_of(puzzles("show").stdout)
    grounds = {"L": ".", "D": ":", "N": "+"}
    assert [mark for mark in empty if not mark[0].isdigit()] == [
        grounds[region] for region, given in zip("".join(regions), puzzle, strict=True)
        if given == "."
    ]  # fmt: skip


def test_show_draws_any_puzzle_and_its_solution() -> None:
    puzzle = "." * 9 + SOLVED[9:]
    result = puzzles("show", puzzle, "--solution")
    assert [mark[0] for mark in board_of(result.stdout)[:9]] == list(SOLVED[:9])
    assert "misses 3" in result.stdout


def test_show_uses_colours_if_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    coloured = puzzles("show").stdout
    assert coloured.count("\x1b[") > 81
    assert "capital" not in coloured
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in puzzles("show").stdout


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--number", 9999), "--number 9999: must be at most 2500, the number of puzzles"),
        (("x.sdm",), "puzzle: 'x.sdm' is neither a puzzle of 81 cells nor a file"),
        (("x" * 81,), "puzzle:1:1: 'x' is not a cell"),
        (("5" * 81,), "5 lies on"),
    ],
)
def test_show_refuses_missing_puzzles(words, problem: str) -> None:
    result = puzzles("show", *words)
    assert result.exit_code == 2
    assert problem in result.stderr


def test_help_loads_no_compiler() -> None:
    code = (
        "import sys; from azumaya.baselines.cli import puzzles as puzzle_commands; "
        "assert 'azumaya.envs.puzzles.solver' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
