"""Vector environments: determinism, errors, buffers, Gymnasium's conventions, copies."""

from __future__ import annotations

import pickle
from copy import copy, deepcopy
from types import SimpleNamespace

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from gymnasium.wrappers.vector import DictInfoToList, RecordEpisodeStatistics

from azumaya.envs import make_vec
from azumaya.envs.errors import IllegalActionError, OptionError
from azumaya.envs.kernels.spread import SPREAD_BYTES
from tests.cases import Case
from tests.vector.cases import (
    DRAWN_GAME,
    EVERY_GAME,
    MANY,
    ONE_GAME,
    UNLIKE_GAMES,
    alike,
    forbidding,
    pick,
    same,
    vector,
)


def play(games, plies, seed=3):
    """Play `random_actions`; returns all results."""
    first = games.reset(seed=seed)
    return [first, *(games.step(games.random_actions()) for _ in range(plies))]


# ---- determinism ----


@UNLIKE_GAMES
@pytest.mark.parametrize("mode", list(AutoresetMode)[:2], ids=lambda mode: mode.name)
def test_results_do_not_depend_on_threads(case: Case, mode: AutoresetMode) -> None:
    """One thread and three threads give the same results for the same seed."""
    one = play(vector(case, MANY, observation="packed", autoreset_mode=mode), 60)
    three = play(vector(case, MANY, observation="packed", autoreset_mode=mode, threads=3), 60)
    assert all(map(same, one, three))


@UNLIKE_GAMES
def test_games_do_not_depend_on_the_batch_size(case: Case) -> None:
    """A game is the same whether few or many others are in the batch."""
    few, many = vector(case, 2), vector(case, 9)
    for (seen, *_), (others, *_) in zip(play(few, 30), play(many, 30), strict=True):
        assert all(np.array_equal(seen[name], others[name][:2]) for name in seen)


@EVERY_GAME
def test_random_actions(case: Case) -> None:
    """They are legal, differ between games and change from move to move."""
    games = vector(case, 64)
    observations, _ = games.reset(seed=2)
    drawn = []
    for _ in range(10):
        actions = games.random_actions()
        drawn.append(actions.copy())
        over = ~observations["action_mask"].any(axis=1)
        assert (observations["action_mask"][np.arange(64), actions] == 1)[~over].all()
        assert not actions[over].any()
        observations = games.step(actions)[0]
    for rows in (np.array(drawn), np.array(drawn).T):
        assert all(len(set(actions)) > 1 for actions in rows.tolist())


@UNLIKE_GAMES
def test_rollouts_play_as_steps_do(case: Case) -> None:
    """`rollout` leads to the same states as `random_actions` and `step`."""
    arguments = {"observation": "none", "autoreset_mode": AutoresetMode.SAME_STEP}
    stepped, rolled = vector(case, 5, **arguments), vector(case, 5, **arguments)
    ends = sum(map(int, (np.sum(r[2] | r[3]) for r in play(stepped, 200)[1:])))
    masks = rolled.reset(seed=3)[0]["action_mask"]
    kept = masks.copy()
    assert rolled.rollout(200) == ends
    assert np.array_equal(masks, kept)
    assert rolled.get_state()[0].tobytes() == stepped.get_state()[0].tobytes()


@pytest.mark.parametrize("mode", list(AutoresetMode), ids=lambda mode: mode.name)
def test_rollouts_count_each_end_once(mode: AutoresetMode) -> None:
    """A game that was over before the rollout has been counted already."""
    games = make_vec("abalone", 20, max_plies=4, observation="none", autoreset_mode=mode)
    play(games, 4)
    restarted = mode is AutoresetMode.SAME_STEP
    assert games.games.over.all() != restarted
    assert games.rollout(1) == 0
    assert games.rollout(3 if restarted else 4) == 20


@UNLIKE_GAMES
def test_states_can_be_saved_and_restored(case: Case) -> None:
    """After `set_state` play continues as before, also in another environment."""
    games, other = vector(case, 6), vector(case, 6)
    play(games, 20)
    state = games.get_state()
    expected = [games.step(games.random_actions()) for _ in range(60)]
    for again in (games, other):
        observations, infos = again.set_state(state)
        assert np.array_equal(infos["action_mask"], observations["action_mask"])
        assert all(same(again.step(again.random_actions()), result) for result in expected)


