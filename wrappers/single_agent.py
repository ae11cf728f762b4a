"""One seat of a game as a Gymnasium environment; the other seat is played inside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import gymnasium
import numpy as np
from gymnasium import spaces

from azumaya.envs.adapters.aec import AGENTS, RawEnv
from azumaya.envs.adapters.lookahead import choose_random
from azumaya.envs.errors import IllegalActionError, OptionError
from azumaya.envs.position import Position
from azumaya.envs.registry import find_game

SEATS = (0, 1, "random", "alternating")


class Opponent(Protocol):
    """What plays the other seat: any agent of `azumaya.baselines.agents`, or your own."""

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> list[int]:
        """An action for each position; chance comes from the keys."""


class UniformOpponent:
    """Plays a legal action at random."""

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> list[int]:
        """A legal action for each position, each as likely as the others."""
        return [
            int(choose_random(words, len(words), np.uint64(key), 0))
            for words, key in zip((p.legal_words() for p in positions), keys, strict=True)
        ]


class SingleAgentEnv(gymnasium.Env[np.ndarray, int]):
    """A game as one player sees it.

    Args:
        game: the game's name, like `sudoku_moyo`.
        opponent: plays the other seat; None plays at random.
        seat: the learner's seat: 0, 1, `"random"` or `"alternating"` (0 in the first episode).
        render_mode: `"human"`, `"rgb_array"`, `"ansi"` or None.
        **options: the game's options.

    Action space: `Discrete(num_actions)`. `action_masks()` and `info["action_mask"]` say what is
    legal; an illegal action ends the game as lost, with reward -1 and `info["illegal"]`.

    Observation space: the planes of the learner, `(C, rows, columns)` int8, always in a position
    where the learner is to move or the game is over.

    Rewards: what the learner gains between its own action and the next one, so a game lost by
    the opponent's move shows its -1.

    Reset options: those of the game, for one episode.

    Raises:
        OptionError: an argument or option has a value it cannot take.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - as Gymnasium declares it
        "render_modes": ["human", "rgb_array", "ansi"],
        "render_fps": 2,
    }

    def __init__(
        self,
        game: str,
        opponent: Opponent | None = None,
        seat: int | str = "alternating",
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        if seat not in SEATS or isinstance(seat, bool):
            raise OptionError(f"seat={seat!r}: must be one of {SEATS}")
        self.env = RawEnv(find_game(game), render_mode=render_mode, **options)
        self.render_mode = render_mode
        self.opponent = UniformOpponent() if opponent is None else opponent
        self.seat = seat
        self.learner = 0
        self._episodes = 0
        space = self.env.observation_spaces[AGENTS[0]]["observation"]
        assert isinstance(space, spaces.Box)
        self.observation_space = space
        self.action_space = self.env.action_spaces[AGENTS[0]]  # type: ignore[assignment]

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin an episode; the opponent moves first where that is its turn."""
        super().reset(seed=seed)
        if seed is not None:
            self._episodes = 0
        game_seed = int(self.np_random.integers(2**63))
        self.env.reset(seed=game_seed, options=options)
        self.learner = self._next_seat()
        self._episodes += 1
        self._let_opponent_move()
        if self._over():  # an opponent that wins before the learner's first move: try the next
            return self.reset(options=options)
        return self._observation(), self._info()

    def _next_seat(self) -> int:
        if self.seat == "random":
            return int(self.np_random.integers(2))
        return self._episodes % 2 if self.seat == "alternating" else int(self.seat)

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Make the learner's move, then the opponent's until the learner is to move again."""
        before = self._gained()
        try:
            self.env.step(action)
        except IllegalActionError as error:
            info = {**self._info(), "illegal": str(error)}
            return self._observation(), -1.0, True, False, info
        self._let_opponent_move()
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
            self.env.step(self.opponent.act([position], [key])[0])

    def _over(self) -> bool:
        return any(self.env.terminations.values()) or any(self.env.truncations.values())

    def _gained(self) -> int:
        return self.env.position.returns()[self.learner]

    def _observation(self) -> np.ndarray:
        return self.env.observe(AGENTS[self.learner])["observation"]

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self.action_masks().copy(), "seat": self.learner}

    def action_masks(self) -> np.ndarray:
        """The learner's legal actions, `(num_actions,)` bool, as MaskablePPO asks for them."""
        agent = AGENTS[self.learner]
        mask: np.ndarray = self.env.infos[agent]["action_mask"]
        return mask.astype(bool)

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
