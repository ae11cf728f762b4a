"""Questions near the end of games: exact values of moves, and how they are learned."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from azumaya.baselines.search import HiddenDrawsError
from azumaya.baselines.search.game_kernels import payoff_bound
from azumaya.baselines.values.learning import Examples, Learner, joined, offsets_of
from azumaya.baselines.values.lessons import (
    TEMPERATURE,
    VALUE_SHARE,
    Examiner,
    Moves,
    prefer_kernel,
)
from azumaya.baselines.values.network import F32, Shape
from azumaya.envs import Position
from tests.cases import nightly, random_line
from tests.search.minimax import late_positions
from tests.search.positions import QUICK

STARTS: dict[str, dict[str, Any]] = {
    "sudoku_moyo": {},
    "vierer_dominari": {},  # turns of several steps, and draws
    "score_dominari": {"reward": "margin"},  # payoffs beyond 1
    "halma_dominari": {},
}


NODES = {"sudoku_moyo": 3000}
"""The nodes of minimax, where its usual positions are too near the end."""


@pytest.mark.parametrize("name", nightly(STARTS, QUICK))
def test_questions_have_the_values_that_minimax_finds(name: str) -> None:
    """There is one where moves differ and not all is lost; right are the moves that are best."""
    start = Position(name, seed=5, **STARTS[name])
    examiner, bound = Examiner(start, 10**6), payoff_bound(start)
    asked = untold = again = 0
    for position, gains in late_positions(start, seed=7, count=200, nodes=NODES.get(name, 200)):
        found = examiner.ask([position.state], 1)
        finals = np.array(list(gains.values())) + position.returns()[position.to_move]
        if len(set(finals)) == 1 or max(finals) == -bound:
            assert len(found.counts) == 0
            untold += 1
            continue
        sign, asked = 1 - 2 * position.to_move, asked + 1
        assert found.counts.tolist() == [len(gains)]
        assert offsets_of(found.counts).tolist() == [0, len(gains)]
        assert found.right.tolist() == (finals == finals.max()).tolist()
        assert found.values == pytest.approx(sign * finals / bound)
        for i, action in enumerate(gains):
            after = position.copy().play(action)
            assert (found.states[i : i + 1] == after.state).all()
            assert (i in found.running) != after.is_over
            if not after.is_over:
                same = after.to_move == position.to_move
                assert found.again[i] == same
                again += same
                mover = 1 - 2 * after.to_move
                assert found.targets[i] == pytest.approx(mover * found.values[i])
    assert asked > 4
    assert untold > 4
    assert (again > 0) == (name in ("vierer_dominari", "score_dominari", "halma_dominari"))


def test_a_game_is_solved_from_its_end_until_that_takes_too_long() -> None:
    """Each position once, as if it were asked about alone."""
    start = Position("score_dominari", seed=5)
    few, many = Examiner(start, 30), Examiner(start, 3000)
    path = [each.state for each in random_line(start, np.random.default_rng(2))[:-1]]
    asked, shorter = many.ask(path, 1), few.ask(path, 1)
    assert 0 < len(shorter.counts) < len(asked.counts)
    patient = Examiner(start, 10**5)
    alone = joined([patient.ask([state], 1) for state in reversed(path[-20:])])
    for some in (asked, shorter):
        assert some.counts.tolist() == alone.counts[: len(some.counts)].tolist()
        n = some.counts.sum()
        assert some.right.tolist() == alone.right[:n].tolist()
        assert some.values.tolist() == alone.values[:n].tolist()
        assert (some.states == alone.states[:n]).all()
    assert len(many.ask([], 1).counts) == 0


def test_games_with_hidden_draws_have_no_questions() -> None:
    with pytest.raises(HiddenDrawsError):
        Examiner(Position("sudoku_tiles"), 100)


# ---- learning ----

SHAPE = Shape(9, 3)
FIRSTS = np.array([0, 3, 5, 9])
RIGHT = np.array([1, 0, 0, 0, 1, 0, 1, 1, 0], bool)
SIGNS = np.array([-1, -1, 1, -1, -1, 1, -1, -1, 1], F32)
OVER = 4
"""A position that is over, with its value known."""


def made_up() -> Examples:
    """The positions after the moves."""
    draws = np.random.default_rng(1)
    counts = draws.integers(1, 6, len(RIGHT))
    counts[OVER] = 0
    found = draws.integers(0, 9, counts.sum()).astype(np.int32)
    heuristic = draws.standard_normal(len(RIGHT)).astype(F32)
    targets = (np.where(RIGHT, 0.9, -0.9) * SIGNS).astype(F32)
    return Examples(found, offsets_of(counts), heuristic, targets)


def loss_of(weights: np.ndarray, order: list[int]) -> float:
    """The mean loss over questions, in float64."""
    found, offsets, heuristic, targets = made_up()
    w, total = weights.astype(np.float64), 0.0
    rows = w[: SHAPE.bias].reshape(SHAPE.rows, SHAPE.width)
    for q in order:
        chances, errors, count = {}, 0.0, FIRSTS[q + 1] - FIRSTS[q]
        for i in range(FIRSTS[q], FIRSTS[q + 1]):
            hidden = w[SHAPE.bias : SHAPE.second] + rows[found[offsets[i] : offsets[i + 1]]].sum(0)
            hidden = np.where(hidden > 0, hidden, 0.1 * hidden)
            last = w[SHAPE.last] + w[SHAPE.last + 1] * heuristic[i]
            x = hidden @ w[SHAPE.second : SHAPE.last] + last
            if i == OVER:
                x = np.arctanh(np.float64(targets[i]))
            chances[i] = np.exp(SIGNS[i] * x / float(TEMPERATURE))
            errors += (np.tanh(x) - targets[i]) ** 2 / 2 / count
        good = sum(chance for i, chance in chances.items() if RIGHT[i])
        # the slope of the logarithm is learned without the factor 1 / TEMPERATURE
        total -= float(TEMPERATURE) * np.log(good / sum(chances.values()))
        total += float(VALUE_SHARE) * errors
    return float(total / len(order))


def prefer(learner: Learner, order: list[int], rate: float) -> float:
    """Learn from the made-up questions once; returns the share of right answers."""
    moves = Moves(FIRSTS, RIGHT, SIGNS, np.zeros(4, F32))
    return float(prefer_kernel(SHAPE)(np.array(order), 4, rate, moves, made_up(), learner))


def some_weights() -> np.ndarray:
    draws = np.random.default_rng(3)
    return (0.5 * draws.standard_normal(SHAPE.size)).astype(F32)


@pytest.mark.parametrize("order", [[0], [1], [2], [2, 0, 1]])
def test_the_gradient_is_that_of_the_loss(order: list[int]) -> None:
    """The first mean of gradients is a tenth of the gradient, found here by small changes."""
    weights = some_weights()
    learner = Learner.new(SHAPE, weights.copy())
    prefer(learner, order, 1e-3)
    slopes = []
    for i in range(SHAPE.learned):
        more, less = weights.astype(np.float64), weights.astype(np.float64)
        more[i] += 1e-5
        less[i] -= 1e-5
        slopes.append((loss_of(more, order) - loss_of(less, order)) / 2e-5)
        assert 10 * float(learner.mean[i]) == pytest.approx(slopes[-1], abs=3e-4), i
    assert max(map(abs, slopes)) > 0.05


def test_questions_are_learned() -> None:
    learner = Learner.new(SHAPE, some_weights())
    first = prefer(learner, [0, 1, 2], 0.02)
    for _ in range(100):
        last = prefer(learner, [0, 1, 2], 0.02)
    assert first < last == 1
