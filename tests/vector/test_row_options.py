"""Rows play under the options of their episodes: positions say so, and saved states keep them."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from azumaya.baselines.cli.contract import is_over, legal_of
from azumaya.envs import OptionError, Position, make_vec
from azumaya.envs.adapters.aec.raw_env import RawEnv
from azumaya.envs.engine.kernels import SERIES
from azumaya.envs.engine.setups import MOST_KNOWN, Setups
from azumaya.envs.setup import prepare
from azumaya.wrappers.sb3 import AzumayaVecEnv
from tests.cases import CASES, Case, cases_of
from tests.vector.cases import (
    EACH_NIGHTLY,
    EVERY_GAME,
    alike,
    last_legal,
    mostly_nightly,
    vector,
)

ROWS = 3
OTHERS = tuple(
    case
    for case in CASES
    if case.options and case.setup.num_actions == cases_of(case.game)[0].setup.num_actions
)
"""Variants whose options can be given to `reset` of an environment with default options."""
LASTING = tuple(case for case in OTHERS if case.setup.lasting & case.options.keys())
"""Those with an option that matters after the start."""
every_other = pytest.mark.parametrize("case", OTHERS[::3], ids=lambda case: case.label)
every_lasting = pytest.mark.parametrize("case", LASTING[::2], ids=lambda case: case.label)
PLIES = 12


def default(case: Case, rows: int = ROWS) -> Any:
    """A vector environment of a case's game with default options."""
    return vector(cases_of(case.game)[0], rows)


def step(games: Any) -> np.ndarray:
    """Step with random actions, and return them."""
    actions: np.ndarray = games.random_actions()
    games.step(actions)
    return actions


def check_like(position: Position, other: Position) -> None:
    """Two positions agree in everything, how they look and what search knows of them included."""
    assert position == other
    assert position.options == other.options
    assert position.scene() == other.scene()
    bound = position.game.options.payoff_bound
    assert bound(position.setup.settings) == bound(other.setup.settings)
    assert Position.from_text(position.game, str(position), **position.options) == other


@every_other
def test_positions_have_the_options_of_their_episode(case: Case) -> None:
    """They are those of the AEC environment, ply by ply; the next episode has the default ones."""
    games, raw = default(case, 1), RawEnv(case.game)
    games.reset(seed=3, options=dict(case.options))
    raw.reset(seed=3, options=dict(case.options))
    for _ in range(PLIES):
        check_like(games.position(0), raw.position)
        if raw.position.is_over:
            break
        raw.step(int(step(games)[0]))
    while not games.position(0).is_over:
        step(games)
    step(games)
    assert games.position(0).options == {}
    games.reset(seed=3, options=dict(case.options))
    games.reset(seed=3)
    assert games.position(0).options == {}


@every_lasting
def test_rows_have_options_of_their_own(case: Case) -> None:
    games, some = default(case), np.array([False, True, False])
    games.reset(seed=1)
    games.reset(options={"reset_mask": some, **case.options})
    wanted = [{}, dict(case.options), {}]
    assert [games.position(row).options for row in range(ROWS)] == wanted
    copy = pickle.loads(pickle.dumps(games))
    for _ in range(4):
        step(games), step(copy)
    for row in range(ROWS):
        check_like(copy.position(row), games.position(row))


@pytest.mark.parametrize("mode", AutoresetMode, ids=lambda mode: mode.name)
@pytest.mark.parametrize("case", mostly_nightly(LASTING[::6]), ids=lambda case: case.label)
def test_options_that_last(case: Case, mode: AutoresetMode) -> None:
    """A game with options of its own plays the episodes of an environment made with them."""
    some = np.array([False, True, False])
    plain = cases_of(case.game)[0]
    games, made, default = (vector(c, ROWS, autoreset_mode=mode) for c in (plain, case, plain))
    games.set_options(case.options, some)
    for env in (games, made, default):
        env.reset(seed=1)
    for _ in range(PLIES):
        results = [env.step(env.random_actions()) for env in (games, made, default)]
        check_mixed(games, made, default, some)
        over = results[0][2] | results[0][3]
        if mode is AutoresetMode.DISABLED and over.any():
            for env in (games, made, default):
                env.reset(options={"reset_mask": over})
    copy = pickle.loads(pickle.dumps(games))
    for env in (games, made, default, copy):
        env.rollout(60)
    check_mixed(games, made, default, some)
    assert alike(copy.get_state(), games.get_state())
    assert [games.position(row).options for row in range(ROWS)] == [{}, dict(case.options), {}]


