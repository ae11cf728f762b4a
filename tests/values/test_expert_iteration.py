"""Expert iteration: what a game teaches, and what comes of it."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from azumaya.baselines.agents import RandomAgent
from azumaya.baselines.agents.sidecar import CheckpointError
from azumaya.baselines.arena.matches import play_pairing
from azumaya.baselines.training import value, value_games
from azumaya.baselines.training.value import QUESTIONS, Config, initial_state, main, run_words
from azumaya.baselines.training.value_games import Played, Teacher
from azumaya.baselines.values.champion import champion_value
from azumaya.baselines.values.learning import Choices, Examples, joined, learn_kernel, offsets_of
from azumaya.baselines.values.lessons import Moves, Questions, prefer_kernel
from azumaya.baselines.values.network import Shape, scratch_words
from azumaya.baselines.values.self_play import look_back
from azumaya.baselines.values.value import load_value
from azumaya.benchmarks.batches import values_kernel
from azumaya.envs import OptionError, Position, find_game
from azumaya.envs.position import episode_key
from tests.cases import GAMES, TESTED
from tests.training.run_helpers import lines_of, tiny_expert
from tests.values.networks import features_for, network_of
from tests.values.test_value import PLAIN, saved, without_evaluation

GAME = TESTED["connect_four"]


def teacher_of(config: Config) -> Teacher:
    """A teacher with the weights that a run begins with."""
    config = config.completed()
    teacher = Teacher(config)
    teacher.weights[:] = initial_state(config)[1].weights
    return teacher


def taught(folder: Path, seed: int, **changes: object) -> tuple[Played, Teacher]:
    """What an untrained network learns from one game."""
    teacher = teacher_of(tiny_expert(folder, **changes))
    return teacher.play_game(episode_key(seed, 0, 0)), teacher


def test_the_solver_is_asked_only_if_wanted(tmp_path: Path) -> None:
    """The same games are played all the same."""
    with_, _ = taught(tmp_path, 1, exact_nodes=3000, most_plies=60)
    without, _ = taught(tmp_path, 1, exact_nodes=0, most_plies=60)
    assert with_.choices is not None
    assert len(with_.choices.moves) > 0
    assert without.choices is None
    for name, array in with_.games._asdict().items():
        assert array.tobytes() == getattr(without.games, name).tobytes(), name


def test_long_games_are_cut_off(tmp_path: Path) -> None:
    (games, _), teacher = taught(tmp_path, 2, most_plies=5, exact_nodes=0, explore=0)
    assert (games.lengths.tolist(), games.results.tolist()) == ([5], [0])
    assert games.targets[-1] == teacher.space.notes[4, 0] * teacher.space.notes[4, 1] != 0


def trained(folder: Path, **changes: object) -> float:
    """The rate against random of the rows that a short training leaves."""
    main(tiny_expert(folder, steps=40_000, games=32, most_plies=60, measure_every=90_000,
                     batch=32, learning_rate=0.01, exact_nodes=0, **changes))  # fmt: skip
    agent = without_evaluation(load_value(folder / "policy").weights, 4)
    return play_pairing(PLAIN, agent, RandomAgent(), 100, 7).rate


@pytest.mark.slow
def test_training_learns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After some seconds the rows alone beat a random player; taught the wrong way they lose.

    The teacher has no bounds either: with them it proves so much that the rows learn little.
    """
    for module in (value, value_games):
        monkeypatch.setattr(module, "find_game", lambda name: PLAIN)
    before = without_evaluation(network_of(GAME)[1], 4)
    assert play_pairing(PLAIN, before, RandomAgent(), 100, 7).rate < 0.82
    assert trained(tmp_path / "right") > 0.9

    def backwards(*given: Any) -> None:
        look_back(*given)
        given[-1][:] *= -1

    monkeypatch.setattr(value_games, "look_back", backwards)
    assert trained(tmp_path / "wrong") < 0.7


