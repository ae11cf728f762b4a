"""Playing a transformed game gives the transformed game, for all symmetries a game names."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import Autoreset, FlattenObservation
from pettingzoo.test import api_test

from azumaya.baselines.cli.contract import is_over, legal_of
from azumaya.baselines.cli.findings import check_symmetries, play_both
from azumaya.envs import registry
from azumaya.envs.adapters.aec.moments import AGENTS
from azumaya.envs.errors import OptionError
from azumaya.envs.game import Game
from azumaya.envs.geometry.sudoku81 import BLOCK_OF, GRID
from azumaya.envs.geometry.symmetry import (
    IDENTITY,
    Symmetry,
    houses_kept,
    identity,
    lines_within,
    members_of,
    size_of,
)
from azumaya.envs.position import Position
from azumaya.envs.registry import find_game
from azumaya.envs.symmetries import Symmetries
from azumaya.wrappers import (
    Augmented,
    AugmentedAEC,
    FlatObservations,
    SingleAgentEnv,
    Transform,
    random_transform,
)
from azumaya.wrappers.transform import in_place
from tests.cases import CASES, SHAPES, TESTED, YARDSTICK, Case

SMALL = 100
"""Groups up to this size are tested completely."""
every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.label)
every_shape = pytest.mark.parametrize("case", SHAPES, ids=lambda case: case.label)
every_game = pytest.mark.parametrize("game", TESTED.values(), ids=lambda game: game.name)


def symmetries_of(game: Game) -> list[Symmetry]:
    """Every symmetry of a small group; for a large group, the members of its factors."""
    group = game.symmetries.group
    if not group:  # a game need not say any
        return [identity(game.observation.cells)]
    if size_of(group) <= SMALL:
        return list(members_of(group))
    return [member for factor in group for member in factor]


# ---- the property ----


@every_case
def test_playing_a_transformed_game(case: Case) -> None:
    """Whole games, with a new transform every few plies."""
    check_symmetries(case.game, case.options, random.Random(case.label))


@every_game
def test_each_symmetry_alone(game: Game) -> None:
    """Every symmetry without renamings, from positions in mid-game."""
    rng = random.Random(game.name)
    for symmetry in symmetries_of(game):
        position = Position(game, seed=rng.randrange(2**32))
        for _ in range(rng.randrange(30)):
            if not position.is_over:
                position.play(rng.choice(position.legal_actions()))
        play_both(Transform(game, symmetry), position, rng, 3)


@every_case
def test_transformed_positions_have_transformed_options(case: Case) -> None:
    """Their text, read with their options, gives the same position."""
    rng = random.Random(case.label)
    for key in range(3):
        position = case.position(key)
        for _ in range(rng.randrange(12)):
            if not position.is_over:
                position.play(rng.choice(position.legal_actions()))
        transform = random_transform(case.game, key, position)
        image = transform.position(position)
        again = Position.from_text(case.game, str(image), **image.options)
        assert again == image
        assert again.legal_moves() == image.legal_moves()
        back = transform.inverse.position(image)
        assert back == position
        assert back.setup.settings == position.setup.settings


@every_game
def test_order_is_kept_where_it_counts(game: Game) -> None:
    """In stages with a fixed order of numbers or players, other transforms are not allowed."""
    stage = game.symmetries.in_order
    for options in game.options.variants:
        position = Position(game, seed=1, **options)
        ordered = stage is not None and position.state[stage[0]][0] == stage[1]
        drawn = [random_transform(game, key, position) for key in range(40)]
        free = [t for t in drawn if t.swaps or list(t.renaming) != sorted(t.renaming)]
        assert bool(free) != ordered or not game.symmetries.numbers
        if ordered:
            with pytest.raises(OptionError, match="order"):
                random_transform(game, 1).position(position)


@every_game
def test_cells_keep_their_place_where_it_counts(game: Game) -> None:
    """In stages in which some cells have to stay, no other symmetry is drawn or allowed."""
    data = game.symmetries.in_place
    for options in game.options.variants:
        position = Position(game, seed=1, **options)
        stays = data is not None and position.state[data.stage[0]][0] == data.stage[1]
        assert (in_place(position) is not None) == stays
        if data is None or not stays:
            continue
        drawn = [random_transform(game, key, position).symmetry for key in range(40)]
        assert all({s.cells[c] for c in data.cells} == data.cells for s in drawn)
        assert len({s.cells for s in drawn}) > 30
        with pytest.raises(OptionError, match=r"move the cells 30, .* only among each other"):
            random_transform(game, 1).position(position)


@pytest.mark.parametrize("name", ["sudoku_moyo", "sudoku_horikomi", "sudoku_moyo_match"])
def test_transforms_of_drafts_differ_in_what_they_show(name: str) -> None:
    """Positions with equal observations have equal masks, whatever was drawn for them."""
    position = Position(find_game(name), seed=1, territory="draft", puzzle="." * 81)
    first = position.observation(0), position.action_mask()
    for key in range(20):
        image = random_transform(position.game, key, position).position(position)
        if (image.observation(0) == first[0]).all():
            assert (image.action_mask() == first[1]).all()
        assert str(Position.from_text(position.game, str(image), territory="draft")) == str(image)


# ---- groups ----


@every_game
def test_factors_are_groups(game: Game) -> None:
    """Each factor contains the identity and all products and inverses of its members."""
    for factor in game.symmetries.group:
        known = {(member.cells, member.swaps) for member in factor}
        assert len(known) == len(factor) == len({member.name for member in factor})
        assert (identity(game.observation.cells).cells, False) in known
        for one in factor:
            assert (one.inverse.cells, one.inverse.swaps) in known
            for other in factor:
                whole = one.then(other)
                assert (whole.cells, whole.swaps) in known


@every_game
def test_small_groups_are_closed(game: Game) -> None:
    """The products of one member of each factor are distinct and form a group of the right size."""
    group = game.symmetries.group
    if size_of(group) > SMALL:
        drawn = {random_transform(game, key, rename=False).symmetry.cells for key in range(300)}
        assert len(drawn) > 290
        return
    members = symmetries_of(game)
    known = {(member.cells, member.swaps) for member in members}
    assert len(known) == len(members) == game.symmetries.size
    for one in members:
        for other in members:
            whole = one.then(other)
            assert (whole.cells, whole.swaps) in known


def test_sudoku_symmetries() -> None:
    """Their number is the known one, houses go to houses, and `lines_within` keeps the blocks."""
    assert size_of(houses_kept(GRID)) == 3_359_232 == 2 * 6**8
    houses = {frozenset(house) for house in GRID.houses}
    for factor in houses_kept(GRID):
        for member in factor:
            assert {frozenset(member.cells[c] for c in house) for house in houses} == houses
    for member in (member for factor in lines_within(GRID) for member in factor):
        assert all(BLOCK_OF[member.cells[c]] == BLOCK_OF[c] for c in range(GRID.cells))


@every_case
def test_inverse_and_product(case: Case) -> None:
    """The inverse undoes a transform, and a product applies one transform after the other."""
    rng = random.Random(case.label)
    position = case.position(3)
    for _ in range(rng.randrange(12)):
        if not position.is_over:
            position.play(rng.choice(position.legal_actions()))
    one, other = (random_transform(case.game, key, position) for key in (5, 6))
    planes, mask = position.observation(0), position.action_mask()
    actions = np.arange(position.num_actions)
    assert one.inverse.position(one.position(position)) == position
    assert (one.inverse.observation(one.observation(planes)) == planes).all()
    assert (one.inverse.mask(one.mask(mask)) == mask).all()
    assert (one.inverse.action(one.action(actions)) == actions).all()
    both = one.then(other)
    assert (both.observation(planes) == other.observation(one.observation(planes))).all()
    assert (both.action(actions) == other.action(one.action(actions))).all()
    assert both.position(position) == other.position(one.position(position))


# ---- batches and tensors ----


@every_game
def test_batches_and_tensors(game: Game) -> None:
    """Batches of any shape, arrays and tensors, equal single rows; the input is not changed."""
    torch = pytest.importorskip("torch")
    transform = random_transform(game, 11)
    positions = [Position(game, seed=seed) for seed in range(6)]
    planes = np.stack([p.observation(p.to_move) for p in positions])
    masks = np.stack([p.action_mask() for p in positions])
    rows = np.stack([transform.observation(one) for one in planes])
    kept = planes.copy()
    shape = (2, 3, *planes.shape[1:])
    assert transform.observation(planes[:0]).shape == planes[:0].shape
    assert transform.mask(masks[:0]).shape == masks[:0].shape
    moved = transform.observation(planes.reshape(shape))
    assert moved.dtype == np.int8
    assert (moved == rows.reshape(shape)).all()
    assert (planes == kept).all()
    for dtype in (torch.int8, torch.float32):
        seen = transform.observation(torch.as_tensor(planes, dtype=dtype))
        assert seen.dtype == dtype
        assert (seen.numpy() == rows).all()
    wanted = np.stack([transform.mask(mask) for mask in masks])
    assert (transform.mask(masks) == wanted).all()
    assert (transform.mask(torch.as_tensor(masks)).numpy() == wanted).all()
    assert transform.action(int(masks[0].argmax())) == transform.action_table[masks[0].argmax()]


# ---- the wrappers ----


@every_shape
def test_single_agent_wrapper(case: Case) -> None:
    """At every step the learner sees the transformed game, and its actions are mapped back."""
    rng = random.Random(case.label)
    env = Augmented(SingleAgentEnv(case.game.name, **case.options))
    twin = SingleAgentEnv(case.game.name, **case.options)
    seed = rng.randrange(2**32)
    observation, info = env.reset(seed=seed)
    plain, _ = twin.reset(seed=seed)
    done = False
    while not done:
        assert env.observation_space.contains(observation)
        assert (observation == env.transform.observation(plain)).all()
        assert (info["action_mask"] == env.action_masks()).all()
        assert (env.action_masks() == env.transform.mask(twin.action_masks())).all()
        action = int(rng.choice(np.flatnonzero(env.action_masks())))
        observation, reward, terminated, truncated, info = env.step(action)
        plain, *ended, _ = twin.step(env.transform.inverse.action(action))
        assert [reward, terminated, truncated] == ended
        assert env.position == twin.position
        done = terminated or truncated
    assert (observation == env.transform.observation(plain)).all()


@every_game
def test_masks_in_observations_are_transformed(game: Game) -> None:
    """As in the infos, in both wrappers."""
    env = Augmented(SingleAgentEnv(game.name, action_mask="observation"))
    observation, info = env.reset(seed=3)
    for _ in range(3):
        assert env.observation_space.contains(observation)
        assert (observation["action_mask"] == info["action_mask"]).all()
        planes = env.single._observation()["observation"]
        assert (observation["observation"] == env.transform.observation(planes)).all()
        observation, _, over, cut, info = env.step(int(info["action_mask"].argmax()))
        if over or cut:
            observation, info = env.reset()


@every_game
def test_changed_observations_are_refused(game: Game) -> None:
    """A wrapper inside that flattens observations leaves nothing to transform."""
    with pytest.raises(OptionError, match="augment the environment first"):
        AugmentedAEC(FlatObservations(game_env(game)))
    with pytest.raises(OptionError, match="augment the environment first"):
        Augmented(FlattenObservation(SingleAgentEnv(game.name)))
    FlatObservations(AugmentedAEC(game_env(game))).reset(seed=1)


@every_shape
def test_aec_wrapper(case: Case) -> None:
    """At every step both agents see the transformed game, and `last()` agrees with it."""
    rng = random.Random(case.label)
    env, twin = AugmentedAEC(case.env()), case.raw()
    env.reset(seed=4)
    twin.reset(seed=4)
    while not is_over(twin):
        transform = env.transform
        for agent in AGENTS:
            seen, plain = env.observe(agent), twin.observe(agent)
            assert (seen["observation"] == transform.observation(plain["observation"])).all()
            assert (seen["action_mask"] == transform.mask(plain["action_mask"])).all()
            assert (env.infos[agent]["action_mask"] == seen["action_mask"]).all()
        last, _, _, _, info = env.last()
        assert (last["action_mask"] == info["action_mask"]).all()
        assert (env.state() == transform.observation(twin.state())).all()
        action = int(rng.choice(legal_of(twin)))
        twin.step(action)
        env.step(transform.action(action))
        assert env.rewards == twin.rewards
        assert env.unwrapped.position == twin.position
    env.step(None)
    env.step(None)
    assert env.agents == []


@every_game
def test_wrappers_pass_the_checks_of_others(game: Game) -> None:
    """PettingZoo's and Gymnasium's own tests pass; a running game can be copied."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="(?s).*(bservation|reset|unwrapped)")
        api_test(AugmentedAEC(game_env(game)), num_cycles=20)
        check_env(Augmented(SingleAgentEnv(game.name)), skip_render_check=True)
    env = AugmentedAEC(game_env(game))
    env.reset(seed=1)
    for twin in (pickle.loads(pickle.dumps(env)), copy.deepcopy(env)):
        for _ in range(5):
            agent = twin.agent_selection
            seen = twin.observe(agent)
            assert (
                seen["observation"]
                == twin.transform.observation(twin.unwrapped.observe(agent)["observation"])
            ).all()
            assert repr(twin.transform) == repr(env.transform)
            twin.step(int(seen["action_mask"].argmax()))


