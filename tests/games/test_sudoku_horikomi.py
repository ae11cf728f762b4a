"""Sudoku Horikomi by hand: differences from Sudoku Moyo, options, and ways to win."""

from __future__ import annotations

from typing import Any

import pytest

from azumaya.envs import OptionError, Position, PositionError
from azumaya.envs.errors import IllegalActionError
from azumaya.envs.games.sudoku_horikomi.game import HORIKOMI

EMPTY = "." * 81
SOLVED = "534678912672195348198342567859761423426853791713924856961537284287419635345286179"
OPENING = "1d6 2e6 3f6 4d5 5e5 6f5 7d4 8e4 9f4"
"""Fills the centre of the empty board; player_1 is to move then."""
OPENED = "........./........./........./...123.../...456.../...789.../........./........./........."
FOUR_ONES = (
    "1......../......1../....1..../...123.../.1.456.../...789.../........./........./........."
)
"""The centre is full; a 1 lies in NW and W (light), N and NE (dark and light)."""
STUCK = "81263.4793.485..129.572.36..6.3842.5.285176941739628..281.7695.6.91437284572.91.3"
"""As a puzzle: no stone of light fits anywhere, dark has the 1 for f7."""
FINISHED = ".1495867373...69289261374.58.957126.1.536284927384915.347625.9169.48.532581793..6"
"""As a puzzle: no stone of either side fits; 7 cells of light and 8 of dark are empty."""
NEUTRAL = {f + r for f in "def" for r in "456"}
LIGHT, DARK = (0, 2, 3, 7), (1, 5, 6, 8)
"""The standard territory: blocks in reading order."""


def horikomi(puzzle: str | None = EMPTY, **options: Any) -> Position:
    return Position("sudoku_horikomi", puzzle=puzzle, **options)


def from_text(text: str, **options: Any) -> Position:
    return Position.from_text("sudoku_horikomi", text, puzzle=EMPTY, **options)


def play(position: Position, moves: str) -> Position:
    for move in moves.split():
        position.play(move)
    return position


def stock(position: Position, player: int) -> list[int]:
    """The stones of each number that a player has left, from the player's observation."""
    planes = dict(
        zip(
            (p.name for p in HORIKOMI.observation.planes),
            position.observation(player)[:, 0, 0],
            strict=True,
        )
    )
    return [int(planes[f"own stock {n}"]) for n in range(1, 10)]


def with_stones(*stones: str) -> str:
    """A puzzle with a few stones, like `5e4`."""
    cells = [f + r for r in "987654321" for f in "abcdefghi"]
    laid = {stone[1:]: stone[0] for stone in stones}
    return "".join(laid.get(cell, ".") for cell in cells)


# ---- rules 1 to 3: where stones go ----


def test_stones_go_to_any_region_but_the_neutral_one() -> None:
    position = play(horikomi(), OPENING)
    squares = {name[1:] for name in position.legal_moves()}
    assert len(squares) == 72
    assert not squares & NEUTRAL
    play(position, "5a9 5h8")
    assert str(position).startswith("5......../.......5./")


# ---- rule 5: four stones of each number ----


def test_givens_count_for_the_owner_of_their_region() -> None:
    """5a9 lies in a light region, 5d8 in a dark one, 5e6 in the neutral one."""
    position = horikomi(with_stones("5a9", "5d8", "5e6"))
    assert stock(position, 0) == [4, 4, 4, 4, 3, 4, 4, 4, 4]
    assert stock(position, 1) == [4, 4, 4, 4, 3, 4, 4, 4, 4]
    position = horikomi(with_stones("5a9", "7b8"))
    assert stock(position, 0) == [4, 4, 4, 4, 3, 4, 3, 4, 4]
    assert stock(position, 1) == [4] * 9


def test_stones_of_the_opening_count_for_nobody() -> None:
    position = play(horikomi(), OPENING)
    assert stock(position, 0) == stock(position, 1) == [4] * 9
    assert str(position) == OPENED + " d"


def test_stones_count_for_the_player_who_laid_them() -> None:
    """Dark lays into NW, a light region; light into N, a dark one."""
    position = play(horikomi(), OPENING + " 6a9 2d8")
    assert stock(position, 0) == [4, 3, 4, 4, 4, 4, 4, 4, 4]
    assert stock(position, 1) == [4, 4, 4, 4, 4, 3, 4, 4, 4]
    assert str(position).endswith(" d stock=434444444,444443444")


def test_a_number_that_is_used_up_cannot_be_laid() -> None:
    """Light has laid all four 1s, so only dark may lay the 1 on h4."""
    words = " stock=044444444,444444444"
    light = from_text(FOUR_ONES + " l" + words)
    assert not [name for name in light.legal_moves() if name[0] == "1"]
    assert "(rule 5)" in light.explain("1h4")
    with pytest.raises(IllegalActionError, match=r"\(rule 5\)"):
        light.play("1h4")
    dark = from_text(FOUR_ONES + " d" + words)
    assert "1h4" in dark.legal_moves()
    assert "4 of your four are left" in dark.explain("1h4")
    dark.play("1h4")
    assert stock(dark, 1)[0] == 3


