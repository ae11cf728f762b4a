"""Every game as a Gymnasium vector environment: thousands of games, one action each per step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from azumaya.envs.adapters.batch.batch import CONTENT, Batch, Outputs, check_count
from azumaya.envs.adapters.batch.calls import Call, Caller, not_playing
from azumaya.envs.adapters.spaces import batched, observation_box
from azumaya.envs.errors import OptionError, UnknownOptionError, brief
from azumaya.envs.game import Game, Plane
from azumaya.envs.observation import unpack_bits, unpack_planes
from azumaya.envs.position import Position
from azumaya.envs.registry import game_of
from azumaya.envs.setup import check_options, option_names, override, prepare
from azumaya.envs.whole import whole_number

Arrays = dict[str, np.ndarray]

MOST_PLIES = 2**63 - 1
WORDS = ("uint64", "int64")
"""What the words of packed observations may be."""


class AzumayaVectorEnv(VectorEnv[Arrays, np.ndarray, np.ndarray]):
    """Many games stepped together, with one action per game by its player to move.

    Args:
        game: the game or its name.
        num_envs: how many games, `n`.
        threads: the number of threads; None: one per core. Results do not depend on it.
        observation: `"planes"` (bytes), `"packed"` (64-bit words, an eighth of the size) or
            `"none"` (only the mask).
        copy: True: every call returns arrays of its own. False: it returns views of buffers that
            the next call overwrites; their addresses never change.
        autoreset_mode: when a finished game restarts: in the next step (its action is ignored
            and its reward is 0), in the same step, or only on `reset`.
        illegal: `"raise"`, or `"lose"`: an illegal action ends the game with -1 for the player who
            made it and 1 for the other; for algorithms without masks.
        **options: the game's options; `position="..."` starts every episode from a text.

    Action space: `MultiDiscrete`, `(n,)`; `(n,)` arrays of any whole-number type are taken.

    Observation space, batched: a dict of `observation`, planes `(C, rows, columns)` int8, and
    `action_mask`, `(A,)` int8, 1 = legal, both of the player to move; packed, `(W,)` uint64
    each, which `unpack` turns into the same planes and mask. The mask of a game that is over is
    all 0.

    Rewards `(n,)` float64 are those of the player who moved. For self-play: the value of the next
    state changes its sign exactly where `to_move` changes.

    Infos: `action_mask`; `to_move`, `(n,)`; `rewards`, `(n, 2)`, what the step gave to each
    player. In the same-step mode also `final_obs` and `final_info` of the games that ended.

    Raises:
        OptionError: an argument or option has a value it cannot take.
        PositionError: the position text is malformed, impossible or over.
        gymnasium.error.ResetNeeded: something is asked of games before the first `reset`, or
            after a call was broken off, by Ctrl-C for example.
        gymnasium.error.ClosedEnvironmentError: a game is to be played after `close`.
        gymnasium.error.AlreadyPendingCallError: another thread is inside a call. An environment
            serves one thread at a time.
    """

    metadata: dict[str, Any]

    def __init__(
        self,
        game: Game | str,
        num_envs: int = 1,
        *,
        threads: int | None = None,
        observation: str = "planes",
        copy: bool = True,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        illegal: str = "raise",
        **options: Any,
    ) -> None:
        self.game = game_of(game)
        self.num_envs = check_count(num_envs)
        self.autoreset_mode = _mode(autoreset_mode)
        _check_names(self.game, options)
        self._setup = prepare(self.game, options)
        self._batch = self._make_batch(
            form=observation, same_step=self.autoreset_mode is AutoresetMode.SAME_STEP,
            illegal=illegal, threads=threads,
        )  # fmt: skip
        self.copy, self._packed = bool(copy), observation == "packed"
        self._outputs = self._batch.new_outputs()
        self._returned, self._caller = False, Caller()
        self.metadata = {"autoreset_mode": self.autoreset_mode, "render_modes": []}
        self._all = self._filled(True, (self.num_envs,))
        self._make_spaces()

    def _make_batch(self, **arguments: Any) -> Any:
        return Batch(self.game, self._setup, self.num_envs, **arguments)

    def _filled(self, value: Any, shape: tuple[int, ...], dtype: Any = np.bool_) -> Any:
        """An array of one value."""
        return np.full(shape, value, dtype)

    def _everybody(self) -> Any:
        """An array of True for every game."""
        return self._filled(True, (self.num_envs,)) if self.copy else self._all

    def _make_spaces(self) -> None:
        actions, game = self._setup.num_actions, self.game
        words = np.iinfo(np.uint64).max
        parts: dict[str, spaces.Space[Any]] = {}
        if self._packed:
            parts["observation"] = spaces.Box(0, words, (game.observation.packed_words,), np.uint64)
            parts["action_mask"] = spaces.Box(0, words, (self._batch.words,), np.uint64)
        else:
            if self._outputs.observations is not None:
                parts["observation"] = observation_box(game)
            parts["action_mask"] = spaces.Box(0, 1, (actions,), np.int8)
        self.single_observation_space = spaces.Dict(parts)
        self.single_action_space = spaces.Discrete(actions)
        self.observation_space = batched(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    # ---- stepping ----

    def reset(
        self,
        *,
        seed: int | Sequence[int] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Arrays, dict[str, Any]]:
        """Begin episodes.

        Args:
            seed: begins new series of episodes: of one seed for all games, game `i` as
                environment number `i` of it; or a seed for each game. Without a seed the series
                go on. Game 0 plays as the AEC environment of the same seed.
            options: `reset_mask`, `(n,)` bool: which games to begin anew, the others staying as
                they are; and options of the game that differ for these episodes.

        Raises:
            OptionError: the seed, the mask or an option has a value it cannot take.
            PositionError: the position text is malformed, impossible or over.
        """
        with Call(self, "reset", begins=True):
            given = check_options(options)
            rows = self._rows(given.pop("reset_mask", None))
            if rows is not None and not self._batch.begun and len(rows) < self.num_envs:
                after = "reset after a call that was broken off"
                which = after if self._caller.broken_off else "first reset"
                raise OptionError(f"reset_mask: the {which} must begin all games")
            setup = override(self.game, self._setup, given) if given else None
            outputs = self._next_outputs()
            self._batch.reset(outputs, seed, rows, setup)
            return self._observations(outputs), self._infos(outputs)

    def _rows(self, mask: Any) -> np.ndarray | None:
        if mask is None:
            return None
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
            raise OptionError("reset_mask: an array of bool is needed")
        if mask.shape != (self.num_envs,) or not mask.any():
            raise OptionError(
                f"reset_mask: shape {mask.shape} with {int(mask.sum())} True given; "
                f"({self.num_envs},) with at least one is needed"
            )
        return np.flatnonzero(mask)

    def step(
        self, actions: np.ndarray
    ) -> tuple[Arrays, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Make a move in every game.

        Args:
            actions: `(n,)` whole numbers. In the next-step mode those of games that have ended
                play no part; in the disabled mode such games must be reset first.

        Returns:
            Observations, rewards, terminations, truncations and infos, see the class.

        Raises:
            IllegalActionError: the actions have a wrong shape or type, or one is illegal. The
                error names the first such row, and no game has changed.
        """
        with Call(self, "step"):
            outputs = self._next_outputs()
            skip = self.autoreset_mode is not AutoresetMode.DISABLED
            ended = self._batch.step(actions, outputs, skip_over=skip)
            infos = self._infos(outputs)
            if self._batch.same_step:
                self._add_finals(infos, outputs, ended)
            return (
                self._observations(outputs),
                outputs.rewards,
                outputs.terminated,
                outputs.truncated,
                infos,
            )

    def _next_outputs(self) -> Outputs:
        if self.copy and self._returned:
            self._outputs = self._batch.new_outputs()
        self._returned = True
        return self._outputs

    def _observations(self, outputs: Outputs) -> Arrays:
        if outputs.observations is None:
            return {"action_mask": outputs.masks}
        return {"observation": outputs.observations, "action_mask": outputs.masks}

    def _infos(self, outputs: Outputs) -> dict[str, Any]:
        return {
            "action_mask": outputs.masks,
            "_action_mask": self._everybody(),
            "to_move": outputs.to_move,
            "_to_move": self._everybody(),
            "rewards": outputs.both,
            "_rewards": self._everybody(),
        }

    def _add_finals(self, infos: dict[str, Any], outputs: Outputs, ended: np.ndarray) -> None:
        """What the games that ended in this step looked like, as Gymnasium gives it."""
        if not ended.size:
            return
        finals = self._batch.finals()
        seen = self._observations(finals)
        which = np.zeros(self.num_envs, np.bool_)
        which[ended] = True
        every = np.full(self.num_envs, None, object)
        for slot, row in enumerate(ended):
            every[row] = {name: array[slot] for name, array in seen.items()}
        to_move = np.zeros(self.num_envs, np.int64)
        to_move[ended] = self._batch.final_states()["to_move"]
        rewards = np.where(which[:, None], outputs.both, 0.0)
        infos |= self._final_infos(outputs.masks, every, which, to_move, rewards)

    def _final_infos(
        self, masks: Any, seen: Any, which: Any, to_move: Any, rewards: Any
    ) -> dict[str, Any]:
        """The infos on games that ended, those of `which`."""
        final = {
            # the mask of a game that is over is all 0
            "action_mask": self._filled(0, masks.shape, masks.dtype),
            "_action_mask": which,
            "to_move": to_move,
            "_to_move": which,
            "rewards": rewards,
            "_rewards": which,
        }
        return {
            "final_obs": seen,
            "_final_obs": which,
            "final_info": final,
            "_final_info": which,
        }

    # ---- looking ----

    @property
    def observation_planes(self) -> tuple[Plane, ...]:
        """What each plane of the observation means."""
        return self.game.observation.planes

    def unpack(self, observations: Mapping[str, Any]) -> dict[str, Any]:
        """Packed observations as planes and masks, int8; NumPy arrays and torch tensors alike.

        Args:
            observations: `observation`, `(..., W)`, and `action_mask`, `(..., W')`, 64-bit words.

        Returns:
            `observation`, `(..., C, rows, columns)`, and `action_mask`, `(..., A)`, int8, on the
            device of the words.

        Raises:
            OptionError: they are no packed observations of this game.
        """
        words = _words(observations, "observation", self.game.observation.packed_words)
        masks = _words(observations, "action_mask", self._batch.words)
        if isinstance(words, np.ndarray):
            planes = unpack_planes(self.game, words)
            return {
                "observation": planes,
                "action_mask": unpack_bits(masks, self._setup.num_actions),
            }
        from azumaya.envs.adapters import torch_unpack  # noqa: PLC0415 - torch is optional

        return {
            "observation": torch_unpack.unpack_planes(self.game, words),
            "action_mask": torch_unpack.unpack_bits(masks, self._setup.num_actions),
        }

    def position(self, row: int) -> Position:
        """The position of one game, as an independent object.

        Raises:
            OptionError: there is no such row.
        """
        if not self._batch.begun:
            raise not_playing(self, "position")
        number = whole_number(row, "row", 0, self.num_envs - 1)
        position: Position = self._batch.position(number)
        return position

    def random_actions(self) -> np.ndarray:
        """A uniformly random legal action for every game, `(n,)` int64; 0 where it is over.

        Much faster than sampling from masks. The choices come from the episodes' keys: they are
        the same for any number of games and threads.
        """
        with Call(self, "random_actions"):
            actions: np.ndarray = self._batch.new_actions()
            self._batch.choose(actions)
            return actions

    def rollout(self, plies: int) -> int:
        """Make uniformly random legal moves in every game, and show nothing in between.

        Games that end begin anew in the same ply, whatever the mode. The moves are those that
        `random_actions` would give.

        Returns:
            How many games ended.

        Raises:
            OptionError: `plies` is no whole number from 0 on.
        """
        with Call(self, "rollout"):
            ended: int = self._batch.rollout(whole_number(plies, "plies", 0, MOST_PLIES))
            self._batch.resume(self._next_outputs())
            return ended

    # ---- states ----

    def get_state(self) -> tuple[np.ndarray, np.ndarray]:
        """The states of all games and what their randomness comes from, `(n,)` each; copies.

        Rows may be taken, repeated and joined, as long as both arrays keep them together: each
        row carries a checksum, by which `set_state` knows it.
        """
        if not self._batch.begun:
            raise not_playing(self, "get_state")
        return self._batch.get_states(), self._batch.get_series()

    def set_state(self, state: tuple[np.ndarray, np.ndarray]) -> tuple[Arrays, dict[str, Any]]:
        """Go back to what `get_state` gave, here or in another such environment.

        Returns observations and infos, as `reset` does.

        Raises:
            OptionError: it is no such pair, comes from another game, action space or number of
                games, or a row was changed since `get_state`; nothing was changed.
        """
        with Call(self, "set_state", begins=True):
            if not isinstance(state, tuple | list) or len(state) != 2:
                raise OptionError(
                    f"state: {type(state).__name__} given, the pair that get_state() gives is "
                    "needed"
                )
            outputs = self._next_outputs()
            self._batch.set_state(*state, outputs)
            return self._observations(outputs), self._infos(outputs)

    def __getstate__(self) -> dict[str, Any]:
        """All but the buffers, whose content is kept: as copies they would not be aligned."""
        content = {name: getattr(self._outputs, name) for name in CONTENT}
        return {**self.__dict__, "_outputs": content}

    def __setstate__(self, saved: dict[str, Any]) -> None:
        self.__dict__.update(saved)
        self._outputs = self._batch.new_outputs()
        for name, content in saved["_outputs"].items():
            getattr(self._outputs, name)[:] = content

    def close_extras(self, **kwargs: Any) -> None:
        """End the threads."""
        if hasattr(self, "_batch"):  # Gymnasium 1.1 also closes what could not be constructed
            self._batch.close()


