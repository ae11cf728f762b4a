"""A game as a visitor wishes it, read and checked."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from azumaya.baselines.arena.entrants import HUMAN, Entrant, trained_options
from azumaya.baselines.play.server.access import digest, friend_key
from azumaya.baselines.play.server.choices import Choices, checked_texts, option_values
from azumaya.baselines.play.server.clock import read_clock
from azumaya.baselines.play.server.limits import RefusalError
from azumaya.baselines.play.server.seats import FRIEND
from azumaya.baselines.play.server.store import Kept
from azumaya.baselines.system.files import is_count, shown
from azumaya.envs.game import Game
from azumaya.envs.position import MAX_SEED


def read_wish(choices: Choices, visitor: str, wish: Any) -> tuple[Kept, list[Entrant]]:
    """The game that a visitor wishes, and its players.

    Args:
        choices: what may be chosen.
        visitor: the visitor's token.
        wish: `game`, and optionally `options`, `first`, `second`, `seed` and `clock`.

    Raises:
        ValueError: the wish cannot be met.
    """
    if not isinstance(wish, Mapping):
        raise RefusalError(400, "a JSON object is needed")
    game = choices.game(wish.get("game"))
    first, second = (choices.player(wish.get(side, HUMAN)) for side in ("first", "second"))
    names = (first.name, second.name)
    for player in (first, second):
        check_game(player, game)
    if HUMAN not in names:
        raise RefusalError(400, f"first, second: one of them must be {HUMAN}")
    seed = wish.get("seed")
    if seed is None:
        seed = secrets.randbits(31)
    if not is_count(seed) or seed > MAX_SEED >> 1:
        most = MAX_SEED >> 1
        raise RefusalError(400, f"seed={shown(seed)}: a whole number from 0 to {most} is needed")
    texts = checked_texts(game, wish.get("options", {}))
    name = secrets.token_urlsafe(16)
    kept = Kept(
        name, secrets.token_urlsafe(16), digest(visitor), game.name, texts, names, seed,
        trained=trained_options(game, (first, second), option_values(game, texts)),
        clock=read_clock(wish.get("clock")),
        guest=digest(friend_key(name, visitor)) if FRIEND in names else "",
    )  # fmt: skip
    return kept, [first, second]


def check_game(player: Entrant, game: Game) -> None:
    """Raises `RefusalError` if a player plays another game only."""
    if player.game is not None and player.game is not game:
        raise RefusalError(400, f"player {player.name}: plays {player.game.name} only")
