"""What Sudoku Moyo tells a solver, against sets of stones (`tests/oracles/moyo_endgame.py`).

Whether it is true is tested in `tests/search/test_bounds.py`.
"""

from __future__ import annotations

import copy
import functools
import itertools

import numpy as np
import pytest

from azumaya.baselines.search.hints import moyo_endgame as endgame
from azumaya.baselines.search.hints import moyo_narrowing as narrowing
from azumaya.baselines.search.hints import moyo_race as race
from azumaya.envs import GAMES, Position
from azumaya.envs.games._shima.board import PLAY, POINTS
from azumaya.envs.kernels.compile import INTERPRETED
from tests.games.shima import as_sets
from tests.oracles.moyo_endgame import Endgame, alone
from tests.oracles.regions import NUMBERS, SQUARES
from tests.search.positions import midgame

GAME = GAMES["sudoku_moyo"]
TERRITORIES = ("standard", "corners", "rows", "columns")
SEEDS = range(1 if INTERPRETED else 5)
PLIES = (14, 20, 26, 30, 34, 38, 44)


def endgames(territory: str) -> list[Position]:
    """Positions in which nothing fits in the neutral region any more."""
    options = {"territory": territory, "puzzle": "." * 81}
    plain = {"territory": territory}
    starts = [(plain, seed) for seed in SEEDS] + [(options, seed) for seed in SEEDS]
    found = [midgame(GAME, given, seed, p) for given, seed in starts for p in PLIES]
    return [position for position in found if endgame.is_graph(position.state[0])]


def seen_as_sets(position: Position, territory: str) -> Endgame:
    """The same position for the oracle."""
    return Endgame(*as_sets(position, territory))


def candidates_of(position: Position) -> dict[str, set[str]]:
    """The candidates in a state, for each number."""
    words = position.state["candidates"][0]
    bits = "".join(f"{int(word):064b}"[::-1] for word in words)
    return {
        n: {square for c, square in enumerate(SQUARES) if bits[81 * i + c] == "1"}
        for i, n in enumerate(NUMBERS)
    }


@pytest.mark.parametrize("territory", TERRITORIES)
def test_simplified_positions(territory: str) -> None:
    changed = 0
    for position in endgames(territory):
        expected = seen_as_sets(position, territory)
        before = copy.deepcopy(expected.fits)
        assert candidates_of(position) == before
        expected.simplify()
        simple = position.copy()
        endgame.simplify(simple._states[0])
        assert candidates_of(simple) == expected.fits, str(position)
        changed += before != expected.fits
    assert changed > 3 * len(SEEDS)


