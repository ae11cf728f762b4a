"""Proof-number search: it proves what alpha-beta proves, in any pieces, with any table."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace

import numpy as np
import pytest

from azumaya.baselines.search.alphabeta import Room
from azumaya.baselines.search.budget import Budget, spend
from azumaya.baselines.search.game_kernels import GameKernels, kernels_of
from azumaya.baselines.search.proof import ProofRoom
from azumaya.baselines.search.solver import SolverRooms, Solving, solve
from azumaya.envs import GAMES, OptionError, Position
from azumaya.envs.kernels.compile import kernel
from tests.cases import YARDSTICK
from tests.search.positions import before_the_end, late, midgame

MOYO = GAMES["sudoku_moyo"]
KERNELS = kernels_of(Position(MOYO))


def solved_by(room: Room | ProofRoom, position: Position, line: bool = True) -> Solving:
    search = Solving(room, position, line)
    spend(search, Budget(10**7))
    assert search.finished
    return search


@pytest.mark.parametrize("territory", ["standard", "rows", "draft"])
def test_it_agrees_with_alpha_beta(territory: str) -> None:
    proof, other = ProofRoom(KERNELS, 4), Room(KERNELS, 16)
    if territory == "draft":
        kernels = kernels_of(Position(MOYO, territory=territory))
        proof, other = ProofRoom(kernels, 4), Room(kernels, 16)
    results = set()
    for seed in range(5):
        position = before_the_end(MOYO, {"territory": territory}, seed, 15)
        mine, theirs = solved_by(proof, position), solved_by(other, position)
        assert mine.gains == theirs.gains, str(position)
        assert mine.solution().nodes < theirs.solution().nodes
        results |= set(mine.gains.values())
    assert results == {-1, 1}


def test_its_lines_are_best_play() -> None:
    for seed in range(4):
        position = before_the_end(MOYO, {}, seed, 16)
        search = solved_by(ProofRoom(KERNELS, 4), position)
        value, mover = search.value, position.to_move
        for move in search.line:
            assert solve(position, nodes=10**7).value == (
                value if position.to_move == mover else -value  # type: ignore[operator]
            )
            position.play(move)
        assert position.returns()[mover] == value


def test_a_search_in_pieces_gives_the_same_result() -> None:
    position = before_the_end(MOYO, {}, 3, 20)
    whole = solved_by(ProofRoom(KERNELS, 4), position, line=False)
    pieces = Solving(ProofRoom(KERNELS, 4), position)
    while not pieces.finished:
        pieces.run(3)
    assert pieces.solution() == whole.solution()
    assert whole.solution().nodes > 1000


@pytest.mark.parametrize("megabytes", [0.001, 0.01])
def test_full_tables_change_no_value(megabytes: float) -> None:
    for position, gains in late(MOYO, {}, 12, nodes=2000, seed=5):
        assert solve(position, nodes=10**7, megabytes=megabytes).moves == gains


def test_searches_share_no_results() -> None:
    """A room that is used again starts anew, and does not profit from what it has proven before."""
    room = ProofRoom(KERNELS, 1)
    for seed in (3, 3, 5):
        position = before_the_end(MOYO, {}, seed, 18)
        fresh = solved_by(ProofRoom(KERNELS, 1), position)
        assert solved_by(room, position).solution() == fresh.solution()
        assert fresh.solution().nodes > 100


@pytest.mark.parametrize("in_line", [False, True])
@pytest.mark.parametrize("make", [ProofRoom, Room])
def test_memory_is_freed_at_once(make: type[ProofRoom] | type[Room], in_line: bool) -> None:
    """Tables are too large to wait for the garbage collector, also while a line is looked for."""
    room = make(KERNELS, 1)
    freed = weakref.ref(room)
    position = before_the_end(MOYO, {}, 2, 9) if in_line else midgame(MOYO, {}, 1, 10)
    gc.collect()
    gc.disable()
    try:
        search = Solving(room, position, line=True)
        room.go_on(room.nodes + 100)
        while in_line and (search.value is None or None in search.gains.values()):
            room.go_on(room.nodes + 10**6)
            search._take_stage()
        assert (search.value is not None) == in_line
        assert not search.finished
        del search, room
        assert freed() is None
    finally:
        gc.enable()


def test_ties_are_broken_by_the_key() -> None:
    position = before_the_end(MOYO, {}, 2, 9)
    best = set()
    for key in range(30):
        search = Solving(ProofRoom(KERNELS, 1), position, key=key)
        spend(search, Budget(10**6))
        again = Solving(ProofRoom(KERNELS, 1), position, key=key)
        spend(again, Budget(10**6))
        assert again.best == search.best
        best.add(search.best)
    assert len(best) > 1
    assert best <= set(solve(position, nodes=10**6).best)


def test_points_are_searched_with_alpha_beta() -> None:
    """Both kinds of search in one room, each where it suits."""
    rooms = SolverRooms(KERNELS, 4)
    assert isinstance(rooms.suited(Position(MOYO)), ProofRoom)
    assert isinstance(rooms.suited(Position(MOYO, scoring="points")), Room)
    for scoring in ("win", "points", "win"):
        for position, gains in late(MOYO, {"scoring": scoring}, 8):
            assert solved_by(rooms.suited(position), position).gains == gains


def told_nothing() -> GameKernels:
    """Connect Four, with the same estimate for every position and no bounds."""

    @kernel
    def prospects(state):  # type: ignore[no-untyped-def]
        return -1, 1, 8, 8

    kernels = kernels_of(Position(YARDSTICK))
    return replace(kernels, hints=replace(kernels.hints, prospects=prospects))


def test_games_of_other_kinds_are_proven() -> None:
    """Estimates need not be good. A game of Connect Four with a winner has no draw below it."""
    room, results = ProofRoom(told_nothing(), 4), set()
    for position, gains in late(YARDSTICK, {}, 60, nodes=300):
        if 0 in gains.values() or not can_not_be_drawn(position):
            continue
        assert solved_by(room, position).gains == gains
        results |= set(gains.values())
    assert results == {-1, 1}


def can_not_be_drawn(position: Position) -> bool:
    """Whether every line of play from a position has a winner."""
    if position.is_over:
        return bool(position.returns()[0])
    return all(can_not_be_drawn(position.copy().play(a)) for a in position.legal_actions())


def test_a_budget_that_ends_proves_nothing() -> None:
    position = midgame(MOYO, {}, 1, 10)
    solution = solve(position, nodes=2000)
    assert solution.value is None
    assert set(solution.moves.values()) == {None}
    assert 2000 <= solution.nodes < 2000 + 400


def test_too_little_memory_is_refused() -> None:
    with pytest.raises(OptionError, match=r"megabytes=1e-05.*0\.001"):
        solve(Position(MOYO), nodes=10, megabytes=1e-5)


def test_the_first_position_keeps_its_moves() -> None:
    """Moves that are never better are left out of the proof, but each gets its value."""
    position = before_the_end(MOYO, {}, 1, 10)
    packed = np.zeros(KERNELS.words, np.uint64)
    MOYO.rules.write_legal(position.state[0], packed)
    KERNELS.hints.narrow(position.state[0], packed)
    solution = solve(position, nodes=10**6)
    left = sum(int(word).bit_count() for word in packed)
    assert left < len(position.legal_actions()) == len(solution.moves)
    assert None not in solution.moves.values()
