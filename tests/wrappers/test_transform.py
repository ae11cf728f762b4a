"""Transforms refuse bad arguments. `tests/property` tests what they do."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from gymnasium.error import ResetNeeded

from azumaya.envs import IllegalActionError, OptionError, Position
from azumaya.envs.geometry.sudoku81 import BLOCK_OF
from azumaya.envs.geometry.symmetry import Symmetry, identity
from azumaya.wrappers import (
    Augmented,
    AugmentedAEC,
    SingleAgentEnv,
    Transform,
    random_transform,
)
from tests.cases import TESTED, Case

FIRST, SECOND = list(TESTED.values())[:2]


@pytest.mark.parametrize(
    "action", [10**6, -1, 10**30, 1.0, True, "a", None, [0, 10**6], [[1], [2, 3]], np.array([-1]),
               np.zeros(2)],
)  # fmt: skip
def test_bad_actions_are_refused(action: Any) -> None:
    transform = random_transform(FIRST, 1)
    most = len(transform.action_table) - 1
    with pytest.raises(IllegalActionError, match=rf"action=.*must be whole.* 0 to {most};"):
        transform.action(action)


def test_actions_of_every_shape_are_transformed() -> None:
    transform = random_transform(FIRST, 1)
    table = transform.action_table
    last = len(table) - 1
    assert transform.action(last) == transform.action(np.int16(last)) == table[last]
    assert type(transform.action(np.uint8(3))) is int
    every = np.arange(6, dtype=np.uint64).reshape(2, 3)
    assert (transform.action(every) == table[:6].reshape(2, 3)).all()
    assert transform.action(every[:0]).shape == (0, 3)


def test_other_games_boards_and_environments_are_refused() -> None:
    with pytest.raises(OptionError, match=f"position=.*: must be a position of {FIRST.title}"):
        random_transform(FIRST, 1, Position(SECOND))
    with pytest.raises(OptionError, match=f"other=.*: must be a transform of {FIRST.title}"):
        Transform(FIRST).then(Transform(SECOND))
    with pytest.raises(OptionError, match="symmetry"):
        Transform(FIRST, identity(FIRST.observation.cells - 1))
    for wrapper in (Augmented, AugmentedAEC):
        with pytest.raises(OptionError, match="env"):
            wrapper(object())


def test_transforms_with_other_actions_have_no_product() -> None:
    one, other = (Transform("vierer_dominari", settings={"referee": on}) for on in (True, False))
    with pytest.raises(OptionError, match="its settings give the game other actions"):
        one.then(other)
    assert other.then(other).settings["referee"] is False


def test_unknown_settings_are_refused() -> None:
    with pytest.raises(OptionError, match=r"'zz': .* has no such option"):
        Transform(FIRST, settings={"zz": 1})
    with pytest.raises(OptionError, match="'position' says where a game begins"):
        Transform(FIRST, settings={"position": "x"})
    some = dict(list(FIRST.options.defaults.items())[:1])
    assert Transform(FIRST, settings=some).settings == FIRST.options.defaults


@pytest.mark.parametrize("game", TESTED.values(), ids=lambda game: game.name)
def test_a_copy_has_a_game_of_its_own(game: Any) -> None:
    """`copy.copy`, too, copies the game."""
    single, aec = Augmented(SingleAgentEnv(game.name)), AugmentedAEC(Case(game, 0, {}).raw())
    for env in (single, aec):
        env.reset(seed=1)
        before, other = str(env.unwrapped.position), copy.copy(env)
        mask = other.action_masks() if env is single else other.last()[0]["action_mask"]
        other.step(int(mask.argmax()))
        assert str(env.unwrapped.position) == before != str(other.unwrapped.position)


def test_actions_of_every_type_are_those_of_the_transformed_game() -> None:
    """Whatever the environment inside takes as an action is mapped back before it gets it."""
    torch = pytest.importorskip("torch")
    for make in (
        lambda: Augmented(SingleAgentEnv(FIRST.name, seat=0)),
        lambda: AugmentedAEC(Case(FIRST, 0, {}).raw()),
        lambda: AugmentedAEC(Case(FIRST, 0, {}).env()),
    ):
        played = []
        for kind in (int, np.uint64, np.int8, torch.tensor):
            env = make()
            env.reset(seed=1)
            legal = np.flatnonzero(env.unwrapped.position.action_mask())
            shown = env.transform.action(legal)
            action = int(min(a for a in shown if a < 128))
            env.step(kind(action))
            played.append(str(env.unwrapped.position))
        assert played == [played[0]] * 4
        assert played[0] != str(Position(FIRST, seed=1))


@pytest.mark.parametrize("action", [-1, 10**30, np.uint64(2**64 - 1), 1.0, True, "a", np.zeros(2)])
def test_what_is_no_action_is_refused_by_the_environment(action: Any) -> None:
    env = AugmentedAEC(Case(FIRST, 0, {}).raw())
    env.reset(seed=1)
    with pytest.raises(IllegalActionError, match=r"action=.*: not an action of"):
        env.step(action)


def test_groups_of_another_board_are_refused() -> None:
    """By the constructors, not at the first reset."""
    sizes = {game.observation.cells: game for game in TESTED.values()}
    game, other = list(sizes.values())[:2]
    group = other.symmetries.group
    error = (
        rf"group: .* is of a board of {other.observation.cells} cells; the planes of {game.title}"
    )
    for make in (
        lambda: Augmented(SingleAgentEnv(game.name), group=group),
        lambda: AugmentedAEC(Case(game, 0, {}).raw(), group=group),
        lambda: random_transform(game, 1, group=group),
    ):
        with pytest.raises(OptionError, match=error):
            make()


@pytest.mark.parametrize(
    ("options", "name"),
    [({"setup": "choose"}, "halma_dominari"), ({"territory": "draft"}, "sudoku_moyo")],
)
def test_groups_without_what_a_stage_needs_are_refused(options: dict[str, Any], name: str) -> None:
    """No member keeps the order of the players, or the neutral block of a draft, in place."""
    position = Position(name, **options)
    factors = position.game.symmetries.group
    moving = next(s for factor in factors for s in factor if s.swaps or moves_the_centre(s))
    with pytest.raises(OptionError, match=f"group: none of {moving.name!r} keeps what is fixed"):
        random_transform(name, 1, position, group=[[moving]])
    assert random_transform(name, 1, group=[[moving]]).symmetry.cells == moving.cells


def moves_the_centre(symmetry: Symmetry) -> bool:
    """Whether the middle cell leaves the centre block of a 9x9 board."""
    return len(symmetry.cells) == 81 and BLOCK_OF[symmetry.cells[40]] != BLOCK_OF[40]


def test_before_the_first_reset_there_is_no_episode() -> None:
    """The wrapper asks for a reset, as the environment inside does."""
    env = AugmentedAEC(Case(FIRST, 0, {}).raw())
    for call in (env.last, lambda: env.step(3), lambda: env.step(None), lambda: env.step("x")):
        with pytest.raises(ResetNeeded, match="reset must be called first"):
            call()
    env.reset(seed=1)
    assert env.last()[0]["action_mask"].any()
