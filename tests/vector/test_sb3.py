"""The SB3 vector environment: a learner plays one seat of many games, opponents the other."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("stable_baselines3")
pytest.importorskip("sb3_contrib")

from gymnasium import Wrapper
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.vec_env import VecMonitor

from azumaya.baselines.agents import RandomAgent
from azumaya.baselines.cli.contract import is_over
from azumaya.envs.adapters.duel.kernels import SEAT, respond_kernel
from azumaya.envs.adapters.duel.opponents import GREEDY, GreedyOpponent
from azumaya.envs.engine.kernels import SERIES
from azumaya.envs.errors import IllegalActionError, OptionError
from azumaya.envs.game import TRUNCATED, as_states
from azumaya.envs.kernels.bits import popcount, word_count
from azumaya.envs.kernels.compile import INTERPRETED, kernel
from azumaya.envs.position import Position
from azumaya.wrappers.sb3 import AzumayaVecEnv
from tests.cases import CASES, YARDSTICK, Case, random_line
from tests.vector.cases import (
    DRAWN_GAME,
    EACH_NIGHTLY,
    ENDS,
    MANY,
    ONE_GAME,
    PLIES,
    SOME,
    UNLIKE_GAMES,
    check_plays_like,
    first_legal,
    forbidding,
    mostly_nightly,
    noting,
    pick,
    same,
)


def learner(case: Case, num_envs: int, **arguments) -> AzumayaVecEnv:
    """An SB3 environment of a case."""
    return AzumayaVecEnv(case.game, num_envs, **{**case.options, **arguments})


class Lowest:
    """An agent that plays the first legal action."""

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> list[int]:
        """An action for each position."""
        return [position.legal_actions()[0] for position in positions]


class Mirror:
    """What the environment should do in one game against `first_legal`, from `RawEnv`."""

    def __init__(self, case: Case, row: int, seed: int, first_seat: int) -> None:
        self.env, self.row, self.seed = case.raw(), row, seed
        self.seat, self.gain = first_seat, 0.0
        """The learner's seat, and what it has gained since its last reward."""
        self.env.reset(seed=seed)

    @property
    def agent(self) -> str:
        """The learner's agent."""
        return self.env.possible_agents[self.seat]

    def answer(self) -> None:
        """Play the opponent's moves."""
        env = self.env
        while not is_over(env) and env.agent_selection != self.agent:
            self.step(int(env.infos[env.agent_selection]["action_mask"].argmax()))

    def step(self, action: int) -> None:
        """Play a move of either side."""
        self.env.step(action)
        self.gain += self.env.rewards[self.agent]

    def restart(self) -> None:
        """Start the next episode in which the learner gets to act; seats alternate."""
        while True:
            self.env.reset()
            self.seat = 1 - self.seat
            self.gain = 0.0
            self.answer()
            if not is_over(self.env):
                return


