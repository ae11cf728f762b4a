"""Bad input: a named error that says what was wrong, and nothing changed."""

from __future__ import annotations

import random
import warnings
from typing import Any

import numpy as np
import pytest
from gymnasium.error import ResetNeeded

from azumaya.envs import make, raw
from azumaya.envs.errors import IllegalActionError, MoveNameError, OptionError, PositionError
from azumaya.envs.position import Position
from tests.cases import Case, is_over, legal_of, play_out
from tests.contract.checker import fingerprint

BAD_ACTIONS: tuple[Any, ...] = (
    True,
    False,
    np.True_,
    -1,
    10**30,
    -(10**30),
    1.0,
    1.5,
    np.float64(2),
    np.int64(-1),
    np.uint64(2**63),
    np.array([1, 2]),
    np.array(1.0),
    "0",
    b"0",
    None,
    (),
    [0],
    float("nan"),
)
INTEGERS = (int, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint64, np.array)


def test_bad_actions_are_refused(case: Case, rng: random.Random) -> None:
    """What is no action number raises `IllegalActionError` and changes nothing."""
    env = case.raw()
    env.reset(seed=1)
    play_out(env, rng, 3)
    if is_over(env):
        env.reset(seed=1)
    before = fingerprint(env)
    for bad in (*BAD_ACTIONS, env.position.num_actions):
        with pytest.raises(IllegalActionError, match="action"):
            env.step(bad)
        assert fingerprint(env) == before
        if not isinstance(bad, str):
            with pytest.raises(IllegalActionError, match="action"):
                env.position.play(bad)


@pytest.mark.parametrize("kind", INTEGERS)
def test_all_kinds_of_integers_are_actions(first_case: Case, kind: type) -> None:
    """An action may be any integer; the game goes on as with an int."""
    env, plain = first_case.raw(), first_case.raw()
    env.reset(seed=1)
    plain.reset(seed=1)
    top = 127 if kind in (np.int8, np.uint8) else None
    action = next((a for a in legal_of(env).tolist() if top is None or a <= top), None)
    if action is None:
        action = legal_of(env).tolist()[0]
        kind = int
    env.step(kind(action))
    plain.step(action)
    assert fingerprint(env) == fingerprint(plain)


def test_illegal_moves_name_themselves(case: Case, rng: random.Random) -> None:
    """An illegal move raises, names itself and the reason, and changes nothing."""
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


def test_nothing_is_legal_when_the_game_is_over(case: Case, rng: random.Random) -> None:
    """`Position` refuses to go on after the end."""
    env = case.raw()
    env.reset(seed=2)
    play_out(env, rng)
    for action in rng.sample(range(env.position.num_actions), 5):
        with pytest.raises(IllegalActionError):
            env.position.play(action)


def test_every_action_has_a_name_of_its_own(case: Case) -> None:
    """`parse_move` undoes `move_name`, over all actions."""
    env = case.raw()
    actions = range(env.action_space("player_0").n)
    names = [env.move_name(a) for a in actions]
    assert len(set(names)) == len(names)
    assert [env.parse_move(name) for name in names] == list(actions)
    for name in names:
        assert name == name.strip().lower()


@pytest.mark.parametrize("name", ["", " ", "x", "5e", "0a1", "5e10", "5é4", "\x00", "r0", "1" * 99])
def test_names_of_no_move_are_refused(first_case: Case, name: str) -> None:
    """`parse_move` and `Position.play` say that a text names no move."""
    env = first_case.raw()
    env.reset(seed=1)
    before = fingerprint(env)
    with pytest.raises(MoveNameError):
        env.parse_move(name)
    with pytest.raises(MoveNameError):
        env.position.play(name)
    assert fingerprint(env) == before


def test_unknown_keywords_raise(first_case: Case) -> None:
    """A constructor keyword the game does not have is an error that names it."""
    for build in (make, raw, Position):
        with pytest.raises(OptionError, match="no_such_option"):
            build(first_case.game.name, no_such_option=1)


def test_unknown_reset_options_warn(first_case: Case) -> None:
    """An unknown reset option is ignored with a warning; the same without it, silently."""
    env, plain = first_case.raw(), first_case.raw()
    with pytest.warns(UserWarning, match="no_such_option"):
        env.reset(seed=1, options={"no_such_option": 1})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain.reset(seed=1, options={})
    assert fingerprint(env) == fingerprint(plain)


def test_none_means_the_default(first_case: Case) -> None:
    """Every option at None is every option left out, in the constructor and in `reset`."""
    game = first_case.game
    nothing = {option.name: None for option in game.options} | {"position": None}
    plain, made, reset = raw(game.name), raw(game.name, **nothing), raw(game.name)
    plain.reset(seed=1)
    made.reset(seed=1)
    reset.reset(seed=1, options=nothing)
    assert fingerprint(plain) == fingerprint(made) == fingerprint(reset)


