"""Self-play PPO: who learns from what, the estimates it learns from, and runs on tiny budgets."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from azumaya.baselines.agents import RandomAgent
from azumaya.baselines.agents.policy import PolicyAgent
from azumaya.baselines.agents.sidecar import CheckpointError
from azumaya.baselines.arena.matches import play_pairing
from azumaya.baselines.training import ppo, ppo_games, state
from azumaya.baselines.training.policy import Descent, Policy, Seen, Threads
from azumaya.baselines.training.ppo import (
    Batch,
    Config,
    Learner,
    State,
    advantages,
    estimate,
    initial_state,
    main,
)
from azumaya.baselines.training.ppo_games import Games, Past, Rollout
from azumaya.baselines.training.saves import Save, read_save
from azumaya.envs import Position, make_vec
from tests.training.run_helpers import tiny_ppo


def played(config: Config, rounds: int = 1) -> tuple[State, Rollout]:
    """A new state, and the last of the rollouts that were played without learning."""
    config = config.completed()
    now = initial_state(config, Games(config))
    with closing(Threads(config.threads, now.games.env.unpack)) as threads:
        for _ in range(rounds):
            rollout = now.games.play(now.network, now.past, threads)
    return now, rollout


def planes_of(games: Games, seen: Seen) -> tuple[torch.Tensor, torch.Tensor]:
    """The planes and masks of packed observations."""
    bits = games.env.unpack(seen._asdict())
    return bits["observation"], bits["action_mask"]


# ---- estimates ----


def plain_advantages(rollout: Any, discount: float, gae_lambda: float) -> np.ndarray:
    """For the player who moved, with a change of sign wherever the mover changes."""
    signs, over = rollout.signs.numpy(), rollout.over.numpy()
    found = np.zeros(signs.shape)
    for row in range(signs.shape[1]):
        after = 0.0
        for t in reversed(range(len(signs))):
            sign = signs[t, row]
            value, reward = sign * rollout.values[t, row], sign * rollout.rewards[t, row]
            following = 0 if rollout.decided[t, row] else sign * rollout.values[t + 1, row]
            delta = reward + discount * following - value
            if over[t, row] or t + 1 == len(signs):
                after = delta
            else:
                turn = 1 if signs[t + 1, row] == sign else -1
                after = delta + discount * gae_lambda * turn * after
            found[t, row] = after
    return found


@pytest.mark.parametrize(("discount", "gae_lambda"), [(1.0, 0.95), (0.9, 0.5), (1.0, 1.0)])
def test_advantages_change_sign_where_the_mover_changes(discount: float, gae_lambda: float) -> None:
    """Also where a player moves twice in a row."""
    chance = torch.Generator().manual_seed(1)
    shape = (30, 20)
    over = torch.rand(shape, generator=chance) < 0.1
    rollout: Any = SimpleNamespace(
        signs=torch.randint(2, shape, generator=chance) * 2.0 - 1,
        over=over,
        decided=over & (torch.rand(shape, generator=chance) < 0.7),
        rewards=torch.randn(shape, generator=chance),
        values=torch.randn((31, 20), generator=chance),
    )
    found = advantages(rollout, discount, gae_lambda).numpy()
    assert np.allclose(found, plain_advantages(rollout, discount, gae_lambda), atol=1e-4)


def test_without_discounts_a_return_is_what_the_mover_gains(tmp_path: Path) -> None:
    """With lambda 1, in real games: +1 for all moves of the winner and -1 for the loser's."""
    config = tiny_ppo(
        tmp_path, game="connect_four", games=20, rollout=60, shaping=0.0, past_share=0.0
    )
    _, rollout = played(config)
    returns = advantages(rollout, 1.0, 1.0) + rollout.signs * rollout.values[:-1]
    seen = set()
    for row in range(20):
        begin = 0
        for end in np.flatnonzero(rollout.over[:, row]):
            gained = rollout.rewards[end, row] * rollout.signs[begin : end + 1, row]
            assert torch.allclose(returns[begin : end + 1, row], gained, atol=1e-5)
            assert rollout.learned[begin : end + 1, row].all()
            seen |= set(gained.tolist())
            begin = end + 2  # the step between only begins another game
            assert not rollout.learned[end + 1 : begin, row].any()
    assert {1.0, -1.0} <= seen
    assert (rollout.rewards[~rollout.over] == 0).all()
    assert rollout.decided[rollout.over].all()


