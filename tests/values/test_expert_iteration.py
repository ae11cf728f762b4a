"""Expert iteration: what a game teaches, and what comes of it."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from azumaya.baselines.agents import RandomAgent
from azumaya.baselines.agents.sidecar import CheckpointError
from azumaya.baselines.arena.matches import play_pairing
from azumaya.baselines.training import expert_iteration, value_run
from azumaya.baselines.training.expert_iteration import (
    Config,
    ExpertLearner,
    Lessons,
    Teacher,
    main,
    run_words,
)
from azumaya.baselines.values.champion import champion_value
from azumaya.baselines.values.network import scratch_words
from azumaya.baselines.values.questions import Questions
from azumaya.baselines.values.value import load_value
from azumaya.benchmarks.batches import values_kernel
from azumaya.envs import OptionError, Position, find_game
from azumaya.envs.position import episode_key
from tests.baselines.run_helpers import differing, results, tiny_expert
from tests.cases import GAMES, TESTED
from tests.values.networks import features_for, network_of
from tests.values.test_value import PLAIN, saved, without_evaluation

GAME = TESTED["connect_four"]


def teacher_of(learner: ExpertLearner) -> Teacher:
    """A teacher with the learner's weights."""
    teacher = Teacher(learner.config)
    teacher.weights[:] = learner.weights
    return teacher


def taught(folder: Path, seed: int, **changes: object) -> tuple[Lessons, Teacher]:
    """What an untrained network learns from one game."""
    with closing(ExpertLearner(tiny_expert(folder, **changes))) as learner:
        teacher = teacher_of(learner)
        return teacher.lessons(episode_key(seed, 0, 0)), teacher


def test_the_solver_is_asked_only_if_wanted(tmp_path: Path) -> None:
    """The same games are played all the same."""
    with_, _ = taught(tmp_path, 1, exact_nodes=3000, most_plies=60)
    without, _ = taught(tmp_path, 1, exact_nodes=0, most_plies=60)
    assert len(with_.questions.counts) > 0
    assert len(without.questions.counts) == len(without.questions.states) == 0
    assert without.result == with_.result
    assert without.states.tobytes() == with_.states.tobytes()
    assert without.values.tobytes() == with_.values.tobytes()


def test_returns_mix_what_followed(tmp_path: Path) -> None:
    """A fixed value is taken as it is, and passed on to the positions before."""
    with closing(ExpertLearner(tiny_expert(tmp_path, decay=0.75))) as learner:
        teacher = teacher_of(learner)
        found = teacher.look_back([0.0, 0.4, 1.0, -0.5], [False, False, True, False], -1.0)
        assert found == pytest.approx([0.75 * 0.85, 0.75 + 0.1, 1.0, -1.0])


def test_long_games_are_cut_off(tmp_path: Path) -> None:
    """They end with the value of their last position."""
    found, teacher = taught(tmp_path, 2, most_plies=5, exact_nodes=0, explore=0)
    assert (len(found.states), found.result) == (5, 0)
    teacher.room.forget(int(episode_key(2, 0, 0)) ^ 4)
    nodes = teacher.config.nodes
    _, value, _ = teacher.study(found.states[-1:], nodes, 1, teacher.memory)
    assert found.values[-1] == pytest.approx(value)


def trained(folder: Path, **changes: object) -> float:
    """The rate against random of the rows that a short training leaves."""
    main(tiny_expert(folder, steps=40_000, games=32, most_plies=60, measure_every=90_000,
                     batch=32, learning_rate=0.01, exact_nodes=0, **changes))  # fmt: skip
    agent = without_evaluation(load_value(folder / "policy").weights, 4)
    return play_pairing(PLAIN, agent, RandomAgent(), 100, 7).rate


