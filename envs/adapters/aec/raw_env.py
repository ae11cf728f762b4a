"""Every game as a PettingZoo AEC environment."""

from __future__ import annotations

import secrets
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from pettingzoo import AECEnv

from azumaya.envs.adapters.aec.single import SingleGame
from azumaya.envs.errors import IllegalActionError, OptionError, brief
from azumaya.envs.game import TERMINATED, TRUNCATED, Game, Plane
from azumaya.envs.position import MAX_SEED, Position, check_seed, episode_key
from azumaya.envs.setup import Setup, check_options, option_names, override, prepare

AGENTS = ("player_0", "player_1")
RENDER_MODES = ("human", "rgb_array", "ansi")
MASK_PLACES = MASK_IN_OBSERVATION, MASK_IN_INFO = "observation", "info"
"""Where action masks may be."""
_SEATS = {agent: player for player, agent in enumerate(AGENTS)}


class NoPositionError(ResetNeeded, AttributeError):
    """There is no position before the first `reset`; an `AttributeError`, as `hasattr` needs it."""


@dataclass(frozen=True)
class EnvState:
    """A moment of an environment, for search: see `RawEnv.get_state`."""

    states: np.ndarray
    start: np.ndarray
    setup: Setup
    seed: int | None
    episode: int
    last_action: int | None
    selection: str
    skip_selection: str | None
    agents: tuple[str, ...]
    terminations: Mapping[str, bool]
    truncations: Mapping[str, bool]
    rewards: Mapping[str, float]
    cumulative_rewards: Mapping[str, float]
    checksum: int