def test_a_reward_before_the_end_does_not_end_the_game(tmp_path: Path) -> None:
    """Where points are paid at once, a return is all that the mover still gains."""
    options = {"reward": "points"}
    config = tiny_ppo(
        tmp_path, game="sudoku_tiles", options=options, rollout=70, depth=1, shaping=0.0
    )  # fmt: skip
    _, rollout = played(config)
    assert (rollout.rewards[~rollout.over] != 0).any()
    assert torch.equal(rollout.decided, rollout.over)
    returns = advantages(rollout, 1.0, 1.0) + rollout.signs * rollout.values[:-1]
    for row in range(config.games):
        end = int(rollout.over[:, row].nonzero()[0]) + 1
        left = rollout.rewards[:end, row].flip(0).cumsum(0).flip(0)
        assert torch.allclose(returns[:end, row], rollout.signs[:end, row] * left, atol=1e-4)


def test_games_cut_off_end_with_the_value_of_their_last_position(tmp_path: Path) -> None:
    """That position is found again by playing the same actions in games that are not restarted."""
    options = {"max_plies": 15}
    config = tiny_ppo(tmp_path, game="abalone", games=8, rollout=20, options=options, depth=1)
    now, rollout = played(config)
    games = make_vec("abalone", 8, autoreset_mode="Disabled", **options)
    games.reset(seed=config.seed)
    for t in range(15):
        seen, _, ended, cut, infos = games.step(rollout.actions[t].numpy())
    assert cut.all()
    assert not ended.any()
    with torch.no_grad():
        _, values = now.network(torch.from_numpy(seen["observation"]))
    wanted = np.where(infos["to_move"] == 0, 1, -1) * values.numpy()
    assert rollout.over[14].all()
    assert not rollout.decided[14].any()
    assert np.allclose(rollout.values[15], wanted, atol=1e-6)
    assert np.abs(wanted).min() > 0


@pytest.mark.parametrize("out", [(0, 1), (1, 1)])
def test_a_result_at_the_limit_is_not_counted_twice(out: tuple[int, int], tmp_path: Path) -> None:
    """With a tiebreak the reward has the result; only a tie ends with the last position's value."""
    board = str(Position("abalone")).split()[0]
    text = f"{board} b out={out[0]},{out[1]}"
    options = {"position": text, "max_plies": 3, "tiebreak": "marbles"}
    config = tiny_ppo(tmp_path, game="abalone", rollout=3, options=options, depth=1, shaping=0.0)
    _, rollout = played(config)
    assert rollout.over[2].all()
    assert (rollout.rewards[2] == out[1] - out[0]).all()
    assert (rollout.decided[2] == (out[0] != out[1])).all()


@pytest.mark.parametrize("options", [{}, {"max_plies": 10}])
def test_shaping_rewards_player_0_for_what_it_gains(
    options: dict[str, Any], tmp_path: Path
) -> None:
    """The gains of a game are what its evaluation has changed by, however long it has lasted.

    That of the last step counts, too, if the game was cut off: the value of its last position has
    only what comes after it.
    """
    config = tiny_ppo(
        tmp_path, game="abalone", options=options, games=6, rollout=10, depth=1, shaping=0.5
    )  # fmt: skip
    before = Games(config.completed()).worths
    now, rollout = played(config)
    assert not rollout.decided.any()
    assert not rollout.over[:-1].any()
    assert rollout.over[-1].all() == bool(options)
    gained = now.games.shaping.gains(before, now.games.worths)
    assert np.allclose(rollout.rewards.sum(0), gained, atol=1e-5)
    assert np.abs(gained).max() > 0
    plain = played(tiny_ppo(tmp_path, game="abalone", depth=1, shaping=0.0))[1]
    assert (plain.rewards == 0).all()


