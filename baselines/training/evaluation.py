"""Evaluating a run's agent: its learning curve, the final evaluation, and the ladder.

The ladder says where a trained agent stands among others, from random to search. Every agent on it
plays greedy on balanced starts and takes the exam. Two of them are UCT: one with as many
simulations as take the time of a move of the trained agent, the other with 10 ms a move. Against
the second the trained agent searches for 10 ms, too, if search can use it.

MaskablePPO's results are not measured but stored: they are those of its own run with the default
options, kept by `python -m azumaya.baselines.training.evaluation RUN...`. The documentation shows
them, too.
"""

from __future__ import annotations

import io
import json
import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from rich.progress import Progress

from azumaya.baselines.agents import GreedyAgent, RandomAgent
from azumaya.baselines.agents.base import Agent
from azumaya.baselines.agents.search import UCTAgent
from azumaya.baselines.arena.exam_report import INTERVALS
from azumaya.baselines.arena.exam_results import Interval, answers_of
from azumaya.baselines.arena.exams import has_exam, load_exam
from azumaya.baselines.arena.game_options import by_default
from azumaya.baselines.arena.report import (
    COLOURS,
    SHARES,
    learning_curve,
    plain,
    result_table,
    save_picture,
    score_table,
    shown_rate,
)
from azumaya.baselines.arena.rounds import Score, play_both_seats, start_set
from azumaya.baselines.arena.starts import some_positions
from azumaya.baselines.system.files import write_whole
from azumaya.baselines.training.command import exit_code, run_script
from azumaya.baselines.training.config import RunConfig
from azumaya.baselines.training.logs import Display
from azumaya.baselines.training.run_folder import RunFolder
from azumaya.envs import find_game
from azumaya.envs.errors import OptionError
from azumaya.envs.extras import require

if TYPE_CHECKING:
    from rich.table import Table

BASELINES = (RandomAgent, GreedyAgent)
EVALUATION_SEED = 1_000_000
"""The first seed of evaluation starts, far from the training seeds."""


def evaluate(
    config: RunConfig, agent: Agent, starts: int, bar: Progress | None = None
) -> list[Score]:
    """Play the agent against each baseline, with the same balanced starts in both seats.

    No start is played twice, as two deterministic agents would only repeat the game: there are at
    most as many starts as the book has. Starts are plain with options for which there is no book.
    """
    begun = start_set(config.game, config.options, EVALUATION_SEED)
    scores, starts = [], begun.at_most(starts)
    for baseline in BASELINES:
        opponent = baseline()
        task = bar and bar.add_task(f"against {opponent.name}", total=2 * starts)
        advance = (lambda n, task=task: bar.advance(task, n)) if bar is not None else None
        scores.append(play_both_seats(begun, (agent, opponent), starts, advance)[0])
    return scores


def exam_kept(config: RunConfig, agent: Agent) -> dict[str, float]:
    """The share of won positions that the agent keeps in the game's exam, if it has one."""
    if not _has_exam(config):
        return {}
    kept = answers_of(agent, load_exam(config.game)).kept_wins
    return {} if kept is None else {"exam": kept}


def _has_exam(config: RunConfig) -> bool:
    """Whether there is an exam for the game and its options."""
    return has_exam(config.game) and by_default(config.game, config.options)


def final_evaluation(
    config: RunConfig, folder: RunFolder, agent: Agent, steps: int, display: Display
) -> list[Score]:
    """Run the final evaluation after `steps` steps, print its table and save it."""
    starts = start_set(config.game, config.options).at_most(config.final_starts)
    with display.evaluating(2 * starts) as bar:
        scores = evaluate(config, agent, starts, bar)
    display.console.print(score_table(scores, f"{config.game} after training"))
    more = {"steps": steps}
    results = [{**asdict(s), "rate": s.rate, "interval": s.interval(), **more} for s in scores]
    folder.write("evaluation.json", json.dumps(results, indent=2) + "\n")
    return scores


def final_ladder(
    config: RunConfig,
    folder: RunFolder,
    agents: tuple[Agent, Agent | None],
    scores: list[Score],
    display: Display,
) -> None:
    """Measure the ladder, print it, and write `ladder.json` and `ladder.png`.

    Args:
        config: the run's options.
        folder: the run's folder.
        agents: the trained agent, and the same with search if there is one.
        scores: the results of the final evaluation.
        display: where to print.
    """
    ladder = Ladder(config, *agents, scores)
    rungs = list(ladder.rungs(lambda name: display.say(f"ladder: {name}")))
    display.console.print(ladder_table(rungs, f"{config.game}: the ladder"))
    picture = io.BytesIO()
    draw_ladder(rungs, picture, find_game(config.game).title)
    folder.write("ladder.json", json.dumps([*map(asdict, rungs)], indent=2) + "\n")
    folder.write("ladder.png", picture.getvalue())


