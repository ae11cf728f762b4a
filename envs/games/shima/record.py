"""The `Game` records of Sudoku Moyo, Sudoku Horikomi and the match, with options and variants."""

from __future__ import annotations

from dataclasses import replace

from azumaya.envs.game import Game, Hints, Observation, Option, Options, Rules, Words, one_of
from azumaya.envs.games.shima import (
    board,
    endgame,
    filling,
    horikomi,
    horikomi_words,
    match,
    match_words,
    moyo,
    moyo_words,
    narrowing,
    race,
    starts,
    words,
)
from azumaya.envs.games.shima.territory import Territory, check_territory, moved_options
from azumaya.envs.geometry.sudoku81 import CELLS, NUMBERS, SQUARES
from azumaya.envs.kernels.rng import draw_start
from azumaya.envs.puzzles.choice import load_puzzles
from azumaya.envs.symmetries import Settings

# ---- options ----

SHARED_OPTIONS = (
    Option(
        "puzzle",
        None,
        "81 characters (`.` or `0` = empty) or whole numbers, a sequence of these, an array "
        '`(n, 81)`, a path to a puzzle file, `"train"`, `"test"`, or None',
        "The puzzle laid out first. Of several puzzles the seed draws one: with None from the "
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
        "This player first lays n stones in the neutral region, while any fit.",
        starts.check_handicap,
    ),
)
SCORING = Option(
    "scoring",
    "win",
    '`"win"`, `"points"`',
    "`points`: the winner goes on laying stones while any fits; the reward is the number "
    "of stones laid after the opponent's last one.",
    one_of("scoring", "win", "points"),
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
MOYO_VARIANTS: tuple[Settings, ...] = (
    *SHARED_VARIANTS,
    {"scoring": "points"},
    {"scoring": "points", "setup": "choose", "territory": "rows", "puzzle": EMPTY_BOARD},
    {"scoring": "points", "territory": "draft", "setup": "choose", "handicap": (0, 4)},
    {"scoring": "points", "setup": "choose", "handicap": (1, 1), "puzzle": NEARLY_FULL},
)

# ---- the games ----

MOYO = Game(
    name="sudoku_moyo",
    title="Sudoku Moyo",
    rules=Rules(
        state=board.MOYO_STATE,
        reset=draw_start,
        play=moyo.play,
        write_legal=moyo.write_legal,
        observe=moyo.observe,
        evaluate=moyo.evaluate,
    ),
    observation=Observation(shape=(9, 9), planes=board.MOYO_PLANES, houses_only=True),
    options=Options(
        known=(*SHARED_OPTIONS, SCORING),
        starts=starts.moyo_starts,
        num_actions=words.num_actions,
        max_steps=lambda settings: board.MAX_STEPS,
        payoff_bound=lambda settings: CELLS if settings["scoring"] == "points" else 1,
        variants=MOYO_VARIANTS,
    ),
    words=Words(
        move_name=words.move_name,
        parse_move=words.parse_move,
        action_cells=words.action_cells,
        write_text=moyo_words.write_text,
        read_text=moyo_words.read_text,
        explain=moyo_words.explain,
        scene=moyo_words.scene,
        check_state=moyo_words.check_state,
        how_to_play=moyo_words.HOW_TO_PLAY,
    ),
    symmetries=replace(board.MOYO_SYMMETRIES, options=moved_options),
    hints=Hints(
        bounds=race.bounds,
        simplify=endgame.simplify,
        outlook=endgame.outlook,
        outlook_words=endgame.OUTLOOK_WORDS,
        prospects=race.prospects,
        narrow=narrowing.narrow,
    ),
)

HORIKOMI = Game(
    name="sudoku_horikomi",
    title="Sudoku Horikomi",
    rules=Rules(
        state=board.HORIKOMI_STATE,
        reset=draw_start,
        play=horikomi.play,
        write_legal=horikomi.write_legal,
        observe=horikomi.observe,
        evaluate=horikomi.evaluate,
    ),
    observation=Observation(shape=(9, 9), planes=board.HORIKOMI_PLANES, houses_only=True),
    options=Options(
        known=SHARED_OPTIONS,
        starts=starts.horikomi_starts,
        num_actions=words.num_actions,
        max_steps=lambda settings: board.MAX_STEPS,
        variants=SHARED_VARIANTS,
    ),
    words=Words(
        move_name=words.move_name,
        parse_move=words.parse_move,
        action_cells=words.action_cells,
        write_text=horikomi_words.write_text,
        read_text=horikomi_words.read_text,
        explain=horikomi_words.explain,
        scene=horikomi_words.scene,
        check_state=horikomi_words.check_state,
        how_to_play=horikomi_words.HOW_TO_PLAY,
    ),
    symmetries=replace(board.HORIKOMI_SYMMETRIES, options=moved_options),
    hints=Hints(
        bounds=filling.bounds, outlook=filling.outlook, outlook_words=filling.OUTLOOK_WORDS
    ),
)

MATCH = replace(
    MOYO,
    name="sudoku_moyo_match",
    title="Sudoku Moyo, a match of two games",
    rules=replace(
        MOYO.rules,
        state=board.MATCH_STATE,
        play=match.play,
        observe=match.observe,
    ),
    observation=replace(MOYO.observation, planes=board.MATCH_PLANES),
    options=replace(
        MOYO.options,
        starts=starts.match_starts,
        max_steps=lambda settings: 2 * board.MAX_STEPS,
        payoff_bound=lambda settings: 1,
        variants=(
            {},
            {"puzzle": NEARLY_FULL},
            {"puzzle": NEARLY_FULL, "setup": "choose", "handicap": (1, 1)},
            {"territory": "draft", "setup": "choose", "handicap": (0, 4)},
        ),
    ),
    words=replace(
        MOYO.words,
        write_text=match_words.write_text,
        read_text=match_words.read_text,
        explain=match_words.explain,
        scene=match_words.scene,
        check_state=match_words.check_state,
    ),
    symmetries=replace(board.MATCH_SYMMETRIES, options=moved_options),
    hints=Hints(),
)