def check_mixed(games: Any, made: Any, default: Any, some: np.ndarray) -> None:
    """The states of some rows are those of one environment, of the others those of another."""
    states, theirs, usual = (env.get_state()[0] for env in (games, made, default))
    assert states[some].tobytes() == theirs[some].tobytes()
    assert states[~some].tobytes() == usual[~some].tobytes()


def test_new_options_wait_for_the_next_episode() -> None:
    """Games in progress are played on as they are; `reset` takes its options on top."""
    games = make_vec("abalone", 2, max_plies=6, threads=1)
    games.reset(seed=1)
    games.set_options({"max_plies": 4})
    before = games.get_state()
    for _ in range(6):
        assert [games.position(row).options for row in range(2)] == [{"max_plies": 6}] * 2
        results = games.step(games.random_actions())
    assert results[3].all()
    games.set_state(before)
    assert games.position(0).options == {"max_plies": 6}
    games.rollout(7)
    assert games.position(0).options == {"max_plies": 4}
    games.reset(options={"layout": "german_daisy"})
    assert games.position(1).options == {"max_plies": 4, "layout": "german_daisy"}
    games.rollout(5)
    assert games.position(1).options == {"max_plies": 4}
    games.set_options({"layout": "swiss_daisy"}, np.array([False, True]))
    games.reset(options={"tiebreak": "marbles"})
    assert [games.position(row).options for row in range(2)] == [
        {"max_plies": 4, "tiebreak": "marbles"},
        {"max_plies": 6, "layout": "swiss_daisy", "tiebreak": "marbles"},
    ]
    games.set_options()
    games.reset()
    assert [games.position(row).options for row in range(2)] == [{"max_plies": 6}] * 2


def test_options_that_cannot_last_are_refused() -> None:
    games = make_vec("sudoku_moyo", 2, threads=1)
    games.reset(seed=1)
    before = games.get_state()
    for arguments, message in (
        (({"puzle": "train"},), "unexpected keyword argument 'puzle'.*'puzzle'"),
        (({"scoring": "many"},), "scoring='many'"),
        (({"setup": "choose"},), "would change the number of actions"),
        (({"position": "x"},), "position"),
        (("points",), "options='points': must be a dict"),
        (({"scoring": "points"}, [True, False]), "mask: must be a NumPy array of bool"),
        (({"scoring": "points"}, np.ones(3, bool)), r"mask: shape \(3,\)"),
    ):
        with pytest.raises(ValueError, match=message):
            games.set_options(*arguments)
    assert alike(games.get_state(), before)
    games.reset()
    assert games.position(0).options == {}


@every_lasting
def test_states_under_other_options_are_refused(case: Case) -> None:
    """Unless the options are known here; then the rows keep them."""
    games, other = vector(case, ROWS), default(case)
    games.reset(seed=1)
    other.reset(seed=2)
    (states, series), (more, their) = games.get_state(), other.get_state()
    state = np.concatenate([more[:2], states[:1]]), np.concatenate([their[:2], series[:1]])
    with pytest.raises(OptionError, match="state: row 2 was played under other options"):
        other.set_state(state)
    assert alike(other.get_state(), (more, their))
    other.reset(seed=5, options=dict(case.options))
    other.reset(seed=6)
    other.set_state(state)
    assert [other.position(row).options for row in range(2)] == [{}, {}]
    lasting = {name: case.options[name] for name in case.setup.lasting & case.options.keys()}
    assert other.position(2).options.items() >= lasting.items()
    assert alike(other.get_state(), state)


@every_other
def test_a_state_keeps_its_options(case: Case) -> None:
    """A state comes back with its options, whatever has been played in between."""
    games = default(case)
    games.reset(seed=1, options=dict(case.options))
    step(games)
    before, state = [games.position(row) for row in range(ROWS)], games.get_state()
    games.set_state(state)
    for row in range(ROWS):
        check_like(games.position(row), before[row])
    games.reset(seed=1)
    games.set_state(state)
    for row in range(ROWS):
        assert games.position(row) == before[row]
        for name in case.setup.lasting & case.options.keys():
            assert games.position(row).options[name] == case.options[name]


