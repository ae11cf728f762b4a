"""A run's progress: a bar in a terminal, or occasional plain lines in a file or pipe."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from azumaya.baselines.arena.rounds import Score


class Display:
    """Shows the progress of a run.

    Args:
        console: where to print; a terminal gets a bar, anything else plain lines.
    """

    def __init__(self, console: Console) -> None:
        self.console, self.began = console, time.monotonic()
        self.total = 0
        self._bar = self._make_bar()
        self._task = self._bar.add_task("training")

    def _make_bar(self) -> Progress:
        columns = BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
        return Progress(
            TextColumn("{task.description}"),
            *columns,
            console=self.console,
            disable=not self.console.is_interactive,
        )

    def say(self, text: str) -> None:
        """Print a line unchanged, so that commands in it can be copied."""
        self.console.print(text, soft_wrap=True, markup=False, highlight=False)

    @property
    def minutes(self) -> float:
        """Minutes since this object was created."""
        return (time.monotonic() - self.began) / 60

    def start(self, done: int, total: int) -> None:
        """Show that training starts or resumes after `done` of `total` steps."""
        self.total = total
        self._bar.update(self._task, completed=done, total=total)
        self._bar.start()

    def advance(self, done: int) -> None:
        """Show that `done` steps are complete."""
        self._bar.update(self._task, completed=done)

    def measured(self, done: int, scores: Sequence[Score]) -> None:
        """Show the scores of an evaluation after `done` steps."""
        rates = ", ".join(f"{score.second} {score.rate:.0%}" for score in scores)
        self._bar.update(self._task, description=f"training ({rates})")
        if not self.console.is_interactive:
            self.say(f"{done:,} of {self.total:,} steps, {self.minutes:.1f} minutes: {rates}")

    def stop(self) -> None:
        """Show that training has ended."""
        self._bar.stop()

    @contextlib.contextmanager
    def evaluating(self, games: int) -> Iterator[Progress]:
        """Show the progress of an evaluation with `games` games against each baseline."""
        if not self.console.is_interactive:
            self.say(f"evaluating: {games:,} games against each baseline")
        with self._make_bar() as bar:
            yield bar
