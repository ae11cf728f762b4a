"""The network: what it computes, how it learns, and what it learns from."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from azumaya.baselines.search.hints import hints_of
from azumaya.baselines.training import value
from azumaya.baselines.training.value_games import Player
from azumaya.baselines.values.learning import (
    Examples,
    GameExamples,
    Learner,
    follow,
    joined,
    learn_kernel,
    offsets_of,
)
from azumaya.baselines.values.network import (
    F32,
    Shape,
    features_of,
    forward_kernel,
    value_kernel,
)
from azumaya.baselines.values.self_play import (
    Habits,
    Workspace,
    best_move_kernel,
    draw_some,
    explores,
    self_play_kernel,
)
from azumaya.baselines.values.value import Value, ValueAgent, untrained
from azumaya.envs import Position, find_game
from azumaya.envs.kernels.bits import cells_of, word_count
from azumaya.envs.kernels.rng import drawn
from tests.cases import TESTED
from tests.values.networks import features_for, network_of, positions_of

GAME = TESTED["connect_four"]


def plain_value(position: Position, shape: Shape, weights: np.ndarray) -> float:
    """The value for the player to move, in float64."""
    w = weights.astype(np.float64)
    rows = w[: shape.bias].reshape(shape.rows, shape.width)
    hidden = w[shape.bias : shape.second].copy()
    for row, count in features_for(position).items():
        hidden += count * rows[row]
    hidden = np.where(hidden > 0, hidden, 0.1 * hidden)
    mover = int(position.to_move)
    start = float(position.game.rules.evaluate(position.state[0], mover)) / w[shape.scale]
    total = hidden @ w[shape.second : shape.last] + w[shape.last] + w[shape.last + 1] * start
    return float(np.tanh(total))


@pytest.mark.parametrize("name", ["connect_four", "vierer_dominari", "sudoku_tiles"])
def test_the_value_is_the_networks_sum(name: str) -> None:
    """For player_0, times the payoff bound, whoever is to move."""
    game = TESTED[name]
    shape, weights, scratch = network_of(game)
    weights[shape.bound] = 7.0
    value = value_kernel(game, shape)
    for position in positions_of(game, seeds=3):
        sign = 1 - 2 * int(position.to_move)
        found = float(value(position.state[0], weights, scratch))
        assert found == pytest.approx(7 * sign * plain_value(position, shape, weights), abs=1e-4)


def batch_for_learning(count: int = 6) -> tuple[np.ndarray, ...]:
    """Made-up features: rows, their numbers, starts and targets of some positions."""
    draws = np.random.default_rng(1)
    found = draws.integers(0, 9, (count, 5)).astype(np.int32)
    counts = draws.integers(1, 6, count)
    heuristic = draws.standard_normal(count).astype(np.float32)
    targets = draws.uniform(-1, 1, count).astype(np.float32)
    return found, counts, heuristic, targets


SHAPE = Shape(9, 3)


def error_of(weights: np.ndarray) -> float:
    """Half the mean squared error over the batch, in float64."""
    found, counts, heuristic, targets = batch_for_learning()
    w, total = weights.astype(np.float64), 0.0
    rows = w[: SHAPE.bias].reshape(SHAPE.rows, SHAPE.width)
    for i, target in enumerate(targets):
        hidden = w[SHAPE.bias : SHAPE.second] + rows[found[i, : counts[i]]].sum(0)
        hidden = np.where(hidden > 0, hidden, 0.1 * hidden)
        last = w[SHAPE.last] + w[SHAPE.last + 1] * heuristic[i]
        total += (np.tanh(hidden @ w[SHAPE.second : SHAPE.last] + last) - target) ** 2
    return float(total / len(targets) / 2)


def some_weights() -> np.ndarray:
    """Weights of a small network."""
    draws = np.random.default_rng(2)
    return (0.5 * draws.standard_normal(SHAPE.size)).astype(np.float32)


def learn_once(weights: np.ndarray, order: np.ndarray, batch: int, rate: float = 1e-3) -> Learner:
    """Learn from the made-up positions in an order."""
    learner = Learner.new(SHAPE, weights)
    learn(learner, order, batch, rate)
    return learner


def learn(
    learner: Learner,
    order: np.ndarray,
    batch: int,
    rate: float,
    positions: tuple[np.ndarray, ...] = batch_for_learning(),
) -> None:
    """Learn from positions in an order."""
    found, counts, *rest = positions
    used = np.arange(found.shape[1]) < counts[:, None]
    rows = Examples(found[used], offsets_of(counts), *rest)
    learn_kernel(SHAPE)(order, batch, rate, rows, learner)


def test_positions_are_learned_in_the_order_that_is_given() -> None:
    """As if they lay in that order; some may be left out, and some learned twice."""
    order, one, other = np.array([4, 0, 5, 2, 4]), some_weights(), some_weights()
    learn_once(one, order, 2, 0.01)
    positions = tuple(each[order] for each in batch_for_learning())
    learn(Learner.new(SHAPE, other), np.arange(5), 2, 0.01, positions)
    assert one.tobytes() == other.tobytes()
    assert (one != some_weights()).any()


def test_the_gradient_is_that_of_the_squared_error() -> None:
    """The first mean of gradients is a tenth of the gradient, found here by small changes."""
    weights = some_weights()
    learner = learn_once(weights.copy(), np.arange(6), 6)
    for i in range(SHAPE.learned):
        more, less = weights.astype(np.float64), weights.astype(np.float64)
        more[i] += 1e-5
        less[i] -= 1e-5
        slope = (error_of(more) - error_of(less)) / 2e-5
        assert 10 * float(learner.mean[i]) == pytest.approx(slope, abs=2e-4), i


def test_learning_reduces_the_error() -> None:
    weights = some_weights()
    before, learner = error_of(weights), Learner.new(SHAPE, weights)
    for _ in range(200):
        learn(learner, np.arange(6), 3, 0.02)
    assert error_of(weights) < before / 10
    assert learner.steps[0] == 400


def test_rows_that_a_batch_does_not_touch_stay() -> None:
    weights = some_weights()
    before = weights.copy()
    learn_once(weights, np.array([0]), 1)
    found, counts, _, _ = batch_for_learning()
    touched = set(found[0, : counts[0]].tolist())
    changed = np.flatnonzero((weights != before)[: SHAPE.bias].reshape(9, 3).any(1))
    assert set(changed.tolist()) == touched
    assert (weights[SHAPE.learned :] == before[SHAPE.learned :]).all()


def test_the_average_follows_rows_that_have_occurred() -> None:
    """A quarter of the way, with everything behind the rows; other rows stay."""
    draws = np.random.default_rng(3)
    average, weights = draws.standard_normal((2, SHAPE.size)).astype(np.float32)
    square = np.ones(SHAPE.learned, np.float32)
    square[: SHAPE.bias].reshape(SHAPE.rows, SHAPE.width)[[2, 5]] = 0
    expected = np.float32(0.75) * average + np.float32(0.25) * weights
    for row in (2, 5):
        units = slice(row * SHAPE.width, (row + 1) * SHAPE.width)
        expected[units] = average[units]
    follow(np.float32(0.75), SHAPE.rows, SHAPE.width, square, average, weights)
    assert average.tobytes() == expected.tobytes()


# ---- lookahead ----


def room_of(position: Position) -> tuple[np.ndarray, np.ndarray]:
    """The legal actions as words, and a state to try moves in."""
    words = np.zeros(word_count(position.num_actions), np.uint64)
    position.game.rules.write_legal(position.state[0], words)
    return words, position.game.new_states(1)


@pytest.mark.parametrize("name", ["connect_four", "vierer_dominari"])
def test_the_best_move_leads_to_the_best_value(name: str) -> None:
    game = TESTED[name]
    shape, weights, scratch = network_of(game)
    best_move = best_move_kernel(game, shape)
    for position in positions_of(game, seeds=6, every=3):
        words, trial = room_of(position)
        action, value = best_move(position.state[0], words, np.uint64(1), weights, scratch, trial)
        sign = 1 - 2 * int(position.to_move)
        values = {}
        for move in position.legal_actions():
            after = position.copy().play(move)
            if after.is_over:
                values[move] = float(sign * after.state["payoff"][0])
            else:
                turn = 1 if after.to_move == position.to_move else -1
                values[move] = turn * plain_value(after, shape, weights)
        assert float(value) == pytest.approx(max(values.values()), abs=1e-4)
        assert values[int(action)] == pytest.approx(max(values.values()), abs=1e-4)


def test_ties_are_broken_by_the_key() -> None:
    """A network that values everything alike plays every legal move."""
    shape, weights, scratch = network_of(GAME)
    weights[: shape.learned] = 0
    position = Position(GAME, seed=1)
    words, trial = room_of(position)
    keys = np.arange(200, dtype=np.uint64)
    found = [
        int(best_move_kernel(GAME, shape)(position.state[0], words, k, weights, scratch, trial)[0])
        for k in keys
    ]
    assert set(found) == set(position.legal_actions())
    assert max(np.bincount(found)) < 60


def test_what_the_game_proves_counts_more_than_the_network() -> None:
    """Where a move is proven to win, one of these is played, whatever the network says."""
    game = TESTED["score_dominari"]
    shape, weights, scratch = network_of(game)
    agent = ValueAgent(Value(game, shape.width, weights))
    kernels = [best_move_kernel(game, shape, sure=sure) for sure in (False, True)]
    spoilt = checked = 0
    for position in positions_of(game, seeds=12, every=1):
        wins = {action for action in position.legal_actions() if proves_a_win(position, action)}
        if not wins:
            continue
        words, trial = room_of(position)
        plain, sure = (
            best_move(position.state[0], words.copy(), np.uint64(1), weights, scratch, trial)
            for best_move in kernels
        )
        assert int(sure[0]) in wins
        assert agent.act([position], [1])[0] in wins
        assert sure[1] == 1.0
        spoilt += int(plain[0]) not in wins
        checked += 1
    assert checked > 10
    assert spoilt > 0


def proves_a_win(position: Position, action: int) -> bool:
    """Whether a move ends the game with a win, or the game's bounds say that it wins."""
    after, mover = position.copy().play(action), position.to_move
    if after.is_over:
        return after.returns()[mover] == 1
    low, high = hints_of(after.game).bounds(after.state[0])
    return (low if after.to_move == mover else -high) == 1


