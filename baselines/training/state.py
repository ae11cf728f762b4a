"""The state of a run: a dataclass whose fields are saved and restored by their types.

A script derives from `State` what changes while it trains:

    @dataclass(kw_only=True)
    class State(training.State):
        network: nn.Module
        adam: torch.optim.Adam
        games: Games

Everything else, such as the sizes of a network, follows from the options of the run.
"""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
import torch
from torch import nn

from azumaya.baselines.agents.sidecar import CheckpointError, Sidecar, sidecar_of
from azumaya.baselines.system.files import is_count
from azumaya.baselines.training.saves import Save
from azumaya.envs import OptionError

LAYOUTS = "layouts"
"""The note of a save that has the dtypes of its games."""


class TrainingError(RuntimeError):
    """Training cannot continue, because its numbers have diverged."""


@runtime_checkable
class Games(Protocol):
    """Games in progress, such as those of an environment."""

    def get_state(self) -> dict[str, np.ndarray]:
        """Everything that they depend on, `(n,)` arrays by name."""

    def set_state(self, state: dict[str, np.ndarray]) -> object:
        """Go on from what `get_state` gave.

        Raises:
            OptionError: it is not the state of such games.
        """


@dataclass(frozen=True)
class Chance:
    """The states of torch's generators and of NumPy's global one, as a field of a state.

    A save from another device lacks the state of this device's generator, which then stays.
    """

    device: str = "cpu"

    def arrays(self) -> dict[str, np.ndarray]:
        """All states."""
        _, words, position, has_gauss, gauss = np.random.get_state(legacy=True)
        more = {}
        if self.device == "cuda":
            more["cuda"] = torch.cuda.get_rng_state().numpy().copy()
        return {
            **more,
            "torch": torch.get_rng_state().numpy().copy(),
            "numpy": np.array(words, np.uint32),
            "numpy_position": np.array([position, has_gauss], np.int64),
            "numpy_gauss": np.array([gauss], np.float64),
        }

    def restore(self, save: Save, name: str) -> None:
        """Restore all; raises `CheckpointError` if the save lacks valid states."""
        kept = {
            each: save.take(f"{name}.{each}", array.dtype, array.shape)
            for each, array in self.arrays().items()
            if each != "cuda" or "cuda" in save.part(name)
        }
        position, has_gauss = map(int, kept["numpy_position"])
        torch.set_rng_state(torch.from_numpy(kept["torch"].copy()))
        if "cuda" in kept:
            torch.cuda.set_rng_state(torch.from_numpy(kept["cuda"].copy()))
        gauss = float(kept["numpy_gauss"][0])
        np.random.set_state(("MT19937", kept["numpy"], position, has_gauss, gauss))


@dataclass(kw_only=True)
class State:
    """What a run must keep to go on as if it had never stopped.

    Each field is saved under its name, or the `name` in its metadata, by what it is: a whole number
    from 0; an array of fixed size; a module or Adam of torch; a list of at least one module, all of
    them alike; `Games`; `Chance`; or a dataclass of these, whose own names come after a dot.

    Attributes:
        steps: how many steps were learned from.
        updates: how many updates there were.
        learning: the name of the field whose numbers learn; they are checked before each save.
    """

    learning: ClassVar[str] = "network"

    steps: int = 0
    updates: int = 0

    def check_finite(self) -> None:
        """Check that the numbers that learn are finite; others are never saved.

        Raises:
            TrainingError: some are not.
        """
        learning = getattr(self, self.learning)
        if isinstance(learning, nn.Module):
            finite = all(bool(torch.isfinite(each).all()) for each in learning.parameters())
        else:
            finite = bool(np.isfinite(learning).all())
        if not finite:
            raise TrainingError(
                f"after {self.steps:,} steps the weights are no longer finite; start another run "
                "with a smaller --learning-rate"
            )


# ---- to a save ----


def saved(state: State, curve: list[dict[str, float]], lines: int, agent: Sidecar | None) -> Save:
    """A copy of a state.

    Args:
        state: the state.
        curve: the measurements so far.
        lines: the number of lines of metrics so far.
        agent: the sidecar of the agent's checkpoint, if it has one.
    """
    notes: dict[str, Any] = {}
    arrays: dict[str, np.ndarray] = {}
    for _, item, name, value in _parts(state):
        if isinstance(value, int):
            notes[item] = value
        elif isinstance(value, Games):
            games = value.get_state()
            notes[LAYOUTS] = {each: _layout(array.dtype) for each, array in games.items()}
            arrays |= _prefixed(name, {each: _as_bytes(array) for each, array in games.items()})
        elif isinstance(value, np.ndarray):
            arrays[name] = value.copy()
        else:
            arrays |= _prefixed(name, _arrays_of(value))
    del notes["steps"]
    if agent:
        notes["agent"] = as_note(agent)
    return Save(state.steps, curve, lines, notes, arrays)


def as_note(sidecar: Sidecar) -> Any:
    """A sidecar as JSON, the note `agent` of a save, from which the agent's files are made."""
    return json.loads(json.dumps(asdict(sidecar), default=os.fspath))


