"""Proves who wins puzzles of the bank: `python -m azumaya.benchmarks.studies.puzzle_winners`.

The solver searches Sudoku Moyo from the first move of a puzzle until its winner is proven or its
budget of nodes is spent. Puzzles with short games come first, because they can be proven soonest.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from azumaya.baselines.arena.starts import random_action
from azumaya.baselines.cli.terminal import complaints, guarded
from azumaya.baselines.search.game_kernels import kernels_of
from azumaya.baselines.search.solver import MEGABYTES, SolverRooms, Solving
from azumaya.baselines.system.commands import WORKERS, Commands, formerly
from azumaya.baselines.system.files import write_whole
from azumaya.baselines.system.journal import Line
from azumaya.baselines.system.work import read_work
from azumaya.benchmarks.studies.seeded_work import Finish, Folder, Workers, do_work, each_line
from azumaya.envs import Position
from azumaya.envs.position import episode_key
from azumaya.envs.puzzles.bank import load_bank

GAME = "sudoku_moyo"
STREAM = 1 << 22
"""The keys of the random games come from this environment number."""
GAMES = 4
"""Random games from which the length of a puzzle's games is estimated."""
STEP = 1 << 8
"""Nodes between two looks at the result, so counts of nodes may be this much too high."""
TABLE = Path("docs/results/puzzle-winners.csv")


@dataclass(frozen=True)
class WinnerPlan:
    """What the results depend on.

    Attributes:
        nodes: the most nodes for a puzzle.
        megabytes: memory for the solver's table.
    """

    nodes: int
    megabytes: int

    def __call__(self, place: int) -> Line:
        """Try to prove the winner of the puzzle at a place of the order."""
        puzzle = order()[place]
        position = start_of(puzzle)
        rooms = SolverRooms(kernels_of(position), self.megabytes)
        search, nodes = Solving(rooms.suited(position), position), 0
        while search.value is None and not search.finished and nodes < self.nodes:
            nodes += search.run(min(STEP, self.nodes - nodes))
        line: Line = {"puzzle": puzzle, "nodes": nodes, "wins": search.value}
        if search.best is not None and search.value is not None and search.value > 0:
            line["move"] = position.move_name(search.best)
        return line


def start_of(puzzle: int) -> Position:
    """The first position of a puzzle, by its number in the bank."""
    cells = "".join(str(digit) if digit else "." for digit in load_bank()[puzzle])
    return Position(GAME, puzzle=cells)


@functools.cache
def order() -> tuple[int, ...]:
    """The numbers of the bank's puzzles, those with short games first."""
    lengths = np.array([random_length(puzzle) for puzzle in range(len(load_bank()))])
    return tuple(int(i) for i in np.argsort(lengths, kind="stable"))


def random_length(puzzle: int) -> float:
    """The mean number of plies of random games from a puzzle."""
    start, total = start_of(puzzle), 0
    for game in range(GAMES):
        position, key, ply = start.copy(), episode_key(puzzle, STREAM, game), 0
        while not position.is_over:
            position.play(random_action(position, key, ply))
            ply += 1
        total += ply
    return total / GAMES


def proven(lines: Sequence[Line]) -> int:
    """How many winners are proven."""
    return sum(line["wins"] is not None for line in lines)


def as_table(lines: Sequence[Line]) -> str:
    """The proven winners as CSV, by the number of the puzzle."""
    found = [line for line in lines if line["wins"] is not None]
    rows = [
        f"{line['puzzle']},{int((load_bank()[line['puzzle']] > 0).sum())},"
        f"{'first' if line['wins'] > 0 else 'second'},{line.get('move', '')},{line['nodes']}"
        for line in sorted(found, key=lambda line: line["puzzle"])
    ]
    return "\n".join(["puzzle,givens,winner,move,nodes", *rows, ""])


def prove_winners(
    puzzles: Annotated[int, typer.Option(min=1, help="Stop after this many puzzles.")] = 200,
    nodes: Annotated[int, typer.Option(min=1, help="The most nodes for a puzzle.")] = 100_000_000,
    megabytes: Annotated[int, typer.Option(min=1, help="Memory for each search.")] = MEGABYTES,
    workers: Workers = 1,
    work: Folder = Path("runs/winners"),
    output: Annotated[Path, typer.Option(help="The table, as CSV.")] = TABLE,
    finish: Finish = False,
) -> None:
    """Prove who wins puzzles of the bank; a stopped command can be continued."""
    with complaints():
        path, puzzles = work / "winners.jsonl", min(puzzles, len(load_bank()))
        if finish:
            _, lines = read_work(path)
        else:
            plan = WinnerPlan(nodes, megabytes)
            settings = {"plan": asdict(plan), "game": GAME, "games": GAMES}
            lines = do_work(
                path, settings, plan, each_line(), puzzles, most=puzzles, workers=workers
            )
    write_whole(output, as_table(lines).encode())
    typer.echo(f"{output}: {proven(lines)} winners of {len(lines)} puzzles")


app = Commands(add_completion=False)
app.command(cls=formerly(WORKERS))(prove_winners)

if __name__ == "__main__":
    guarded("puzzle_winners", app)
