"""Sets of Connect Four positions by Pascal Pons's recipe, and how well agents do in them.

    python -m azumaya.benchmarks.studies.four_sets make end-easy
    python -m azumaya.benchmarks.studies.four_sets measure greedy uct:600

His "Solving Connect Four" (2016) has 1,000 positions in each set: `begin`, `middle` or `end` by the
discs on the board, `easy`, `medium` or `hard` by the plies that best play still takes. Nobody who
wins does so at once. Here, they come from random play, and a set is an exam: every move has its
value, a win, a draw or a loss, and `plies_left` are those of best play.
"""

from __future__ import annotations

import functools
import itertools
import statistics
from bisect import bisect
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Literal, get_args

import typer

from azumaya.baselines.arena.exam_results import Answer
from azumaya.baselines.arena.exams import SUFFIX, Exam, ExamPosition, exam_bytes, read_exam
from azumaya.baselines.arena.intervals import wilson
from azumaya.baselines.arena.matches import answer_exam
from azumaya.baselines.arena.starts import random_action, random_plies
from azumaya.baselines.cli.terminal import complaints, guarded
from azumaya.baselines.search.alphabeta import Room
from azumaya.baselines.search.game_kernels import kernels_of
from azumaya.baselines.search.solver import MEGABYTES, Solving
from azumaya.baselines.system.files import shown, write_whole
from azumaya.baselines.system.journal import Line
from azumaya.baselines.system.work import read_work
from azumaya.benchmarks.studies.seeded_work import (
    Finish,
    Folder,
    Seed,
    Version,
    Workers,
    do_work,
)
from azumaya.benchmarks.yardstick import connect_four
from azumaya.benchmarks.yardstick.connect_four import CELLS, EMPTY
from azumaya.benchmarks.yardstick.connect_four_score import GAME, MOST
from azumaya.envs import OptionError, Position, register_game
from azumaya.envs.position import episode_key

SETS = Path(connect_four.__file__).with_name("sets")
"""Where the sets are that ship with the source."""
STREAM = 1 << 22
"""The keys of what is drawn for a position come from this environment number."""
PLIES_DRAW, MOVE_DRAWS = 0, 1 << 10
PHASES = {"begin": (8, 14), "middle": (15, 28), "end": (29, 41)}
"""The fewest and the most discs. Pons begins with fewer, which takes the solver minutes."""
LEVELS = {"easy": 0, "medium": 14, "hard": 28}
"""The fewest plies left."""
NODES_AT_A_TIME = 10_000
Name = Literal[
    "end-easy", "middle-easy", "middle-medium", "begin-easy", "begin-medium", "begin-hard"
]
NAMES: tuple[Name, ...] = get_args(Name)


def plies_left(discs: int, score: int) -> int:
    """The plies that the game still lasts with best play, by the score of the player to move."""
    own, other = discs // 2, discs - discs // 2
    if score > 0:
        return 2 * (MOST - score - own) - 1
    return 2 * (MOST + score - other) if score else CELLS - discs


def set_of(discs: int, score: int) -> str:
    """The name of the set that a position belongs to, by the score of the player to move."""
    left = plies_left(discs, score)
    phase = next(phase for phase, (_, most) in PHASES.items() if discs <= most)
    return f"{phase}-{[*LEVELS][bisect([*LEVELS.values()], left) - 1]}"


@dataclass(frozen=True)
class SetPlan:
    """What a set depends on.

    Attributes:
        name: its name.
        nodes: the most positions that the solver visits for a position and its moves.
    """

    name: str
    nodes: int

    def __call__(self, seed: int) -> Line:
        """The position of a seed with the scores of its moves, if it is of this set."""
        position = random_position(*PHASES[self.name.split("-")[0]], seed)
        if position is None:
            return {"seed": seed}
        discs, search = discs_in(str(position)), Solving(_room(), position)
        while not search.finished and search.solution().nodes < self.nodes:
            search.run(NODES_AT_A_TIME)
            if search.value is not None and set_of(discs, search.value) != self.name:
                return {"seed": seed}
        solution = search.solution()
        if not solution.solved:
            return {"seed": seed}
        scores = {position.move_name(action): score for action, score in solution.moves.items()}
        return {"seed": seed, "position": str(position), "scores": scores}


def discs_in(text: str) -> int:
    """The discs in a position text."""
    return CELLS - text.count(EMPTY)


