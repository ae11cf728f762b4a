"""The vector environment on a CUDA device; states and outputs stay in device memory.

It matches `batch.vector.AzumayaVectorEnv` bit for bit, but returns torch tensors.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

from azumaya.envs.adapters.batch.vector import AzumayaVectorEnv
from azumaya.envs.adapters.cuda.batch import CudaBatch
from azumaya.envs.engine.checks import check_flag
from azumaya.envs.engine.guard import Call
from azumaya.envs.errors import OptionError, brief
from azumaya.envs.extras import require
from azumaya.envs.game import Game


class CudaVectorEnv(AzumayaVectorEnv):
    """Many games stepped together on a CUDA device; all outputs are torch tensors.

    States, outputs and actions are on the device that is torch's current one at construction, and
    kernels run on torch's current stream. A step copies nothing between host and device and does
    not wait for the device. Spaces, outputs, seeds and episodes are those of `AzumayaVectorEnv`.
    Other frameworks can take the tensors through DLPack.

    Args:
        game: the game or its name.
        num_envs: the number of games, `n`.
        observation: `"planes"`, `"packed"` or `"none"`.
        copy: whether every call returns new tensors. If False, calls return tensors that the next
            call overwrites; their addresses never change, and steps of small batches are faster.
            In the infos, `_action_mask`, `_to_move` and `_rewards` are always one tensor of True:
            do not write to it.
        autoreset_mode: as for `AzumayaVectorEnv`. In the same-step mode, `final_obs` and
            `final_info` are in the infos of every step, batched; only rows where `_final_obs` is
            True are defined.
        check_actions: if False, an illegal action changes nothing in its game, whose reward is 0,
            and the error is raised by the next call that waits for the device anyway: `check`,
            `position`, `reset`, `get_state`, `set_state`, `rollout` or `close`. If True, every
            step first waits for the device to check the actions; it raises at once, and no game
            has changed. Without effect with `illegal="lose"`, where no action is checked.
        threads: None: the device has threads of its own.
        illegal: as for `AzumayaVectorEnv`. With `"lose"`, only shape, type and device of actions
            are errors, and a step never waits.
        **options: the game's options.

    Raises:
        MissingExtraError: torch is not installed.
        DeviceError: no usable GPU is available.
        OptionError: an argument or option has an invalid value.
        PositionError: the position text is malformed or impossible, or the game is over in it.
    """

    def __init__(
        self,
        game: Game | str,
        num_envs: int = 1,
        *,
        observation: str = "planes",
        copy: bool = True,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        check_actions: bool = False,
        threads: None = None,
        illegal: str = "raise",
        **options: Any,
    ) -> None:
        if threads is not None:
            raise OptionError(f"threads={brief(threads)}: must be None on a CUDA device")
        self._check_actions = check_flag("check_actions", check_actions)
        super().__init__(
            game,
            num_envs,
            observation=observation,
            copy=copy,
            autoreset_mode=autoreset_mode,
            illegal=illegal,
            **options,
        )

    def _make_games(self, **arguments: Any) -> CudaBatch:
        del arguments["threads"]
        check = self._check_actions
        return CudaBatch(self.game, self.setup, self.num_envs, check_actions=check, **arguments)

    def _filled(self, value: Any, shape: tuple[int, ...], dtype: Any = None) -> Any:
        torch = require("torch", "cuda")
        place = self.games.device.place
        return torch.full(shape, value, dtype=dtype or torch.bool, device=place)

    def _everybody(self) -> tuple[Any, Any, Any]:
        """One tensor of True for all calls: a new one would cost a kernel launch."""
        return self._all, self._all, self._all

    def _rows(self, mask: Any, name: str, least: int = 0) -> np.ndarray | None:
        """The rows of a mask, an array or a tensor; reading a tensor waits for the device."""
        given = mask.cpu().numpy() if hasattr(mask, "cpu") else mask
        if given is not None and not (isinstance(given, np.ndarray) and given.dtype == np.bool_):
            raise OptionError(f"{name}: must be a torch tensor or a NumPy array, of bool")
        return super()._rows(given, name, least)

    def _add_finals(self, infos: dict[str, Any], outputs: Any, ended: Any) -> None:
        torch = require("torch", "cuda")
        observations, mover = self.games.finals()
        masks = outputs.masks
        seen = {"action_mask": self._filled(0, masks.shape, masks.dtype)}
        if observations is not None:
            seen = {"observation": observations, **seen}
        which = ended.clone()
        to_move = torch.where(which, mover, 0)
        rewards = torch.where(which[:, None], outputs.both, 0.0)
        infos |= self._final_infos(masks, seen, which, to_move, rewards)

    def __getstate__(self) -> dict[str, Any]:
        """Refuse to copy: kernel views hold device addresses.

        Raises:
            TypeError: always; use `get_state` and `set_state` to transfer games.
        """
        raise TypeError("an environment on a device cannot be copied; use get_state and set_state")

    def check(self) -> None:
        """Wait for the device; raise if an action was illegal since the last such call.

        Raises:
            IllegalActionError: names the first step with an illegal action, and its lowest such
                row.
        """
        with Call(self.games.guard, "check", begins=True, looks=True):
            self.games.check()
