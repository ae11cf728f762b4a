"""Halma-Dominari: the record of the game, its option and its starts."""

from __future__ import annotations

from typing import Any

import numpy as np

from azumaya.envs.errors import OptionError, brief
from azumaya.envs.game import (
    Game,
    Observation,
    Option,
    Options,
    Rules,
    Words,
    new_states,
    plain_text,
)
from azumaya.envs.games._dominari.words import side
from azumaya.envs.games.halma_dominari import rules, text
from azumaya.envs.games.halma_dominari.board import (
    ACTIONS,
    CHOOSE,
    NUMBERS,
    PLANES,
    SHUFFLE,
    START_CELLS,
    STATE,
    SYMMETRIES,
)
from azumaya.envs.geometry.dominari36 import SIZE
from azumaya.envs.kernels.bits import bit
from azumaya.envs.symmetries import Settings

# ---- option and starts ----


def check_setup(value: Any) -> str | tuple[str, str]:
    """The option `setup`: its canonical value, or `OptionError`."""
    if isinstance(value, str) and value in ("random", "choose"):
        return plain_text(value)
    if isinstance(value, tuple | list) and len(value) == 2:
        digits = "".join(str(n + 1) for n in range(NUMBERS))
        if all(isinstance(part, str) and sorted(part) == list(digits) for part in value):
            return (plain_text(value[0]), plain_text(value[1]))
    raise OptionError(
        f"setup={brief(value)}: must be 'random', 'choose', or two strings with each of the digits "
        "1 to 6 once, like ('123456', '654321')"
    )


def starts(settings: Settings) -> np.ndarray:
    """The arrangement, or the start from which it is drawn or placed, `(1,)` states."""
    states = new_states(1, STATE)
    setup = settings["setup"]
    if isinstance(setup, tuple):
        for player, digits in enumerate(setup):
            for cell, digit in zip(START_CELLS[player], digits, strict=True):
                states["stones"][0, player, int(digit) - 1] = bit(cell)
    else:
        states["stage"] = CHOOSE if setup == "choose" else SHUFFLE
    return states


SETUP = Option(
    "setup",
    "random",
    '`"random"`, `"choose"`, or two strings of six digits',
    "`random`: the seed draws both arrangements; `choose`: players place their numbers in turns; "
    "two strings: white's on a1 b1 c1 a2 b2 a3 and black's on f6 e6 d6 f5 e5 f4.",
    check_setup,
    start_only=True,
)

HALMA = Game(
    name="halma_dominari",
    title="Halma-Dominari",
    rules=Rules.of(STATE, rules),
    observation=Observation(shape=(SIZE, SIZE), planes=PLANES),
    options=Options(
        known=(SETUP,),
        starts=starts,
        num_actions=lambda settings: ACTIONS,
        max_steps=lambda settings: rules.MAX_STEPS,
        variants=({}, {"setup": "choose"}, {"setup": ("123456", "654321")}),
    ),
    words=Words.of(text, how_to_play=text.HOW_TO_PLAY, idea=text.IDEA, minutes=10, side=side),
    symmetries=SYMMETRIES,
)
