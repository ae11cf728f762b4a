"""Games from outside the library are found by name, in this process and in others."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pettingzoo
import pytest

from azumaya.envs import GAMES, OptionError, Position, find_game, make, raw, register_game, registry
from azumaya.wrappers import SingleAgentEnv
from tests.cases import YARDSTICK

MODULE = YARDSTICK.rules.play.__module__
ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def restored_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Undo after each test what it registered."""
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))


def in_a_new_process(code: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run Python code in a process where no other game is registered."""
    cache = {name: os.environ[name] for name in ("AZUMAYA_CACHE_DIR",) if name in os.environ}
    return subprocess.run(
        [sys.executable, "-c", code],
        input=pickle.dumps(Position(YARDSTICK).play("d")).hex(),
        capture_output=True, text=True, check=False, cwd=ROOT,
        env={"PATH": "", **cache, **environ},
    )  # fmt: skip


def test_a_registered_game_is_found_but_not_listed() -> None:
    assert YARDSTICK.name not in GAMES
    for name in (YARDSTICK.name, f"{YARDSTICK.name}_v0", YARDSTICK.id):
        assert find_game(name) is YARDSTICK
        assert raw(name).game is YARDSTICK
        assert make(name).unwrapped.game is YARDSTICK


def test_all_games_are_listed_with_those_of_modules() -> None:
    done = in_a_new_process(
        "from azumaya.envs.registry import all_games; print(*all_games())", AZUMAYA_GAMES=MODULE
    )
    assert done.stdout.split() == [*GAMES, YARDSTICK.name], done.stderr


def test_a_state_of_odd_size_is_refused() -> None:
    """Checksums and batches take states as words."""
    state = np.dtype([*YARDSTICK.rules.state.descr, ("more", np.int32)])
    with pytest.raises(ValueError, match=r"the state has \d+ bytes; it must have a multiple of 8"):
        replace(YARDSTICK, rules=replace(YARDSTICK.rules, state=state))


def test_pettingzoo_and_gymnasium_find_it() -> None:
    assert pettingzoo.make("aec", YARDSTICK.id).unwrapped.game is YARDSTICK
    single: Any = gymnasium.make(YARDSTICK.id).unwrapped
    assert isinstance(single, SingleAgentEnv)
    single.reset(seed=1)
    assert single.position.game is YARDSTICK
    assert gymnasium.make_vec(YARDSTICK.id, num_envs=2).unwrapped.game is YARDSTICK


def test_bad_records_are_refused() -> None:
    """Only a `Game` with a new name is accepted; refusals change nothing."""
    with pytest.raises(OptionError, match="must be a Game, not str"):
        register_game("chess")  # type: ignore[arg-type]
    shipped = next(iter(GAMES.values()))
    with pytest.raises(OptionError, match="the library has a game of this name"):
        register_game(replace(YARDSTICK, name=shipped.name))
    assert find_game(shipped.name) is shipped
    register_game(shipped)
    assert not set(registry._registered) & set(GAMES)


def test_registering_a_name_again_replaces_the_game() -> None:
    again = replace(YARDSTICK, title="Four in a row")
    register_game(again)
    assert find_game(YARDSTICK.name) is again


def test_copies_of_a_game_are_the_game_itself() -> None:
    """Also of one that is not registered, though one of its name is."""
    other = replace(YARDSTICK, title="Four in a row")
    for game in (YARDSTICK, other):
        assert copy.copy(game) is copy.deepcopy(game) is game
        env = copy.deepcopy(SingleAgentEnv(game))
        assert env.env.game is game


def test_only_what_unpickling_finds_is_pickled() -> None:
    """A game that is not the one registered under its name would become that one."""
    other = replace(YARDSTICK, title="Four in a row")
    for thing in (other, Position(other), SingleAgentEnv(other)):
        with pytest.raises(pickle.PicklingError, match=f"game='{other.name}': cannot be pickled"):
            pickle.dumps(thing)
    assert pickle.loads(pickle.dumps(YARDSTICK)) is YARDSTICK
    register_game(other)
    assert pickle.loads(pickle.dumps(other)) is other
    with pytest.raises(pickle.PicklingError, match="another game is registered"):
        pickle.dumps(YARDSTICK)


def test_unpickling_imports_the_module_of_the_game() -> None:
    done = in_a_new_process(
        "import pickle, sys; p = pickle.loads(bytes.fromhex(sys.stdin.read())); print(p.play('d'))"
    )
    assert done.stdout.strip() == str(Position(YARDSTICK).play("d").play("d")), done.stderr


def test_an_environment_variable_names_modules_with_games() -> None:
    """`AZUMAYA_GAMES` names modules; those missing or without games raise an error."""
    code = f"from azumaya.envs import find_game; print(find_game({YARDSTICK.name!r}).title)"
    assert "no such game" in in_a_new_process(code).stderr
    found = in_a_new_process(code, AZUMAYA_GAMES=f"azumaya.wrappers, {MODULE}")
    assert "azumaya.wrappers: this module contains no Game" in found.stderr
    assert in_a_new_process(code, AZUMAYA_GAMES=f"{MODULE},").stdout.strip() == YARDSTICK.title
    missing = in_a_new_process(code, AZUMAYA_GAMES="not_there")
    assert "AZUMAYA_GAMES=not_there: cannot be imported" in missing.stderr
