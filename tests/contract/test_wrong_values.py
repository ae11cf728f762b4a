"""Every argument takes what it documents and refuses all else by a named error, in a short line."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from azumaya.baselines import analyse, find_agent
from azumaya.baselines.agents.program import ProgramAgent
from azumaya.baselines.search import Budget, KeptUCT, solve
from azumaya.baselines.search.evaluation import own_evaluation
from azumaya.envs import OptionError, Position, find_game, make, make_vec, raw
from azumaya.envs.adapters.aec.raw_env import EnvState, RawEnv
from azumaya.envs.adapters.batch.vector import AzumayaVectorEnv
from azumaya.envs.errors import (
    IllegalActionError,
    MoveNameError,
    PositionError,
    RecordError,
    brief,
)
from azumaya.envs.notation import GameRecord, read_record, read_records, replay
from azumaya.envs.registry import GAMES
from azumaya.wrappers import (
    Augmented,
    AugmentedAEC,
    RecordGames,
    SingleAgentEnv,
    Transform,
    random_transform,
)
from azumaya.wrappers.sb3 import AzumayaVecEnv

NAME = list(GAMES)[4]
OTHER = next(name for name in GAMES if name != NAME)
NOTHING_HIDDEN = next(name for name, game in GAMES.items() if game.rules.resample is None)
OPTION = next(iter(find_game(NAME).options)).name
DOCUMENTED = (
    OptionError, IllegalActionError, MoveNameError, PositionError, RecordError, OSError,
)  # fmt: skip
HUGE = 10**5000
"""Too many digits: Python raises a `ValueError` rather than write this number."""
VALUES: dict[str, Any] = {
    "None": None, "True": True, "np.True_": np.True_, "1.0": 1.0, "nan": float("nan"),
    "inf": float("inf"), "-1": -1, "0": 0, "3": 3, "2**62": 2**62, "2**70": 2**70, "HUGE": HUGE,
    "-HUGE": -HUGE, "''": "", "'1'": "1", "long": "x" * 300, "b'x'": b"x", "[text]": ["planes"],
    "ragged": [[1], [1, 2]], "[HUGE]": [HUGE], "{}": {"a": 1}, "{HUGE}": {"a": HUGE}, "()": (),
    "object": object(), "zeros": np.zeros(3), "square": np.zeros((2, 2), np.int64),
    "array('a')": np.array("a"), "int": int, "len": len,
}  # fmt: skip
"""Values of all types, most of them wrong everywhere."""


def aec(**options: Any) -> Any:
    env = raw(NAME, **options)
    env.reset(seed=1)
    return env


def vector() -> Any:
    games = make_vec(NAME, 2, threads=1)
    games.reset(seed=1)
    return games


def learner() -> AzumayaVecEnv:
    games = AzumayaVecEnv(NAME, 2, seed=1)
    games.reset()
    return games


def seat() -> Any:
    env = SingleAgentEnv(NAME)
    env.reset(seed=1)
    return env


def thought(**settings: Any) -> Any:
    return analyse(Position(NAME), **settings)


def few(value: Any, most: int) -> Any:
    """Three in place of up to `most`, which may be asked for but would take too long."""
    return 3 if type(value) is int and 3 < value <= most else value


def indices(method: str) -> Callable[[], Callable[[Any], Any]]:
    return lambda: lambda x: learner().env_method(method, indices=x)


SAYS_WHAT_IS_RIGHT = re.compile("must|needed|; actions are|; there are")
CALLS: dict[str, tuple[Callable[[], Callable[[Any], Any]], str]] = {
    "make name=": (lambda: make, ""),
    "make render_mode=": (lambda: lambda x: make(NAME, render_mode=x), "None"),
    "make position": (lambda: lambda x: make(NAME, position=x), "None"),
    "make action_mask=": (lambda: lambda x: make(NAME, action_mask=x), ""),
    "find_game name=": (lambda: find_game, ""),
    "Position name=": (lambda: Position, ""),
    "Position seed=": (lambda: lambda x: Position(NAME, seed=x), "0 3 2**62"),
    "from_text name=": (lambda: lambda x: Position.from_text(x, ""), ""),
    "from_text position": (lambda: lambda x: Position.from_text(NAME, x), ""),
    "observation player=": (lambda: Position(NAME).observation, "0"),
    "play action|name=": (lambda: Position(NAME).play, "0 3"),
    "explain action|name=": (lambda: Position(NAME).explain, "0 3"),
    "move_name action=": (lambda: Position(NAME).move_name, "0 3"),
    "parse_move name=": (lambda: Position(NAME).parse_move, ""),
    "check_action action=": (lambda: Position(NAME).check_action, "0 3"),
    "scene action=": (lambda: Position(NAME).scene, "None 0 3"),
    "revealed since=": (lambda: Position(NAME).revealed, "None"),
    "resample_hidden seed=": (lambda: Position(NAME).resample_hidden, "0 3 2**62"),
    "nothing hidden: seed=": (lambda: Position(NOTHING_HIDDEN).resample_hidden, "0 3 2**62"),
    "make_vec name=": (lambda: make_vec, ""),
    "vector num_envs=": (lambda: lambda x: make_vec(NAME, x), "3"),
    "vector threads=": (lambda: lambda x: make_vec(NAME, 1, threads=x), "None 3 2**62 2**70 HUGE"),
    "vector device=": (lambda: lambda x: make_vec(NAME, 1, device=x), ""),
    "vector copy=": (lambda: lambda x: make_vec(NAME, 1, copy=x), "True np.True_"),
    "vector observation=": (lambda: lambda x: make_vec(NAME, 1, observation=x), ""),
    "vector autoreset_mode=": (lambda: lambda x: make_vec(NAME, 1, autoreset_mode=x), ""),
    "vector illegal=": (lambda: lambda x: make_vec(NAME, 1, illegal=x), ""),
    "vector step: actions": (lambda: vector().step, ""),
    "vector step, each: actions": (lambda: lambda x: vector().step([x, x]), "0 3"),
    "vector reset seed": (lambda: lambda x: vector().reset(seed=x), "None 0 3 2**62"),
    "vector resets seed=": (lambda: lambda x: vector().reset(seed=[x, x]), "0 3 2**62"),
    "vector options=": (lambda: lambda x: vector().reset(options=x), "None {} {HUGE}"),
    "vector: reset_mask": (lambda: lambda x: vector().reset(options={"reset_mask": x}), "None"),
    "rollout plies=": (lambda: lambda x: vector().rollout(few(x, 2**62)), "0 3 2**62"),
    "vector row=": (lambda: vector().position, "0"),
    "set_options options|unexpected": (lambda: vector().set_options, "None"),
    "set_options mask": (lambda: lambda x: vector().set_options({}, x), "None"),
    "vector set_state: states?": (lambda: vector().set_state, ""),
    "vector unpack: observations": (lambda: make_vec(NAME, 1, observation="packed").unpack, ""),
    "sb3 name=": (lambda: AzumayaVecEnv, ""),
    "sb3 num_envs=": (lambda: lambda x: AzumayaVecEnv(NAME, x), "3"),
    "sb3 dtype=": (lambda: lambda x: AzumayaVecEnv(NAME, dtype=x), ""),
    "sb3 illegal=": (lambda: lambda x: AzumayaVecEnv(NAME, illegal=x), ""),
    "sb3 seat=": (lambda: lambda x: AzumayaVecEnv(NAME, seat=x), "0"),
    "sb3, made with seed=": (lambda: lambda x: AzumayaVecEnv(NAME, seed=x), "None 0 3 2**62"),
    "sb3 shaping=": (lambda: lambda x: AzumayaVecEnv(NAME, shaping=x), "1.0 0 3"),
    "sb3 opponent": (lambda: lambda x: AzumayaVecEnv(NAME, opponent=x), "None len"),
    "sb3 weight: opponent": (
        lambda: lambda x: AzumayaVecEnv(NAME, opponent=[("random", x)]),
        "1.0 3 2**62 2**70",
    ),
    "sb3 step: actions|step_wait": (lambda: learner().step, ""),
    "sb3 seed: seed=": (lambda: learner().seed, "None 0 3 2**62"),
    "sb3 position: indices=": (indices("position"), "None 0 ()"),
    "sb3 masks: indices=": (indices("action_masks"), "None 0 ()"),
    "sb3 get_attr: indices=": (lambda: lambda x: learner().get_attr("num_envs", x), "None 0 ()"),
    "aec step: action=": (lambda: aec().step, "0 3"),
    "aec reset: seed=": (lambda: lambda x: aec().reset(seed=x), "None 0 3 2**62"),
    "aec reset: options=": (lambda: lambda x: aec().reset(options=x), "None {} {HUGE}"),
    "aec observe: agent=": (lambda: aec().observe, ""),
    "aec observation_space: agent=": (lambda: aec().observation_space, ""),
    "aec action_space: agent=": (lambda: aec().action_space, ""),
    "aec set_state: moment": (lambda: aec().set_state, ""),
    "aec move_name: action=": (lambda: aec().move_name, "0 3"),
    "aec parse_move: name=": (lambda: aec().parse_move, ""),
    "seat name=": (lambda: SingleAgentEnv, ""),
    "seat opponent": (lambda: lambda x: SingleAgentEnv(NAME, x), "None len"),
    "seat seat=": (lambda: lambda x: SingleAgentEnv(NAME, seat=x), "0"),
    "seat reset: seed=": (lambda: lambda x: seat().reset(seed=x), "None 0 3 2**62"),
    "seat step: action=": (lambda: seat().step, "-1 0 3 2**62 2**70 HUGE -HUGE"),
    "seat action_mask=": (lambda: lambda x: SingleAgentEnv(NAME, action_mask=x), ""),
    "find_agent agent": (lambda: find_agent, ""),
    "program command|program": (lambda: ProgramAgent, ""),
    "program seconds=": (lambda: lambda x: ProgramAgent("head -n 0", x), "1.0 3"),
    "milliseconds budget": (
        lambda: lambda x: thought(milliseconds=few(x, 2**70)),
        "1.0 3 2**62 2**70",
    ),
    "nodes budget": (lambda: lambda x: thought(nodes=few(x, HUGE)), "3 2**62 2**70 HUGE"),
    "simulations budget": (
        lambda: lambda x: thought(simulations=few(x, HUGE)),
        "3 2**62 2**70 HUGE",
    ),
    "analyse position=": (lambda: lambda x: analyse(x, nodes=10), ""),
    "analyse key=": (lambda: lambda x: thought(nodes=10, key=x), "0 3 2**62"),
    "solve position=": (lambda: lambda x: solve(x, nodes=10), ""),
    "own_evaluation position=": (lambda: own_evaluation, ""),
    "KeptUCT position=": (lambda: lambda x: KeptUCT(x, Budget(10)), ""),
    "KeptUCT key=": (lambda: KeptUCT(Position(NAME), Budget(10)).search, "0 3 2**62"),
    "from_json record": (lambda: GameRecord.from_json, ""),
    "replay record=": (lambda: lambda x: list(replay(x)), ""),
    "read_records path": (lambda: lambda x: list(read_records(x)), ""),
    "read_record path": (lambda: lambda x: read_record(x, 1), ""),
    "RecordGames players=": (lambda: lambda x: RecordGames(make(NAME), "x.jsonl", x), ""),
    "RecordGames env=": (lambda: lambda x: RecordGames(x, "x.jsonl"), ""),
    "Transform symmetry=": (lambda: lambda x: Transform(NAME, x), "None"),
    "Transform renaming": (lambda: lambda x: Transform(NAME, None, [x]), ""),
    "Transform, each renaming": (lambda: lambda x: Transform(NAME, None, x), "None"),
    "Transform settings|unexpected": (lambda: lambda x: Transform(NAME, settings=x), "None"),
    "transform planes": (lambda: Transform(NAME).observation, ""),
    "transform mask": (lambda: Transform(NAME).mask, ""),
    "transform position=": (lambda: Transform(NAME).position, ""),
    "transform, then other=": (lambda: Transform(NAME).then, ""),
    "random_transform key=": (lambda: lambda x: random_transform(NAME, x), "0 3 2**62"),
    "random rename=": (lambda: lambda x: random_transform(NAME, 1, rename=x), "True np.True_"),
    "Augmented rename=": (lambda: lambda x: Augmented(seat(), rename=x), "True np.True_"),
    "AugmentedAEC rename=": (lambda: lambda x: AugmentedAEC(raw(NAME), rename=x), "True np.True_"),
    "random_transform position=": (lambda: lambda x: random_transform(NAME, 1, x), "None"),
    "random_transform group=": (lambda: lambda x: random_transform(NAME, 1, group=x), "None ()"),
}
"""By name: what makes a new call of one argument, and those of `VALUES` that it accepts. The name
ends with what messages begin with; with `=` if they show the value and say what is right. An action
that is none of the game loses a game of one seat, as every illegal action does."""


@pytest.mark.filterwarnings("ignore:.*reset.options.*has no option")
@pytest.mark.parametrize("name", CALLS)
def test_what_is_not_accepted_is_refused_by_a_documented_error(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No error of Python's or NumPy's takes its place; its line is short and names the argument."""
    monkeypatch.chdir(tmp_path)
    new_call, accepted = CALLS[name]
    taken, named = [], re.compile(f"({name.rpartition(' ')[2]})")
    for label, value in VALUES.items():
        call = new_call()
        try:
            call(value)
        except OSError as error:  # which names the file
            assert len(str(error)) < 2000, label  # noqa: PT017 - each value may raise or not
        except DOCUMENTED as error:
            said = str(error)
            assert len(said) < 2000, label
            assert named.match(said), said
            if name.endswith("="):
                assert brief(value) in said
                assert SAYS_WHAT_IS_RIGHT.search(said), said
        else:
            taken.append(label)
    assert taken == accepted.split()


@pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: game.name)
def test_options_of_every_game(game: Any) -> None:
    for option in game.options:
        for thing in (HUGE, [HUGE]):
            with pytest.raises(OptionError, match=option.name):
                Position(game, **{option.name: thing})


@pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: game.name)
def test_messages_do_not_repeat_long_texts(game: Any) -> None:
    """A move of ten million letters in a record took a minute to print."""
    start, long = Position(game), "x" * 10**6
    board = str(start).split()[0]
    texts = (long, f"{long} l", f"{board} {long}", f"{start} {long}", f"{board}/{long} l")
    calls = [lambda: start.parse_move(long), lambda: start.explain(long)]
    calls += [lambda text=text: Position.from_text(game, text) for text in texts]  # type: ignore[misc]
    for call in calls:
        with pytest.raises((MoveNameError, PositionError)) as caught:
            call()
        assert len(str(caught.value)) < 2000


def test_known_bad_arguments_are_refused() -> None:
    """Calls that once raised another error or returned something broken."""
    for call in (
        lambda: Position(NAME).revealed(Position(OTHER)),
        lambda: RawEnv("no_such_game"),
        lambda: learner().env_method("position", indices=[0, 2]),
    ):
        with pytest.raises(OptionError):
            call()
    for name in ("\ud800", "a\0b"):
        with pytest.raises(RecordError, match="path="):
            list(read_records(name))


