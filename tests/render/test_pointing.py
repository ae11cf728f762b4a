"""How a person points at moves: every legal move can be made, and no other by the same clicks."""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import replace

import pytest

from azumaya.envs import Position
from azumaya.envs.render.board import BOARD_SCRIPTS, picture_of, view_of, web_file, web_script
from azumaya.envs.render.layout import layout_of
from azumaya.envs.render.palette import GROUNDS, PAPER
from azumaya.envs.render.pointing import Pointed, describe, pointed, why_not
from azumaya.envs.scene import Stone
from tests.cases import CASES, DERIVED_CASES, SHAPES, Case
from tests.render.test_palette import READABLE, contrast

POSITIONS = 12
"""Positions of each case, spread over a game."""


def some_positions(case: Case) -> list[Position]:
    """Positions along a random game, more of them where it begins."""
    rng, here, found = random.Random(case.label), case.position(), []
    for ply in range(60):
        if here.is_over:
            break
        if ply < POSITIONS // 2 or ply % 9 == 0:
            found.append(here.copy())
        here.play(rng.choice(here.legal_actions()))
    return found


@pytest.mark.parametrize("case", [*SHAPES, *DERIVED_CASES], ids=lambda case: case.label)
def test_every_legal_move_can_be_pointed_at(case: Case) -> None:
    """Cells and label together name one move, or the move has a button of its own."""
    for position in some_positions(case):
        scene = position.scene()
        moves = pointed(position, scene)
        assert [move.name for move in moves] == position.legal_moves()
        cells = len(layout_of(scene.board).centres)
        ways = Counter((path, move.label) for move in moves for path in move.paths)
        for move in moves:
            assert move.paths
            assert all(0 <= cell < cells for path in move.paths for cell in path)
            assert any(not path or ways[path, move.label] == 1 for path in move.paths), move


def of(position: Position, name: str) -> Pointed:
    return next(move for move in pointed(position, position.scene()) if move.name == name)


def squares(position: Position, move: Pointed) -> list[list[str]]:
    names = layout_of(position.scene().board).names
    return [[names[cell] for cell in path] for path in move.paths]


def test_numbers_are_labels() -> None:
    position = Position("vierer_dominari")
    assert of(position, "3c4").label == "3"
    assert squares(position, of(position, "3c4")) == [["c4"]]


def test_stones_that_move_are_pointed_at_where_they_are() -> None:
    position = Position("halma_dominari", setup=("123456", "123456"))
    name = position.legal_moves()[0]
    start, goal = squares(position, of(position, name))[0]
    scene = position.scene()
    stone = scene.stones[layout_of(scene.board).names.index(start)]
    assert stone is not None
    assert (stone.label, goal) == (name[0], name[1:])
    assert squares(position, of(position, name))[1] == [goal]


def test_a_line_of_marbles_goes_where_its_front_lands() -> None:
    position = Position("abalone")
    assert squares(position, of(position, "a1b2")) == [["a1", "d4"], ["a1", "b2"]]
    assert squares(position, of(position, "c3c5d3")) == [["c3", "c5", "d3"]]


def test_a_stone_that_an_undone_turn_takes_away_does_not_move() -> None:
    """The blank on d3 would complete a four after the wrong `5b3`, so the 5 disappears instead."""
    text = "....../....../..2cea/..5.4./..4a../...... w"
    position = Position("vierer_dominari", position=text, referee=False).play("5b3")
    assert squares(position, of(position, "wd3")) == [["d3"]]


def test_a_stone_that_leaves_the_board_is_pointed_at_where_it_is() -> None:
    position = Position("halma_dominari", position="a....5/....../....../....../....../.....b w")
    assert squares(position, of(position, "5off"))[0] == ["f6"]


def test_regions_and_columns_take_any_of_their_cells() -> None:
    draft = Position("sudoku_moyo", territory="draft")
    assert len(squares(draft, of(draft, "r1"))) == 9
    columns = Position("connect_four")
    assert squares(columns, of(columns, "a")) == [[f"a{rank}"] for rank in range(6, 0, -1)]


def test_moves_without_cells_have_a_button() -> None:
    rng, position = random.Random(0), Position("vierer_dominari")
    while "end" not in position.legal_moves():
        if position.is_over:
            position = Position("vierer_dominari")
        position.play(rng.choice(position.legal_moves()))
    move = of(position, "end")
    assert (move.label, move.paths) == ("end", ((),))
    choice = Position("sudoku_moyo", setup="choose")
    assert of(choice, "light").paths == ((),)


def test_why_not_says_each_reason_once() -> None:
    position = Position("sudoku_moyo", seed=1)
    scene = position.scene()
    taken = next(cell for cell, stone in enumerate(scene.stones) if stone)
    assert len(why_not(position, [taken])) == 1
    name = layout_of(scene.board).names[taken]
    assert why_not(position, [taken], "5")[0].startswith(f"5{name}: ")
    legal = of(position, position.legal_moves()[0])
    assert why_not(position, legal.paths[0], legal.label) == []
    assert why_not(position, [taken], "no label") == []
    lines = Position("abalone")
    white = layout_of("hex61").names.index("i5")
    assert why_not(lines, [white]) == [lines.explain("i5i6")]


