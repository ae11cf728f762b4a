"""Games from outside the library are found by name, in this process and in others."""

from __future__ import annotations

import copy
import os
import pickle
import re
import subprocess
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import gymnasium
import numpy as np
import pettingzoo
import pytest
from pettingzoo.env_registry.registration import aec_registry

from azumaya.envs import (
    GAMES,
    OptionError,
    Position,
    find_game,
    make,
    make_vec,
    raw,
    register_game,
    registry,
)
from azumaya.envs.adapters.spaces import observation_box
from azumaya.envs.game import Plane, number_bytes, numbered_planes
from azumaya.wrappers import SingleAgentEnv
from tests.cases import YARDSTICK
from tests.library import ROOT
from tests.processes import python

MODULE = YARDSTICK.rules.play.__module__
SHIPPED = next(iter(GAMES.values()))


@pytest.fixture(autouse=True)
def restored_registries() -> Iterator[None]:
    """Undo after each test what it registered, also with Gymnasium and PettingZoo."""
    with patch.dict(registry._registered), patch.dict(gymnasium.registry), patch.dict(aec_registry):
        yield


def in_a_new_process(code: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run Python code in a process where no other game is registered."""
    cache = {name: os.environ[name] for name in ("AZUMAYA_CACHE_DIR",) if name in os.environ}
    pickled = pickle.dumps(Position(YARDSTICK).play("d")).hex()
    return python("-c", code, input=pickled, cwd=ROOT, env={"PATH": "", **cache, **environ})


def test_a_registered_game_is_found_but_not_listed() -> None:
    assert YARDSTICK.name not in GAMES
    for name in (YARDSTICK.name, f"{YARDSTICK.name}_v0", YARDSTICK.id):
        assert find_game(name) is YARDSTICK
        assert raw(name).game is YARDSTICK
        assert make(name).unwrapped.game is YARDSTICK


def test_a_game_itself_is_taken_as_well_and_is_short_in_words() -> None:
    for game in (YARDSTICK, *GAMES.values()):
        assert raw(game).game is make(game).unwrapped.game is make_vec(game).game is game
        assert repr(game) == f"<Game {game.id}>"


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


def test_a_misaligned_state_is_refused() -> None:
    """A CPU reads a word anywhere, a GPU only at multiples of its size."""
    state = np.dtype([("more", np.int32), *YARDSTICK.rules.state.descr, ("last", np.int32)])
    message = r"'discs' begins at byte 4 of the state; with items of 8 bytes .* multiple of 8"
    with pytest.raises(ValueError, match=message):
        replace(YARDSTICK, rules=replace(YARDSTICK.rules, state=state))
    small = [(name, np.int32) for name in ("more", "last")]
    state = np.dtype([*YARDSTICK.rules.state.descr, *small])
    assert replace(YARDSTICK, rules=replace(YARDSTICK.rules, state=state)).rules.state is state


def test_the_bytes_of_number_planes_are_found_by_name() -> None:
    planes = (
        Plane("own", "", "cells"), *numbered_planes("left", "", 2, "number"),
        Plane("plies / 128", "", "number"),
    )  # fmt: skip
    at = number_bytes(planes, 65)
    assert (at.left_1, at.left_2, at.plies_128) == (16, 17, 18)


def test_planes_are_int8() -> None:
    seen = YARDSTICK.observation
    with pytest.raises(ValueError, match=r"'score' has high=128; .* at most 127; split .* two pl"):
        replace(seen, planes=(*seen.planes, Plane("score", "points", "number", 128)))
    most = replace(seen, planes=(*seen.planes, Plane("score", "points", "number", 127)))
    box = observation_box(replace(YARDSTICK, observation=most))
    assert (box.high[-1] == 127).all()


def test_the_id_of_a_version_never_makes_another_version() -> None:
    first = replace(YARDSTICK, name="mine")
    register_game(first)
    register_game(replace(first, version=1))
    assert gymnasium.make("azumaya/mine-v1").unwrapped.env.game.version == 1
    assert pettingzoo.make("aec", "azumaya/mine-v1").unwrapped.game.version == 1
    for call in (gymnasium.make, gymnasium.make_vec, partial(pettingzoo.make, "aec")):
        with pytest.raises(OptionError, match="'azumaya/mine-v0': no such game"):
            call("azumaya/mine-v0")


def test_bad_records_are_refused() -> None:
    """Only a `Game` with a new name is accepted; refusals change nothing."""
    with pytest.raises(OptionError, match="must be a Game, not str"):
        register_game("chess")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="the library has a game of this name"):
        register_game(replace(YARDSTICK, name=SHIPPED.name))
    assert find_game(SHIPPED.name) is SHIPPED
    register_game(SHIPPED)
    assert not set(registry._registered) & set(GAMES)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "Connect 4"}, "its name is 'Connect 4'; must be a letter, and perhaps more"),
        ({"name": "my game!"}, "its name is 'my game!'"),
        ({"name": "a/b"}, "its name is 'a/b'"),
        ({"name": ""}, "its name is ''"),
        ({"name": "4_in_a_row"}, "its name is '4_in_a_row'"),
        ({"name": "königin"}, "its name is 'königin'"),
        ({"name": "nim\n"}, "its name is"),
        ({"name": None}, "its name is None"),
        (
            {"name": f"{SHIPPED.name}_v0"},
            f"'{SHIPPED.name}_v0' already stands for the game {SHIPPED.name!r}",
        ),
        ({"name": registry.DERIVED[0].name}, "the library has a game of this name"),
        ({"name": "nim", "version": -1}, "'nim': its version is -1; must be a whole number from 0"),
        ({"name": "nim", "version": "1"}, "'nim': its version is '1'"),
    ],
)
def test_names_that_nothing_could_be_found_by_are_refused(
    changes: dict[str, Any], message: str
) -> None:
    """Before anything is registered anywhere."""
    before = dict(registry._registered), set(gymnasium.registry), set(aec_registry)
    with pytest.raises(OptionError, match=re.escape(message)):
        register_game(replace(YARDSTICK, **changes))
    assert (dict(registry._registered), set(gymnasium.registry), set(aec_registry)) == before


def test_names_with_a_version_belong_to_one_game() -> None:
    """Whichever of the two games is registered first."""
    for first, second in (("nim", "nim_v3"), ("nim_v3", "nim")):
        registry._registered.clear()
        registry.register_game(replace(YARDSTICK, name=first, version=3))
        with pytest.raises(OptionError, match="'nim_v3' already stands for the game"):
            registry.register_game(replace(YARDSTICK, name=second, version=3))
        assert [*registry._registered] == [first]
    registry.register_game(replace(YARDSTICK, name="Nim-2_b"))
    assert find_game("azumaya/Nim-2_b-v0").name == "Nim-2_b"


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


GAMES_OF_ONES_OWN = {
    "rules.py": """
        from dataclasses import replace
        from azumaya.benchmarks.yardstick.connect_four import GAME as YARDSTICK
        def named(name):
            return replace(YARDSTICK, name=name)
    """,
    "attribute.py": "from rules import named\nGAME = named('own')",
    "registering.py": """
        from azumaya.envs import register_game
        from rules import named
        register_game(named('own'))
    """,
    "registering_later.py": """
        from azumaya.envs import register_game
        from rules import named
        def later():
            register_game(named('own'))
    """,
    "nothing.py": "",
}
"""Modules with a game whose kernels are those of another module."""
PICKLED = """
import pickle
import {module}{then}
from azumaya.envs import Position, find_game
game = getattr({module}, "GAME", None) or find_game("own")
print(pickle.dumps(Position(game).play("d")).hex())
"""
UNPICKLED = """
import pickle, sys
position = pickle.loads(bytes.fromhex(sys.argv[1]))
print(position.game.name, position.play("d"))
"""


@pytest.fixture
def own_games(tmp_path: Path) -> Path:
    for name, text in GAMES_OF_ONES_OWN.items():
        (tmp_path / name).write_text(textwrap.dedent(text))
    return tmp_path


def run_beside(folder: Path, *arguments: str, **environ: str) -> tuple[str, str]:
    """What a new Python process writes that can import the modules of a folder."""
    alone = {"PATH": "", "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(folder), **environ}
    done = python(*arguments, cwd=folder, env=alone)
    return done.stdout.strip(), done.stderr


@pytest.mark.parametrize(
    "module", ["registering", pytest.param("attribute", marks=pytest.mark.slow)]
)
def test_unpickling_imports_the_module_that_has_or_registers_the_game(
    own_games: Path, module: str
) -> None:
    """Not the one with its kernels, which may be another."""
    pickled, errors = run_beside(own_games, "-c", PICKLED.format(module=module, then=""))
    said, more = run_beside(own_games, "-c", UNPICKLED, pickled)
    assert said == f"own {Position(YARDSTICK).play('d').play('d')}", errors + more


def test_a_game_that_no_module_has_is_said_not_to_be_there(own_games: Path) -> None:
    """Nobody has set `AZUMAYA_GAMES`, so the message does not name it."""
    code = PICKLED.format(module="registering_later", then="; registering_later.later()")
    pickled, errors = run_beside(own_games, "-c", code)
    assert pickled, errors
    said, why = run_beside(own_games, "-c", UNPICKLED, pickled)
    assert not said
    assert "game='own': cannot be unpickled: the module registering_later has been imported" in why
    assert "AZUMAYA_GAMES" not in why
    (own_games / "registering_later.py").unlink()
    _, why = run_beside(own_games, "-c", UNPICKLED, pickled)
    assert "cannot be unpickled: its module registering_later cannot be imported" in why


def test_games_of_a_script_reach_the_processes_it_starts(own_games: Path) -> None:
    """A process started by multiprocessing knows the script as `__main__`, too."""
    script = own_games / "script.py"
    code = """
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import get_context
        from azumaya.envs import Position, register_game
        from rules import named
        GAME = named("own")
        def there_and_back(position):
            return position.play("d")
        if __name__ == "__main__":
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                print(pool.submit(there_and_back, Position(GAME)).result())
    """
    script.write_text(textwrap.dedent(code))
    said, errors = run_beside(own_games, str(script))
    assert said == str(Position(YARDSTICK).play("d")), errors


def test_modules_may_register_their_games_themselves(own_games: Path) -> None:
    """A module of `AZUMAYA_GAMES` need not have them as attributes."""
    code = "from azumaya.envs import find_game; print(find_game('own').name, find_game('own').id)"
    for module in ("registering", "attribute"):
        said, errors = run_beside(own_games, "-c", code, AZUMAYA_GAMES=module)
        assert said == "own azumaya/own-v0", errors
    said, errors = run_beside(own_games, "-c", code, AZUMAYA_GAMES="nothing, attribute")
    assert "AZUMAYA_GAMES=nothing: this module contains no Game" in errors


def test_modules_with_games_may_be_in_the_current_folder(own_games: Path) -> None:
    """As those with agents may; `-P` leaves this to the library, as the command `azumaya` does."""
    (own_games / "agents.py").write_text("from azumaya.baselines.agents import RandomAgent")
    agent = "from azumaya.baselines import find_agent; find_agent('agents:RandomAgent')"
    game = "from azumaya.envs import find_game; print(find_game('own').id)"
    for code in (agent + "\n" + game, game + "\n" + agent):
        said, errors = run_beside(
            own_games, "-P", "-c", code, AZUMAYA_GAMES="attribute", PYTHONPATH=""
        )
        assert said == "azumaya/own-v0", errors


def test_an_environment_variable_names_modules_with_games() -> None:
    """`AZUMAYA_GAMES` names modules; those missing or without games raise an error."""
    code = f"from azumaya.envs import find_game; print(find_game({YARDSTICK.name!r}).title)"
    assert "no such game" in in_a_new_process(code).stderr
    assert in_a_new_process(code, AZUMAYA_GAMES=f"{MODULE},").stdout.strip() == YARDSTICK.title
    missing = in_a_new_process(code, AZUMAYA_GAMES="not_there")
    assert "AZUMAYA_GAMES=not_there: cannot be imported" in missing.stderr