def test_only_legal_actions_have_a_chance() -> None:
    """Theirs are those of a softmax over them, and so are the gradients; the others have none."""
    logits = torch.tensor([[3.0, -2.0, 1e4, 0.5], [0.0, 1.0, -1e4, 3.0]], requires_grad=True)
    masks = torch.tensor([[1, 1, 0, 0], [0, 1, 0, 1]], dtype=torch.int8)
    found = Policy(logits, masks, torch.zeros(2)).judge(torch.tensor([1, 3]))
    legal = torch.stack([logits[0, :2], logits[1, [1, 3]]])
    wanted = legal.log_softmax(1)[:, 1], -(legal.softmax(1) * legal.log_softmax(1)).sum(1)
    weights = torch.tensor([0.3, -2.0]), torch.tensor([1.5, 0.7])
    for own, other in zip(found, wanted, strict=True):
        assert torch.allclose(own, other)
    gradients = [
        torch.autograd.grad((weights[0] * pair[0] + weights[1] * pair[1]).sum(), logits)[0]
        for pair in (found, wanted)
    ]
    assert torch.allclose(*gradients)
    assert torch.equal(gradients[0] == 0, masks == 0)


def test_actions_are_sampled_by_their_probabilities() -> None:
    """Whatever the uniform number, an illegal action is never chosen."""
    uniform = torch.linspace(0, 1, 10_001)[:-1]
    edges = torch.tensor([0.0, np.nextafter(np.float32(1), np.float32(0))])
    for points in (uniform, edges):
        logits = torch.tensor([0.0, 0.0, 9.0, 1.0, 2.0, -1e9]).expand(len(points), -1)
        masks = torch.tensor([0, 1, 0, 1, 1, 0], dtype=torch.int8).expand(len(points), -1)
        found = Policy(logits, masks.contiguous(), points)
        actions, log_probs = found.sample(points)
        assert set(actions.tolist()) <= {1, 3, 4}
        assert torch.allclose(log_probs, found.judge(actions)[0])
        if points is uniform:
            shares = torch.bincount(actions, minlength=6) / len(points)
            wanted = torch.tensor([0.0, 1.0, 0.0, np.e, np.e**2, 0.0])
            assert torch.allclose(shares, wanted / wanted.sum(), atol=2e-4)


def test_a_game_that_is_over_is_no_error() -> None:
    found = Policy(torch.randn(1, 4), torch.zeros(1, 4, dtype=torch.int8), torch.zeros(1))
    action, log_prob = found.sample(torch.tensor([0.5]))
    assert 0 <= action < 4
    assert torch.isfinite(log_prob).all()


# ---- opponents from the past ----