class RawEnv(AECEnv[str, Any, int]):
    """A game as a PettingZoo AEC environment, without wrappers.

    Args:
        game: the game.
        render_mode: `"human"` (a window), `"rgb_array"`, `"ansi"` or None.
        action_mask: where the mask is: in the `"observation"` and in `infos`, or in `"info"` alone.
        **options: the game's options; `position="..."` starts every episode from a text.

    Observation space: a dict of `observation`, `(C, rows, columns)` int8, whose planes are
    `observation_planes`, and `action_mask`, `(num_actions,)` int8, 1 = legal; with
    `action_mask="info"` the planes alone. The observation is seen from the agent who observes; the
    mask of an agent who is not to act is all 0.

    Rewards are zero-sum: what the last step gave to both.

    Raises:
        OptionError: an option is unknown or has a value it cannot take.
        PositionError: the position text is malformed, impossible or over.
        gymnasium.error.ResetNeeded: an episode is needed, and none has begun.
    """

    metadata: dict[str, Any]

    def __init__(
        self,
        game: Game,
        render_mode: str | None = None,
        action_mask: str = MASK_IN_OBSERVATION,
        **options: Any,
    ) -> None:
        super().__init__()
        named = isinstance(render_mode, str) and render_mode in RENDER_MODES
        if render_mode is not None and not named:
            raise OptionError(
                f"render_mode={brief(render_mode)}: must be one of {RENDER_MODES} or None"
            )
        self.game, self.mask_place = game, check_mask_place(action_mask)
        self.metadata = {
            "name": f"{game.name}_v{game.version}",
            "render_modes": list(RENDER_MODES),
            "is_parallelizable": False,
            "render_fps": 2,
        }
        self.render_mode = render_mode
        self._made = prepare(game, options)
        self._setup = self._made
        self._make_spaces()
        self._seed: int | None = None
        self._episode = 0
        self._game_now = SingleGame(game, self._made.num_actions)
        self._start = game.new_states(1)
        self._renderer: Any = None
        self.show_candidates = False
        self.agents: list[str] = []
        self._broken_off = False
        self._masks: dict[str, np.ndarray] = {}

    def _make_spaces(self) -> None:
        game, actions = self.game, self._made.num_actions
        highs = np.array([plane.high for plane in game.observation.planes], np.int8)
        high = np.broadcast_to(highs[:, None, None], (len(highs), *game.observation.shape))
        low = np.zeros(high.shape, np.int8)
        self.possible_agents = list(AGENTS)

        def space() -> spaces.Space[Any]:
            planes = spaces.Box(low, high, dtype=np.int8)
            if self.mask_place != MASK_IN_OBSERVATION:
                return planes
            mask = spaces.Box(0, 1, (actions,), np.int8)
            return spaces.Dict({"observation": planes, "action_mask": mask})

        self.observation_spaces = {agent: space() for agent in AGENTS}
        self.action_spaces = {agent: spaces.Discrete(actions) for agent in AGENTS}
        self.state_space = spaces.Box(low, high, dtype=np.int8)

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The observation space of an agent; the same object at every call."""
        try:
            return self.observation_spaces[agent]
        except (KeyError, TypeError):
            raise _no_agent(agent) from None

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The action space of an agent; the same object at every call."""
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
        """The options the environment was made with, those at their default left out."""
        return dict(self._made.given)

    # ---- an episode ----

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin an episode.

        Args:
            seed: begins a new series of episodes; without it the series goes on. The same seed
                and options give the same series everywhere.
            options: options that differ for this episode, as the constructor takes them; unknown
                keys are ignored with a warning.

        Raises:
            OptionError: an option has a value it cannot take, or would change the action space.
            PositionError: the position text is malformed, impossible or over.
        """
        self.begin(self.setup_with(options), seed)

    def begin(self, setup: Setup, seed: int | None) -> None:
        """Begin an episode with checked options, as `reset` does; raises `OptionError`."""
        if seed is not None:
            series, episode = check_seed(seed), 0
        elif self._seed is None:
            series, episode = secrets.randbits(63), 0
        else:
            series, episode = self._seed, self._episode + 1
        self._break_off()
        self._seed, self._episode, self._setup = series, episode, setup
        key = episode_key(series, 0, episode)
        states = self._game_now.states
        self.game.rules.reset(states, 0, setup.starts, key)
        self._start[0] = states[0]
        self._game_now.look()
        self._last_action: int | None = None
        self.rewards = dict.fromkeys(AGENTS, 0.0)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0.0)
        self._skip_agent_selection: str | None = None
        self._follow_state(list(AGENTS))
        self._complete(list(AGENTS))
        if self.render_mode == "human":
            self.render()

    def setup_with(self, options: Mapping[str, Any] | None) -> Setup:
        """The options of one episode, checked as `reset` does and raising what it raises."""
        given = check_options(options)
        known = {name: value for name, value in given.items() if name in option_names(self.game)}
        for name in given.keys() - known.keys():
            warnings.warn(
                f"reset(options=...): {self.game.title} has no option {name!r}; it is ignored. "
                f"Options: {', '.join(option_names(self.game))}",
                stacklevel=4,
            )
        return override(self.game, self._made, known) if known else self._made

    def _break_off(self) -> None:
        """Require a reset, until the change that begins here is complete: Ctrl-C may stop it."""
        self._broken_off, self.agents = True, []

    def _complete(self, agents: list[str]) -> None:
        """Let the agents act."""
        self.agents, self._broken_off = agents, False  # Python handles no signal in between

    def _follow_state(self, agents: Sequence[str]) -> None:
        """Set what PettingZoo wants to see from the state of the game, but for `agents`."""
        now = self._game_now
        self.agent_selection = AGENTS[now.to_move]
        self.terminations = dict.fromkeys(agents, now.over == TERMINATED)
        self.truncations = dict.fromkeys(agents, now.over == TRUNCATED)
        self._masks = dict(zip(AGENTS, now.masks(), strict=True))
        self.infos = {agent: {"action_mask": self._masks[agent]} for agent in agents}

    def clear_masks(self) -> None:
        """Make no action legal, for a wrapper that ends the episode before the game is over."""
        nothing = np.zeros(self._made.num_actions, np.int8)
        self._masks = {agent: nothing.copy() for agent in AGENTS}
        self.infos = {agent: {"action_mask": self._masks[agent]} for agent in self.infos}

    def step(self, action: int | None) -> None:
        """Make a move of the agent to act; a dead agent's only action is None.

        Raises:
            IllegalActionError: the rules forbid the move, or it is none; nothing was changed.
            gymnasium.error.ResetNeeded: no episode has begun, all agents of the last are gone, or
                a call was interrupted.
        """
        if not self.agents:
            raise self._nobody("step")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        number = self._check(action)
        now = self._game_now
        before, agents = now.payoff, self.agents
        self._break_off()
        now.play(number)
        gain = int(now.payoff - before)
        self._last_action = number
        self.rewards = {AGENTS[0]: float(gain), AGENTS[1]: float(-gain)}
        self._cumulative_rewards[agent] = 0.0
        self._accumulate_rewards()
        self._follow_state(agents)
        self._complete(agents)
        if self.render_mode == "human":
            self.render()

    def _check(self, action: Any) -> int:
        now = self._game_now
        if type(action) is int and 0 <= action < now.num_actions and now.is_legal(action):
            return action
        position = self.position
        number = position.check_action(action)
        if not now.is_legal(number):
            raise IllegalActionError(position.explain(number))
        return number

    def observe(self, agent: str) -> dict[str, np.ndarray] | np.ndarray:
        """What an agent sees: the planes from its side, and its action mask unless in `infos` only.

        Raises:
            OptionError: there is no such agent.
        """
        if self._broken_off:
            raise self._nobody("observe")
        try:
            mask, player = self._masks[agent], _SEATS[agent]
        except (KeyError, TypeError):
            raise (self._nobody("observe") if self._seed is None else _no_agent(agent)) from None
        planes = self._game_now.planes(player)
        if self.mask_place != MASK_IN_OBSERVATION:
            return planes
        return {"observation": planes, "action_mask": mask}

    def last(
        self, observe: bool = True
    ) -> tuple[dict[str, np.ndarray] | np.ndarray | None, float, bool, bool, dict[str, Any]]:
        """What the agent to act sees, and how it stands, as PettingZoo has it."""
        if not self.agents:
            raise self._nobody("last")
        agent = self.agent_selection
        seen = self.observe(agent) if observe else None
        gained, ended, cut = self._cumulative_rewards, self.terminations, self.truncations
        return seen, gained[agent], ended[agent], cut[agent], self.infos[agent]

    def agent_iter(self, max_iter: int = 2**63) -> Any:
        """The agents to act, one after the other, until the episode is over."""
        if self._seed is None:
            raise self._nobody("agent_iter")
        return super().agent_iter(max_iter)

    def _nobody(self, name: str) -> ResetNeeded:
        """The error for a call that needs an agent where there is none."""
        why = "" if self._seed is None else "the episode is over and its agents are gone; "
        why = "the last call was interrupted; " if self._broken_off else why
        return ResetNeeded(f"{name}: {why}reset must be called first")

    def state(self) -> np.ndarray:
        """The whole position, as player_0 sees it: `(C, rows, columns)` int8."""
        if self._seed is None:
            raise self._nobody("state")
        return self._game_now.planes(0)

    # ---- words ----

    @property
    def position(self) -> Position:
        """The position now, as an object of its own; its `str()` is the position text."""
        if self._seed is None:
            raise NoPositionError("position: reset must be called first")
        return self._position()

    def _position(self) -> Position:
        """The position now; before the first reset a blank one, which knows the moves' names."""
        return Position.of_states(self.game, self._setup, self._game_now.states, self._start)

    def move_name(self, action: int) -> str:
        """The name of an action."""
        return self._position().move_name(action)

    def parse_move(self, name: str) -> int:
        """The action of a name; raises `MoveNameError`."""
        return self._position().parse_move(name)

    # ---- search ----

    def get_state(self) -> EnvState:
        """The moment now, to come back to with `set_state`, in constant time."""
        if self._seed is None or self._broken_off:
            raise self._nobody("get_state")
        return EnvState(
            states=self._game_now.states.copy(),
            start=self._start.copy(),
            setup=self._setup,
            seed=self._seed,
            episode=self._episode,
            last_action=self._last_action,
            selection=self.agent_selection,
            skip_selection=self._skip_agent_selection,
            agents=tuple(self.agents),
            terminations=dict(self.terminations),
            truncations=dict(self.truncations),
            rewards=dict(self.rewards),
            cumulative_rewards=dict(self._cumulative_rewards),
            checksum=self._game_now.checksum(self._game_now.states, self._start),
        )

    def set_state(self, moment: EnvState) -> None:
        """Go back to a moment of this environment, or of another of the same game.

        Raises:
            OptionError: it is none, comes from an environment with another state or action
                space, or was changed since; nothing was changed.
        """
        self._check_moment(moment)
        self._break_off()
        self._game_now.states[0] = moment.states[0]
        self._game_now.look()
        self._start[0] = moment.start[0]
        self._setup, self._seed, self._episode = moment.setup, moment.seed, moment.episode
        self._last_action = moment.last_action
        self.rewards = dict(moment.rewards)
        self._cumulative_rewards = dict(moment.cumulative_rewards)
        self._follow_state(moment.agents)
        self.terminations = dict(moment.terminations)
        self.truncations = dict(moment.truncations)
        self.agent_selection = moment.selection
        self._skip_agent_selection = moment.skip_selection
        if any(self.terminations.values()):  # perhaps by an illegal move, with the game not over
            self.clear_masks()
        self._complete(list(moment.agents))

    def _check_moment(self, moment: EnvState) -> None:
        """Refuse what `get_state` of such an environment did not give."""
        if not isinstance(moment, EnvState) or not self._are_states(moment.states, moment.start):
            raise OptionError(f"moment: what get_state() of {self.game.title} gave is needed")
        setup = moment.setup
        if not isinstance(setup, Setup) or setup.num_actions != self._made.num_actions:
            raise OptionError("moment: it comes from an environment with another action space")
        whole = (
            _is_whole(moment)
            and moment.checksum == self._game_now.checksum(moment.states, moment.start)
            and setup.starts.dtype == self.game.rules.state
            and (moment.last_action is None or 0 <= moment.last_action < setup.num_actions)
        )
        if not whole:
            raise OptionError("moment: it was changed after get_state() gave it")

    def _are_states(self, *states: Any) -> bool:
        kind = self.game.rules.state
        return all(
            isinstance(s, np.ndarray) and s.shape == (1,) and s.dtype == kind for s in states
        )

    def __getstate__(self) -> dict[str, Any]:
        """All but the window, which belongs to this process, with a checksum of the start."""
        start = self._game_now.checksum(self._start)
        return {**self.__dict__, "_renderer": None, "checksum": start}

    def __setstate__(self, saved: dict[str, Any]) -> None:
        saved = dict(saved)
        given, game = saved.pop("checksum", None), saved["_game_now"]
        if given != game.checksum(saved["_start"]):
            raise OptionError("start: it was changed after it was saved")
        self.__dict__.update(saved)

    # ---- display ----

    def render(self) -> np.ndarray | str | None:
        """Draw the position in the environment's render mode.

        Set `env.unwrapped.show_candidates = True` to see the candidates of the empty cells, too.

        Returns:
            `(height, width, 3)` uint8 for `rgb_array`, a text for `ansi`, None for `human`.
        """
        if self.render_mode is None:
            warnings.warn(
                "render() does nothing without a render_mode: make the environment with one of "
                f"{', '.join(RENDER_MODES)}",
                stacklevel=2,
            )
            return None
        scene = self.position.scene(last_action=self._last_action)
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


