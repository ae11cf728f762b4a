"""Makes books of balanced starts: `python -m azumaya.benchmarks.studies.book_maker --game GAME`.

Each seed gives one candidate: the start of that seed after a few random plies. Most candidates are
not balanced, and the value that a short search gives them shows it. From the others search plays
games against itself, until it is clear whether it wins about half of them in either seat.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from azumaya.baselines.agents import Agent
from azumaya.baselines.arena.matches import play_pairing
from azumaya.baselines.arena.starts import (
    BALANCED,
    BalancedStart,
    Book,
    book_file,
    book_lines,
    random_action,
    random_plies,
)
from azumaya.baselines.cli.terminal import complaints, guarded
from azumaya.baselines.search import UCTAgent
from azumaya.baselines.system.commands import WORKERS, Commands, formerly
from azumaya.baselines.system.files import write_whole
from azumaya.baselines.system.journal import Line
from azumaya.baselines.system.work import read_work
from azumaya.benchmarks.studies.seeded_work import (
    Cut,
    Finish,
    Folder,
    GameName,
    Least,
    Plies,
    Seed,
    Version,
    Workers,
    do_work,
)
from azumaya.envs import OptionError, Position, find_game
from azumaya.envs.position import episode_key

STREAM = 1 << 21
"""The keys of random plies come from this environment number."""
BATCH = 4
"""Games between two looks at the score: half of them in each seat of the first agent."""
LEAST_GAMES, MOST_GAMES = 16, 32
ESTIMATES = ((300, 0.35), (3000, 0.15))
"""Numbers of simulations, and the distance from 0 beyond which the value drops a candidate."""
HOPELESS, PATIENCE, SURE = 0.2, 0.02, 0.8
"""A start is dropped if the probability that it is balanced is below `HOPELESS`, raised by
`PATIENCE` for each game, and kept if it is at least `SURE`."""
RULES = {
    "batch": BATCH,
    "games": (LEAST_GAMES, MOST_GAMES),
    "estimates": ESTIMATES,
    "chances": (HOPELESS, PATIENCE, SURE),
    "balanced": BALANCED,
}
"""What a book depends on besides its plan, for its file."""
GAMES_A_CANDIDATE = 1 << 10
"""Seeds for the games of a candidate."""


@dataclass(frozen=True)
class BookPlan:
    """What the book of a game depends on.

    Attributes:
        game: the name of the game.
        plies: the most random plies after a start of the game; the number is drawn from 0 on.
        least: the fewest random plies.
        simulations: simulations per move in the games.
        cut: plies after which rollouts are cut off; 0 for never.
    """

    game: str
    plies: int
    least: int
    simulations: int
    cut: int

    def __call__(self, seed: int) -> Line:
        """Judge the candidate of a seed."""
        start, plies = candidate(self, seed)
        if start is None:
            return {"seed": seed, "kept": False}
        line: Line = {"seed": seed, "plies": plies, "position": start, "kept": False}
        if not looks_even(self, start, seed):
            return line
        games, wins, draws, kept = judge(self, start, seed)
        return {**line, "games": games, "wins": wins, "draws": draws, "kept": kept}


def candidate(plan: BookPlan, seed: int) -> tuple[str | None, int]:
    """The position text and the random plies of the candidate of a seed; None if it is over."""
    position, key = Position(plan.game, seed=seed), episode_key(seed, STREAM, 0)
    plies = random_plies(key, 0, plan.least, plan.plies)
    for ply in range(plies):
        position.play(random_action(position, key, ply + 1))
        if position.is_over:
            return None, plies
    return str(position), plies


def looks_even(plan: BookPlan, start: str, seed: int) -> bool:
    """Whether search gives neither player much of an advantage."""
    position, key = Position(plan.game, position=start), int(episode_key(seed, STREAM, 1))
    for simulations, most in ESTIMATES:
        (found,) = _agent(simulations, plan.cut).search.search([position], [key])
        if abs(found.value) > most:
            return False
    return True


def judge(plan: BookPlan, start: str, seed: int) -> tuple[int, int, int, bool]:
    """Play games from a start until it is clear whether it is balanced.

    Returns:
        The games, the wins of player_0, the draws, and whether the start is kept.
    """
    agent = _agent(plan.simulations, plan.cut)
    games = wins = draws = 0
    while True:
        more = _play(plan.game, start, agent, seed * GAMES_A_CANDIDATE + games)
        games, wins, draws = games + BATCH, wins + more[0], draws + more[1]
        chance = chance_of_balance(games, wins + draws / 2)
        if games >= LEAST_GAMES and chance >= SURE:
            return games, wins, draws, True
        if chance < HOPELESS + PATIENCE * games or games >= MOST_GAMES:
            return games, wins, draws, False


@functools.lru_cache(maxsize=8)
def _agent(simulations: int, cut: int) -> UCTAgent:
    return UCTAgent(simulations, cut=cut, threads=1)


def _play(game: str, start: str, agent: Agent, seed: int) -> tuple[int, int]:
    """Play a batch of games; returns the wins of player_0 and the draws."""
    score = play_pairing(game, agent, agent, BATCH // 2, seed, {"position": start})
    lost_as_second = BATCH // 2 - score.by_seat[1] - score.draws_by_seat[1]
    return score.by_seat[0] + lost_as_second, score.draws


def chance_of_balance(games: int, points: float) -> float:
    """The probability that player_0's true win rate is in `BALANCED`, before any game uniform."""
    rates = (np.arange(1000) + 0.5) / 1000
    logs = points * np.log(rates) + (games - points) * np.log1p(-rates)
    weights = np.exp(logs - logs.max())
    low, high = BALANCED
    return float(weights[(rates >= low) & (rates <= high)].sum() / weights.sum())


