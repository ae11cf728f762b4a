"""`azumaya exam`, its tables and its picture; agents by `module:Class`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from azumaya import baselines
from azumaya.baselines.arena import exam_report
from azumaya.baselines.arena.exam_results import Answer, ExamResult
from azumaya.baselines.arena.exams import (
    PARTS,
    ExamPosition,
    exam_bytes,
    exam_file,
    has_exam,
    load_exam,
)
from azumaya.baselines.arena.matches import answer_exam
from azumaya.baselines.cli import exam as exam_commands
from azumaya.envs import GAMES, OptionError, Position
from tests.baselines.checkpoints import trained
from tests.commands import azumaya, refused
from tests.docs.blocks import elsewhere
from tests.odd_agents import ODD, Named

GAME = "sudoku_moyo"
NAMES = ("agent", "game", "positions", "kept_wins", "kept_draws", "regret")


def some_result(agent: str, game: str = "sudoku_moyo") -> ExamResult:
    positions = [
        ExamPosition("p", plies, {"a": 1, "b": -1}, ("random", "random"), 1) for plies in (2, 3, 8)
    ]
    answers = tuple(Answer(p, move) for p, move in zip(positions, "aba", strict=True))
    return ExamResult(agent, game, "public", 1, 0, answers)


# ---- the command ----


def test_json_is_what_python_says() -> None:
    result = azumaya("exam", "random", "greedy", "--game", GAME, "--seed", 4, "--json")
    assert result.exit_code == 0, result.output
    found = [json.loads(line) for line in result.stdout.splitlines()]
    assert [each["agent"] for each in found] == ["random", "greedy"]
    for each in found:
        said = baselines.take_exam(each["agent"], GAME, seed=4)
        assert {name: each[name] for name in NAMES} == {name: getattr(said, name) for name in NAMES}
        assert sum(group["positions"] for group in each["by_distance"]) == said.positions
    assert found[0]["kept_wins"] < found[1]["kept_wins"]


def test_without_a_game_all_exams_are_taken() -> None:
    result = azumaya("exam", "random", "--part", "held-out", "--json")
    assert result.exit_code == 0, result.output
    found = [json.loads(line) for line in result.stdout.splitlines()]
    assert [each["game"] for each in found] == [name for name in GAMES if has_exam(name)]
    assert {each["part"] for each in found} == {"held-out"}


@pytest.mark.parametrize(
    "words",
    [
        ["own/abalone.held-out.jsonl.gz"],
        ["own/abalone.held-out"],
        ["own/abalone", "--part", "held-out"],
        ["own", "--part", "held-out"],
    ],
)
def test_an_exam_of_ones_own_is_found_by_its_file_or_folder(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own").mkdir()
    positions = load_exam("abalone", "held-out").positions[:7]
    own = replace(load_exam("abalone", "held-out"), positions=positions)
    Path("own/abalone.held-out.jsonl.gz").write_bytes(exam_bytes(own))
    result = azumaya("exam", "greedy", "--json", "--file", *words)
    assert result.exit_code == 0, result.output
    (found,) = (json.loads(line) for line in result.stdout.splitlines())
    said = answer_exam("greedy", own)
    names = ("game", "part", "positions", "regret")
    assert {name: found[name] for name in names} == {
        "game": "abalone", "part": "held-out", "positions": 7, "regret": said.regret,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["none"], "none: there is no such exam"),
        (["."], "no file in this folder has a name like GAME.public.jsonl.gz"),
        (["damaged.jsonl.gz"], "damaged.jsonl.gz: the exam is damaged"),
        ([exam_file("abalone", "public"), "--game", GAME], f"--file: no exam of {GAME} is there"),
    ],
)
def test_files_without_an_exam_are_refused(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("damaged.jsonl.gz").write_text("{}")
    refused(azumaya("exam", "random", "--file", *words), message)


def test_tables_name_every_part() -> None:
    files = [word for part in PARTS for word in ("--file", exam_file("abalone", part))]
    assert "Exams, part public and held-out" in azumaya("exam", "random", *files).stdout


def test_tables_show_every_agent_and_distance() -> None:
    result = azumaya("exam", "random", "--game", GAME)
    assert result.exit_code == 0, result.output
    found = baselines.take_exam("random", GAME)
    assert f"{found.kept_wins:.1%}" in result.output
    for low, high in found.by_distance():
        assert f"{low}-{high}" in result.output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nope"], "agent 'nope': must be random"),
        (["human"], "a person cannot be evaluated"),
        (["random", "--game", "nope"], "game 'nope': no such game"),
        (["random", "--game", "sudoku_moyo_match"], "this game has no exam"),
        (["random", "--part", "secret"], "--part secret: must be public or held-out"),
        (["random", "--seed", str(2**64)], "--seed=18446744073709551616: a whole number from 0 to"),
        (["random", "--output", "x.pdf"], "--output x.pdf: must end in .svg or .png"),
        (["random", "--output", "no/x.svg"], "--output no/x.svg: there is no folder no"),
    ],
)
def test_what_cannot_be_asked(words: list[str], message: str) -> None:
    refused(azumaya("exam", *words), message)


def test_a_checkpoint_takes_the_exam_of_its_game(tmp_path: Path) -> None:
    agent = trained(tmp_path / "agent", GAME)
    result = azumaya("exam", agent, "--json")
    assert result.exit_code == 0, result.output
    assert [json.loads(line)["game"] for line in result.stdout.splitlines()] == [GAME]
    other = next(name for name in GAMES if has_exam(name) and name != GAME)
    refused(azumaya("exam", agent, "--game", other), f"was trained on {GAMES[GAME].id}")


def test_an_agent_leaves_out_what_it_cannot_play(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is an error only if the game was asked for."""

    class Picky:
        name = "picky"

        def check(self, position: Position) -> None:
            if position.game.name != GAME:
                raise OptionError("picky plays one game only")

    entrant = exam_commands.Entrant("picky", Picky())  # type: ignore[arg-type]
    monkeypatch.setattr(exam_commands, "find_entrant", lambda name, evaluated: entrant)
    sittings = exam_commands._sittings(["picky"], (), "public")
    assert [exam.game for _, exam in sittings] == [GAMES[GAME].id]
    other = next(name for name in GAMES if has_exam(name) and name != GAME)
    with pytest.raises(OptionError, match="picky plays one game only"):
        exam_commands._sittings(["picky"], [other], "public")


