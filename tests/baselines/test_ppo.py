"""Self-play PPO: who learns from what, the estimates it learns from, and runs on tiny budgets."""

from __future__ import annotations

import json
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
from azumaya.baselines.training import ppo, state
from azumaya.baselines.training.policy import Threads, policy
from azumaya.baselines.training.ppo import (
    Config,
    Games,
    Past,
    Rollout,
    State,
    advantages,
    batch_of,
    begun,
    improve,
    main,
    run_words,
)
from azumaya.baselines.training.saves import Save, read_save
from azumaya.envs import OptionError, Position, make_vec
from tests.baselines.run_helpers import differing, results, tiny_ppo, tiny_run


def played(config: Config, rounds: int = 1) -> tuple[State, Rollout]:
    """A new state, and the last of the rollouts that were played without learning."""
    config = config.completed()
    now = begun(config, Games(config))
    with closing(Threads(config.threads)) as threads:
        for _ in range(rounds):
            rollout = now.games.play(now.network, now.past, threads)
    return now, rollout


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
            delta = reward + discount * sign * rollout.following[t, row] - value
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
    rollout: Any = SimpleNamespace(
        signs=torch.randint(2, shape, generator=chance) * 2.0 - 1,
        over=torch.rand(shape, generator=chance) < 0.1,
        **{
            name: torch.randn(shape, generator=chance)
            for name in ("rewards", "values", "following")
        },
    )
    found = advantages(rollout, discount, gae_lambda).numpy()
    assert np.allclose(found, plain_advantages(rollout, discount, gae_lambda), atol=1e-4)


def test_without_discounts_a_return_is_what_the_mover_gains(tmp_path: Path) -> None:
    """With lambda 1, in real games: +1 for all moves of the winner and -1 for the loser's."""
    config = tiny_ppo(tmp_path, game="connect_four", games=20, rollout=60, shaping=0.0)
    _, rollout = played(config)
    returns = advantages(rollout, 1.0, 1.0) + rollout.signs * rollout.values
    seen = set()
    for row in range(20):
        begin = 0
        for end in np.flatnonzero(rollout.over[:, row]):
            gained = rollout.rewards[end, row] * rollout.signs[begin : end + 1, row]
            assert torch.allclose(returns[begin : end + 1, row], gained, atol=1e-5)
            seen |= set(gained.tolist())
            begin = end + 1
    assert {1.0, -1.0} <= seen
    assert (rollout.rewards[~rollout.over] == 0).all()


def test_a_step_leads_to_the_value_of_the_next_position(tmp_path: Path) -> None:
    """Nothing follows the end of a game; in between, signs do not matter for player 0."""
    _, rollout = played(tiny_ppo(tmp_path, game="connect_four", games=20, rollout=60))
    going = ~rollout.over[:-1]
    assert torch.equal(rollout.following[:-1][going], rollout.values[1:][going])
    assert (rollout.following[rollout.over] == 0).all()


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
    assert np.allclose(rollout.following[14], wanted, atol=1e-6)
    assert np.abs(wanted).min() > 0


@pytest.mark.parametrize("out", [(0, 1), (1, 1)])
def test_a_result_at_the_limit_is_not_counted_twice(out: tuple[int, int], tmp_path: Path) -> None:
    """With a tiebreak the reward has the result; only a tie ends with the last position's value."""
    board = str(Position("abalone")).split()[0]
    text = f"{board} b out={out[0]},{out[1]}"
    options = {"position": text, "max_plies": 3, "tiebreak": "marbles"}
    config = tiny_ppo(tmp_path, game="abalone", rollout=3, options=options, depth=1)
    _, rollout = played(config)
    assert rollout.over[2].all()
    assert (rollout.rewards[2] == out[1] - out[0]).all()
    assert ((rollout.following[2] == 0) == (out[0] != out[1])).all()


def test_shaping_rewards_player_0_for_what_it_gains(tmp_path: Path) -> None:
    """The gains of a game are what its evaluation has changed by, however long it has lasted."""
    config = tiny_ppo(tmp_path, game="abalone", games=6, rollout=10, depth=1, shaping=0.5)
    before = Games(config.completed()).worths
    now, rollout = played(config)
    assert not rollout.over.any()
    gained = now.games.shaping.gains(before, now.games.worths)
    assert np.allclose(rollout.rewards.sum(0), gained, atol=1e-5)
    assert np.abs(gained).max() > 0
    plain = played(tiny_ppo(tmp_path, game="abalone", depth=1, shaping=0.0))[1]
    assert (plain.rewards == 0).all()


