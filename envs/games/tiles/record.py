"""The `Game` record of Sudoku tiles, with its options and variants."""

from __future__ import annotations

from azumaya.envs.game import Game, Observation, Option, Options, Rules, Words, one_of
from azumaya.envs.games.tiles import board, deal, rules, starts, words
from azumaya.envs.geometry.sudoku81 import CELLS
from azumaya.envs.symmetries import Settings

OPTIONS = (
    Option(
        "start",
        "random",
        '`"random"`, `"one_each"` or 81 characters (`.` or `0` = empty)',
        "The tiles on the board: nine at random, one in each row and column; the numbers 1 "
        "to 9 once each, one in each row, column and block; or any board that obeys "
        "the Sudoku rule and has a cell for the first tile.",
        starts.check_start,
        start_only=True,
    ),
    Option(
        "draws",
        None,
        "digits 1-9 or None",
        "The tiles drawn first, in this order; the others are drawn by the seed. With a "
        "position text they follow its drawn tile, up to the first that is no longer left.",
        starts.check_draws,
        start_only=True,
    ),
    Option(
        "misplacement",
        False,
        "`False`, `True`",
        "Every empty cell is an action; a tile laid against the Sudoku rule scores 0 and is "
        "put aside for good.",
        one_of("misplacement", False, True),
    ),
    Option(
        "reward",
        "win",
        '`"win"`, `"points"`',
        "`win`: +1, -1 or 0 at the end. `points`: whoever lays a tile gets its points, the "
        "opponent their negative, at once; nothing more at the end.",
        one_of("reward", "win", "points"),
    ),
)

CROWDED = "..4678.126.2195348198342567859761423.2685379171392485696153728428741.6.534528617."
"""A board with so few empty cells that the tiles may run out."""

VARIANTS: tuple[Settings, ...] = (
    {},
    {"start": "one_each"},
    {"misplacement": True},
    {"reward": "points"},
    {"start": CROWDED},
    {"start": CROWDED, "misplacement": True},
    {"start": "one_each", "draws": "5938", "misplacement": True, "reward": "points"},
    {"start": "1" + "." * 80, "draws": "123456789", "reward": "points"},
)

TILES = Game(
    name="sudoku_tiles",
    title="Sudoku tiles",
    rules=Rules(
        state=board.STATE,
        reset=deal.reset,
        play=rules.play,
        write_legal=rules.write_legal,
        observe=rules.observe,
        evaluate=rules.evaluate,
        resample=deal.resample,
        hidden=("pile", "fixed", "began"),
    ),
    observation=Observation(shape=(9, 9), planes=board.PLANES, houses_only=True),
    options=Options(
        known=OPTIONS,
        starts=starts.starts,
        num_actions=lambda settings: CELLS,
        max_steps=lambda settings: board.TILE_COUNT,
        payoff_bound=lambda settings: board.MOST_POINTS if settings["reward"] == "points" else 1,
        variants=VARIANTS,
    ),
    words=Words(
        move_name=words.move_name,
        parse_move=words.parse_move,
        action_cells=lambda action, settings: (action,),
        write_text=words.write_text,
        read_text=words.read_text,
        explain=words.explain,
        scene=words.scene,
        check_state=words.check_state,
        how_to_play=words.HOW_TO_PLAY,
        revealed=starts.revealed,
    ),
    symmetries=board.SYMMETRIES,
)