def test_training_learns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After some seconds the rows alone beat a random player; taught the wrong way they lose.

    The teacher has no bounds either: with them it proves so much that the rows learn little.
    """
    for module in (value_run, expert_iteration):
        monkeypatch.setattr(module, "find_game", lambda name: PLAIN)
    before = without_evaluation(network_of(GAME)[1], 4)
    assert play_pairing(PLAIN, before, RandomAgent(), 100, 7).rate < 0.82
    assert trained(tmp_path / "right") > 0.9
    learn_from = ExpertLearner.learn_from
    monkeypatch.setattr(
        ExpertLearner, "learn_from", lambda self, states, values: learn_from(self, states, -values)
    )
    assert trained(tmp_path / "wrong") < 0.7


def answers(learner: ExpertLearner, questions: Questions) -> float:
    """The share of questions in which the best-valued move is right."""
    values, states = questions.values.copy(), questions.states
    value, running = values_kernel(learner.game, learner.shape), questions.running
    scratch, out = np.zeros(scratch_words(learner.game, learner.shape), np.uint64), values[running]
    value(states[running], learner.weights, scratch, out)
    values[running] = out
    mover = np.where(questions.again, states["to_move"], 1 - states["to_move"])
    scores = np.where(mover == 0, values, -values)
    firsts = questions.firsts
    right = [questions.right[a + scores[a:b].argmax()] for a, b in itertools.pairwise(firsts)]
    return float(np.mean(right))


def asked_about(learner: ExpertLearner) -> Questions:
    """The questions of some games."""
    played = learner.players.play(learner.keys(), learner.weights)
    return Questions.joined([game.questions for part in played for game in part])


def test_questions_alone_teach_which_moves_are_right(tmp_path: Path) -> None:
    """Judged by the values that the agent would go by."""
    config = tiny_expert(tmp_path, exact_nodes=2000, games=12, most_plies=60, width=8)
    with closing(ExpertLearner(config)) as learner:
        questions = asked_about(learner)
        assert len(questions.counts) > 15
        learner.weights[learner.shape.last + 1] = 0  # without the game's own evaluation
        before = answers(learner, questions)
        for learner.updates in range(60):
            learner.learn_choices(questions)
        assert before < 0.8
        assert answers(learner, questions) > 0.9


def test_questions_come_with_the_features_of_their_positions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where they are more than fit into the memory for features at once."""
    monkeypatch.setattr(expert_iteration, "CHUNK", 7)
    given: list[tuple[np.ndarray, ...]] = []

    def keep(learner: ExpertLearner, *arguments: np.ndarray) -> float:
        given.append(arguments)
        return 0.0

    monkeypatch.setattr(ExpertLearner, "prefer", keep)
    config = tiny_expert(tmp_path, exact_nodes=2000, games=12, most_plies=60)
    with closing(ExpertLearner(config)) as learner:
        questions = asked_about(learner)
        learner.learn_choices(questions)
        ((firsts, right, again, found, offsets, begun, targets),) = given
        assert firsts.tolist() == questions.firsts.tolist()
        assert (right.tolist(), again.tolist()) == (
            questions.right.tolist(),
            questions.again.tolist(),
        )
        assert targets.tolist() == questions.targets.tolist()
        assert len(questions.running) > 14
        for i in range(len(questions.states)):
            features = Counter(found[offsets[i] : offsets[i + 1]].tolist())
            if i not in questions.running:
                assert not features
                continue
            position = Position.of_states(GAME, learner.setup, questions.states[i : i + 1])
            assert features == features_for(position)
            own = GAME.rules.evaluate(position.state[0], position.to_move)
            assert begun[i] == pytest.approx(own / learner.weights[learner.shape.scale])


