"""The games, one line each. Code that runs over all games runs over `GAMES`.

Games from elsewhere are added by `register_game`; they are found by name but are not in `GAMES`.
"""

from __future__ import annotations

import copyreg
import os
import pickle
import re
import sys
from collections.abc import Mapping
from types import MappingProxyType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from azumaya.envs.errors import OptionError, brief, did_you_mean
from azumaya.envs.extras import import_own
from azumaya.envs.game import Game
from azumaya.envs.games.abalone.game import ABALONE
from azumaya.envs.games.halma_dominari.game import HALMA
from azumaya.envs.games.revers_dominari.game import REVERS
from azumaya.envs.games.score_dominari.game import SCORE
from azumaya.envs.games.sudoku_horikomi.game import HORIKOMI
from azumaya.envs.games.sudoku_moyo.game import MOYO
from azumaya.envs.games.sudoku_moyo_match.game import MATCH
from azumaya.envs.games.sudoku_tiles.game import TILES
from azumaya.envs.games.vierer_dominari.game import VIERER

GAMES: Mapping[str, Game] = MappingProxyType(
    {game.name: game for game in (MOYO, HORIKOMI, TILES, HALMA, VIERER, REVERS, SCORE, ABALONE)}
)
"""The games by name, without namespace or version."""

DERIVED = (MATCH,)
"""Games derived from others: found by name, but not among `GAMES`."""


MODULES = "AZUMAYA_GAMES"
"""Environment variable: a comma-separated list of modules whose games `find_game` also knows.

They may be in the current folder.
"""
OWN_GAMES = f"a game of your own is found if {MODULES} names its module"
"""The end of a message about an unknown game."""

_NAME = re.compile(r"[A-Za-z][\w-]*", re.ASCII)
"""What names may be: ids, command lines and the names of files contain them."""

_registered: dict[str, Game] = {}
_registrars: WeakKeyDictionary[Game, str] = WeakKeyDictionary()
"""The modules that registered games."""
_modules: WeakKeyDictionary[Game, str] = WeakKeyDictionary()
"""The modules that unpickling imports, once found: looking through all modules takes a while."""


def register_game(game: Game, registrar: str | None = None) -> None:
    """Let `find_game` find a game that is not part of the library.

    It replaces a registered game with the same name.

    Args:
        game: the game.
        registrar: the name of the module that registers it, which unpickling imports if no module
            has the game as an attribute.

    Raises:
        OptionError: this is not a `Game`, its name or version cannot be part of an id, or another
            game is found by this name.
    """
    if not isinstance(game, Game):
        raise OptionError(f"game={brief(game)}: must be a Game, not {type(game).__name__}")
    _check_names(game)
    if game.name not in GAMES:
        _registered[game.name] = game
        _modules.pop(game, None)
        if registrar is not None:
            _registrars[game] = registrar


def _check_names(game: Game) -> None:
    """Refuse a game whose names are malformed, or are those of another game."""
    if not isinstance(game.name, str) or not _NAME.fullmatch(game.name):
        raise OptionError(
            f"game: its name is {brief(game.name)}; must be a letter, and perhaps more letters, "
            "digits, _ and -, as in my_game"
        )
    if type(game.version) is not int or game.version < 0:
        raise OptionError(
            f"game={game.name!r}: its version is {brief(game.version)}; must be a whole number "
            "from 0"
        )
    if any(game.name == own.name and game is not own for own in (*GAMES.values(), *DERIVED)):
        raise OptionError(
            f"game={game.name!r}: the library has a game of this name; give yours another name"
        )
    for name in _names_of(game):
        other = _find(name)
        if other is not None and other.name != game.name:
            raise OptionError(
                f"game={game.name!r}: {name!r} already stands for the game {other.name!r}; give "
                "yours another name"
            )


