"""`Position`: one position of a game as a convenient object, for study, search and display."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from azumaya.envs.errors import IllegalActionError, MoveNameError, OptionError, PositionError, brief
from azumaya.envs.game import RUNNING, TERMINATED, TRUNCATED, Game, state_kind
from azumaya.envs.kernels.bits import cells_of
from azumaya.envs.kernels.checksum import checksum
from azumaya.envs.kernels.rng import make_key
from azumaya.envs.observation import legal_mask, legal_words, planes_of
from azumaya.envs.registry import find_game
from azumaya.envs.scene import Scene
from azumaya.envs.setup import Setup, prepare
from azumaya.envs.whole import as_whole, whole_number

if TYPE_CHECKING:
    from azumaya.envs.render.widget import Board

MAX_SEED = 2**64 - 1


def check_seed(seed: Any, name: str = "seed") -> int:
    """A seed as an int from 0 to 2**64 - 1; raises `OptionError`, calling the argument `name`."""
    return whole_number(seed, name, 0, MAX_SEED)


def episode_key(seed: int, environment: int, episode: int) -> np.uint64:
    """The key from which all randomness of one episode comes (see `azumaya.envs.kernels.rng`)."""
    return np.uint64(make_key(np.uint64(seed), environment, episode))


class Position:
    """One position of a game: look at it, play in it, copy it.

    Args:
        game: the game or its name.
        seed: determines the start, as for the first episode of an environment with this seed.
        **options: the game's options; `position="..."` starts from a position text.

    Attributes:
        game: the game.
        setup: its prepared options.

    Example:
        >>> from azumaya.envs import Position
        >>> position = Position("sudoku_moyo", seed=1)
        >>> move = position.legal_moves()[0]
        >>> position.play(move).to_move
        1

    Raises:
        OptionError: an option or the seed has an invalid value.
        PositionError: no episode can start from `position`.
    """

    __slots__ = ("_start", "_states", "game", "setup")

    def __init__(self, game: Game | str, *, seed: int = 0, **options: Any) -> None:
        self.game = find_game(game)
        self.setup = prepare(self.game, options)
        self._states = self.game.new_states(1)
        self.game.rules.reset(
            self._states, 0, self.setup.starts, episode_key(check_seed(seed), 0, 0)
        )
        self._start = self._states.copy()

    @classmethod
    def from_text(cls, game: Game | str, text: str, **options: Any) -> Self:
        """The position that a text describes; unlike the start of an episode, it may be over.

        Raises:
            OptionError: an option is unknown or has an invalid value.
            PositionError: the text is malformed or impossible.
        """
        game = find_game(game)
        setup = prepare(game, options)
        return cls.of_states(game, setup, game.words.read_text(text, setup.settings))

    @classmethod
    def of_states(
        cls, game: Game, setup: Setup, states: np.ndarray, start: np.ndarray | None = None
    ) -> Self:
        """An independent position, from a state, `(1,)`, and the state its episode began with."""
        position = cls.__new__(cls)
        position.game, position.setup = game, setup
        position._states = states.copy()
        position._start = (states if start is None else start).copy()
        return position

    # ---- looking ----

    @property
    def to_move(self) -> int:
        """The player to move, 0 or 1; if the rules ended the game, the player who moved last."""
        return int(self._states["to_move"][0])

    @property
    def is_over(self) -> bool:
        """Whether the game has ended, by the rules or by a limit."""
        return bool(self._states["over"][0] != RUNNING)

    @property
    def is_terminated(self) -> bool:
        """Whether the game has ended by the rules."""
        return bool(self._states["over"][0] == TERMINATED)

    @property
    def is_truncated(self) -> bool:
        """Whether the game was cut off by a limit."""
        return bool(self._states["over"][0] == TRUNCATED)

    @property
    def num_actions(self) -> int:
        """The number of actions."""
        return self.setup.num_actions

    @property
    def options(self) -> dict[str, Any]:
        """A copy of the options the position was made with, except those that are None."""
        return self.setup.options

    def revealed(self, since: Position | None = None) -> dict[str, Any]:
        """Options that make a start draw the same chance outcomes as those revealed so far.

        Args:
            since: the start: an earlier position of the same episode; None: where it began.

        Raises:
            OptionError: `since` is not a position of this game.
        """
        if since is not None and not (
            isinstance(since, Position) and since.game.name == self.game.name
        ):
            raise OptionError(
                f"since={brief(since)}: must be an earlier position of this game of "
                f"{self.game.title}, or None"
            )
        start = None if since is None else since._states[0]
        return dict(self.game.words.revealed(self._states[0], start))

    @property
    def state(self) -> np.ndarray:
        """A copy of the state record, `(1,)`."""
        return self._states.copy()

    def returns(self) -> tuple[int, int]:
        """The sum of each player's rewards so far.

        In a position from a text this includes the points that the text says were scored before.
        """
        payoff = int(self._states["payoff"][0])
        return payoff, -payoff

    def action_mask(self) -> np.ndarray:
        """The action mask of the player to move, `(num_actions,)` int8; 1 means legal."""
        return legal_mask(self.game, self._states[0], self.num_actions)

    def legal_actions(self) -> list[int]:
        """The legal actions in ascending order; empty if the game is over."""
        return cells_of(self.legal_words())

    def legal_words(self) -> np.ndarray:
        """The legal actions as bits: action `a` is bit `a % 64` of word `a // 64`, uint64."""
        return legal_words(self.game, self._states[0], self.num_actions)

    def legal_moves(self) -> list[str]:
        """The names of the legal moves, in the order of their actions."""
        return [self.move_name(action) for action in self.legal_actions()]

    def observation(self, player: int) -> np.ndarray:
        """A player's observation, `(C, rows, columns)` int8; raises `OptionError`."""
        seat = as_whole(player)
        if seat not in (0, 1):
            raise OptionError(f"player={brief(player)}: must be 0 or 1")
        return planes_of(self.game, self._states[0], seat)

    def scene(self, last_action: int | None = None) -> Scene:
        """What the position looks like, as data; the cells of `last_action` are marked.

        Raises:
            IllegalActionError: `last_action` is not an action of the game.
        """
        settings = self.setup.settings
        scene = self.game.words.scene(self._states[0], self._start[0], settings)
        if last_action is None:
            return scene
        return replace(scene, last=scene.touched(self.action_cells(last_action)))

    def action_cells(self, action: int) -> tuple[int, ...]:
        """The cells that an action touches; none if it touches no cell, as when a turn is ended.

        Raises:
            IllegalActionError: this is not an action of the game.
        """
        return self.game.words.action_cells(self.check_action(action), self.setup.settings)

    def svg(self, *, candidates: bool = False, last_action: int | None = None) -> str:
        """The position as an SVG picture, optionally with the candidates of empty cells.

        Raises:
            IllegalActionError: `last_action` is not an action of the game.
        """
        from azumaya.envs.render import svg_of  # noqa: PLC0415 - drawing is loaded when used

        return svg_of(self.scene(last_action), candidates)

    def draw(
        self,
        *,
        candidates: bool = False,
        last_action: int | None = None,
        colour: bool | None = None,
    ) -> str:
        """The position as a board for the terminal; `colour=None` means in colour if supported.

        Raises:
            IllegalActionError: `last_action` is not an action of the game.
        """
        from azumaya.envs.render import ansi_of  # noqa: PLC0415 - drawing is loaded when used

        return ansi_of(self.scene(last_action), candidates, colour)

    def board(self, opponent: Any = None, seed: int = 0) -> Board:
        """A board to play on in a notebook (needs the extra `notebook`).

        Args:
            opponent: plays the side that is not to move now: an agent or its name, or a function
                from a position to a move. None to play both sides by hand.
            seed: the seed of the opponent's random draws.

        Returns:
            An `azumaya.envs.render.widget.Board`; its `position` follows the moves made on it.

        Raises:
            MissingExtraError: the extra `notebook` is not installed.
        """
        from azumaya.envs.render.widget import Board  # noqa: PLC0415 - needs anywidget

        return Board(self, opponent, seed=seed)

    def _repr_svg_(self) -> str:
        """The picture that notebooks show."""
        return self.svg()

    def explain(self, move: str | int) -> str:
        """A sentence that says why a move is legal, or which rule forbids it.

        Raises:
            MoveNameError: the text does not name a move of the game.
            IllegalActionError: the number is not an action of the game.
        """
        action = self.action(move)
        return self.game.words.explain(self._states[0], action, self.setup.settings)

    # ---- names ----

    def move_name(self, action: int) -> str:
        """The name of an action.

        Raises:
            IllegalActionError: this is not an action of the game.
        """
        settings = self.setup.settings
        return self.game.words.move_name(self.check_action(action), settings, self.to_move)

    def parse_move(self, name: str) -> int:
        """The action with this name; raises `MoveNameError`."""
        if not isinstance(name, str):
            raise MoveNameError(f"name={brief(name)}: must be the name of a move, a string")
        action = self.action_named(name, self.to_move)
        if action is not None:
            return action
        theirs = self.action_named(name, 1 - self.to_move)
        if theirs is None:
            form = self.game.words.move_form(self.setup.settings)
            raise MoveNameError(f"name={brief(name)}: must be {form}")
        raise MoveNameError(
            f"name={brief(name)}: must be {self.move_name(theirs)}, the name of this move for "
            f"player_{self.to_move}, who is to move"
        )

    def action_named(self, name: str, player: int) -> int | None:
        """The action that a player calls by a name when it is their move; None if there is none."""
        return _actions_by_name(_Naming(self.game, self.setup, player)).get(name)

    def action(self, move: str | int) -> int:
        """The action of a move given by name or number."""
        return self.parse_move(move) if isinstance(move, str) else self.check_action(move)

    def check_action(self, action: Any) -> int:
        """Validate an action of the game, legal here or not; raises `IllegalActionError`."""
        number = as_whole(action)
        if number is None or not 0 <= number < self.num_actions:
            raise IllegalActionError(
                f"action={brief(action)}: not an action of {self.game.title}; "
                f"actions are whole numbers from 0 to {self.num_actions - 1}"
            )
        return number

    # ---- changing ----

    def play(self, move: str | int) -> Position:
        """Make a move, given by name or number, in this position; returns the position itself.

        Raises:
            MoveNameError: the text does not name a move of the game.
            IllegalActionError: the rules forbid the move; nothing has changed.
        """
        action = self.action(move)
        if not int(self.legal_words()[action >> 6]) >> (action & 63) & 1:
            raise IllegalActionError(self.explain(action))
        self.game.rules.play(self._states[0], action)
        return self

    def copy(self) -> Self:
        """An independent copy of this position; so is that of `copy.copy`."""
        return self.of_states(self.game, self.setup, self._states, self._start)

    __copy__ = copy

    def resample_hidden(self, seed: int) -> Self:
        """A position that looks the same to both players, with what they cannot see redrawn.

        Its `options` lack those that say what will be drawn.

        Raises:
            OptionError: the seed is not a whole number from 0 to 2**64 - 1.
        """
        position, key = self.copy(), episode_key(check_seed(seed), 0, 0)
        if self.game.rules.resample is not None:
            self.game.rules.resample(position._states[0], key)
            if self.setup.given:
                position.setup = self.setup.without(self.revealed().keys())
        return position

    # ---- the usual protocols ----

    def __str__(self) -> str:
        """The position text."""
        return self.game.words.write_text(self._states[0], self.setup.settings)

    def __repr__(self) -> str:
        return f"<{self.game.title}: {self}>"

    def __eq__(self, other: object) -> bool:
        """Positions are equal if everything the future depends on is, hidden information aside.

        As `play` changes a position, it has no hash: use its text as the key of a dict.
        """
        if not isinstance(other, Position):
            return NotImplemented
        same_game = self.game.name == other.game.name
        return same_game and self._visible() == other._visible()

    __hash__ = None  # type: ignore[assignment]

    def _visible(self) -> bytes:
        return self.game.visible(self._states)

    def _checksum(self) -> int:
        kind = state_kind(self.game, self.num_actions)
        return checksum(kind, self._states, self._start)

    def __getstate__(self) -> tuple[int, dict[str, Any]]:
        return self._checksum(), {name: getattr(self, name) for name in self.__slots__}

    def __setstate__(self, saved: tuple[int, dict[str, Any]]) -> None:
        given, parts = saved
        for name in self.__slots__:
            setattr(self, name, parts[name])
        if given != self._checksum():
            raise PositionError("position: it was changed after it was saved")


class _Naming:
    """What the names of moves depend on: equal for equal names."""

    def __init__(self, game: Game, setup: Setup, player: int) -> None:
        self.game, self.setup, self.player = game, setup, player
        self._key = game, setup.num_actions, setup.rules, player

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Naming) and self._key == other._key


@lru_cache(maxsize=64)
def _actions_by_name(naming: _Naming) -> dict[str, int]:
    """The actions of a player by their names; the first of those with the same name."""
    name, settings = naming.game.words.move_name, naming.setup.settings
    actions = reversed(range(naming.setup.num_actions))
    return {name(action, settings, naming.player): action for action in actions}