def test_stock_is_counted_once_the_owners_are_known() -> None:
    chosen = horikomi(with_stones("5a9"), setup="choose")
    assert stock(chosen, 0) == stock(chosen, 1) == [4] * 9
    play(chosen, "dark start0")
    assert stock(chosen, 0) == [4] * 9
    assert stock(chosen, 1)[4] == 3
    drafted = play(horikomi(with_stones("5a9"), territory="draft"), "r2 r1 r3 r4 r6 r7 r8 r9")
    assert stock(drafted, 0) == [4] * 9
    assert stock(drafted, 1)[4] == 3


def test_handicap_stones_count_for_nobody() -> None:
    position = play(horikomi(with_stones("5a9"), handicap=(1, 2)), "1e5 2e6")
    assert position.to_move == 0
    assert stock(position, 0) == [4, 4, 4, 4, 3, 4, 4, 4, 4]
    assert stock(position, 1) == [4] * 9


# ---- rule 6: skipping and the end ----


def test_a_player_without_a_move_is_skipped() -> None:
    """After 2b5 only the 1 on f7 fits, and dark has no 1 left."""
    position = from_text(
        "81263.479/3.485..12/9.572.36./.6.3842.5/..8517694/1739628../281.7695./6.9143728/4572.91.3"
        " l stock=210320110,002012112"
    )
    position.play("2b5")
    assert position.to_move == 0
    assert position.legal_moves() == ["1f7"]
    position.play("1f7")
    assert position.is_terminated
    assert position.to_move == 0
    assert position.returns() == (-1, 1)


def test_a_starter_without_a_move_is_an_error() -> None:
    with pytest.raises(OptionError, match="cannot place"):
        horikomi(STUCK)
    with pytest.raises(OptionError, match="puzzle 2"):
        Position("sudoku_horikomi", puzzle=[EMPTY, STUCK])
    with pytest.raises(OptionError, match="cannot place"):
        horikomi(STUCK, handicap=(0, 3))


def test_a_starter_chosen_later_is_skipped() -> None:
    position = play(horikomi(STUCK, setup="choose"), "light start0")
    assert position.to_move == 1
    assert position.legal_moves() == ["1f7"]
    swapped = play(horikomi(STUCK, setup="choose"), "dark start1")
    assert swapped.to_move == 0


@pytest.mark.parametrize(("colour", "returns"), [("light", (1, -1)), ("dark", (-1, 1))])
def test_play_without_moves_for_either_player_is_over(
    colour: str, returns: tuple[int, int]
) -> None:
    position = play(horikomi(FINISHED, setup="choose"), f"{colour} start0")
    assert position.is_terminated
    assert position.to_move == 1, "player_1 made the last step"
    assert position.returns() == returns


def test_a_full_board_is_a_draw() -> None:
    position = play(horikomi(SOLVED, setup="choose"), "light start0")
    assert position.is_terminated
    assert position.returns() == (0, 0)


# ---- rule 7: the ranking ----

# Position, last move, the empty cells of light's and of dark's regions after it, light's gain.
ENDS = {
    "more Moyo stones": (
        "81263.479/3.485..12/9.572.36./.6.3842.5/.28517694/1739628../281.7695./6.9143728/4572.91.3"
        " l stock=200320110,002012112",
        "1f7",
        [2, 2, 2, 3],
        [1, 2, 2, 3],
        -1,
    ),
    "fewer Moyo stones": (
        ".14958673/73...6928/.261374.5/8.957126./1.5362849/27384915./347625.91/69.48.532/581793..6"
        " l stock=000111221,221200000",
        "9a7",
        [1, 1, 2, 2],
        [1, 2, 2, 3],
        1,
    ),
    "more full regions": (
        "7..8.3412/5169743.8/.8456297./16.347829/39.685741/458129.36/945231.67/.3245618./6.1798253"
        " d stock=120111100,001010112",
        "9c9",
        [0, 2, 2, 2],
        [1, 1, 2, 2],
        1,
    ),
    "fewer full regions": (
        "748.512.6/3.562.849/6..489153/..6598472/127364.9./89321756./58.172634/.32846915/964..3728"
        " l stock=101100302,211020010",
        "1b8",
        [1, 2, 2, 2],
        [0, 2, 2, 3],
        -1,
    ),
    "more with eight": (
        "268519347/374....82/5.942761./.93641875/65789213./.1.735924/4263785.1/.35164798/8.125.4.6"
        " l stock=001012121,121100002",
        "6f8",
        [1, 1, 2, 3],
        [1, 2, 2, 2],
        1,
    ),
    "fewer with eight": (
        "82.759.3./9.53.6128/37412.65./768542..9/..9671543/152983.67/2964187.5/541.97382/.87235914"
        " l stock=101201111,111102010",
        "4g9",
        [1, 2, 2, 2],
        [1, 1, 2, 3],
        -1,
    ),
    "more with seven": (
        "..82.9147/796485.23/3416.759./519762.38/.3.1584.6/6.29347.5/.2.573914/857.2.6../964.1.28."
        " l stock=101212112,222010120",
        "8b4",
        [2, 2, 2, 4],
        [2, 2, 3, 3],
        1,
    ),
    "fewer with seven": (
        ".847.6931/.21..8645/5.6249.78/418937.6./6..812357/7395642../86.325.19/34719.526/9.56..784"
        " d stock=133100020,200120202",
        "5e9",
        [1, 2, 3, 3],
        [1, 2, 2, 4],
        -1,
    ),
    "all equal": (
        "86..2.713/4..639.5./951..4286/.257836.9/.13452.78/.879613.4/67.19843./1.9346527/342.75861"
        " l stock=111030211,120201012",
        "5d9",
        [1, 2, 3, 3],
        [1, 2, 3, 3],
        0,
    ),
}


