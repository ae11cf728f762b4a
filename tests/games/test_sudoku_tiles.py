"""Sudoku tiles by hand: the start, the pile, the points, every option and every end."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from azumaya.envs import OptionError, Position, PositionError, sudoku_tiles_v0
from azumaya.envs.errors import IllegalActionError, MoveNameError
from azumaya.envs.games.sudoku_tiles.game import TILES

FILES = "abcdefghi"
SQUARES = [f + str(r) for r in range(9, 0, -1) for f in FILES]
SOLVED = "534678912672195348198342567859761423426853791713924856961537284287419635345286179"
EXAMPLE = (
    "...3..2../.....5.../.7...6.3./...721..3/.1.5.3.../....68.../.......8./..4....../...9....."
)
"""The board of the picture in the rules, before the 4 is laid on d4."""
DEAD_END = "634.78912.721953481983425678597614234268.3791713924856961537284287419635345286179"
"""5, 5 and 6 are left; a 5 fits on e5, nothing on a8 and d9."""


def without(*squares: str) -> str:
    """The full grid without some squares."""
    return "".join("." if s in squares else SOLVED[i] for i, s in enumerate(SQUARES))


def tiles(seed: int = 0, **options: Any) -> Position:
    return Position("sudoku_tiles", seed=seed, **options)


def from_text(text: str, **options: Any) -> Position:
    return Position.from_text("sudoku_tiles", text, **options)


def board_of(position: Position) -> dict[str, int]:
    """The number on each square that has a tile."""
    marks = str(position).split()[0].replace("/", "")
    return {square: int(m) for square, m in zip(SQUARES, marks, strict=True) if m != "."}


def words_of(position: Position) -> dict[str, str]:
    return dict(word.split("=") for word in str(position).split()[2:])


def drawn(position: Position) -> int:
    return int(words_of(position).get("tile", 0))


def seen(position: Position, player: int = 0) -> dict[str, int]:
    """The planes of numbers."""
    planes = position.observation(player)[TILES.observation.cell_planes :, 0, 0]
    names = [plane.name for plane in TILES.observation.planes[TILES.observation.cell_planes :]]
    return dict(zip(names, planes.tolist(), strict=True))


def block_of(square: str) -> tuple[int, int]:
    return FILES.index(square[0]) // 3, (int(square[1]) - 1) // 3


def play_out(position: Position, rng: random.Random) -> list[int]:
    """Play random moves to the end; returns the tiles drawn, including the first."""
    order = [drawn(position)]
    while not position.is_over:
        position.play(rng.choice(position.legal_actions()))
        order.append(drawn(position))
    return order


# ---- actions ----


def test_actions_are_the_81_squares() -> None:
    position = tiles()
    assert position.num_actions == 81
    assert [position.move_name(a) for a in range(81)] == SQUARES
    assert position.parse_move("e4") == 49
    with pytest.raises(MoveNameError, match="5e4"):
        position.parse_move("5e4")


# ---- rule 1: the start ----


def test_random_start() -> None:
    cells, numbers, repeats = Counter(), Counter(), 0
    for seed in range(400):
        position = tiles(seed)
        board = board_of(position)
        assert {s[0] for s in board} == set(FILES)
        assert {s[1] for s in board} == set("123456789")
        assert len(board) == 9
        assert len({(block_of(s), n) for s, n in board.items()}) == 9, "a number twice in a block"
        assert position.legal_moves()
        cells.update(board.keys())
        numbers.update(board.values())
        repeats += len(set(board.values())) < 9
        TILES.words.check_state(position.state[0])
    assert repeats > 350, "tiles are drawn from all 81, so numbers repeat"
    assert len(cells) == 81
    assert all(15 <= count <= 90 for count in cells.values()), "each cell about 44 times"
    assert all(300 <= numbers[n] <= 500 for n in range(1, 10)), "each number about 400 times"


def test_a_start_with_one_tile_of_each_number() -> None:
    boards = []
    for seed in range(60):
        board = board_of(tiles(seed, start="one_each"))
        assert sorted(board.values()) == list(range(1, 10))
        assert len({s[0] for s in board}) == len({s[1] for s in board}) == 9
        assert len({block_of(s) for s in board}) == 9
        boards.append(tuple(sorted(board.items())))
    assert len(set(boards)) == 60


def test_board_as_start() -> None:
    position = tiles(start=without("a9", "d9", "e5").replace(".", "0"))
    assert str(position).split()[0].replace("/", "") == without("a9", "d9", "e5")
    assert seen(position)["left 5"] + seen(position)["left 6"] == 2


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"start": SOLVED}, "none of the tiles"),
        ({"start": "55" + "." * 79}, "the number 5 lies twice .* on a9 and b9"),
        ({"start": "." * 80}, "81 characters"),
        ({"start": "x" * 81}, "81 characters"),
        ({"start": ["." * 81]}, "81 characters"),
        ({"start": DEAD_END.replace("8.3", "853")}, "none of the tiles"),
        ({"start": DEAD_END, "draws": "6"}, "the first tile, 6, fits nowhere"),
        ({"start": DEAD_END, "draws": "555"}, "10 tiles with the 5 with the start"),
        ({"start": "one_each", "draws": "5" * 9}, "10 tiles with the 5 with the start"),
        ({"draws": "5" * 10}, "10 tiles with the 5; there are nine"),
        ({"draws": "0"}, "digits from 1 to 9"),
        ({"draws": 5938}, "digits from 1 to 9"),
        ({"draws": "123456789" * 8 + "1"}, "73 tiles"),
        ({"draws": "5" + "12346789" * 8 + "1234678"}, "no start on which the first tile, 5"),
        ({"misplacement": 1}, "misplacement"),
        ({"reward": "margin"}, "reward"),
    ],
)
def test_impossible_options(options: dict[str, Any], error: str) -> None:
    with pytest.raises(OptionError, match=error):
        tiles(**options)


# ---- rule 2: the pile ----


def test_all_81_tiles_are_there() -> None:
    position = tiles(seed=3)
    counts = Counter(board_of(position).values()) + Counter([drawn(position)])
    numbers = seen(position)
    assert all(counts[n] + numbers[f"left {n}"] == 9 for n in range(1, 10))


def test_tiles_in_draws_come_first_in_order() -> None:
    for start in ("random", "one_each"):
        for seed in range(5):
            order = play_out(tiles(seed, start=start, draws="59381"), random.Random(seed))
            assert order[:5] == [5, 9, 3, 8, 1]
            others = play_out(tiles(seed + 50, start=start, draws="59381"), random.Random(seed))
            assert order != others, "the rest is drawn by the seed"


def test_the_start_uses_tiles_not_in_draws() -> None:
    """All tiles but the nine 5s are named in `draws`, so the 5s are the start."""
    position = tiles(draws="12346789" * 9)
    assert set(board_of(position).values()) == {5}
    assert len({block_of(s) for s in board_of(position)}) == 9
    assert play_out(position, random.Random(1))[:4] == [1, 2, 3, 4]


def test_a_chosen_first_tile_fits_on_a_random_start() -> None:
    """Seven 5s must be in the start; the 5 that is drawn first fits all the same."""
    draws = "55" + "12346789" * 8 + "123467"
    for seed in range(5):
        position = tiles(seed, draws=draws)
        assert Counter(board_of(position).values())[5] == 7
        assert position.legal_moves()


def test_the_first_tile_is_drawn_from_those_that_fit() -> None:
    """Of 5, 5 and 6 only a 5 fits."""
    assert {drawn(tiles(seed, start=DEAD_END)) for seed in range(20)} == {5}


def test_a_tile_is_laid_by_sudokus_rule() -> None:
    position = from_text(EXAMPLE + " 0 tile=4")
    open_squares = set(position.legal_moves())
    assert {"d4", "a9", "i1"} <= open_squares
    assert not open_squares & {"c9", "a2", "b3", "d9", "c2"}, (
        "column, row, block of c2, taken cells"
    )
    with pytest.raises(IllegalActionError, match=r"the block of b3 has a 4 on c2.*\(rule 2\)"):
        position.play("b3")
    with pytest.raises(IllegalActionError, match="d9 holds the 3 already"):
        position.play("d9")


def test_the_order_of_the_pile_is_hidden() -> None:
    """Other orders look the same to both players; chance decides which tile comes next."""
    position = tiles(seed=5)
    nexts = set()
    for seed in range(40):
        other = position.resample_hidden(seed)
        TILES.words.check_state(other.state[0])
        assert other == position
        assert str(other) == str(position)
        assert position.revealed() == other.revealed() == {"draws": ""}
        for player in (0, 1):
            assert (other.observation(player) == position.observation(player)).all()
        move = other.legal_moves()[0]
        nexts.add(drawn(other.play(move)))
    assert len(nexts) >= 6


def test_resampling_draws_tiles_in_proportion() -> None:
    """After the first 5 in the dead end, 5 and 6 are left: each comes next half the time."""
    position = tiles(start=DEAD_END)
    nexts = Counter(drawn(position.resample_hidden(s).play("e5")) for s in range(400))
    assert set(nexts) == {5, 6}
    assert 150 < nexts[5] < 250


def test_resampling_with_the_game_seed_does_not_reveal_the_pile() -> None:
    same = sum(
        (tiles(s).resample_hidden(s).state["pile"] == tiles(s).state["pile"]).all()
        for s in range(20)
    )
    assert same == 0


def test_resampling_takes_the_tiles_to_come_out_of_the_options() -> None:
    """Agents are shown the resampled position, and programs are sent its options."""
    position = tiles(draws="5123", start="one_each", reward="points")
    seen = position.resample_hidden(3)
    assert seen.options == {"start": "one_each", "reward": "points"}
    assert seen == position
    assert seen.resample_hidden(4).options == seen.options
    assert position.options["draws"] == "5123"


def test_a_text_start_draws_the_order_by_the_seed() -> None:
    text = str(tiles(seed=1))
    orders = {
        tuple(play_out(tiles(seed, position=text), random.Random(0))[:6]) for seed in range(8)
    }
    assert len(orders) > 4
    again = [play_out(tiles(2, position=text), random.Random(0)) for _ in range(2)]
    assert again[0] == again[1]


def test_draws_after_a_text_follow_its_tile_as_long_as_they_are_left() -> None:
    text = from_text(EXAMPLE + " 0 tile=4")
    order = play_out(tiles(position=str(text), draws="77"), random.Random(0))
    assert order[:3] == [4, 7, 7]
    board = "/".join(DEAD_END[i : i + 9] for i in range(0, 81, 9))
    order = play_out(tiles(position=f"{board} 0 tile=5", draws="665"), random.Random(0))
    assert order == [5, 6]


def test_a_replay_draws_the_same_tiles() -> None:
    start = tiles(seed=9, start="one_each", draws="12", misplacement=True)
    position, rng, moves = start.copy(), random.Random(2), []
    while not position.is_over:
        moves.append(rng.choice(position.legal_moves()))
        position.play(moves[-1])
    options = {**start.options, **position.revealed(), "position": str(start)}
    for seed in (0, 1):
        again = tiles(seed, **options)
        for move in moves:
            again.play(move)
        assert again == position


# ---- rule 3: points ----


def test_the_example_of_the_rules() -> None:
    """Seven tiles in the block, two more in the column, none in the row: nine, each once."""
    position = from_text(EXAMPLE + " 0 tile=4")
    assert position.explain("d4").endswith("scores 9")
    position.play("d4")
    assert words_of(position)["score"] == "9,0"
    assert board_of(position)["d4"] == 4
    assert position.to_move == 1
    assert seen(position, 0)["own ones"] == seen(position, 1)["opposing ones"] == 9


def test_a_tile_alone_scores_nothing() -> None:
    position = tiles(start="1" + "." * 80, draws="2").play("i1")
    assert words_of(position)["score"] == "0,0"


def test_points_above_a_hundred_are_split() -> None:
    position = from_text("/".join([SOLVED[:72][i : i + 9] for i in range(0, 72, 9)])
                         + "/......... 1 tile=3 score=204,98")  # fmt: skip
    numbers = seen(position, 1)
    assert (numbers["own hundreds"], numbers["own ones"]) == (0, 98)
    assert (numbers["opposing hundreds"], numbers["opposing ones"]) == (2, 4)
    assert TILES.rules.evaluate(position.state[0], 0) == 106


# ---- misplacement ----


def test_misplacement() -> None:
    position = from_text(EXAMPLE + " 0 tile=4", misplacement=True)
    assert set(position.legal_moves()) == set(SQUARES) - set(board_of(position))
    assert "is legal, but the block of b3 has a 4 on c2" in position.explain("b3")
    position.play("b3")
    assert "b3" not in board_of(position)
    assert position.to_move == 1
    assert words_of(position)["score"] == "0,0"
    assert words_of(position)["aside"] == "000100000"
    left = seen(position)
    assert left["left 4"] + (drawn(position) == 4) == 7, "one on c2, one aside"
    trays = dict(position.scene().trays)
    assert [stone.label for stone in trays["put aside"]] == ["4"]


def test_a_correct_tile_also_scores_under_misplacement() -> None:
    position = from_text(EXAMPLE + " 0 tile=4", misplacement=True).play("d4")
    assert words_of(position)["score"] == "9,0"
    assert "aside" not in words_of(position)


def test_rule_4_also_holds_under_misplacement() -> None:
    """The tile drawn fits nowhere: the game is over though cells are empty."""
    position = tiles(start=DEAD_END, misplacement=True)
    assert set(position.legal_moves()) == {"a8", "d9", "e5"}
    position.play("e5")
    assert position.is_terminated
    aside = tiles(start=DEAD_END, misplacement=True, draws="55").play("a8")
    assert not aside.is_over
    assert aside.to_move == 1
    assert words_of(aside)["aside"] == "000010000"


# ---- rule 4: ends ----


def test_the_game_ends_when_the_tile_drawn_fits_nowhere() -> None:
    position = tiles(start=DEAD_END, draws="56").play("e5")
    assert position.is_terminated
    assert position.to_move == 0
    assert position.returns() == (1, -1)
    assert drawn(position) == 6
    assert position.legal_moves() == []
    assert "6 fits nowhere" in position.scene().notes[0]
    assert from_text(str(position)) == position
    with pytest.raises(PositionError, match="over"):
        tiles(position=str(position))


@pytest.mark.parametrize(
    ("holes", "draws", "moves", "score", "winner"),
    [
        (("a9", "f5"), "53", "a9 f5", "20,20", None),
        (("a9", "d9"), "56", "a9 d9", "19,20", 1),
        (("a9", "f5", "g2"), "536", "a9 f5 g2", "40,20", 0),
    ],
)
def test_the_game_ends_when_the_tiles_run_out(
    holes: tuple[str, ...], draws: str, moves: str, score: str, winner: int | None
) -> None:
    position = tiles(start=without(*holes), draws=draws)
    for move in moves.split():
        position.play(move)
    assert position.is_terminated
    assert words_of(position) == {"score": score}
    gain = {None: 0, 0: 1, 1: -1}[winner]
    assert position.returns() == (gain, -gain)
    assert position.to_move == (len(holes) - 1) % 2
    assert from_text(str(position)) == position


def test_the_tiles_run_out_by_misplacement() -> None:
    position = tiles(start=without("a9", "f5"), draws="53", misplacement=True)
    position.play("f5").play("f5")
    assert position.is_terminated
    assert words_of(position) == {"score": "0,20", "aside": "000010000"}
    assert position.returns() == (-1, 1)


# ---- reward ----


def test_points_as_reward() -> None:
    env = sudoku_tiles_v0.raw_env(start=without("a9", "d9"), draws="56", reward="points")
    env.reset(seed=1)
    env.step(env.parse_move("a9"))
    assert env.rewards == {"player_0": 19, "player_1": -19}
    env.step(env.parse_move("d9"))
    assert env.rewards == {"player_0": -20, "player_1": 20}
    assert all(env.terminations.values())
    assert env.position.returns() == (-1, 1)


def test_win_as_reward_comes_at_the_end() -> None:
    env = sudoku_tiles_v0.raw_env(start=without("a9", "d9"), draws="56")
    env.reset(seed=1)
    env.step(env.parse_move("a9"))
    assert env.rewards == {"player_0": 0, "player_1": 0}
    env.step(env.parse_move("d9"))
    assert env.rewards == {"player_0": -1, "player_1": 1}


def test_options_are_in_the_observation() -> None:
    assert seen(tiles())["misplacement"] == seen(tiles())["points"] == 0
    assert seen(tiles(misplacement=True))["misplacement"] == 1
    assert seen(tiles(reward="points"))["points"] == 1


def test_the_plane_of_fitting_cells_is_the_mask() -> None:
    position = tiles(seed=4)
    fits = position.observation(1)[[p.name for p in TILES.observation.planes].index("fits")]
    assert (fits.ravel() == position.action_mask()).all()
    assert fits.any()


# ---- texts ----


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (EXAMPLE + " 0", "tile= is needed, as 63 tiles are left"),
        (EXAMPLE + " 0 tile=0", "from 1 to 9"),
        (EXAMPLE + " l tile=4", "the side to move is 'l'"),
        (EXAMPLE + " 0 tile=4 score=1", "must be two numbers, like score=1,0"),
        (EXAMPLE + " 0 tile=4 score=24,24", "cannot have scored more than 47"),
        (EXAMPLE + " 0 tile=4 aside=000000001", "misplacement"),
        (EXAMPLE + " 0 tile=4 pile=123", "unknown field"),
        (EXAMPLE.replace("..4......", "..4.....4") + " 0 tile=4", "twice .* on c2 and i2"),
    ],
)
def test_impossible_texts(text: str, error: str) -> None:
    with pytest.raises(PositionError, match=error):
        from_text(text)


def test_impossible_texts_with_tiles_aside() -> None:
    for word, error in (("00000000", "nine digits"), ("000900000", "more than nine tiles")):
        with pytest.raises(PositionError, match=error):
            from_text(f"{EXAMPLE} 0 tile=4 aside={word}", misplacement=True)
    with pytest.raises(PositionError, match="all nine tiles with the 4 are used up"):
        from_text(f"{EXAMPLE} 0 tile=4 aside=000800000", misplacement=True)