def narrowed(position: Position) -> set[tuple[str, str]]:
    """The moves that `narrow` leaves, as numbers and squares."""
    packed = np.zeros(12, np.uint64)
    GAME.rules.write_legal(position.state[0], packed)
    narrowing.narrow(position.state[0], packed)
    bits = "".join(f"{int(word):064b}"[::-1] for word in packed)
    actions = [at for at, bit in enumerate(bits) if bit == "1"]
    assert set(actions) <= set(position.legal_actions())
    return {(NUMBERS[at // 81], SQUARES[at % 81]) for at in actions}


@pytest.mark.parametrize("territory", TERRITORIES)
def test_moves_left_out_are_never_better(territory: str) -> None:
    """Each is surpassed by one that stays, perhaps by way of others."""
    dropped = 0
    for position in endgames(territory):
        sets, mover = seen_as_sets(position, territory), position.to_move
        good, moves = narrowed(position), sets.moves(mover)
        assert bool(good) == bool(moves)
        assert good <= moves
        left, grown = moves - good, True
        dropped += len(left)
        while left and grown:
            grown = False
            for move in sorted(left):
                if any(sets.at_least_as_good(other, move, mover) for other in good):
                    good, left, grown = good | {move}, left - {move}, True
        assert not left, f"{position}: {left}"
    assert dropped > 25 * len(SEEDS)


@pytest.mark.parametrize("territory", TERRITORIES)
def test_moves_that_stay_surpass_none_that_stays(territory: str) -> None:
    """As far as `narrow` looks: at stones with one number, and at harmless ones."""
    for position in endgames(territory):
        sets, mover = seen_as_sets(position, territory), position.to_move
        stays = narrowed(position)
        sets.taken_by = functools.cache(sets.taken_by)  # asked for with every pair
        for one, other in itertools.permutations(stays, 2):
            if sets.at_least_as_good(one, other, mover):
                assert one[0] != other[0], f"{position}: {one} {other}"
                if not sets.taken_by(*other, 1 - mover):
                    lost = sets.taken_by(*one, mover)
                    assert lost, f"{position}: {one} {other}"
                    assert one[1] != other[1], f"{position}: {one} {other}"


def test_moves_stay_where_the_end_is_no_graph() -> None:
    position = midgame(GAME, {"scoring": "points"}, 1, 30)
    assert len(narrowed(position)) == len(position.legal_actions())


@pytest.mark.parametrize("territory", TERRITORIES)
def test_prospects(territory: str) -> None:
    """A half stone doubles the work, the stones of the player to be beaten add to it."""
    open_ends = 0
    for position in [Position(GAME, territory=territory, seed=3), *endgames(territory)]:
        state, mover = position.state[0], position.to_move
        least, most, win, loss = race.prospects(state)
        assert (least, most) == race.bounds(state)
        if least == most:
            continue
        sets, missing = seen_as_sets(position, territory), (34, 32)
        if endgame.is_graph(state):
            missing = 2 - sets.lead(mover)[0], -sets.lead(1 - mover)[1]
        mine, theirs = len(sets.moves(mover)), len(sets.moves(1 - mover))
        assert win == max(8 * missing[0] + (12 * theirs - 2 * mine) // 5, 0)
        assert loss == max(8 * missing[1] + (12 * mine - 2 * theirs) // 5, 0)
        open_ends += 1
    assert open_ends > 2 * len(SEEDS)


@pytest.mark.parametrize("territory", TERRITORIES)
def test_leads(territory: str) -> None:
    leads = set()
    for position in endgames(territory):
        expected = seen_as_sets(position, territory)
        for player in range(2):
            most, single0, single1 = race.most_stones(position.state[0], player)
            stones, singly = expected.most_stones(player)
            cells = int(single0) | int(single1) << 64
            assert most == stones
            counted = {s for c, s in enumerate(SQUARES) if cells >> c & 1}
            assert counted & expected.squares() == singly & expected.squares()
            lead = race.lead(position.state[0], player)
            assert lead == expected.lead(player), f"{position} {player}"
            leads.add(lead)
    assert len(leads) > 5 * len(SEEDS)


@pytest.mark.parametrize("scoring", ["win", "points"])
def test_bounds(scoring: str) -> None:
    for seed, plies in itertools.product(SEEDS, (0, *PLIES)):
        position = midgame(GAME, {"scoring": scoring}, seed, plies)
        state, mover = position.state[0], position.to_move
        sets = seen_as_sets(position, "standard")
        most = [sets.most_stones(player)[0] for player in range(2)]
        if scoring == "points":
            room = endgame.neutral_room(state)
            expected = (-81, 81) if room else (-most[1 - mover], most[mover])
            if state["stage"] == POINTS:
                expected = state["streak"] + 1, state["streak"] + most[mover]
        else:
            expected = (-1, 1)
            if endgame.is_graph(state) and sets.lead(mover)[0] >= 2:
                expected = (1, 1)
            elif endgame.is_graph(state) and sets.lead(1 - mover)[1] >= 0:
                expected = (-1, -1)
        assert race.bounds(state) == expected, str(position)


def outlook_of(position: Position) -> list[int]:
    """The outlook of a position."""
    row = np.zeros(endgame.OUTLOOK_WORDS, np.uint64)
    endgame.outlook(position.state[0], row)
    return row.tolist()


@pytest.mark.parametrize("territory", TERRITORIES)
def test_outlooks_count_waiting_moves(territory: str) -> None:
    forgotten = 0
    for position in endgames(territory):
        sets = seen_as_sets(position, territory)
        single = sets.squares() - sets.squares(several=True)
        spare = 0
        for n in NUMBERS:
            waiting = alone(sets.fits[n]) & single
            spare += len(waiting & sets.sides[0]) - len(waiting & sets.sides[1])
            sets.fits[n] -= waiting
            forgotten += len(waiting)
        row = outlook_of(position)
        left = position.copy()
        left._states["candidates"][0] = row[:12]
        assert candidates_of(left) == sets.fits
        assert row[-1] == 162 + spare
    assert forgotten > 5 * len(SEEDS)


def test_outlooks_tell_all_else_apart() -> None:
    position = midgame(GAME, {}, 3, 20)
    fields = {
        "to_move": range(2), "stage": range(6), "light": range(2), "streak": range(3),
        "handicap": range(6), "handicap_player": range(2), "starter": range(2),
    }  # fmt: skip
    seen = set()
    combinations = list(itertools.product(*fields.values()))
    for values in combinations:
        for name, value in zip(fields, values, strict=True):
            position._states[name][0] = value
        seen.add(tuple(outlook_of(position)))
    assert len(seen) == len(combinations)


def test_nothing_is_known_without_houses_for_regions() -> None:
    position = endgames("standard")[0]
    state = position._states
    assert endgame.is_graph(state[0])
    for b, word in itertools.product(range(4), range(2)):
        changed = position.copy()
        changed._states["regions"][0, b, word] ^= np.uint64(1)
        assert not endgame.is_graph(changed.state[0])
        assert race.bounds(changed.state[0]) == (-1, 1)
    for name, value in (("stage", PLAY - 1), ("points", 1), ("over", 1)):
        changed = position.copy()
        changed._states[name][0] = value
        assert not endgame.is_graph(changed.state[0])
