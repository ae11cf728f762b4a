"""A value network with its weights: in memory, on disk, as an agent, and for search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from azumaya.baselines.agents.base import Agent, GameStates
from azumaya.baselines.agents.compiled import in_threads
from azumaya.baselines.agents.sidecar import (
    CheckpointError,
    Sidecar,
    checkpoint_file,
    checkpoint_files,
    checkpoint_name,
    game_of_sidecar,
    read_sidecar,
    read_tensors,
    sidecar_text,
)
from azumaya.baselines.search.evaluation import Evaluation, random_games
from azumaya.baselines.search.game_kernels import kernels_of, payoff_bound
from azumaya.baselines.values.features import plain_features
from azumaya.baselines.values.network import (
    Shape,
    features_of,
    first_weights,
    scratch_words,
    value_kernel,
)
from azumaya.baselines.values.self_play import best_moves_kernel
from azumaya.envs import Position
from azumaya.envs.adapters.duel.asked import check_asked
from azumaya.envs.errors import OptionError, brief
from azumaya.envs.extras import require
from azumaya.envs.game import Game
from azumaya.envs.kernels.bits import word_count
from azumaya.envs.setup import prepare
from azumaya.envs.whole import whole_number

KIND = "value"
"""The `network` of a sidecar whose weights are those of a compiled value."""
WEIGHTS = "weights"
"""The name of the array in the file of weights."""
ROWS = "rows"
"""The name of the array that says which rows are stored: a bit for each, the first in the lowest
bit of the first byte. Without it all are."""
MOST_WIDTH = 1024
"""The most hidden units of a network."""
LEAST = 16
"""The fewest positions for which a thread is started."""


@dataclass(frozen=True, eq=False)
class Value:
    """A value network of a game.

    Attributes:
        game: the game.
        width: the hidden units.
        weights: all parameters, `(size,)` float32, see `azumaya.baselines.values.network`.
        sidecar: what is stored beside the weights; None if they have not been stored.
        plain: whether the features are plain ones, see `plain_features`.

    Raises:
        OptionError: the weights are not those of a network of this width for this game.
    """

    game: Game
    width: int
    weights: np.ndarray
    sidecar: Sidecar | None = None
    plain: bool = False

    def __post_init__(self) -> None:
        whole_number(self.width, "width", 1, MOST_WIDTH)
        weights, size = self.weights, self.shape.size
        if (
            not isinstance(weights, np.ndarray)
            or (weights.dtype, weights.shape) != (np.dtype(np.float32), (size,))
            or not weights.flags.carray
        ):
            raise OptionError(
                f"weights={brief(weights)}: a writable, contiguous array ({size},) of float32 is "
                f"needed for a width of {self.width}"
            )

    @property
    def shape(self) -> Shape:
        """The network's sizes."""
        return shape_of(self.game, self.width, self.plain)

    def evaluation(self) -> Evaluation:
        """The network as search calls it; it shares the weights."""
        kernel, words = value_kernel(self.game, self.shape), scratch_words(self.game, self.shape)
        name = self.sidecar.notes.get("name", KIND) if self.sidecar else KIND
        return Evaluation(kernel, self.weights, words, str(name), self.game)


def shape_of(game: Game, width: int, plain: bool = False) -> Shape:
    """The sizes of a game's network with this many hidden units, perhaps with plain features."""
    return Shape(features_of(game, plain).rows, width, plain)


def untrained(
    game: Game, width: int, seed: int, options: Mapping[str, Any], plain: bool = False
) -> Value:
    """A network before learning: its value is the game's own evaluation, scaled to random games.

    Args:
        game: the game.
        width: the hidden units.
        seed: the seed of the random weights.
        options: the options of the games that are to be played.
        plain: as in `Value`.
    """
    start = Position(game, **options)
    _, scores = random_games(kernels_of(start), prepare(game, options))
    scale = max(2.0 * float(np.abs(scores).mean()), 1.0)
    weights = first_weights(shape_of(game, width, plain), seed, scale, payoff_bound(start))
    return Value(game, width, weights, plain=plain)


# ---- on disk ----


def value_files(name: str, weights: np.ndarray, sidecar: Sidecar) -> dict[str, bytes]:
    """The contents of a value's files by file name, in the order in which to write them.

    Args:
        name: the name of both files, without a suffix.
        weights: as in `Value`.
        sidecar: the description of the network.
    """
    safetensors = require("safetensors.numpy", "values")
    game = game_of_sidecar(sidecar)
    plain = sidecar.notes.get("features") == plain_features(game).kind
    arrays = _packed(weights, shape_of(game, sidecar.sizes["width"], plain))
    return {f"{name}.safetensors": safetensors.save(arrays), f"{name}.json": sidecar_text(sidecar)}


def is_value(path: str | Path) -> bool:
    """Whether the checkpoint at a path is a compiled value.

    Raises:
        CheckpointError: its sidecar is missing or malformed.
    """
    return read_sidecar(path).network == KIND


def load_value(path: str | Path) -> Value:
    """Read a value's files.

    Raises:
        CheckpointError: a file is missing, malformed, or does not fit this version.
        MissingExtraError: safetensors is not installed.
    """
    source = checkpoint_file(path, ".safetensors")
    sidecar = read_sidecar(source)
    game, width = game_of_sidecar(sidecar), sidecar.sizes.get("width", 0)
    features, plain = features_of(game), sidecar.notes.get("features") == plain_features(game).kind
    if sidecar.network != KIND or not 1 <= width <= MOST_WIDTH:
        raise CheckpointError(
            f"checkpoint {source}: network {sidecar.network!r} of width {width}: a {KIND!r} of "
            f"width 1 to {MOST_WIDTH} is needed"
        )
    if not plain and sidecar.notes.get("features") != features.kind:
        raise CheckpointError(
            f"checkpoint {source}: made with azumaya {sidecar.azumaya} for features "
            f"{sidecar.notes.get('features')!r}, and this version has {features.kind!r}; train it "
            "again"
        )
    arrays = read_tensors(source, "numpy", "values")
    weights = _unpacked(arrays, source, shape_of(game, width, plain))
    return Value(game, width, weights, sidecar, plain)


