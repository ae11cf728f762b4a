"""Evaluating a run's agent against the baselines and others, and drawing its learning curve."""

from __future__ import annotations

import io
import json
from dataclasses import asdict

from rich.progress import Progress

from azumaya.baselines.agents import GreedyAgent, RandomAgent
from azumaya.baselines.agents.base import Agent
from azumaya.baselines.arena.exam_results import answers_of
from azumaya.baselines.arena.exams import has_exam, load_exam
from azumaya.baselines.arena.game_options import by_default
from azumaya.baselines.arena.report import learning_curve, score_table
from azumaya.baselines.arena.rounds import Score, play_both_seats, start_set
from azumaya.baselines.training.config import RunConfig
from azumaya.baselines.training.display import Display
from azumaya.baselines.training.ladder import Ladder, as_objects, draw_ladder, ladder_table
from azumaya.baselines.training.run_folder import RunFolder
from azumaya.envs import find_game

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
    if not (has_exam(config.game) and by_default(config.game, config.options)):
        return {}
    kept = answers_of(agent, load_exam(config.game)).kept_wins
    return {} if kept is None else {"exam": kept}


def final_evaluation(
    config: RunConfig, run: RunFolder, agent: Agent, steps: int, display: Display
) -> list[Score]:
    """Run the final evaluation after `steps` steps, print its table and save it."""
    starts = start_set(config.game, config.options).at_most(config.final_starts)
    with display.evaluating(2 * starts) as bar:
        scores = evaluate(config, agent, starts, bar)
    display.console.print(score_table(scores, f"{config.game} after training"))
    more = {"steps": steps}
    results = [{**asdict(s), "rate": s.rate, "interval": s.interval(), **more} for s in scores]
    run.write("evaluation.json", json.dumps(results, indent=2) + "\n")
    return scores


def final_ladder(
    config: RunConfig,
    run: RunFolder,
    agents: tuple[Agent, Agent | None],
    scores: list[Score],
    display: Display,
) -> None:
    """Measure the ladder, print it, and write `ladder.json` and `ladder.png`.

    Args:
        config: the run's options.
        run: its folder.
        agents: the trained agent, and the same with search if there is one.
        scores: the results of the final evaluation.
        display: where to print.
    """
    ladder = Ladder(config, *agents, scores)
    rungs = list(ladder.rungs(lambda name: display.say(f"ladder: {name}")))
    display.console.print(ladder_table(rungs, f"{config.game}: the ladder"))
    picture = io.BytesIO()
    draw_ladder(rungs, picture, find_game(config.game).title)
    run.write("ladder.json", json.dumps(as_objects(rungs), indent=2) + "\n")
    run.write("ladder.png", picture.getvalue())


def draw_curve(run: RunFolder, title: str) -> None:
    """Draw the learning curve."""
    picture = io.BytesIO()
    learning_curve(run.curve(), picture, title)
    run.write("learning_curve.png", picture.getvalue())
