"""Values on disk, as agents, in search, and as what a training run leaves."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save

from azumaya.baselines import find_agent
from azumaya.baselines.agents import RandomAgent
from azumaya.baselines.agents.base import GameStates
from azumaya.baselines.agents.sidecar import MOST_BYTES, CheckpointError, Sidecar, describe
from azumaya.baselines.arena.matches import play_pairing
from azumaya.baselines.training.value import main
from azumaya.baselines.training.value_games import Played, Player
from azumaya.baselines.values.network import Shape, features_of
from azumaya.baselines.values.value import (
    KIND,
    MOST_WIDTH,
    Value,
    ValueAgent,
    is_value,
    load_value,
    shape_of,
    value_files,
)
from azumaya.envs import OptionError, Position, find_game
from tests.baselines.checkpoints import edit
from tests.cases import GAMES, TESTED
from tests.training.run_helpers import tiny_td
from tests.values.networks import network_of, positions_of

GAME = TESTED["connect_four"]
PLAIN = replace(GAME, rules=replace(GAME.rules))
"""The same game without its hints, of which an agent knows only what it has learned."""


def save_value(path: Path, weights: np.ndarray, sidecar: Sidecar) -> Path:
    """Write a value's two files; returns the path of the weights."""
    for name, content in value_files(path.stem, weights, sidecar).items():
        path.with_name(name).write_bytes(content)
    return path.with_suffix(".safetensors")


def saved(folder: Path, width: int = 4, **notes: object) -> Path:
    """A network of random weights on disk."""
    _, weights, _ = network_of(GAME, width)
    notes = {"features": features_of(GAME).kind, **notes}
    actions = Position(GAME, seed=0).num_actions
    sidecar = describe(GAME, actions, KIND, {"width": width}, notes=notes)
    return save_value(folder / "value", weights, sidecar)


def test_what_is_saved_is_read_back(tmp_path: Path) -> None:
    path = saved(tmp_path)
    value = load_value(path)
    assert value.game is GAME
    assert value.width == 4
    assert (value.weights == network_of(GAME)[1]).all()
    assert value.weights.flags.writeable
    assert is_value(path)


