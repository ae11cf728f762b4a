"""One seat as a Gymnasium environment."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from stable_baselines3.common.env_checker import check_env as sb3_check_env

from azumaya.baselines import find_agent
from azumaya.baselines.agents import GreedyAgent, RandomAgent
from azumaya.envs import IllegalActionError, OptionError, Position
from azumaya.wrappers import SingleAgentEnv
from tests.cases import SHAPES, TESTED, Case
from tests.vector.cases import noting


@pytest.mark.parametrize("game", TESTED)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_checks_of_gymnasium_and_sb3_pass(game: str) -> None:
    check_env(SingleAgentEnv(game, render_mode=None), skip_render_check=True)
    check_env(SingleAgentEnv(game, action_mask="observation"), skip_render_check=True)
    sb3_check_env(SingleAgentEnv(game, RandomAgent()))


def episode(env: SingleAgentEnv, seed: int | None = None) -> list[float]:
    """The rewards of an episode of random legal actions."""
    _, info = env.reset(seed=seed)
    generator, rewards, over = np.random.default_rng(0), [], False
    while not over:
        action = int(generator.choice(np.flatnonzero(info["action_mask"])))
        _, reward, terminated, truncated, info = env.step(action)
        rewards.append(reward)
        over = terminated or truncated
    return rewards


@pytest.mark.parametrize("game", TESTED)
def test_the_learner_gets_its_losses(game: str) -> None:
    """A random learner loses most games against greedy and gets the negative rewards."""
    env = SingleAgentEnv(game, GreedyAgent())
    results = [sum(episode(env, seed=5 if i == 0 else None)) for i in range(30)]
    assert set(results) <= {-1.0, 0.0, 1.0}
    assert results.count(-1.0) > results.count(1.0)


def test_the_last_reward_is_the_return() -> None:
    env = SingleAgentEnv("sudoku_moyo", GreedyAgent(), seat=1)
    for _ in range(10):
        rewards = episode(env)
        assert not any(rewards[:-1])
        assert rewards[-1] == env.position.returns()[1]


@pytest.mark.parametrize("case", SHAPES, ids=lambda case: case.label)
def test_rewards_add_up_to_what_the_learner_gained(case: Case) -> None:
    """Also what the opponent's moves before the learner's first one gave."""
    env = SingleAgentEnv(case.game, **case.options)
    for i in range(4):
        rewards = episode(env, seed=7 if i == 0 else None)
        before = Position.of_states(case.game, case.setup, env.position._start)
        gained = env.position.returns()[env.learner] - before.returns()[env.learner]
        assert sum(rewards) == gained


@pytest.mark.parametrize(("seat", "seats"), [(0, {0}), (1, {1}), ("alternating", {0, 1})])
def test_seats(seat: int | str, seats: set[int]) -> None:
    env = SingleAgentEnv("abalone", seat=seat)
    taken = [env.reset(seed=3 if i == 0 else None)[1]["seat"] for i in range(6)]
    assert set(taken) == seats
    if seat == "alternating":
        assert taken == [0, 1, 0, 1, 0, 1]


def test_random_seats_come_from_the_seed() -> None:
    envs = [SingleAgentEnv("abalone", seat="random") for _ in range(2)]
    seats = [[env.reset(seed=9 if i == 0 else None)[1]["seat"] for i in range(20)] for env in envs]
    assert seats[0] == seats[1]
    # as ever: with one opponent nothing else is drawn
    assert seats[0] == [1, 0, 1, 1, 1, 0, 0, 1, 1, 0, 1, 1, 1, 1, 1, 0, 0, 0, 1, 0]


@pytest.mark.parametrize("place", ["info", "observation"])
def test_an_illegal_action_loses_the_game(place: str) -> None:
    """Nothing is legal after it, as after any other end."""
    env = SingleAgentEnv("sudoku_moyo", seat=0, action_mask=place)
    _, info = env.reset(seed=1)
    before = str(env.position)
    illegal = int(np.flatnonzero(info["action_mask"] == 0)[0])
    seen, reward, terminated, truncated, info = env.step(illegal)
    assert (reward, terminated, truncated) == (-1.0, True, False)
    assert "rule" in info["illegal"]
    assert str(env.position) == before
    masks = [info["action_mask"], env.action_masks()]
    masks += [seen["action_mask"]] if place == "observation" else []
    assert not any(mask.any() for mask in masks)
    assert env.reset()[1]["action_mask"].any()


@pytest.mark.parametrize("action", ["x", None, np.float32(2), 1.0, True, np.array([3]), [3]])
def test_what_is_no_whole_number_does_not_lose_the_game(action: Any) -> None:
    """It is an error of the program, and nothing has changed."""
    env = SingleAgentEnv("sudoku_moyo", seat=0)
    env.reset(seed=1)
    before = str(env.position)
    with pytest.raises(IllegalActionError, match=r"action=.*whole number is needed"):
        env.step(action)
    assert str(env.position) == before
    assert env.step(int(np.argmax(env.action_masks())))[1] == 0


@pytest.mark.parametrize("action", [-1, 2**70, np.int64(10**6), np.array(10**6)])
def test_a_number_that_is_no_action_loses_the_game(action: Any) -> None:
    env = SingleAgentEnv("sudoku_moyo", seat=0)
    env.reset(seed=1)
    _, reward, terminated, _, info = env.step(action)
    assert (reward, terminated) == (-1, True)
    assert "not an action of" in info["illegal"]


@pytest.mark.parametrize("game", TESTED)
def test_masks_can_be_used_to_sample_from_spaces(game: str) -> None:
    """Masks are int8 and not shared; `action_masks` returns the same."""
    env = SingleAgentEnv(game)
    _, info = env.reset(seed=1)
    assert info["action_mask"].dtype == np.int8
    assert (env.action_masks() == info["action_mask"]).all()
    action = env.action_space.sample(info["action_mask"])
    assert info["action_mask"][action] == 1
    legal = int(info["action_mask"].argmax())
    info["action_mask"][:] = 0
    assert "illegal" not in env.step(legal)[-1]


# ---- opponents ----


@pytest.mark.parametrize("game", TESTED)
@pytest.mark.parametrize(
    ("name", "agent"), [("random", RandomAgent), ("greedy", GreedyAgent), (None, RandomAgent)]
)
def test_opponents_by_name(game: str, name: str | None, agent: Callable[[], Any]) -> None:
    """An opponent named by text plays like the agent of that name."""
    named, made = SingleAgentEnv(game, name), SingleAgentEnv(game, agent())
    assert episode(named, seed=3) == episode(made, seed=3)
    assert str(named.position) == str(made.position)


@pytest.mark.parametrize(
    ("opponent", "hint"),
    [
        (GreedyAgent, r"a class; pass an instance of it: GreedyAgent\("),
        (5, "opponent=5: must be 'random', 'greedy', the name of another agent"),
        ("gready", "opponent: agent 'gready': must be random, greedy"),
        ([("random", 1), ("uct:x", 1)], "opponent: agent 'uct:x': write uct:1000"),
        ([("random", 0)], "at least one weight must be above 0"),
        (dict.fromkeys(range(99), "x" * 999), r"^opponent=.{2,400}: must be 'random'"),
    ],
)
def test_bad_opponents(opponent: Any, hint: str) -> None:
    """They are refused when they are given, also later; the error says what would be right."""
    with pytest.raises(OptionError, match=hint):
        SingleAgentEnv(next(iter(TESTED)), opponent)
    env = SingleAgentEnv(next(iter(TESTED)), "greedy")
    with pytest.raises(OptionError, match=hint):
        env.opponent = opponent
    assert env.opponent == "greedy"


@pytest.mark.parametrize("name", ["uct:20", "champion", "tests.wrappers.test_single_agent:Fixed"])
def test_all_names_of_agents_are_opponents(name: str) -> None:
    game = "vierer_dominari"
    named = gymnasium.make(f"azumaya/{game}-v0", opponent=name).unwrapped
    made = SingleAgentEnv(game, find_agent(name))
    assert isinstance(named, SingleAgentEnv)
    assert episode(named, seed=3) == episode(made, seed=3)
    assert str(named.position) == str(made.position)


def test_opponents_are_drawn_by_weight() -> None:
    """One for each episode, from the seed; one whose weight is 0 never plays."""
    asked: list[str] = []

    def met(seed: int) -> list[str]:
        env = SingleAgentEnv("vierer_dominari", players, seat=0)
        seen = []
        for i in range(60):
            asked.clear()
            episode(env, seed=None if i else seed)
            assert len(set(asked)) == 1
            seen.append(asked[0])
        return seen

    players = [
        (noting(asked, name), weight)
        for name, weight in (("never", 0), ("often", 9e307), ("seldom", 3e307))
    ]
    assert met(1) == met(1) != met(2)
    assert set(met(1)) == {"often", "seldom"}
    assert 30 < met(1).count("often") < 58


def test_what_is_set_holds_from_the_next_episode_on() -> None:
    env, twin = (SingleAgentEnv("sudoku_moyo", "greedy", seat=0) for _ in range(2))
    env.reset(seed=3)
    env.opponent, env.seat = "random", 1
    twin.reset(seed=3)
    for _ in range(2):
        action = int(env.action_masks().argmax())
        assert (env.step(action)[0] == twin.step(action)[0]).all()
    assert env.reset()[1]["seat"] == 1
    other = SingleAgentEnv("sudoku_moyo", "random", seat=1)
    assert episode(env, seed=4) == episode(other, seed=4)
    assert str(env.position) == str(other.position)
    assert (env.opponent, env.seat) == ("random", 1)


@pytest.mark.parametrize("action_mask", ["info", "observation"])
@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("game", TESTED)
def test_infos_have_what_the_opponent_played(game: str, seat: int, action_mask: str) -> None:
    """With the learner's actions they are the whole game."""
    env = SingleAgentEnv(game, "greedy", seat=seat, action_mask=action_mask)
    _, info = env.reset(seed=3)
    position, over = Position.of_states(env.env.game, env.env.setup, env.position._start), False
    while True:
        for move in info["opponent_moves"].split():
            assert position.to_move == 1 - seat
            position.play(move)
        assert position == env.position
        if over:
            break
        action = int(info["action_mask"].argmax())
        position.play(action)
        _, _, terminated, truncated, info = env.step(action)
        over = terminated or truncated