def _mode(mode: AutoresetMode | str) -> AutoresetMode:
    for known in AutoresetMode:
        if mode is known or (isinstance(mode, str) and mode in (known.value, known.name)):
            return known
    modes = [known.value for known in AutoresetMode]
    raise OptionError(f"autoreset_mode={brief(mode)}: must be one of {modes}")


def _check_names(game: Game, options: Mapping[str, Any]) -> None:
    """Say what to do instead where an argument of `gymnasium.make` is none here."""
    elsewhere = options.keys() - set(option_names(game))
    for name in sorted(elsewhere & {"opponent", "seat"}):
        raise UnknownOptionError(
            f"unexpected keyword argument {name!r}: make_vec plays both seats, and every action "
            "is that of the player to move. One seat of many games, against opponents: "
            "azumaya.wrappers.sb3.AzumayaVecEnv, or "
            f"gymnasium.make_vec({game.id!r}, vectorization_mode='sync', {name}=...)"
        )
    if "render_mode" in elsewhere:
        raise UnknownOptionError(
            "unexpected keyword argument 'render_mode': many games are not drawn; position(row) "
            "gives one, with draw() and svg()"
        )


def _words(observations: Any, name: str, width: int) -> Any:
    """The words of a name in packed observations; raises `OptionError`."""
    words: Any = observations.get(name) if isinstance(observations, Mapping) else None
    shaped = tuple(getattr(words, "shape", ()))[-1:] == (width,)
    if not shaped or str(words.dtype).removeprefix("torch.") not in WORDS:
        raise OptionError(
            f"observations: {name!r} of them must be an array of 64-bit words, (..., {width}), as "
            "reset and step of the form 'packed' return it"
        )
    return words