@EVERY_GAME
def test_states_from_other_starts_are_accepted(case: Case) -> None:
    """Their start is unknown here: they are shown as if they began where they are."""
    games, begun = vector(case, ROWS), case.position(7)
    begun.play(begun.legal_actions()[0])
    games.reset(seed=1, options={"position": str(begun)})
    step(games)
    other = vector(case, ROWS)
    other.set_state(games.get_state())
    assert alike(other.get_state(), games.get_state())
    for row in range(ROWS):
        position = other.position(row)
        assert position == games.position(row)
        assert position.scene() == case.read(str(position)).scene()


def test_the_memory_of_options_is_bounded() -> None:
    """Setups that no row has any more make room, and their starts are not kept."""
    case = LASTING[0]
    own, series = cases_of(case.game)[0].setup, np.zeros(2, SERIES)
    setups, found = Setups(own), set()
    for plies in range(MOST_KNOWN + 9):
        setups = setups.with_room(series)
        given = replace(prepare(case.game, case.options), given={"plies": plies})
        series["setup"][plies % 2] = number = setups.number(given)
        assert setups[number] is given
        found.add(number)
    assert max(found) <= MOST_KNOWN + 3
    kept = [len(setups[number].starts) for number in found if number not in series["setup"]]
    last = len(case.setup.starts)  # of the one that was given up in the last round
    assert sorted(kept) == [0] * MOST_KNOWN + [last]


@EACH_NIGHTLY
def test_sb3_episodes_begin_with_the_own_options(case: Case) -> None:
    """Also if the number of the episode is that of a restored one, which began elsewhere."""
    begun = case.position(7)
    begun.play(begun.legal_actions()[0])
    games, other = (
        AzumayaVecEnv(case.game, ROWS, seat=begun.to_move, position=str(begun)),
        AzumayaVecEnv(case.game, ROWS, seat="random", **case.options),
    )
    games.seed(1), games.reset()
    other.set_state(games.get_state())
    other.seed(1), other.reset()
    fresh = AzumayaVecEnv(case.game, ROWS, seat="random", seed=1, **case.options)
    fresh.reset()
    for ours, theirs in zip(*(g.env_method("position") for g in (other, fresh)), strict=True):
        check_like(ours, theirs)
    assert other.get_state()["series"].tobytes() == fresh.get_state()["series"].tobytes()


def test_sb3_a_failed_step_keeps_the_options() -> None:
    """A step that is undone takes back which options the rows have as well."""
    case = LASTING[0]
    own, fails = cases_of(case.game)[0], False

    def policy(observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        if fails:
            raise RuntimeError("no move")
        return masks.argmax(axis=1)

    games = AzumayaVecEnv(case.game, ROWS, opponent=policy, seed=1, **own.options)
    games.reset()
    games.duel.set_setup(prepare(case.game, case.options))
    games.reset()
    games.duel.set_setup(games.duel.setup)
    options, state = games.env_method("position")[0].options, games.get_state()
    fails = True
    with pytest.raises(RuntimeError, match="no move"):
        games.reset()
    assert games.env_method("position")[0].options == options == dict(case.options)
    assert games.get_state()["series"].tobytes() == state["series"].tobytes()


@pytest.mark.parametrize("case", mostly_nightly(LASTING[::2]), ids=lambda case: case.label)
def test_sb3_refuses_states_under_other_options(case: Case) -> None:
    games, other = AzumayaVecEnv(case.game, ROWS, **case.options), AzumayaVecEnv(case.game, ROWS)
    games.reset()
    other.reset()
    with pytest.raises(OptionError, match="state: row 0 was played under other options"):
        other.set_state(games.get_state())


@EACH_NIGHTLY
def test_sb3_positions_know_their_start(case: Case) -> None:
    """Only what lay there at the start is shown as given."""
    games, raw = AzumayaVecEnv(case.game, 1, seat=0, seed=3, opponent=last_legal), case.raw()
    games.reset()
    raw.reset(seed=3)
    for _ in range(3):
        action = int(games.action_masks()[0].argmax())
        games.step(np.array([action]))
        raw.step(action)
        while raw.agent_selection != "player_0" and not is_over(raw):
            raw.step(int(legal_of(raw)[-1]))
        assert not is_over(raw)
        check_like(games.env_method("position")[0], raw.position)