def test_none_in_reset_overrides_the_constructor(case: Case) -> None:
    """`reset` with None goes back to the default, where that keeps the number of actions."""
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
    """An option given to `reset` means what it means in the constructor, for that episode."""
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
    """No option takes an arbitrary object; the error names the option; the game goes on."""
    env = first_case.raw()
    env.reset(seed=1)
    before = fingerprint(env)
    for option in first_case.game.options:
        for bad in (object(), "no such value", -7, (1, 2, 3, 4)):
            with pytest.raises(ValueError, match=option.name):
                raw(first_case.game.name, **{option.name: bad})
            with pytest.raises(ValueError, match=option.name):
                env.reset(seed=2, options={option.name: bad})
            assert fingerprint(env) == before


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, True, "1"])
def test_bad_seeds_are_refused(first_case: Case, seed: Any) -> None:
    """A seed is a whole number below 2**64."""
    env = first_case.raw()
    env.reset(seed=1)
    before = fingerprint(env)
    with pytest.raises(ValueError, match="seed"):
        env.reset(seed=seed)
    assert fingerprint(env) == before


@pytest.mark.parametrize("options", [[1], 5, "position"])
def test_reset_options_must_be_a_mapping(first_case: Case, options: Any) -> None:
    """Anything else is refused by name, and the game goes on."""
    env = first_case.raw()
    env.reset(seed=1)
    before = fingerprint(env)
    with pytest.raises(OptionError, match=r"options=.*: must be a dict"):
        env.reset(seed=2, options=options)
    assert fingerprint(env) == before


@pytest.mark.parametrize(
    ("name", "hint"), [("komi", r"\. It has"), ("positio", r"'position'\? It")]
)
def test_an_unknown_option_is_told_in_sentences(first_case: Case, name: str, hint: str) -> None:
    """What there is follows in a sentence of its own, after a guess if there is one."""
    with pytest.raises(OptionError, match=f"{name}.*: .* has no such option.*{hint}"):
        raw(first_case.game.name, **{name: 1})


# ---- agents, and the order of calls ----


@pytest.mark.parametrize("agent", ["nobody", 0, None, ["player_0"]])
def test_unknown_agents_are_named(first_case: Case, agent: Any) -> None:
    """In what they see and in their spaces."""
    env = first_case.raw()
    env.reset(seed=1)
    for call in (env.observe, env.observation_space, env.action_space):
        with pytest.raises(OptionError, match=r"agent=.*: must be one of player_0, player_1"):
            call(agent)


def test_nothing_of_an_episode_is_there_before_the_first_reset(first_case: Case) -> None:
    """What needs one says so; names of moves do not need one."""
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


def test_nobody_is_left_to_step_when_all_are_gone(first_case: Case, rng: random.Random) -> None:
    """After both agents have left, a step asks for a reset and changes nothing."""
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


def test_nobody_is_left_to_look_in_the_wrapped_game(first_case: Case, rng: random.Random) -> None:
    """`last` asks for a reset there, too, with or without an observation; a new game has one."""
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


@pytest.mark.parametrize("moment", ["foo", None, 5])
def test_what_is_no_moment_is_refused(first_case: Case, moment: Any) -> None:
    """Nor is that of another game; nothing is changed."""
    env = first_case.raw()
    env.reset(seed=1)
    before = fingerprint(env)
    for wrong in (moment, env.get_state().states):
        with pytest.raises(
            OptionError, match=r"moment: must be a state that get_state\(\) of .* returned"
        ):
            env.set_state(wrong)
        assert fingerprint(env) == before


# ---- positions to start from ----


def test_any_running_position_can_be_started_from(case: Case, rng: random.Random) -> None:
    """`position=` in the constructor and in `reset` starts there; play goes on the same."""
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


def test_a_position_that_is_over_is_refused(case: Case, rng: random.Random) -> None:
    """A position already over may be written and read, but no episode starts there."""
    env = case.raw()
    env.reset(seed=3)
    play_out(env, rng)
    text = str(env.position)
    assert case.read(text).is_over
    for start in (lambda: case.raw(position=text), lambda: env.reset(options={"position": text})):
        with pytest.raises(PositionError, match="over"):
            start()
    assert str(env.position) == text


@pytest.mark.parametrize("text", ["", "x", ".", "/ l", "a b c", 7, b"...", "9" * 500])
def test_malformed_positions_are_refused(first_case: Case, text: Any) -> None:
    """A text that is no position raises `PositionError`."""
    env = first_case.raw()
    with pytest.raises(PositionError):
        first_case.raw(position=text)
    with pytest.raises(PositionError):
        env.reset(options={"position": text})
    with pytest.raises(PositionError):
        Position.from_text(first_case.game, text)
