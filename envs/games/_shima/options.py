"""The options that Sudoku Moyo, Sudoku Horikomi and the match share, and variants of them."""

from __future__ import annotations

from azumaya.envs.game import Option, one_of
from azumaya.envs.games._shima import starts
from azumaya.envs.games._shima.territory import Territory, check_territory
from azumaya.envs.geometry.sudoku81 import CELLS, NUMBERS, SQUARES
from azumaya.envs.puzzles.choice import load_puzzles
from azumaya.envs.symmetries import Settings

# ---- options ----

SHARED_OPTIONS = (
    Option(
        "puzzle",
        None,
        "81 characters (`.` or `0` = empty) or whole numbers, a sequence of these, an array "
        '`(n, 81)`, a path to a puzzle file, `"train"`, `"test"`, or None',
        "The puzzle set up first. Of several puzzles the seed draws one: with None from the "
        "shipped bank, with `train` or `test` from a fixed part of it, else from the sequence or "
        "the file.",
        load_puzzles,
        default_is_checked=True,
        reads_files=True,
        start_only=True,
    ),
    Option(
        "territory",
        "standard",
        '`"standard"`, `"corners"`, `"rows"`, `"columns"`, `"draft"` or a `Territory`',
        "The regions and their owners; with `draft` the players take the blocks in turn.",
        check_territory,
    ),
    Option(
        "setup",
        "fixed",
        '`"fixed"`, `"choose"`',
        "`fixed`: player_0 is light and starts. `choose`: player_0 chooses a colour, then "
        "player_1 says who starts.",
        one_of("setup", "fixed", "choose"),
    ),
    Option(
        "handicap",
        None,
        "`(player, n)` or None",
        "This player first places n stones in the neutral region, while any fit.",
        starts.check_handicap,
    ),
)

# ---- variants ----

EMPTY_BOARD = "." * CELLS
FEW_GIVENS = "1" + "." * 39 + "5" + "." * 40
SCATTERED = Territory(
    ((3 * row + row // 3 + column) % NUMBERS + 1 for row in range(9) for column in range(9)),
    "DLDL.LDLD",
)
"""No two cells of a region share a row, column or block, so only rule 4's regions forbid."""
DIAGONAL = Territory(
    ((column - row) % NUMBERS + 1 for row in range(9) for column in range(9)), "L.DLDLDLD"
)
"""Regions are broken diagonals, three cells of each in a block."""

_FULL = "534678912672195348198342567859761423426853791713924856961537284287419635345286179"
NEARLY_FULL = tuple(
    "".join("." if SQUARES[c] in holes.split() else _FULL[c] for c in range(CELLS))
    for holes in (
        "d6 e6 d5 f4",
        "e5 e6 d9 d8 h5",
        "e5 a9 i9",
        "d5 e5 f5 b5 c5 a5",
        "d6 f4 e1 e2 g5 g9",
        "d4 d5 d6 e4 e5 e6 f4 f5 f6 a1 a2 b1 b2",
    )
)
"""Full boards minus some stones: here a player can run out of moves while the centre has room."""

SHARED_VARIANTS: tuple[Settings, ...] = (
    {},
    {"territory": "corners"},
    {"territory": "rows", "puzzle": EMPTY_BOARD},
    {"territory": "columns", "handicap": (1, 3)},
    {"territory": SCATTERED, "puzzle": FEW_GIVENS},
    {"territory": DIAGONAL, "puzzle": EMPTY_BOARD, "handicap": (0, 9)},
    {"setup": "choose"},
    {"setup": "choose", "handicap": (0, 0), "territory": SCATTERED, "puzzle": FEW_GIVENS},
    {"territory": "draft"},
    {"territory": "draft", "setup": "choose", "handicap": (1, 2)},
    {"puzzle": NEARLY_FULL},
    {"puzzle": NEARLY_FULL, "setup": "choose", "handicap": (0, 1)},
    {"puzzle": NEARLY_FULL, "setup": "choose", "handicap": (1, 1)},
)
