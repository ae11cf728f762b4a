"""What is specific to Stable-Baselines3: the state of a model, its metrics and its own file."""

from __future__ import annotations

import contextlib
import io
import threading
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch
from stable_baselines3.common.logger import KVWriter, Logger, TensorBoardOutputFormat
from stable_baselines3.common.on_policy_algorithm import OnPolicyAlgorithm
from torch import nn
from torch.utils.tensorboard import SummaryWriter

from azumaya.baselines.agents.checkpoint import CheckpointError
from azumaya.baselines.files import is_count
from azumaya.baselines.training.command import TrainingError
from azumaya.baselines.training.metrics import Metrics
from azumaya.baselines.training.randomness import generators, restore_generators
from azumaya.baselines.training.run_folder import RunFolder
from azumaya.baselines.training.saves import Save, prefixed
from azumaya.envs import OptionError

NETWORK, ADAM, GAMES = "network", "adam", "games"
"""Names of arrays in a save: weights, Adam's moments by parameter number, games."""
STARTS = "episode_starts"


# ---- a moment of the model ----


def moment(
    model: OnPolicyAlgorithm, network: nn.Module, curve: list[dict[str, float]], metrics: Metrics
) -> Save:
    """Copy everything needed to resume a model between two rollouts.

    Args:
        model: a model whose environment is an `AzumayaVecEnv`.
        network: the module that holds all of the model's parameters.
        curve: the measurements so far.
        metrics: the metrics so far.
    """
    games = model.env.get_state()  # type: ignore[union-attr]
    arrays = prefixed(NETWORK, {n: _copy(t) for n, t in network.state_dict().items()})
    for index, moments in model.policy.optimizer.state_dict()["state"].items():
        arrays |= prefixed(f"{ADAM}.{index}", {name: _copy(t) for name, t in moments.items()})
    arrays |= prefixed(GAMES, {name: _as_bytes(array) for name, array in games.items()})
    arrays |= {STARTS: np.array(model._last_episode_starts, np.bool_), **generators()}
    notes = {
        "updates": model._n_updates,
        "pending": _pending(model.logger),
        "layouts": {name: _layout(array.dtype) for name, array in games.items()},
    }
    return Save(model.num_timesteps, list(curve), metrics.lines, notes, arrays)


def restore(model: OnPolicyAlgorithm, network: nn.Module, save: Save) -> None:
    """Restore a fresh model, its games and the generators from a save.

    `make_logger` restores the metrics that had not been written yet.

    Raises:
        CheckpointError: the save does not fit the model.
    """
    weights = {
        name: torch.from_numpy(save.take(f"{NETWORK}.{name}", t.numpy().dtype, tuple(t.shape)))
        for name, t in network.state_dict().items()
    }
    network.load_state_dict(weights)
    optimizer = model.policy.optimizer
    optimizer.load_state_dict({**optimizer.state_dict(), "state": _moments(save, optimizer)})
    _restore_games(model, save)
    model.num_timesteps = save.steps
    model._n_updates = _whole(save.notes.get("updates"))
    restore_generators(save)


def _copy(tensor: torch.Tensor) -> np.ndarray:
    return tensor.detach().clone().numpy()


def _as_bytes(array: np.ndarray) -> np.ndarray:
    return np.frombuffer(array.tobytes(), np.uint8).reshape(len(array), -1)


def _layout(dtype: np.dtype[Any]) -> str:
    return str(np.dtype(dtype.descr))


def _moments(save: Save, optimizer: torch.optim.Optimizer) -> dict[int, dict[str, torch.Tensor]]:
    """Adam's state by parameter number; raises `CheckpointError`."""
    found: dict[str, dict[str, torch.Tensor]] = {}
    for key, array in save.part(ADAM).items():
        index, _, name = key.partition(".")
        found.setdefault(index, {})[name] = torch.from_numpy(array)
    if not found:  # saved before the first update
        return {}
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    for number, parameter in enumerate(parameters):
        shapes = {name: tuple(t.shape) for name, t in found.get(str(number), {}).items()}
        shape = tuple(parameter.shape)
        if shapes != {"step": (), "exp_avg": shape, "exp_avg_sq": shape}:
            raise CheckpointError(f"{ADAM}.{number}: must be moments of a parameter {shape}")
    if len(found) != len(parameters):
        raise CheckpointError(f"{ADAM}: {len(found)} moments for {len(parameters)} parameters")
    return {index: found[str(index)] for index in range(len(parameters))}


