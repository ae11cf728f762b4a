"""The random generators used in training, as arrays to be saved with a run."""

from __future__ import annotations

import numpy as np
import torch

from azumaya.baselines.agents.sidecar import CheckpointError
from azumaya.baselines.training.saves import Save, prefixed

PREFIX = "chance"


def generators() -> dict[str, np.ndarray]:
    """The states of torch's generator (CPU) and of NumPy's global one."""
    _, words, position, has_gauss, gauss = np.random.get_state(legacy=True)
    return prefixed(
        PREFIX,
        {
            "torch": torch.get_rng_state().numpy().copy(),
            "numpy": np.array(words, np.uint32),
            "numpy_position": np.array([position, has_gauss], np.int64),
            "numpy_gauss": np.array([gauss], np.float64),
        },
    )


def restore_generators(save: Save) -> None:
    """Restore both generators from a save.

    Raises:
        CheckpointError: the save lacks valid states; nothing was changed.
    """
    shape = tuple(torch.get_rng_state().shape)
    state = save.take(f"{PREFIX}.torch", np.uint8, shape)
    words = save.take(f"{PREFIX}.numpy", np.uint32, (624,))
    position, has_gauss = map(int, save.take(f"{PREFIX}.numpy_position", np.int64, (2,)))
    gauss = save.take(f"{PREFIX}.numpy_gauss", np.float64, (1,))
    if not 0 <= position <= len(words):
        raise CheckpointError(f"{PREFIX}.numpy_position: must be 0 to {len(words)}, not {position}")
    try:
        torch.set_rng_state(torch.from_numpy(state.copy()))
    except RuntimeError as error:
        raise CheckpointError(f"{PREFIX}.torch: {error}") from error
    np.random.set_state(("MT19937", words, position, has_gauss, float(gauss[0])))