def find_game(name: Game | str) -> Game:
    """The game with a name: `sudoku_moyo`, `sudoku_moyo_v0` or `azumaya/sudoku_moyo-v0`.

    A `Game` is returned as it is. Also found are the match of two games, as `sudoku_moyo_match`
    (the name in its records), registered games, and those of the modules that the environment
    variable `AZUMAYA_GAMES` names, which may be in the current folder.

    Raises:
        OptionError: there is no such game, or a module in `AZUMAYA_GAMES` has no game or cannot be
            imported.
    """
    if isinstance(name, Game):
        return name
    found = _find(name)
    if found is None:
        _import_modules()
        found = _find(name)
    if found is None:
        known = (*GAMES, *_registered)
        hint = did_you_mean(name, known)
        raise OptionError(f"name={brief(name)}: no such game; there are {', '.join(known)}{hint}")
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
        if isinstance(name, str) and name in _names_of(game):
            return game
    return None


def _names_of(game: Game) -> tuple[str, str, str]:
    """All that a game is found by."""
    return game.name, f"{game.name}_v{game.version}", game.id


def _import_modules() -> None:
    for name in filter(None, os.environ.get(MODULES, "").split(",")):
        module = name.strip()
        if not _import_games(module, f"{MODULES}={module}:"):
            raise OptionError(f"{MODULES}={module}: this module contains no Game")


def _import_games(module: str, place: str) -> bool:
    """Import a module and register those of its games that are not known yet.

    Args:
        module: its name.
        place: the words an error message begins with.

    Returns:
        Whether it has games, or has registered games itself.

    Raises:
        OptionError: it cannot be imported, or a game of it cannot be registered.
    """
    try:
        found = vars(import_own(module)).values()
    except Exception as error:  # whatever the module does when it is imported
        why = str(error) or type(error).__name__
        raise OptionError(f"{place} cannot be imported: {why}") from error
    games = [value for value in found if isinstance(value, Game)]
    for game in games:
        known = _find(game.name)
        if known is None or known.name != game.name:
            register_game(game, module)
    return bool(games) or module in _registrars.values()


# ---- pickling ----


def _unpickle(name: str, module: str) -> Game:
    if _find(name) is None:
        _import_games(module, f"game={name!r}: cannot be unpickled: its module {module}")
        if _find(name) is None:
            _import_modules()
    game = _find(name)
    if game is None:
        raise OptionError(
            f"game={name!r}: cannot be unpickled: the module {module} has been imported, but the "
            "game is neither an attribute of it nor registered by it; make it one, or register it "
            "with register_game before unpickling"
        )
    return game


def _reduce(game: Game) -> tuple[Any, ...]:
    """What a game is unpickled from; raises `PicklingError`."""
    if _find(game.name) not in (game, None):
        raise pickle.PicklingError(
            f"game={game.name!r}: cannot be pickled: games are found by name when they are "
            "unpickled, and another game is registered under this one; give this game a name of "
            "its own and register it with register_game"
        )
    return _unpickle, (game.name, _module_of(game))


def _module_of(game: Game) -> str:
    """The module to import where a game is not known.

    It need not be the one with the rules: a game may take them from other modules.
    """
    if game not in _modules:
        _modules[game] = _look_for_module(game)
    module = _modules[game]
    return _MAIN[0] if module in _MAIN else module


def _look_for_module(game: Game) -> str:
    usual = game.rules.play.__module__
    if game.name in GAMES or _has(sys.modules.get(usual), game):
        return usual
    # What a module imports comes after it. Elsewhere __main__ is another module, so it comes last.
    for name, module in reversed(sys.modules.copy().items()):
        if name not in _MAIN and _has(module, game):
            return name
    registrar = _registrars.get(game)
    return registrar or (_MAIN[0] if _has(sys.modules.get(_MAIN[0]), game) else usual)


_MAIN = ("__main__", "__mp_main__")
"""The script; a process that multiprocessing has started knows it by both names."""


def _has(module: Any, game: Game) -> bool:
    """Whether a module has a game as an attribute."""
    if not isinstance(module, ModuleType):
        return False
    # `vars` would import what a module imports lazily, with all that follows from it.
    attributes: dict[str, Any] = object.__getattribute__(module, "__dict__")
    return any(value is game for value in [*attributes.values()])


# Games are pickled by name, because their kernels and functions cannot be pickled. A process that
# does not know a registered game imports the module that has it.
copyreg.pickle(Game, _reduce)
