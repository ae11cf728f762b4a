"""AlphaZero: what is learned from games and searches, memory, symmetries, and that it learns."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
import torch

from azumaya.baselines.agents.evaluator import NetworkEvaluator
from azumaya.baselines.agents.network import NETWORKS
from azumaya.baselines.search.batch_puct import BatchPUCT
from azumaya.baselines.search.budget import Budget
from azumaya.baselines.search.game_kernels import kernels_of
from azumaya.baselines.search.outcome import Candidate, Outcome
from azumaya.baselines.search.solver import SolverRooms, solve
from azumaya.baselines.training.alphazero import Asked, Memory, main
from azumaya.baselines.training.alphazero_games import Lessons, Played, SelfPlay, policy_of
from azumaya.baselines.training.policy import Threads
from azumaya.envs import Position, make_vec
from azumaya.envs.observation import unpack_bits, unpack_planes
from tests.cases import TESTED, YARDSTICK
from tests.training.run_helpers import tiny_alphazero

CPU = torch.device("cpu")


def outcome(exact: bool, *candidates: tuple[int, int, float, int, int]) -> Outcome:
    """An outcome with candidates, each an action, visits, value and bounds."""
    found = tuple(Candidate(*each) for each in candidates)
    return Outcome(found[0].action, found[0].value, exact, found, (), 10, False)


def test_policies_are_shares_of_visits_or_the_moves_that_are_proven_right() -> None:
    open_ = outcome(False, (4, 6, 0.5, -1, 1), (2, 2, 0.1, -1, 1), (0, 0, 0.0, -1, 1))
    actions, shares = policy_of(open_)
    assert (actions, shares.tolist()) == ([4, 2], [0.75, 0.25])
    proven = outcome(True, (4, 6, 1.0, 1, 1), (2, 2, -1.0, -1, -1), (5, 0, 1.0, 1, 1))
    actions, shares = policy_of(proven)
    assert (actions, shares.tolist()) == ([4, 5], [0.5, 0.5])


def played(text_moves: str, exact: bool = False, most: int = 42) -> Played:
    """A game of the yardstick, in which each search found the move made, with a value of 0.5."""
    config = tiny_alphazero(Path("unused")).completed()
    start = Position(YARDSTICK)
    game = Played(start, Lessons.room(config, start, most))
    for name in text_moves.split():
        action = game.position.action(name)
        found = outcome(exact, (action, 8, 0.5, -1, 1))
        game.move(action, found, policy_of(found))
    return game


def test_values_are_what_came_of_the_game_for_each_mover() -> None:
    game = played("a b a b a b a")
    assert game.is_over
    lessons = game.learned()
    assert lessons.values.tolist() == [1, -1, 1, -1, 1, -1, 1]
    assert lessons.actions[:, 0].tolist() == [0, 1] * 3 + [0]
    assert lessons.shares[:, 0].tolist() == [1] * 7
    for ply, position in enumerate(game.past):
        planes = unpack_planes(YARDSTICK, lessons.observation[ply])
        assert (planes == position.observation(position.to_move)).all()
        masks = unpack_bits(lessons.action_mask[ply], position.num_actions)
        assert (masks == position.action_mask()).all()


def test_games_that_are_broken_off_count_as_the_search_found_their_last_position() -> None:
    game = played("a b a", most=3)
    assert game.is_over
    assert not game.position.is_over
    assert game.learned().values.tolist() == [0.5, -0.5, 0.5]


def test_ends_are_solved_backwards() -> None:
    """From the last position of a long game to the first that the solver does not finish."""
    rng, position, names = np.random.default_rng(5), Position(YARDSTICK), list[str]()
    while not position.is_over:
        names.append(str(rng.choice(position.legal_moves())))
        position.play(names[-1])
    game, nodes = played(" ".join(names)), 2000
    game.solve(SolverRooms(kernels_of(game.past[0]), 4), nodes)
    lessons, plies = game.learned(), len(names)
    solved = [solve(position, nodes=nodes) for position in game.past]
    last = max(ply for ply, found in enumerate(solved) if not found.solved)
    assert last < plies - 6
    for ply in range(last + 1, plies):
        right = lessons.actions[ply][lessons.shares[ply] > 0]
        assert lessons.values[ply] == solved[ply].value
        assert sorted(right) == sorted(solved[ply].best)
    final = [position.returns()[p.to_move] for p in game.past[: last + 1]]
    assert lessons.values[: last + 1].tolist() == final
    assert {1, -1} <= set(lessons.values[last + 1 :]), "some moves of the game were mistakes"


@pytest.mark.parametrize("name", ["score_dominari", "connect_four"])
def test_what_is_still_gained_does_not_count_what_was(name: str, tmp_path: Path) -> None:
    """In a game for points a player's values fall by what it gained since."""
    options = {"reward": "margin"} if name == "score_dominari" else {}
    config = tiny_alphazero(tmp_path, game=name, options=options, exact_nodes=0, games=2,
                            network="board").completed()  # fmt: skip
    network = NETWORKS["board"](TESTED[name], Position(name, **options).num_actions, 4, 1)
    unpack = make_vec(name, 1, observation="packed", **options).unpack
    with closing(Threads(1, unpack)) as threads:
        games = SelfPlay(config, Asked(network, threads, CPU))
        seen = list[Played]()
        games._learned = lambda game: (seen.append(game), Played.learned(game))[1]  # type: ignore[method-assign]
        lessons = games.play(0)
    for game, learned in zip(seen, lessons, strict=True):
        assert game.position.is_over
        for ply, position in enumerate(game.past):
            gained = game.position.returns()[position.to_move]
            left = gained - position.returns()[position.to_move]
            assert learned.values[ply] == left or game._exact[ply]


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
        packed = BatchPUCT(Budget(30), Asked(network, threads, CPU))
        found = packed.search(positions, range(7))
    plain = BatchPUCT(Budget(30), NetworkEvaluator(network))
    assert [each.best for each in found] == [
        each.best for each in plain.search(positions, range(7))
    ]


@pytest.mark.slow
def test_training_learns(tmp_path: Path) -> None:
    """In two minutes it beats greedy, which it loses to at first."""
    scores = main(tiny_alphazero(
        tmp_path, steps=60_000, games=128, simulations=32, memory=20_000, batch=256, reuse=4.0,
        network="plain", width=128, depth=2, measure_every=60_000, final_starts=100,
    ))  # fmt: skip
    assert scores[1].rate > 0.5