def _parts(state: Any, prefix: str = "") -> Iterator[tuple[Any, str, str, Any]]:
    """The fields of a dataclass that are no dataclasses: owner, field, name in a save, value."""
    for item in fields(state):
        value = getattr(state, item.name)
        name = item.metadata.get("name", f"{prefix}{item.name}")
        if is_dataclass(value) and not isinstance(value, Games | Chance):
            yield from _parts(value, f"{name}.")
        else:
            yield state, item.name, name, value


def _arrays_of(value: Any) -> dict[str, np.ndarray]:
    """Copies of the numbers of a module, of modules, of Adam or of the generators."""
    if isinstance(value, Chance):
        return value.arrays()
    if isinstance(value, nn.Module):
        return {name: _copy(tensor) for name, tensor in value.state_dict().items()}
    parts = value.state_dict()["state"].items() if not isinstance(value, list) else enumerate(value)
    arrays: dict[str, np.ndarray] = {}
    for number, part in parts:
        kept = part if isinstance(part, dict) else part.state_dict()
        arrays |= _prefixed(str(number), {name: _copy(tensor) for name, tensor in kept.items()})
    return arrays


def _prefixed(prefix: str, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {f"{prefix}.{name}": array for name, array in arrays.items()}


def _copy(tensor: torch.Tensor) -> np.ndarray:
    return tensor.detach().to("cpu", copy=True).numpy()


def _as_bytes(array: np.ndarray) -> np.ndarray:
    return np.frombuffer(array.tobytes(), np.uint8).reshape(len(array), -1)


def _layout(dtype: np.dtype[Any]) -> str:
    return str(np.dtype(dtype.descr))


# ---- from a save ----


def restore(state: State, save: Save) -> None:
    """Continue from a save.

    Raises:
        CheckpointError: the save does not fit the state, which may have changed in part.
    """
    for owner, item, name, value in _parts(state):
        if isinstance(value, int):
            setattr(owner, item, save.steps if item == "steps" else _count(save, item))
        elif isinstance(value, np.ndarray):
            value[...] = save.take(name, value.dtype, value.shape)
        elif isinstance(value, nn.Module):
            _restore_weights(save, name, value)
        elif isinstance(value, list):
            numbers = {key.partition(".")[0] for key in save.part(name)}
            if not numbers:
                raise CheckpointError(f"{name}: there must be at least one")
            value[:] = [copy.deepcopy(value[0]) for _ in numbers]
            for number, module in enumerate(value):
                _restore_weights(save, f"{name}.{number}", module)
        elif isinstance(value, Games):
            _restore_games(save, name, value)
        elif isinstance(value, Chance):
            value.restore(save, name)
        else:
            value.load_state_dict({**value.state_dict(), "state": _moments(save, name, value)})


def check_agent(save: Save, sidecar: Sidecar) -> None:
    """Check that the agent of a save sees and plays what the sidecar says.

    Otherwise the same numbers would mean something else to the run that goes on from there.

    Raises:
        CheckpointError: it has another game, network, observation or kind of features.
    """
    before, now = sidecar_of(save.notes.get("agent")), sidecar_of(as_note(sidecar))
    other = [
        name
        for name in ("game", "num_actions", "planes", "network", "sizes", "options")
        if getattr(before, name) != getattr(now, name)
    ]
    if before.notes.get("features") != now.notes.get("features"):
        other.append("features")
    if other:
        raise CheckpointError(
            f"the run was saved with azumaya {before.azumaya}, for other {', '.join(other)} than "
            f"azumaya {now.azumaya} has; start another run with --output"
        )


def _count(save: Save, name: str) -> int:
    value = save.notes.get(name)
    if not is_count(value):
        raise CheckpointError(f"{name}: must be a whole number from 0, not {value!r}")
    return int(value)  # type: ignore[arg-type]


def _restore_weights(save: Save, prefix: str, network: nn.Module) -> None:
    own = {name: _copy(tensor) for name, tensor in network.state_dict().items()}
    weights = {
        name: torch.from_numpy(save.take(f"{prefix}.{name}", array.dtype, array.shape))
        for name, array in own.items()
    }
    network.load_state_dict(weights)


def _moments(
    save: Save, prefix: str, optimizer: torch.optim.Optimizer
) -> dict[int, dict[str, torch.Tensor]]:
    """Adam's state by parameter number; empty in a save from before the first update."""
    found: dict[int, dict[str, torch.Tensor]] = {}
    parameters = (p for group in optimizer.param_groups for p in group["params"])
    for number, parameter in enumerate(parameters if save.part(prefix) else ()):
        own, step = _copy(parameter), np.zeros((), np.float32)
        found[number] = {
            name: torch.from_numpy(save.take(f"{prefix}.{number}.{name}", like.dtype, like.shape))
            for name, like in {"step": step, "exp_avg": own, "exp_avg_sq": own}.items()
        }
    return found


def _restore_games(save: Save, prefix: str, games: Games) -> None:
    state, layouts = {}, save.notes.get(LAYOUTS)
    for name, array in games.get_state().items():
        if not isinstance(layouts, dict) or layouts.get(name) != _layout(array.dtype):
            raise CheckpointError(f"{prefix}.{name}: saved by another version of the game")
        stored = save.take(f"{prefix}.{name}", np.uint8, (len(array), array.dtype.itemsize))
        state[name] = np.frombuffer(stored.tobytes(), array.dtype)
    try:
        games.set_state(state)
    except OptionError as error:
        raise CheckpointError(f"{prefix}: {error}") from error