def test_hidden_draws_do_not_reach_the_player() -> None:
    game = TESTED["sudoku_tiles"]
    shape, weights, scratch = network_of(game)
    best_move = best_move_kernel(game, shape)
    for position in positions_of(game, seeds=2, every=9):
        words, trial = room_of(position)
        found = {
            int(best_move(p.state[0], words, np.uint64(5), weights, scratch, trial)[0])
            for p in (position, position.resample_hidden(1), position.resample_hidden(2))
        }
        assert len(found) == 1


# ---- self-play ----


def played(
    explore: float, decay: float, plies: int = 60, most: int = 7, random_seats: float = 0.0
) -> tuple[dict[str, np.ndarray], Shape]:
    """Games of a random network against itself, which judges all seven moves or fewer."""
    shape, weights, _ = network_of(GAME)
    games, room = 12, features_of(GAME).room
    out = {
        "found": np.zeros((games, plies, room), np.int32),
        "counts": np.zeros((games, plies), np.int64),
        "heuristic": np.zeros((games, plies), np.float32),
        "targets": np.full((games, plies), np.nan, np.float32),
        "lengths": np.zeros(games, np.int64),
        "results": np.zeros(games, np.int64),
        "random": np.zeros((games, plies), np.bool_),
    }
    starts, space = GAME.new_states(1), Workspace.new(GAME, shape, 7, plies)
    found = np.zeros(plies * room, np.uint16)
    habits = Habits(explore, random_seats, most, F32(decay))
    for g in range(games):
        starts[0] = Position(GAME, seed=g).state[0]
        each = [out[name][g] for name in ("counts", "heuristic", "targets")]
        lengths, results = (out[name][g : g + 1] for name in ("lengths", "results"))
        room = GameExamples(*each, found, lengths, results)
        keys = np.array([g], np.uint64)
        self_play_kernel(GAME, shape)(starts, keys, habits, weights, space, room)
        parts = np.split(found, np.cumsum(out["counts"][g]))[:-1]
        for row, part in zip(out["found"][g], parts, strict=True):
            row[: len(part)] = part
        out["random"][g] = space.notes[:, 2] > 0
    out["weights"] = weights
    return out, shape