def draw_curve(folder: RunFolder, curve: list[dict[str, float]], title: str) -> None:
    """Draw the learning curve."""
    picture = io.BytesIO()
    learning_curve(curve, picture, title)
    folder.write("learning_curve.png", picture.getvalue())


# ---- the ladder ----

STORED = Path(__file__).with_name("stored_rungs.json")
STORED_FIELDS = ("greedy", "greedy_interval", "exam", "exam_interval")
"""The fields of a rung that are stored."""
SEED = 2_000_000
"""The first seed of the ladder's starts; it also orders those of a book."""
MILLISECONDS = 10.0
"""The time per move of agents that search."""
TRIED = 128
"""Positions on which the time per move is measured."""
SIMULATIONS = 50
"""Simulations with which UCT's speed is measured."""


@dataclass(frozen=True)
class Rung:
    """One agent on the ladder.

    Attributes:
        name: its name.
        greedy: its rate against greedy on balanced starts; None for greedy itself.
        greedy_interval: Wilson's 95 % interval of that rate.
        exam: the share of won positions of the exam's public part that it keeps; None if there is
            no exam for the game and its options.
        exam_interval: Wilson's 95 % interval of that share.
        trained: the rate of the trained agent against it; None if they did not play.
        trained_interval: Wilson's 95 % interval of that rate.
        stored: whether the figures come from an earlier run.
    """

    name: str
    greedy: float | None = None
    greedy_interval: Interval | None = None
    exam: float | None = None
    exam_interval: Interval | None = None
    trained: float | None = None
    trained_interval: Interval | None = None
    stored: bool = False


class Ladder:
    """Measures the rungs.

    Args:
        config: the run's options.
        agent: the trained agent.
        searching: the same agent with a search of `MILLISECONDS` a move; None if there is none.
        scores: results of the trained agent against random and greedy.
    """

    def __init__(
        self, config: RunConfig, agent: Agent, searching: Agent | None, scores: Sequence[Score]
    ) -> None:
        self.config, self.agent, self.searching = config, agent, searching
        self.scores = {score.second: score for score in scores}
        self.starts = start_set(config.game, config.options, SEED)
        self.with_exam = _has_exam(config)

    def rungs(self, say: Callable[[str], None]) -> Iterator[Rung]:
        """The rungs from bottom to top, each as soon as it is measured; `say` names the next one.

        Raises:
            KeyboardInterrupt: on Ctrl-C.
        """
        fast, slow = self.config.final_starts, self.config.ladder_starts
        yield self._rung(RandomAgent(), fast, say, self.scores["random"])
        yield self._rung(GreedyAgent(), 0, say, self.scores["greedy"])
        yield from stored_rungs(self.config)
        same_time = UCTAgent(simulations=self.simulations())
        name = f"{same_time.name} (same time)"
        yield replace(self._rung(same_time, slow, say, self.play(self.agent, same_time)), name=name)
        trained = self._rung(self.agent, 0, say)
        yield _against(trained, "greedy", self.scores["greedy"])
        top = self.searching or self.agent
        uct = UCTAgent(milliseconds=MILLISECONDS)
        yield self._rung(uct, slow, say, self.play(top, uct))
        if self.searching:
            name = f"{trained.name} + {MILLISECONDS:g} ms of search"
            yield replace(self._rung(self.searching, slow, say), name=name)

    def _rung(
        self, agent: Agent, starts: int, say: Callable[[str], None], score: Score | None = None
    ) -> Rung:
        """The rung of an agent: its exam, and `2 * starts` games against greedy."""
        say(agent.name)
        rung = Rung(agent.name)
        if self.with_exam:
            found = answers_of(agent, load_exam(self.config.game))
            rung = replace(rung, exam=found.kept_wins, exam_interval=found.kept_wins_interval)
        if starts:
            rung = _against(rung, "greedy", self.play(agent, GreedyAgent(), starts))
        return rung if score is None else _against(rung, "trained", score)

    def play(self, first: Agent, second: Agent, starts: int | None = None) -> Score:
        """Games on balanced starts; by default as few as for agents that search."""
        starts = self.starts.at_most(starts or self.config.ladder_starts)
        return play_both_seats(self.starts, (first, second), starts)[0]

    def simulations(self) -> int:
        """How many simulations of UCT take as long as a move of the trained agent."""
        config = self.config
        positions = list(some_positions(config.game, config.options, SEED, TRIED))

        def seconds(agent: Agent) -> float:
            """One position at a time, so that neither more cores nor batches help."""
            return _seconds(lambda: [agent.act([p], [key]) for key, p in enumerate(positions)])

        own = seconds(self.agent)
        return max(1, math.floor(SIMULATIONS * own / seconds(UCTAgent(simulations=SIMULATIONS))))


