"""The move that was made beside a better one: both can be told apart, in every game."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from azumaya.envs import GAMES, Position
from azumaya.envs.render.judged import judged
from azumaya.envs.render.palette import BETTER, LAST
from azumaya.envs.render.pointing import Pointed, point_at


@pytest.mark.parametrize("game", GAMES)
def test_both_moves_are_drawn_and_differ_in_more_than_their_colour(game: str) -> None:
    position = Position(game, seed=2)
    first, *_, last = position.legal_moves()
    moves = point_at(position, first), point_at(position, last)
    parts = judged(position.scene(), *moves)
    drawn = "".join(parts)
    ElementTree.fromstring(f"<svg>{drawn}</svg>")
    assert "nan" not in drawn
    for colour in (LAST, BETTER):
        assert drawn.count(f'fill="{colour}"') == 1  # the disc of a cross or a tick
        lines = [part for part in parts if f'stroke="{colour}"' in part]
        dashed = [re.search(r'stroke-dasharray="\d', part) is not None for part in lines]
        assert any(dashed) == (colour == LAST)


def test_two_moves_in_one_cell_stand_beside_each_other() -> None:
    position = Position("score_dominari")
    parts = judged(position.scene(), *(Pointed(f"{n}a1", n, ((0,),)) for n in "34"))
    places = {
        float(x) for part in parts for x in re.findall(r' cx="([\d.]+)" cy="[\d.]+" r="20', part)
    }
    assert len(places) == 2


def test_a_move_without_a_cell_is_not_drawn() -> None:
    position = Position("vierer_dominari")
    scene, button = position.scene(), Pointed("end", "end", ((),))
    assert judged(scene, button, button) == []
    assert judged(scene, button, point_at(position, position.legal_moves()[0]))
