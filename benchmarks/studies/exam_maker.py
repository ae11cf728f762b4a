"""Makes the exams: `python -m azumaya.benchmarks.studies.exam_maker --game GAME`.

Each seed gives one game between two agents drawn from a pool of several strengths, after a few
random plies. Positions near its end are solved, with the value of every move. Those in which the
right move is not obvious go into the exam: fewer than 60 % of the moves keep the win, or the draw
where no move wins.

The start of a game, a digest of its text, decides for which part its positions are, so that the
parts come from different starts.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from azumaya.baselines.agents import Agent
from azumaya.baselines.agents.asking import check_agent
from azumaya.baselines.agents.names import find_agent, is_search_name, read_search_name
from azumaya.baselines.arena.exams import (
    PARTS,
    Exam,
    ExamPosition,
    Part,
    exam_bytes,
    exam_file,
    keeps,
)
from azumaya.baselines.arena.game_options import read_options
from azumaya.baselines.arena.kernels import LOOKS
from azumaya.baselines.arena.starts import random_action, random_plies
from azumaya.baselines.cli.terminal import complaints, guarded
from azumaya.baselines.search import UCTAgent
from azumaya.baselines.search.alphabeta import Room
from azumaya.baselines.search.budget import Budget, spend
from azumaya.baselines.search.game_kernels import GameKernels, kernels_of
from azumaya.baselines.search.solver import Solving
from azumaya.baselines.system.commands import WORKERS, Commands, formerly
from azumaya.baselines.system.files import shown, write_whole
from azumaya.baselines.system.journal import Line
from azumaya.baselines.system.work import read_work
from azumaya.benchmarks.studies.seeded_work import (
    Cut,
    Finish,
    Folder,
    GameName,
    Plies,
    Seed,
    Version,
    Workers,
    do_work,
)
from azumaya.envs import OptionError, Position, find_game
from azumaya.envs.game import Game
from azumaya.envs.kernels.rng import random_below
from azumaya.envs.position import episode_key

STREAM = 1 << 22
"""The keys of what is drawn for a game come from this environment number."""
PLIES_DRAW, AGENT_DRAWS, OPENING_DRAWS, CHOICE_DRAWS = 0, 1, 1 << 10, 1 << 12
AGENTS = ("random", "greedy", "uct:40", "uct:400")
OPENING = 4
"""Random plies that make different starts of a game that has only one."""
INTERESTING = 0.6
"""Positions in which a smaller share of the moves keeps the result are taken."""
MEGABYTES = 16
"""Memory for the solver's table."""


@dataclass(frozen=True)
class ExamPlan:
    """What the exam of a game depends on.

    Attributes:
        game: the name of the game.
        options: options of the game.
        agents: names of the agents that play; each seat draws one.
        cut: plies after which the rollouts of UCT agents are cut off; 0 for never.
        least: the fewest random plies before the agents play. The position after these is the
            start that decides the part.
        plies: the most random plies.
        near: the fewest plies left in the game at a position of the exam.
        far: the most plies left.
        nodes: the most positions that the solver visits for a position and its moves.
        tries: the most positions of a game that are solved.
        per_game: the most positions of a game that are taken.
    """

    game: str
    options: Mapping[str, Any]
    agents: tuple[str, ...]
    cut: int
    least: int
    plies: int
    near: int
    far: int
    nodes: int
    tries: int
    per_game: int

    def __call__(self, seed: int) -> Line:
        """Play the game of a seed and take positions from it."""
        history, players = playout(self, seed)
        part = part_of(start_of(self, seed))
        line: Line = {"seed": seed, "part": part, "players": players, "positions": []}
        for position, left in chosen(self, seed, history):
            found = question(self, position, left)
            if found is not None:
                line["positions"].append(found)
            if len(line["positions"]) == self.per_game:
                break
        return line


def part_of(start: str) -> Part:
    """The part of the exam for games with this start."""
    return PARTS[hashlib.blake2b(start.encode(), digest_size=1).digest()[0] & 1]


def opening(plan: ExamPlan, seed: int) -> list[Position]:
    """The positions of a game up to the end of its random plies."""
    key = episode_key(seed, STREAM, 0)
    history = [Position(plan.game, seed=seed, **plan.options)]
    for ply in range(random_plies(key, PLIES_DRAW, plan.least, plan.plies)):
        if history[-1].is_over:
            break
        action = random_action(history[-1], key, OPENING_DRAWS + ply)
        history.append(history[-1].copy().play(action))
    return history


