"""PUCT with a compiled evaluation: proofs are right, and results depend on nothing but the key."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from azumaya.baselines.arena.matches import play_pairing
from azumaya.baselines.search import PUCTAgent, UCTAgent, solve
from azumaya.baselines.search.budget import Budget
from azumaya.baselines.search.evaluation import Evaluation, own_evaluation, within
from azumaya.baselines.search.game_kernels import kernels_of
from azumaya.baselines.search.hidden import add_moves
from azumaya.baselines.search.outcome import children_of, outcome_of
from azumaya.baselines.search.priors import exp_of
from azumaya.baselines.search.puct import PUCT
from azumaya.baselines.search.tree import PRIOR_NODE, clear_slot
from azumaya.baselines.search.trees import TreeRoom, Trees
from azumaya.baselines.search.walks import Terms, new_desk
from azumaya.envs import GAMES, OptionError, Position
from azumaya.envs.game import Game
from azumaya.envs.kernels.compile import INTERPRETED
from tests.cases import YARDSTICK, random_line
from tests.search.evaluations import evaluation_of, mixture
from tests.search.positions import label, late, midgame

SCORE = GAMES["score_dominari"]
TILES = GAMES["sudoku_tiles"]
MARGIN = {"reward": "margin"}
NOTHING = np.zeros(0, np.uint64)
CASES: list[tuple[Game, dict[str, object]]] = [
    (YARDSTICK, {}), (SCORE, {}), (SCORE, MARGIN), (TILES, {}), (TILES, {"reward": "points"}),
]  # fmt: skip


def searched(position: Position, simulations: int, key: int = 1, **settings: Any) -> Any:
    return PUCT(Budget(simulations), **settings).search([position], [key])[0]


@pytest.mark.parametrize("evaluation", [evaluation_of(noise=1.0), evaluation_of(constant=np.nan)])
def test_proofs_do_not_rest_on_the_evaluation(evaluation: Evaluation) -> None:
    exact = 0
    for i, (position, gains) in enumerate(late(YARDSTICK, {}, 16)):
        outcome = searched(position, 3000, i, evaluation=evaluation, threads=1)
        exact += outcome.exact
        assert not outcome.exact or outcome.value == max(gains.values())
        assert all(c.low <= gains[c.action] <= c.high for c in outcome.candidates)
    assert exact > 8


def test_a_win_in_three_plies_is_proven() -> None:
    position = Position.from_text(YARDSTICK, "......./......./......./......./...o.../..xx.o. x")
    solution = solve(position, nodes=100_000)
    assert solution.value == 1
    outcome = searched(position, 200, threads=1)
    assert outcome.exact
    assert outcome.value == 1
    assert outcome.best in solution.best
    assert outcome.line[0] == outcome.best
    assert len(outcome.line) >= 3


def test_ties_are_broken_by_the_key() -> None:
    start, flat = Position(YARDSTICK), evaluation_of()
    best = {searched(start, 1, key, evaluation=flat).best for key in range(60)}
    assert best == set(start.legal_actions())


def test_the_evaluation_is_seen_by_the_player_to_move() -> None:
    agent = PUCT(Budget(60), evaluation_of(centre=0.9), threads=1)
    start = Position(YARDSTICK)
    for position in (start, start.copy().play("a")):
        assert agent.search([position], [1])[0].best == start.action("d")
    afraid = PUCT(Budget(60), evaluation_of(centre=-0.9), threads=1)
    for position in (start, start.copy().play("a")):
        assert afraid.search([position], [1])[0].best != start.action("d")


@pytest.mark.parametrize("game", [YARDSTICK, TILES], ids=label)
@pytest.mark.parametrize("plies", [4, 5])
def test_priors_are_the_softmax_of_the_values_for_the_mover(game: Game, plies: int) -> None:
    position = midgame(game, {}, 1, plies)
    room = TreeRoom(kernels_of(position), guided=True)
    room.start(position, 1, Terms(1.0, 0.1))
    room.run(1)
    tree = room.tree
    children = children_of(tree, 0)
    scores = (1 - 2 * position.to_move) * tree.mean[children].astype(float) / 0.1
    weights = np.exp(scores - scores.max())
    expected = weights / weights.sum() * (len(children) if tree.stats["hidden"][0] else 1)
    assert np.ptp(expected) > 0.01
    assert tree.nodes["prior"][children] == pytest.approx(expected, rel=1e-3, abs=1e-6)
    assert tree.reach[children] == pytest.approx(tree.nodes["prior"][children])


def test_weights_may_change_between_searches() -> None:
    evaluation = evaluation_of(centre=0.9)
    agent, start = PUCT(Budget(60), evaluation, threads=1), Position(YARDSTICK)
    assert agent.search([start], [1])[0].best == start.action("d")
    room = agent.rooms.take(kernels_of(start), 1)[0]
    simulate = room._simulate._kernel
    evaluation.weights[:] *= -1
    assert agent.search([start], [1])[0].best != start.action("d")
    other = PUCT(Budget(60), evaluation_of(centre=0.9), threads=1)
    assert other.search([start], [1])[0].best == start.action("d")
    assert other.rooms.take(kernels_of(start), 1)[0]._simulate._kernel is simulate
    assert INTERPRETED or len(simulate.signatures) == 1


def test_a_node_with_hidden_draws_has_every_move_that_was_legal() -> None:
    position = midgame(TILES, {}, 3, 12)
    room = TreeRoom(kernels_of(position), guided=True)
    room.start(position, 1, Terms(1.0, 0.1))
    room.run(400)
    outcome = outcome_of(room.tree)
    assert {c.action for c in outcome.candidates} == set(position.legal_actions())
    assert sum(c.visits for c in outcome.candidates) == 399
    assert not any(c.exact for c in outcome.candidates)


def test_the_own_evaluation_is_fitted_once_also_for_options_that_are_lists() -> None:
    """Otherwise 64 games would be played at the beginning of each search."""
    found = [own_evaluation(Position("sudoku_moyo", handicap=given)) for given in ([1, 3], (1, 3))]
    assert found[0] is found[1]
    assert own_evaluation(Position("sudoku_moyo", handicap=[1, 2])) is not found[0]


def test_the_own_evaluation_has_the_payoffs_of_a_position_that_only_its_text_allows() -> None:
    """Nine tiles lie at every other start, so that not all of them can be drawn."""
    text = f"{'/'.join(['.........'] * 9)} 0 tile=1 score=0,0"
    options: dict[str, Any] = {"position": text, "draws": "123456789" * 9, "reward": "points"}
    found = own_evaluation(Position(TILES, **options))
    assert found is own_evaluation(Position(TILES, reward="points"))


@pytest.mark.parametrize(("game", "options"), CASES, ids=label)
def test_the_own_evaluation_is_an_expected_payoff(game: Game, options: dict[str, object]) -> None:
    start = Position(game, seed=1, **options)
    evaluation = own_evaluation(start)
    assert own_evaluation(midgame(game, options, 5, 6)) is evaluation
    assert evaluation.weights[1] > 0
    found, gained = [], []
    for seed in range(100, 160):
        line = random_line(Position(game, seed=seed, **options), np.random.default_rng(seed))
        for position in line[len(line) // 2 : -1]:
            found.append(evaluation.value(position.state[0], evaluation.weights, NOTHING))
            gained.append(line[-1].returns()[0])
    assert np.corrcoef(found, gained)[0, 1] > 0.2
    best = np.polyfit(found, gained, 1)[0]
    assert 0.5 < best < 2.0  # neither far too bold nor far too timid


def test_puct_beats_a_smaller_search() -> None:
    score = play_pairing("score_dominari", PUCTAgent(300), UCTAgent(60), starts=8, seed=1)
    assert score.rate > 0.6


def test_exponentials() -> None:
    for x in np.linspace(-39.9, 0.0, 400):
        assert exp_of(x) == pytest.approx(np.exp(x), rel=3e-6)
    assert exp_of(-1e9) == exp_of(-40.0)
    assert within(np.nan, 3) == -3.0
    assert within(-7.0, 3) == -3.0
    assert within(7.0, 3) == 3.0


def test_the_best_of_bad_moves_has_all_weight_at_a_small_temperature() -> None:
    """With hidden draws, too, where scores are then far below -1e30."""
    kernels = kernels_of(Position(TILES))
    tree, desk = Trees(kernels, 1, 8, PRIOR_NODE)[0], new_desk(kernels)
    tree.stats["used"], tree.stats["bound"] = 1, 20
    clear_slot(tree, 0, -1)
    desk.values[:3] = -9.0, -5.0, -7.0
    desk.fresh[0], desk.moves[:3], desk.scores[:3] = 0b111, range(3), desk.values[:3] / 1e-30
    assert add_moves(tree, 0, desk, 3) == pytest.approx(-5.0)
    assert tree.nodes["prior"][1:4] == pytest.approx([0.0, 3.0, 0.0])


def test_agents() -> None:
    start = Position(YARDSTICK)
    for agent, name in (
        (PUCTAgent(50), "puct:50"),
        (PUCTAgent(milliseconds=2.5), "puct:2.5ms"),
        (PUCTAgent(50, evaluation=own_evaluation(start)), "puct:50:own"),
    ):
        assert agent.name == name
        assert agent.act([start], [1])[0] in start.legal_actions()
    agent = PUCTAgent(50)
    assert pickle.loads(pickle.dumps(agent)).act([start], [1]) == agent.act([start], [1])


def test_something_else_is_no_evaluation() -> None:
    with pytest.raises(OptionError, match="evaluation=3: an Evaluation or None"):
        PUCT(Budget(10), 3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((None, np.zeros(1, np.float32)), "value=None"),
        pytest.param(
            (lambda state, weights, scratch: 0.0, np.zeros(1, np.float32)),
            "value=<function .*: a kernel is needed",
            marks=pytest.mark.skipif(INTERPRETED, reason="any function is a kernel then"),
        ),
        ((mixture, [0.0]), "weights="),
        ((mixture, np.zeros(1)), "weights=.*float32 is needed"),
        ((mixture, np.zeros((1, 1), np.float32)), "weights="),
        ((mixture, np.zeros(4, np.float32)[::2]), "weights="),
        ((mixture, np.zeros(1, np.float32), -1), "scratch_words=-1"),
        ((mixture, np.zeros(1, np.float32), 0, "", "abalone"), "game='abalone': a Game or None"),
    ],
)
def test_bad_evaluations_are_refused(given: tuple[Any, ...], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        Evaluation(*given)