# ---- errors change nothing ----


def check_refused(games, actions, pattern: str) -> None:
    """The actions are refused by name, and no game changes."""
    before = games.get_state()
    with pytest.raises(IllegalActionError, match=pattern):
        games.step(actions)
    assert alike(before, games.get_state())


@UNLIKE_GAMES
def test_the_error_names_the_illegal_row(case: Case) -> None:
    """The error names the first illegal row, also if its number is out of range."""
    case = forbidding(case)
    games = vector(case, 5)
    observations, _ = games.reset(seed=4)
    legal = pick(observations["action_mask"], np.random.default_rng(5))
    illegal = int(np.argmin(observations["action_mask"][3]))
    size = observations["action_mask"].shape[1]
    for bad in (illegal, size, -1, 2**40, -(2**63)):
        actions = legal.copy()
        actions[3] = bad
        check_refused(games, actions, r"actions\[3\]: ")
    actions = legal.astype(np.uint64)
    actions[2] = 2**64 - 1
    check_refused(games, actions, r"actions\[2\]: ")


@ONE_GAME
def test_other_bad_actions(case: Case) -> None:
    """Wrong shapes and types are refused; any array of integers is accepted."""
    games = vector(case, 4)
    observations, _ = games.reset(seed=4)
    legal = pick(observations["action_mask"], np.random.default_rng(5))
    check_refused(games, legal[:3], r"shape \(3,\) given, \(4,\) is needed")
    check_refused(games, legal[:, None], r"shape \(4, 1\) given")
    check_refused(games, legal.astype(float), "float64 given, whole numbers")
    check_refused(games, legal > 0, "bool given, whole numbers")
    check_refused(games, None, "shape")
    check_refused(games, [[1], [1, 2], [3], [4]], "not an array")
    state, wide = games.get_state(), np.zeros(8, np.int16)
    wide[::2] = legal
    frozen = legal.astype(">i4")
    frozen.flags.writeable = False
    expected = games.step(legal)
    for form in (wide[::2], frozen, legal.tolist(), legal.astype(np.uint64)):
        games.set_state(state)
        assert same(games.step(form), expected)


@ONE_GAME
@pytest.mark.parametrize("illegal", ["raise", "lose"])
def test_in_disabled_mode_games_are_played_to_their_end(case: Case, illegal: str) -> None:
    """Games that are over stay as they are: their actions are ignored and their ends repeated."""
    games = vector(case, 5, autoreset_mode="Disabled", illegal=illegal)
    masks = games.reset(seed=1)[0]["action_mask"]
    over, steps = np.zeros(5, bool), 0
    while not over.all():
        actions, before = games.random_actions(), games.get_state()
        assert not actions[over].any()
        actions[over] = 10**9
        if illegal == "lose" and steps == 1:
            actions[2] = np.argmin(masks[2])
        seen, rewards, terminated, truncated, infos = games.step(actions)
        after, masks = games.get_state(), seen["action_mask"]
        for left, right in zip(before, after, strict=True):
            assert left[over].tobytes() == right[over].tobytes()
        assert not rewards[over].any()
        assert not infos["rewards"][over].any()
        assert ((terminated | truncated) >= over).all()
        over, steps = terminated | truncated, steps + 1
        assert not masks[over].any()
        assert masks[~over].any(axis=1).all()
    assert steps <= case.game.options.max_steps(case.setup.settings)
    seen = games.reset(options={"reset_mask": over})[0]
    assert seen["action_mask"].any(axis=1).all()


@ONE_GAME
def test_wrong_arguments(case: Case) -> None:
    """What `tests/contract/test_wrong_values.py` cannot know: sizes that do not fit the games."""
    games = vector(case, 3)
    for seed in ([1, 2], [1, 2, -3]):
        with pytest.raises(OptionError, match="seed"):
            games.reset(seed=seed)
    for mask in (np.ones(2, bool), np.zeros(3, bool)):
        with pytest.raises(OptionError, match="reset_mask"):
            games.reset(options={"reset_mask": mask})
    games.reset(seed=1)
    state, series = (array.copy() for array in games.get_state())
    before = games.get_state()[0].tobytes()
    for wrong in ((state[:2], series), (state, series[:1]), (series, series), (state, 5), state):
        with pytest.raises(OptionError, match=r"state: .* get_state\(\)|states: |series: "):
            games.set_state(wrong)
    for row in (3, -1):
        with pytest.raises(OptionError, match="row="):
            games.position(row)
    assert games.get_state()[0].tobytes() == before
    assert games.rollout(0) == 0
    assert games.reset(seed=np.array(7))[1]["to_move"].shape == (3,)


