"""Which few games stand for all eight: how Azumaya-3 was chosen.

    python -m azumaya.benchmarks.studies.subsets docs/results/table.jsonl docs/results/league.jsonl

For each set of games: the error with which the mean figure of an agent there predicts its mean over
all games, by a line fitted to the other agents. In a table the figures are the shares of games won,
the mean of a contender's seeds; in a league the ratings. Errors are given as shares of the spread
(the standard deviation) of the means over all games, so that files can be averaged.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from azumaya.baselines.arena.league.ratings import ALL
from azumaya.baselines.arena.league.results import LeagueFileError, read_league
from azumaya.baselines.arena.league.standing import standings
from azumaya.baselines.arena.report import markdown
from azumaya.baselines.cli.terminal import complaints, guarded
from azumaya.baselines.protocol.scores import subsets
from azumaya.baselines.protocol.table import read_table

Results = Mapping[str, Mapping[str, float]]


def of_table(file: Path) -> Results:
    """The share of games won, by contender and game; the mean of the seeds, which are alike."""
    found: dict[str, dict[str, list[float]]] = {}
    for cell in read_table(file)[1]:
        found.setdefault(cell.job.label, {}).setdefault(cell.job.game, []).append(cell.mean_rate)
    return {
        label: {game: float(np.mean(rates)) for game, rates in games.items()}
        for label, games in found.items()
    }


def of_league(file: Path) -> Results:
    """The ratings, by agent and game."""
    return {
        agent.label: {game: rating.elo for game, rating in agent.ratings.items() if game != ALL}
        for agent in standings(read_league(file))
    }


def errors(results: Results, size: int) -> dict[tuple[str, ...], float]:
    """By set of games, the error as a share of the spread of the means over all games."""
    most = max(map(len, results.values()))
    means = [np.mean([*each.values()]) for each in results.values() if len(each) == most]
    return {games: error / float(np.std(means)) for error, games in subsets(results, size)}


def main(
    files: Annotated[list[Path], typer.Argument(help="Tables and leagues.")],
    size: Annotated[int, typer.Option(min=1, help="The number of games in a set.")] = 3,
    shown: Annotated[int, typer.Option(min=1, help="The number of sets to show.")] = 8,
) -> None:
    """Print the sets of games that predict all games best, as Markdown, and the worst."""
    found = []
    for file in files:
        with complaints():
            try:
                results = of_league(file)
            except LeagueFileError:
                results = of_table(file)
        found.append(errors(results, size))
    if not found[0] or any(each.keys() != found[0].keys() for each in found):
        raise typer.BadParameter(f"files: all must be of the same games, at least {size} of them")
    means = {games: float(np.mean([each[games] for each in found])) for games in found[0]}
    order = sorted(means, key=means.__getitem__)
    rows = [
        (", ".join(games), *(f"{each[games]:.1%}" for each in found), f"{means[games]:.1%}")
        for games in (*order[:shown], order[-1])
    ]
    typer.echo(markdown(("games", *(file.name for file in files), "mean"), rows))


if __name__ == "__main__":
    guarded("subsets", lambda: typer.run(main))