def test_why_not_is_about_the_stone_that_was_chosen() -> None:
    position = Position("halma_dominari", setup=("123456", "123456"))
    cell = layout_of(position.scene().board).names.index
    clicks = [cell("a3"), cell("e3")]
    assert why_not(position, clicks) == [position.explain("6e3")]
    assert why_not(position, clicks, "2") == [position.explain("2e3")]
    lines, cell = Position("abalone"), layout_of("hex61").names.index
    for chosen, far in (("a1", "e5"), ("c3 c5", "i9")):
        squares = chosen.split()
        said = why_not(lines, [*map(cell, squares), cell(far)])
        assert said
        assert all(sentence.startswith("".join(squares)) for sentence in said), said


def test_why_not_is_about_the_last_cell_where_no_stone_was_chosen() -> None:
    position = Position("sudoku_moyo", seed=1)
    scene = position.scene()
    taken = next(cell for cell, stone in enumerate(scene.stones) if stone)
    empty = next(cell for cell, stone in enumerate(scene.stones) if not stone)
    assert why_not(position, [empty, taken]) == why_not(position, [taken])


def test_labels_and_cells_of_moves_that_are_not_legal_are_described_too() -> None:
    position = Position("sudoku_moyo", seed=1)
    scene = position.scene()
    every = [describe(position, scene, action) for action in range(position.num_actions)]
    assert len({(move.label, move.paths) for move in every}) == position.num_actions


def test_a_view_has_every_cell_and_tells_what_is_on_it() -> None:
    position = Position("sudoku_moyo", seed=1)
    action = position.legal_actions()[0]
    view = view_of(position.copy().play(action), action)
    scene = position.scene()
    assert [cell[0] for cell in view["cells"]] == list(layout_of(scene.board).names)
    assert view["status"] == position.copy().play(action).scene().notes[0]
    assert view["last"] == list(position.action_cells(action))
    spoken = [cell[4] for cell in view["cells"]]
    assert sum("given" in words for words in spoken) == sum(s is not None for s in scene.stones)
    assert len(view["candidatePlaces"]) == 9
    assert len(picture_of(Position("vierer_dominari").scene())["candidatePlaces"]) == 6


def test_a_view_tells_whose_region_a_cell_is_in_unless_its_stone_does() -> None:
    scene = Position("sudoku_moyo", seed=1).scene()
    told = [cell[5] for cell in picture_of(scene)["cells"]]
    both = list(zip(scene.grounds, scene.stones, strict=True))
    assert told == ["" if stone else f"{ground} region" for ground, stone in both]
    foreign = replace(scene, stones=(Stone("free", "1"), *scene.stones[1:]))
    assert picture_of(foreign)["cells"][0][5] == f"{scene.grounds[0]} region"
    draft = Position("sudoku_moyo", territory="draft").scene()
    told = [cell[5] for cell in picture_of(draft)["cells"]]
    both = list(zip(draft.grounds, draft.regions, strict=True))
    assert told == [f"{ground} region r{region}" for ground, region in both]
    assert "free region r1" in told
    for pattern in ("halma_dominari", "abalone", "connect_four"):
        assert {cell[5] for cell in picture_of(Position(pattern).scene())["cells"]} == {""}


def test_the_script_names_no_game_and_loads_nothing() -> None:
    script = web_script(*BOARD_SCRIPTS)
    assert not [case.game.name for case in CASES if case.game.name in script]
    assert not re.search(r"\bimport\b|\beval\b|new Function|https?://(?!www\.w3\.org)", script)
    assert all(len(web_file(name).splitlines()) <= 400 for name in BOARD_SCRIPTS)


def test_texts_of_the_board_can_be_read_in_light_and_dark() -> None:
    style = web_file("board.css")
    plain = dict(re.findall(r"--azb-(\w+): (#\w{6});", style))
    both = re.findall(r"--azb-(\w+): light-dark\((#\w{6}), (#\w{6})\);", style)
    light = {name: colour for name, colour, _ in both}
    dark = {name: colour for name, _, colour in both}
    assert light == plain, "browsers without light-dark() show the light board"
    for colours in (light, dark):
        for text in ("ink", "faint", "good", "bad", "accent"):
            for ground in ("paper", "button"):
                assert contrast(colours[text], colours[ground]) >= READABLE, (text, ground)
    mark, edge = "#0a5cb0", "#fffdf5"
    assert light["paper"] == PAPER
    assert f".azb-dot {{ fill: {mark}; }}" in style
    assert f"stroke: {edge};" in style
    for ground in GROUNDS.values():
        assert max(contrast(ground.fill, mark), contrast(ground.fill, edge)) >= 3
