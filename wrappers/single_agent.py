"""One seat of a game as a Gymnasium environment, with an opponent in the other seat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from gymnasium import spaces

from azumaya.envs.adapters.aec.moments import AGENTS, EnvState
from azumaya.envs.adapters.aec.raw_env import MASK_IN_INFO, RENDER_MODES, RawEnv
from azumaya.envs.adapters.copying import CopiedDeeply
from azumaya.envs.adapters.duel.opponents import (
    MAX_EPISODES,
    NAMED,
    WHOLE,
    check_seat,
    checked_answer,
    is_agent,
    limits_of,
    never_acts,
    weighted,
)
from azumaya.envs.engine.checks import ILLEGAL_REWARD, copy_actions
from azumaya.envs.engine.guard import needs_reset
from azumaya.envs.errors import IllegalActionError, OptionError, brief, told
from azumaya.envs.game import Game
from azumaya.envs.position import Position, check_seed
from azumaya.envs.registry import find_game
from azumaya.envs.setup import check_names
from azumaya.envs.whole import whole_number

_BROKEN, _OVER = "the last call failed or was interrupted", "the episode is over"
_KEPT = ("learner", "episodes", "_paid", "_why_reset", "_playing", "_replies")


class SingleState(NamedTuple):
    """A snapshot, see `SingleAgentEnv.get_state`: of the game, of this episode, of random draws."""

    game: EnvState
    episode: Mapping[str, Any]
    generator: Mapping[str, Any]


class SingleAgentEnv(CopiedDeeply, gymnasium.Env[Any, int | np.integer[Any]]):
    """A game from one player's side, against a built-in opponent.

    Args:
        game: the game or its name, like `sudoku_moyo`.
        opponent: plays the other seat: `"random"` (the same as None), `"greedy"`, another name that
            `find_agent` knows, like `"uct:100"`; an agent, which is an object with a method
            `act(positions, keys)`; a policy, which is called with observations
            `(1, C, rows, columns)` and masks `(1, A)`, both int8, and returns actions `(1,)`; or
            several of these with weights, as pairs or a mapping, of which one is drawn for each
            episode.
        seat: the learner's seat: 0, 1, `"random"` or `"alternating"` (0 in the first episode).
        render_mode: `"human"`, `"rgb_array"`, `"ansi"` or None.
        action_mask: where masks appear: in `"info"` only, or also in the `"observation"`.
        **options: the game's options.

    Action space: `Discrete(num_actions)`. `action_masks()` and `info["action_mask"]` tell which
    actions are legal. Any other whole number is illegal and loses the game: it ends with reward -1
    and `info["illegal"]`, the reason.

    Observation space: the planes from the learner's side, `(C, rows, columns)` int8, always of a
    position where the learner is to move or the game is over. With `action_mask="observation"`, a
    dict of `observation`, the planes, and `action_mask`, `(num_actions,)` int8.

    Rewards: what the learner gains between its action and its next turn, so a game lost by the
    opponent's move gives -1. The first reward includes what the opponent's moves before it gave,
    so an episode's rewards add up to what the learner gained in it. If the limit of a game gives
    a result, as Abalone's tiebreak does, the episode is truncated with that reward, and algorithms
    that add the value of the last position must not do so then.

    Infos: `action_mask`, `(num_actions,)` int8, 1 = legal; `seat`, the learner's seat; and
    `opponent_moves`, the names of the moves that the opponent has made since the learner's last
    one, or since the episode began. It is one text, with spaces between the names, because
    libraries that stack infos need values of one shape.

    `opponent` and `seat` can be set; they then hold from the next episode on.

    Reset options: the game's options, for one episode.

    Raises:
        OptionError: an argument or option has an invalid value.
        PositionError: no episode can start from `position`.
        gymnasium.error.ResetNeeded: `step` before the first `reset` or after the episode ended, or
            `action_masks` before the first `reset`.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - as Gymnasium declares it
        "render_modes": list(RENDER_MODES),
        "render_fps": 2,
    }
    action_space: spaces.Discrete

    def __init__(
        self,
        game: Game | str,
        opponent: Any = None,
        seat: int | str = "alternating",
        render_mode: str | None = None,
        action_mask: str = MASK_IN_INFO,
        **options: Any,
    ) -> None:
        self.seat = seat
        self.opponent = opponent
        found = find_game(game)
        check_names(found, options, SingleAgentEnv.__init__)
        self.env = RawEnv(found, render_mode=render_mode, action_mask=action_mask, **options)
        self._playing: Any = None
        self._replies: list[str] = []
        self.learner = 0
        self.episodes = 0
        self._paid = 0  # what the learner had when the episode began, and rewards since then
        self._why_reset: str | None = "no episode has begun"
        self.observation_space = self.env.observation_spaces[AGENTS[0]]
        self.action_space = self.env.action_spaces[AGENTS[0]]

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode; if it is the opponent's turn, the opponent moves first.

        Raises:
            OptionError: the seed or an option has an invalid value, or the learner would never get
                to act.
            PositionError: no episode can start from `position`.
            IllegalActionError: the opponent's move is illegal.
        """
        seed = None if seed is None else check_seed(seed)
        setup = self.env.setup_with(options)  # first: if options are invalid, nothing changes
        super().reset(seed=seed)
        for _ in range(MAX_EPISODES):
            self._why_reset = _BROKEN
            self.env.begin(setup, int(self.np_random.integers(2**63)))
            self.episodes = 0 if seed is not None else self.episodes
            seed = None
            self.learner = self._next_seat()
            self._playing = self._next_opponent()
            self.episodes += 1
            self._paid = self._gained()
            self._replies = []
            self._let_opponent_move()
            if not self._over():  # otherwise the opponent has already ended the game
                self._why_reset = None
                return self._observation(), self._info()
        raise never_acts()

    def _next_seat(self) -> int:
        if self.seat == "random":
            return int(self.np_random.integers(2))
        return self.episodes % 2 if self.seat == "alternating" else int(self.seat)

    def _next_opponent(self) -> Any:
        if len(self._players) == 1:  # without a draw, so that seeds mean what they always did
            return self._players[0]
        drawn = self.np_random.integers(WHOLE)
        return self._players[int(np.searchsorted(self._limits, drawn, side="right"))]

    def step(self, action: int | np.integer[Any]) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Play the learner's action, then the opponent's moves until the learner's next turn.

        Raises:
            ResetNeeded: no episode is in progress.
            IllegalActionError: the action is not a whole number, and nothing has changed; or the
                opponent's move is illegal.
        """
        if self._why_reset:
            raise needs_reset("step", f"{self._why_reset}; ")
        whole_number(action, "action", error=IllegalActionError)
        self._why_reset, self._replies = _BROKEN, []
        try:
            self.env.step(action)
        except IllegalActionError as error:
            self._why_reset = _OVER
            self.env.lose()
            info = {**self._info(), "illegal": str(error)}
            return self._observation(), ILLEGAL_REWARD, True, False, info
        self._let_opponent_move()
        self._why_reset = _OVER if self._over() else None
        agent, before, self._paid = AGENTS[self.learner], self._paid, self._gained()
        return (
            self._observation(),
            float(self._paid - before),
            self.env.terminations[agent],
            self.env.truncations[agent],
            self._info(),
        )

    def _let_opponent_move(self) -> None:
        while not self._over() and self.env.agent_selection != AGENTS[self.learner]:
            position = self.env.position
            action = self._asked(position)
            try:
                self.env.step(action)
            except IllegalActionError as error:
                raise IllegalActionError(f"opponent's {error}") from None
            self._replies.append(position.move_name(int(action)))

    def _asked(self, position: Position) -> Any:
        """The opponent's action, which is not checked."""
        key = int(self.np_random.integers(2**63))
        if is_agent(self._playing):
            answer = self._playing.act([position.resample_hidden(key)], [key])
            return checked_answer(answer, 1, "opponent")[0]
        planes, mask = position.observation(position.to_move), position.action_mask()
        given = np.empty(1, np.int64)
        copy_actions(self._playing(planes[None], mask[None]), given, "opponent's ")
        return int(given[0])

    def _over(self) -> bool:
        return any(self.env.terminations.values()) or any(self.env.truncations.values())

    def _gained(self) -> int:
        payoff = self.env.games.payoff
        return -payoff if self.learner else payoff

    def _observation(self) -> Any:
        return self.env.observe(AGENTS[self.learner])

    def _info(self) -> dict[str, Any]:
        return {
            "action_mask": self._mask().copy(),
            "seat": self.learner,
            "opponent_moves": " ".join(self._replies),
        }

    def _mask(self) -> np.ndarray:
        if not self.env.agents:
            raise needs_reset("action_masks")
        mask: np.ndarray = self.env.infos[AGENTS[self.learner]]["action_mask"]
        return mask

    def action_masks(self) -> np.ndarray:
        """The learner's legal actions, `(num_actions,)` bool, as MaskablePPO expects them."""
        return self._mask().astype(bool)

    # ---- who plays ----

    @property
    def opponent(self) -> Any:
        """The opponents, as given."""
        return self._opponent

    @opponent.setter
    def opponent(self, opponent: Any) -> None:
        pairs = weighted(opponent)
        self._limits = limits_of(pairs)
        self._players = [NAMED[p].agent() if isinstance(p, str) else p for p, _ in pairs]
        self._opponent = opponent

    @property
    def seat(self) -> int | str:
        """The learner's seat: 0, 1, `"random"` or `"alternating"`."""
        return self._seat

    @seat.setter
    def seat(self, seat: int | str) -> None:
        self._seat = check_seat(seat)

    # ---- search ----

    def get_state(self) -> SingleState:
        """A snapshot to return to with `set_state`: the game, its opponent and random draws.

        It can be pickled if the opponent can.

        Raises:
            ResetNeeded: no episode has begun, or the last call failed.
        """
        if not self.env.agents or self._why_reset == _BROKEN:
            raise needs_reset("get_state", f"{self._why_reset}; ")
        episode = {name: getattr(self, name) for name in _KEPT}
        return SingleState(self.env.get_state(), episode, self.np_random.bit_generator.state)

    def set_state(self, state: SingleState) -> tuple[Any, dict[str, Any]]:
        """Return to a snapshot of this environment, or of another one for the same game.

        The episode goes on against the opponent it had; the next ones are against those of this
        environment.

        Returns:
            Observation and info, as from `reset`.

        Raises:
            OptionError: this is not such a snapshot; nothing has changed.
        """
        if not isinstance(state, SingleState):
            raise OptionError(f"state={brief(state)}: must be what get_state() returned")
        try:
            kept = {name: state.episode[name] for name in _KEPT}
            type(self.np_random.bit_generator)(0).state = state.generator
        except (LookupError, TypeError, ValueError) as error:
            raise OptionError(f"state: not what get_state() returned here: {told(error)}") from None
        self.env.set_state(state.game)
        self.np_random.bit_generator.state = state.generator
        self.__dict__.update(kept, _replies=[*kept["_replies"]])
        return self._observation(), self._info()

    # ---- the position ----

    @property
    def position(self) -> Position:
        """The current position."""
        return self.env.position

    @property
    def render_mode(self) -> str | None:  # type: ignore[override]
        """How `render` draws."""
        return self.env.render_mode

    @render_mode.setter
    def render_mode(self, mode: str | None) -> None:
        self.env.render_mode = mode

    def render(self) -> Any:
        """Draw the position in the environment's render mode."""
        return self.env.render()

    def close(self) -> None:
        """Close the window, if there is one."""
        self.env.close()