@ONE_GAME
def test_keywords_for_one_seat_are_refused(case: Case) -> None:
    """Keywords of `gymnasium.make` for one seat are refused; the error says what to use instead."""
    for name, value in (("seat", 0), ("opponent", "greedy")):
        with pytest.raises(
            OptionError, match=f"{name}.: make_vec plays both .*AzumayaVecEnv"
        ) as no:
            gymnasium.make_vec(case.game.id, num_envs=2, **{name: value})
        assert f"vectorization_mode='sync', {name}=" in str(no.value)
    with pytest.raises(OptionError, match=r"render_mode.: .* position\(row\)"):
        vector(case, 2, render_mode="ansi")
    games = gymnasium.make_vec(
        case.game.id, num_envs=2, vectorization_mode="sync", seat=0, opponent="greedy"
    )
    _, infos = games.reset(seed=1)
    assert infos["seat"].tolist() == [0, 0]
    results = games.step(infos["action_mask"].argmax(axis=1))
    assert not any("illegal" in infos for infos in results[-1:])
    games.close()


@ONE_GAME
def test_unpack_takes_only_packed_observations(case: Case) -> None:
    """`unpack` names the array that does not fit; planes cannot be unpacked."""
    games = vector(case, 3, observation="packed")
    packed, _ = games.reset(seed=1)
    assert games.unpack(packed)["action_mask"].shape == (3, case.setup.num_actions)
    for name in packed:
        missing = {key: words for key, words in packed.items() if key != name}
        for wrong in (1, packed[name][:, 1:], packed[name].astype(np.int8), None):
            with pytest.raises(OptionError, match=rf"observations\['{name}'\]"):
                games.unpack({**missing, name: wrong})
        with pytest.raises(OptionError, match=rf"observations\['{name}'\]"):
            games.unpack(missing)
    torch = pytest.importorskip("torch")
    for name in packed:
        mixed = {**packed, name: torch.from_numpy(packed[name].view(np.int64))}
        with pytest.raises(OptionError, match="must be all NumPy arrays or all torch tensors"):
            games.unpack(mixed)
        with pytest.raises(OptionError, match="must be the same but for the last dimension"):
            games.unpack({**packed, name: packed[name][:2]})
        no_array = SimpleNamespace(shape=packed[name].shape)
        with pytest.raises(OptionError, match=rf"observations\['{name}'\]"):
            games.unpack({**packed, name: no_array})
    with pytest.raises(IllegalActionError, match=r"actions: not an array: .*grad"):
        games.step(torch.zeros(3, requires_grad=True))
    for nothing in (5, vector(case, 3).reset(seed=1)[0]):
        with pytest.raises(OptionError, match=r"observations\['observation'\]: must be"):
            games.unpack(nothing)


# ---- resets ----


@DRAWN_GAME
def test_seeds_start_series_of_episodes(case: Case) -> None:
    """A seed starts a series of episodes; resets without one continue it in the selected games."""
    games = vector(case, 3)
    first = games.reset(seed=9)
    second = games.reset()
    assert not same(first, second)
    assert same(games.reset(seed=9), first)
    games.reset(options={"reset_mask": np.array([True, False, True])})
    partly = games.get_state()[1]["episode"].tolist()
    assert partly == [1, 0, 1]
    games.reset(seed=9, options={"reset_mask": np.array([True, False, False])})
    assert games.get_state()[1]["episode"].tolist() == [0, 0, 1]
    alone, other = vector(case, 1), vector(case, 1)
    alone.reset()
    other.reset()
    assert alone.get_state()[1]["seed"] != other.get_state()[1]["seed"]


