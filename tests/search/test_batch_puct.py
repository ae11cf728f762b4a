"""PUCT with a network: what is searched together does not matter, and proofs are right."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from azumaya.baselines import find_agent
from azumaya.baselines.search import BatchPUCTAgent, search_agent
from azumaya.baselines.search.batch_puct import BatchPUCT
from azumaya.baselines.search.budget import Budget
from azumaya.baselines.search.grove import HALVES
from azumaya.baselines.search.noise import ln, log_gamma
from azumaya.baselines.search.outcome import children_of
from azumaya.envs import GAMES, OptionError, Position
from azumaya.envs.game import Game
from tests.cases import YARDSTICK
from tests.search.evaluations import Centre, Linear, Scattered
from tests.search.positions import label, late, midgame

SCORE = GAMES["score_dominari"]
TILES = GAMES["sudoku_tiles"]


def searched(position: Position, simulations: int, key: int = 1, **settings: Any) -> Any:
    evaluator = settings.pop("evaluator", None) or Linear()
    return BatchPUCT(Budget(simulations), evaluator, **settings).search([position], [key])[0]


@pytest.mark.parametrize(
    ("game", "leaves"),
    [
        (YARDSTICK, 1),
        (YARDSTICK, 5),
        pytest.param(TILES, 1, marks=pytest.mark.slow),
        pytest.param(TILES, 5, marks=pytest.mark.slow),
        pytest.param(SCORE, 1, marks=pytest.mark.slow),
        pytest.param(SCORE, 5, marks=pytest.mark.slow),
    ],
    ids=label,
)
def test_what_is_searched_together_does_not_matter(game: Game, leaves: int) -> None:
    positions = [midgame(game, {}, seed, seed) for seed in range(37)]
    keys = [7 * seed for seed in range(37)]

    def found(**settings: Any) -> Any:
        evaluator = Linear()
        puct = BatchPUCT(Budget(40), evaluator, leaves=leaves, **settings)
        outcomes = puct.search(positions, keys)
        assert {shape[0] for shape in evaluator.shapes} == {puct.batch}
        return outcomes

    expected = found(threads=1)
    assert found(threads=3) == expected
    assert found(games=5, batch=3, threads=2) == expected
    assert found(games=1, batch=64) == expected
    alone = searched(positions[20], 40, keys[20], leaves=leaves)
    assert alone == expected[20]
    assert alone.simulations == 40 or alone.exact
    assert searched(positions[20], 40, keys[20] + 1, leaves=leaves) != alone


class Begun(Scattered):
    """A packed evaluator that begins evaluations, and finds out when they are waited for."""

    def __init__(self) -> None:
        super().__init__()
        self.under_way: list[int] = []
        self.most = self.begun = 0

    def begin_packed(self, observation: np.ndarray, action_mask: np.ndarray) -> Any:
        """Evaluations are waited for in the order in which they begin."""
        number = self.begun = self.begun + 1
        self.under_way.append(number)
        self.most = max(self.most, len(self.under_way))

        def answer() -> tuple[np.ndarray, np.ndarray]:
            assert self.under_way.pop(0) == number
            return self.evaluate_packed(observation, action_mask)

        return answer


@pytest.mark.parametrize("leaves", [1, 3])
@pytest.mark.parametrize("noise", [0.0, 0.25])
def test_halves_of_many_games_are_searched_in_turn(leaves: int, noise: float) -> None:
    positions = [midgame(YARDSTICK, {}, seed, seed % 36) for seed in range(HALVES + 1)]
    settings: Any = {"leaves": leaves, "noise": noise}
    expected = BatchPUCT(Budget(25), Scattered(), **settings).search(positions, range(HALVES + 1))
    for count, threads in (HALVES + 1, 1), (HALVES + 1, 3), (HALVES - 1, 2):
        evaluator = Begun()
        puct = BatchPUCT(Budget(25), evaluator, games=count, threads=threads, **settings)
        assert puct.search(positions[:count], range(count)) == expected[:count]
        assert not evaluator.under_way
        assert evaluator.most == 1 + (count >= HALVES)


@pytest.mark.parametrize("leaves", [1, 3])
def test_time_that_is_over_leaves_nothing_under_way(leaves: int) -> None:
    evaluator, positions = Begun(), [Position(YARDSTICK)] * HALVES
    puct = BatchPUCT(Budget(milliseconds=1e-3), evaluator, leaves=leaves, games=HALVES, megabytes=1)
    for outcome in puct.search(positions, range(HALVES)):
        assert outcome.simulations >= 1
    assert not evaluator.under_way
    assert puct._grove is not None
    for g in range(HALVES):
        tree = puct._grove[g]
        assert not tree.nodes["pending"][: int(tree.stats["used"][0])].any()


def test_a_search_can_be_repeated_with_the_same_memory() -> None:
    puct, positions = BatchPUCT(Budget(60), Linear(), leaves=4), [midgame(SCORE, {}, 1, 4)] * 3
    first = puct.search(positions, [1, 2, 3])
    puct.search([Position(SCORE)], [9])
    assert puct.search(positions, [1, 2, 3]) == first
    assert puct.search(positions[:1], [3]) == first[2:]


def test_leaves_that_wait_are_all_accounted_for() -> None:
    puct = BatchPUCT(Budget(300), Linear(), leaves=8)
    outcome = puct.search([Position(YARDSTICK)], [1])[0]
    grove = puct._grove
    assert grove is not None
    nodes, mean, _, stats = grove[0][:4]
    used = int(stats["used"][0])
    assert not nodes["pending"][:used].any()
    assert outcome.simulations == 300 == 1 + sum(c.visits for c in outcome.candidates)
    visited = nodes["visits"][:used] > 0
    open_ = nodes["low"][:used] != nodes["high"][:used]
    totals, visits = nodes["total"][:used], nodes["visits"][:used]
    seen = visited & open_ & (np.abs(mean[:used]) < 1e9)
    assert np.allclose(mean[:used][seen], totals[seen] / visits[seen])


@pytest.mark.parametrize("leaves", [1, 4])
def test_values_are_seen_by_the_player_to_move(leaves: int) -> None:
    start = Position(YARDSTICK)
    for position in (start, start.copy().play("a")):
        wanted = searched(position, 80, evaluator=Centre(0.9), leaves=leaves)
        assert wanted.best == start.action("d")
        assert wanted.value > 0.3
        feared = searched(position, 80, evaluator=Centre(-0.9), leaves=leaves)
        assert feared.best != start.action("d")


def test_logits_guide_the_search() -> None:
    class Stubborn(Linear):
        def evaluate(self, planes: np.ndarray, masks: np.ndarray) -> Any:
            logits = np.zeros(masks.shape)
            logits[:, 5] = 6.0
            return logits, np.zeros(len(planes))

    outcome = searched(Position(YARDSTICK), 100, evaluator=Stubborn())
    assert outcome.best == 5
    assert outcome.candidates[0].visits > 80
    cooler = searched(Position(YARDSTICK), 100, evaluator=Stubborn(), temperature=6.0)
    assert cooler.candidates[0].visits < 60


def noisy_priors(
    positions: list[Position], first: int = 0, **settings: Any
) -> list[dict[int, float]]:
    """The priors at the roots by action; keys count down from the highest one but `first`."""
    settings = {"noise": 1.0, "games": len(positions), **settings}
    puct = BatchPUCT(Budget(2), Linear(), batch=512, **settings)
    keys = [2**64 - 1 - first - i for i in range(len(positions))]
    puct.search(positions, keys, lines=False)
    grove = puct._grove
    assert grove is not None
    trees = [grove[g] for g in range(len(positions))]
    nodes = [tree.nodes[children_of(tree, 0)] for tree in trees]
    return [dict(zip(n["action"].tolist(), n["prior"].tolist(), strict=True)) for n in nodes]


def furthest(some: np.ndarray, others: np.ndarray) -> float:
    """The largest distance of two empirical distribution functions, as of Kolmogorov, Smirnov."""
    at = np.concatenate([some, others])
    shares = [np.searchsorted(np.sort(each), at, "right") / len(each) for each in (some, others)]
    return float(np.abs(shares[0] - shares[1]).max())


@pytest.mark.parametrize("concentration", [0.01, 0.5, 5.0, 10.0, 1000.0])
@pytest.mark.parametrize("first", [0, 10**9])
def test_noise_at_the_root_is_drawn_from_a_dirichlet_distribution(
    concentration: float, first: int
) -> None:
    """Its mean is 1 / 7 of 7 moves, and its variance 1 / 7 * 6 / 7 / (concentration + 1)."""
    count, rng = 2000, np.random.default_rng(first)
    found = noisy_priors([Position(YARDSTICK)] * count, first, concentration=concentration)
    drawn = np.array([[priors[action] for action in range(7)] for priors in found])
    assert np.allclose(drawn.sum(1), 1, atol=1e-5)
    variance = 6 / 49 / (concentration + 1)
    assert np.allclose(drawn.mean(0), 1 / 7, atol=5 * np.sqrt(variance / count))
    assert np.allclose(drawn.var(0), variance, rtol=0.2)
    cross = np.cov(drawn.T)[~np.eye(7, dtype=bool)]
    assert np.allclose(cross, -variance / 6, atol=variance / 12)
    expected = rng.dirichlet([concentration / 7] * 7, 10 * count)
    for move in range(7):
        # float32 cannot tell shares below this from 0, or those near 1 from each other
        least = (
            np.maximum(expected[:, move].round(6), 1e-6),
            np.maximum(drawn[:, move].round(6), 1e-6),
        )
        assert furthest(*least) < 0.05  # more by chance in one case of 5,000
    assert furthest(drawn.max(1).round(6), expected.max(1).round(6)) < 0.05


def test_noise_is_mixed_into_the_priors() -> None:
    positions = [Position(YARDSTICK)] * 10
    some, calm, alone = (noisy_priors(positions, noise=noise) for noise in (0.25, 0.0, 1.0))
    for mixed, priors, noise in zip(some, calm, alone, strict=True):
        expected = {move: 0.75 * priors[move] + 0.25 * noise[move] for move in priors}
        assert mixed == pytest.approx(expected, abs=1e-6)


def test_logarithms() -> None:
    for x in [*np.random.default_rng(1).random(500), 0.75, 1.0, 1.5, 2.0**-53, 1e-30, 1e30]:
        assert ln(float(x)) == pytest.approx(math.log(x), abs=2e-10, rel=1e-12)


@pytest.mark.parametrize("shape", [0.2, 1.0, 10 / 7, 40.0, 1e5])
def test_gamma_numbers(shape: float) -> None:
    drawn = np.array([log_gamma(np.uint64(key), shape) for key in range(4000)])
    expected = np.log(np.random.default_rng(1).gamma(shape, size=40_000))
    assert furthest(drawn, expected) < 0.035  # more by chance in one case of 5,000


@pytest.mark.parametrize("game", [YARDSTICK, SCORE, TILES], ids=label)
def test_noise_is_only_over_legal_moves(game: Game) -> None:
    positions = [midgame(game, {}, seed, 12) for seed in range(5)]
    for position, priors in zip(positions, noisy_priors(positions), strict=True):
        assert sorted(priors) == position.legal_actions()
        whole = len(priors) if game is TILES else 1
        assert sum(priors.values()) == pytest.approx(whole, abs=1e-4)
        assert len(priors) == 1 or len(set(priors.values())) > 1


@pytest.mark.parametrize("game", [YARDSTICK, SCORE, TILES], ids=label)
def test_noise_changes_a_search_by_its_key_alone(game: Game) -> None:
    position = midgame(game, {}, 1, 4)
    noisy = searched(position, 60, noise=0.5)
    assert noisy == searched(position, 60, noise=0.5, threads=1, games=3)
    assert noisy != searched(position, 60, noise=0.5, key=2)
    assert searched(position, 60, concentration=1.0) == searched(position, 60) != noisy


def test_a_time_budget_ends_a_search_that_only_meets_proven_nodes() -> None:
    for position, _ in late(YARDSTICK, {}, 6):
        puct = BatchPUCT(Budget(milliseconds=20), Linear())
        assert puct.search([position], [1])[0].best in position.legal_actions()


def test_a_budget_beyond_what_kernels_count_ends_with_a_proof() -> None:
    position, _ = late(YARDSTICK, {}, 1)[0]
    assert searched(position, 10**30, megabytes=4).exact


def test_ctrl_c_leaves_the_search_usable() -> None:
    class Pressed(Linear):
        calls = 0

        def evaluate(self, planes: np.ndarray, masks: np.ndarray) -> Any:
            self.calls += 1
            if self.calls == 7:
                raise KeyboardInterrupt
            return super().evaluate(planes, masks)

    puct, positions = BatchPUCT(Budget(50), Pressed(), leaves=3), [Position(YARDSTICK)] * 20
    with pytest.raises(KeyboardInterrupt):
        puct.search(positions, range(20))
    assert puct.search(positions, range(20)) == BatchPUCT(Budget(50), Linear(), leaves=3).search(
        positions, range(20)
    )


class Wrong(Linear):
    """An evaluator whose logits or values are changed before they are returned."""

    def __init__(self, change: Any) -> None:
        super().__init__()
        self.change = change

    def evaluate(self, planes: np.ndarray, masks: np.ndarray) -> Any:
        """What the change makes of logits and values."""
        return self.change(*super().evaluate(planes, masks))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda logits, values: (logits[:, 1:], values), r"logits of shape \(16, 6\).*\(16, 7\)"),
        (lambda logits, values: (logits, values[:, None]), r"values of shape \(16, 1\)"),
        (lambda logits, values: (logits, values * np.nan), "not finite"),
        (lambda logits, values: (logits + np.inf, values), "not finite"),
        (lambda logits, values: (1e300 + logits.astype(np.float64), values), "not finite"),
        (lambda logits, values: (logits, values, 0), "must be logits and values"),
        (lambda logits, values: None, "must be logits and values"),
        (lambda logits, values: (logits, ["high"] * len(values)), "two arrays of real numbers"),
        (lambda logits, values: (logits, ["0.5"] * len(values)), "two arrays of real numbers"),
        (lambda logits, values: (logits + 0j, values), "two arrays of real numbers"),
        (lambda logits, values: (logits, values + 1j), "two arrays of real numbers"),
    ],
)
def test_wrong_evaluations_are_refused(change: Any, message: str) -> None:
    with pytest.raises(OptionError, match=f"evaluator: .*{message}"):
        searched(Position(YARDSTICK), 5, evaluator=Wrong(change))


def test_something_else_is_no_evaluator() -> None:
    for wrong in (3, Linear):
        with pytest.raises(OptionError, match=r"evaluator=.*: an object with a method"):
            searched(Position(YARDSTICK), 5, evaluator=wrong)


def test_the_agent() -> None:
    agent, start = BatchPUCTAgent(Linear(), 30), Position(YARDSTICK)
    assert agent.name == "puct:30:linear"
    assert agent.act([start] * 2, [1, 2]) == [agent.act([start], [key])[0] for key in (1, 2)]


# ---- torch ----


def test_tensors_with_gradients_are_refused() -> None:
    torch = pytest.importorskip("torch")

    def tracked(logits: np.ndarray, values: np.ndarray) -> Any:
        return torch.tensor(logits, requires_grad=True), torch.tensor(values)

    with pytest.raises(OptionError, match=r"^evaluator: returned .*tensor.detach\(\).cpu\(\)"):
        searched(Position(YARDSTICK), 5, evaluator=Wrong(tracked))


def saved_network(folder: Any, game: Game, network: str, **notes: Any) -> str:
    """The path of a checkpoint of an untrained network."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("safetensors")
    from azumaya.baselines.agents.checkpoint import build, save  # noqa: PLC0415 - needs torch
    from azumaya.baselines.agents.sidecar import describe  # noqa: PLC0415 - next to it

    torch.manual_seed(1)
    sizes = {"width": 16, "depth": 2}
    sidecar = describe(game, Position(game).num_actions, network, sizes, notes=notes)
    path = folder / network
    save(path, build(sidecar).state_dict(), sidecar)
    return str(path)


