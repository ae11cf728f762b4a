"""The games: one line each. Everything that goes over all games goes over `GAMES`."""

from __future__ import annotations

import copyreg
from collections.abc import Mapping
from types import MappingProxyType

from azumaya.envs.errors import OptionError
from azumaya.envs.game import Game
from azumaya.envs.games.abalone import rules as abalone
from azumaya.envs.games.dominari import revers as revers_dominari
from azumaya.envs.games.dominari import score as score_dominari
from azumaya.envs.games.dominari import vierer as vierer_dominari
from azumaya.envs.games.halma import rules as halma_dominari
from azumaya.envs.games.shima import horikomi as sudoku_horikomi
from azumaya.envs.games.shima import match as sudoku_moyo_match
from azumaya.envs.games.shima import moyo as sudoku_moyo
from azumaya.envs.games.tiles import rules as sudoku_tiles

GAMES: Mapping[str, Game] = MappingProxyType(
    {
        game.name: game
        for game in (
            sudoku_moyo.GAME,
            sudoku_horikomi.GAME,
            sudoku_tiles.GAME,
            halma_dominari.GAME,
            vierer_dominari.GAME,
            revers_dominari.GAME,
            score_dominari.GAME,
            abalone.GAME,
        )
    }
)
"""The games by name, without namespace and version."""

DERIVED = (sudoku_moyo_match.GAME,)
"""Games made of others, which are found by name but belong to no list of games."""


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
