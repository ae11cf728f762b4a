"""Every game drawn from its first position to its last."""

from __future__ import annotations

import random
import xml.etree.ElementTree as ET
from typing import Any

import numpy as np
import pytest

from azumaya.baselines.cli.contract import is_over, play_out
from azumaya.envs.render import ansi_of, svg_of
from azumaya.envs.render.layout import layout_of
from tests.cases import CASES, DERIVED_CASES, SHAPES, Case

pytest.importorskip("resvg_py")
every_shape = pytest.mark.parametrize("case", SHAPES, ids=lambda case: case.label)


@pytest.mark.parametrize("case", [*CASES, *DERIVED_CASES], ids=lambda case: case.label)
def test_positions_of_a_game_can_be_drawn(case: Case) -> None:
    """Pictures have one size, and scenes the same number of notes and trays; text works, too.

    Of every third ply and of the last, which take long enough.
    """
    env = case.raw()
    env.reset(seed=5)
    rng = random.Random(5)
    sizes = set()
    while True:
        scene = env.position.scene(env.last_action)
        tree = ET.fromstring(svg_of(scene, candidates=True))
        size = tree.get("width"), tree.get("height")
        sizes.add((*size, len(scene.notes), len(scene.trays)))
        assert set(scene.last) <= set(range(len(layout_of(scene.board).centres)))
        assert scene.notes
        assert scene.notes[0] in ansi_of(scene, candidates=True, colour=False)
        if is_over(env):
            break
        play_out(env, rng, plies=3)
    assert len(sizes) == 1


@every_shape
def test_environments_draw_in_their_mode(case: Case) -> None:
    """Environments return text or pixels, with candidates on request."""
    frames: dict[str, Any] = {}
    for mode in ("ansi", "rgb_array"):
        env = case.env(render_mode=mode)
        env.reset(seed=3)
        play_out(env.unwrapped, random.Random(3), plies=2)
        frames[mode] = env.render()
        env.unwrapped.show_candidates = True
        shows = bool(env.unwrapped.position.scene().candidates)
        assert np.array_equal(frames[mode], env.render()) != shows
        env.close()
    assert isinstance(frames["ansi"], str)
    assert frames["rgb_array"].dtype == np.uint8
    assert frames["rgb_array"].shape[2] == 3


@every_shape
def test_positions_draw_themselves(case: Case) -> None:
    """Positions have a picture for notebooks and text for the terminal."""
    position = case.position(seed=3)
    assert position._repr_svg_() == svg_of(position.scene())
    assert position.draw(colour=False) == ansi_of(position.scene(), colour=False)
    assert position.draw(colour=False, candidates=True) == ansi_of(
        position.scene(), candidates=True, colour=False
    )
    action = position.legal_actions()[0]
    position.play(action)
    scene = position.scene(action)
    assert position.svg(last_action=action, candidates=True) == svg_of(scene, candidates=True)