def start_of(plan: ExamPlan, seed: int) -> str:
    """The text of the start of a game: its position after the fewest random plies."""
    history = opening(plan, seed)
    return str(history[min(plan.least, len(history) - 1)])


def playout(plan: ExamPlan, seed: int) -> tuple[list[Position], tuple[str, str]]:
    """A game: its positions but for the last, and the names of the players."""
    key, history = episode_key(seed, STREAM, 0), opening(plan, seed)
    names = tuple(
        plan.agents[int(random_below(key, AGENT_DRAWS + seat, len(plan.agents)))] for seat in (0, 1)
    )
    while not history[-1].is_over:
        now = int(episode_key(seed, STREAM, len(history)))
        agent = _agent(names[history[-1].to_move], plan.cut)
        (action,) = agent.act([history[-1].resample_hidden(now ^ LOOKS)], [now])
        history.append(history[-1].copy().play(action))
    return history[:-1], (names[0], names[1])


@functools.lru_cache(maxsize=32)
def _agent(name: str, cut: int) -> Agent:
    """An agent that plays the games.

    Raises:
        ValueError: there is no such agent, or it plays differently on every machine.
    """
    said = read_search_name(name) if is_search_name(name) else None
    if said is not None and said.steps is None:
        raise OptionError(
            f"agent {shown(name)!r}: searches for a time, so that the exam would depend on the "
            "machine; give a number of steps instead, such as uct:400"
        )
    if said is not None and said.kind == "uct":
        return UCTAgent(said.steps, cut=cut, threads=1)
    return find_agent(name)


def check_plan(plan: ExamPlan) -> None:
    """Check before any work is done that the games can be played and their positions solved.

    Raises:
        ValueError: the distances are none, the game has hidden draws, or one of the agents is
            unknown, cannot play the game, or plays differently on every machine.
    """
    if plan.near > plan.far:
        raise OptionError(f"--near {plan.near}: must not be above --far {plan.far}")
    start = Position(plan.game, **plan.options)
    kernels_of(start).check_open()
    for name in plan.agents:
        check_agent(_agent(name, plan.cut), start, name)


def chosen(plan: ExamPlan, seed: int, history: Sequence[Position]) -> list[tuple[Position, int]]:
    """Positions of a game to solve, in random order, with the plies that were left."""
    key = episode_key(seed, STREAM, 0)
    lefts = [*range(plan.near, min(plan.far, len(history)) + 1)]
    shuffled: list[int] = []
    while lefts:
        k = int(random_below(key, CHOICE_DRAWS + len(shuffled), len(lefts)))
        shuffled.append(lefts.pop(k))
    positions = [(history[-left], left) for left in shuffled]
    return [(p, left) for p, left in positions if len(p.legal_actions()) > 1][: plan.tries]


def question(plan: ExamPlan, position: Position, left: int) -> Line | None:
    """A position with the values of its moves; None if it is not solved or not interesting."""
    text = str(position)
    position = Position.from_text(plan.game, text, **plan.options)
    search = Solving(_room(kernels_of(position)), position)
    spend(search, Budget(plan.nodes))
    solution = search.solution()
    values = {position.move_name(a): gain for a, gain in solution.moves.items() if gain is not None}
    if not solution.solved or not interesting(list(values.values())):
        return None
    return {"position": text, "plies_left": left, "values": values}


@functools.lru_cache(maxsize=1)
def _room(kernels: GameKernels) -> Room:
    """The solver's memory; to allocate it anew takes longer than most positions.

    Alpha-beta in every game, so that the command still makes the exams that ship: another search
    solves other positions with the same nodes.
    """
    return Room(kernels, MEGABYTES)


def interesting(values: Sequence[float]) -> bool:
    """Whether the best move does not lose, and fewer than `INTERESTING` of the moves keep that."""
    best = max(values)
    return best >= 0 and sum(keeps(v, best) for v in values) < INTERESTING * len(values)