@ONE_GAME
def test_the_environment_tells_its_seed(case: Case) -> None:
    """What `reset` was given or drew, as Gymnasium's environments do."""
    games = vector(case, 3)
    assert games.np_random_seed == -1
    first = games.reset()
    drawn = games.np_random_seed
    assert same(games.reset(seed=drawn), first)
    games.step(games.random_actions())
    games.reset()
    assert games.np_random_seed == drawn
    games.reset(seed=9)
    assert games.np_random_seed == 9
    state = games.get_state()
    games.reset(seed=7, options={"reset_mask": np.array([False, True, False])})
    assert games.np_random_seed == (9, 7, 9)
    games.reset(seed=[2**64 - 1, 7, 7])
    assert games.np_random_seed == (2**64 - 1, 7, 7)
    games.reset(seed=[7, 7, 7])  # three times the first game of this seed
    assert games.np_random_seed == (7, 7, 7)
    games.set_state(state)
    games.close()
    assert games.np_random_seed == deepcopy(games).np_random_seed == 9


# ---- buffers ----


@UNLIKE_GAMES
@pytest.mark.parametrize("form", ["planes", "packed"])
def test_results_of_different_calls_share_no_memory(case: Case, form: str) -> None:
    """Arrays that one call returned are not changed by later calls."""
    games = vector(case, 3, observation=form)
    kept = [games.reset(seed=1)]
    kept += [games.step(games.random_actions()) for _ in range(3)]
    arrays = [[*r[0].values(), r[-1]["to_move"], r[-1]["rewards"]] for r in kept]
    for i, left in enumerate(arrays):
        for right in arrays[i + 1 :]:
            assert not any(np.shares_memory(a, b) for a in left for b in right)


@UNLIKE_GAMES
@pytest.mark.parametrize("form", ["planes", "packed"])
def test_without_copies_buffers_are_reused(case: Case, form: str) -> None:
    """Without copies every call writes to the same memory, which tensors can share."""
    torch = pytest.importorskip("torch")
    copies, games = vector(case, 3, observation=form), vector(case, 3, observation=form, copy=False)
    first, expected = games.reset(seed=1), copies.reset(seed=1)
    tensors = {name: torch.from_numpy(array) for name, array in first[0].items()}
    assert same(first, expected)
    for _ in range(20):
        actions = games.random_actions()
        results, expected = games.step(actions), copies.step(actions)
        assert same(results, expected)
        for name, array in results[0].items():
            assert array.ctypes.data == first[0][name].ctypes.data
            assert np.array_equal(tensors[name].numpy(), array)


@UNLIKE_GAMES
def test_writing_to_a_returned_mask_changes_no_game(case: Case) -> None:
    """Writing to a returned mask does not change which actions are legal."""
    case = forbidding(case)
    games = vector(case, 2, copy=False)
    observations, _ = games.reset(seed=1)
    illegal = np.argmin(observations["action_mask"], axis=1)
    observations["action_mask"][:] = 1
    check_refused(games, illegal, r"actions\[0\]")


@ONE_GAME
def test_calls_before_the_first_reset_are_refused(case: Case) -> None:
    """Every call before the first reset asks for one."""
    games, other = vector(case, 3), vector(case, 3)
    for name, arguments in (
        ("step", (np.zeros(3, np.int64),)),
        ("rollout", (5,)),
        ("random_actions", ()),
        ("position", (0,)),
        ("get_state", ()),
    ):
        with pytest.raises(ResetNeeded, match=f"{name}: reset must be called first"):
            getattr(games, name)(*arguments)
    with pytest.raises(OptionError, match="the first reset must include all games"):
        games.reset(options={"reset_mask": np.array([True, False, False])})
    games.reset(options={"reset_mask": np.ones(3, np.bool_)})
    games.rollout(5)
    other.set_state(games.get_state())
    other.step(other.random_actions())


@ONE_GAME
def test_nothing_is_played_after_close(case: Case) -> None:
    """After `close` nothing can be played, but states and positions can still be read."""
    games = vector(case, 3, threads=2)
    play(games, 3)
    state, text = games.get_state(), str(games.position(0))
    games.close()
    games.close()
    for name, arguments in (
        ("step", (np.zeros(3, np.int64),)),
        ("reset", ()),
        ("rollout", (5,)),
        ("random_actions", ()),
        ("set_state", (state,)),
    ):
        with pytest.raises(ClosedEnvironmentError, match=f"{name}: the environment is closed"):
            getattr(games, name)(*arguments)
    assert games.get_state()[0].tobytes() == state[0].tobytes()
    assert str(games.position(0)) == text


# ---- Gymnasium's conventions ----