def test_infos_of_several_steps_make_arrays() -> None:
    """Replay buffers, like Tianshou's, keep each entry of the infos in an array."""
    env = SingleAgentEnv("sudoku_tiles", seat=0)
    infos = [env.reset(seed=1)[1]]
    infos += [env.step(int(env.action_masks().argmax()))[4] for _ in range(20)]
    assert len({len(info["opponent_moves"].split()) for info in infos}) > 1
    for name in infos[0]:
        values = np.array([info[name] for info in infos])
        assert values.shape[0] == len(infos)
        assert values.dtype != object


# ---- states ----


def followed(env: SingleAgentEnv, count: int) -> list[Any]:
    """All that some steps, and the resets between, return."""
    seen: list[Any] = []
    for _ in range(count):
        result = env.step(int(env.action_masks().argmax()))
        seen += [result[0].tobytes(), result[1:4], str(result[4])]
        if result[2] or result[3]:
            planes, info = env.reset()
            seen += [planes.tobytes(), str(info)]
    return seen


@pytest.mark.parametrize("game", TESTED)
def test_a_restored_state_continues_as_before(game: str) -> None:
    """Here, in a fresh environment, and pickled; across the ends of episodes."""
    players = {"random": 0.5, "greedy": 0.5}
    env = SingleAgentEnv(game, players, seat="random")
    env.reset(seed=3)
    followed(env, 3)
    state, info = env.get_state(), str(env._info())
    expected = followed(env, 40)
    for state_again in (state, pickle.loads(pickle.dumps(state))):
        for other in (env, SingleAgentEnv(game, players, seat="random")):
            observation, shown = other.set_state(state_again)
            assert str(shown) == info
            assert (observation == other._observation()).all()
            assert followed(other, 40) == expected