# ---- tables and pictures ----


def test_names_are_shown_as_they_are() -> None:
    console = Console(width=100)
    with console.capture() as shown:
        console.print(exam_report.exam_table([some_result("[b]me[/b]")]))
        console.print(*exam_report.distance_tables([some_result("[b]me[/b]")]))
    assert shown.get().count("[b]me[/b]") == 2
    assert "66.7%" in shown.get()


def test_the_results_of_a_game_stand_together_in_whatever_order_they_come(tmp_path: Path) -> None:
    results = [some_result("one"), some_result("one", "abalone"), some_result("two")]
    assert len([*exam_report.distance_tables(results)]) == 2
    for name, given in ("a", results), ("b", [results[0], results[2], results[1]]):
        exam_report.draw_exams(given, tmp_path / f"{name}.svg")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


@pytest.mark.parametrize("suffix", [".svg", ".png", ".PNG"])
def test_pictures_are_drawn_and_equal_for_equal_results(tmp_path: Path, suffix: str) -> None:
    results = [some_result("one"), some_result("two"), some_result("one", "abalone")]
    for name in ("a", "b"):
        exam_report.draw_exams(results, tmp_path / f"{name}{suffix}")
    assert (tmp_path / f"a{suffix}").read_bytes() == (tmp_path / f"b{suffix}").read_bytes()
    assert (tmp_path / f"a{suffix}").stat().st_size > 3000


def test_pictures_show_how_sure_a_share_is(tmp_path: Path) -> None:
    """Twice as many answers of the same kind narrow its interval and change nothing else."""
    few = some_result("one")
    for name, result in ("few", few), ("many", replace(few, answers=few.answers * 2)):
        exam_report.draw_exams([result], tmp_path / f"{name}.svg")
    assert (tmp_path / "few.svg").read_bytes() != (tmp_path / "many.svg").read_bytes()


# ---- agents by module and class ----

MODULE = """
import dataclasses, os

class First:
    def act(self, positions, keys):
        return [position.legal_actions()[0] for position in positions]

class Needs:
    def __init__(self, more):
        pass

class NoAgent:
    pass

class Prints(First):
    print("imported", flush=True)
    os.write(1, b"written")

    def act(self, positions, keys):
        print("asked", flush=True)
        os.write(1, b"written")
        return super().act(positions, keys)

@dataclasses.dataclass(frozen=True)
class Frozen(First):
    pass

class Slotted:
    __slots__ = ()
    act = First.act

class Neighbours(First):
    def __init__(self):
        import my_neighbour

class Given(First):
    def __init__(self, argument):
        self.argument = argument

class Leaves:
    def __init__(self):
        raise SystemExit(3)

Named = First
number = 3
"""