@EVERY_GAME
def test_spaces(case: Case) -> None:
    """The spaces are batches of the single spaces, and observations lie in them."""
    for form in ("planes", "packed", "none"):
        games = vector(case, 3, observation=form)
        assert games.observation_space == batch_space(games.single_observation_space, 3)
        assert games.action_space == batch_space(games.single_action_space, 3)
        for results in play(games, 25):
            assert games.observation_space.contains(results[0])


@EVERY_GAME
def test_gymnasium_makes_vector_environments(case: Case) -> None:
    """By the game's id and with its options; Gymnasium's wrappers work on the result."""
    games = gymnasium.make_vec(case.game.id, num_envs=3, threads=1, **case.options)
    assert games.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    assert games.spec.id == case.game.id
    expected = vector(case, 3).reset(seed=1)
    assert same(games.reset(seed=1), expected)
    listed = DictInfoToList(games)
    observations, infos = listed.reset(seed=1)
    assert [info["to_move"] for info in infos] == expected[1]["to_move"].tolist()
    for _ in range(30):
        observations, *_, infos = listed.step(games.unwrapped.random_actions())
        assert np.array_equal(infos[2]["action_mask"], observations["action_mask"][2])
    recorded = RecordEpisodeStatistics(games)  # inside the other wrapper it fails in Gymnasium 1.1
    recorded.reset(seed=1)
    for _ in range(30):
        recorded.step(games.unwrapped.random_actions())
    games.close()


@ONE_GAME
def test_bounds_of_spaces_do_not_grow_with_the_batch(case: Case) -> None:
    """Bounds are stored once for all games; sampling is the same as in Gymnasium's own space."""
    games = vector(case, 50)
    own = batch_space(games.single_observation_space, 50)
    for name, box in games.observation_space.items():
        for array in (box.low, box.high, box.bounded_below, box.bounded_above):
            assert array.shape == box.shape
            assert array.strides[0] == 0
        games.observation_space.seed(5), own.seed(5)
        assert np.array_equal(games.observation_space.sample()[name], own.sample()[name])
    assert pickle.loads(pickle.dumps(games.observation_space)) == own


@UNLIKE_GAMES
def test_tensors_of_any_strides_are_unpacked(case: Case) -> None:
    torch = pytest.importorskip("torch")
    games = vector(case, 3, observation="packed")
    seen = games.reset(seed=1)[0]
    turned = {name: words.view(np.int64).copy(order="F") for name, words in seen.items()}
    tensors = {name: torch.from_numpy(words.T).T for name, words in turned.items()}
    unpacked = games.unpack(tensors)
    for name, array in games.unpack(seen).items():
        assert np.array_equal(unpacked[name].numpy(), array)


# ---- copies of whole environments ----


def through_pickle(games):
    """A copy made by pickling."""
    return pickle.loads(pickle.dumps(games))


@ONE_GAME
@pytest.mark.parametrize("copies", [True, False], ids=["copies", "zero-copy"])
def test_writing_into_infos_does_not_change_those_of_later_calls(case: Case, copies: bool) -> None:
    games = vector(case, 3, copy=copies)
    games.reset(seed=1)
    for infos in (games.step(games.random_actions())[4] for _ in range(2)):
        for name in ("_action_mask", "_to_move", "_rewards"):
            assert infos[name].all(), name
        infos["_rewards"][:] = False


@pytest.mark.parametrize("form", ["planes", "packed", "none"])
@pytest.mark.parametrize("copies", [True, False], ids=["copies", "zero-copy"])
@UNLIKE_GAMES
def test_copies_of_environments_continue(case: Case, form: str, copies: bool) -> None:
    """A copy continues as the original does, in aligned buffers of its own."""
    games = vector(case, 3, observation=form, copy=copies)
    for begun in (False, True):
        for copier in (through_pickle, deepcopy, copy):
            twin = copier(games)
            assert twin.games.guard is not games.games.guard
            if not begun:
                games.reset(seed=1)
                twin.reset(seed=1)
            buffers = twin._outputs
            for rows in (buffers.masks, buffers.view_rows):
                assert not rows.size or rows.ctypes.data % SPREAD_BYTES == 0
            if buffers.observations is not None:
                assert np.shares_memory(buffers.observations, buffers.view_rows)
            for _ in range(9):
                actions = games.random_actions()
                assert np.array_equal(twin.random_actions(), actions)
                assert same(twin.step(actions), games.step(actions))
