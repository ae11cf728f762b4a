"""What players end or agree on: resigning, a draw, taking a move back, another game."""

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import Any

from azumaya.baselines.play.server.access import (
    AGREED,
    DRAW,
    RESIGNED,
    SWAPPED,
    TAKEBACK,
    Access,
    Offer,
)
from azumaya.baselines.play.server.changes import Changes, check_changes
from azumaya.baselines.play.server.limits import RefusalError
from azumaya.baselines.play.server.store import Kept, Store
from azumaya.baselines.play.server.views import possible_offers
from azumaya.baselines.system.files import shown


class Agreements:
    """What players end or agree on.

    All methods raise `RefusalError` if the asker cannot do it now, and `sqlite3.Error` if it
    cannot be kept; then nothing was changed.

    Args:
        store: where games are kept.
        changes: what changes them.
    """

    def __init__(self, store: Store, changes: Changes) -> None:
        self._store, self._changes = store, changes

    def resign(self, game: Access, changes: Any) -> None:
        """Give a game up: whoever makes the moves of both players does so for the one to move."""
        game.check_player()
        check_changes(game, changes)
        if game.opened.is_over:
            raise RefusalError(409, "the game is over")
        loser = game.table.here.to_move if len(game.seats) > 1 else game.seats[0]
        self._changes.end(game.opened, f"{RESIGNED}{loser}")

    def offer(self, game: Access, changes: Any, what: Any) -> None:
        """Offer the other player something; it is done if they have offered the same.

        Args:
            game: the game.
            changes: its changes as the asker knows them.
            what: one of `possible_offers`.
        """
        game.check_player()
        check_changes(game, changes)
        opened, waiting = game.opened, game.opened.offer
        is_agreed = waiting is not None and waiting.what == what and waiting.seat not in game.seats
        if not is_agreed and what not in possible_offers(game):
            raise RefusalError(409, f"{shown(what)!r} cannot be offered now")
        if is_agreed or len(game.seats) > 1:
            self._agree(game, waiting or Offer(what, opened.table.here.to_move))
        elif waiting != Offer(what, game.seats[0]):
            opened.offer, opened.offers = Offer(what, game.seats[0]), opened.offers + 1

    def _agree(self, game: Access, offer: Offer) -> None:
        """Do what both players want."""
        opened = game.opened
        if offer.what == DRAW:
            self._changes.end(opened, AGREED)
        elif offer.what == TAKEBACK:
            ply = opened.table.last_of([offer.seat])
            if ply is not None:
                self._changes.go_back(opened, ply)
        else:
            self._play_again(game, is_swapped=offer.what == SWAPPED)

    def _play_again(self, game: Access, *, is_swapped: bool) -> None:
        """Begin another game of the same two people, with the same links' secret."""
        opened, kept = game.opened, game.kept
        self._changes.make_room(kept.visitor, is_asker=bool(game.friend))
        made = Kept(
            secrets.token_urlsafe(16), secrets.token_urlsafe(16), kept.visitor, kept.game,
            kept.options, kept.players[::-1] if is_swapped else kept.players, secrets.randbits(31),
            trained=kept.trained, guest=kept.guest, clock=kept.clock and kept.clock.anew(),
            series=kept.series or kept.id,
        )  # fmt: skip
        self._store.add(made)
        name = f"{made.id}.{made.share}"
        self._store.keep_rematch(kept.id, name)
        opened.kept, opened.offer, opened.offers = (
            replace(kept, rematch=name), None, opened.offers + 1,
        )  # fmt: skip

    def decline(self, game: Access, changes: Any) -> None:
        """Decline what the other player has offered, or withdraw an offer."""
        game.check_player()
        check_changes(game, changes)
        if game.opened.offer is not None:
            game.opened.offer, game.opened.offers = None, game.opened.offers + 1
