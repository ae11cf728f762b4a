"""Pictures of the example scenes are, to the byte, those that were looked at."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest

from azumaya.envs.render import ansi_of, svg_of
from azumaya.envs.scene import Scene
from tests.render.scenes import BLANKS, EMPTY, MARBLES, REGIONS, SCENES, TILES

DRAWN: dict[str, Scene] = {
    **SCENES,
    "candidates": replace(EMPTY, candidates={0: tuple(range(1, 10)), 64: (1, 2), 80: (10,)}),
    "free names": replace(REGIONS, candidates=dict.fromkeys((63, 64, 72), (1, 2))),
    "no regions": replace(REGIONS, regions=(), notes=("",)),
    "a last cell": replace(EMPTY, last=frozenset({40})),
    "two last cells": replace(EMPTY, last=frozenset({8, 0})),
    "two last marbles": replace(MARBLES, last=frozenset({31, 30})),
    "a last block": replace(EMPTY, last=frozenset({0, 1, 2, 9, 10, 11, 18, 19, 20})),
    "many pieces": replace(TILES, trays=(("left", TILES.trays[1][1] * 5), ("none", ()))),
    "long notes": replace(BLANKS, notes=("1 < 2 & 3 " + "many words " * 20, "beside")),
}
SEEN = {
    "wide": "b6ded4e2c92b",
    "tall": "668275294c45",
    "regions": "314f49fe2fbb",
    "blanks": "cd2a7a09aae7",
    "marbles": "e95c3d315e7c",
    "tiles": "29c1c74189cf",
    "candidates": "d37cc53cc77c",
    "free names": "9917d1a03456",
    "no regions": "940b52a9818b",
    "a last cell": "d065972541d4",
    "two last cells": "395d1e290d45",
    "two last marbles": "04b791dd76d6",
    "a last block": "7a0194aeecca",
    "many pieces": "1229f65d54e1",
    "long notes": "f123c1070f10",
}


@pytest.mark.parametrize("name", DRAWN)
def test_pictures_are_those_that_were_looked_at(name: str) -> None:
    """As SVG and as text, with candidates and without. After an intended change look at them."""
    scene, flags = DRAWN[name], (False, True)
    texts = [svg_of(scene, candidates=shown) for shown in flags]
    texts += [
        ansi_of(scene, candidates=shown, colour=colour) for shown in flags for colour in flags
    ]
    assert hashlib.blake2b("".join(texts).encode(), digest_size=6).hexdigest() == SEEN[name]
