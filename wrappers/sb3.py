"""Batches of games for Stable-Baselines3: `AzumayaVecEnv`.

SB3 does not accept Gymnasium's vector environments, and its tutorial's approach to two-player games
hides losses from the learner and shows it the opponent's observations. Here, one SB3 step consists
of the learner's action and all opponent moves until the learner's next turn or the end of the
game. A loss on the opponent's move therefore gives the learner's last action a reward of -1.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from inspect import signature
from typing import Any

import numpy as np
from gymnasium import spaces

from azumaya.envs.adapters.copying import CopiedDeeply
from azumaya.envs.adapters.duel.duel import Duel, Turn
from azumaya.envs.adapters.spaces import observation_box
from azumaya.envs.errors import IllegalActionError, OptionError, brief
from azumaya.envs.extras import require
from azumaya.envs.game import Game, one_of
from azumaya.envs.position import check_seed
from azumaya.envs.registry import find_game
from azumaya.envs.setup import check_names, option_names, prepare
from azumaya.envs.whole import as_whole

_VecEnv: Any = require("stable_baselines3.common.vec_env", "train").VecEnv

DTYPES = ("int8", "float32")
METHODS = ("action_masks", "position")


class AzumayaVecEnv(CopiedDeeply, _VecEnv):  # type: ignore[misc]
    """A Stable-Baselines3 vector environment of games against built-in opponents.

    Args:
        game: the game or its name.
        num_envs: the number of games.
        opponent: the other seat's player: `"random"` (the same as None), `"greedy"`, another name
            that `find_agent` knows, a frozen policy, an agent, or several of these with weights,
            as pairs or a mapping; one is drawn for each episode. A policy is called with
            observations `(n, C, rows, columns)` int8 and masks `(n, A)` int8 and returns actions
            `(n,)`. An agent is an object with a method `act(positions, keys)`, like
            `GreedyAgent()`, even if it is also callable; it is slower, because every position is
            passed as an object.
        seat: the learner's seat: 0, 1, `"alternating"` (between episodes) or `"random"`.
        illegal: whether an illegal action raises (`"raise"`) or loses the game with reward -1
            (`"lose"`, for algorithms without masks).
        shaping: the weight of shaping rewards, added to those of the rules: gains in the game's
            evaluation, in units of its spread over random play. 0: none.
        dtype: the dtype of observations, `"int8"` or `"float32"`.
        seed: as `seed()` before the first `reset()`.
        threads: the number of threads; None: one per core.
        **options: the game's options.

    Observation space: the planes, a `Box` `(C, rows, columns)`, from the learner's side. Masks come
    from `env_method("action_masks")`, which MaskablePPO calls, `(num_actions,)` int8 each.

    Raises:
        OptionError: an argument or option has an invalid value.
        PositionError: no episode can start from `position`.
        gymnasium.error.ResetNeeded: a call needs episodes in progress, but `reset` was never
            called, or a step against compiled opponents was interrupted.
        gymnasium.error.ClosedEnvironmentError: `reset`, `step` or `set_state` after `close`.
    """

    def __init__(
        self,
        game: Game | str,
        num_envs: int = 1,
        *,
        opponent: Any = "random",
        seat: int | str = "alternating",
        illegal: str = "raise",
        shaping: float = 0.0,
        dtype: str = "int8",
        seed: int | None = None,
        threads: int | None = 1,
        **options: Any,
    ) -> None:
        dtype = one_of("dtype", *DTYPES)(dtype)
        self.game = find_game(game)
        check_names(self.game, options, AzumayaVecEnv.__init__)
        setup = prepare(self.game, options)
        self._opponent = opponent
        self.duel = Duel(
            self.game, setup, num_envs, opponent=opponent, seat=seat, illegal=illegal,
            shaping=shaping, threads=threads,
        )  # fmt: skip
        self._dtype = np.dtype(dtype)
        self._own: list[dict[str, Any]] = [{} for _ in range(num_envs)]
        self._seed = None if seed is None else check_seed(seed)
        self._actions: Any = None
        box = observation_box(self.game, self._dtype)
        super().__init__(num_envs, box, spaces.Discrete(setup.num_actions))

    # ---- stepping ----

    def reset(self) -> np.ndarray:
        """Begin an episode in every game; returns the observations `(n, C, rows, columns)`.

        Raises:
            OptionError: `set_options` was called; options belong to the constructor.
        """
        if any(self._options):
            raise OptionError("options: give them to the constructor of AzumayaVecEnv")
        self.duel.reset(self._seed)
        self._seed = None
        self._reset_seeds()
        return self._observations(self.duel.planes)

    def step_async(self, actions: np.ndarray) -> None:
        """Store the learner's actions, `(n,)`, for `step_wait`; an array is copied."""
        self._actions = actions.copy() if isinstance(actions, np.ndarray) else actions

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Play the stored actions and the opponents' replies.

        Returns:
            Observations, rewards `(n,)` float32, dones `(n,)` bool and infos. Games that ended have
            restarted; their infos hold `terminal_observation`, the learner's last observation, and
            `TimeLimit.truncated`, whether a limit ended them without a result (a drawn tiebreak is
            none).

        Raises:
            IllegalActionError: an action is illegal, the learner's or the opponent's, or no actions
                are stored. As with any error from a policy or an agent, no game has changed.
        """
        actions, self._actions = self._actions, None
        if actions is None:
            raise IllegalActionError("step_wait: no actions are stored; call step_async first")
        return self.duel.step(actions, self._results)

    def _results(
        self, turn: Turn
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """What `step_wait` returns."""
        infos: list[dict[str, Any]] = [{"TimeLimit.truncated": False} for _ in turn.dones]
        for row, final, cut in zip(turn.ended, turn.finals, turn.truncated, strict=True):
            infos[row]["TimeLimit.truncated"] = bool(cut)
            infos[row]["terminal_observation"] = self._observations(final)
        return self._observations(self.duel.planes), turn.rewards, turn.dones, infos

    def _observations(self, planes: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(planes, self._dtype)

    def action_masks(self) -> np.ndarray:
        """The masks of all games, `(n, num_actions)` int8, 1 = legal."""
        self.duel.guard.check_playing("action_masks")
        return self.duel.masks.copy()

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Seed the next `reset()`: game `i` is environment number `i` of the seed.

        Raises:
            OptionError: the seed is not a whole number from 0 to 2**64 - 1.
        """
        self._seed = secrets.randbits(32) if seed is None else check_seed(seed)
        return [self._seed] * self.num_envs

    def get_state(self) -> dict[str, Any]:
        """Everything that the games in progress depend on, by name.

        `states`, `series` and `seats`, `(n,)` each, are copies. `opponents` has the policies and
        agents that play these games, themselves, by their numbers in `seats`; with `"random"` and
        `"greedy"` alone it is empty. So a state can be pickled if they can.

        Raises:
            ResetNeeded: no episodes are in progress.
        """
        return self.duel.get_state()

    def set_state(self, state: Mapping[str, Any]) -> np.ndarray:
        """Return to what `get_state` gave, here or in another environment with the same arguments.

        The games go on against their own opponents, which are part of the state; the next episodes
        are against those of this environment.

        Returns:
            The observations `(n, C, rows, columns)`, as from `reset`.

        Raises:
            OptionError: this is not the state of such an environment, or it lacks an opponent;
                nothing has changed.
            ClosedEnvironmentError: `close` was called.
        """
        self.duel.set_state(state)
        self._seed = None
        return self._observations(self.duel.planes)

    def set_opponent(self, opponent: Any) -> None:
        """Change the opponents, starting with each game's next episode.

        Raises:
            OptionError: this is no opponent, see the class; nothing has changed.
        """
        self.duel.set_opponent(opponent)
        self._opponent = opponent

    opponent = property(
        lambda self: self._opponent, set_opponent, doc="The opponents as given; see `set_opponent`."
    )

    def close(self) -> None:
        """End the threads."""
        self.duel.close()

    # ---- what SB3 asks of single environments ----

    def env_method(
        self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any
    ) -> list[Any]:
        """`action_masks`, or `position`: a game's position as an independent object.

        Raises:
            AttributeError: there is no such method.
            OptionError: `indices` are not games of this environment.
            ResetNeeded: no episodes are in progress.
        """
        if method_name in METHODS:
            self.duel.guard.check_playing(method_name)
        rows = self._rows(indices)
        if method_name == "action_masks":
            masks = self.action_masks()
            return list(masks) if indices is None else [masks[i] for i in rows]
        if method_name == "position":
            return [self.duel.position(i) for i in rows]
        raise AttributeError(f"env_method: {method_name!r} is not one of {', '.join(METHODS)}")

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """The values from `set_attr`, or an attribute that all games share.

        Raises:
            AttributeError: there is no such attribute.
            OptionError: `indices` are not games of this environment.
        """
        return [self._attribute(attr_name, row) for row in self._rows(indices)]

    def _attribute(self, name: str, row: int) -> Any:
        if name in self._own[row]:
            return self._own[row][name]
        if name in METHODS:
            return lambda: self.env_method(name, indices=[row])[0]
        if name == "render_mode":  # the base class reads it before it is set
            return None
        return getattr(self, name)

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Change the `opponent` of all games, or store a value under a name of your own.

        Raises:
            OptionError: `indices` are not games of this environment, or not all of them for the
                opponent, or `value` is no opponent; or the name belongs to the environment, like
                its other arguments and the game's options. Nothing has changed.
        """
        rows = self._rows(indices)
        if attr_name == "opponent":
            if len(set(rows)) < self.num_envs:
                raise OptionError("indices: all games have the same opponents; leave indices out")
            self.set_opponent(value)
            return
        arguments = signature(AzumayaVecEnv.__init__).parameters
        if hasattr(self, attr_name) or attr_name in {*arguments, *option_names(self.game)}:
            raise OptionError(
                f"attr_name={attr_name!r}: only the opponent can be changed; make another "
                "AzumayaVecEnv, or give a value of your own another name"
            )
        for row in rows:
            self._own[row][attr_name] = value

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """Always False: no game is wrapped."""
        return [False for _ in self._rows(indices)]

    def get_images(self) -> Sequence[None]:
        """No images: there is no render mode."""
        return [None] * self.num_envs

    def _rows(self, indices: Any) -> list[int]:
        """The rows that `indices` selects; raises `OptionError`."""
        if indices is None:
            return list(range(self.num_envs))
        try:
            given = [indices] if np.ndim(indices) == 0 else list(indices)
        except ValueError:  # rows of different lengths
            given = [indices]
        rows = [row for each in given if (row := as_whole(each)) is not None]
        if len(rows) < len(given) or not all(0 <= row < self.num_envs for row in rows):
            raise OptionError(
                f"indices={brief(indices)}: must be whole numbers from 0 to {self.num_envs - 1}, "
                "or None for all games"
            )
        return rows
