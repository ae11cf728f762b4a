"""Bad input raises a named error that says what was wrong, and changes nothing."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from gymnasium.error import ResetNeeded

from azumaya.baselines.cli.contract import is_over, legal_of, play_out
from azumaya.envs import make, make_vec, raw
from azumaya.envs.errors import IllegalActionError, MoveNameError, OptionError, PositionError
from azumaya.envs.position import Position
from azumaya.wrappers import AugmentedAEC
from tests.cases import Case
from tests.contract.checker import fingerprint
from tests.vector.cases import alike, same

BAD_ACTIONS: list[Any] = [True, -1, 10**30, 1.0, np.uint64(2**63), np.array([1, 2]), "0", None]


def test_invalid_actions_are_refused(first_case: Case, rng: random.Random) -> None:
    """Anything that is not an action number raises `IllegalActionError` and changes nothing."""
    env = first_case.raw()
    env.reset(seed=1)
    play_out(env, rng, 3)
    before = fingerprint(env)
    for bad in (*BAD_ACTIONS, env.position.num_actions):
        with pytest.raises(IllegalActionError, match="action"):
            env.step(bad)
        assert fingerprint(env) == before
        if not isinstance(bad, str):
            with pytest.raises(IllegalActionError, match="action"):
                env.position.play(bad)


def test_the_error_for_an_illegal_move_explains_it(case: Case, rng: random.Random) -> None:
    """The error for an illegal move names the move and the reason; nothing changes."""
    env = case.raw()
    env.reset(seed=2)
    while not is_over(env):
        before, position = fingerprint(env), env.position
        forbidden = set(range(position.num_actions)) - set(position.legal_actions())
        for action in rng.sample(sorted(forbidden), min(3, len(forbidden))):
            name = position.move_name(action)
            with pytest.raises(IllegalActionError) as raised:
                env.step(action)
            assert str(raised.value) == position.explain(action)
            assert name in str(raised.value)
            with pytest.raises(IllegalActionError):
                position.play(name)
            assert position == env.position
        assert fingerprint(env) == before
        play_out(env, rng, 5)


def test_every_action_has_a_unique_name(case: Case) -> None:
    """`parse_move` inverts `move_name` for all actions, and no two actions share a name."""
    env = case.raw()
    actions = range(env.action_space("player_0").n)
    names = [env.move_name(a) for a in actions]
    assert len(set(names)) == len(names)
    assert [env.parse_move(name) for name in names] == list(actions)
    for name in names:
        assert name == name.strip().lower()


def test_invalid_move_names_are_refused(first_case: Case) -> None:
    """`parse_move` and `Position.play` raise `MoveNameError` for a text that names no move."""
    env = first_case.raw()
    env.reset(seed=1)
    before = fingerprint(env)
    for name in ("", " ", "x", "5e", "0a1", "5e10", "5é4", "\x00", "r0", "1" * 99):
        for call in (env.parse_move, env.position.play):
            with pytest.raises(MoveNameError):
                call(name)
        assert fingerprint(env) == before


def test_unknown_reset_options_warn(first_case: Case) -> None:
    """An unknown reset option is ignored with a warning; without one there is no warning."""
    env, plain = first_case.raw(), first_case.raw()
    with pytest.warns(UserWarning, match="no_such_option"):
        env.reset(seed=1, options={"no_such_option": 1})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain.reset(seed=1, options={})
    assert fingerprint(env) == fingerprint(plain)


def test_unknown_reset_options_warn_in_batches(first_case: Case) -> None:
    """So they do in a vector environment, and the known ones among them count."""
    games, plain = make_vec(first_case.game.name, 2), make_vec(first_case.game.name, 2)
    text = str(first_case.position(5))
    with pytest.warns(UserWarning, match="no option 'no_such_option'; it is ignored") as caught:
        games.reset(seed=1, options={"no_such_option": 1, "position": text})
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain.reset(seed=1, options={"position": text})
        plain.reset(options={"reset_mask": np.array([True, False]), "position": None})
    games.reset(options={"reset_mask": np.array([True, False])})
    assert alike(games.get_state(), plain.get_state())


def test_none_as_an_option_means_the_default(first_case: Case) -> None:
    """An option set to None is an option left out, in the constructor and in `reset`."""
    game = first_case.game
    nothing = {option.name: None for option in game.options} | {"position": None}
    plain, made, reset = raw(game.name), raw(game.name, **nothing), raw(game.name)
    plain.reset(seed=1)
    made.reset(seed=1)
    reset.reset(seed=1, options=nothing)
    assert fingerprint(plain) == fingerprint(made) == fingerprint(reset)


def test_none_in_reset_overrides_the_constructor(case: Case) -> None:
    """None in `reset` restores the default, unless that would change the number of actions."""
    default = raw(case.game.name)
    env = case.raw()
    nothing = dict.fromkeys(case.options)
    if case.setup.num_actions == default.action_space("player_0").n:
        default.reset(seed=4)
        env.reset(seed=4, options=nothing)
        assert env.position == default.position
    else:
        env.reset(seed=4)
        before = fingerprint(env)
        with pytest.raises(OptionError, match="number of actions"):
            env.reset(seed=5, options=nothing)
        assert fingerprint(env) == before
        env.reset(seed=4, options=dict(case.options))
        assert fingerprint(env) == before


def test_reset_options_hold_for_one_episode(case: Case) -> None:
    """An option given to `reset` means the same as in the constructor, for one episode."""
    plain = raw(case.game.name)
    if case.setup.num_actions != plain.action_space("player_0").n:
        with pytest.raises(OptionError, match="number of actions"):
            plain.reset(seed=6, options=dict(case.options))
        return
    env = case.raw()
    env.reset(seed=6)
    plain.reset(seed=6, options=dict(case.options))
    assert fingerprint(plain) == fingerprint(env)
    plain.reset(seed=6)
    default = raw(case.game.name)
    default.reset(seed=6)
    assert fingerprint(plain) == fingerprint(default)


def test_wrong_option_values_are_refused(first_case: Case) -> None:
    """No option takes arbitrary objects; the error names the option, and the game continues."""
    env = first_case.raw()
    env.reset(seed=1)
    before = fingerprint(env)
    for option in first_case.game.options:
        for bad in (object(), "no such value", -7, (1, 2, 3, 4), (0, [1]), (["1"], "2")):
            with pytest.raises(ValueError, match=option.name):
                raw(first_case.game.name, **{option.name: bad})
            with pytest.raises(ValueError, match=option.name):
                env.reset(seed=2, options={option.name: bad})
            assert fingerprint(env) == before


def test_a_warning_that_is_an_error_changes_nothing(first_case: Case) -> None:
    """Where warnings are errors, an unknown reset option is refused, and the games go on."""
    games = make_vec(first_case.game.name, 2)
    games.reset(seed=1)
    before = games.get_state()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="no_such_option"):
            games.reset(options={"no_such_option": 1})
    assert alike(before, games.get_state())
    games.step(games.random_actions())


def test_a_refused_reset_changes_nothing(first_case: Case) -> None:
    """A seed is a whole number below 2**64, and options are a mapping; the error names which."""
    env = first_case.raw()
    env.reset(seed=1)
    before, refused = fingerprint(env), list[tuple[dict[str, Any], str]]()
    refused += [({"seed": seed}, "seed") for seed in (-1, 2**64, 1.5, True, "1")]
    refused += [
        ({"options": given}, "options=.*: must be a dict") for given in ([1], 5, "position")
    ]
    for given, message in refused:
        with pytest.raises(OptionError, match=message):
            env.reset(**given)
        assert fingerprint(env) == before


def test_the_error_for_an_unknown_option_lists_options(first_case: Case) -> None:
    """The message suggests a similar name if there is one, and then lists the options."""
    for name, hint in (("komi", r"\. It has"), ("positio", r"'position'\? It")):
        with pytest.raises(OptionError, match=f"{name}.*: .* has no such option.*{hint}"):
            raw(first_case.game.name, **{name: 1})


# ---- the order of calls ----


def test_before_the_first_reset_there_is_no_episode(first_case: Case) -> None:
    """Calls that need an episode ask for a reset; move names work without one."""
    env = first_case.raw(render_mode="ansi")
    calls = (env.last, env.state, env.render, env.get_state, lambda: env.observe("player_0"))
    for call in (*calls, lambda: env.step(0), lambda: list(env.agent_iter())):
        with pytest.raises(ResetNeeded, match="reset must be called first"):
            call()
    assert env.agents == []
    assert not hasattr(env, "position")
    with pytest.raises(ResetNeeded, match="position: reset must be called first"):
        _ = env.position
    assert env.parse_move(env.move_name(0)) == 0
    other = first_case.raw()
    other.reset(seed=1)
    env.set_state(other.get_state())
    assert fingerprint(env) == fingerprint(other)


def test_stepping_after_the_episode_asks_for_a_reset(first_case: Case, rng: random.Random) -> None:
    """After both agents have left, every step asks for a reset and changes nothing."""
    env = first_case.raw()
    env.reset(seed=1)
    play_out(env, rng)
    for _ in env.possible_agents:
        env.step(None)
    assert env.agents == []
    before = str(env.position)
    for call in (env.last, lambda: env.step(None), lambda: env.step(0)):
        with pytest.raises(ResetNeeded, match=r"the episode is over .* reset must be called first"):
            call()
    assert list(env.agent_iter()) == []
    assert str(env.position) == before


def test_wrapped_last_after_the_episode_asks_for_a_reset(
    first_case: Case, rng: random.Random
) -> None:
    """So does `last` of the wrapped environment, until the next reset."""
    env = first_case.env()
    env.reset(seed=1)
    while env.agents:
        dead = any(env.last(observe=False)[2:4])
        env.step(None if dead else rng.choice(np.flatnonzero(env.last()[0]["action_mask"])))
    for observe in (True, False):
        with pytest.raises(ResetNeeded, match=r"^last: the episode is over .* reset must be"):
            env.last(observe)
    env.reset(seed=1)
    assert env.last()[2:4] == (False, False)
    assert str(env) == str(env.unwrapped)


# ---- starting positions ----


def test_an_episode_can_start_from_any_running_position(case: Case, rng: random.Random) -> None:
    """`position=` starts an episode there, in the constructor and in `reset`."""
    env = case.raw()
    env.reset(seed=3)
    while not is_over(env):
        text = str(env.position)
        started = case.raw(position=text)
        started.reset(seed=1)
        other = case.raw()
        other.reset(seed=1, options={"position": text})
        for twin in (started, other):
            assert str(twin.position) == text
            assert twin.agent_selection == env.agent_selection
            assert (legal_of(twin) == legal_of(env)).all()
        play_out(env, rng, 9)


def test_no_episode_starts_from_a_finished_game(case: Case, rng: random.Random) -> None:
    """The position after the end of a game can be written and read, but not started from."""
    env = case.raw()
    env.reset(seed=3)
    play_out(env, rng)
    text = str(env.position)
    assert case.read(text).is_over
    for start in (lambda: case.raw(position=text), lambda: env.reset(options={"position": text})):
        with pytest.raises(PositionError, match="over"):
            start()
    assert str(env.position) == text


def test_malformed_positions_are_refused(first_case: Case) -> None:
    """A text that does not describe a position raises `PositionError`."""
    env = first_case.raw()
    for text in ("", "x", ".", "/ l", "a b c", 7, b"...", "9" * 500):
        with pytest.raises(PositionError):
            first_case.raw(position=text)
        with pytest.raises(PositionError):
            env.reset(options={"position": text})
        with pytest.raises(PositionError):
            Position.from_text(first_case.game, text)


def test_a_position_is_no_key_of_a_dict(first_case: Case) -> None:
    """`play` would change it, and the dict could not find it any more."""
    with pytest.raises(TypeError, match="unhashable type: 'Position'"):
        hash(Position(first_case.game))


@pytest.mark.parametrize("kind", [raw, make, lambda *a, **k: AugmentedAEC(make(*a, **k))])
@pytest.mark.parametrize("place", ["observation", "info"])
def test_writing_into_what_was_returned_changes_nothing(
    first_case: Case, kind: Callable[..., Any], place: str
) -> None:
    """Planes and masks, those in the info included, belong to the caller."""
    env, twin = (kind(first_case.game.name, action_mask=place) for _ in range(2))
    for each in (env, twin):
        each.reset(seed=1)
    for _ in range(4):
        expected = looked_at(twin)
        for _ in range(2):
            seen = looked_at(env)
            assert same(seen, expected)
            overwrite(seen)
        action = int(np.argmax(expected[0][-1]["action_mask"]))
        for each in (env, twin):
            each.step(action)


def looked_at(env: Any) -> tuple[Any, ...]:
    """What an environment returns when it is asked."""
    return env.last(), env.last(observe=False), env.observe(env.agent_selection), env.state()


def overwrite(value: Any) -> None:
    """Write into every array in a value."""
    if isinstance(value, np.ndarray):
        value.fill(1 - value.flat[0])
    elif isinstance(value, dict | tuple):
        for part in value.values() if isinstance(value, dict) else value:
            overwrite(part)
