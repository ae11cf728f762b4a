"""What games of expert iteration are made of: searches, moves, and rows to learn from."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from azumaya.baselines.search.alphabeta import Deepening, Room
from azumaya.baselines.search.game_kernels import kernels_of
from azumaya.baselines.search.table import UNIT
from azumaya.baselines.values.learning import view_all_kernel
from azumaya.baselines.values.lessons import study_kernel
from azumaya.baselines.values.network import features_of
from azumaya.baselines.values.self_play import move_kernel
from azumaya.baselines.values.value import Value
from azumaya.envs import Position
from tests.cases import TESTED
from tests.values.networks import features_for, network_of, positions_of

GAME = TESTED["connect_four"]
SHAPE, WEIGHTS, SCRATCH = network_of(GAME)
KERNELS = kernels_of(Position(GAME))


def room() -> Room:
    """Memory for a search with the network at the horizon."""
    return Room(KERNELS, 1, Value(GAME, SHAPE.width, WEIGHTS).evaluation())


@pytest.mark.parametrize("nodes", [40, 300, 2000])
def test_a_position_is_searched_as_by_alpha_beta(nodes: int) -> None:
    """The same move, value and proof, whatever was searched before in the same memory."""
    study, one, other = study_kernel(KERNELS, SHAPE), room(), room()
    proofs = 0
    for key, position in enumerate(positions_of(GAME)):
        search = Deepening(one, position, key)
        search.run(nodes)
        wanted, sign = search.found(), 1 - 2 * position.to_move
        other.forget(key)
        best, value, proven = study(position.state, nodes, 1, other.memory)
        assert (best, proven) == (wanted.best, wanted.exact)
        assert value == pytest.approx(sign * wanted.score / UNIT, abs=1e-6)
        proofs += proven
    assert proofs > 0


def test_at_least_one_ply_is_searched() -> None:
    memory = room()
    memory.forget(1)
    position = Position(GAME)
    best, _, _ = study_kernel(KERNELS, SHAPE)(position.state, 1, 1, memory.memory)
    assert best in position.legal_actions()


def test_positions_become_rows_for_learning() -> None:
    positions = positions_of(GAME)
    n, room = len(positions), features_of(GAME).room
    states = GAME.new_states(n)
    states[:] = np.concatenate([np.asarray(position.state) for position in positions])
    found, offsets = np.zeros(n * room, np.int32), np.zeros(n + 1, np.int64)
    heuristic = np.zeros(n, np.float32)
    view_all_kernel(GAME, SHAPE)(states, WEIGHTS, SCRATCH, found, offsets, heuristic)
    for i, position in enumerate(positions):
        assert Counter(found[offsets[i] : offsets[i + 1]].tolist()) == features_for(position)
        own = GAME.rules.evaluate(position.state[0], position.to_move)
        assert heuristic[i] == pytest.approx(own / WEIGHTS[SHAPE.scale])


def test_random_moves_are_legal_and_as_frequent_as_wanted() -> None:
    move, words = move_kernel(GAME), np.zeros(KERNELS.words, np.uint64)
    counts = Counter[int]()
    for key in range(400):
        position = Position(GAME)
        now, (given, *rest) = position.state, position.legal_actions()
        random = move(now, given, np.uint64(key), 0, 0.25, 0.0, words)
        (made,) = (
            action for action in (given, *rest) if (position.copy().play(action).state == now).all()
        )
        assert random or made == given
        counts["random"] += random
        counts["other"] += made != given
    assert 70 < counts["random"] < 130
    assert counts["other"] > 40


def test_random_seats_make_only_random_moves() -> None:
    """In a game, one seat may be random and the other not."""
    move, words = move_kernel(GAME), np.zeros(KERNELS.words, np.uint64)
    position, seats = Position(GAME), Counter[tuple[bool, ...]]()
    (given, *_), following = position.legal_actions(), position.copy().play(0)
    for key in range(200):
        made = []
        for t in range(6):
            now = (position if t % 2 == 0 else following).state
            made.append(bool(move(now, given, np.uint64(key), t, 0.0, 0.5, words)))
        assert made == 3 * made[:2]
        seats[tuple(made[:2])] += 1
    assert min(seats.values()) > 30
    assert len(seats) == 4
