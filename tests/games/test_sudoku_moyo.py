"""Sudoku Moyo by hand: every rule and option of `docs/games/sudoku_moyo.md`, every outcome."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from azumaya.envs import OptionError, Position, PositionError, make_vec, raw
from azumaya.envs.errors import IllegalActionError
from azumaya.envs.games._shima.territory import Territory
from azumaya.envs.puzzles import PuzzleFormatError
from azumaya.envs.registry import find_game

EMPTY = "." * 81
LAST_CELL = "." * 80 + "1"
SOLVED = "534678912672195348198342567859761423426853791713924856961537284287419635345286179"
"""A full grid; `without` removes stones from it."""

FILES = "abcdefghi"
SQUARES = [f + str(r) for r in range(9, 0, -1) for f in FILES]
NEUTRAL = [f + r for r in "654" for f in "def"]
LIGHT = {
    f + r
    for files, ranks in (("abc", "987"), ("ghi", "987"), ("abc", "654"), ("def", "321"))
    for f in files
    for r in ranks
}
DARK = set(SQUARES) - LIGHT - set(NEUTRAL)


def without(*squares: str) -> str:
    """The full grid without some squares."""
    return "".join("." if s in squares else SOLVED[i] for i, s in enumerate(SQUARES))


def text_of(puzzle: str) -> str:
    """A puzzle as the first word of a position text."""
    return "/".join(puzzle[i : i + 9] for i in range(0, 81, 9))


def moyo(puzzle: str | None = EMPTY, **options: Any) -> Position:
    """A game on a puzzle."""
    return Position("sudoku_moyo", puzzle=puzzle, **options)


def squares_of(moves: Iterable[str]) -> set[str]:
    """The squares on which moves lay stones."""
    return {move[1:] for move in moves}


def play(position: Position, moves: str) -> Position:
    """Play several moves."""
    for move in moves.split():
        position.play(move)
    return position


OPENING = "1d6 2e6 3f6 4d5 5e5 6f5 7d4 8e4 9f4"
"""Fills the centre of the empty board."""


# ---- actions ----


def test_action_numbers() -> None:
    position = moyo()
    assert position.num_actions == 729
    for name, action in (("1a9", 0), ("1i1", 80), ("2a9", 81), ("5e4", 4 * 81 + 49), ("9i1", 728)):
        assert position.parse_move(name) == action
        assert position.move_name(action) == name


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({"setup": "choose"}, ["light", "dark", "start0", "start1"]),
        ({"territory": "draft"}, [f"r{r}" for r in range(1, 10)]),
        (
            {"territory": "draft", "setup": "choose"},
            [*(f"r{r}" for r in range(1, 10)), "start0", "start1"],
        ),
    ],
)
def test_actions_the_options_need(options: dict[str, Any], names: list[str]) -> None:
    position = moyo(**options)
    assert position.num_actions == 729 + len(names)
    assert [position.parse_move(name) for name in names] == list(range(729, 729 + len(names)))


# ---- rules 1 to 3 ----


def test_rule_1_the_puzzle_is_laid_out() -> None:
    assert str(moyo(without("e5", "a1"))) == text_of(without("e5", "a1")) + " l"


def test_rule_2_the_opening_goes_to_the_centre() -> None:
    position = moyo()
    for name in OPENING.split():
        assert squares_of(position.legal_moves()) <= set(NEUTRAL)
        position.play(name)
    assert squares_of(position.legal_moves()) & set(NEUTRAL) == set()


def test_rule_2_the_opening_ends_when_nothing_fits_not_when_it_is_full() -> None:
    """e5 is empty but dead: its only number 5 is in its row and column."""
    cells = dict.fromkeys(SQUARES, ".") | dict(
        zip([s for s in NEUTRAL if s != "e5"], "12346789", strict=True)
    )
    cells["a5"] = "5"
    position = moyo("".join(cells[s] for s in SQUARES))
    assert squares_of(position.legal_moves()) <= LIGHT


def test_rule_2_a_dead_end_in_the_opening_hands_the_move_on_into_play() -> None:
    position = moyo(without("e5", "a9", "d9", "e9", "d8", "e8"))
    assert position.legal_moves() == ["5e5"]
    position.play("5e5")
    assert position.to_move == 1
    assert squares_of(position.legal_moves()) <= {"d9", "e9", "d8", "e8"}


def test_rule_3_own_regions_only() -> None:
    position = play(moyo(), OPENING)
    assert position.to_move == 1
    assert squares_of(position.legal_moves()) == DARK
    position.play("1h5")
    assert squares_of(position.legal_moves()) == LIGHT
    with pytest.raises(IllegalActionError, match="opponent"):
        position.play("2g4")


# ---- rule 4 ----


def centre(numbers: str, **stones: str) -> str:
    """A puzzle with a full centre and some more stones."""
    cells = dict.fromkeys(SQUARES, ".") | dict(zip(NEUTRAL, numbers, strict=True)) | stones
    return "".join(cells[s] for s in SQUARES)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("4i9", "row of i9 has a 4 on a9"),
        ("5e2", "column of e2 has a 5 on e5"),
        ("4b7", "block of b7 has a 4 on a9"),
        ("1a9", "a9 holds the 4"),
    ],
)
def test_rule_4_no_number_twice(name: str, why: str) -> None:
    position = moyo(centre("142653879", a9="4"))
    assert name not in position.legal_moves()
    with pytest.raises(IllegalActionError, match=why):
        position.play(name)


def test_rule_4_counts_candidates() -> None:
    """After 1d6 on the empty board: 8 numbers on the 8 cells left in the centre."""
    position = moyo().play("1d6")
    assert len(position.legal_moves()) == 64
    assert not {m for m in position.legal_moves() if m[0] == "1" or m[1:] == "d6"}


def test_rule_4_a_stone_may_make_the_puzzle_unsolvable() -> None:
    """i9 could only take the 9, but a 9 on h8 is legal and makes i9 dead."""
    position = moyo(centre("145268379", **dict(zip(SQUARES[:8], "12345678", strict=True))))
    assert [m for m in position.legal_moves() if m[1:] == "i9"] == ["9i9"]
    position.play("9h8")
    assert not position.observation(0)[:9, 0, 8].any()
    assert position.scene().dead >= {8}


def test_rule_4_one_set_for_each_region() -> None:
    """A region holds each number once even if it is not a house."""
    diagonal = [(c - r) % 9 + 1 for r in range(9) for c in range(9)]
    territory = Territory(diagonal, "L.DLDLDLD")
    position = moyo(territory=territory)
    neutral = {SQUARES[i] for i in range(81) if diagonal[i] == 2}
    assert squares_of(position.legal_moves()) == neutral
    assert len(position.legal_moves()) == 81
    position.play("7b9")
    assert not [m for m in position.legal_moves() if m[0] == "7"]
    assert "region of g4 has a 7 on b9" in position.explain("7g4")


# ---- rule 5, both winners ----


def test_rule_5_whoever_cannot_move_loses_player_0_wins() -> None:
    """One stone is left, in the centre: player_0 lays it and player_1 cannot move."""
    position = moyo(without("e5")).play("5e5")
    assert position.is_terminated
    assert position.returns() == (1, -1)
    assert position.to_move == 0
    assert position.legal_moves() == []


def test_rule_5_player_1_wins() -> None:
    """player_0 lays in the centre, player_1 in dark's d9; light has nothing left."""
    position = play(moyo(without("e5", "d9")), "5e5 6d9")
    assert position.is_terminated
    assert position.returns() == (-1, 1)
    assert position.to_move == 1


