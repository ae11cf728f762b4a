"""OpenSpiel: loops driven from Python, and random rollouts entirely in C++."""

# This script runs in the peer's environment, whose types are not available here.
# mypy: ignore-errors

import random

import numpy as np
import pyspiel
from open_spiel.python import rl_environment
from open_spiel.python.algorithms import mcts
from open_spiel.python.observation import make_observation
from open_spiel.python.rl_agent import StepOutput
from open_spiel.python.vector_env import SyncVectorEnv
from script import Script

GAMES = ("connect_four", "hex", "othello", "go(board_size=9)")
STEPS = 500
ROLLOUT_MOVES = 5000
BATCH = 64
SEARCHED = "connect_four"
SIMULATION = "one simulation from the start: descent, a new node, one random rollout, backup"
MOVE = "one move: legal_actions(), random pick, apply_action(), is_terminal(), resets"


def loop(game, look):
    """Random play; `look(state)` is called before each move."""
    rng, state = random.Random(0), game.new_initial_state()

    def chunk():
        nonlocal state
        for _ in range(STEPS):
            if state.is_terminal():
                state = game.new_initial_state()
            look(state)
            legal = state.legal_actions()
            state.apply_action(legal[int(rng.random() * len(legal))])
        return STEPS

    return chunk


def looker(game):
    """A function that writes the observation into a NumPy buffer and makes a NumPy mask."""
    observer, size = make_observation(game), game.num_distinct_actions()

    def look(state):
        observer.set_from(state, state.current_player())
        mask = np.zeros(size, np.int8)
        mask[state.legal_actions()] = 1

    return look


def stepper(name, batch):
    """A batch in OpenSpiel's own vector environment, which is a Python loop over games."""
    rng = random.Random(0)
    games = SyncVectorEnv([rl_environment.Environment(name) for _ in range(batch)])
    seen = games.reset()

    def chunk():
        nonlocal seen
        for _ in range(max(1, STEPS // batch)):
            actions = []
            for step in seen:
                legal = step.observations["legal_actions"][step.observations["current_player"]]
                actions.append(StepOutput(legal[int(rng.random() * len(legal))], None))
            seen, _, _, _ = games.step(actions, reset_if_done=True)
        return batch * max(1, STEPS // batch)

    return chunk


def mean_length(game, episodes=300):
    """The mean number of moves in a random game."""
    rng, moves = random.Random(1), 0
    for _ in range(episodes):
        state = game.new_initial_state()
        while not state.is_terminal():
            state.apply_action(rng.choice(state.legal_actions()))
            moves += 1
    return moves / episodes


def rollouts(game):
    """Random games inside one C++ search call of two simulations.

    Those of the first begin at the start, because it has not been visited before; those of the
    second one move deeper.
    """
    length = mean_length(game)
    count = max(1, int(ROLLOUT_MOVES / length))
    evaluator = pyspiel.RandomRolloutEvaluator(count, 0)
    bot = pyspiel.MCTSBot(game, evaluator, 2.0, 2, 100, False, 0, False)
    return search_with(bot, game, int(count * (2 * length - 1)))


def search_with(bot, game, units):
    """Searches by a bot from the start of a game; each counts as a number of units."""
    state = game.new_initial_state()

    def chunk():
        bot.mcts_search(state)
        return units

    return chunk


def search_in_cpp(game, simulations=2000):
    """UCT with random rollouts, wholly in C++."""
    evaluator = pyspiel.RandomRolloutEvaluator(1, 0)
    bot = pyspiel.MCTSBot(game, evaluator, 2.0, simulations, 100, False, 0, False)
    return search_with(bot, game, simulations)


def search_in_python(game, simulations=100):
    """UCT with random rollouts, in Python on states in C++."""
    draws = np.random.RandomState(0)
    evaluator = mcts.RandomRolloutEvaluator(1, draws)
    bot = mcts.MCTSBot(game, 2.0, simulations, evaluator, solve=False, random_state=draws)
    return search_with(bot, game, simulations)


def main():
    """Measure all games in four ways."""
    script = Script(__doc__)
    for name in GAMES:
        if not script.wants(name):
            continue
        with script.attempt(name):
            game = pyspiel.load_game(name)
            plain = loop(game, lambda _: None)
            script.row(name, "Python loop, nothing shown", "aec raw_env", MOVE, plain)
            script.row(
                name, "Python loop, tensor and mask", "aec raw_env",
                MOVE + ", the observer writing to numpy, an int8 numpy mask",
                loop(game, looker(game)),
            )  # fmt: skip
            script.row(
                name, f"SyncVectorEnv, batch {BATCH}", "batch loop",
                "one move: random pick, step() of rl_environment with the observations and legal "
                "actions of both players as lists, reset at a game's end",
                stepper(name, BATCH),
            )  # fmt: skip
            script.row(
                name, "rollouts in C++", "bare",
                "one move of a random rollout inside MCTSBot: no observation, no mask; moves are "
                "games times the mean length measured before",
                rollouts(game),
            )  # fmt: skip
            if name == SEARCHED:
                script.row(name, "MCTSBot in C++", "uct", SIMULATION, search_in_cpp(game))
                script.row(name, "MCTSBot in Python", "uct", SIMULATION, search_in_python(game))


if __name__ == "__main__":
    main()
