r"""Measure the generalisation gap of trained agents: puzzles to train on against unseen ones.

    python -m azumaya.baselines.training.value --game sudoku_moyo --options puzzle train
    python -m azumaya.benchmarks.studies.gap runs/value-sudoku_moyo-1

In games that start from Sudoku puzzles, `puzzle train` is four fifths of the bank and `puzzle test`
the rest. Every agent plays the same opponent on both parts; the gap is the difference between its
two win rates. Name several runs, such as three seeds, to see their mean gap.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from azumaya.baselines.agents.sidecar import is_checkpoint
from azumaya.baselines.arena.entrants import Entrant, choose_game, find_entrant
from azumaya.baselines.arena.exam_results import Interval
from azumaya.baselines.arena.intervals import difference, of_repeats
from azumaya.baselines.arena.report import plain, result_table, shown_rate
from azumaya.baselines.arena.rounds import Score, play_both_seats, start_set
from azumaya.baselines.system.command_line import Words, read_options
from azumaya.baselines.training.command import exit_code, run_script
from azumaya.baselines.training.config import Numbers, check_values
from azumaya.baselines.training.evaluation import EVALUATION_SEED
from azumaya.envs import OptionError
from azumaya.envs.extras import require

if TYPE_CHECKING:
    from rich.table import Table

PROGRAM = "azumaya.benchmarks.studies.gap"
OPTION, PARTS = "puzzle", ("train", "test")
"""The option of games that start from puzzles, and its values for the two parts of the bank."""


@dataclass(frozen=True)
class Config:
    """The options of a measurement."""

    agents: Annotated[tuple[str, ...], Words(metavar="AGENT", place=True)] = ()
    """Run folders, checkpoints, or any other agents by name."""
    game: str | None = None
    """The game; by default the one that a checkpoint was trained on."""
    against: str = "greedy"
    """The opponent, by name."""
    starts: Annotated[int, Numbers(1, 100_000)] = 2000
    """Starts on each part, played in both seats."""


@dataclass(frozen=True)
class Gap:
    """How an agent plays on both parts of the bank.

    Attributes:
        name: the agent, as it was named.
        scores: its scores on the puzzles to train on, and on those to test on.
        intervals: the 95 % intervals of their rates. The games of a puzzle count as one
            observation: of 2,000 starts only a part has different puzzles.
    """

    name: str
    scores: tuple[Score, Score]
    intervals: tuple[Interval, Interval]

    @property
    def gap(self) -> float:
        """How much more it wins on the puzzles to train on."""
        train, test = self.scores
        return train.rate - test.rate

    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the gap."""
        (train, test), (ends, test_ends) = self.scores, self.intervals
        return difference(train.rate, ends, test.rate, test_ends)


def measure(config: Config) -> list[Gap]:
    """Let all agents play on both parts, and print the table.

    Raises:
        OptionError: an option is invalid, or the game does not start from puzzles.
        CheckpointError: a checkpoint cannot be used.
    """
    check_values(config)
    if not config.agents:
        raise OptionError("agents: name at least one run folder, checkpoint or other agent")
    entrants = [find_entrant(checkpoint_in(name), evaluated=True) for name in config.agents]
    opponent = find_entrant(config.against, evaluated=True)
    for entrant in entrants:  # all are checked before the first game
        parts_for(entrant, config.game)
    found = [
        gap_of(name, entrant, opponent, config)
        for name, entrant in zip(config.agents, entrants, strict=True)
    ]
    title = f"{config.starts} starts on each part in both seats, against {config.against}"
    require("rich.console", "cli").Console().print(gap_table(found, title))
    return found


def checkpoint_in(name: str) -> str:
    """The agent of a run's folder; any other name stays as it is."""
    policy = Path(name) / "policy"
    return str(policy) if is_checkpoint(policy) else name


def parts_for(entrant: Entrant, game: str | None) -> tuple[str, list[dict[str, object]]]:
    """The game of an agent, and its options with each part of the bank.

    Raises:
        OptionError: there is no such game, or it does not start from puzzles.
    """
    chosen, options = choose_game([entrant], game)
    if OPTION not in {option.name for option in chosen.options}:
        raise OptionError(f"game {chosen.name}: does not start from puzzles, so it has no gap")
    return chosen.name, [{**options, OPTION: part} for part in PARTS]


def gap_of(name: str, entrant: Entrant, opponent: Entrant, config: Config) -> Gap:
    """The scores of an agent on both parts, with the same seeds."""
    assert entrant.agent is not None
    assert opponent.agent is not None
    game, both = parts_for(entrant, config.game)
    scores, intervals = list[Score](), list[Interval]()
    for options in both:
        begun = start_set(game, options, EVALUATION_SEED)
        score, games = play_both_seats(begun, (entrant.agent, opponent.agent), config.starts)
        scores.append(score)
        intervals.append(of_repeats(games.halves().tolist(), begun.alike(config.starts)))
    return Gap(name, (scores[0], scores[1]), (intervals[0], intervals[1]))


def gap_table(found: Sequence[Gap], title: str) -> Table:
    """A row for each agent, and one for the mean of several."""
    caption = (
        "In brackets: the 95 % interval, or the least and the most. The gap is train less test."
    )
    table = result_table(title, caption, "agent", ("train puzzles", "test puzzles", "gap"))
    for each in found:
        rates = map(shown_rate, (score.rate for score in each.scores), each.intervals)
        table.add_row(plain(each.name), *rates, shown_rate(each.gap, each.interval()))
    if len(found) > 1:
        gaps = [each.gap for each in found]
        mean = shown_rate(statistics.fmean(gaps), (min(gaps), max(gaps)))
        table.add_row("mean of these agents", "", "", mean)
    return table


def run_words(words: Sequence[str] | None = None) -> int:
    """Run a command line; returns an exit code as the training scripts do."""
    program = f"python -m {PROGRAM}"
    return exit_code(lambda: measure(read_options(Config(), words, program, __doc__)))


if __name__ == "__main__":
    run_script(run_words)
