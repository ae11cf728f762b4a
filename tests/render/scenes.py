"""Example scenes for every board, and helpers that read pictures."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace

from azumaya.envs.geometry.grid import Rectangle
from azumaya.envs.scene import Scene, Stone

SVG = "{http://www.w3.org/2000/svg}"


def stones(cells: int, **laid: Stone) -> tuple[Stone | None, ...]:
    """Stones by cell: only those given as `c7=Stone(...)`, `c` and the number of the cell."""
    return tuple(laid.get(f"c{cell}") for cell in range(cells))


def _quarters() -> tuple[str, ...]:
    """Grounds of 81 cells: rows of light, dark, neutral and free."""
    names = ("light", "light", "light", "dark", "dark", "neutral", "neutral", "free", "free")
    return tuple(name for name in names for _ in range(9))


REGIONS = Scene(
    board="sudoku81",
    grounds=_quarters(),
    stones=stones(
        81,
        c0=Stone("light", "5", given=True),
        c1=Stone("light", "7"),
        c30=Stone("dark", "2", given=True),
        c31=Stone("dark", "9"),
        c50=Stone("neutral", "3"),
        c70=Stone("free", "4", given=True),
    ),
    dead=frozenset({10, 40}),
    candidates={11: (1, 2, 9), 12: (4,)},
    last=frozenset({1}),
    notes=("player_0 (light) to move",),
    regions=tuple(cell // 9 + 1 for cell in range(81)),
)
BLANKS = Scene(
    board="dominari36",
    grounds=("plain",) * 36,
    stones=stones(
        36, c14=Stone("white", "3"), c15=Stone("black", "6"), c20=Stone("black"), c21=Stone("white")
    ),
    dead=frozenset({0}),
    candidates={35: (1, 6)},
    last=frozenset({20, 15}),
    notes=("player_1 (black) to move", "white 3, black 2"),
    trays=(("blanks", (Stone("white"),) * 3), ("set aside", ())),
)
MARBLES = Scene(
    board="hex61",
    grounds=("plain",) * 61,
    stones=stones(61, c0=Stone("white"), c30=Stone("black"), c60=Stone("black")),
    last=frozenset({30}),
    notes=("player_0 (black) to move",),
    trays=(("black out", (Stone("black"),) * 2), ("white out", (Stone("white"),))),
)
TILES = Scene(
    board="sudoku81",
    grounds=("plain",) * 81,
    stones=stones(81, c3=Stone("tile", "8", given=True), c4=Stone("tile", "1")),
    notes=("player_0 to move", "12 points", "9 points"),
    trays=(("drawn", (Stone("tile", "7"),)), ("left", (Stone("tile", "5"),) * 62)),
)
WIDE = Scene(
    board=Rectangle(3, 5),
    grounds=("plain",) * 15,
    stones=stones(15, c0=Stone("black", "x"), c14=Stone("white", "o")),
    last=frozenset({4, 9}),
    notes=("player_0 (x) to move",),
)
TALL = replace(WIDE, board=Rectangle(5, 3))
SCENES = {
    "wide": WIDE,
    "tall": TALL,
    "regions": REGIONS,
    "blanks": BLANKS,
    "marbles": MARBLES,
    "tiles": TILES,
}
EMPTY = replace(TILES, stones=(None,) * 81, notes=(), trays=())


def root(svg: str) -> ET.Element:
    """The picture as an element tree."""
    return ET.fromstring(svg)


def inside(svg: str, name: str) -> list[ET.Element]:
    """The elements inside the group of a cell."""
    groups = [g for g in root(svg).iter(f"{SVG}g") if g.get("data-cell") == name]
    assert len(groups) == 1, name
    return list(groups[0])


def shapes(elements: list[ET.Element]) -> set[str]:
    """The tags of elements, without their namespace."""
    return {element.tag.removeprefix(SVG) for element in elements}


def middles(elements: list[ET.Element], fill: str) -> list[tuple[float, float]]:
    """The centres of the circles and squares of a colour."""
    found = []
    for element in elements:
        if element.get("fill") != fill:
            continue
        if element.tag == f"{SVG}circle":
            found.append((float(element.attrib["cx"]), float(element.attrib["cy"])))
        elif element.tag == f"{SVG}rect":
            half = float(element.attrib["width"]) / 2
            found.append((float(element.attrib["x"]) + half, float(element.attrib["y"]) + half))
    return found
