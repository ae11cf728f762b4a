"""The record of Halma-Dominari: rules, options and words put together."""

from __future__ import annotations

from azumaya.envs.game import Game, Hints, Observation, Option, Options, Rules, Words
from azumaya.envs.games.halma import rules, texts, words
from azumaya.envs.games.halma.board import ACTIONS, PLANES, STATE, SYMMETRIES
from azumaya.envs.geometry.dominari36 import SIZE

SETUP = Option(
    "setup",
    "random",
    '`"random"`, `"choose"`, or two strings of six digits',
    "`random`: the seed draws both arrangements; `choose`: the players lay their numbers in turns; "
    "two strings: white's on a1 b1 c1 a2 b2 a3 and black's on f6 e6 d6 f5 e5 f4.",
    words.check_setup,
    start_only=True,
)

HALMA = Game(
    name="halma_dominari",
    title="Halma-Dominari",
    rules=Rules(
        state=STATE,
        reset=rules.reset,
        play=rules.play,
        write_legal=rules.write_legal,
        observe=rules.observe,
        evaluate=rules.evaluate,
    ),
    observation=Observation(shape=(SIZE, SIZE), planes=PLANES),
    options=Options(
        known=(SETUP,),
        starts=words.starts,
        num_actions=lambda settings: ACTIONS,
        max_steps=lambda settings: rules.MAX_STEPS,
        variants=({}, {"setup": "choose"}, {"setup": ("123456", "654321")}),
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
    hints=Hints(reach=rules.reach),
)
