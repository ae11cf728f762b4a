"""The solver and alpha-beta: values are exact and do not depend on how a search is run."""

from __future__ import annotations

import numpy as np
import pytest

from azumaya.baselines.search import HiddenDrawsError
from azumaya.baselines.search.alphabeta import AlphaBeta, Deepening, Room
from azumaya.baselines.search.alphabeta_kernels import FRAME
from azumaya.baselines.search.budget import Budget
from azumaya.baselines.search.game_kernels import kernels_of, payoff_bound
from azumaya.baselines.search.solver import Solving, solve
from azumaya.baselines.search.table import NO_MOVE, PROVEN, new_table, remember
from azumaya.envs import Position
from azumaya.envs.game import Game
from tests.search.positions import SOLVED, before_the_end, each_solved, late, midgame


@each_solved
def test_values_are_minimax_values(game: Game, options: dict[str, object]) -> None:
    for position, gains in late(game, options, 24):
        check_solution(position, gains)


@pytest.mark.slow
@each_solved
def test_thousands_of_values_are_minimax_values(game: Game, options: dict[str, object]) -> None:
    """10,000 positions a game, over the settings of the game that are tested."""
    settings = sum(other is game for other, _ in SOLVED)
    for position, gains in late(game, options, -(-10_000 // settings), nodes=2000, seed=100):
        check_solution(position, gains)


def check_solution(position: Position, gains: dict[int, int]) -> None:
    solution = solve(position, nodes=10**6, megabytes=1)
    assert solution.solved
    assert solution.moves == gains
    assert solution.value == max(gains.values())
    assert solution.to_move == position.to_move
    assert all(gains[action] == solution.value for action in solution.best)


@each_solved
def test_one_memory_serves_for_many_positions(game: Game, options: dict[str, object]) -> None:
    """Also for positions of the same game, from its end backwards, whose moves lead to others.

    A position whose value is known at once is not remembered in place of the one before it.
    """
    positions = late(game, options, 60, nodes=200, seed=50)
    room = Room(kernels_of(positions[0][0]), 1)
    for position, gains in positions:
        search = Solving(room, position)
        search.run(10**6)
        assert search.solution().moves == gains, str(position)


@each_solved
def test_values_that_alphabeta_calls_exact_are_exact(
    game: Game, options: dict[str, object]
) -> None:
    exact = 0
    for i, (position, gains) in enumerate(late(game, options, 20)):
        room = Room(kernels_of(position), 1)
        search = Deepening(room, position, i)
        for _ in range(60):
            found = search.found()
            assert found.best in gains
            if found.exact:
                assert found.value == max(gains.values()) + position.returns()[position.to_move]
                assert gains[found.best] == max(gains.values())
            if search.finished:
                break
            search.run(50)
        exact += found.exact
    assert exact > 15


@each_solved
def test_values_at_the_horizon_are_not_called_exact(game: Game, options: dict[str, object]) -> None:
    """Far from the end, where most iterations use evaluations, values called exact are exact."""
    room = Room(kernels_of(Position(game, **options)), 4)
    checked = 0
    for seed in range(24):
        position = before_the_end(game, options, seed, (9, 9, 3)[seed % 3])
        solution = solve(position, nodes=200_000, megabytes=4)
        search = Deepening(room, position, seed)
        while not search.finished and room.nodes < 100_000:
            search.run(1000)
        found = search.found()
        if found.exact and solution.value is not None:
            before = position.returns()[position.to_move]
            assert found.value == solution.value + before
            assert solution.moves[found.best] in (None, solution.value)
            checked += 1
    assert checked > 4


@each_solved
def test_a_table_of_two_entries_changes_no_value(game: Game, options: dict[str, object]) -> None:
    for position, gains in late(game, options, 10, nodes=400, seed=7):
        assert solve(position, nodes=10**6, megabytes=0.001).moves == gains


def test_what_could_not_be_proven_is_not_remembered_as_proven() -> None:
    """Where there is no room for more moves, positions are estimated, also in a proof."""
    position = Position("vierer_dominari")
    room = Room(kernels_of(position), 1)
    few = len(position.legal_actions()) + 64 * kernels_of(position).words
    room.memory = room.memory._replace(moves=room.memory.moves[:few])
    room.prove(position.state, payoff_bound(position))
    while not room.done:
        room.go_on(room.nodes + 10**6)
    assert room.proven() == (None, NO_MOVE)
    table, key = room.memory.table, room.memory.frames["key"][0]
    assert key.all(), "both halves of the root's key are set"
    (root,) = table[(table["key"] == key).all(axis=1)]
    assert root["work"] > 0
    assert max(root["low_depth"], root["high_depth"]) == PROVEN - 1


@pytest.mark.parametrize(("depth", "kept"), [(PROVEN, (2, 5)), (PROVEN - 1, (1, 6))])
def test_proven_bounds_become_tighter_only(depth: int, kept: tuple[int, int]) -> None:
    """Those of a horizon are replaced by later ones of the same depth."""
    table, (frame,) = new_table(0.001), np.zeros(1, FRAME)
    for low, high in ((2, 5), (1, 6)):
        remember(table, frame, 1, 1, low, high, depth)
    (entry,) = table[table["age"] == 1]
    assert (entry["low"], entry["high"]) == kept


@each_solved
def test_values_of_interrupted_searches_are_right(game: Game, options: dict[str, object]) -> None:
    """With any budget, every value given is right."""
    for position, gains in late(game, options, 6, seed=3):
        room = Room(kernels_of(position), 1)
        search = Solving(room, position)
        while not search.finished:
            search.run(7)
            given = {a: g for a, g in search.gains.items() if g is not None}
            assert given.items() <= gains.items()
            assert search.value in (None, max(gains.values()))


@each_solved
def test_the_move_depends_only_on_the_key(game: Game, options: dict[str, object]) -> None:
    positions = [midgame(game, options, seed, 6) for seed in range(4)]
    keys = [3, 3, 2**64 - 1, 0]
    together = AlphaBeta(Budget(3000), threads=3, megabytes=4).search(positions, keys)
    one = AlphaBeta(Budget(3000), threads=1, megabytes=4)
    apart = [one.search([p], [k])[0] for p, k in zip(positions, keys, strict=True)]
    assert together == apart
    assert all(f.best in p.legal_actions() for f, p in zip(together, positions, strict=True))
    assert all(3000 <= f.nodes < 3000 + 1400 or f.exact for f in together)


def test_a_search_in_pieces_gives_the_same_result() -> None:
    position = midgame(SOLVED[0][0], {}, 1, 4)
    found = []
    for pieces in ([2000], [1] * 10 + [490, 700, 800]):
        search = Deepening(Room(kernels_of(position), 1), position, 9)
        spent = 0
        for steps in pieces:
            spent += steps
            search.run(spent - search._room.nodes) if spent > search._room.nodes else None
        found.append(search.found())
    assert found[0] == found[1]


def test_ties_are_broken_by_the_key() -> None:
    position = Position("score_dominari").play(Position("score_dominari").legal_actions()[0])
    best = {AlphaBeta(Budget(30)).search([position], [key])[0].best for key in range(10)}
    assert len(best) > 1


def test_hidden_draws_have_no_values() -> None:
    position = Position("sudoku_tiles")
    with pytest.raises(HiddenDrawsError, match="hidden"):
        solve(position, nodes=10)
    with pytest.raises(HiddenDrawsError, match="UCT"):
        AlphaBeta(Budget(10)).search([position], [0])