def book_of(settings: Line, lines: list[Line], version: int) -> Book:
    """The book from the results of all candidates; a position found twice is taken once."""
    plan = settings["plan"]
    starts: dict[str, BalancedStart] = {}
    for line in lines:
        if line["kept"]:
            start = BalancedStart(**{f.name: line[f.name] for f in fields(BalancedStart)})
            starts.setdefault(start.position, start)
    cut = f", rollouts cut after {plan['cut']} plies" if plan["cut"] else ""
    agent = f"uct:{plan['simulations']}{cut}"
    made = {**settings, "candidates": len(lines)}
    return Book(find_game(plan["game"]).id, version, agent, tuple(starts.values()), made)


def kept() -> Callable[[Line], int]:
    """A count of the different starts in lines that are given one after the other."""
    found: set[str] = set()

    def count(line: Line) -> int:
        if line["kept"]:
            found.add(line["position"])
        return len(found)

    return count


def make_book(
    game: GameName,
    starts: Annotated[int, typer.Option(min=1, help="Stop at this many starts.")] = 200,
    candidates: Annotated[int, typer.Option(min=1, help="Stop at this many candidates.")] = 100_000,
    plies: Plies = 4,
    least: Least = 0,
    simulations: Annotated[int, typer.Option(min=1, help="Simulations per move.")] = 1000,
    cut: Cut = 0,
    seed: Seed = 0,
    workers: Workers = 1,
    work: Folder = Path("runs/books"),
    output: Annotated[Path | None, typer.Option(help="The book. Default: in the package.")] = None,
    version: Version = 1,
    finish: Finish = False,
) -> None:
    """Find balanced starts of a game and write its book; a stopped command can be continued."""
    with complaints():
        name = find_game(game).name
        if least > plies:
            raise OptionError(f"--least {least}: must not be above --plies {plies}")
        path = work / f"{name}.jsonl"
        if finish:
            settings, lines = read_work(path)
        else:
            plan = BookPlan(name, plies, least, simulations, cut)
            settings = {"plan": asdict(plan), "rules": RULES, "seed": seed}
            lines = do_work(
                path, settings, plan, kept(), starts, most=candidates, first_seed=seed,
                workers=workers,
            )  # fmt: skip
        book = book_of(settings, lines, version)
    where = output or book_file(name)
    if not book.starts:
        raise typer.BadParameter(f"{name}: no balanced starts yet")
    write_whole(where, book_lines(book).encode())
    typer.echo(f"{where}: {len(book.starts)} starts of {len(lines)} candidates")


app = Commands(add_completion=False)
app.command(cls=formerly(WORKERS, game_first=True))(make_book)

if __name__ == "__main__":
    guarded("book_maker", app)