def _restore_games(model: OnPolicyAlgorithm, save: Save) -> None:
    """Restore the games, and the model's last observations of them; raises `CheckpointError`."""
    env: Any = model.env
    env.reset()
    games, layouts = {}, save.notes.get("layouts")
    for name, own in env.get_state().items():
        if not isinstance(layouts, dict) or layouts.get(name) != _layout(own.dtype):
            raise CheckpointError(f"{GAMES}.{name}: saved by another version of the game")
        stored = save.take(f"{GAMES}.{name}", np.uint8, (len(own), own.dtype.itemsize))
        games[name] = np.frombuffer(stored.tobytes(), own.dtype)
    starts = save.take(STARTS, np.bool_, (env.num_envs,))
    try:
        model._last_obs = env.set_state(games)
    except OptionError as error:
        raise CheckpointError(f"{GAMES}: {error}") from error
    model._last_episode_starts = starts.copy()


def _whole(value: Any) -> int:
    if not is_count(value):
        raise CheckpointError(f"updates: must be a whole number from 0, not {value!r}")
    return int(value)


# ---- metrics ----


class MetricLines(KVWriter):
    """SB3's metrics as lines of the run's metrics file."""

    UNKEPT = ("time/iterations",)
    """Counted from the start of the process, so a resumed run would have other values."""

    def __init__(self, metrics: Metrics) -> None:
        self.metrics = metrics

    def write(
        self, key_values: dict[str, Any], key_excluded: dict[str, tuple[str, ...]], step: int = 0
    ) -> None:
        """Add a line."""
        kept = [key for key in key_values if "json" not in (key_excluded[key] or ())]
        values = {key: _plain(key_values[key]) for key in kept if key not in self.UNKEPT}
        self.metrics.write(values)

    def close(self) -> None:
        """The file belongs to the run, which closes it."""


class Events(TensorBoardOutputFormat):
    """TensorBoard's events; those that a killed run wrote after its last save are purged."""

    def __init__(self, folder: str, steps: int) -> None:
        self.writer = SummaryWriter(log_dir=folder, purge_step=steps + 1 if steps else None)  # type: ignore[no-untyped-call]
        self._is_closed = False


@contextlib.contextmanager
def threads_quiet() -> Iterator[None]:
    """Print no tracebacks of threads that cannot write a file.

    TensorBoard writes in a thread of its own. The next call to the logger raises the same error
    again, and it is reported there.
    """
    before = threading.excepthook

    def tell(told: threading.ExceptHookArgs) -> None:
        if not issubclass(told.exc_type, OSError):
            before(told)

    threading.excepthook = tell
    try:
        yield
    finally:
        threading.excepthook = before


def make_logger(run: RunFolder, save: Save | None) -> Logger:
    """SB3's logger for a run, with the metrics that had not been written when it was saved.

    Raises:
        CheckpointError: the save holds no such metrics.
    """
    steps = save.steps if save else 0
    logger = Logger(str(run.path), [MetricLines(run.metrics), Events(str(run.path), steps)])
    for key, (value, excluded) in pending_of(save).items():
        logger.record(key, value, tuple(excluded))
    return logger


def pending_of(save: Save | None) -> Mapping[str, tuple[float, list[str]]]:
    """The metrics of a save that had not been written yet: value and exclusions by name.

    Raises:
        CheckpointError: the save holds no such metrics.
    """
    pending = save.notes.get("pending") if save else {}
    if not isinstance(pending, dict) or not all(map(_is_pending, pending.values())):
        raise CheckpointError("pending: must be metrics by name")
    return pending


def _is_pending(value: Any) -> bool:
    if not isinstance(value, list) or len(value) != 2 or not isinstance(value[1], list):
        return False
    return isinstance(value[0], int | float) and all(isinstance(part, str) for part in value[1])


def _pending(logger: Logger) -> dict[str, tuple[Any, list[str]]]:
    excluded = logger.name_to_excluded
    return {
        key: (_plain(value), list(excluded[key])) for key, value in logger.name_to_value.items()
    }


def _plain(value: Any) -> Any:
    """A NumPy number as a Python number."""
    return value.item() if isinstance(value, np.generic) else value


# ---- SB3's own file ----


def zip_of(model: OnPolicyAlgorithm) -> bytes:
    """The model in SB3's own format."""
    content = io.BytesIO()
    model.save(content)
    return content.getvalue()


def is_finite(network: nn.Module) -> bool:
    """Whether all weights are finite."""
    return all(bool(torch.isfinite(parameter).all()) for parameter in network.parameters())


def check_weights(network: nn.Module, steps: int) -> None:
    """Check that all weights are finite; others are never saved.

    Raises:
        TrainingError: some are not finite.
    """
    if not is_finite(network):
        raise TrainingError(
            f"after {steps:,} steps the network's weights are no longer finite; start another run "
            "with a smaller --learning-rate"
        )