def _seconds(call: Callable[[], object]) -> float:
    """How long a call takes; the first one, which may compile, does not count."""
    call()
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def _against(rung: Rung, opponent: str, score: Score) -> Rung:
    """A rung with another result: `opponent` is the name of the field."""
    result: dict[str, Any] = {opponent: score.rate, f"{opponent}_interval": score.interval()}
    return replace(rung, **result)


# ---- stored results ----


def stored_rungs(config: RunConfig) -> Iterator[Rung]:
    """The stored results for a game with its default options."""
    found = stored_results().get(config.game)
    if found is not None and by_default(config.game, config.options):
        yield Rung("MaskablePPO", **{name: found[name] for name in STORED_FIELDS}, stored=True)


def stored_results() -> dict[str, dict[str, Any]]:
    """The stored results by game: the fields of `STORED_FIELDS`, and the same against random."""
    found: dict[str, dict[str, Any]] = json.loads(STORED.read_text("utf-8"))
    return found


def store(folders: Sequence[Path]) -> None:
    """Keep the trained agents' results in some run folders as the stored ones of their games.

    Raises:
        OptionError: a folder has no ladder.
    """
    kept = stored_results()
    for folder in folders:
        try:
            game = json.loads((folder / "config.json").read_text("utf-8"))["game"]
            rungs = json.loads((folder / "ladder.json").read_text("utf-8"))
        except OSError as error:
            raise OptionError(f"{folder}: there is no ladder of a run here ({error})") from error
        (own,) = (rung for rung in rungs if rung["name"] == "policy")
        (random,) = (rung for rung in rungs if rung["name"] == "random")
        kept[game] = {
            "random": random["trained"],
            "random_interval": random["trained_interval"],
            **{name: own[name] for name in STORED_FIELDS},
        }
    write_whole(STORED, (json.dumps(kept, indent=1) + "\n").encode())


# ---- showing ----


def ladder_table(rungs: Sequence[Rung], title: str) -> Table:
    """The ladder as a table, the strongest at the top."""
    table = result_table(
        title,
        f"{INTERVALS} Stored results are marked *.",
        "agent",
        ("against\ngreedy", "exam:\nwins kept", "trained agent\nagainst it"),
    )
    for rung in reversed(rungs):
        table.add_row(
            plain(rung.name + "*" * rung.stored),
            shown_rate(rung.greedy, rung.greedy_interval, 0),
            shown_rate(rung.exam, rung.exam_interval, 0),
            shown_rate(rung.trained, rung.trained_interval, 0),
        )
    return table


def draw_ladder(rungs: Sequence[Rung], path: Path | BinaryIO, title: str) -> None:
    """Draw the ladder as bars, as a PNG (needs `train`)."""
    figure = require("matplotlib.figure", "train").Figure(figsize=(8, 3.2), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    names = [rung.name + "*" * rung.stored for rung in rungs]
    for panel, field, colour, heading in zip(
        panels, ("greedy", "exam"), COLOURS, ("games won against greedy", "exam: wins kept"),
        strict=False,
    ):  # fmt: skip
        for place, rung in enumerate(rungs):
            share, interval = getattr(rung, field), getattr(rung, f"{field}_interval")
            if share is not None:
                errors = [[share - interval[0]], [interval[1] - share]]
                panel.barh(place, share, xerr=errors, color=colour, height=0.6, ecolor="0.3")
        panel.set_title(heading, fontsize="medium")
        panel.xaxis.set_major_formatter(SHARES)
        panel.set(xlim=(0, 1), yticks=range(len(names)), yticklabels=names)
        panel.spines[["top", "right"]].set_visible(False)
    panels[0].axvline(0.5, color="0.7", linewidth=1)
    figure.suptitle(title, fontsize="medium")
    save_picture(figure, path)


if __name__ == "__main__":
    run_script(lambda: exit_code(lambda: store([Path(word) for word in sys.argv[1:]])))