def answers(questions: Questions, weights: np.ndarray, shape: Shape) -> float:
    """The share of questions in which the best-valued move is right."""
    values, states = questions.values.copy(), questions.states
    running, scratch = questions.running, np.zeros(scratch_words(GAME, shape), np.uint64)
    out = values[running]
    values_kernel(GAME, shape)(states[running], weights, scratch, out)
    values[running] = out
    mover = np.where(questions.again, states["to_move"], 1 - states["to_move"])
    scores = np.where(mover == 0, values, -values)
    firsts = offsets_of(questions.counts)
    right = [questions.right[a + scores[a:b].argmax()] for a, b in itertools.pairwise(firsts)]
    return float(np.mean(right))


def asked_about(teacher: Teacher, monkeypatch: pytest.MonkeyPatch) -> tuple[Questions, Choices]:
    """The questions of some games, and what is made of them."""
    found: list[Questions] = []
    choices = teacher.choices

    def watched(questions: Questions) -> Choices:
        found.append(questions)
        return choices(questions)

    monkeypatch.setattr(teacher, "choices", watched)
    keys = np.array([episode_key(1, g, 0) for g in range(12)], np.uint64)
    played = teacher.play_games(keys, teacher.weights.copy())
    assert played.choices is not None
    return joined(found), played.choices


