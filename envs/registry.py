"""The games, one line each. Code that runs over all games runs over `GAMES`.

Games from elsewhere are added by `register_game`; they are found by name but are not in `GAMES`.
"""

from __future__ import annotations

import copyreg
import os
import pickle
from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any

from azumaya.envs.errors import OptionError, brief
from azumaya.envs.game import Game
from azumaya.envs.games.abalone.record import ABALONE
from azumaya.envs.games.dominari.record import REVERS, SCORE, VIERER
from azumaya.envs.games.halma.record import HALMA
from azumaya.envs.games.shima.record import HORIKOMI, MATCH, MOYO
from azumaya.envs.games.tiles.record import TILES

GAMES: Mapping[str, Game] = MappingProxyType(
    {game.name: game for game in (MOYO, HORIKOMI, TILES, HALMA, VIERER, REVERS, SCORE, ABALONE)}
)
"""The games by name, without namespace or version."""

DERIVED = (MATCH,)
"""Games derived from others: found by name, but not among `GAMES`."""


MODULES = "AZUMAYA_GAMES"
"""Environment variable: a comma-separated list of modules whose games `find_game` also knows."""

_registered: dict[str, Game] = {}


def register_game(game: Game) -> None:
    """Let `find_game` find a game that is not part of the library.

    It replaces a registered game with the same name.

    Raises:
        OptionError: this is not a `Game`, or the library has a game with this name.
    """
    if not isinstance(game, Game):
        raise OptionError(f"game={brief(game)}: must be a Game, not {type(game).__name__}")
    if any(game.name == own.name and game is not own for own in (*GAMES.values(), *DERIVED)):
        raise OptionError(
            f"game={game.name!r}: the library has a game of this name; give yours another name"
        )
    if game.name not in GAMES:
        _registered[game.name] = game


def find_game(name: str) -> Game:
    """The game with a name: `sudoku_moyo`, `sudoku_moyo_v0` or `azumaya/sudoku_moyo-v0`.

    It also finds the match of two games, as `sudoku_moyo_match` (the name in its records),
    registered games, and those of the modules that the environment variable `AZUMAYA_GAMES` names.

    Raises:
        OptionError: there is no such game, or a module in `AZUMAYA_GAMES` has no game or cannot be
            imported.
    """
    found = _find(name)
    if found is None:
        _import_modules()
        found = _find(name)
    if found is None:
        known = ", ".join((*GAMES, *_registered))
        raise OptionError(f"name={brief(name)}: no such game; there are {known}")
    return found


def all_games() -> dict[str, Game]:
    """The library's games, the registered ones and those of `AZUMAYA_GAMES`, by name.

    Raises:
        OptionError: a module in `AZUMAYA_GAMES` has no game or cannot be imported.
    """
    _import_modules()
    return {**GAMES, **_registered}


def _find(name: str) -> Game | None:
    for game in (*GAMES.values(), *DERIVED, *_registered.values()):
        if isinstance(name, str) and name in (game.name, f"{game.name}_v{game.version}", game.id):
            return game
    return None


def game_of(game: Game | str) -> Game:
    """A game, given as a `Game` or by name; raises `OptionError` like `find_game`."""
    return game if isinstance(game, Game) else find_game(game)


def _import_modules() -> None:
    for module in filter(None, os.environ.get(MODULES, "").split(",")):
        _import_games(module.strip())


def _import_games(module: str) -> None:
    """Import a module and register those of its games that are not known yet."""
    try:
        found = vars(import_module(module)).values()
    except Exception as error:  # whatever the module does when it is imported
        why = str(error) or type(error).__name__
        raise OptionError(f"{MODULES}={module}: cannot be imported: {why}") from error
    games = [value for value in found if isinstance(value, Game)]
    if not games:
        raise OptionError(f"{MODULES}={module}: this module contains no Game")
    for game in games:
        if _find(game.name) is None:
            register_game(game)


def _unpickle(name: str, module: str) -> Game:
    if _find(name) is None:
        _import_games(module)
    return find_game(name)


def _reduce(game: Game) -> tuple[Any, ...]:
    """What a game is unpickled from; raises `PicklingError`."""
    if _find(game.name) not in (game, None):
        raise pickle.PicklingError(
            f"game={game.name!r}: cannot be pickled: games are found by name when they are "
            "unpickled, and another game is registered under this one; give this game a name of "
            "its own and register it with register_game"
        )
    return _unpickle, (game.name, game.rules.play.__module__)


# Games are pickled by name, because their kernels and functions cannot be pickled. A process that
# does not know a registered game imports the module that defines its rules.
copyreg.pickle(Game, _reduce)