def test_an_episode_goes_on_against_its_own_opponent() -> None:
    env = SingleAgentEnv("sudoku_moyo", "greedy", seat=0)
    env.reset(seed=3)
    state = env.get_state()
    expected = env.step(int(env.action_masks().argmax()))[4]["opponent_moves"]
    other = SingleAgentEnv("sudoku_moyo", Fixed(), seat=0)
    other.set_state(state)
    assert other.step(int(other.action_masks().argmax()))[4]["opponent_moves"] == expected
    assert isinstance(other.opponent, Fixed)


def test_the_state_of_a_lost_game_is_restored() -> None:
    env = SingleAgentEnv("sudoku_moyo", seat=0)
    env.reset(seed=1)
    env.step(-1)
    state = env.get_state()
    env.reset(seed=1)
    _, info = env.set_state(state)
    assert not info["action_mask"].any()
    with pytest.raises(ResetNeeded, match="the episode is over"):
        env.step(0)


def test_states_that_do_not_fit_change_nothing() -> None:
    env = SingleAgentEnv("sudoku_moyo", seat=0)
    with pytest.raises(ResetNeeded, match=r"^get_state: no episode has begun"):
        env.get_state()
    env.reset(seed=1)
    other = SingleAgentEnv("abalone")
    other.reset(seed=1)
    saved = env.get_state()
    env.step(int(env.action_masks().argmax()))
    before, draws = str(env.position), env.np_random.bit_generator.state
    of_another_kind = saved._replace(generator=np.random.MT19937(1).state)
    parts_missing = saved._replace(episode={}), saved._replace(generator={}), of_another_kind
    no_mapping = saved._replace(episode=np.zeros(4))  # type: ignore[arg-type]
    for wrong in (None, 3, env.env.get_state(), other.get_state(), no_mapping, *parts_missing):
        with pytest.raises(OptionError, match=r"^(state=|states?:|moment:)"):
            env.set_state(wrong)  # type: ignore[arg-type]
        assert str(env.position) == before
        assert env.np_random.bit_generator.state == draws