@pytest.mark.parametrize(
    ("name", "network"),
    [
        ("score_dominari", "board"),
        pytest.param("score_dominari", "plain", marks=pytest.mark.slow),
        pytest.param("sudoku_moyo", "numbers", marks=pytest.mark.slow),
    ],
)
def test_a_row_of_a_batch_does_not_depend_on_the_others(
    name: str, network: str, tmp_path: Any
) -> None:
    path = saved_network(tmp_path, GAMES[name], network)
    from azumaya.baselines.agents.evaluator import NetworkEvaluator  # noqa: PLC0415 - needs torch

    evaluator = NetworkEvaluator.load(path)
    positions = [midgame(GAMES[name], {}, seed, seed) for seed in range(16)]
    planes = np.stack([p.observation(p.to_move) for p in positions])
    masks = np.stack([p.action_mask() for p in positions]).astype(bool)
    logits, values = evaluator.evaluate(planes, masks)
    for row in range(16):
        for at in (0, 7, 15):
            alone = np.zeros_like(planes)
            alone[at] = planes[row]
            found = evaluator.evaluate(alone, masks)
            assert (found[0][at] == logits[row]).all()
            assert found[1][at] == values[row]


def test_search_with_a_checkpoint(tmp_path: Any) -> None:
    path = saved_network(tmp_path, SCORE, "board")
    agent = find_agent(f"puct:20:{path}")
    assert agent.name == f"puct:20:{path}"
    positions = [midgame(SCORE, {}, seed, 3) for seed in range(3)]
    moves = agent.act(positions, [1, 2, 3])
    assert moves == [agent.act([p], [k])[0] for p, k in zip(positions, (1, 2, 3), strict=True)]
    assert search_agent(f"puct:5ms:{path}.safetensors").act(positions, [1, 2, 3])
    with pytest.raises(ValueError, match="cannot play azumaya/vierer_dominari"):
        agent.check(Position("vierer_dominari"))
    with pytest.raises(ValueError, match="cannot play azumaya/vierer_dominari"):
        agent.act([Position("vierer_dominari")], [1])
    with pytest.raises(OptionError, match=f"use puct:20:{path}"):
        find_agent(f"alphabeta:20:{path}")
    with pytest.raises(OptionError, match="does not exist"):
        find_agent(f"puct:20:{path}_")


@pytest.mark.parametrize("path", ["/", ".", "x" * 5000])
def test_paths_that_no_file_can_have_are_refused(path: str) -> None:
    with pytest.raises(OptionError, match="does not exist"):
        search_agent(f"puct:20:{path}")


def test_a_checkpoint_whose_values_include_shaping_warns(tmp_path: Any) -> None:
    """Search would take gains in the game's evaluation for gains in the game."""
    path = saved_network(tmp_path, SCORE, "board", shaping=0.1)
    with pytest.warns(UserWarning, match="its values include shaping"):
        find_agent(f"puct:20:{path}")


def test_runs_note_their_shaping() -> None:
    pytest.importorskip("torch")
    from azumaya.baselines.training.ppo import Config  # noqa: PLC0415 - needs torch

    for weight, noted in (None, 0.1), (0.0, 0.0):
        config = Config(game="score_dominari", shaping=weight).completed()
        assert config.sidecar(1).notes["shaping"] == noted