@pytest.mark.parametrize("case", mostly_nightly(SOME), ids=lambda case: case.label)
def test_against_a_loop_over_aec(case: Case) -> None:
    """Games with alternating seats equal those of a loop over the AEC environment.

    Only a limit without a result is a truncation for SB3, which adds the last position's value.
    """
    rng = np.random.default_rng(1)
    games = learner(case, 3, opponent=first_legal, seed=6)
    mirror = Mirror(case, 0, seed=6, first_seat=0)
    mirror.answer()
    if is_over(mirror.env):
        mirror.restart()
    observations, ends = games.reset(), 0
    for _ in range(PLIES // 2):
        if ends >= ENDS:
            break
        masks = games.action_masks()
        seen = mirror.env.observe(mirror.agent)
        assert np.array_equal(observations[0], seen["observation"])
        assert np.array_equal(masks[0], seen["action_mask"])
        actions = pick(masks, rng)
        observations, rewards, dones, infos = games.step(actions)
        mirror.step(int(actions[0]))
        mirror.answer()
        assert rewards[0] == mirror.gain
        decided, mirror.gain = mirror.gain != 0, 0.0
        assert dones[0] == is_over(mirror.env)
        if dones[0]:
            ends += 1
            final = mirror.env.observe(mirror.agent)["observation"]
            assert np.array_equal(infos[0]["terminal_observation"], final)
            cut = any(mirror.env.truncations.values()) and not decided
            assert infos[0]["TimeLimit.truncated"] == cut
            mirror.restart()
        else:
            assert infos[0] == {"TimeLimit.truncated": False}
    assert ends or PLIES < 400 or case.number


drop = YARDSTICK.rules.play


@kernel
def play_for_points(state: Any, action: int) -> None:
    """Connect Four in which a disc in the first column is worth a point, up to the fourth disc."""
    mover = state.to_move
    drop(state, action)
    if action == 0:
        state.payoff += 1 - 2 * mover
    if popcount(state.discs[0] | state.discs[1]) == 4:
        state.over = TRUNCATED


@pytest.mark.parametrize("opponent", ["random", RandomAgent()], ids=["compiled", "agent"])
def test_points_paid_before_a_limit_are_no_result(opponent: Any) -> None:
    """Only what the last move gives is; the same step may have more rewards."""
    game = replace(YARDSTICK, name="points", rules=replace(YARDSTICK.rules, play=play_for_points))
    games = AzumayaVecEnv(game, 64, seat=0, opponent=opponent, seed=1)
    games.reset()
    first = np.zeros(64, np.int64)
    assert not games.step(first)[2].any()
    _, rewards, dones, infos = games.step(first)
    assert dones.all()
    assert set(rewards.tolist()) == {0.0, 1.0}  # the learner's point, less the opponent's last one
    cut = [info["TimeLimit.truncated"] for info in infos]
    assert cut == (rewards == 1).tolist()


@EACH_NIGHTLY
def test_the_learner_gets_its_losses(case: Case) -> None:
    """A random learner loses to greedy more often than it wins, and only at the end of games."""
    rng = np.random.default_rng(2)
    games, totals, ends = learner(case, 16, opponent="greedy", seed=1), [], 0
    games.reset()
    while ends < 40:
        _, rewards, dones, infos = games.step(pick(games.action_masks(), rng))
        for row in np.flatnonzero(dones):
            assert games.observation_space.contains(infos[row]["terminal_observation"])
        assert not rewards[~dones].any()
        totals += rewards[dones].tolist()
        ends += int(dones.sum())
    assert min(totals) < 0
    assert np.mean(totals) < 0


@UNLIKE_GAMES
@pytest.mark.parametrize("opponent", ["random", "greedy"])
def test_games_do_not_depend_on_the_batch(case: Case, opponent: str) -> None:
    """With compiled opponents a game does not depend on the batch size or the threads."""
    few = learner(case, 2, opponent=opponent, seed=5, seat="random")
    many = learner(case, MANY, opponent=opponent, seed=5, seat="random", threads=2)
    assert np.array_equal(few.reset(), many.reset()[:2])
    check_plays_like(few, many, 12)


def seats_seen(case: Case, seat: int | str) -> list[set[int]]:
    """The seats of the learner in some episodes of each game."""
    games = learner(case, 4, seat=seat, seed=3)
    games.reset()
    seen = [{int(s)} for s in games.get_state()["seats"]["seat"]]
    for _ in range(PLIES // 2):
        games.step(games.action_masks().argmax(axis=1))
        for row, now in enumerate(games.get_state()["seats"]["seat"]):
            seen[row].add(int(now))
            position = games.env_method("position", indices=row)[0]
            assert position.to_move == now
            assert not position.is_over
    return seen


@ONE_GAME
def test_seats(case: Case) -> None:
    """Fixed seats stay, others change, and it is always the learner's turn."""
    assert seats_seen(case, 0) == [{0}] * 4
    assert seats_seen(case, 1) == [{1}] * 4
    assert {0, 1} in seats_seen(case, "random")
    assert seats_seen(case, "alternating") == [{0, 1}] * 4


@ONE_GAME
def test_opponents_are_drawn_by_weight(case: Case) -> None:
    """Each episode draws an opponent by weight; one with weight 0 is never drawn."""
    asked = []

    def policy(observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        asked.append(len(masks))
        return masks.argmax(axis=1)

    def never(observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        raise AssertionError("drawn in spite of its weight")

    mix = [("random", 1), (policy, 2), ("greedy", 1), (never, 0)]
    games = learner(case, 2000, opponent=mix, seat=1, seed=8)
    games.reset()
    share = max(asked) / 2000  # the opponent begins every game
    assert abs(share - 0.5) < 0.05
    games.set_opponent({never: 0, "greedy": 1})
    for _ in range(3):
        games.reset()
    asked.clear()
    games.step(games.action_masks().argmax(axis=1))
    assert not asked


@UNLIKE_GAMES
def test_an_agent_plays_like_an_equal_policy(case: Case) -> None:
    """An agent gets positions and a policy arrays; either may be one of several opponents."""
    agents = learner(case, 3, opponent=Lowest(), seed=6)
    policies = learner(case, 3, opponent=first_legal, seed=6)
    assert np.array_equal(agents.reset(), policies.reset())
    check_plays_like(agents, policies, PLIES // 2)


@UNLIKE_GAMES
def test_agents_draw_from_the_keys_of_their_games(case: Case) -> None:
    """Agents get one key per game and ply, whatever the batch size."""
    seen: list[int] = []

    class Recording(RandomAgent):
        def act(self, positions: Sequence[Position], keys: Sequence[int]) -> list[int]:
            seen.extend(keys)
            return super().act(positions, keys)

    few = learner(case, 2, opponent=Recording(), seed=5, seat="random")
    many = learner(case, 5, opponent={RandomAgent(): 1.0}, seed=5, seat="random")
    assert np.array_equal(few.reset(), many.reset()[:2])
    check_plays_like(few, many, 12)
    assert len(seen) >= 12
    assert len(set(seen)) == len(seen)


@EACH_NIGHTLY
def test_hidden_information_is_resampled_for_agents(case: Case) -> None:
    """Agents see no more than players do: hidden information is resampled with the key."""
    seen: list[tuple[Position, int]] = []

    class Recording(Lowest):
        def act(self, positions: Sequence[Position], keys: Sequence[int]) -> list[int]:
            seen.extend(zip(positions, keys, strict=True))
            return super().act(positions, keys)

    learner(case, 2, opponent=Recording(), seat=1, seed=3).reset()
    assert len(seen) >= 2
    for position, key in seen:
        assert position.resample_hidden(key).state.tobytes() == position.state.tobytes()


HIDDEN = tuple(case for case in CASES if case.game.rules.resample is not None)
WITH_HIDDEN_DRAWS = pytest.mark.parametrize("case", HIDDEN, ids=lambda case: case.label)


def replies(case: Case, states: np.ndarray, ply: int) -> list[list[int]]:
    """For each of some states, the moves that lead to what compiled greedy makes of it."""
    after, count = states.copy(), len(states)
    series, seats = as_states(np.zeros(count, SERIES)), as_states(np.zeros(count, SEAT))
    series["key"], series["ply"] = 5, ply
    seats["seat"], seats["opponent"] = 1 - states["to_move"], GREEDY
    words = np.zeros(word_count(case.setup.num_actions), np.uint64)
    respond_kernel(case.game)(
        0, count, np.arange(count), after, series, seats, np.zeros(count, np.int64), words,
        case.game.new_states(2), words.copy(),
    )  # fmt: skip
    return [moves_between(case, states[i : i + 1], after[i : i + 1]) for i in range(count)]


def moves_between(case: Case, before: np.ndarray, after: np.ndarray) -> list[int]:
    """The moves that lead from one state to another."""
    found = []
    for action in Position.of_states(case.game, case.setup, before).legal_actions():
        trial = before.copy()
        case.game.rules.play(trial[0], action)
        if trial.tobytes() == after.tobytes():
            found.append(action)
    return found


@WITH_HIDDEN_DRAWS
def test_compiled_greedy_is_blind_to_hidden_draws(case: Case) -> None:
    """In states that look the same to players it makes the same move.

    What is drawn next matters to it near the end, where it may end the game.
    """
    rng = random.Random(1)
    for seed in range(2 if INTERPRETED else 12):
        played = random_line(case.position(seed), rng)
        for ply, position in list(enumerate(played[:-1]))[-6:]:
            alike = [position.resample_hidden(i)._states for i in range(8)]
            made = replies(case, as_states(np.concatenate(alike)), ply)
            assert made == [made[0]] * 8
            assert made[0]


@WITH_HIDDEN_DRAWS
def test_compiled_greedy_plays_like_the_agent_where_draws_are_hidden(case: Case) -> None:
    """With the same keys, so it redraws and breaks ties in the same way."""
    named, agents = (
        learner(case, 3, opponent=opponent, seed=6) for opponent in ("greedy", GreedyOpponent())
    )
    assert np.array_equal(named.reset(), agents.reset())
    check_plays_like(named, agents, PLIES // 2)


@ONE_GAME
def test_running_games_keep_their_opponents(case: Case) -> None:
    """New opponents play from the next episodes on; the old ones finish their games."""
    asked: list[str] = []
    games = learner(case, 1, opponent=noting(asked, "a"), seat=1, seed=1)
    games.reset()
    for name in ("b", "c"):
        games.set_opponent(noting(asked, name))
    asked.clear()
    done = np.array([False])
    while not done[0]:
        played = list(asked)
        assert games.action_masks().any(axis=1).all()
        _, _, done, _ = games.step(games.action_masks().argmax(axis=1))
    assert played
    assert set(played) == {"a"}
    assert asked[-1] == "c"
    games.set_opponent("greedy")
    asked.clear()
    games.reset()
    games.step(games.action_masks().argmax(axis=1))
    assert not asked
    games.set_opponent("random")
    assert not games.duel.opponents.others


@UNLIKE_GAMES
def test_illegal_actions(case: Case) -> None:
    """An illegal action raises and changes nothing, or loses the game at once."""
    case = forbidding(case)
    strict, lenient = (learner(case, 3, seed=4, illegal=how) for how in ("raise", "lose"))
    strict.reset()
    shown = lenient.reset()
    masks = strict.action_masks()
    actions = pick(masks, np.random.default_rng(1))
    actions[1] = int(masks[1].argmin())
    before = [str(p) for p in strict.env_method("position")]
    with pytest.raises(IllegalActionError, match=r"actions\[1\]"):
        strict.step(actions)
    assert [str(p) for p in strict.env_method("position")] == before
    with pytest.raises(IllegalActionError, match="shape"):
        strict.step(actions[:2])
    actions[2] = int(masks[2].argmin())  # two in a row
    _, rewards, dones, infos = lenient.step(actions)
    assert dones.tolist() == [False, True, True]
    for row in (1, 2):
        assert rewards[row] == -1
        assert np.array_equal(infos[row]["terminal_observation"], shown[row])
        assert str(lenient.env_method("position")[row]) != before[row]


@DRAWN_GAME
def test_illegal_answers_of_a_policy(case: Case) -> None:
    """The error names the opponent and the game."""
    games = learner(case, 2, opponent=lambda seen, masks: masks.argmin(axis=1), seat=1)
    with pytest.raises(IllegalActionError, match=r"opponent's actions\[0\]"):
        games.reset()
    games.set_opponent(lambda seen, masks: masks)
    with pytest.raises(IllegalActionError, match="opponent's actions: shape"):
        games.reset()


@ONE_GAME
def test_the_order_of_calls(case: Case) -> None:
    """Calls before the first reset and after `close` raise errors."""
    games = learner(case, 2, seed=1)
    for call in (
        games.action_masks,
        lambda: games.env_method("action_masks"),
        lambda: games.env_method("position"),
        lambda: games.step(np.zeros(2, np.int64)),
    ):
        with pytest.raises(ResetNeeded, match="reset must be called first"):
            call()
    games.reset()
    actions = games.action_masks().argmax(axis=1)
    games.close()
    games.close()
    for name, call in (("step", lambda: games.step(actions)), ("reset", games.reset)):
        with pytest.raises(ClosedEnvironmentError, match=f"{name}: the environment is closed"):
            call()


@ONE_GAME
def test_wrong_arguments(case: Case) -> None:
    """What `tests/contract/test_wrong_values.py` cannot know: opponents, and what they weigh."""
    for arguments, pattern in (
        ({"opponent": "nobody"}, "opponent: agent 'nobody': must be random, greedy"),
        ({"opponent": {"greedy": 1, "uct:0": 1}}, "opponent: agent 'uct:0'"),
        ({"opponent": []}, "opponent="),
        ({"opponent": [("random", 0)]}, "above 0"),
        ({"opponent": [("random", -1)]}, "opponent="),
        ({"opponent": Lowest}, r"this is a class; pass an instance of it: Lowest\("),
        ({"opponent": [(Lowest, 1)]}, "this is a class"),
        ({"opponent": [(["random"], 1)]}, r"opponent=\["),
        ({"opponent": 3}, r"'random', 'greedy', the name .*, a policy .*, an agent \(an object wi"),
    ):
        with pytest.raises(OptionError, match=pattern):
            learner(case, 2, **arguments)
    games = learner(case, 2)
    games.set_options({"position": "x"})
    with pytest.raises(OptionError, match="constructor"):
        games.reset()


@ONE_GAME
def test_seeds(case: Case) -> None:
    """`seed` determines the next reset; without it the series of episodes continues."""
    games, other = learner(case, 3, seed=1), learner(case, 3)
    first = games.reset()
    assert other.seed(1) == [1, 1, 1]
    assert np.array_equal(other.reset(), first)
    assert not np.array_equal(games.reset(), first)
    games.seed(1)
    assert np.array_equal(games.reset(), first)
    games.seed(0)
    games.reset()
    again = games.reset()
    games.seed(0)
    games.reset()
    assert np.array_equal(games.reset(), again)


@ONE_GAME
def test_the_interface_of_sb3(case: Case) -> None:
    """Attributes, methods and wrappers work; results are copies; float observations are equal."""
    games, floats = learner(case, 3, seed=2), learner(case, 3, seed=2, dtype="float32")
    observations, same_as_floats = games.reset(), floats.reset()
    assert same_as_floats.dtype == np.float32
    assert np.array_equal(observations, same_as_floats)
    assert floats.observation_space.contains(same_as_floats[0])
    assert games.render_mode is None
    assert games.get_attr("render_mode") == [None] * 3
    games.set_attr("colour", "red", indices=[1])
    assert games.get_attr("colour", indices=1) == ["red"]
    with pytest.raises(AttributeError):
        games.get_attr("colour")
    assert same(games.env_method("action_masks"), list(games.action_masks()))
    assert same(games.env_method("action_masks", indices=2), [games.action_masks()[2]])
    assert same(games.get_attr("action_masks", indices=[0])[0](), games.action_masks()[0])
    with pytest.raises(AttributeError, match="no_such_method"):
        games.env_method("no_such_method")
    assert games.env_is_wrapped(Wrapper) == [False] * 3
    kept, copy = observations, observations.copy()
    masks = games.action_masks()
    legal = masks.copy()
    games.step(masks.argmax(axis=1))
    assert np.array_equal(kept, copy)
    assert np.array_equal(masks, legal)
    games.close()


@ONE_GAME
def test_the_opponent_is_an_attribute(case: Case) -> None:
    """Whichever way it is set, it plays from the next episode on."""
    for set_in in (
        lambda games: games.set_attr("opponent", "greedy"),
        lambda games: games.set_attr("opponent", "greedy", indices=[1, 0]),
        lambda games: setattr(games, "opponent", "greedy"),
        lambda games: games.set_opponent("greedy"),
    ):
        games, twin = learner(case, 2, seed=1), learner(case, 2, seed=1, opponent="greedy")
        set_in(games)
        assert games.get_attr("opponent") == ["greedy"] * 2
        assert games.opponent == "greedy"
        assert same(games.reset(), twin.reset())
        check_plays_like(games, twin, 6)


@ONE_GAME
def test_what_cannot_be_changed_is_not_stored(case: Case) -> None:
    games = learner(case, 2, opponent="greedy")
    options = [option.name for option in case.game.options]
    for name in ("seat", "shaping", "duel", "num_envs", "action_masks", "position", *options):
        with pytest.raises(OptionError, match=f"attr_name='{name}': only the opponent can be"):
            games.set_attr(name, 1)
    for value, indices, message in (
        ("nobody", None, "opponent: agent 'nobody'"),
        ("random", [0], "indices: all games have the same opponents"),
    ):
        with pytest.raises(OptionError, match=message):
            games.set_attr("opponent", value, indices)
    assert games.get_attr("opponent") == ["greedy"] * 2


@ONE_GAME
def test_maskable_ppo_learns_on_it(case: Case) -> None:
    """A few hundred steps with SB3's monitor, and only legal actions are played."""
    games = VecMonitor(learner(case, 8, opponent={"random": 1, "greedy": 1}, seed=1))
    assert is_masking_supported(games)
    games.reset()
    assert same(get_action_masks(games), games.venv.action_masks())
    model = MaskablePPO(
        "MlpPolicy", games, n_steps=40, batch_size=80, n_epochs=1, seed=1, device="cpu"
    )
    model.learn(640)
    assert model.num_timesteps == 640
    assert {round(episode["r"]) for episode in model.ep_info_buffer} <= {-1, 0, 1}
    assert len(model.ep_info_buffer) > 0