# ---- attributes ----


@pytest.mark.parametrize("seat", [2, "both", None])
def test_a_bad_seat_is_refused_when_it_is_set(seat: Any) -> None:
    env = SingleAgentEnv("abalone", seat=1)
    with pytest.raises(OptionError, match="seat="):
        env.seat = seat
    assert env.reset(seed=1)[1]["seat"] == 1


def test_the_render_mode_can_be_set() -> None:
    env = SingleAgentEnv("abalone")
    env.reset(seed=1)
    env.render_mode = "ansi"
    assert isinstance(env.render(), str)
    with pytest.raises(OptionError, match="render_mode="):
        env.render_mode = "pdf"
    assert env.render_mode == env.unwrapped.env.render_mode == "ansi"


class Fixed:
    """An opponent that returns given answers, or the first legal move if there are none."""

    answer: Any = None

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> Any:
        """The answer for the one position."""
        first = [position.legal_actions()[0] for position in positions]
        return first if self.answer is None else self.answer


@pytest.mark.parametrize("answer", [[-1], [], 5, "no", [0, 1]])
def test_bad_answers_are_blamed_on_the_opponent(answer: Any) -> None:
    """The error blames the opponent; the episode cannot continue, but a new one can begin."""
    opponent = Fixed()
    env = SingleAgentEnv(next(iter(TESTED)), opponent, seat=0)
    _, info = env.reset(seed=1)
    opponent.answer = answer
    with pytest.raises(IllegalActionError, match=r"^opponent"):
        env.step(int(info["action_mask"].argmax()))
    with pytest.raises(ResetNeeded, match="the last call failed or was interrupted"):
        env.step(0)
    opponent.answer = None
    _, info = env.reset(seed=1)
    assert "illegal" not in env.step(int(info["action_mask"].argmax()))[-1]


# ---- the order of calls ----


@pytest.mark.parametrize("game", TESTED)
def test_steps_outside_an_episode_ask_for_a_reset(game: str) -> None:
    """Before the first reset, after the end of a game and after an illegal action."""
    env = SingleAgentEnv(game, seat=0)
    for call in (env.action_masks, lambda: env.step(0), lambda: env.position):
        with pytest.raises(ResetNeeded, match="reset must be called first"):
            call()
    episode(env, seed=1)
    natural = str(env.position)
    with pytest.raises(ResetNeeded, match="the episode is over; reset must be called first"):
        env.step(0)
    assert str(env.position) == natural
    env.reset(seed=1)
    assert env.step(-1)[2]
    for action in (-1, int(env.action_masks().argmax())):
        with pytest.raises(ResetNeeded, match="the episode is over; reset must be called first"):
            env.step(action)
    assert sum(episode(env, seed=1)) in (-1, 0, 1)


def test_bad_reset_options_do_not_change_the_episode() -> None:
    """After a refused reset the episode continues unchanged, including random choices."""
    env, twin = (SingleAgentEnv(next(iter(TESTED)), seat="alternating") for _ in range(2))
    _, info = env.reset(seed=1)
    twin.reset(seed=1)
    before = str(env.position)
    for options in ([1], {"position": "x"}):
        for seed in (2, None):
            with pytest.raises(ValueError, match=r"options|position"):
                env.reset(seed=seed, options=options)  # type: ignore[arg-type]
            assert str(env.position) == before
            assert env.np_random_seed == 1
    action = int(info["action_mask"].argmax())
    (seen, *_, info), (expected, *_) = env.step(action), twin.step(action)
    assert "illegal" not in info
    assert (seen == expected).all()
    assert env.reset()[1]["seat"] == 1
    twin.reset()
    assert str(env.position) == str(twin.position)
    assert env.np_random.bit_generator.state == twin.np_random.bit_generator.state


@pytest.mark.parametrize("game", TESTED)
def test_masks_in_observations_belong_to_the_user(game: str) -> None:
    """Writing into one changes neither `action_masks()` nor the next observation."""
    env = SingleAgentEnv(game, action_mask="observation")
    observation, info = env.reset(seed=1)
    observation["action_mask"][:] = 2
    assert (env.action_masks() == info["action_mask"]).all()
    assert (env._observation()["action_mask"] == info["action_mask"]).all()