def test_rule_5_the_loser_may_have_stones_elsewhere_to_lay() -> None:
    """Stones that fit only in the winner's regions do not help the loser."""
    position = play(moyo(without("e5", "d9", "a9", "i1", "h1")), "5e5 6d9 5a9")
    assert not position.is_over
    position.play(next(m for m in position.legal_moves() if m[1:] in ("h1", "i1")))
    assert position.is_terminated
    assert position.returns() == (-1, 1)


# ---- territories ----


def owners_seen(position: Position) -> str:
    """The owner of each square as the planes `own` and `opposing` of player_0 show it."""
    names = [plane.name for plane in position.game.observation.planes]
    seen = position.observation(0)
    own, opposing = (seen[names.index(n)].ravel() for n in ("own", "opposing"))
    return "".join("L" if o else "D" if d else "." for o, d in zip(own, opposing, strict=True))


def blocks(owners: str) -> str:
    """Owners by block, spread over the squares."""
    return "".join(owners[3 * (i // 27) + i % 9 // 3] for i in range(81))


@pytest.mark.parametrize(
    ("territory", "owners"),
    [
        ("standard", blocks("LDLL.DDLD")),
        ("corners", blocks("LDLD.DLDL")),
        ("rows", "".join(9 * letter for letter in "LDLD.LDLD")),
        ("columns", 9 * "LDLD.LDLD"),
    ],
)
def test_named_territories(territory: str, owners: str) -> None:
    assert owners_seen(moyo(territory=territory)) == owners


def test_a_custom_territory_may_equal_a_named_one() -> None:
    rows = Territory([i // 9 + 1 for i in range(81)], "LDLD.LDLD")
    assert moyo(territory=rows) == moyo(territory="rows")


@pytest.mark.parametrize(
    ("regions", "owners", "message"),
    [
        ([1] * 81, "LDLL.DDLD", "region 1"),
        (range(80), "LDLL.DDLD", "81"),
        ([i // 9 + 1 for i in range(81)], "LLLL.DDDL", "owners"),
        ([i // 9 + 1 for i in range(81)], "LLLLDDDD", "owners"),
        ([i // 9 for i in range(81)], "LDLL.DDLD", "region 9"),
        ([i // 9 + 1.5 for i in range(81)], "LDLD.LDLD", "81 region numbers from 1 to 9"),
        ([True] * 9 + [i // 9 + 1 for i in range(9, 81)], "LDLD.LDLD", "81 region numbers"),
        ([float("inf")] * 81, "LDLD.LDLD", "81 region numbers"),
        ("٣" * 81, "LDLD.LDLD", "81 region numbers"),
        (["1"] * 81, "LDLD.LDLD", "81 region numbers"),
        (None, "LDLD.LDLD", "81 region numbers"),
    ],
)
def test_wrong_territories_are_refused(regions: Any, owners: str, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        Territory(regions, owners)


def test_draft() -> None:
    """One, two, two, two, one; player_0's are light; then player_0 starts."""
    position = moyo(territory="draft")
    assert position.legal_moves() == ["r1", "r2", "r3", "r4", "r6", "r7", "r8", "r9"]
    movers = []
    for name in ["r1", "r2", "r3", "r4", "r6", "r7", "r8", "r9"]:
        movers.append(position.to_move)
        position.play(name)
        assert name not in position.legal_moves()
    assert movers == [0, 1, 1, 0, 0, 1, 1, 0]
    assert position.to_move == 0
    assert owners_seen(position) == blocks("LDDL.LDDL")
    assert squares_of(position.legal_moves()) == set(NEUTRAL)


def test_a_taken_region_cannot_be_drafted_again() -> None:
    position = moyo(territory="draft").play("r1")
    for name, why in (("r1", "owner"), ("r5", "neutral region cannot be"), ("1d6", "draft")):
        with pytest.raises(IllegalActionError, match=why):
            position.play(name)


# ---- setup ----


@pytest.mark.parametrize("colour", ["light", "dark"])
@pytest.mark.parametrize("starter", [0, 1])
def test_choose(colour: str, starter: int) -> None:
    """player_0 chooses a colour, and player_1 chooses who starts."""
    position = moyo(setup="choose")
    assert (position.to_move, position.legal_moves()) == (0, ["light", "dark"])
    position.play(colour)
    assert (position.to_move, position.legal_moves()) == (1, ["start0", "start1"])
    position.play(f"start{starter}")
    assert position.to_move == starter
    play(position, OPENING)
    mover_is_light = (position.to_move == 0) == (colour == "light")
    assert squares_of(position.legal_moves()) == (LIGHT if mover_is_light else DARK)


def test_choose_after_a_draft_leaves_the_colours_out() -> None:
    position = play(moyo(territory="draft", setup="choose"), "r1 r2 r3 r4 r6 r7 r8 r9")
    assert (position.to_move, position.legal_moves()) == (1, ["start0", "start1"])
    position.play("start1")
    assert position.to_move == 1
    assert squares_of(position.legal_moves()) == set(NEUTRAL)


def test_until_colours_are_chosen_player_0_is_written_l() -> None:
    position = moyo(setup="choose")
    assert str(position) == text_of(EMPTY) + " l stage=colour"
    assert str(position.play("dark")) == text_of(EMPTY) + " l light=1 stage=starter"


def test_a_starter_without_a_move_loses_at_once() -> None:
    """Only dark's d9 is empty: player_0 takes dark, player_1 chooses to start and loses."""
    position = play(moyo(without("d9"), setup="choose"), "dark start1")
    assert position.is_terminated
    assert position.returns() == (1, -1)
    assert position.to_move == 1
    position = play(moyo(without("d9"), setup="choose"), "light start0")
    assert position.returns() == (-1, 1)
    position = play(moyo(without("d9"), setup="choose"), "light start1 6d9")
    assert position.returns() == (-1, 1)


# ---- handicap ----


@pytest.mark.parametrize("player", [0, 1])
def test_handicap(player: int) -> None:
    """The player lays n stones in the centre, one after the other; then player_0 starts."""
    position = moyo(handicap=(player, 3))
    for name in ("1d6", "2e6", "3f6"):
        assert position.to_move == player
        assert squares_of(position.legal_moves()) <= set(NEUTRAL)
        position.play(name)
    assert position.to_move == 0
    assert squares_of(position.legal_moves()) <= set(NEUTRAL)


def test_handicap_ends_when_none_fits() -> None:
    position = moyo(without("e5", "e6", "a9"), handicap=(1, 9))
    assert position.to_move == 1
    play(position, "5e5 6e6")
    assert position.to_move == 0
    assert position.legal_moves() == ["5a9"]


def test_handicap_of_none_or_in_a_full_centre_is_skipped() -> None:
    assert moyo(handicap=(1, 0)) == moyo(handicap=None)
    for options in ({"setup": "choose"}, {"territory": "draft"}):
        position = moyo(handicap=(1, 0), **options)
        assert position == moyo(handicap=None, **options)
        assert position == moyo(position=str(position), handicap=(1, 0), **options)
    position = moyo(without("a9"), handicap=(1, 3))
    assert (position.to_move, position.legal_moves()) == (0, ["5a9"])


def test_handicap_comes_after_the_choices() -> None:
    position = play(moyo(setup="choose", handicap=(0, 1)), "dark start1")
    assert position.to_move == 0
    assert position.play("1d6").to_move == 1


def test_handicap_may_end_the_game() -> None:
    """The last stone that fits is a handicap stone; the starter then loses (rule 5)."""
    position = moyo(without("e5"), handicap=(0, 1)).play("5e5")
    assert position.is_terminated
    assert position.returns() == (-1, 1)
    assert position.to_move == 0


@pytest.mark.parametrize(
    "handicap",
    [
        3, (2, 1), (0, -1), (0, 1.5), (True, 1), "01", (0, 1, 2), {1, 0}, {0: "a", 3: "b"},
        {0, 3}, iter((0, 3)), np.array([[0, 3]]), np.array(3), np.array([0.0, 3.0]),
    ],
)  # fmt: skip
def test_wrong_handicaps_are_refused(handicap: Any) -> None:
    with pytest.raises(OptionError, match="handicap"):
        moyo(handicap=handicap)


# ---- scoring by points ----


def test_points_count_from_the_winning_stone_on() -> None:
    """player_0's 5e5 ends the game; light could also lay a9 and i9: three points."""
    position = moyo(without("e5", "a9", "i9"), scoring="points").play("5e5")
    assert not position.is_over
    assert position.to_move == 0
    assert position.returns() == (0, 0)
    assert position.play("5a9").to_move == 0
    position.play("2i9")
    assert position.is_terminated
    assert position.returns() == (3, -3)


def test_a_win_without_further_stones_counts_one_point() -> None:
    assert moyo(without("e5"), scoring="points").play("5e5").returns() == (1, -1)


def test_points_of_a_starter_without_a_move() -> None:
    """The other player gets the stones that can still be laid, even if there are none."""
    options = {"setup": "choose", "scoring": "points"}
    position = play(moyo(without("d9"), **options), "light start0")
    assert (position.to_move, position.legal_moves()) == (1, ["6d9"])
    assert position.play("6d9").returns() == (-1, 1)
    nothing = moyo(without("e5"), scoring="points", handicap=(1, 1)).play("5e5")
    assert nothing.is_terminated
    assert nothing.returns() == (0, 0)


# ---- puzzles ----


def test_puzzles_may_be_written_with_zeros_and_come_in_sequences() -> None:
    zeros = without("e5").replace(".", "0")
    assert moyo(zeros) == moyo(without("e5"))
    drawn = {str(Position("sudoku_moyo", seed=s, puzzle=[EMPTY, zeros])) for s in range(20)}
    assert drawn == {str(moyo()), str(moyo(zeros))}


def test_puzzles_with_characters_that_are_no_cells_are_refused() -> None:
    for mark in "xé":
        with pytest.raises(PuzzleFormatError, match=f"'{mark}' is not a cell"):
            Position("sudoku_moyo", puzzle=[EMPTY, mark + EMPTY[1:]])


ROWS = np.array([[0] * 81, [1] + [0] * 80, [0] * 80 + [1]], np.uint8)
TEXTS = ["".join(map(str, row)) for row in ROWS]


@pytest.mark.parametrize(
    ("puzzle", "texts"),
    [
        (ROWS, TEXTS),
        (ROWS.astype(np.int64), TEXTS),
        (list(ROWS), TEXTS),
        (ROWS.tolist(), TEXTS),
        ([ROWS[0], *TEXTS[1:]], TEXTS),
        ([f"{TEXTS[0]}\n", *TEXTS[1:]], TEXTS),
        (ROWS[1], TEXTS[1]),
        (ROWS[1].tolist(), TEXTS[1]),
    ],
)
def test_puzzles_may_be_numbers(puzzle: Any, texts: str | list[str]) -> None:
    """As an array, rows or one row, they are the same puzzles as their texts."""
    env, twin = raw("sudoku_moyo", puzzle=puzzle), raw("sudoku_moyo", puzzle=texts)
    for seed in range(8):
        env.reset(seed=seed, options={"scoring": "points"} if seed else None)
        twin.reset(seed=seed, options={"scoring": "points"} if seed else None)
        assert str(env.position) == str(twin.position)


@pytest.mark.parametrize(
    ("puzzle", "options", "message"),
    [
        ("11" + "." * 79, {}, "1 lies twice .* a9 and b9"),
        (SOLVED, {}, "cannot place"),
        (without("d9"), {}, "cannot place"),
        (without("d9"), {"handicap": (0, 0)}, "cannot place"),
        ([EMPTY, SOLVED], {}, "puzzle 2"),
        ([EMPTY, EMPTY[1:]], {}, "^puzzle 2:1:10: 80 cells: a row has 9, a whole puzzle 81$"),
        ([EMPTY[1:]], {}, "^puzzle:1:10: 80 cells"),
        (ROWS[:, 1:], {}, r"^puzzle 1: a puzzle has shape \(81,\), not \(80,\)"),
        (ROWS.astype(float), {}, "^puzzle 1: cells must be whole numbers, not float64"),
        (ROWS + np.int8([[0], [9], [0]]), {}, "^puzzle 2: 10 on a9: cells must be 0 to 9"),
        (-ROWS.astype(int), {}, "^puzzle 2: -1 on a9: cells must be 0 to 9"),
        ([EMPTY, 5], {}, r"^puzzle 2: a puzzle has shape \(81,\), not \(\)"),
        (ROWS[:0], {}, "^puzzle=.*: must be 81 characters or whole numbers"),
        ([], {}, r"^puzzle=\[\]: must be 81 characters or whole numbers"),
        (np.uint8(3), {}, "must be 81 characters or whole numbers"),
    ],
)
def test_wrong_puzzles_are_refused(puzzle: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        moyo(puzzle, **options)


def test_later_changes_to_a_list_change_no_episode() -> None:
    """The list that an option was given belongs to the caller, who may change it."""
    puzzles, regions = [LAST_CELL], [row for row in range(1, 10) for _ in range(9)]
    territory = {"regions": regions, "owners": list("LDLD.LDLD")}
    env = raw("sudoku_moyo", puzzle=puzzles, territory=territory)
    games = make_vec("sudoku_moyo", 1, puzzle=puzzles, territory=territory)
    texts = [str(episode(env, games, which)) for which in range(3)]
    puzzles[0] = "2" + "." * 80
    regions[0], regions[80] = 9, 1
    assert [str(episode(env, games, which)) for which in range(3)] == texts
    assert env.options["puzzle"] == [LAST_CELL]
    env.reset(options={"puzzle": puzzles})
    assert str(env.position).startswith("2")


def episode(env: Any, games: Any, which: int) -> Position:
    """The start of an episode: with the environments' options, or with others."""
    if which == 2:
        games.reset(seed=1, options={"scoring": "points"})
        return games.position(0)
    env.reset(seed=1, options={"scoring": "points"} if which else None)
    return env.position


def test_a_file_is_read_once(tmp_path: Path) -> None:
    """A reset with other options does not need the file of puzzles again."""
    file = tmp_path / "puzzles.txt"
    file.write_text(LAST_CELL)
    env = raw("sudoku_moyo", puzzle=str(file))
    file.unlink()
    env.reset(seed=1, options={"scoring": "points"})
    assert str(env.position).split()[0].endswith("1")
    with pytest.raises(OptionError, match="nor a file"):
        env.reset(options={"puzzle": str(file)})
    env.reset(options={"puzzle": None})
    assert not str(env.position).split()[0].startswith("." * 9 + "/" + "." * 9)


def test_a_puzzle_that_breaks_the_set_of_a_region_is_refused() -> None:
    diagonal = Territory([(c - r) % 9 + 1 for r in range(9) for c in range(9)], "L.DLDLDLD")
    cells = dict.fromkeys(SQUARES, ".") | {"a9": "5", "e5": "5"}
    with pytest.raises(OptionError, match=r"5 lies twice .* a9 and e5"):
        moyo("".join(cells[s] for s in SQUARES), territory=diagonal)


# ---- position texts ----


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (f"{text_of(SOLVED)} l", {}, "cannot place"),
        (f"{text_of('11' + '.' * 79)} l", {}, "1 lies twice"),
        (f"{text_of(EMPTY)} l stage=colour", {}, "choose"),
        (f"{text_of(EMPTY)} d stage=colour", {"setup": "choose"}, "player_0 is to move"),
        (f"{text_of(EMPTY)} l stage=starter", {"setup": "choose"}, "player_1 is to move"),
        (f"{text_of(EMPTY)} l stage=handicap", {}, "handicap="),
        (f"{text_of(EMPTY)} l stage=handicap handicap=3", {}, "two numbers, like handicap=1,0"),
        (f"{text_of(EMPTY)} l stage=draft", {}, "draft"),
        (f"{text_of(EMPTY)} l owners=LDLL.DDLD", {}, "draft"),
        (f"{text_of(EMPTY)} l", {"territory": "draft"}, "owners="),
        (f"{text_of(EMPTY)} l owners=LDLL.DDLL", {"territory": "draft"}, "no draft"),
        (f"{text_of(EMPTY)} l owners=LDLL..DLD", {"territory": "draft"}, "one neutral"),
        (f"{text_of(EMPTY)} l points=1", {}, "scoring"),
        (f"{text_of(EMPTY)} l points=1", {"scoring": "points"}, "opponent cannot"),
        (f"{text_of(EMPTY)} l result=1", {}, "result=1"),
        (f"{text_of(SOLVED)} l result=2", {}, "result=2"),
        (f"{text_of(without('a9'))} l points=81", {"scoring": "points"}, "at most 80, the number"),
        (f"{text_of(SOLVED)} d result=1", {}, "result=1 that must be the winner"),
        (f"{text_of(SOLVED)} l result=-1", {}, "result=-1 that must be the winner"),
        (f"{text_of(SOLVED)} d result=1", {"handicap": (0, 0)}, "must be the winner"),
        (f"{text_of(SOLVED)} d points=3 result=3", {"scoring": "points"}, "must be the winner"),
        (f"{text_of(SOLVED)} l points=0 result=0", {"scoring": "points"}, "must be the winner"),
        (f"{text_of(EMPTY)} l stage=draft owners=.???????D", {"territory": "draft"},
         "must be the centre"),
        (f"{text_of(EMPTY)} l stage=draft owners=????????.", {"territory": "draft"},
         "must be the centre"),
        (f"{text_of(EMPTY)} l light=2", {}, "light="),
        (f"{text_of(EMPTY)} l stage=lunch", {}, "stage=lunch"),
        (f"{text_of(EMPTY)} l light=1", {}, "light=1 needs"),
        (f"{text_of(EMPTY)} d light=1 stage=colour", {"setup": "choose"}, "light=1 needs"),
        (f"{text_of(EMPTY)} d light=1 stage=draft owners=????.????", {"territory": "draft"},
         "light=1 needs"),
        (f"{text_of(EMPTY)} d light=1 owners=LDLL.DDLD",
         {"territory": "draft", "setup": "choose"}, "light=1 needs"),
        (f"{text_of(EMPTY)} l stage=handicap handicap=0,2 starter=1", {"handicap": (0, 2)},
         "starter=1 needs"),
        (f"{text_of(EMPTY)} l stage=colour starter=1", {"setup": "choose"}, "starter=1 needs"),
        (f"{text_of(EMPTY)} d stage=starter starter=1", {"setup": "choose"}, "starter=1 needs"),
        (f"{text_of(EMPTY)} l stage=draft owners=????.???? starter=1",
         {"territory": "draft", "setup": "choose"}, "starter=1 needs"),
    ],
)  # fmt: skip
def test_impossible_texts_are_refused(text: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(PositionError, match=message):
        Position.from_text("sudoku_moyo", text, **options)


def test_points_may_be_as_many_as_the_stones_on_the_board() -> None:
    """What is still laid is more than these, so no plane and no return gets out of its range."""
    position = Position.from_text(
        "sudoku_moyo", f"{text_of(without('a9'))} l points=80", scoring="points"
    )
    planes = position.game.observation.planes
    at = [plane.name for plane in planes].index("points")
    assert (position.observation(0)[at] == 81).all()
    position.play("5a9")
    assert position.returns() == (81, -81)
    assert (position.observation(0)[at] == planes[at].high).all()


@pytest.mark.parametrize(
    "options",
    [{"handicap": (1, 1)}, {"setup": "choose"}, {"territory": "draft"}],
    ids=str,
)
def test_the_loser_may_make_the_last_step_before_play(options: dict[str, Any]) -> None:
    owners = "owners=LDLL.DDLD " if "territory" in options else ""
    text = f"{text_of(SOLVED)} d {owners}result=1"
    assert str(Position.from_text("sudoku_moyo", text, **options)) == text


@pytest.mark.parametrize("options", [{}, {"handicap": (0, 0)}, {"setup": "choose"}], ids=str)
@pytest.mark.parametrize("game", ["sudoku_moyo", "sudoku_horikomi"])
def test_handicap_stones_in_a_text_need_the_option(game: str, options: dict[str, Any]) -> None:
    """Without it the text of the end, after a last handicap stone of the loser, was refused."""
    start = f"{text_of(without('e5'))} l stage=handicap handicap=0,1"
    with pytest.raises(PositionError, match="handicap= needs the option"):
        Position.from_text(game, start, **options)
    position = Position.from_text(game, start, **{**options, "handicap": (0, 1)}).play("5e5")
    assert position.is_over
    assert Position.from_text(game, str(position), **{**options, "handicap": (0, 1)}) == position


@pytest.mark.parametrize("game", ["sudoku_moyo", "sudoku_horikomi"])
def test_only_after_the_draft_another_block_may_be_neutral(game: str) -> None:
    """Observations of the draft show free blocks and the neutral one alike."""
    text = f"{text_of(EMPTY)} l owners=.DLLDDDLL"
    assert str(Position.from_text(game, text, territory="draft")) == text
    with pytest.raises(PositionError, match="must be the centre"):
        Position.from_text(
            game, f"{text_of(EMPTY)} l owners=.DLLDDDL? stage=draft", territory="draft"
        )


@pytest.mark.parametrize("game", ["sudoku_moyo", "sudoku_horikomi", "sudoku_moyo_match"])
@pytest.mark.parametrize("handicap", [None, (0, 0), (1, 2)])
def test_without_handicap_stones_the_plane_names_nobody(game: str, handicap: Any) -> None:
    """In all stages before play."""
    planes = find_game(game).observation.planes
    at = [plane.name for plane in planes].index("handicap")
    stones = 0 if handicap in (None, (0, 0)) else 2
    for territory, moves in (("draft", "r1 r2 r3 r4 r6 r7 r8 r9"), ("standard", "light")):
        position = moyo_of(game, territory=territory, setup="choose", handicap=handicap)
        for move in moves.split():
            seen = [int(position.observation(player)[at, 0, 0]) for player in (0, 1)]
            assert seen == ([2, 12] if stones else [0, 0]), str(position)
            position.play(move)


def moyo_of(game: str, **options: Any) -> Position:
    """The start of a game of the family on the empty board."""
    return Position(find_game(game), puzzle=EMPTY, **options)


def test_a_moment_has_the_options_of_its_own_episode() -> None:
    """Also where they say what holds without them."""
    env = raw("sudoku_moyo")
    env.reset(seed=1, options={"scoring": "win"})
    moment = env.get_state()
    env.reset()
    env.set_state(moment)
    assert env.position.options == {"scoring": "win"}