def test_questions_alone_teach_which_moves_are_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Judged by the values that the agent would go by."""
    config = tiny_expert(tmp_path, exact_nodes=2000, most_plies=60)
    teacher = teacher_of(config)
    questions, choices = asked_about(teacher, monkeypatch)
    learner, count = initial_state(config.completed())[1], len(choices.moves)
    assert count > 15
    learner.weights[teacher.shape.last + 1] = 0  # without the game's own evaluation
    before = answers(questions, learner.weights, teacher.shape)
    for update in range(60):
        order = np.random.default_rng((1, update)).permutation(count)
        moves = Moves.of(choices)
        prefer_kernel(teacher.shape)(order, QUESTIONS, 0.002, moves, Examples.of(choices), learner)
    assert before < 0.8
    assert answers(questions, learner.weights, teacher.shape) > 0.9


def test_questions_come_with_the_features_of_their_positions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    teacher = teacher_of(tiny_expert(tmp_path, exact_nodes=2000, most_plies=60))
    questions, choices = asked_about(teacher, monkeypatch)
    assert choices.moves.tolist() == questions.counts.tolist()
    assert choices.right.tolist() == questions.right.tolist()
    assert choices.again.tolist() == questions.again.tolist()
    assert choices.targets.tolist() == questions.targets.tolist()
    assert len(questions.running) > 14
    rows = Examples.of(choices)
    for i in range(len(questions.states)):
        features = Counter(rows.features[rows.offsets[i] : rows.offsets[i + 1]].tolist())
        if i not in questions.running:
            assert not features
            continue
        position = Position.of_states(GAME, teacher.setup, questions.states[i : i + 1])
        assert features == features_for(position)
        own = GAME.rules.evaluate(position.state[0], position.to_move)
        assert rows.heuristic[i] == pytest.approx(own / teacher.weights[teacher.shape.scale])


def test_a_run_begins_with_another_network(tmp_path: Path) -> None:
    """The one given, with its width; one of another game or of other sizes is refused."""
    first = str(saved(tmp_path, width=4))
    for given in ({"width": 16}, {"features": "plain"}):
        [(name, size)] = given.items()
        with pytest.raises(OptionError, match=f"--{name} {size}: start=.* leave --{name} out"):
            tiny_expert(tmp_path / "run", start=first, **given).completed()
    tiny_expert(tmp_path / "run", start=first, width=4, features="shared").completed()
    config = tiny_expert(tmp_path / "run", start=first, width=0).completed()
    assert config.shape.width == 4
    assert (initial_state(config)[0].latest == load_value(first).weights).all()
    with pytest.raises(OptionError, match="is of azumaya/connect_four"):
        tiny_expert(tmp_path / "run", start=first, game="abalone").completed()
    points = {"scoring": "points"}
    with pytest.raises(OptionError, match="of a payoff of 1, but with these options the largest"):
        Config(game="sudoku_moyo", start="champion", options=points).completed()
    champion = Config(game="abalone", start="champion").completed()
    assert champion.width == champion_value(find_game("abalone")).width
    assert (Config().completed().width, Config().completed().features) == (16, "shared")


def test_a_run_that_is_resumed_needs_no_start(tmp_path: Path) -> None:
    """Its save has all that the run began with; before the first save it begins again."""
    first, run = saved(tmp_path, width=4), tmp_path / "run"
    given = {"start": str(first), "width": 0, "exact_nodes": 0}
    main(tiny_expert(run, steps=100, **given))
    for path in tmp_path.glob(f"{first.stem}.*"):
        path.unlink()
    main(tiny_expert(run, steps=200, resume=True, **given))
    assert Config.read(run).width == 4
    assert Config.run_at(run).steps() >= 200
    assert run_words(["--output", str(run), "--resume", "--game", GAME.name]) == 0
    for path in run.iterdir():
        if path.name != "config.json":
            path.unlink()
    with pytest.raises(CheckpointError, match="does not exist"):
        main(tiny_expert(run, steps=200, resume=True, **given))


def test_without_questions_nothing_is_said_of_answers(tmp_path: Path) -> None:
    for nodes in (0, 3000):
        folder = tmp_path / str(nodes)
        main(tiny_expert(folder, steps=60, most_plies=60, exact_nodes=nodes))
        trained = [line for line in lines_of(folder) if "train/questions" in line]
        assert trained
        for line in trained:
            assert ("train/right" in line) == (line["train/questions"] > 0) == (nodes > 0)


def test_where_draws_are_hidden_nothing_is_exact() -> None:
    with pytest.raises(OptionError, match="--exact-nodes 5: in sudoku_tiles draws are hidden"):
        Config(game="sudoku_tiles", nodes=9, exact_nodes=5).completed()
    with pytest.raises(OptionError, match="--exact-nodes 5: only games of a search"):
        Config(exact_nodes=5).completed()


@pytest.mark.slow
@pytest.mark.parametrize("name", GAMES)
def test_every_game_is_learned_from(name: str, tmp_path: Path) -> None:
    """Values stay finite and games end; with hidden draws nothing is called exact."""
    hidden, asked = find_game(name).rules.resample is not None, 0
    nodes = 0 if hidden else 300
    config = Config(game=name, output=tmp_path, most_plies=150, nodes=300, exact_nodes=nodes)
    config = config.completed()
    (_, learner), teacher = initial_state(config), Teacher(config)
    for update in range(3):
        keys = np.array([episode_key(1, g, update) for g in range(8)], np.uint64)
        games, choices = teacher.play_games(keys, learner.weights)
        assert (np.abs(games.targets) <= 1).all()
        order = np.arange(len(games.targets))
        assert np.isfinite(
            learn_kernel(config.shape)(order, 64, 0.002, Examples.of(games), learner)
        )
        if choices is not None:
            asked += len(choices.moves)
            order, moves = np.arange(len(choices.moves)), Moves.of(choices)
            prefer = prefer_kernel(config.shape)
            assert 0 <= prefer(order, QUESTIONS, 0.002, moves, Examples.of(choices), learner) <= 1
    assert (asked > 0) != hidden or name == "abalone"  # its games are cut off
    assert np.isfinite(learner.weights).all()


@pytest.mark.slow
def test_hidden_draws_stay_hidden(tmp_path: Path) -> None:
    """What is found does not depend on them."""
    config = Config(game="sudoku_tiles", output=tmp_path, nodes=200, most_plies=1)
    teacher, key = teacher_of(config), np.uint64(5)
    now, study = teacher.space.now, teacher.study
    teacher.game.rules.reset(now, 0, teacher.setup.starts, key)
    first, hidden, found = now.copy(), set(), set()

    def noted(*given: Any) -> Any:
        result = study(*given)
        found.add(result[:2])
        return result

    teacher.study = noted
    for draw in range(5):
        now[:] = first
        teacher.game.rules.resample(now[0], np.uint64(draw))
        hidden.add(now.tobytes())
        teacher.search_through(key)
    assert len(hidden) == 5
    assert len(found) == 1