@pytest.mark.parametrize("decay", [0.0, 0.7, 1.0])
def test_targets_mix_what_followed(decay: float) -> None:
    """With lambda 0 it is the next value alone, with 1 the result."""
    out, shape = played(0.0, decay)
    check_returns(out, shape, decay)
    for targets, length in zip(out["targets"], out["lengths"], strict=True):
        assert np.isnan(targets[length:]).all()


def check_returns(out: dict[str, np.ndarray], shape: Shape, decay: float) -> None:
    """G(t) = lambda G(t+1) + (1 - lambda) V(t+1), with a change of sign at each turn."""
    forward, hidden = forward_kernel(shape), np.zeros(shape.width, np.float32)
    for g in range(12):
        last = out["lengths"][g] - 1
        behind = float(out["results"][g]) * (1 if last % 2 == 0 else -1)
        for t in range(last, -1, -1):
            assert out["targets"][g, t] == pytest.approx(behind, rel=0, abs=1e-5 * (decay < 1))
            seen = (out[name][g, t] for name in ("found", "counts", "heuristic"))
            here = float(forward(*seen, out["weights"], hidden))
            behind = -(decay * behind + (1 - decay) * here)


def test_a_random_move_cuts_the_return() -> None:
    """Games in which every move is random learn from the best move that was not played."""
    out, _ = played(1.0, 1.0)
    assert len({int(n) for n in out["lengths"]}) > 3
    inner = np.concatenate([out["targets"][g, : out["lengths"][g] - 1] for g in range(12)])
    assert (np.abs(inner) < 1).mean() > 0.5


