"""What students get: notebooks without solutions, and starter files with the rules."""

from __future__ import annotations

import json
from pathlib import Path

from azumaya.envs import find_game
from tests.commands import azumaya, refused
from tests.course.notebooks import FOLDER, NOTEBOOKS, read, tagged

GAME = "vierer_dominari"


def test_notebooks_lose_their_solutions_and_nothing_else(tmp_path: Path) -> None:
    done = azumaya("class", "handout", FOLDER, "--output", tmp_path / "out", "--game", GAME)
    assert done.exit_code == 0, done.output
    for path in NOTEBOOKS:
        before, after = read(path), read(tmp_path / "out" / path.name)
        assert tagged(before, "solution")
        kept = [cell for cell in before["cells"] if cell not in tagged(before, "solution")]
        assert after == {**before, "cells": kept}
        assert f"{tmp_path / 'out' / path.name}: without solutions" in done.output
    starter = (tmp_path / "out" / f"starter_{GAME}.py").read_text("utf-8")
    assert find_game(GAME).words.how_to_play in starter
    compile(starter, "starter", "exec")


def test_results_are_left_out(tmp_path: Path) -> None:
    code = {"cell_type": "code", "metadata": {}, "source": [], "outputs": [1], "execution_count": 3}
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": [code]}))
    assert azumaya("class", "handout", tmp_path, "--output", tmp_path / "b").exit_code == 0
    (made,) = read(tmp_path / "b" / "a.ipynb")["cells"]
    assert (made["outputs"], made["execution_count"]) == ([], None)


def test_what_cannot_be_handed_out_is_refused(tmp_path: Path) -> None:
    def handed(*words: object) -> None:
        refused(azumaya("class", "handout", *words[:-1]), str(words[-1]))

    handed(tmp_path, "--output", tmp_path / "out", "there are no notebooks")
    handed(FOLDER, "--output", FOLDER, "name another folder")
    handed(FOLDER, "--output", tmp_path / "out", "--game", "chess", "no such game")
    (tmp_path / "bad.ipynb").write_text("[]")
    handed(tmp_path, "--output", tmp_path / "out", "not a notebook")
    assert not (tmp_path / "out").exists()
    file = tmp_path / "bad.ipynb"
    handed(FOLDER, "--output", file, f"{file}: File exists")
    missing = tmp_path / "out" / "mine.py"
    refused(azumaya("class", "starter", "--game", GAME, missing), f"{missing}: No such file")
