"""The record of Abalone: rules, options and words put together."""

from __future__ import annotations

from azumaya.envs.game import Game, Hints, Observation, Option, Options, Rules, Words, one_of
from azumaya.envs.games.abalone import limit, rules, texts, words
from azumaya.envs.games.abalone.board import ACTIONS, MOST_PLIES, PLANES, STATE, SYMMETRIES
from azumaya.envs.geometry.hex61 import SIZE
from azumaya.envs.kernels.rng import draw_start

LAYOUT = Option(
    "layout",
    "standard",
    ", ".join(f'`"{name}"`' for name in words.LAYOUTS) + ", or a position text",
    "How the marbles lie at the start.",
    words.check_layout,
    start_only=True,
)
PLY_LIMIT = Option(
    "max_plies",
    400,
    f"0 to {MOST_PLIES}",
    "After this many steps the game is truncated, a draw unless `tiebreak` decides it; 0: never.",
    words.check_plies,
)
TIEBREAK = Option(
    "tiebreak",
    None,
    '`None`, `"marbles"`',
    "`marbles`: at `max_plies` whoever has pushed out more marbles wins; equal numbers draw.",
    one_of("tiebreak", "marbles"),
)

CLOSE_COMBAT = (
    "wwwww/bbbbbb/w.....b/..bww..b/.wwbbbw../b..wwb../b.....w/wwwwww/bbbbb b out=5,5 ply=7"
)
"""A start in which one marble more decides, for the variants."""
CORNERED = "...../....../......./......../........./......../b....../.b..../wb... b out=0,0"
"""A start in which white, whose marble is in the corner, may soon have no move."""

ABALONE = Game(
    name="abalone",
    title="Abalone",
    rules=Rules(
        state=STATE,
        reset=draw_start,
        play=rules.play,
        write_legal=rules.write_legal,
        observe=rules.observe,
        evaluate=rules.evaluate,
    ),
    observation=Observation(shape=(SIZE, SIZE), planes=PLANES),
    options=Options(
        known=(LAYOUT, PLY_LIMIT, TIEBREAK),
        starts=texts.starts,
        num_actions=lambda settings: ACTIONS,
        max_steps=lambda settings: int(settings["max_plies"]) or rules.NO_BOUND,
        variants=(
            {},
            {"layout": "belgian_daisy", "max_plies": 60, "tiebreak": "marbles"},
            {"layout": "german_daisy", "max_plies": 9},
            {"layout": "swiss_daisy", "max_plies": 40, "tiebreak": "marbles"},
            {"layout": "dutch_daisy", "max_plies": 200},
            {"layout": CLOSE_COMBAT, "max_plies": 0},
            {"layout": CORNERED, "max_plies": 30},
        ),
    ),
    words=Words(
        move_name=words.move_name,
        parse_move=words.parse_move,
        action_cells=words.action_cells,
        write_text=texts.write_text,
        read_text=texts.read_text,
        explain=words.explain,
        scene=words.scene,
        check_state=words.check_state,
        how_to_play=words.HOW_TO_PLAY,
    ),
    symmetries=SYMMETRIES,
    hints=Hints(bounds=limit.bounds, takes=limit.takes),
)
