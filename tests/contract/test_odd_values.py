"""Values that no check thought of: numbers too long to be written, ragged lists, broken modules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from azumaya.baselines import analyse, find_agent
from azumaya.envs import OptionError, Position, find_game, make, make_vec, raw
from azumaya.envs.adapters.aec.raw_env import EnvState
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
from azumaya.wrappers import RecordGames, SingleAgentEnv, Transform, random_transform
from azumaya.wrappers.sb3 import AzumayaVecEnv
from tests.contract.begun import NAME, learner, vector

NOTHING_HIDDEN = next(name for name, game in GAMES.items() if game.rules.resample is None)
HUGE = 10**5000
"""Too many digits: Python raises a `ValueError` rather than write this number."""


def begun(**options: Any) -> Any:
    env = raw(NAME, **options)
    env.reset(seed=1)
    return env


REFUSED: dict[str, tuple[Callable[[Any], Any], type[ValueError]]] = {
    "make": (make, OptionError),
    "render_mode": (lambda x: make(NAME, render_mode=x), OptionError),
    "action_mask": (lambda x: make(NAME, action_mask=x), OptionError),
    "seed": (lambda x: Position(NAME, seed=x), OptionError),
    "player": (lambda x: Position(NAME).observation(x), OptionError),
    "play": (lambda x: Position(NAME).play(x), IllegalActionError),
    "parse_move": (lambda x: Position(NAME).parse_move(x), MoveNameError),
    "resample_hidden": (lambda x: Position(NOTHING_HIDDEN).resample_hidden(x), OptionError),
    "device": (lambda x: make_vec(NAME, 1, device=x), OptionError),
    "observation": (lambda x: make_vec(NAME, 1, observation=x), OptionError),
    "autoreset_mode": (lambda x: make_vec(NAME, 1, autoreset_mode=x), OptionError),
    "illegal": (lambda x: make_vec(NAME, 1, illegal=x), OptionError),
    "vector seeds": (lambda x: vector().reset(seed=[x, x]), OptionError),
    "vector options": (lambda x: vector().reset(options=x), OptionError),
    "vector step": (lambda x: vector().step([x, x]), IllegalActionError),
    "dtype": (lambda x: AzumayaVecEnv(NAME, dtype=x), OptionError),
    "seat": (lambda x: AzumayaVecEnv(NAME, seat=x), OptionError),
    "shaping": (lambda x: AzumayaVecEnv(NAME, shaping=x), OptionError),
    "opponent": (lambda x: AzumayaVecEnv(NAME, opponent=x), OptionError),
    "weight": (lambda x: AzumayaVecEnv(NAME, opponent=[("random", x)]), OptionError),
    "indices": (lambda x: learner().env_method("position", indices=x), OptionError),
    "step": (lambda x: begun().step(x), IllegalActionError),
    "observe": (lambda x: begun().observe(x), OptionError),
    "reset options": (lambda x: begun().reset(options=x), OptionError),
    "single seed": (lambda x: SingleAgentEnv(NAME).reset(seed=x), OptionError),
    "single opponent": (lambda x: SingleAgentEnv(NAME, x), OptionError),
    "find_agent": (find_agent, OptionError),
    "analyse": (lambda x: analyse(x, nodes=10), OptionError),
    "key": (lambda x: analyse(Position(NAME), nodes=10, key=x), OptionError),
    "milliseconds": (lambda x: analyse(Position(NAME), milliseconds=x), OptionError),
    "from_json": (GameRecord.from_json, RecordError),
    "replay": (lambda x: list(replay(x)), RecordError),
    "read_records": (lambda x: list(read_records(x)), RecordError),
    "read_record": (lambda x: read_record(x, 1), RecordError),
    "players": (lambda x: RecordGames(make(NAME), "x.jsonl", x), OptionError),
    "record env": (lambda x: RecordGames(x, "x.jsonl"), OptionError),
    "symmetry": (lambda x: Transform(NAME, x), OptionError),
    "renaming": (lambda x: Transform(NAME, None, [x]), OptionError),
    "transform position": (lambda x: random_transform(NAME, 1, x), OptionError),
    "transform group": (lambda x: random_transform(NAME, 1, group=x), OptionError),
}
"""Calls that none of `THINGS` fits, and the error that says so."""
THINGS = (HUGE, -HUGE, [[1], [1, 2]], [HUGE], {"a": HUGE}, np.zeros(3), object())


@pytest.mark.parametrize("thing", THINGS, ids=lambda thing: type(thing).__name__)
@pytest.mark.parametrize("name", REFUSED)
def test_the_named_error_comes(name: str, thing: Any) -> None:
    """No error of Python's or NumPy's takes its place, and the message is one short line."""
    call, error = REFUSED[name]
    if name in {"vector options", "reset options"} and isinstance(thing, dict):
        pytest.skip("a dict may be right")
    with pytest.raises(error) as caught:
        call(thing)
    assert len(str(caught.value)) < 2000


@pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: game.name)
def test_options_of_every_game(game: Any) -> None:
    for option in game.options:
        for thing in (HUGE, [HUGE]):
            with pytest.raises(OptionError, match=option.name):
                Position(game, **{option.name: thing})
        with pytest.raises(MoveNameError):
            Position(game).parse_move(HUGE)  # type: ignore[arg-type]


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


@pytest.mark.parametrize("seed", [-1, True, np.True_, 2**64, "1", 1.0])
def test_bad_seeds_of_one_seat(seed: Any) -> None:
    """As in every other environment; the episode in progress goes on."""
    env = SingleAgentEnv(NAME)
    env.reset(seed=np.int64(3))
    before = str(env.position)
    with pytest.raises(OptionError, match="seed="):
        env.reset(seed=seed)
    assert str(env.position) == before
    env.step(int(np.argmax(env.action_masks())))


@pytest.mark.parametrize("name", ["\ud800", "a\0b", None, b"x"])
def test_paths_that_no_file_has(name: Any) -> None:
    with pytest.raises(RecordError, match="path="):
        list(read_records(name))


@pytest.mark.parametrize("thing", [None, "x", b"x", [], 3.0, float("nan"), np.array([1])])
def test_budgets(thing: Any) -> None:
    start = Position(NAME)
    for name in ("milliseconds", "nodes", "simulations"):
        if (name, thing) == ("milliseconds", 3.0):
            continue
        with pytest.raises(OptionError, match="budget: "):
            analyse(start, **{name: thing})


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
    assert brief([HUGE]) == "a value of type list"
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
    env = begun()
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