def exam_of(settings: Line, lines: list[Line], part: Part, count: int, version: int) -> Exam:
    """A part of the exam: its first `count` positions.

    A position that occurs in several games, near their ends, is taken from the first of them, so
    that it is in one part only.
    """
    plan = settings["plan"]
    own = [line for line in first_finds(lines) if line["part"] == part]
    positions = tuple(
        ExamPosition(
            each["position"], each["plies_left"], each["values"], (first, second), line["seed"]
        )
        for line in own
        for first, second in [line["players"]]
        for each in line["positions"]
    )[:count]
    game = find_game(plan["game"]).id
    return Exam(game, part, version, plan["options"], True, positions, settings)


def first_finds(lines: list[Line]) -> list[Line]:
    """The same lines without positions that an earlier line has."""
    seen: set[str] = set()
    found = []
    for line in lines:
        new = [each for each in line["positions"] if each["position"] not in seen]
        seen.update(each["position"] for each in new)
        found.append({**line, "positions": new})
    return found


def smaller_part() -> Callable[[Line], int]:
    """A count of the different positions of the part that has fewer.

    The lines are given one after the other, and count like those of `first_finds`.
    """
    seen: set[str] = set()
    counts = dict.fromkeys(PARTS, 0)

    def count(line: Line) -> int:
        new = [each["position"] for each in line["positions"] if each["position"] not in seen]
        seen.update(new)
        counts[line["part"]] += len(new)
        return min(counts.values())

    return count


def fewest_plies(game: Game, options: Mapping[str, Any]) -> int:
    """The random plies that a game needs before its start can decide between the parts."""
    starts = {str(Position(game, seed=seed, **options)) for seed in range(8)}
    return OPENING if len(starts) == 1 else 0


def make_exam(
    game: GameName,
    positions: Annotated[int, typer.Option(min=1, help="Positions of each part.")] = 500,
    option: Annotated[list[str] | None, typer.Option(help="NAME=VALUE, of the game.")] = None,
    agent: Annotated[
        list[str] | None, typer.Option(help=f"An agent that plays. Default: {', '.join(AGENTS)}.")
    ] = None,
    cut: Cut = 0,
    least: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="The fewest random plies. The position after them decides the part. Default: "
            f"{OPENING} in games that always begin alike, otherwise 0.",
        ),
    ] = None,
    plies: Plies = 8,
    near: Annotated[int, typer.Option(min=1, help="The fewest plies left.")] = 4,
    far: Annotated[int, typer.Option(min=1, help="The most plies left.")] = 16,
    nodes: Annotated[int, typer.Option(min=1, help="Nodes to solve a position.")] = 300_000,
    tries: Annotated[int, typer.Option(min=1, help="Positions of a game to solve.")] = 6,
    per_game: Annotated[int, typer.Option(min=1, help="Positions of a game to take.")] = 3,
    seed: Seed = 0,
    workers: Workers = 1,
    work: Folder = Path("runs/exams"),
    output: Annotated[Path | None, typer.Option(help="A folder. Default: the package.")] = None,
    version: Version = 1,
    finish: Finish = False,
) -> None:
    """Make the exam of a game; a stopped command can be continued."""
    with complaints():
        found = find_game(game)
        path = work / f"{found.name}.jsonl"
        if finish:
            settings, lines = read_work(path)
        else:
            options = read_options(found, option or ())
            least = fewest_plies(found, options) if least is None else least
            plan = ExamPlan(
                found.name, options, tuple(agent or AGENTS), cut, least, max(plies, least), near,
                far, nodes, tries, per_game,
            )  # fmt: skip
            check_plan(plan)
            settings = {"plan": asdict(plan), "first_seed": seed}
            lines = do_work(
                path, settings, plan, smaller_part(), positions, first_seed=seed, workers=workers
            )
        for part in PARTS:
            exam = exam_of(settings, lines, part, positions, version)
            if not exam.positions:
                raise OptionError(f"{found.name}: no positions yet")
            where = exam_file(found.name, part)
            if output is not None:
                output.mkdir(parents=True, exist_ok=True)
                where = output / where.name
            write_whole(where, exam_bytes(exam))
            typer.echo(f"{where}: {len(exam.positions)} positions of {len(lines)} games")


app = Commands(add_completion=False)
app.command(cls=formerly(WORKERS, game_first=True))(make_exam)

if __name__ == "__main__":
    guarded("exam_maker", app)
