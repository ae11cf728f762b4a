"""AlphaZero: what is learned from games and searches, memory, symmetries, and that it learns."""

from __future__ import annotations

import hashlib
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from azumaya.baselines.agents.evaluator import NetworkEvaluator
from azumaya.baselines.agents.network import NETWORKS
from azumaya.baselines.search.batch_puct import BatchPUCT
from azumaya.baselines.search.budget import Budget
from azumaya.baselines.search.game_kernels import kernels_of
from azumaya.baselines.search.outcome import CANDIDATE
from azumaya.baselines.search.solver import SolverRooms, solve
from azumaya.baselines.search.targets import draw_move, order_policy
from azumaya.baselines.training.alphazero import Memory, main
from azumaya.baselines.training.alphazero_games import Lessons, Played, SelfPlay
from azumaya.baselines.training.asked import LEAST, Asked
from azumaya.baselines.training.policy import Threads
from azumaya.envs import OptionError, Position, make_vec
from azumaya.envs.game import as_states
from azumaya.envs.observation import packed_observation, unpack_bits, unpack_planes
from tests.cases import TESTED, YARDSTICK
from tests.search.evaluations import Linear, Scattered
from tests.search.positions import midgame
from tests.training.run_helpers import tiny_alphazero

CPU = torch.device("cpu")


def policy_of(exact: bool, value: float, *candidates: tuple[int, int, float, int, int]) -> Any:
    """The moves to learn and their visits; candidates are actions, visits, values and bounds."""
    room, ranked = as_states(np.array([*candidates], CANDIDATE)), np.zeros((2, 9), np.int64)
    count = order_policy(room, len(room), exact, value, *ranked)
    return ranked[:, :count].tolist()


def test_policies_are_the_moves_visited_or_those_that_are_proven_right() -> None:
    open_ = (0, 0, 0.0, -1, 1), (7, 2, 0.9, -1, 1), (4, 6, 0.5, -1, 1), (2, 2, 0.1, -1, 1)
    assert policy_of(False, 0.5, *open_) == [[4, 2, 7], [6, 2, 2]]
    proven = (5, 0, 1.0, 1, 1), (2, 2, -1.0, -1, -1), (3, 9, 1.0, -1, 1), (4, 6, 1.0, 1, 1)
    assert policy_of(True, 1.0, *proven) == [[4, 5], [6, 0]]


def test_moves_are_drawn_by_the_shares_of_visits() -> None:
    moves, visits = np.array([4, 2, 7]), np.array([6, 1, 1])
    drawn = [draw_move(moves, visits, 3, each / 8) for each in range(8)]
    assert drawn == [4] * 6 + [2, 7]


