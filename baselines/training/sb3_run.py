"""What is specific to Stable-Baselines3: the state of a model, its metrics and its own file."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from stable_baselines3.common.logger import KVWriter, Logger
from stable_baselines3.common.on_policy_algorithm import OnPolicyAlgorithm
from torch import nn

from azumaya.baselines.agents.sidecar import CheckpointError
from azumaya.baselines.training.events import EventFile
from azumaya.baselines.training.metrics import Metrics
from azumaya.baselines.training.randomness import generators, restore_generators
from azumaya.baselines.training.run_folder import RunFolder
from azumaya.baselines.training.saved_parts import (
    GAMES,
    NETWORK,
    adam_arrays,
    game_arrays,
    game_layouts,
    restore_adam,
    restore_weights,
    saved_count,
    saved_games,
    weight_arrays,
)
from azumaya.baselines.training.saves import Save
from azumaya.envs import OptionError

STARTS = "episode_starts"
TOTAL = "time/total_timesteps"
"""The metric that says how many steps were done; TensorBoard has it beside each value."""


# ---- a snapshot of the model ----


def snapshot(
    model: OnPolicyAlgorithm, network: nn.Module, curve: list[dict[str, float]], lines: int
) -> Save:
    """Copy everything needed to resume a model between two rollouts.

    Args:
        model: a model whose environment is an `AzumayaVecEnv`.
        network: the module that holds all of the model's parameters.
        curve: the measurements so far.
        lines: the number of lines of metrics so far.
    """
    games = _games(model.env)
    arrays = weight_arrays(NETWORK, network) | adam_arrays(model.policy.optimizer)
    arrays |= game_arrays(games)
    arrays |= {STARTS: np.array(model._last_episode_starts, np.bool_), **generators()}
    notes = {
        "updates": model._n_updates,
        "pending": _pending(model.logger),
        "layouts": game_layouts(games),
    }
    return Save(model.num_timesteps, curve, lines, notes, arrays)


def restore(model: OnPolicyAlgorithm, network: nn.Module, save: Save) -> None:
    """Restore a fresh model, its games and the generators from a save.

    `make_logger` restores the metrics that had not been written yet.

    Raises:
        CheckpointError: the save does not fit the model.
    """
    restore_weights(save, NETWORK, network)
    restore_adam(save, model.policy.optimizer)
    _restore_games(model, save)
    model.num_timesteps = save.steps
    model._n_updates = saved_count(save, "updates")
    restore_generators(save)


def _games(env: Any) -> dict[str, np.ndarray]:
    """The arrays of the environment's state; all opponents in training are compiled."""
    games: dict[str, Any] = env.get_state()
    return {name: games[name] for name in games if name != "opponents"}


def _restore_games(model: OnPolicyAlgorithm, save: Save) -> None:
    """Restore the games, and the model's last observations of them; raises `CheckpointError`."""
    env: Any = model.env
    env.reset()
    games = saved_games(save, _games(env))
    starts = save.take(STARTS, np.bool_, (env.num_envs,))
    try:
        model._last_obs = env.set_state(games)
    except OptionError as error:
        raise CheckpointError(f"{GAMES}: {error}") from error
    model._last_episode_starts = starts.copy()


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
        values = _values_for("json", key_values, key_excluded)
        self.metrics.write({key: values[key] for key in values if key not in self.UNKEPT})

    def close(self) -> None:
        """The file belongs to the run, which closes it."""


class Events(KVWriter):
    """SB3's metrics for TensorBoard."""

    def __init__(self, file: EventFile) -> None:
        self.file = file

    def write(
        self, key_values: dict[str, Any], key_excluded: dict[str, tuple[str, ...]], step: int = 0
    ) -> None:
        """Add an event."""
        self.file.write(_values_for("tensorboard", key_values, key_excluded), step)

    def close(self) -> None:
        """Close the file."""
        self.file.close()


def _values_for(
    form: str, key_values: dict[str, Any], key_excluded: dict[str, tuple[str, ...]]
) -> dict[str, Any]:
    """The metrics that are not excluded from a form of output, as plain numbers."""
    return {
        key: value
        for key, value in _finite(key_values).items()
        if form not in (key_excluded[key] or ())
    }


def make_logger(run: RunFolder, save: Save | None) -> Logger:
    """SB3's logger for a run, with the metrics that had not been written when it was saved.

    Raises:
        CheckpointError: the save holds no such metrics.
    """
    steps = save.steps if save else None
    logger = Logger(str(run.path), [MetricLines(run.metrics), Events(EventFile(run.path, steps))])
    for key, (value, excluded) in pending_of(save).items():
        logger.record(key, value, tuple(excluded))
    return logger


def write_now(logger: Logger, values: Mapping[str, float], steps: int) -> None:
    """Write metrics at once; those that SB3 has recorded wait for the end of its rollout."""
    line = {**values, TOTAL: steps}
    excluded: dict[str, tuple[str, ...]] = dict.fromkeys(line, ()) | {TOTAL: ("tensorboard",)}
    for form in logger.output_formats:
        form.write(line, excluded, steps)


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
        key: (value, list(excluded[key])) for key, value in _finite(logger.name_to_value).items()
    }


def _finite(values: Mapping[str, Any]) -> dict[str, Any]:
    """Metrics as Python numbers, without those that JSON cannot have.

    The explained variance is NaN if all returns of a rollout are equal. Such a value is left out of
    lines, too, so that a resumed run, whose save cannot have it, has the same lines.
    """
    plain = {key: v.item() if isinstance(v, np.generic) else v for key, v in values.items()}
    return {key: v for key, v in plain.items() if not isinstance(v, float) or math.isfinite(v)}


# ---- SB3's own file ----


def zip_of(model: OnPolicyAlgorithm) -> bytes:
    """The model in SB3's own format."""
    content = io.BytesIO()
    model.save(content)
    return content.getvalue()
