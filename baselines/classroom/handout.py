"""What students get: notebooks without solutions and results, and a file to begin with."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from azumaya.baselines.classroom.process import Limits
from azumaya.baselines.system.files import shown, write_whole
from azumaya.envs import OptionError, Position, find_game

SOLUTION = "solution"
"""The tag of cells that students do not get."""


def student_notebook(notebook: Mapping[str, Any]) -> dict[str, Any]:
    """A notebook without the cells tagged `solution`, and without results."""
    cells = [
        {**cell, "outputs": [], "execution_count": None} if cell["cell_type"] == "code" else cell
        for cell in notebook["cells"]
        if SOLUTION not in cell["metadata"].get("tags", ())
    ]
    return {**notebook, "cells": cells}


def write_notebooks(folder: Path, output: Path) -> list[Path]:
    """Write the students' versions of all notebooks of a folder; returns the files.

    Raises:
        OptionError: the folder has no notebooks, is the output, or one of them is no notebook.
        OSError: a file cannot be read or written.
    """
    if output.resolve() == folder.resolve():
        raise OptionError(f"--output {shown(output)}: the solutions are there; name another folder")
    made = {}
    for path in sorted(folder.glob("*.ipynb")):
        try:
            made[output / path.name] = student_notebook(json.loads(path.read_text("utf-8")))
        except (ValueError, KeyError, TypeError, AttributeError):
            raise OptionError(f"{shown(path)}: not a notebook") from None
    if not made:
        raise OptionError(f"{shown(folder)}: there are no notebooks, files such as 01.ipynb")
    output.mkdir(parents=True, exist_ok=True)
    for file, notebook in made.items():
        text = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
        write_whole(file, text.encode())
    return [*made]


def starter_text(game: str) -> str:
    """The file that students begin with: a random agent for a game, with what they need to know.

    Raises:
        OptionError: there is no such game.
    """
    record = find_game(game)
    moves = Position(record).legal_moves()
    limits = Limits()
    return f'''"""An agent for {record.title}.

Hand in this one file. Before you do, check it:

    azumaya class check --game {record.name} THIS_FILE.py

The function `act` is called for each move. It gets a `Position`:

    position.to_move          your seat, 0 or 1
    position.legal_moves()    the names of your legal moves, such as {moves[0]!r}
    position.copy()           a copy, to try moves on
    position.play(move)       plays a move in the position itself and returns it
    position.is_over          whether the game has ended
    position.returns()        what each seat has gained; positive means won
    position.observation(0)   the position as an array of numbers
    print(position.draw())    the board as text

How to play {record.title}:

{record.words.how_to_play}

Rules of the competition:

- You have {limits.move:g} seconds for a move, {limits.game:g} seconds for all your moves of a game,
  and {limits.megabytes:,} MiB of memory. The file is loaded in at most {limits.loading:g} seconds.
- An illegal move, an error or too slow a move loses the game.
- You may use Python's standard library, numpy and azumaya.envs. You cannot read or write files,
  start processes or use the network. Threads are allowed, but they share your time: end them
  before you return. A process that takes too much processor time is ended.
- `Position` is compiled before your file is loaded. What else you use, such as `make_vec`, is
  compiled in every process, in a second or two: call it once while the file is loaded.
- `random` and `numpy.random` are seeded before each call, so games can be repeated.
- What the file keeps in global variables stays there between moves and games, as long as nothing
  fails; do not rely on it.
"""

import random


def act(position):
    """Return the name of a legal move."""
    return random.choice(position.legal_moves())


def outcome(position, move):
    """What you have gained after a move: above 0 if it wins at once. An example, not used yet."""
    after = position.copy().play(move)
    return after.returns()[position.to_move]
'''