def test_policies_are_those_of_the_outcomes(tmp_path: Path) -> None:
    """Shares of the visits, or all moves alike that are proven to keep the value."""
    name, kinds = "connect_four", set()
    config = tiny_alphazero(tmp_path, game=name, games=60, simulations=50).completed()
    puct, start = BatchPUCT(Budget(50), Linear(), games=60), Position(name)
    positions = [midgame(TESTED[name], {}, seed, seed // 2) for seed in range(60)]
    outcomes = puct.search(positions, range(60))
    played, rows, grove = Played(config, start), np.arange(60), puct.grove_for(positions)
    best = played.note(rows, grove, np.zeros(60), sampled=False)
    for g, (found, position) in enumerate(zip(outcomes, positions, strict=True)):
        right = {c.action: 1 for c in found.candidates if c.exact and c.value == found.value}
        visits = {c.action: c.visits for c in found.candidates if c.visits}
        weights = right if found.exact else visits
        shares = {action: weight / sum(weights.values()) for action, weight in weights.items()}
        lessons = played.lessons
        learned = zip(lessons.actions[g].tolist(), lessons.shares[g].tolist(), strict=True)
        assert {a: share for a, share in learned if share} == pytest.approx(shares)
        gained = position.returns()[position.to_move]
        assert lessons.values[g] == np.float32(found.value - gained)
        assert (best[g], played.exact[g]) == (found.best, found.exact)
        kinds.add(found.exact)
    assert kinds == {True, False}


def played(text_moves: str, most: int = 42) -> tuple[Played, slice, list[Position]]:
    """A game of the yardstick, in which each search found the move made, with a value of 0.5.

    Also its rows, and its positions with the last.
    """
    config = tiny_alphazero(Path("unused"), games=1, most_plies=most).completed()
    past = [Position(YARDSTICK)]
    game = Played(config, past[0])
    for ply, name in enumerate(text_moves.split()):
        game.states[ply : ply + 1] = past[-1].state
        game.lessons.actions[ply, 0], game.lessons.shares[ply, 0] = past[-1].action(name), 1
        game.lessons.values[ply] = 0.5
        past.append(past[-1].copy().play(name))
    return game, slice(0, len(past) - 1), past


def test_values_are_what_came_of_the_game_for_each_mover() -> None:
    game, rows, past = played("a b a b a b a")
    assert past[-1].is_over
    lessons = game.learned(rows, past[-1].returns()[0])
    assert lessons.values.tolist() == [1, -1, 1, -1, 1, -1, 1]
    assert lessons.actions[:, 0].tolist() == [0, 1] * 3 + [0]
    assert lessons.shares[:, 0].tolist() == [1] * 7
    for ply, position in enumerate(past[:-1]):
        planes = unpack_planes(YARDSTICK, lessons.observation[ply])
        assert (planes == position.observation(position.to_move)).all()
        masks = unpack_bits(lessons.action_mask[ply], position.num_actions)
        assert (masks == position.action_mask()).all()


def test_games_that_are_broken_off_count_as_the_search_found_their_last_position() -> None:
    game, rows, past = played("a b a", most=3)
    assert game.most == 3
    assert not past[-1].is_over
    assert game.learned(rows, None).values.tolist() == [0.5, -0.5, 0.5]


@pytest.mark.parametrize("name", ["connect_four", "sudoku_tiles"])
def test_the_fewest_simulations_visit_moves(name: str, tmp_path: Path) -> None:
    """With one alone there would be nothing to learn, and no move to draw."""
    with pytest.raises(OptionError, match="--simulations 1: must be a whole number from 2"):
        tiny_alphazero(tmp_path, game=name, simulations=1, exact_nodes=0).completed()
    config = tiny_alphazero(tmp_path, game=name, simulations=2, exact_nodes=0).completed()
    actions = Position(name).num_actions
    for lessons in SelfPlay(config, Scattered(actions)).play(0):
        assert np.allclose(lessons.shares.sum(1), 1)
        masks = unpack_bits(lessons.action_mask, actions)
        legal = np.take_along_axis(masks, lessons.actions.astype(np.int64), 1)
        assert legal[lessons.shares > 0].all()


def test_games_are_broken_off(tmp_path: Path) -> None:
    games = SelfPlay(tiny_alphazero(tmp_path, most_plies=5, games=4).completed(), Scattered())
    assert [len(lessons.values) for lessons in games.play(0)] == [5] * 4


def test_ends_are_solved_backwards() -> None:
    """From the last position of a long game to the first that the solver does not finish."""
    rng, position, names = np.random.default_rng(5), Position(YARDSTICK), list[str]()
    while not position.is_over:
        names.append(str(rng.choice(position.legal_moves())))
        position.play(names[-1])
    (game, rows, past), nodes = played(" ".join(names)), 2000
    game.solve(rows, SolverRooms(kernels_of(past[0]), 4), nodes)
    lessons, plies = game.learned(rows, past[-1].returns()[0]), len(names)
    solved = [solve(each, nodes=nodes) for each in past[:-1]]
    last = max(ply for ply, found in enumerate(solved) if not found.solved)
    assert last < plies - 6
    for ply in range(last + 1, plies):
        right = lessons.actions[ply][lessons.shares[ply] > 0]
        assert lessons.values[ply] == solved[ply].value
        assert sorted(right) == sorted(solved[ply].best)
    final = [position.returns()[p.to_move] for p in past[: last + 1]]
    assert lessons.values[: last + 1].tolist() == final
    assert {1, -1} <= set(lessons.values[last + 1 :]), "some moves of the game were mistakes"


@pytest.mark.parametrize("name", ["score_dominari", "connect_four"])
def test_what_is_still_gained_does_not_count_what_was(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a game for points a player's values fall by what it gained since."""
    options = {"reward": "margin"} if name == "score_dominari" else {}
    config = tiny_alphazero(tmp_path, game=name, options=options, exact_nodes=0, games=2,
                            network="board").completed()  # fmt: skip
    network = NETWORKS["board"](TESTED[name], Position(name, **options).num_actions, 4, 1)
    unpack = make_vec(name, 1, observation="packed", **options).unpack
    ends = list[tuple[np.ndarray, np.ndarray, int | None]]()
    learned = Played.learned

    def seen(game: Played, rows: slice, payoff: int | None) -> Lessons:
        ends.append((game.states[rows], game.exact[rows], payoff))
        return learned(game, rows, payoff)

    monkeypatch.setattr(Played, "learned", seen)
    with closing(Threads(1, unpack)) as threads:
        lessons = SelfPlay(config, Asked(network, threads, CPU, 2)).play(0)
    for (states, exact, payoff), found in zip(ends, lessons, strict=True):
        assert payoff is not None
        signs = 1 - 2 * states["to_move"]
        left = signs * (payoff - states["payoff"])
        assert (found.values[~exact] == left[~exact]).all()
        assert len(states) == len(found.values)


PLAYED: dict[str, tuple[dict[str, Any], str]] = {
    "connect_four": ({"simulations": 40}, "d174f5c15b6ece4e"),
    "score_dominari": ({"options": {"reward": "margin"}}, "42e03d13e8adfbd3"),
    "sudoku_tiles": ({"exact_nodes": 0}, "149c0525db42d47e"),
}
"""Games with settings, and the first digits of a digest of what two updates give to learn from."""


@pytest.mark.parametrize("name", PLAYED)
def test_games_follow_from_the_seed(name: str, tmp_path: Path) -> None:
    """They are the same in every version: seeded runs can be repeated."""
    settings, expected = PLAYED[name]
    plies = {"most_plies": 30, "sampled_moves": 9, "exact_nodes": 100, "games": 5}
    config = tiny_alphazero(tmp_path, game=name, **{**plies, "simulations": 20, **settings})
    actions = Position(name, **config.options).num_actions
    games, digest = SelfPlay(config.completed(), Scattered(actions)), hashlib.sha256()
    for lessons in [*games.play(0), *games.play(1)]:
        for each in lessons.arrays:
            digest.update(each.tobytes())
    assert digest.hexdigest()[:16] == expected


def test_all_moves_are_drawn_by_default(tmp_path: Path) -> None:
    """Where only the first are, games begin alike and go on otherwise."""
    plies = {"most_plies": 30, "games": 5, "simulations": 20}

    def played(most: int, **given: int) -> set[bytes]:
        config = tiny_alphazero(tmp_path, game=YARDSTICK.name, **plies, **given).completed()
        games = SelfPlay(config, Scattered(7)).play(0)
        return {lessons.observation[:most].tobytes() for lessons in games}

    assert played(30) == played(30, sampled_moves=30) != played(30, sampled_moves=9)
    assert played(10) == played(10, sampled_moves=9)


def test_memory_keeps_the_last_positions(tmp_path: Path) -> None:
    config = tiny_alphazero(tmp_path).completed()
    memory = Memory(Lessons.room(config, Position(YARDSTICK), 10))
    added = 0
    for count in (4, 3, 6, 25):
        lessons = Lessons.room(config, Position(YARDSTICK), count)
        lessons.values[:] = np.arange(added, added + count)
        memory.add(lessons)
        added += count
        kept = set(memory.lessons.values[: min(added, 10)])
        assert kept == set(range(max(0, added - 10), added))
        drawn = memory.sample(200, np.random.default_rng(1)).values
        assert set(drawn) == kept
    assert memory.added == added


def test_packed_networks_are_asked_like_others() -> None:
    network = NETWORKS["board"](YARDSTICK, 7, 8, 1)
    positions = [Position(YARDSTICK).play(move) for move in "abcdefg"]
    unpack = make_vec(YARDSTICK.name, 1, observation="packed").unpack
    with closing(Threads(2, unpack, part=3)) as threads:
        packed = BatchPUCT(Budget(30), Asked(network, threads, CPU, 7))
        found = packed.search(positions, range(7))
    plain = BatchPUCT(Budget(30), NetworkEvaluator(network))
    assert [each.best for each in found] == [
        each.best for each in plain.search(positions, range(7))
    ]


def test_batches_are_filled_up_to_few_sizes() -> None:
    """As they are on a GPU: those asked before, or next, do not change what is found."""
    network, rng = NETWORKS["board"](YARDSTICK, 7, 8, 1), np.random.default_rng(1)
    positions = [midgame(YARDSTICK, {}, seed, seed % 30) for seed in range(3 * LEAST)]
    seen = np.array([packed_observation(p.game, p.state[0], p.to_move) for p in positions])
    masks = np.array([position.legal_words() for position in positions])
    unpack = make_vec(YARDSTICK.name, 1, observation="packed").unpack
    with closing(Threads(2, unpack)) as threads:
        asked = Asked(network, threads, CPU, 3 * LEAST)
        for count in (1, 5, LEAST, LEAST + 1, 3 * LEAST, 2 * LEAST + 7, 3):
            rows = rng.permutation(len(positions))[:count]
            others = rows[::-1] // 2
            answers = [asked.filled_up(seen[each], masks[each]) for each in (rows, others)]
            for some, answer in zip((rows, others), answers, strict=True):
                expected = asked.evaluate_packed(seen[some], masks[some])
                for found, each in zip(answer(), expected, strict=True):
                    assert found.shape == each.shape
                    assert np.allclose(found, each, atol=1e-5)
        assert sorted(asked._batches) == [LEAST, 2 * LEAST, 3 * LEAST]


@pytest.mark.slow
def test_training_learns(tmp_path: Path) -> None:
    """In a minute it beats greedy, from starts that do not decide the game."""
    scores = main(tiny_alphazero(
        tmp_path, game="sudoku_moyo", steps=60_000, games=128, simulations=32, memory=20_000,
        batch=256, reuse=4.0, width=8, measure_every=60_000, final_starts=100,
    ))  # fmt: skip
    assert scores[1].second == "greedy"
    assert scores[1].rate > 0.5