def test_packed_observations_are_integers() -> None:
    """64-bit floats are not a packed observation."""
    games = make_vec(NAME, 2, observation="packed")
    words = games.reset(seed=1)[0]
    floats = {name: array.astype(np.float64) for name, array in words.items()}
    with pytest.raises(OptionError, match="64-bit words"):
        games.unpack(floats)
    games.unpack({name: array.view(np.int64) for name, array in words.items()})


@pytest.mark.parametrize(
    "source", ["raise RuntimeError('no')", "1 +", "import no_such_module", "raise KeyError"]
)
@pytest.mark.parametrize("module", ["broken_games", " ", ".broken_games", "broken_games.more"])
def test_modules_that_cannot_be_imported(
    module: str, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever they raise, the error says which module it was."""
    (tmp_path / "broken_games.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("AZUMAYA_GAMES", module)
    with pytest.raises(OptionError, match="AZUMAYA_GAMES="):
        find_game("no_such_game")
    assert find_game(NAME).name == NAME


def test_long_values_are_shortened() -> None:
    assert brief(HUGE) == f"an int of {HUGE.bit_length()} bits"
    assert len(brief([HUGE])) < 100  # Python 3.14 says how many digits it has
    assert brief("x" * 1000).count("x") < 100
    assert "\n" not in brief(np.zeros((20, 20)))
    assert brief(3) == "3"


def test_an_environment_that_was_refused_can_be_closed() -> None:
    """Gymnasium 1.1 does so when the object is collected."""
    AzumayaVectorEnv.__new__(AzumayaVectorEnv).close()


FIELDS = [field.name for field in fields(EnvState)]
WRONG: tuple[Any, ...] = (
    True, 1.5, "x", [], {}, (), ("player_1", "player_0"), [[1]], ({},), object(), np.zeros(3),
    {"player_0": None}, {"player_0": 1, "player_1": "x"}, {"player_0": [], "player_1": {}},
)  # fmt: skip


@pytest.mark.parametrize("name", FIELDS)
def test_moments_with_other_fields(name: str) -> None:
    """Each is refused, with nothing changed, or fits and can be played on."""
    env = aec()
    env.step(env.position.legal_actions()[0])
    moment, before = env.get_state(), str(env.position)
    for thing in WRONG:
        try:
            env.set_state(replace(moment, **{name: thing}))
        except OptionError:
            assert str(env.position) == before
            env.last()
        else:
            if env.agents and not any(env.terminations.values()):
                env.step(env.position.legal_actions()[0])
        env.set_state(moment)


# ---- keywords ----


@pytest.mark.parametrize(
    "call", [make, raw, make_vec, Position, SingleAgentEnv, AzumayaVecEnv], ids=lambda c: c.__name__
)
def test_unknown_keywords_are_type_errors(call: Callable[..., Any]) -> None:
    """As Python words it; TorchRL tries keywords and recognizes the error by its text."""
    with pytest.raises(TypeError, match="unexpected keyword argument 'frameskip'") as caught:
        call(NAME, frameskip=1)
    assert isinstance(caught.value, OptionError)


@pytest.mark.parametrize(
    ("call", "wrong", "right"),
    [
        (SingleAgentEnv, "oponent", "opponent"),
        (AzumayaVecEnv, "thread", "threads"),
        (make_vec, "autoreset_modes", "autoreset_mode"),
        (raw, "action_masks", "action_mask"),
        (make, f"{OPTION}s", OPTION),
    ],
)
def test_misspelt_keywords_of_environments_are_recognized(
    call: Callable[..., Any], wrong: str, right: str
) -> None:
    with pytest.raises(OptionError, match=f"'{wrong}': .*did you mean '{right}'.*It has {OPTION}"):
        call(NAME, **{wrong: 1})


# ---- where the mask is ----


@pytest.mark.parametrize("wrapped", [True, False])
def test_masks_in_infos_only(wrapped: bool) -> None:
    """With `action_mask="info"` an AEC environment observes planes alone and works as usual."""
    from pettingzoo.test import api_test  # noqa: PLC0415 - slow to load

    env, usual = make(NAME, action_mask="info"), make(NAME)
    env.reset(seed=1)
    usual.reset(seed=1)
    seen, mask = env.last()[0], env.infos[env.agent_selection]["action_mask"]
    assert env.observation_space(env.agent_selection).contains(seen)
    assert np.array_equal(seen, usual.last()[0]["observation"])
    assert np.array_equal(mask, usual.last()[0]["action_mask"])
    if wrapped:
        env.step(int(np.argmin(mask)))
        assert min(env.rewards.values()) == -1
    else:
        api_test(env.unwrapped, 30)


def test_masks_inside_the_observation() -> None:
    """`SingleAgentEnv` can observe a dict with the mask, which many libraries expect."""
    env, usual = SingleAgentEnv(NAME, action_mask="observation"), SingleAgentEnv(NAME)
    (seen, info), (planes, _) = env.reset(seed=1), usual.reset(seed=1)
    assert env.observation_space.contains(seen)
    assert np.array_equal(seen["observation"], planes)
    assert np.array_equal(seen["action_mask"], info["action_mask"])
    action = int(np.argmax(seen["action_mask"]))
    assert env.observation_space.contains(env.step(action)[0])
