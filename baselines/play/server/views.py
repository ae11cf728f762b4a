"""What the page shows of a game to whoever asks for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from azumaya.baselines.play.server import people
from azumaya.baselines.play.server.access import DRAW, TAKEBACK, Access
from azumaya.baselines.play.server.limits import RefusalError
from azumaya.baselines.play.server.seats import FRIEND, PEOPLE
from azumaya.baselines.play.words import in_words, notes, sides
from azumaya.baselines.system.files import is_count
from azumaya.envs.position import Position
from azumaya.envs.render.board import view_of
from azumaya.envs.render.layout import layout_of
from azumaya.envs.render.pointing import why_not

MOST_CELLS = 8
"""Cells that a question may name."""


def view(access: Access, called: Sequence[str]) -> dict[str, Any]:
    """What the page shows of a game.

    Args:
        access: the game.
        called: what the asker calls the players.
    """
    opened, table, kept = access.opened, access.table, access.kept
    here = table.here
    shown = view_of(here, table.last_action, movable=access.may_move)
    return {
        **_noted(access, shown),
        **people.turn(opened, called),
        **_shared(access),
        "id": access.name,
        "share": kept.share,
        "game": here.game.name,
        "title": here.game.title,
        "idea": here.game.words.idea,
        "players": kept.players,
        "options": kept.options,
        "seed": kept.seed,
        "ply": len(table.moves),
        "changes": opened.changes,
        "made": list(table.moves),
        "movers": [position.to_move for position in table.history[:-1]],
        "yours": access.may_move,
        "toMove": here.to_move,
        "thinking": not opened.is_over and table.agent is not None,
        "over": opened.is_over,
        "returns": opened.returns,
        "canUndo": may_undo(access) and table.undone is not None,
        "text": str(here),
    }


def _noted(access: Access, shown: dict[str, Any]) -> dict[str, Any]:
    """The position, with the reason of an end that its rules do not know."""
    noted = {**shown, **notes(shown, sides(access.table.here))}
    reason = people.ended(access.opened)
    if reason:
        noted["notes"] = [reason, *noted["notes"][1:]]
    return noted


def _shared(access: Access) -> dict[str, Any]:
    """What the page needs where several devices show the same game."""
    offer = access.opened.offer
    return {
        "seats": access.seats,
        "follows": access.is_shared,
        "news": access.opened.news,
        "friend": access.friend,
        "joined": access.opened.joined,
        "watch": f"{access.kept.id}.{access.kept.share}",
        "offers": possible_offers(access),
        "offer": offer and {"what": offer.what, "yours": offer.seat in access.seats},
    }


def may_undo(access: Access) -> bool:
    """Whether moves can be taken back without asking anyone."""
    return bool(access.seats) and not access.opened.ending and FRIEND not in access.kept.players


def possible_offers(access: Access) -> list[str]:
    """What the asker can offer the other player now."""
    table = access.table
    if access.opened.is_over or not access.seats or not PEOPLE.issuperset(access.kept.players):
        return []
    offers = [DRAW] if table.here.game.words.draws else []
    if not may_undo(access) and table.last_of(access.seats) is not None:
        offers.append(TAKEBACK)
    return offers


def explained(position: Position, cells: Any, label: Any) -> list[str]:
    """Why pointing at some cells makes no move; raises `RefusalError`."""
    known = len(layout_of(position.scene().board).centres)
    if not isinstance(label, str) or not isinstance(cells, list) or len(cells) > MOST_CELLS:
        raise RefusalError(400, f"cells: up to {MOST_CELLS} cells and a label are needed")
    if not all(is_count(cell) and cell < known for cell in cells):
        raise RefusalError(400, f"cells: whole numbers from 0 to {known - 1} are needed")
    both = sides(position)
    return [in_words(sentence, both) for sentence in why_not(position, cells, label)]