def check_mask_place(place: Any) -> str:
    """Where action masks are, checked; raises `OptionError`."""
    if not isinstance(place, str) or place not in MASK_PLACES:
        known = " or ".join(map(repr, MASK_PLACES))
        raise OptionError(f"action_mask={brief(place)}: must be {known}")
    return place


def _no_agent(agent: Any) -> OptionError:
    """The error for what is no agent."""
    return OptionError(f"agent={brief(agent)}: must be one of {', '.join(AGENTS)}")


def _is_whole(moment: EnvState) -> bool:
    """Whether the fields of a moment, besides its states, have their types and fit each other."""
    flags, gains = (moment.terminations, moment.truncations), (
        moment.rewards, moment.cumulative_rewards,
    )  # fmt: skip
    numbers, action = (moment.seed, moment.episode, moment.checksum), moment.last_action
    return (
        all(type(number) is int and 0 <= number <= MAX_SEED for number in numbers)
        and (action is None or type(action) is int)
        and _is_agent(moment.selection)
        and (moment.skip_selection is None or _is_agent(moment.skip_selection))
        and isinstance(moment.agents, tuple)
        and all(map(_is_agent, moment.agents))
        and all(_is_by_agent(named, moment.agents, bool) for named in flags)
        and all(_is_by_agent(named, moment.agents, int | float) for named in gains)
    )


def _is_agent(name: Any) -> bool:
    return isinstance(name, str) and name in AGENTS


def _is_by_agent(named: Any, agents: tuple[str, ...], kind: Any) -> bool:
    """Whether something has a value of a kind for each of the agents and for nobody unknown."""
    return (
        isinstance(named, Mapping)
        and set(agents) <= named.keys() <= set(AGENTS)
        and all(isinstance(value, kind) for value in named.values())
    )
