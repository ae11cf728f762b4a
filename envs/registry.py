"""The games: one line each. Everything that goes over all games goes over `GAMES`.

Games from elsewhere are added by `register_game`; they are found by name but are not in `GAMES`.
"""

from __future__ import annotations

import copyreg
import os
from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType

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
"""The games by name, without namespace and version."""

DERIVED = (MATCH,)
"""Games derived from others: found by name, but not among `GAMES`."""


MODULES = "AZUMAYA_GAMES"
"""Environment variable: modules, separated by commas, whose games `find_game` knows as well."""

_registered: dict[str, Game] = {}


def register_game(game: Game) -> None:
    """Let a game that does not belong to the library be found by its name.

    A game of the same name that was registered before is replaced.

    Raises:
        OptionError: this is no `Game`, or the library has a game of this name.
    """
    if not isinstance(game, Game):
        raise OptionError(f"game={brief(game)}: a Game is needed, not {type(game).__name__}")
    if any(game.name == own.name and game is not own for own in (*GAMES.values(), *DERIVED)):
        raise OptionError(f"game={game.name!r}: the library has a game of this name")
    if game.name not in GAMES:
        _registered[game.name] = game


def find_game(name: str) -> Game:
    """The game of a name: `sudoku_moyo`, `sudoku_moyo_v0` or `azumaya/sudoku_moyo-v0`.

    The match of two games is found as `sudoku_moyo_match`, as records name it. Registered games
    are found too, and those of the modules that the environment variable `AZUMAYA_GAMES` names.

    Raises:
        OptionError: there is none, or a module in `AZUMAYA_GAMES` has none or cannot be imported.
    """
    found = _find(name)
    if found is None:
        for module in filter(None, os.environ.get(MODULES, "").split(",")):
            _import_games(module.strip())
        found = _find(name)
    if found is None:
        known = ", ".join((*GAMES, *_registered))
        raise OptionError(f"name={brief(name)}: no such game; there are {known}")
    return found


def _find(name: str) -> Game | None:
    for game in (*GAMES.values(), *DERIVED, *_registered.values()):
        if isinstance(name, str) and name in (game.name, f"{game.name}_v{game.version}", game.id):
            return game
    return None


def game_of(game: Game | str) -> Game:
    """A game, given as such or by its name; raises `OptionError` as `find_game`."""
    return game if isinstance(game, Game) else find_game(game)


def _import_games(module: str) -> None:
    """Import a module and register its games that are not registered yet."""
    try:
        found = vars(import_module(module)).values()
    except Exception as error:  # whatever the module does when it is imported
        why = str(error) or type(error).__name__
        raise OptionError(f"{MODULES}={module}: cannot be imported: {why}") from error
    games = [value for value in found if isinstance(value, Game)]
    if not games:
        raise OptionError(f"{MODULES}={module}: this module has no Game")
    for game in games:
        if _find(game.name) is None:
            register_game(game)


def _unpickle(name: str, module: str) -> Game:
    if _find(name) is None:
        _import_games(module)
    return find_game(name)


# A game travels by its name: its kernels and functions cannot be pickled, and need not be. A
# process that does not know a registered game finds it in the module that its rules come from.
copyreg.pickle(Game, lambda game: (_unpickle, (game.name, game.rules.play.__module__)))