def test_rows_of_zeros_are_not_stored(tmp_path: Path) -> None:
    """They are features that have not occurred in training; most contents of a pattern never do."""
    shape, weights, _ = network_of(GAME)
    weights[4 * 100 : shape.bias] = 0
    whole = saved(tmp_path)
    sidecar = load_value(whole).sidecar
    assert sidecar is not None
    path = save_value(tmp_path / "sparse", weights, sidecar)
    assert (load_value(path).weights == weights).all()
    stored = load_file(path)
    assert stored["rows"].tolist() == [255] * 12 + [15] + [0] * (-(-shape.rows // 8) - 13)
    assert len(stored["weights"]) == 4 * 100 + shape.size - shape.bias
    assert set(load_file(whole)) == {"weights"}


def bits_of(rows: list[int], shape: Shape) -> np.ndarray:
    """Which rows are stored, as the file says it."""
    bits = np.zeros(-(-shape.rows // 8), np.uint8)
    for row in rows:
        bits[row // 8] |= 1 << row % 8
    return bits


def test_rows_that_cannot_be_are_refused(tmp_path: Path) -> None:
    path = saved(tmp_path)
    shape, weights, _ = network_of(GAME)
    kept = np.concatenate([weights[: 4 * 3], weights[shape.bias :]])
    rows = bits_of([0, 5, 7], shape)
    path.write_bytes(save({"weights": kept, "rows": rows}))
    assert (load_value(path).weights[4 * 7 : 4 * 8] == weights[4 * 2 : 4 * 3]).all()
    for numbers, faulty, message in (
        (kept, rows[:-1], "bits in"),
        (kept, np.append(rows, np.uint8(0)), "bits in"),
        (kept, rows.astype(np.int64), "bits in"),
        (kept, np.stack([rows, rows]), "bits in"),
        (kept, bits_of([0, 5, 7, shape.rows - 1], shape), "and 'rows' if rows are left out"),
        (kept[1:], rows, "and 'rows' if rows are left out"),
    ):
        path.write_bytes(save({"weights": numbers, "rows": np.ascontiguousarray(faulty)}))
        with pytest.raises(CheckpointError, match=message):
            load_value(path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sizes": {"width": 5}}, r"one called 'weights' of \d+ numbers is needed"),
        ({"sizes": {"width": 100_000}}, "width 1 to 1024 is needed"),
        ({"sizes": {}}, "width 1 to 1024 is needed"),
        ({"network": "board"}, "a 'value' of width"),
        ({"notes": {"features": "board 0"}}, "for features 'board 0'"),
        ({"planes": ["own"]}, "other observation planes"),
        ({"game": "azumaya/nothing-v0"}, "checkpoint: "),
    ],
)
def test_a_sidecar_that_does_not_fit_is_refused(
    tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    path = saved(tmp_path)
    edit(path, **changes)
    with pytest.raises(CheckpointError, match=message):
        load_value(path)


@pytest.mark.parametrize(("place", "number"), [(0, np.nan), (3, np.inf), (-2, 0.0), (-1, -1.0)])
def test_weights_that_cannot_be_are_refused(tmp_path: Path, place: int, number: float) -> None:
    _, weights, _ = network_of(GAME)
    weights[place] = number
    path = saved(tmp_path)
    sidecar = load_value(path).sidecar
    assert sidecar is not None
    save_value(path, weights, sidecar)
    with pytest.raises(CheckpointError, match=r"finite|above 0"):
        load_value(path)


@pytest.mark.parametrize("name", GAMES)
def test_the_widest_network_can_be_read_again(name: str) -> None:
    """Whatever rows it has: training it takes hours, and only then is it written."""
    game = find_game(name)
    for plain in (False, True):
        assert shape_of(game, MOST_WIDTH, plain).size * 4 + 10_000 < MOST_BYTES


def test_weights_of_a_type_that_numpy_does_not_have_are_refused(tmp_path: Path) -> None:
    path = saved(tmp_path)
    entry = {"dtype": "BF16", "shape": [1], "data_offsets": [0, 2]}
    header = json.dumps({"weights": entry}).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header + bytes(2))
    with pytest.raises(CheckpointError, match=r"of the unknown type 'BF16'|arrays"):
        load_value(path)


@pytest.mark.parametrize(
    ("width", "change", "message"),
    [
        (5, lambda weights: weights, "of float32 is needed for a width of 5"),
        (4, lambda weights: weights.astype(np.float64), "of float32 is needed"),
        (4, lambda weights: weights.tolist(), "of float32 is needed"),
        (0, lambda weights: weights, "width=0"),
    ],
)
def test_weights_that_do_not_fit_are_refused(width: int, change: Any, message: str) -> None:
    """Compiled code would read past their end."""
    with pytest.raises(OptionError, match=message):
        Value(GAME, width, change(network_of(GAME)[1]))


# ---- the agent ----


def test_an_agent_needs_a_value() -> None:
    wrong: Any = "value"
    with pytest.raises(OptionError, match=r"^value='value': a Value is needed"):
        ValueAgent(wrong)


def test_the_agent_plays_the_same_in_any_company() -> None:
    """One position at a time, all at once, as states, and after a copy by pickle."""
    shape, weights, _ = network_of(GAME)
    agent = ValueAgent(Value(GAME, shape.width, weights))
    positions = positions_of(GAME, seeds=8, every=2)
    keys = list(range(len(positions)))
    together = agent.act(positions, keys)
    alone = [agent.act([p], [k])[0] for p, k in zip(positions, keys, strict=True)]
    states = np.concatenate([np.asarray(p.state) for p in positions])
    views = GameStates(GAME, positions[0].num_actions, GAME.new_states(len(states)))
    views.states[:] = states
    fast = agent.act_states(views, np.array(keys, np.uint64)).tolist()
    agent.files = (Path(__file__),)
    copy = pickle.loads(pickle.dumps(agent))
    assert copy.files == agent.files
    assert together == alone == fast == copy.act(positions, keys)
    assert agent.act([], []) == []


def test_the_agent_plays_for_larger_payoffs_than_it_was_trained_for() -> None:
    game = TESTED["revers_dominari"]
    shape, weights, _ = network_of(game)
    agent = ValueAgent(Value(game, shape.width, weights))
    lost = 0
    for seed in range(12):
        position, random = Position(game, seed=seed, reward="margin"), RandomAgent()
        while not position.is_over:
            before = position.copy()
            position.play(random.act([position], [seed])[0])
        (action,) = agent.act([before], [seed])
        assert action in before.legal_actions()
        lost += before.copy().play(action).returns()[before.to_move] < -2
    assert lost > 0


def test_the_agent_refuses_another_game() -> None:
    """Its features would be nonsense there."""
    shape, weights, _ = network_of(GAME)
    agent = ValueAgent(Value(GAME, shape.width, weights))
    with pytest.raises(CheckpointError, match="cannot play azumaya/vierer_dominari"):
        agent.act([Position("vierer_dominari", seed=1)], [0])
    other = TESTED["vierer_dominari"]
    views = GameStates(other, Position(other).num_actions, other.new_states(1))
    with pytest.raises(CheckpointError, match="cannot play azumaya/vierer_dominari"):
        agent.act_states(views, np.zeros(1, np.uint64))


def test_agents_and_searches_are_found_by_the_path(tmp_path: Path) -> None:
    """Alone it looks one move ahead; `puct` and `alphabeta` search with it."""
    path = saved(tmp_path, name="mine")
    position = Position(GAME, seed=0)
    found = find_agent(str(path))
    assert isinstance(found, ValueAgent)
    assert found.name == str(path)
    for name in (f"puct:20:{path}", f"alphabeta:200:{path}", f"puct:1ms:{path}"):
        agent = find_agent(name)
        assert agent.name == name
        assert agent.act([position], [1])[0] in position.legal_actions()
    other = Position("vierer_dominari", seed=1)
    for name in (f"puct:20:{path}", f"alphabeta:200:{path}"):
        agent = find_agent(name)
        with pytest.raises(OptionError, match="cannot evaluate azumaya/vierer_dominari"):
            agent.act([other], [0])
        with pytest.raises(OptionError, match="cannot evaluate azumaya/vierer_dominari"):
            agent.check(other)


# ---- training ----


def without_evaluation(weights: np.ndarray, width: int = 8) -> ValueAgent:
    """An agent that knows only what is in the rows."""
    changed, shape = weights.copy(), shape_of(GAME, width)
    changed[shape.last + 1] = 0
    return ValueAgent(Value(PLAIN, width, changed))


def test_training_learns(tmp_path: Path) -> None:
    """After some seconds the rows alone, without the game's evaluation, beat a random player."""
    path = tmp_path / "run"
    main(tiny_td(path, game="connect_four", steps=120_000, games=64, most_plies=60, width=8,
                 measure_every=120_000))  # fmt: skip
    trained = load_value(path / "policy")
    assert trained.sidecar is not None
    assert trained.sidecar.notes["steps"] >= 120_000
    before = without_evaluation(network_of(GAME, 8)[1])
    after = without_evaluation(trained.weights)
    assert play_pairing(PLAIN, before, RandomAgent(), 100, 7).rate < 0.75
    assert play_pairing(PLAIN, after, RandomAgent(), 100, 7).rate > 0.9


def test_rows_that_never_occurred_stay_zero(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also the random weights that they began with; those that occurred are all there."""
    seen: set[int] = set()
    play = Player.play_games

    def watched(self: Player, keys: np.ndarray, weights: np.ndarray) -> Played:
        played = play(self, keys, weights)
        seen.update(played.games.features.tolist())
        return played

    monkeypatch.setattr(Player, "play_games", watched)
    main(tiny_td(tmp_path, game=GAME.name, averaging=0.5))
    trained = load_value(tmp_path / "policy")
    rows = trained.shape.first_layer(trained.weights)
    assert set(np.flatnonzero(rows.any(axis=1)).tolist()) == seen
    assert len(seen) < trained.shape.rows / 2