def random_position(least: int, most: int, seed: int) -> Position | None:
    """A position after random moves; None if the game is over or can be won at once."""
    key, position = episode_key(seed, STREAM, 0), Position(GAME)
    for ply in range(random_plies(key, PLIES_DRAW, least, most)):
        position.play(random_action(position, key, MOVE_DRAWS + ply))
        if position.is_over:
            return None
    moves = (position.copy().play(action) for action in position.legal_actions())
    return None if any(after.returns()[position.to_move] > 0 for after in moves) else position


@functools.lru_cache(maxsize=1)
def _room() -> Room:
    """The solver's memory."""
    return Room(kernels_of(Position(GAME)), MEGABYTES)


def distinct() -> Callable[[Line], int]:
    """A count of the different positions of lines, for `do_work`."""
    seen: set[str] = set()

    def count(line: Line) -> int:
        seen.update([line["position"]] if "position" in line else [])
        return len(seen)

    return count


def exam_of(settings: Line, lines: Sequence[Line], count: int, version: int) -> Exam:
    """A set as an exam: its first `count` positions. Values are wins, draws and losses."""
    first = dict[str, Line]()
    for line in lines:
        if "position" in line:
            first.setdefault(line["position"], line)
    positions = tuple(
        ExamPosition(
            text,
            plies_left(discs_in(text), max(line["scores"].values())),
            {move: (score > 0) - (score < 0) for move, score in line["scores"].items()},
            ("random", "random"),
            line["seed"],
        )
        for text, line in [*first.items()][:count]
    )
    return Exam(connect_four.GAME.id, "held-out", version, {}, True, positions, settings)


def file_of(folder: Path, name: Name) -> Path:
    """The file of a set; exams that are for reporting have `held-out` in their names."""
    return folder / f"{name}.held-out{SUFFIX}"


app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def make(
    name: Annotated[Name, typer.Argument(metavar="SET", help=f"{', '.join(NAMES)}.")],
    positions: Annotated[int, typer.Option(min=1, help="Positions.")] = 300,
    nodes: Annotated[int, typer.Option(min=1, help="Nodes to solve a position.")] = 50_000_000,
    seed: Seed = 0,
    workers: Workers = 1,
    work: Folder = Path("runs/four"),
    output: Annotated[Path, typer.Option(help="The folder of the sets.")] = SETS,
    version: Version = 1,
    finish: Finish = False,
) -> None:
    """Make a set; a stopped command can be continued."""
    with complaints():
        path, plan = work / f"{name}.jsonl", SetPlan(name, nodes)
        if finish:
            settings, lines = read_work(path)
        else:
            settings = {"plan": asdict(plan), "first_seed": seed}
            lines = do_work(
                path, settings, plan, distinct(), positions, first_seed=seed, workers=workers
            )
        exam = exam_of(settings, lines, positions, version)
        output.mkdir(parents=True, exist_ok=True)
        where = file_of(output, name)
        write_whole(where, exam_bytes(exam))
        typer.echo(f"{where}: {len(exam.positions)} positions of {len(lines)} seeds")


@app.command()
def measure(
    agents: Annotated[list[str], typer.Argument(metavar="AGENT...", help="Names of agents.")],
    sets: Annotated[Path, typer.Option(help="The folder of the sets.")] = SETS,
    positions: Annotated[
        int | None, typer.Option(min=1, help="The first positions of each set. Default: all.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all random choices.")] = 0,
) -> None:
    """The share of moves that keep the exact result, by agent and set, with 95 % intervals."""
    with complaints():
        register_game(connect_four.GAME)
        files = {name: file_of(sets, name) for name in NAMES}
        exams = {name: read_exam(path) for name, path in files.items() if path.exists()}
        if not exams:
            raise OptionError(f"--sets {shown(sets)}: has no set; the command make makes one")
        typer.echo(f"| agent | {' | '.join(exams)} | all |\n|---{'|---' * (len(exams) + 1)}|")
        for agent in agents:
            found = [
                answer_exam(
                    agent, replace(exam, positions=exam.positions[:positions]), seed
                ).answers
                for exam in exams.values()
            ]
            cells = [kept(answers) for answers in (*found, [*itertools.chain(*found)])]
            typer.echo(f"| {agent} | {' | '.join(cells)} |")


def kept(answers: Sequence[Answer]) -> str:
    """The share of answers that keep the exact result, with its interval."""
    share = statistics.fmean(answer.kept for answer in answers)
    low, high = wilson(share, len(answers))
    return f"{share:.1%} ({100 * low:.0f} to {100 * high:.0f})".replace("%", " %")


if __name__ == "__main__":
    guarded("four_sets", app)