class Stubborn(nn.Module):
    """Plays the legal action with the highest number."""

    def forward(self, planes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.arange(7.0).expand(len(planes), 7) * 100, torch.zeros(len(planes))


def test_opponents_play_their_own_seat_and_are_not_learned_from(tmp_path: Path) -> None:
    config = tiny_ppo(
        tmp_path, game="connect_four", games=40, rollout=30, past_share=0.5, threads=1
    ).completed()
    games = Games(config)
    now, past, count = initial_state(config, games), Past([Stubborn()]), 20
    with closing(Threads(config.threads, games.env.unpack)) as threads:
        for _ in range(3):
            rollout = games.play(now.network, past, threads)
    begins = torch.cat([torch.zeros(1, 40, dtype=torch.bool), rollout.over[:-1]])
    begins[0] = ~rollout.learned[0] & (planes_of(games, rollout.seen)[1][0].sum(1) == 0)
    theirs = ~rollout.learned & ~begins
    assert not theirs[:, count:].any(), "both seats of the other games are its own"
    seats = torch.where(torch.arange(count) % 2 == 0, 1.0, -1.0)
    moved = ~begins[:, :count]
    assert torch.equal(theirs[:, :count], moved & (rollout.signs[:, :count] == seats))
    _, masks = planes_of(games, rollout.seen)
    assert torch.equal(rollout.actions[theirs], (masks[theirs] * torch.arange(7)).argmax(1))
    assert 0.2 < theirs.float().mean() < 0.3
    estimate(rollout, config)
    own = rollout.advantages[rollout.learned]
    assert own.mean().abs() < 1e-5
    assert own.std(correction=0).sub(1).abs() < 1e-3
    batch, rows = Batch.of(rollout), rollout.learned.flatten().nonzero()[:, 0]
    assert torch.equal(batch.at(rows).actions, rollout.actions[rollout.learned])
    assert torch.equal(batch.at(rows).seen.observation, rollout.seen.observation[rollout.learned])


@pytest.mark.parametrize("network", ["plain", "board", "boards", "houses", "lines"])
def test_networks_compute_with_bfloat16_if_told(network: str, tmp_path: Path) -> None:
    """Its eight bits are seen in what they find, and in gradients of weights with 24."""
    found, gradients = [], []
    for bfloat16 in (False, True):
        config = tiny_ppo(tmp_path, network=network, bfloat16=bfloat16)
        config = config.completed()
        games = Games(config)
        model = initial_state(config, games).network
        computes = config.computes_in_bfloat16
        with closing(Threads(1, games.env.unpack, bfloat16=computes)) as threads:
            logits, _, values = threads.policy(model, games.seen)
        found.append(torch.cat((logits.flatten(), values)))
        gradients.append(torch.autograd.grad(found[-1].square().mean(), list(model.parameters())))
    for one, other in ((found[:1], found[1:]), gradients):
        assert {each.dtype for each in (*one, *other)} == {torch.float32}
        exact, rounded = (torch.cat([each.flatten() for each in every]) for every in (one, other))
        away = (exact - rounded).norm() / exact.norm()
        assert 1e-5 < away < 0.05


def test_random_openings_are_not_learned_from(tmp_path: Path) -> None:
    """A game begins with 0 to 4 of them; a game that is resumed makes those that it has left."""
    config = tiny_ppo(
        tmp_path, game="connect_four", games=200, rollout=12, past_share=0.0, opening=4
    )
    now, rollout = played(config)
    random = (~rollout.learned).int()
    assert (random.diff(dim=0)[:5] <= 0).all(), "they come first"
    assert set(random[:6].sum(0).tolist()) == {0, 1, 2, 3, 4}
    again = Games(config.completed())
    again.set_state(now.games.get_state())
    assert torch.equal(again.random, now.games.random)
    assert torch.equal(again.over, now.games.over)


def test_random_openings_follow_from_the_seed(tmp_path: Path) -> None:
    """From that of the run, whatever was drawn in the process before."""
    config = tiny_ppo(tmp_path, game="connect_four", games=50, past_share=0.0, opening=9)
    one, other = (played(config)[1] for _ in range(2))
    assert torch.equal(one.learned, other.learned)
    assert torch.equal(one.actions, other.actions)


def test_the_pool_keeps_copies_of_earlier_versions() -> None:
    network = nn.Linear(2, 2)
    past = Past([nn.Linear(2, 2)])
    for number in range(1, 6):
        with torch.no_grad():
            network.weight.fill_(number)
        past.add(network, 3)
        assert len(past.versions) == min(number + 1, 3)
        first = [float(version.weight[0, 0]) for version in past.versions]  # type: ignore[index, arg-type]
        assert number in first, "the newest is there"
        assert len(set(first)) == len(first), "the others do not change"
    assert len(past.versions) == 3


def test_versions_have_equal_shares_of_the_games() -> None:
    past = Past([nn.Linear(1, 1) for _ in range(3)])
    for games, wanted in {0: [], 1: [1], 2: [1, 1], 3: [1, 1, 1], 10: [3, 3, 4]}.items():
        shares = [part for _, part in past.shares(games)]
        assert [part.stop - part.start for part in shares] == wanted
        assert [row for part in shares for row in range(games)[part]] == list(range(games))


def test_a_small_share_is_at_least_one_game(tmp_path: Path) -> None:
    shares = {0.0: 0, 0.01: 1, 0.4: 2, 1.0: 5}
    for share, count in shares.items():
        config = tiny_ppo(tmp_path, past_share=share).completed()
        assert len(Games(config).past_seats) == count


def test_games_have_as_many_threads_as_the_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[object] = []

    def made(*words: Any, threads: object = None, **more: Any) -> Any:
        given.append(threads)
        return make_vec(*words, threads=threads, **more)

    monkeypatch.setattr(ppo_games, "make_vec", made)
    Games(tiny_ppo(tmp_path, threads=3).completed()).env.close()
    assert given == [3]


# ---- runs ----


def test_an_update_may_have_one_action_or_none(tmp_path: Path) -> None:
    """Where an earlier version makes the other moves, and in a random opening."""
    config = tiny_ppo(tmp_path, games=1, rollout=2, batch=2, past_share=1.0, opening=10)
    config, counts = config.completed(), list[int]()
    now = initial_state(config, Games(config))
    with closing(Threads(config.threads, now.games.env.unpack)) as threads:
        learner = Learner(now, config, threads)
        for _ in range(20):
            estimate(now.games.play(now.network, now.past, threads), config)
            counts.append(learner.improve()[0])
    now.check_finite()
    assert 0 in counts[counts.index(1) :]


@pytest.mark.slow
def test_learning_beats_random_players_and_the_beginner(tmp_path: Path) -> None:
    config = tiny_ppo(
        tmp_path, game="connect_four", steps=40_000, games=128, rollout=32, batch=128, width=16,
        depth=2, learning_rate=4e-3, shaping=0.0, measure_every=10**9, pool_every=5,
    )  # fmt: skip
    network = initial_state(config.completed(), Games(config.completed())).network
    before = PolicyAgent(network, "before", temperature=1.0)  # without it, only two games differ
    main(config)
    trained = PolicyAgent.load(tmp_path / "policy")
    for other in (RandomAgent(), before):
        score = play_pairing("connect_four", trained, other, 100, 7, {}, balanced=False)
        assert score.interval()[0] > 0.85, other


def test_the_learning_rate_rises_for_ten_updates_and_then_falls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rates: list[float] = []
    monkeypatch.setattr(Descent, "set_rate", lambda _, rate: rates.append(rate))
    main(tiny_ppo(tmp_path, steps=800, past_share=0.0, learning_rate=0.01, final_share=0.5))
    assert len(rates) >= 20
    assert rates[0] == pytest.approx(0.001)
    assert rates[:9] == sorted(rates[:9])
    assert rates[9:] == sorted(rates[9:], reverse=True)
    assert 0.005 < rates[-1] < 0.006


# ---- errors ----


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained")
    main(tiny_ppo(folder))
    save = read_save(folder / "resume.safetensors")
    assert {name.split(".")[0] for name in save.part("past")} == {"0", "1"}
    return folder


@pytest.mark.parametrize(
    ("notes", "arrays", "told"),
    [
        ({"updates": None}, {}, "updates: must be a whole number"),
        ({}, {"past": None}, "past: there must be at least one"),
        ({}, {"past.1.logit.bias": np.zeros(2, np.float32)}, "past.1.logit.bias: must be"),
        ({"layouts": {}}, {}, "games.states: saved by another version of the game"),
        ({}, {"games.states": np.zeros}, "games: "),
    ],
)
def test_saves_that_do_not_fit_are_refused(
    trained: Path, notes: dict[str, Any], arrays: dict[str, Any], told: str
) -> None:
    """Arrays that begin with a name are left out (None) or zero, or replaced."""
    save = read_save(trained / "resume.safetensors")
    changed = dict(save.arrays)
    for name, given in arrays.items():
        for each in [each for each in changed if each == name or each.startswith(f"{name}.")]:
            old = changed.pop(each)
            if given is not None:
                changed[each] = old * 0 if given is np.zeros else given
    wrong = Save(save.steps, save.curve, 0, {**save.notes, **notes}, changed)
    config = tiny_ppo(trained).completed()
    now = initial_state(config, Games(config))
    state.restore(now, save)
    with pytest.raises(CheckpointError) as raised:
        state.restore(now, wrong)
    assert str(raised.value).startswith(told)


def test_a_rollout_of_weights_that_diverged_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Sampling fails there, before the update that would find it."""
    play, calls = Games.play, []

    def spoiled(self: Games, network: nn.Module, *more: Any) -> Rollout:
        calls.append(1)
        if len(calls) == 3:
            next(network.parameters()).data.fill_(float("nan"))
        return play(self, network, *more)

    monkeypatch.setattr(Games, "play", spoiled)
    monkeypatch.setattr(ppo, "read_words", lambda *_: tiny_ppo(tmp_path))
    assert ppo.run_words([]) == 1
    said = capsys.readouterr().err
    assert "no longer finite; start another run" in said
    assert said.count("\n") == 1
    save = read_save(tmp_path / "resume.safetensors")
    assert all(np.isfinite(array).all() for array in save.part("network").values())
