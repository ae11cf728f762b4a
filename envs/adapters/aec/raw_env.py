"""Every game as a PettingZoo AEC environment."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from pettingzoo import AECEnv

from azumaya.envs.adapters.aec.moments import AGENTS, EnvState, check_moment
from azumaya.envs.adapters.aec.single import SingleGame
from azumaya.envs.adapters.copying import CopiedDeeply
from azumaya.envs.adapters.spaces import observation_box
from azumaya.envs.engine.guard import needs_reset
from azumaya.envs.errors import IllegalActionError, OptionError, brief
from azumaya.envs.game import TERMINATED, TRUNCATED, Game, Plane, one_of
from azumaya.envs.position import Position, check_seed
from azumaya.envs.registry import find_game
from azumaya.envs.setup import Setup, check_names, check_options, known_options, override, prepare

RENDER_MODES = ("human", "rgb_array", "ansi")
MASK_PLACES = MASK_IN_OBSERVATION, MASK_IN_INFO = "observation", "info"
"""Valid values of the argument `action_mask`."""
_SEATS = {agent: player for player, agent in enumerate(AGENTS)}


class NoPositionError(ResetNeeded, AttributeError):
    """There is no position: `reset` was never called, or a call was interrupted.

    Also an `AttributeError`, for `hasattr`.
    """


class RawEnv(CopiedDeeply, AECEnv[str, Any, int]):
    """A game as a PettingZoo AEC environment, without wrappers.

    Args:
        game: the game or its name.
        render_mode: `"human"` (a window), `"rgb_array"`, `"ansi"` or None.
        action_mask: where masks appear: in the `"observation"` (and in `infos`), or in `"info"`
            only.
        **options: the game's options; `position="..."` starts every episode from a position text.

    Observation space: a dict of `observation`, `(C, rows, columns)` int8, whose planes are
    described by `observation_planes`, and `action_mask`, `(num_actions,)` int8, 1 = legal. With
    `action_mask="info"`, the planes alone. An observation shows the position from the observing
    agent's side. The mask of an agent who is not to act is all 0.

    Rewards are zero-sum. `rewards` holds what the last step gave to each agent.

    All arrays belong to the caller, and each call gives new ones. Those in `infos` are those that
    `last` gave, until the next step.

    Raises:
        OptionError: an option is unknown or has an invalid value.
        PositionError: the position text is malformed or impossible, or the game is over in it.
        gymnasium.error.ResetNeeded: a call needs an episode, and none has begun.
    """

    metadata: dict[str, Any]

    def __init__(
        self,
        game: Game | str,
        render_mode: str | None = None,
        action_mask: str = MASK_IN_OBSERVATION,
        **options: Any,
    ) -> None:
        super().__init__()
        game = find_game(game)
        self._renderer: Any = None
        self.render_mode = render_mode
        self.game, self.mask_place = game, one_of("action_mask", *MASK_PLACES)(action_mask)
        self.metadata = {
            "name": f"{game.name}_v{game.version}",
            "render_modes": list(RENDER_MODES),
            "is_parallelizable": False,
            "render_fps": 2,
        }
        check_names(game, options, RawEnv.__init__)
        self.setup = prepare(game, options)
        self._make_spaces()
        self.games = SingleGame(game, self.setup)
        self.last_action: int | None = None
        self.show_candidates = False
        self.agents: list[str] = []

    def _make_spaces(self) -> None:
        actions = self.setup.num_actions
        self.possible_agents = list(AGENTS)

        def space() -> spaces.Space[Any]:
            planes = observation_box(self.game)
            if self.mask_place != MASK_IN_OBSERVATION:
                return planes
            mask = spaces.Box(0, 1, (actions,), np.int8)
            return spaces.Dict({"observation": planes, "action_mask": mask})

        self.observation_spaces = {agent: space() for agent in AGENTS}
        self.action_spaces = {agent: spaces.Discrete(actions) for agent in AGENTS}
        self.state_space = observation_box(self.game)

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The observation space of an agent; every call returns the same object."""
        try:
            return self.observation_spaces[agent]
        except (KeyError, TypeError):
            raise _no_agent(agent) from None

    def action_space(self, agent: str) -> spaces.Discrete:
        """The action space of an agent; every call returns the same object."""
        try:
            return self.action_spaces[agent]
        except (KeyError, TypeError):
            raise _no_agent(agent) from None

    @property
    def observation_planes(self) -> tuple[Plane, ...]:
        """What each plane of the observation means."""
        return self.game.observation.planes

    @property
    def options(self) -> dict[str, Any]:
        """A copy of the options given to the constructor, except those that are None."""
        return self.setup.options

    # ---- an episode ----

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin an episode.

        Args:
            seed: starts a new series of episodes; without a seed, the current series continues. The
                same seed and options give the same series on every machine.
            options: options for this episode only, as in the constructor; unknown keys are ignored
                with a warning.

        Raises:
            OptionError: an option has an invalid value or would change the action space.
            PositionError: the position text is malformed or impossible, or the game is over in it.
        """
        self.begin(self.setup_with(options), seed)

    def begin(self, setup: Setup, seed: int | None) -> None:
        """Begin an episode with a validated setup, as `reset` does; raises `OptionError`."""
        seed = None if seed is None else check_seed(seed)
        self._begin_change()
        self.games.begin(seed, setups={} if setup is self.setup else {self.setup: setup})
        self.games.look()
        self.last_action = None
        self.rewards = dict.fromkeys(AGENTS, 0.0)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0.0)
        self._skip_agent_selection: str | None = None
        self._follow_state(list(AGENTS))
        self._complete(list(AGENTS))
        if self._render_mode == "human":
            self.render()

    def setup_with(self, options: Mapping[str, Any] | None) -> Setup:
        """Validate the options of one episode; raises the errors of `reset`."""
        known = known_options(self.game, check_options(options))
        return override(self.game, self.setup, known) if known else self.setup

    def _begin_change(self) -> None:
        """Ask for a reset until the change that begins here is complete: Ctrl-C may stop it."""
        self.games.guard.playing, self.agents = False, []

    def _complete(self, agents: list[str]) -> None:
        """Let the agents act again."""
        # Python handles no signal in between
        self.agents, self.games.guard.playing = agents, True

    def _follow_state(self, agents: Sequence[str]) -> None:
        """Update what PettingZoo defines besides `agents` from the state of the game."""
        now = self.games
        self.agent_selection = AGENTS[now.to_move]
        self.terminations = dict.fromkeys(agents, now.over == TERMINATED)
        self.truncations = dict.fromkeys(agents, now.over == TRUNCATED)
        self._show_masks(agents)

    def _show_masks(self, agents: Iterable[str]) -> None:
        masks = self.games.masks()
        self.infos = {agent: {"action_mask": masks[_SEATS[agent]]} for agent in agents}

    def lose(self) -> None:
        """Mark all actions as illegal, for wrappers that end the episode by an illegal action."""
        self.games.lose()
        self._show_masks(self.infos)

    def step(self, action: int | np.integer[Any] | None) -> None:
        """Play an action for the agent to act; once the game is over, the only action is None.

        Raises:
            IllegalActionError: the action is illegal, or not an action of the game; nothing has
                changed.
            gymnasium.error.ResetNeeded: no episode has begun, all agents of the last one are
                gone, or a call was interrupted.
        """
        if not self.agents:
            raise self._nobody("step")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        number = self._check(action)
        now = self.games
        before, agents = now.payoff, self.agents
        self._begin_change()
        now.play(number)
        gain = int(now.payoff - before)
        self.last_action = number
        self.rewards = {AGENTS[0]: float(gain), AGENTS[1]: float(-gain)}
        self._cumulative_rewards[agent] = 0.0
        self._accumulate_rewards()
        self._follow_state(agents)
        self._complete(agents)
        if self._render_mode == "human":
            self.render()

    def _check(self, action: Any) -> int:
        now = self.games
        if type(action) is int and 0 <= action < now.num_actions and now.is_legal(action):
            return action
        position = self.position
        number = position.check_action(action)
        if not now.is_legal(number):
            raise IllegalActionError(position.explain(number))
        return number

    def observe(self, agent: str) -> dict[str, np.ndarray] | np.ndarray:
        """An agent's observation: its planes, and its action mask unless masks are in `infos` only.

        Raises:
            OptionError: there is no such agent.
        """
        self.games.guard.check_playing("observe")
        try:
            player = _SEATS[agent]
        except (KeyError, TypeError):
            raise _no_agent(agent) from None
        now = self.games
        planes = now.planes(player)
        if self.mask_place != MASK_IN_OBSERVATION:
            return planes
        return {"observation": planes, "action_mask": now.mask(player).copy()}

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """The observation, reward, termination, truncation and info of the agent to act."""
        if not self.agents:
            raise self._nobody("last")
        agent = self.agent_selection
        seen = self.observe(agent) if observe else None
        gained, ended, cut = self._cumulative_rewards, self.terminations, self.truncations
        return seen, gained[agent], ended[agent], cut[agent], self._own_info(agent, seen)

    def _own_info(self, agent: str, seen: Any) -> dict[str, Any]:
        """An agent's info, with a new mask: that of the observation `seen`, if it has one."""
        info: dict[str, Any] = self.infos[agent]
        in_it = isinstance(seen, dict)
        mask = seen["action_mask"] if in_it else self.games.mask(_SEATS[agent]).copy()
        info["action_mask"] = mask
        return info

    def agent_iter(self, max_iter: int = 2**63) -> Iterable[str]:
        """Yield the agent to act, turn by turn, until the episode is over."""
        if not self.games.guard.begun:
            raise self._nobody("agent_iter")
        return super().agent_iter(max_iter)

    def _nobody(self, name: str) -> ResetNeeded:
        """The error for a call that needs an agent when there is none."""
        guard = self.games.guard
        if guard.playing:
            return needs_reset(name, "the episode is over and its agents are gone; ")
        return guard.needs_reset(name)

    def state(self) -> np.ndarray:
        """The whole position from player_0's side, `(C, rows, columns)` int8."""
        self.games.guard.check_playing("state")
        return self.games.planes(0)

    # ---- words ----

    @property
    def position(self) -> Position:
        """The current position, as an independent object; its `str()` is the position text."""
        if not self.games.guard.playing:
            raise NoPositionError(str(self._nobody("position")))
        return self.games.position(0)

    def move_name(self, action: int) -> str:
        """The name of an action; also before the first reset."""
        return self.games.position(0).move_name(action)

    def parse_move(self, name: str) -> int:
        """The action with this name, also before the first reset; raises `MoveNameError`."""
        return self.games.position(0).parse_move(name)

    # ---- search ----

    def get_state(self) -> EnvState:
        """A snapshot to return to with `set_state`; takes constant time."""
        self.games.guard.check_playing("get_state")
        states, series = self.games.save()
        return EnvState(
            states=states,
            series=series,
            setup=self.games.setup_of(0),
            last_action=self.last_action,
            selection=self.agent_selection,
            skip_selection=self._skip_agent_selection,
            agents=tuple(self.agents),
            terminations=dict(self.terminations),
            truncations=dict(self.truncations),
            rewards=dict(self.rewards),
            cumulative_rewards=dict(self._cumulative_rewards),
        ).sealed()

    def set_state(self, moment: EnvState) -> None:
        """Return to a snapshot of this environment, or of another one for the same game.

        Raises:
            OptionError: this is not a snapshot, it comes from an environment with another state or
                action space, or it was changed after `get_state`; the environment has not changed.
        """
        check_moment(moment, self.game.title)
        fitting = self.games.fitting(moment.states, moment.series, [moment.setup])
        self._begin_change()
        self.games.restore(fitting)
        self.games.look()
        self.last_action = moment.last_action
        self.rewards = dict(moment.rewards)
        self._cumulative_rewards = dict(moment.cumulative_rewards)
        self._follow_state(moment.agents)
        self.terminations = dict(moment.terminations)
        self.truncations = dict(moment.truncations)
        self.agent_selection = moment.selection
        self._skip_agent_selection = moment.skip_selection
        self._complete(list(moment.agents))

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the window, which belongs to this process."""
        return {**self.__dict__, "_renderer": None}

    # ---- display ----

    @property
    def render_mode(self) -> str | None:
        """`"human"`, `"rgb_array"`, `"ansi"` or None; it can be set, which closes the window."""
        return self._render_mode

    @render_mode.setter
    def render_mode(self, mode: str | None) -> None:
        self._render_mode = one_of("render_mode", *RENDER_MODES, None)(mode)
        self.close()

    def render(self) -> np.ndarray | str | None:
        """Draw the position in the environment's render mode.

        Set `env.unwrapped.show_candidates = True` to include the candidates of empty cells.

        Returns:
            `(height, width, 3)` uint8 for `rgb_array`, a string for `ansi`, None for `human`.
        """
        if self.render_mode is None:
            warnings.warn(
                "render() does nothing without a render_mode: make the environment with one of "
                f"{', '.join(RENDER_MODES)}",
                stacklevel=2,
            )
            return None
        scene = self.position.scene(last_action=self.last_action)
        if self._renderer is None:
            from azumaya.envs.render import Renderer  # noqa: PLC0415 - drawing is loaded when used

            self._renderer = Renderer(self.render_mode, fps=self.metadata["render_fps"])
        self._renderer.candidates = self.show_candidates
        return self._renderer.draw(scene)

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None


def _no_agent(agent: Any) -> OptionError:
    """The error for an unknown agent."""
    return OptionError(f"agent={brief(agent)}: must be one of {', '.join(AGENTS)}")