def _packed(weights: np.ndarray, shape: Shape) -> dict[str, np.ndarray]:
    """The weights as they are stored: without rows that are zero, and which the others are."""
    rows = shape.first_layer(weights)
    kept = rows.any(axis=1)
    if kept.all():
        return {WEIGHTS: np.ascontiguousarray(weights)}
    packed = np.concatenate([rows[kept].ravel(), weights[shape.bias :]])
    return {WEIGHTS: packed, ROWS: np.packbits(kept, bitorder="little")}


def _unpacked(arrays: Mapping[str, np.ndarray], source: Path, shape: Shape) -> np.ndarray:
    """The weights of a file, in memory of their own."""
    whole = np.packbits(np.ones(shape.rows, np.bool_), bitorder="little")
    bits = arrays.get(ROWS, whole)
    if bits.dtype != whole.dtype or bits.shape != whole.shape:
        raise CheckpointError(
            f"checkpoint {source}: {ROWS!r}: must be {shape.rows} bits in {len(whole)} bytes, not "
            f"{bits.dtype} of shape {bits.shape}"
        )
    kept = np.flatnonzero(np.unpackbits(bits, count=shape.rows, bitorder="little"))
    packed = _checked(arrays, source, shape, len(kept))
    weights = np.zeros(shape.size, np.float32)
    learned = len(kept) * shape.width
    shape.first_layer(weights)[kept] = packed[:learned].reshape(len(kept), shape.width)
    weights[shape.bias :] = packed[learned:]
    return weights


def _checked(arrays: Mapping[str, np.ndarray], source: Path, shape: Shape, rows: int) -> np.ndarray:
    """The weights as they are stored, with this many rows."""
    found, size = arrays.get(WEIGHTS), shape.size - (shape.rows - rows) * shape.width
    if not {WEIGHTS} <= set(arrays) <= {WEIGHTS, ROWS} or found is None or found.shape != (size,):
        sizes = {name: array.shape for name, array in arrays.items()}
        raise CheckpointError(
            f"checkpoint {source}: arrays {sizes}: one called {WEIGHTS!r} of {size} numbers is "
            f"needed, and {ROWS!r} if rows are left out"
        )
    if found.dtype != np.float32 or not np.isfinite(found).all():
        raise CheckpointError(f"checkpoint {source}: {WEIGHTS!r}: must be finite float32 numbers")
    if not (found[shape.scale - shape.size] > 0 and found[shape.bound - shape.size] > 0):
        raise CheckpointError(f"checkpoint {source}: scale and bound must be above 0")
    return found


# ---- the agent ----


class ValueAgent(Agent):
    """Plays the move after which a value network thinks best of the position, without search.

    Args:
        value: the network.
        name: the agent's name.

    Raises:
        OptionError: the value is none.
    """

    def __init__(self, value: Value, name: str = KIND) -> None:
        if not isinstance(value, Value):
            raise OptionError(f"value={brief(value)}: a Value is needed, such as of load_value")
        self.value, self.name, self.sidecar = value, name, value.sidecar

    @classmethod
    def load(cls, path: str | Path) -> ValueAgent:
        """The agent of a checkpoint; raises as `load_value`."""
        agent = cls(load_value(path), checkpoint_name(path))
        agent.files = checkpoint_files(path)
        return agent

    def check(self, position: Position) -> None:
        """Raise `CheckpointError` if the network is for another game."""
        self._check_game(position.game)

    def _check_game(self, game: Game) -> None:
        if game.id != self.value.game.id:
            raise CheckpointError(
                f"agent {self.name}: was trained on {self.value.game.id} and cannot play {game.id}"
            )

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> list[int]:
        """The best move in each position.

        Raises:
            CheckpointError: a position is of another game.
            OptionError: a position or a key is invalid.
        """
        positions, keys = check_asked(positions, keys, alike=False)
        if not positions:
            return []
        for position in positions:
            self.check(position)
        states = np.concatenate([np.asarray(position.state) for position in positions])
        most = max(position.num_actions for position in positions)
        views = GameStates(self.value.game, most, states)
        return self.act_states(views, np.array(keys, np.uint64)).tolist()

    def act_states(self, positions: GameStates, keys: np.ndarray) -> np.ndarray:
        """The best move in each position, as `best_moves` has it."""
        return self.best_moves(positions, keys)[0]

    def best_moves(self, positions: GameStates, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The best move in each position, and its value; uses all cores.

        Returns:
            The actions, `(n,)` int64, and the values after them for the players who make them,
            `(n,)` float32, as fractions of the largest payoff.

        Raises:
            CheckpointError: the network is for another game.
        """
        self._check_game(positions.game)
        actions, values = np.empty(len(keys), np.int64), np.empty(len(keys), np.float32)
        game, shape = self.value.game, self.value.shape
        play = best_moves_kernel(game, shape)

        def work(part: slice) -> None:
            words = np.zeros(word_count(positions.num_actions), np.uint64)
            scratch, trial = np.zeros(scratch_words(game, shape), np.uint64), game.new_states(1)
            play(
                positions.states[part], keys[part], self.value.weights, scratch, words, trial,
                actions[part], values[part],
            )  # fmt: skip

        in_threads(work, len(keys), LEAST)
        return actions, values