class Saying(nn.Module):
    """Says the same logits whatever it sees."""

    def __init__(self, logits: torch.Tensor) -> None:
        super().__init__()
        self.logits = logits

    def forward(self, planes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The logits, and the planes for values."""
        return self.logits, planes


def test_only_legal_actions_have_a_chance() -> None:
    """Theirs are those of a softmax over them, and so is the gradient; the others have none."""
    said = torch.tensor([[3.0, -2.0, 1e4, 0.5], [0.0, 1.0, -1e4, 3.0]], requires_grad=True)
    masks = torch.tensor([[1, 1, 0, 0], [0, 1, 0, 1]], dtype=torch.int8)
    found, _ = policy(Saying(said), torch.zeros(2), masks)
    assert found.rows.tolist() == [0, 0, 1, 1]
    assert found.actions.tolist() == [0, 1, 1, 3]
    wanted = torch.cat([said[0, :2].log_softmax(0), said[1, [1, 3]].log_softmax(0)])
    assert torch.allclose(found.chances, wanted)
    assert torch.equal(found.chances_of(torch.tensor([1, 3])), found.chances[[1, 3]])
    worth = torch.arange(4.0)
    gradients = [
        torch.autograd.grad((x.exp() * worth).sum(), said)[0] for x in (found.chances, wanted)
    ]
    assert torch.allclose(*gradients)
    assert torch.equal(gradients[0] == 0, masks == 0)


def test_actions_are_sampled_by_their_probabilities() -> None:
    """Whatever the uniform number, an illegal action is never chosen, nor one of another row."""
    uniform = torch.linspace(0, 1, 10_001)[:-1]
    edges = torch.tensor([0.0, np.nextafter(np.float32(1), np.float32(0))])
    for points in (uniform, edges):
        logits = torch.tensor([0.0, 0.0, 9.0, 1.0, 2.0, -1e9]).expand(len(points), -1)
        masks = torch.tensor([0, 1, 0, 1, 1, 0], dtype=torch.int8).expand(len(points), -1)
        found, _ = policy(Saying(logits), points, masks.contiguous())
        actions, chances = found.sample(points)
        assert set(actions.tolist()) <= {1, 3, 4}
        assert torch.allclose(chances, found.chances_of(actions))
        if points is uniform:
            shares = torch.bincount(actions, minlength=6) / len(points)
            wanted = torch.tensor([0.0, 1.0, 0.0, np.e, np.e**2, 0.0])
            assert torch.allclose(shares, wanted / wanted.sum(), atol=2e-4)


# ---- opponents from the past ----


class Stubborn(nn.Module):
    """Plays the legal action with the highest number."""

    def forward(self, planes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The same for every position."""
        return torch.arange(7.0).expand(len(planes), 7) * 100, torch.zeros(len(planes))


def test_opponents_play_their_own_seat_and_are_not_learned_from(tmp_path: Path) -> None:
    config = tiny_ppo(
        tmp_path, game="connect_four", games=40, rollout=30, past_share=0.5, threads=1
    ).completed()
    threads, games = Threads(1), Games(config)
    past = Past.new(config, Stubborn())
    network, count = begun(config, games).network, len(past.seat)
    seats = set()
    for _ in range(3):
        rollout = games.play(network, past, threads)
        theirs = ~rollout.learned
        assert not theirs[:, count:].any(), "both seats of the other games are its own"
        moves = (rollout.masks[theirs] * torch.arange(7)).argmax(1)
        assert torch.equal(rollout.actions[theirs], moves)
        for row in range(count):
            for part in np.split(np.arange(30), np.flatnonzero(rollout.over[:, row]) + 1):
                seat = rollout.signs[part, row][theirs[part, row]].unique()
                own = rollout.signs[part, row][rollout.learned[part, row]].unique()
                assert len(seat) < 2
                assert len(own) < 2
                assert not set(seat.tolist()) & set(own.tolist())
                seats |= set(seat.tolist())
        batch, learned = batch_of(rollout, config)
        assert torch.equal(batch.actions[learned], rollout.actions[rollout.learned])
        assert torch.equal(batch.planes[learned], rollout.planes[rollout.learned])
        assert batch.gains[learned].mean().abs() < 1e-5
        assert batch.gains[learned].std(correction=0).sub(1).abs() < 1e-3
    assert seats == {1.0, -1.0}
    assert 0.2 < theirs.float().mean() < 0.3
    threads.close()


def test_without_a_share_every_action_is_learned_from(tmp_path: Path) -> None:
    _, rollout = played(tiny_ppo(tmp_path, game="connect_four", past_share=0.0))
    assert rollout.learned.all()


def test_the_pool_keeps_copies_of_earlier_versions(tmp_path: Path) -> None:
    config = tiny_ppo(tmp_path, game="connect_four", pool=3).completed()
    network = nn.Linear(2, 2)
    past = Past.new(config, network)
    for number in range(1, 6):
        with torch.no_grad():
            network.weight.fill_(number)
        past.add(network, 3)
        assert len(past.versions) == min(number + 1, 3)
        first = [float(version.weight[0, 0]) for version in past.versions]  # type: ignore[index, arg-type]
        assert number in first, "the newest is there"
        assert len(set(first)) == len(first), "the others do not change"
    assert len(past.versions) == 3


def test_games_are_against_any_version(tmp_path: Path) -> None:
    config = tiny_ppo(tmp_path, games=100, past_share=1.0, pool=3).completed()
    past = Past.new(config, nn.Linear(1, 1))
    past.add(nn.Linear(1, 1), 3)
    past.draw(np.arange(100) < 60)
    assert set(past.opponent[:60]) == {0, 1}
    assert not past.opponent[60:].any(), "games that go on keep their opponent"


def test_opponents_that_leave_the_pool_are_replaced_by_others_of_it(tmp_path: Path) -> None:
    """A game in progress does not go on against the network as it is now."""
    config = tiny_ppo(tmp_path, games=100, past_share=1.0, pool=3).completed()
    torch.manual_seed(1)
    past = Past.new(config, nn.Linear(1, 1))
    for _ in range(2):
        past.add(nn.Linear(1, 1), 3)
    past.draw(np.ones(100, np.bool_))
    before, versions = past.opponent.copy(), list(past.versions)
    past.add(nn.Linear(1, 1), 3)
    (place,) = (i for i in range(3) if past.versions[i] is not versions[i])
    others = {0, 1, 2} - {place}
    assert (before == place).sum() > 20
    assert set(past.opponent[before == place]) == others
    assert (past.opponent == before)[before != place].all(), "the other games keep theirs"


def test_a_pool_of_one_has_no_other_opponent(tmp_path: Path) -> None:
    past = Past.new(tiny_ppo(tmp_path, pool=1).completed(), nn.Linear(1, 1))
    past.add(nn.Linear(1, 1), 1)
    assert not past.opponent.any()


def test_a_small_share_is_at_least_one_game(tmp_path: Path) -> None:
    shares = {0.0: 0, 0.01: 1, 0.4: 2, 1.0: 5}
    for share, count in shares.items():
        config = tiny_ppo(tmp_path, past_share=share).completed()
        assert len(Past.new(config, nn.Linear(1, 1)).seat) == count


def test_games_have_as_many_threads_as_the_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[object] = []

    def made(*words: Any, threads: object = None, **more: Any) -> Any:
        given.append(threads)
        return make_vec(*words, threads=threads, **more)

    monkeypatch.setattr(ppo, "make_vec", made)
    Games(tiny_ppo(tmp_path, threads=3).completed()).env.close()
    assert given == [3]


# ---- runs ----


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unbroken")
    scores = main(tiny_ppo(folder))
    assert [(s.second, s.games) for s in scores] == [("random", 6), ("greedy", 6)]
    return folder


def test_a_run_leaves_an_agent_and_its_curve(unbroken: Path) -> None:
    assert PolicyAgent.load(unbroken / "policy").sidecar is not None
    notes = json.loads((unbroken / "policy.json").read_text())["notes"]
    save = read_save(unbroken / "resume.safetensors")
    assert notes["steps"] == save.steps >= 192
    assert [point["steps"] for point in save.curve] == sorted({p["steps"] for p in save.curve})
    assert {name.split(".")[0] for name in save.part("past")} == {"0", "1"}
    assert not (unbroken / "model.zip").exists()


def test_training_does_not_depend_on_the_defaults_of_torch(unbroken: Path, tmp_path: Path) -> None:
    torch.set_default_dtype(torch.bfloat16)
    try:
        with torch.device("meta"):
            main(tiny_ppo(tmp_path / "run"))
    finally:
        torch.set_default_dtype(torch.float32)
    assert differing(results(unbroken), results(tmp_path / "run")) == []


def test_results_depend_on_the_seed_but_not_on_threads(unbroken: Path, tmp_path: Path) -> None:
    main(tiny_ppo(tmp_path / "more", threads=3))
    assert differing(results(unbroken), results(tmp_path / "more")) == ["config.json"]
    main(tiny_ppo(tmp_path / "other", seed=2))
    assert "policy.safetensors" in differing(results(unbroken), results(tmp_path / "other"))


@pytest.mark.parametrize("number", [1, 2, 4])
def test_a_run_stopped_by_ctrl_c_ends_like_any_other(
    number: int, unbroken: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped while it plays its first, second and fourth rollout."""
    play, calls = Games.play, []

    def interrupted(self: Games, *arguments: Any) -> Rollout:
        calls.append(1)
        if len(calls) == number:
            self.env.rollout(3)  # whatever happened since the moment that is saved
            raise KeyboardInterrupt
        return play(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Games, "play", interrupted)
        with pytest.raises(KeyboardInterrupt):
            main(tiny_ppo(tmp_path))
    main(tiny_ppo(tmp_path, resume=True))
    assert differing(results(unbroken), results(tmp_path)) == []


def test_the_last_minibatch_may_have_one_action(tmp_path: Path) -> None:
    """Only MaskablePPO divides by the deviation of a minibatch's advantages."""
    sizes: dict[str, Any] = {"games": 3, "rollout": 3, "batch": 4}
    tiny_ppo(tmp_path, **sizes).completed()
    with pytest.raises(OptionError, match=r"an update of 9 actions .* a minibatch of one"):
        tiny_run(tmp_path, **sizes).completed()


def test_an_update_may_have_one_action(tmp_path: Path) -> None:
    """Where an earlier version makes the other moves."""
    config = tiny_ppo(tmp_path, games=1, rollout=2, batch=2, past_share=1.0)
    config, counts = config.completed(), set()
    with closing(Threads(1)) as threads:
        now = begun(config, Games(config))
        for _ in range(6):
            batch, rows = batch_of(now.games.play(now.network, now.past, threads), config)
            counts.add(len(rows))
            improve(now, batch, rows, config, threads)
    now.check_finite()
    assert 1 in counts


def test_a_run_stopped_by_its_time_limit_ends_like_any_other(
    unbroken: Path, tmp_path: Path
) -> None:
    main(tiny_ppo(tmp_path, minutes=1e-9))
    for _ in range(3):
        main(tiny_ppo(tmp_path, minutes=1e-9, resume=True))
    main(tiny_ppo(tmp_path, resume=True, minutes=0.0))
    assert differing(results(unbroken), results(tmp_path)) == []


@pytest.mark.parametrize("game", ["abalone", "sudoku_tiles"])
def test_other_networks_can_be_resumed(game: str, tmp_path: Path) -> None:
    """With convolutions, shaping, games cut off and hidden tiles."""
    options = {"max_plies": 10} if game == "abalone" else {}
    more: dict[str, Any] = {"game": game, "options": options, "depth": 1, "steps": 96,
                            "measure_starts": 1, "final_starts": 1}  # fmt: skip
    main(tiny_ppo(tmp_path / "whole", **more))
    for resume in (False, True, True):
        main(tiny_ppo(tmp_path / "parts", minutes=1e-9, resume=resume, **more))
    main(tiny_ppo(tmp_path / "parts", resume=True, **more))
    assert differing(results(tmp_path / "whole"), results(tmp_path / "parts")) == []


def test_learning_beats_random_players_and_the_beginner(tmp_path: Path) -> None:
    """By far more than the agent whose weights are not trained yet."""
    config = tiny_ppo(
        tmp_path, game="connect_four", steps=40_000, games=128, rollout=32, batch=128, width=16,
        depth=2, learning_rate=4e-3, shaping=0.0, measure_every=10**9, pool_every=5,
    )  # fmt: skip
    network = begun(config.completed(), Games(config.completed())).network
    before = PolicyAgent(network, "before", temperature=1.0)  # without it, only two games differ
    main(config)
    trained = PolicyAgent.load(tmp_path / "policy")
    for other in (RandomAgent(), before):
        score = play_pairing("connect_four", trained, other, 100, 7, {}, balanced=False)
        assert score.interval()[0] > 0.85, other


# ---- errors ----


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("--past-share 2", "--past-share 2.0: must be a number from 0 to 1"),
        ("--pool 0", "--pool 0: must be a whole number from 1 to 1,000"),
        ("--network plain --width 8000 --pool 100", "--pool 100: with networks of 88,648,730"),
        ("--pool-every 0", "--pool-every 0: must be a whole number from 1"),
        ("--threads 0", "--threads 0: must be a whole number from 1 to 1,024"),
        ("--games 1000000 --rollout 1000", "an update would have 1,000,000,000 actions"),
        ("--game abalone --network numbers", "--network numbers: needs a game"),
        ("--resume", "ppo-sudoku_moyo-1 holds no run"),
    ],
)
def test_impossible_arguments_are_refused_in_one_line(
    words: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert run_words(words.split()) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("error: ")
    assert told in said.err
    assert said.err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_run_of_another_script_is_not_resumed(
    unbroken: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from azumaya.baselines.training import maskable_ppo  # noqa: PLC0415

    assert maskable_ppo.run_words(["--output", str(unbroken), "--resume"]) == 2
    assert "written by another script" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("notes", "arrays", "told"),
    [
        ({"updates": None}, {}, "updates: must be a whole number"),
        ({}, {"past": None}, "past_opponent, past_seat: must be"),
        ({}, {"past_opponent": np.array([0, 2])}, "past_opponent, past_seat: must be"),
        ({}, {"past_seat": np.array([0, -1])}, "past_opponent, past_seat: must be"),
        ({}, {"past_seat": np.array([0])}, "past_seat: must be int64 (2,)"),
        ({}, {"past.1.logit.bias": np.zeros(2, np.float32)}, "past.1.logit.bias: must be"),
        ({"layouts": {}}, {}, "games.states: saved by another version of the game"),
        ({}, {"games.states": np.zeros}, "games: "),
    ],
)
def test_saves_that_do_not_fit_are_refused(
    unbroken: Path, notes: dict[str, Any], arrays: dict[str, Any], told: str
) -> None:
    """Arrays that begin with a name are left out (None) or zero, or replaced."""
    save = read_save(unbroken / "resume.safetensors")
    changed = dict(save.arrays)
    for name, given in arrays.items():
        for each in [each for each in changed if each == name or each.startswith(f"{name}.")]:
            old = changed.pop(each)
            if given is not None:
                changed[each] = old * 0 if given is np.zeros else given
    wrong = Save(save.steps, save.curve, 0, {**save.notes, **notes}, changed)
    config = tiny_ppo(unbroken).completed()
    now = begun(config, Games(config))
    state.restore(now, save)
    with pytest.raises(CheckpointError) as raised:
        state.restore(now, wrong)
    assert str(raised.value).startswith(told)


def spoil(network: nn.Module) -> None:
    """What a division by 0 does to the weights."""
    next(network.parameters()).data.fill_(float("nan"))


@pytest.mark.parametrize("place", ["update", "play"])
def test_diverged_numbers_end_the_run_and_are_not_saved(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In an update, found before the next one; and in a rollout, where sampling fails."""
    learn, play, calls = ppo.improve, Games.play, []

    def spoiled_update(now: State, *more: Any) -> dict[str, float]:
        calls.append(1)
        found = learn(now, *more)
        if len(calls) == 3:
            spoil(now.network)
        return found

    def spoiled_play(self: Games, network: nn.Module, past: Past, threads: Threads) -> Rollout:
        calls.append(1)
        if len(calls) == 3:
            spoil(network)
        return play(self, network, past, threads)

    with monkeypatch.context() as patch:
        if place == "update":
            patch.setattr(ppo, "improve", spoiled_update)
        else:
            patch.setattr(Games, "play", spoiled_play)
        patch.setattr(ppo, "read_words", lambda *_: tiny_ppo(tmp_path))
        assert run_words([]) == 1
    said = capsys.readouterr().err
    assert "no longer finite; start another run" in said
    assert said.count("\n") == 1
    assert len(calls) == 3
    save = read_save(tmp_path / "resume.safetensors")
    assert all(np.isfinite(array).all() for array in save.part("network").values())
