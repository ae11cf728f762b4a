"""`azumaya analyse`, and hints in `azumaya play`."""

from __future__ import annotations

import errno
import itertools
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from azumaya import baselines
from azumaya.baselines.cli import analyse as analyse_commands
from azumaya.baselines.cli import play as play_commands
from azumaya.baselines.search import Analysis
from azumaya.envs import Position
from azumaya.envs.notation import record_of, write_records
from azumaya.envs.render import svg_of
from tests.commands import azumaya, refused

GAME = "score_dominari"
OPTIONS = {"reward": "margin"}
WORDS = ("--option", "reward=margin")
LENGTH = 39
"""Plies of the game that `played` plays."""
START = Position(GAME, **OPTIONS)
BUDGET = ("--simulations", 40)


def played(plies: int) -> tuple[list[str], list[Position]]:
    """The first moves of a game, and the positions before and after them."""
    moves, positions = [], [START]
    for number in range(plies):
        legal = positions[-1].legal_moves()
        moves.append(legal[number * 7 % len(legal)])
        positions.append(positions[-1].copy().play(moves[-1]))
    return moves, positions


def answer(*words: object) -> dict[str, object]:
    result = azumaya("analyse", *words, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert isinstance(found, dict)
    return found


def test_json_output_equals_the_result_in_python() -> None:
    position = played(LENGTH - 6)[1][-1]
    words = (GAME, "--position", position, *WORDS, "--seed", 5)
    for budget, searched in (
        (("--simulations", 40), baselines.analyse(position, simulations=40, key=5)),
        (("--nodes", 200_000), baselines.analyse(position, nodes=200_000, key=5)),
    ):
        found = answer(*words, *budget)
        assert found["to_move"] == position.to_move
        assert found["position"] == str(position)
        assert (found["value"], found["exact"]) == (searched.value, searched.exact)
        assert found["best"] == searched.best
        assert found["pv"] == list(searched.pv)
        assert found["moves"] == [
            {"move": m.move, "value": m.value, "exact": m.exact, "visits": m.visits}
            for m in searched.moves
        ]
        assert answer(*words, *budget) == found
    assert found["exact"] is True


def moves_of(output: str) -> list[str]:
    """The first column of the table."""
    lines = iter(output.splitlines())
    next(line for line in lines if "─" in line)
    return [line.split()[0] for line in itertools.takewhile(str.strip, lines)]


def test_the_table_lists_the_best_moves() -> None:
    searched = baselines.analyse(START, simulations=40)
    result = azumaya("analyse", "--game", GAME, *WORDS, *BUDGET, "--top", 3)
    assert result.exit_code == 0, result.output
    assert f"player_0 to move: best {searched.best}, value " in result.output
    assert f"line: {' '.join(searched.pv)}\n" in result.output
    assert f"{searched.simulations} simulations" in result.output
    assert moves_of(result.output) == [m.move for m in searched.moves[:3]]
    assert f"and {len(searched.moves) - 3} more moves" in result.output
    assert "best move" in result.output


def test_the_best_move_is_drawn_where_its_stone_will_be_placed(tmp_path: Path) -> None:
    file = tmp_path / "best.svg"
    result = azumaya("analyse", "--game", GAME, *WORDS, *BUDGET, "--output", file)
    assert result.exit_code == 0, result.output
    move = moves_of(result.output)[0]
    cells = frozenset(START.action_cells(START.action(move)))
    marked = replace(START.scene(), stones=START.copy().play(move).scene().stones, last=cells)
    assert file.read_text("utf-8") == svg_of(marked) != START.svg()
    printed = azumaya("analyse", "--game", GAME, *WORDS, *BUDGET).output
    assert "> best move" in printed


@pytest.mark.parametrize("suffix", [".svg", ".png", ".SVG", ".PNG"])
def test_a_stone_that_moves_is_drawn_where_it_is(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In Abalone, whose kernels need not be compiled for that: the analysis is given."""
    file, start = tmp_path / f"best{suffix}", Position("abalone")
    move = start.legal_moves()[0]
    found = Analysis(0, 0.0, False, move, (), (move,), nodes=1, simulations=1)
    monkeypatch.setattr(analyse_commands, "analyse", lambda *given, **budget: found)
    result = answer("abalone", "--output", file)
    assert (result["position"], result["best"]) == (str(start), move)
    if suffix.lower() == ".svg":
        best = start.action(move)
        assert file.read_text("utf-8") == start.svg(last_action=best) != start.svg()
    else:
        assert file.read_bytes().startswith(b"\x89PNG")


def test_positions_of_records(tmp_path: Path) -> None:
    file = tmp_path / "games.jsonl"
    for plies in (2, LENGTH):
        moves, positions = played(plies)
        write_records(file, [record_of(START, moves, positions[-1])])
    for where, ply, number in (
        (file, (), 2),
        (f"{file}:2", (), LENGTH - 1),
        (f"{file}:2", (3,), 3),
    ):
        words = ("--record", where, *(word for p in ply for word in ("--ply", p)))
        assert answer(*words, *BUDGET)["position"] == str(positions[number])
    refused(azumaya("analyse", "--record", file, "--ply", 3), "--ply 3: must be at most 2")
    refused(azumaya("analyse", "--record", f"{file}:2", "--ply", LENGTH), "the game is over")
    refused(azumaya("analyse", "--record", f"{file}:3"), "line 3: the file ends before it")
    refused(azumaya("analyse", "--record", f"{file}:0"), "line=0: a whole number from 1")
    refused(azumaya("analyse", "--record", os.devnull), "the file has no record")
    file.write_text("\n".join(["", *file.read_text().splitlines()]))
    words = ("--record", f"{file}:2", "--ply", 2)
    assert answer(*words, *BUDGET)["position"] == str(positions[2])
    refused(azumaya("analyse", *words[:-1], 3), "--ply 3: must be at most 2")
    refused(azumaya("analyse", "--record", f"{file}:1"), "line 1: it is empty")
    refused(azumaya("analyse", "--record", tmp_path / "no"), "No such file")
    refused(azumaya("analyse", "halma_dominari", "--record", file), "the record is of azumaya/")
    refused(azumaya("analyse", "--record", file, *WORDS), "leave out --position and --option")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "game: name one of sudoku_moyo"),
        (("--game", "chess"), "game 'chess': no such game"),
        (("--game", GAME, "--position", "x"), "position 'x': "),
        (("--game", GAME, *WORDS, "--position", str(played(LENGTH)[1][-1])), "the game is over"),
        (("--game", GAME, "--option", "max=3"), "Score-Dominari has no such option"),
        (("--game", GAME, "--option", "position=x", "--position", "x"), "give it once"),
        (("--game", GAME, "--ply", 3), "--ply 3: needs --record"),
        (("--game", GAME, "--nodes", 0), "--nodes 0: must be a number above 0"),
        (("--game", GAME, "--time", "nan"), "nan: must be a time above 0"),
        (("--game", GAME, "--nodes", 5, "--simulations", 5), "--nodes and --simulations are given"),
        (("--game", GAME, "--seed", 2**64), "--seed=18446744073709551616"),
        (("--game", GAME, "--output", "best.txt"), "--output best.txt: must end in .svg or .png"),
        (("--game", GAME, "--output", "nowhere/best.svg"), "there is no folder nowhere"),
    ],
)
def test_bad_input_is_refused(words: tuple[object, ...], message: str) -> None:
    refused(azumaya("analyse", *words), message)


def test_hints_in_a_game(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(play_commands, "HINT_MILLISECONDS", 20.0)
    result = azumaya("play", GAME, *WORDS, "--second", "human", say="hint\nquit\n")
    assert result.exit_code == 0, result.output
    hints = [line for line in result.output.splitlines() if "best " in line]
    assert len(hints) == 1
    move = hints[0].split("best ")[1].split(",")[0]
    assert move in START.legal_moves()
    assert "(estimate); line: " + move in hints[0]
    assert "left after 0 moves" in result.output


def test_a_picture_that_cannot_be_written_does_not_cost_the_analysis(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a path that cannot be written, the command complains before it searches."""
    words = ("analyse", GAME, *WORDS, *BUDGET, "--json", "--output")
    refused(azumaya(*words, tmp_path / ("x" * 250 + ".svg")), "cannot be written: ")

    def full(*given: object) -> None:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(analyse_commands, "save", full)
    result = azumaya(*words, tmp_path / "a.svg")
    assert isinstance(result.exception, OSError)
    assert json.loads(result.stdout)["moves"]