def empty_by_block(text: str) -> list[int]:
    rows = text.split(maxsplit=1)[0].split("/")
    return [
        "".join(row[left : left + 3] for row in rows[top : top + 3]).count(".")
        for top in (0, 3, 6)
        for left in (0, 3, 6)
    ]


@pytest.mark.parametrize("light", [0, 1], ids=["player_0 light", "player_1 light"])
@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_ranking(end: tuple[str, str, list[int], list[int], int], light: int) -> None:
    text, move, light_empty, dark_empty, gain = end
    options = {"setup": "choose"} if light else {}
    position = from_text(text + " light=1" * light, **options)
    position.play(move)
    blocks = empty_by_block(str(position))
    assert sorted(blocks[b] for b in LIGHT) == light_empty
    assert sorted(blocks[b] for b in DARK) == dark_empty
    assert position.is_terminated
    signed = -gain if light else gain
    assert position.returns() == (signed, -signed)
    assert str(position).endswith(f"result={signed}")
    for wrong in {-1, 0, 1} - {signed}:
        with pytest.raises(PositionError, match="result"):
            from_text(str(position).rpartition("result=")[0] + f"result={wrong}", **options)


# ---- texts ----


def test_text_with_dark_as_player_0() -> None:
    position = from_text(FOUR_ONES + " d light=1 stock=044444444,444444444", setup="choose")
    assert position.to_move == 0
    assert stock(position, 0)[0] == 4
    assert stock(position, 1)[0] == 0
    assert str(position) == FOUR_ONES + " d light=1 stock=044444444,444444444"


def test_the_default_stock_counts_for_the_owners() -> None:
    """NW, NE and W are light, N is dark."""
    position = from_text(FOUR_ONES + " l")
    assert stock(position, 0)[0] == 1
    assert stock(position, 1)[0] == 3
    assert str(position) == FOUR_ONES + " l"


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("l stock=444444444,444444444", "of the 1 both together must have 4 left, not 8"),
        ("l stock=544444444,344444444", "0 to 4"),
        ("l stock=044444444", "0 to 4"),
        ("l stock=04444444,4444444444", "0 to 4"),
        ("l stock=044444444,44444444x", "0 to 4"),
        ("l points=1", "unknown field"),
        ("l result=0", "not how this game ends"),
    ],
)
def test_impossible_texts(words: str, error: str) -> None:
    with pytest.raises(PositionError, match=error):
        from_text(f"{FOUR_ONES} {words}")


def test_no_stock_in_the_opening() -> None:
    with pytest.raises(PositionError, match="stock"):
        from_text("/".join(["........."] * 9) + " l stock=444444444,444444444")


def test_a_player_who_would_be_skipped_is_not_to_move() -> None:
    board = "/".join(STUCK[i : i + 9] for i in range(0, 81, 9))
    with pytest.raises(PositionError, match="cannot place"):
        from_text(board + " l")
    assert from_text(board + " d").legal_moves() == ["1f7"]


# ---- the rest ----


def test_no_scoring_option() -> None:
    with pytest.raises(OptionError, match="scoring"):
        horikomi(scoring="points")


def test_trays_show_the_stock() -> None:
    position = play(horikomi(), OPENING + " 6a9")
    trays = dict(position.scene().trays)
    assert [len(stones) for stones in trays.values()] == [36, 35]
    assert list(trays) == ["player_0 (light)", "player_1 (dark)"]
    assert [stone.label for stone in trays["player_1 (dark)"]].count("6") == 3


def test_the_note_beside_the_board_names_the_phase() -> None:
    position = Position("sudoku_horikomi", seed=4)
    assert position.scene().notes == ("player_0 (light) to move (opening: neutral region)",)
    for move in ["6d6", "5d4", "7e5", "9f5"]:
        position.play(move)
    assert position.scene().notes == ("player_0 (light) to move (any region but neutral)",)
