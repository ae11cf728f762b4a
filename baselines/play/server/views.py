"""What the page shows of a game to whoever asks for it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from azumaya.baselines.play.server import people
from azumaya.baselines.play.server.access import (
    DRAW,
    REMATCH,
    SWAPPED,
    TAKEBACK,
    Access,
    OpenGame,
)
from azumaya.baselines.play.server.limits import RefusalError
from azumaya.baselines.play.server.seats import FRIEND, PEOPLE
from azumaya.baselines.play.words import capital, in_words, notes, sides, worded
from azumaya.baselines.system.files import is_count
from azumaya.envs.position import Position
from azumaya.envs.render.board import view_of, view_of_scene
from azumaya.envs.render.layout import layout_of
from azumaya.envs.render.pointing import why_not

MOST_CELLS = 8
"""Cells that a question may name."""
SCENES = 4
"""Positions of a game whose stones are kept, as the next view needs them again."""


def view(access: Access, called: Sequence[str]) -> dict[str, Any]:
    """What the page shows of a game.

    Args:
        access: the game.
        called: what the asker calls the players.
    """
    opened, table, kept = access.opened, access.table, access.kept
    here = table.here
    return {
        **_noted(access, _drawn(opened, len(table.moves), movable=access.may_move)),
        **people.turn(opened, called),
        **_shared(access),
        "id": access.name,
        "share": kept.share,
        "game": here.game.name,
        "title": here.game.title,
        "idea": here.game.words.idea,
        "players": kept.players,
        "options": kept.options,
        "ply": len(table.moves),
        "changes": opened.changes,
        "made": list(table.moves),
        "movers": [position.to_move for position in table.history[:-1]],
        "yours": access.may_move,
        "toMove": here.to_move,
        "thinking": not opened.is_over and table.agent is not None,
        "over": opened.is_over,
        "playedOut": here.is_over,
        "returns": opened.returns,
        "canUndo": may_undo(access) and table.undone is not None,
        "text": str(here),
    }


def past(access: Access, ply: int) -> dict[str, Any]:
    """An earlier position of a game, to look at.

    Args:
        access: the game.
        ply: the number of moves made before it.

    Raises:
        RefusalError: there were fewer.
    """
    table = access.table
    if ply > len(table.moves):
        raise RefusalError(404, f"the game is at move {len(table.moves)} by now")
    drawn = _drawn(access.opened, ply, movable=False)
    status = f"After move {ply}: {table.moves[ply - 1]}" if ply else "The start"
    return {**drawn, **notes(drawn, sides(table.here)), "status": status}


def _drawn(opened: OpenGame, ply: int, *, movable: bool) -> dict[str, Any]:
    """A position with the cells of the whole turn before it, which may have had several moves."""
    table = opened.table
    here, begun = table.history[ply], table.turn_before(ply)
    scene = here.scene()
    actions = (table.history[each].action(table.moves[each]) for each in range(begun, ply))
    named = [here.action_cells(action) for action in actions]
    scene = replace(scene, last=frozenset().union(*map(scene.touched, named)))
    is_new = any(named) and not scene.last  # the board may have been set up anew
    before = opened.stones.get(begun) or table.history[begun].scene().stones
    opened.stones[ply] = scene.stones
    while len(opened.stones) > SCENES:
        opened.stones.pop(next(iter(opened.stones)))
    left = [
        cell
        for cell, (was, now) in enumerate(zip(before, scene.stones, strict=True))
        if was is not None and now is None and not is_new
    ]
    drawn = view_of_scene(here, scene, movable=movable)
    won = here.game.words.winning(here.state[0])
    return {**drawn, "left": left, "won": won}


def _noted(access: Access, shown: dict[str, Any]) -> dict[str, Any]:
    """The position, with the reason of an end that its rules do not know."""
    side = sides(access.table.here)
    noted = {**shown, **notes(shown, side)}
    if noted["task"] in [f"{capital(each)} to move" for each in side]:
        noted["task"] = ""  # the page says whose turn it is
    reason = people.ended(access.opened)
    if reason:
        noted["task"] = reason
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
        "rematch": access.rematch,
        "clock": _clock(access.opened),
        "offer": offer and {"what": offer.what, "yours": offer.seat in access.seats},
    }


def _clock(opened: OpenGame) -> dict[str, Any] | None:
    """The clock as the page counts on: seconds, and the player whose time runs, if any."""
    clock = opened.clock_at(time.time())
    if clock is None:
        return None
    timed = [name in PEOPLE for name in opened.kept.players]
    return {
        "minutes": clock.total / 60, "increment": clock.increment, "left": clock.left,
        "timed": timed, "running": opened.running,
    }  # fmt: skip


def may_undo(access: Access) -> bool:
    """Whether moves can be taken back without asking anyone."""
    return bool(access.seats) and not access.opened.ending and FRIEND not in access.kept.players


def possible_offers(access: Access) -> list[str]:
    """What the asker can offer the other player now."""
    table = access.table
    if not access.seats or not PEOPLE.issuperset(access.kept.players):
        return []
    if access.opened.is_over:
        return [] if access.rematch or FRIEND not in access.kept.players else [REMATCH, SWAPPED]
    offers = [DRAW] if table.here.game.words.draws else []
    if not may_undo(access) and table.last_of(access.seats) is not None:
        offers.append(TAKEBACK)
    return offers


def explained(position: Position, cells: Any, label: Any) -> list[str]:
    """Why pointing at some cells makes no move; raises `RefusalError`."""
    known = len(layout_of(position.scene().board).centres)
    if not isinstance(label, str) or not isinstance(cells, list):
        raise RefusalError(400, "cells: a list of cells and a label are needed")
    if not 0 < len(cells) <= MOST_CELLS:  # without a cell, all moves would have to be explained
        raise RefusalError(400, f"cells: 1 to {MOST_CELLS} cells are needed")
    if not all(is_count(cell) and cell < known for cell in cells):
        raise RefusalError(400, f"cells: whole numbers from 0 to {known - 1} are needed")
    both = sides(position)
    return [in_words(sentence, both) for sentence in why_not(position, cells, label)]


def views_of_line(start: Position, moves: Sequence[str]) -> list[dict[str, Any]]:
    """The positions after each of some moves, to look at."""
    here, views = start.copy(), []
    for move in moves:
        action = here.action(move)
        shown = view_of(here.play(action), action, movable=False)
        views.append({**worded(shown, sides(here)), "yours": False})
    return views