@every_game
def test_seeds_and_limits_of_draws(game: Game) -> None:
    """The seed determines the transforms, episodes differ, and `group` limits the choice."""

    def drawn(env: Any, seed: int) -> list[str]:
        env.reset(seed=seed)
        first = [repr(env.transform)]
        for _ in range(5):
            env.reset()
            first.append(repr(env.transform))
        return first

    for env in (Augmented(SingleAgentEnv(game.name)), AugmentedAEC(game_env(game))):
        assert drawn(env, 1) == drawn(env, 1)
        data = game.symmetries
        assert (len(set(drawn(env, 1))) > 1) == (data.size * data.renamings > 1)
    plain = AugmentedAEC(game_env(game), group=(), rename=False)
    plain.reset(seed=2)
    actions = np.arange(plain.action_space(AGENTS[0]).n)
    assert (plain.transform.action_table == actions).all()


def game_env(game: Game) -> Any:
    """The game's wrapped environment."""
    return Case(game, 0, {}).env()


# ---- a game without symmetries ----


@pytest.mark.parametrize(
    "check",
    [
        test_each_symmetry_alone,
        test_factors_are_groups,
        test_small_groups_are_closed,
        test_seeds_and_limits_of_draws,
    ],
)
def test_a_game_need_not_name_symmetries(
    check: Callable[[Game], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """These tests hold for it as well: it has the identity alone."""
    plain = dataclasses.replace(YARDSTICK, name="plain", symmetries=Symmetries())
    monkeypatch.setattr(registry, "_registered", {**registry._registered, plain.name: plain})
    assert [symmetry.name for symmetry in symmetries_of(plain)] == [IDENTITY]
    check(plain)


def test_every_episode_has_its_own_transform_if_a_wrapper_inside_begins_it() -> None:
    """As Gymnasium's `Autoreset` does."""
    env = Augmented(Autoreset(SingleAgentEnv("vierer_dominari")))
    _, info = env.reset(seed=1)
    rng, seen = np.random.default_rng(1), {id(env.transform): env.transform}
    for _ in range(3):
        over = False
        while not over:
            action = int(rng.choice(np.flatnonzero(info["action_mask"])))
            _, _, terminated, truncated, info = env.step(action)
            over = terminated or truncated
        observation, _, _, _, info = env.step(0)
        seen[id(env.transform)] = env.transform
        assert np.array_equal(observation, env.transform.observation(env.single._observation()))
    assert len(seen) == 4
