"""What people read about a game instead of the library's names: levels, players, turns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from azumaya.baselines.play.server.access import RESIGNED, OpenGame
from azumaya.baselines.play.server.seats import PEOPLE
from azumaya.baselines.play.words import capital, sides
from azumaya.baselines.values.champion import CHAMPION, champion_file
from azumaya.envs import Position
from azumaya.envs.game import Game

TIMES = (20, 100, 500, 2000)
"""Milliseconds of the searching agents that are offered, besides the most allowed if it is more."""
SEARCHING = (("Medium", "uct", 100), ("Hard", "uct", 500), ("Strongest", CHAMPION, 2000))
"""The levels that search: name, kind of search, milliseconds for a move."""


@dataclass(frozen=True)
class Level:
    """A named opponent.

    Attributes:
        name: what people call it.
        player: the agent's name.
        meaning: how it plays, in a sentence.
    """

    name: str
    player: str
    meaning: str


def times(longest: float) -> list[int]:
    """The milliseconds that are offered where a search may take so many."""
    offered = [ms for ms in TIMES if ms <= longest]
    return offered + ([int(longest)] if longest > TIMES[-1] else [])


def levels(game: Game, longest: float) -> list[Level]:
    """The levels at which a game can be played.

    Args:
        game: the game.
        longest: the most milliseconds of a search.
    """
    found = [
        Level("Beginner", "random", "Plays any move that the rules allow."),
        Level("Easy", "greedy", "Looks one move ahead."),
    ]
    for name, wanted, most in SEARCHING:
        allowed = [ms for ms in times(longest) if ms <= most]
        kind = wanted if wanted != CHAMPION or champion_file(game).is_file() else "uct"
        player = f"{kind}:{allowed[-1]}ms" if allowed else ""
        if player and player != found[-1].player:
            trained = ", with what it has learnt from games against itself" * (kind == CHAMPION)
            how = f"Searches {allowed[-1] / 1000:g} seconds for each move{trained}."
            found.append(Level(name, player, how))
    return found


def player_name(player: str, game: Game, longest: float) -> str:
    """What people call a player who is no person, such as `Azumaya (hard)`."""
    for level in levels(game, longest):
        if level.player == player:
            return f"Azumaya ({level.name.lower()})"
    return f"Azumaya ({player})"


def names(players: Sequence[str], game: Game, longest: float, seats: Sequence[int]) -> list[str]:
    """What people call both players.

    Args:
        players: the players' names.
        game: the game.
        longest: the most milliseconds of a search.
        seats: the players whose moves the reader makes.

    Returns:
        An agent's name, `You` for the reader's only seat, nothing for other people.
    """
    return [
        ("You" if [n] == list(seats) else "")
        if name in PEOPLE
        else player_name(name, game, longest)
        for n, name in enumerate(players)
    ]


def turn(opened: OpenGame, called: Sequence[str]) -> dict[str, Any]:
    """Whose turn it is or who has won, as the page shows it.

    Args:
        opened: the game.
        called: what people call the players.

    Returns:
        The view's `status`, `called` and `sides`.
    """
    table, here = opened.table, opened.table.here
    side, shown = sides(here), _shown(here, called)
    mover = here.to_move
    if opened.is_over:
        status = outcome(here, called, opened.returns)
    elif table.agent is not None:
        status = f"{shown[mover]} is thinking"
    else:
        status = f"Your turn ({side[mover]})" if called[mover] else f"{shown[mover]} to move"
    return {"status": status, "called": shown, "sides": side}


def _shown(position: Position, called: Sequence[str]) -> list[str]:
    """What people call both players; two people are called by their sides."""
    return [name or capital(side) for name, side in zip(called, sides(position), strict=True)]


def ended(opened: OpenGame) -> str:
    """How the players have ended a game, in a sentence; empty if they have not."""
    loser = opened.loser
    if loser is None:
        return "Both players agreed on a draw." if opened.ending else ""
    what = "resigned" if opened.ending.startswith(RESIGNED) else "ran out of time"
    return f"{capital(sides(opened.table.here)[loser])} {what}."


def outcome(position: Position, called: Sequence[str], returns: Sequence[float]) -> str:
    """Who has won a game that is over, by its returns."""
    shown = _shown(position, called)
    if returns[0] == returns[1]:
        return "A draw"
    winner = shown[int(returns[1] > returns[0])]
    if "You" in shown:
        return "You win" if winner == "You" else "You lose"
    return f"{winner} wins"
