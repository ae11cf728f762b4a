"""The games: one line each. Everything that goes over all games goes over `GAMES`."""

from __future__ import annotations

import copyreg
from collections.abc import Mapping
from types import MappingProxyType

from azumaya.envs.errors import OptionError
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


def find_game(name: str) -> Game:
    """The game of a name: `sudoku_moyo`, `sudoku_moyo_v0` or `azumaya/sudoku_moyo-v0`.

    The match of two games is found as `sudoku_moyo_match`, as records name it.

    Raises:
        OptionError: there is none.
    """
    for game in (*GAMES.values(), *DERIVED):
        if isinstance(name, str) and name in (game.name, f"{game.name}_v{game.version}", game.id):
            return game
    raise OptionError(f"name={name!r}: no such game; there are {', '.join(GAMES)}")


def game_of(game: Game | str) -> Game:
    """A game, given as such or by its name; raises `OptionError` as `find_game`."""
    return game if isinstance(game, Game) else find_game(game)


# A game travels by its name: its kernels and functions cannot be pickled, and need not be.
copyreg.pickle(Game, lambda game: (find_game, (game.name,)))