def test_a_run_begins_with_another_network(tmp_path: Path) -> None:
    """The one given, with its width; one of another game or of other sizes is refused."""
    first = str(saved(tmp_path, width=4))
    for given in ({"width": 16}, {"features": "plain"}):
        [(name, size)] = given.items()
        with pytest.raises(OptionError, match=f"--{name} {size}: start=.* leave --{name} out"):
            tiny_expert(tmp_path / "run", start=first, **given).completed()
    tiny_expert(tmp_path / "run", start=first, width=4, features="shared").completed()
    config = tiny_expert(tmp_path / "run", start=first, width=0).completed()
    with closing(ExpertLearner(config)) as learner:
        assert learner.shape.width == 4
        assert (learner.weights == load_value(first).weights).all()
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
    first, run = saved(tmp_path, width=5), tmp_path / "run"
    given = {"start": str(first), "width": 0, "exact_nodes": 0}
    main(tiny_expert(run, steps=100, **given))
    for path in tmp_path.glob(f"{first.stem}.*"):
        path.unlink()
    main(tiny_expert(run, steps=200, resume=True, **given))
    assert Config.read(run).width == 5
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
        lines = map(json.loads, (folder / "progress.json").read_text().splitlines())
        trained = [line for line in lines if "train/questions" in line]
        assert trained
        for line in trained:
            assert ("train/right" in line) == (line["train/questions"] > 0) == (nodes > 0)


def test_where_draws_are_hidden_nothing_is_exact() -> None:
    with pytest.raises(OptionError, match="--exact-nodes 5: in sudoku_tiles draws are hidden"):
        Config(game="sudoku_tiles", exact_nodes=5).completed()


def test_threads_do_not_change_what_is_learned(tmp_path: Path) -> None:
    """The games of an update do not depend on who plays them."""
    for threads in (1, 3):
        main(tiny_expert(tmp_path / str(threads), threads=threads, games=20))
    one, three = results(tmp_path / "1"), results(tmp_path / "3")
    assert set(differing(one, three)) <= {"config.json"}


def test_a_wrong_option_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In one line, before anything is created."""
    folder = tmp_path / "run"
    for words in (
        ["--nodes", "0"],
        ["--start", "nothing"],
        ["--exact-nodes", "-1"],
        ["--decay", "2"],
    ):
        assert run_words([*words, "--output", str(folder)]) == 2
        assert capsys.readouterr().err.startswith("error: ")
    assert not folder.exists()


@pytest.mark.slow
@pytest.mark.parametrize("name", GAMES)
def test_every_game_is_learned_from(name: str, tmp_path: Path) -> None:
    """Values stay finite and games end; with hidden draws nothing is called exact."""
    hidden, asked = find_game(name).rules.resample is not None, 0
    nodes = 0 if hidden else 300
    config = Config(game=name, output=tmp_path, games=8, most_plies=150, exact_nodes=nodes)
    with closing(ExpertLearner(config.completed())) as learner:
        for _ in range(3):
            parts = learner.players.play(learner.keys(), learner.weights)
            for game in (game for part in parts for game in part):
                asked += len(game.questions.counts)
                assert (np.abs(game.values) <= 1).all()
                assert np.isfinite(learner.learn_from(game.states, game.values))
                if len(game.questions.counts):
                    assert 0 <= learner.learn_choices(game.questions) <= 1
            learner.updates += 1
        assert (asked > 0) != hidden or name == "abalone"  # its games are cut off
        learner.check()


@pytest.mark.slow
def test_hidden_draws_stay_hidden(tmp_path: Path) -> None:
    """Positions that differ only in what nobody can see teach the same."""
    config = Config(game="sudoku_tiles", output=tmp_path).completed()
    with closing(ExpertLearner(config)) as learner:
        teacher, key = teacher_of(learner), np.uint64(5)
        learner.game.rules.reset(teacher.now, 0, teacher.setup.starts, key)
        moves = set()
        for draw in range(5):
            now = teacher.now.copy()
            learner.game.rules.resample(now[0], np.uint64(draw))
            teacher.imagine(now, teacher.world, key, 0)
            teacher.room.forget(1)
            moves.add(teacher.study(teacher.world, 200, teacher.bound, teacher.memory)[:2])
        assert len(moves) == 1