def test_some_seats_play_at_random() -> None:
    out, _ = played(0.0, 1.0, random_seats=0.5)
    kinds = Counter[tuple[bool, bool]]()
    for g in range(12):
        random = out["random"][g, : out["lengths"][g]]
        seats = tuple(bool(random[seat]) for seat in (0, 1))
        for seat in (0, 1):
            assert (random[seat::2] == seats[seat]).all()
        kinds[seats] += 1
    assert len(kinds) == 4


def test_games_explore_whatever_their_start() -> None:
    """As often with the first half of the starts as with the second."""
    starts, keys = np.zeros(2500), np.arange(2000, dtype=np.uint64)
    first = np.array([drawn(starts, key) < 1250 for key in keys])
    random = np.array([[explores(key, t, 0.3) for t in range(12)] for key in keys])
    assert 900 < first.sum() < 1100
    assert (abs(random[first].mean(0) - 0.3) < 0.06).all()
    assert (abs(random[~first].mean(0) - 0.3) < 0.06).all()


def test_games_of_two_random_seats_are_those_in_which_every_move_explores() -> None:
    one, other = played(0.0, 0.7, random_seats=1.0)[0], played(1.0, 0.7)[0]
    for name, found in one.items():
        assert found.tobytes() == other[name].tobytes()


def test_games_played_together_are_those_played_alone() -> None:
    """One after another, also where the rows of a game end in the middle of a batch of keys."""
    config = value.Config(game="vierer_dominari", width=4, most_plies=30, games=8)
    weights = untrained(find_game(config.game), 4, 3, {}).weights
    keys = np.arange(100, 108, dtype=np.uint64)
    together = Player(config).play_games(keys, weights).games
    player = Player(config)
    alone = joined([player.play_games(key, weights).games for key in keys[:, None]])
    for one, other in zip(together, alone, strict=True):
        assert one.dtype == other.dtype
        assert one.tobytes() == other.tobytes()
    ends = np.cumsum(together.counts)
    assert len(together.targets) == together.lengths.sum() > 8
    assert (Examples.of(together).offsets == [0, *ends]).all()
    assert len(together.features) == ends[-1]


def test_some_moves_are_drawn_alike() -> None:
    """As many as asked for, each as often as any other, whatever row they come from."""
    there = [0, 5, 63, 64, 100, 127, 190]
    words, drawn = np.zeros(3, np.uint64), np.full(3, 99, np.uint64)
    for index in there:
        words[index >> 6] |= np.uint64(1) << np.uint64(index & 63)
    before = words.copy()
    for most in (1, 3, 6):
        often = dict.fromkeys(there, 0)
        for key in range(700):
            draw_some(words, most, np.uint64(key), drawn)
            found = cells_of(drawn)
            assert len(found) == most
            for index in found:
                often[index] += 1
            assert (words == before).all()
        assert all(abs(n - 100 * most) < 60 for n in often.values()), often
    for most in (7, 8, 1000):
        draw_some(words, most, np.uint64(1), drawn)
        assert (drawn == before).all()


def test_of_one_judged_move_the_value_is_its_own() -> None:
    """Then moves are random, and a target is the value after the move that was made."""
    random, _ = played(0.0, 1.0, most=1)
    assert (random["lengths"] != played(0.0, 1.0)[0]["lengths"]).any()
    everything, _ = played(0.0, 1.0, most=10**6)
    assert (everything["targets"] == played(0.0, 1.0)[0]["targets"])[:, :7].all()
    check_returns(*played(0.0, 0.0, most=1), 0.0)


def test_zero_moves_to_judge_means_all() -> None:
    game = find_game("vierer_dominari")
    weights, keys = untrained(game, 4, 3, {}).weights, np.arange(4, dtype=np.uint64)

    def found(most: int) -> bytes:
        config = value.Config(game=game.name, width=4, most_moves=most)
        return Player(config).play_games(keys, weights).games.features.tobytes()

    assert found(0) == found(10**6) != found(1)


def test_a_game_that_does_not_fit_counts_with_its_last_value() -> None:
    out, _ = played(0.0, 1.0, plies=4)
    assert (out["lengths"] == 4).all()
    assert (out["results"] == 0).all()
    assert (np.abs(out["targets"]) > 0).all()
    assert (np.abs(out["targets"]) < 1).all()
