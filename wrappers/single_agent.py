"""One seat of a game as a Gymnasium environment; the other seat is played inside."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded

from azumaya.envs.adapters.aec.raw_env import AGENTS, MASK_IN_INFO, RawEnv
from azumaya.envs.adapters.duel.opponents import (
    MAX_EPISODES,
    Opponent,
    agent_of,
    ask,
    check_seat,
    never_acts,
)
from azumaya.envs.errors import IllegalActionError
from azumaya.envs.game import Game
from azumaya.envs.position import Position, check_seed
from azumaya.envs.registry import game_of

_BROKEN, _OVER = "the last call failed or was interrupted", "the episode is over"


class SingleAgentEnv(gymnasium.Env[Any, int]):
    """A game as one player sees it.

    Args:
        game: the game or its name, like `sudoku_moyo`.
        opponent: plays the other seat: `"random"`, `"greedy"` or an agent, which is an object with
            a method `act(positions, keys)`; None plays at random.
        seat: the learner's seat: 0, 1, `"random"` or `"alternating"` (0 in the first episode).
        render_mode: `"human"`, `"rgb_array"`, `"ansi"` or None.
        action_mask: where the mask is: in `"info"` alone, or in the `"observation"`, too.
        **options: the game's options.

    Action space: `Discrete(num_actions)`. `action_masks()` and `info["action_mask"]` say what is
    legal; an illegal action ends the game as lost, with reward -1 and `info["illegal"]`.

    Observation space: the planes of the learner, `(C, rows, columns)` int8, always in a position
    where the learner is to move or the game is over. With `action_mask="observation"` a dict of
    `observation`, the planes, and `action_mask`, `(num_actions,)` int8.

    Rewards: what the learner gains between its own action and the next one, so a game lost by
    the opponent's move shows its -1.

    Infos: `action_mask`, `(num_actions,)` int8, 1 = legal, and `seat`, the learner's.

    Reset options: those of the game, for one episode.

    Raises:
        OptionError: an argument or option has a value it cannot take.
        gymnasium.error.ResetNeeded: `step` before the first `reset`, or after the end.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - as Gymnasium declares it
        "render_modes": ["human", "rgb_array", "ansi"],
        "render_fps": 2,
    }

    def __init__(
        self,
        game: Game | str,
        opponent: Opponent | str | None = None,
        seat: int | str = "alternating",
        render_mode: str | None = None,
        action_mask: str = MASK_IN_INFO,
        **options: Any,
    ) -> None:
        self.seat = check_seat(seat)
        self.opponent = agent_of(opponent)
        found = game_of(game)
        self.env = RawEnv(found, render_mode=render_mode, action_mask=action_mask, **options)
        self.render_mode = render_mode
        self.learner = 0
        self._episodes = 0
        self._why_reset: str | None = "no episode has begun"
        self.observation_space = self.env.observation_spaces[AGENTS[0]]
        self.action_space = self.env.action_spaces[AGENTS[0]]  # type: ignore[assignment]

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode; the opponent moves first where that is its turn.

        Raises:
            OptionError: the seed or an option has a value it cannot take, or the learner never
                gets to act.
            PositionError: the position text is malformed, impossible or over.
            IllegalActionError: the opponent's move is illegal.
        """
        seed = None if seed is None else check_seed(seed)
        setup = self.env.setup_with(options)  # nothing has changed if this is refused
        super().reset(seed=seed)
        for _ in range(MAX_EPISODES):
            self._why_reset = _BROKEN
            self.env.begin(setup, int(self.np_random.integers(2**63)))
            self._episodes = 0 if seed is not None else self._episodes
            seed = None
            self.learner = self._next_seat()
            self._episodes += 1
            self._let_opponent_move()
            if not self._over():  # else it won before the learner's first move: on to the next
                self._why_reset = None
                return self._observation(), self._info()
        raise never_acts()

    def _next_seat(self) -> int:
        if self.seat == "random":
            return int(self.np_random.integers(2))
        return self._episodes % 2 if self.seat == "alternating" else int(self.seat)

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Make the learner's move, then the opponent's until the learner is to move again.

        Raises:
            ResetNeeded: no episode is in play.
            IllegalActionError: the opponent's move is illegal.
        """
        if self._why_reset:
            raise ResetNeeded(f"step: {self._why_reset}; reset must be called first")
        before, self._why_reset = self._gained(), _BROKEN
        try:
            self.env.step(action)
        except IllegalActionError as error:
            self._why_reset = _OVER
            info = {**self._info(), "illegal": str(error)}
            return self._observation(), -1.0, True, False, info
        self._let_opponent_move()
        self._why_reset = _OVER if self._over() else None
        agent = AGENTS[self.learner]
        return (
            self._observation(),
            float(self._gained() - before),
            self.env.terminations[agent],
            self.env.truncations[agent],
            self._info(),
        )

    def _let_opponent_move(self) -> None:
        while not self._over() and self.env.agent_selection != AGENTS[self.learner]:
            key = int(self.np_random.integers(2**63))
            position = self.env.position.resample_hidden(key)
            (action,) = ask(self.opponent, [position], [key], "opponent")
            try:
                self.env.step(action)
            except IllegalActionError as error:
                raise IllegalActionError(f"opponent's {error}") from None

    def _over(self) -> bool:
        return any(self.env.terminations.values()) or any(self.env.truncations.values())

    def _gained(self) -> int:
        return self.env.position.returns()[self.learner]

    def _observation(self) -> Any:
        return self.env.observe(AGENTS[self.learner])

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self._mask().copy(), "seat": self.learner}

    def _mask(self) -> np.ndarray:
        if not self.env.agents:
            raise ResetNeeded("action_masks: reset must be called first")
        mask: np.ndarray = self.env.infos[AGENTS[self.learner]]["action_mask"]
        return mask

    def action_masks(self) -> np.ndarray:
        """The learner's legal actions, `(num_actions,)` bool, as MaskablePPO asks for them."""
        return self._mask().astype(bool)

    @property
    def position(self) -> Position:
        """The position now."""
        return self.env.position

    def render(self) -> Any:
        """Draw the position in the environment's render mode."""
        return self.env.render()

    def close(self) -> None:
        """Close the window, if there is one."""
        self.env.close()
