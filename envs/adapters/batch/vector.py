"""Every game as a Gymnasium vector environment: thousands of games, one action each per step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from azumaya.envs.adapters.batch.batch import Batch
from azumaya.envs.adapters.batch.outputs import Outputs
from azumaya.envs.adapters.copying import CopiedDeeply
from azumaya.envs.adapters.spaces import batched, observation_box
from azumaya.envs.engine.checks import (
    check_count,
    check_flag,
    check_mode,
    explain_misplaced,
    packed_words,
)
from azumaya.envs.engine.guard import Call
from azumaya.envs.errors import OptionError
from azumaya.envs.game import Game, Plane
from azumaya.envs.observation import unpack_bits, unpack_planes
from azumaya.envs.position import Position
from azumaya.envs.registry import find_game
from azumaya.envs.setup import Setup, check_names, check_options, known_options, override, prepare
from azumaya.envs.whole import whole_number

Arrays = dict[str, np.ndarray]

MOST_PLIES = 2**63 - 1


class AzumayaVectorEnv(CopiedDeeply, VectorEnv[Arrays, np.ndarray, np.ndarray]):
    """Many games stepped together, with one action per game by its player to move.

    Args:
        game: the game or its name.
        num_envs: the number of games, `n`.
        threads: the number of threads; None: one per core. Results do not depend on it.
        observation: `"planes"` (bytes), `"packed"` (64-bit words, an eighth of the size) or
            `"none"` (only the mask).
        copy: whether every call returns new arrays. If False, calls return views of buffers that
            the next call overwrites; their addresses never change.
        autoreset_mode: when a finished game restarts: in the next step (which ignores its action
            and gives it reward 0), in the same step, or only on `reset`; until then steps ignore
            its action, give it reward 0 and repeat its termination or truncation.
        illegal: whether an illegal action raises (`"raise"`) or ends the game with reward -1 for
            the player who made it and 1 for the other (`"lose"`, for algorithms without masks).
            The position stays as it was before that action.
        **options: the game's options; `position="..."` starts every episode from a position text.

    Action space: `MultiDiscrete`, `(n,)`. `step` accepts `(n,)` arrays of any integer type.

    Observation space, batched: a dict of `observation`, planes `(C, rows, columns)` int8, and
    `action_mask`, `(A,)` int8, 1 = legal, both for the player to move. If packed, both are `(W,)`
    uint64, which `unpack` turns into the same planes and mask. (Gymnasium samples nothing but zeros
    from spaces of uint64.) The mask of a finished game is all 0.

    Rewards, `(n,)` float64, are those of the player who moved. For self-play, negate the value of
    the next state exactly where `to_move` changes.

    Infos: `action_mask`; `to_move`, `(n,)`; `rewards`, `(n, 2)`, the step's rewards for both
    players. In the same-step mode also `final_obs` and `final_info` of the games that ended.

    Raises:
        OptionError: an argument or option has an invalid value.
        PositionError: the position text is malformed or impossible, or the game is over in it.
        gymnasium.error.ResetNeeded: a call needs episodes in progress, but `reset` was never
            called, or a call was interrupted, by Ctrl-C for example.
        gymnasium.error.ClosedEnvironmentError: a call would play games after `close`.
        gymnasium.error.AlreadyPendingCallError: another thread is inside a call. An environment
            serves one thread at a time.
    """

    metadata: dict[str, Any]
    single_observation_space: spaces.Dict
    single_action_space: spaces.Discrete

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
        self.game = find_game(game)
        self.num_envs = check_count(num_envs)
        self.autoreset_mode = check_mode(autoreset_mode)
        explain_misplaced(self.game, options)
        check_names(self.game, options, type(self).__init__)
        self.setup = prepare(self.game, options)
        self.games = self._make_games(
            form=observation, same_step=self.autoreset_mode is AutoresetMode.SAME_STEP,
            restarts=self.autoreset_mode is not AutoresetMode.DISABLED,
            illegal=illegal, threads=threads,
        )  # fmt: skip
        self.copy, self._packed = check_flag("copy", copy), observation == "packed"
        self._outputs = self.games.new_outputs()
        self._returned = False
        self.changes = 0  # how many calls have changed games
        self.metadata = {"autoreset_mode": self.autoreset_mode, "render_modes": []}
        self._all = self._filled(True, (self.num_envs,))
        self._make_spaces()

    def _make_games(self, **arguments: Any) -> Any:
        return Batch(self.game, self.setup, self.num_envs, **arguments)

    def _filled(self, value: Any, shape: tuple[int, ...], dtype: Any = np.bool_) -> Any:
        """An array filled with one value."""
        return np.full(shape, value, dtype)

    def _everybody(self) -> tuple[Any, Any, Any]:
        """Three arrays of True for every game; without copies they are one, filled anew."""
        if self.copy:
            first, second, third = (self._filled(True, (self.num_envs,)) for _ in range(3))
            return first, second, third
        self._all[:] = True  # callers may have written into it
        return self._all, self._all, self._all

    def _make_spaces(self) -> None:
        actions, game = self.setup.num_actions, self.game
        words = np.iinfo(np.uint64).max
        parts: dict[str, spaces.Space[Any]] = {}
        if self._packed:
            parts["observation"] = spaces.Box(0, words, (game.observation.packed_words,), np.uint64)
            parts["action_mask"] = spaces.Box(0, words, (self.games.words,), np.uint64)
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
            seed: starts new series of episodes. With one seed for all games, game `i` is
                environment number `i` of that seed; a sequence gives each game its own seed.
                Without a seed, the current series continue. Game 0 plays the same episodes as an
                AEC environment with the same seed.
            options: `reset_mask`, `(n,)` bool, selects the games to restart; the others stay as
                they are. All other keys are options of the game, for these episodes only: the
                next ones have the environment's own options again, or those of `set_options`.
                Unknown keys are ignored with a warning.

        Raises:
            OptionError: the seed, the mask or an option has an invalid value.
            PositionError: the position text is malformed or impossible, or the game is over in it.
        """
        # before the call begins, which an error in it (here a warning may be one) would break off
        given = check_options(options)
        rows = self._rows(given.pop("reset_mask", None), "reset_mask", least=1)
        setups = self._setups_with(given)
        with Call(self.games.guard, "reset", begins=True):
            if rows is not None and not self.games.guard.playing and len(rows) < self.num_envs:
                which = " after an interrupted call" if self.games.guard.interrupted else ""
                raise OptionError(f"reset_mask: the first reset{which} must include all games")
            outputs = self._next_outputs()
            self.games.reset(outputs, seed, rows, setups)
            self.changes += 1
            return self._observations(outputs), self._infos(outputs)

    @property
    def np_random_seed(self) -> int | tuple[int, ...]:  # type: ignore[override]
        """The seed that `reset` was given or drew; -1 before the first `reset`.

        A tuple if it was given one for each game, or if games have different ones, as after a
        `reset` of some of them. Randomness does not come from `np_random`.
        """
        with Call(self.games.guard, "np_random_seed", begins=True, looks=True):
            return self.games.seeds() if self.games.guard.begun else -1

    def _setups_with(self, given: Mapping[str, Any]) -> dict[Setup, Setup]:
        """The setups of episodes with further options, by those without; none if there are none."""
        known = known_options(self.game, given)
        return {own: override(self.game, own, known) for own in self.games.setups if known}

    def set_options(
        self, options: Mapping[str, Any] | None = None, mask: np.ndarray | None = None
    ) -> None:
        """Change options of the game, for all episodes that begin from now on.

        Games in progress are played to their end as they are.

        Args:
            options: options by name, in place of those the environment was made with; options
                left out, and all if it is None, are again as it was made.
            mask: the games whose next episodes have these options, `(n,)` bool, perhaps none of
                them; None: all.

        Raises:
            OptionError: the mask or an option has an invalid value, or there is no such option; an
                option would change the action space. Nothing has changed.
            PositionError: the position text is malformed or impossible, or the game is over in it.
        """
        given, rows = check_options(options), self._rows(mask, "mask")
        check_names(self.game, given)
        setup = override(self.game, self.setup, given) if given else self.setup
        with Call(self.games.guard, "set_options", begins=True):
            self.games.set_setup(setup, rows)

    def _rows(self, mask: Any, name: str, least: int = 0) -> np.ndarray | None:
        """The rows that a mask selects; raises `OptionError`, calling the mask `name`."""
        if mask is None:
            return None
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
            raise OptionError(f"{name}: must be a NumPy array of bool")
        if mask.shape != (self.num_envs,) or mask.sum() < least:
            also = " and at least one True" if least else ""
            raise OptionError(
                f"{name}: shape {mask.shape} with {int(mask.sum())} True given; must have "
                f"shape ({self.num_envs},){also}"
            )
        return np.flatnonzero(mask)

    def step(
        self, actions: np.ndarray
    ) -> tuple[Arrays, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Play an action in every game.

        Args:
            actions: `(n,)` integers; those for finished games are ignored.

        Returns:
            Observations, rewards, terminations, truncations and infos; see the class.

        Raises:
            IllegalActionError: the actions have the wrong shape or type, or one is illegal. The
                error names the first such row; no game has changed.
        """
        with Call(self.games.guard, "step"):
            outputs = self._next_outputs()
            ended = self.games.step(actions, outputs)
            self.changes += 1
            infos = self._infos(outputs)
            if self.games.same_step:
                self._add_finals(infos, outputs, ended)
            observations = self._observations(outputs)
            return observations, outputs.rewards, outputs.terminated, outputs.truncated, infos

    def _next_outputs(self) -> Outputs:
        if self.copy and self._returned:
            self._outputs = self.games.new_outputs()
        self._returned = True
        return self._outputs

    def _observations(self, outputs: Outputs) -> Arrays:
        if outputs.observations is None:
            return {"action_mask": outputs.masks}
        return {"observation": outputs.observations, "action_mask": outputs.masks}

    def _infos(self, outputs: Outputs) -> dict[str, Any]:
        have_masks, have_movers, have_rewards = self._everybody()
        return {
            "action_mask": outputs.masks,
            "_action_mask": have_masks,
            "to_move": outputs.to_move,
            "_to_move": have_movers,
            "rewards": outputs.both,
            "_rewards": have_rewards,
        }

    def _add_finals(self, infos: dict[str, Any], outputs: Outputs, ended: np.ndarray) -> None:
        """Add the final observations of the games that ended in this step, in Gymnasium's form."""
        if not ended.size:
            return
        finals = self.games.finals()
        seen = self._observations(finals)
        which = np.zeros(self.num_envs, np.bool_)
        which[ended] = True
        every = np.full(self.num_envs, None, object)
        for slot, row in enumerate(ended):
            every[row] = {name: array[slot] for name, array in seen.items()}
        to_move = np.zeros(self.num_envs, np.int64)
        to_move[ended] = self.games.final_states()["to_move"]
        rewards = np.where(which[:, None], outputs.both, 0.0)
        infos |= self._final_infos(outputs.masks, every, which, to_move, rewards)

    def _final_infos(
        self, masks: Any, seen: Any, which: Any, to_move: Any, rewards: Any
    ) -> dict[str, Any]:
        """The infos about the games that ended, which `which` marks."""
        final = {
            # the mask of a finished game is all 0
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
        """Packed observations as planes and masks, int8; for NumPy arrays and torch tensors.

        Args:
            observations: `observation`, `(..., W)`, and `action_mask`, `(..., W')`, 64-bit words.

        Returns:
            `observation`, `(..., C, rows, columns)`, and `action_mask`, `(..., A)`, int8, on the
            device of the words.

        Raises:
            OptionError: these are not packed observations of this game.
        """
        words = packed_words(observations, "observation", self.game.observation.packed_words)
        masks = packed_words(observations, "action_mask", self.games.words)
        if isinstance(words, np.ndarray) != isinstance(masks, np.ndarray):
            raise OptionError("observations: must be all NumPy arrays or all torch tensors")
        if words.shape[:-1] != masks.shape[:-1]:
            raise OptionError(
                f"observations: shapes {tuple(words.shape)} and {tuple(masks.shape)} given; they "
                "must be the same but for the last dimension"
            )
        if isinstance(words, np.ndarray):
            planes = unpack_planes(self.game, words)
            return {
                "observation": planes,
                "action_mask": unpack_bits(masks, self.setup.num_actions),
            }
        from azumaya.envs.adapters import torch_unpack  # noqa: PLC0415 - torch is optional

        return torch_unpack.unpack(self.game, words, masks, self.setup.num_actions)

    def position(self, row: int) -> Position:
        """The position of one game, as an independent object, with the options of its episode.

        Raises:
            OptionError: there is no such row.
        """
        with Call(self.games.guard, "position", looks=True):
            number = whole_number(row, "row", 0, self.num_envs - 1)
            position: Position = self.games.position(number)
            return position

    def random_actions(self) -> np.ndarray:
        """A uniformly random legal action for every game, `(n,)` int64; 0 if it is over.

        Much faster than sampling from masks. Choices are drawn from the episodes' keys, so they do
        not depend on the number of games or threads.
        """
        with Call(self.games.guard, "random_actions"):
            actions: np.ndarray = self.games.new_actions()
            self.games.choose(actions)
            return actions

    def rollout(self, plies: int) -> int:
        """Play uniformly random legal moves in every game, without outputs in between.

        Finished games restart in the same ply, whatever the mode. The moves are those that
        `random_actions` would choose.

        Args:
            plies: the number of moves in each game.

        Returns:
            The number of games that ended; games that were over before are not counted again.

        Raises:
            OptionError: `plies` is not a whole number of at least 0.
        """
        with Call(self.games.guard, "rollout"):
            ended: int = self.games.rollout(whole_number(plies, "plies", 0, MOST_PLIES))
            self.games.resume(self._next_outputs())
            self.changes += 1
            return ended

    # ---- states ----

    def get_state(self) -> tuple[np.ndarray, np.ndarray]:
        """Copies of the states of all games and of the sources of their randomness, `(n,)` each.

        Rows may be selected, repeated and concatenated, in the same way in both arrays: each row
        carries a checksum that `set_state` verifies.
        """
        with Call(self.games.guard, "get_state", looks=True):
            return self.games.save()

    def set_state(self, state: tuple[np.ndarray, np.ndarray]) -> tuple[Arrays, dict[str, Any]]:
        """Return to what `get_state` gave, here or in another environment of the same kind.

        Returns:
            Observations and infos, as from `reset`.

        Raises:
            OptionError: this is not such a pair, it comes from another game, action space or number
                of games, a row was changed after `get_state`, or it was played under other options
                than the environment's own and the last 64 that `reset` was given (unless they
                concern only the start); no game has changed.
        """
        with Call(self.games.guard, "set_state", begins=True):
            if not isinstance(state, tuple | list) or len(state) != 2:
                raise OptionError(
                    f"state: {type(state).__name__} given; must be the pair that get_state() "
                    "returned"
                )
            outputs = self._next_outputs()
            self.games.set_state(*state, outputs)
            self.changes += 1
            return self._observations(outputs), self._infos(outputs)

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the buffers of outputs, which the next call fills.

        The games are copied here, because they are written out after this call.
        """
        with Call(self.games.guard, "copy", begins=True, looks=True):
            return {**self.__dict__, "_outputs": None, "games": self.games.__getstate__()}

    def __setstate__(self, saved: dict[str, Any]) -> None:
        self.__dict__.update(saved)
        self.games = Batch.__new__(Batch)
        self.games.__setstate__(saved["games"])
        self._outputs, self._returned = self.games.new_outputs(), False

    def close_extras(self, **kwargs: Any) -> None:
        """End the threads."""
        if hasattr(self, "games"):  # Gymnasium 1.1 also closes what could not be constructed
            self.games.close()