@pytest.fixture
def _module() -> Iterator[None]:
    with elsewhere():
        Path("my_agents.py").write_text(MODULE)
        Path("my_neighbour.py").write_text("")
        Path("elsewhere").mkdir()
        Path("moving_agents.py").write_text(f"import os\n{MODULE}\nos.chdir('elsewhere')")
        Path("broken_agents.py").write_text("1 / 0")
        Path("leaving_agents.py").write_text("raise SystemExit(0)")
        yield


@pytest.mark.usefixtures("_module")
@pytest.mark.parametrize(
    "name", ["my_agents:Frozen", "my_agents:Slotted", "my_agents:Neighbours", "moving_agents:First"]
)
def test_agents_may_refuse_a_name_and_import_neighbours_late(name: str) -> None:
    """And their modules may change the current folder."""
    result = azumaya("evaluate", name, "random", "--game", GAME, "--starts", 1)
    assert result.exit_code == 0, result.output
    assert name.partition(":")[2] in result.output


@pytest.mark.usefixtures("_module")
def test_a_class_is_given_the_text_after_its_name() -> None:
    for argument in ("weights.pt", "runs/3/net", "a:b"):
        agent = baselines.find_agent(f"my_agents:Given:{argument}")
        assert agent.argument == argument  # type: ignore[attr-defined]
        assert agent.name == f"my_agents:Given:{argument}"
    result = azumaya("exam", "my_agents:Given:x", "--game", GAME, "--json")
    assert json.loads(result.stdout)["agent"] == "my_agents:Given:x"


@pytest.mark.usefixtures("_module")
def test_what_agents_print_is_no_result(capfd: pytest.CaptureFixture[str]) -> None:
    result = azumaya("exam", "my_agents:Prints", "--game", GAME, "--json")
    assert json.loads(result.stdout)["agent"] == "my_agents:Prints"
    assert "asked" in result.stderr
    os.write(1, b"restored")
    out, err = capfd.readouterr()
    assert out == "restored"
    assert "written" in err


def test_results_have_the_names_that_were_given() -> None:
    """As the cards of a league, whatever an agent calls itself."""
    words = ("exam", f"{ODD}:Named", "--game", GAME)
    assert json.loads(azumaya(*words, "--json").stdout)["agent"] == f"{ODD}:Named"
    shown = azumaya(*words).output
    assert f"{ODD}:Named" in shown
    assert Named.name not in shown


@pytest.mark.parametrize("other", ["Raises", "Interrupts"])
def test_what_is_finished_is_printed_although_another_agent_fails(other: str) -> None:
    words = ("exam", f"{ODD}:Plain", f"{ODD}:{other}", "--game", GAME)
    result = azumaya(*words, "--json")
    assert result.exit_code != 0
    found = baselines.take_exam(f"{ODD}:Plain", GAME)
    assert json.loads(result.stdout)["kept_wins"] == found.kept_wins
    result = azumaya(*words)
    assert result.exit_code != 0
    assert f"{found.kept_wins:.1%}" in result.output
    assert other not in result.output.replace(f"{ODD}:Raises: act failed", "")


@pytest.mark.usefixtures("_module")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("not_there:First", "agent not_there:First: importing not_there failed: ModuleNotFound"),
        ("broken_agents:A", "importing broken_agents failed: ZeroDivisionError"),
        ("leaving_agents:A", "importing leaving_agents failed: SystemExit: 0"),
        ("my_agents:Leaves", r"Leaves\(\) failed: SystemExit: 3"),
        ("my_agents:Missing", "agent my_agents:Missing: my_agents has no class Missing"),
        ("my_agents:number", "my_agents has no class number"),
        ("my_agents:Needs", r"Needs\(\) failed: TypeError"),
        ("my_agents:NoAgent", r"agent my_agents:NoAgent: it has no method act\(positions, keys\)"),
        ("my_agents:First:x", r"First\('x'\) failed: TypeError: First\(\) takes no arguments"),
        ("my_agents:Given:", "agent 'my_agents:Given:': must be random.*module:Class"),
        ("my_agents:", "agent 'my_agents:': must be random.*module:Class"),
        ("my agents:First", "agent 'my agents:First': must be random"),
    ],
)
def test_classes_that_cannot_be_used(name: str, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        baselines.find_agent(name)
