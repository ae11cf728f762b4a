"""Records every game that an environment plays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pettingzoo.utils.wrappers import BaseWrapper

from azumaya.envs.adapters.aec.raw_env import RawEnv
from azumaya.envs.adapters.copying import CopiedDeeply
from azumaya.envs.errors import IllegalActionError, OptionError, brief
from azumaya.envs.notation import (
    GameRecord,
    check_options_fit,
    check_players,
    check_records_file,
    record_of,
    write_records,
)
from azumaya.envs.position import Position


class RecordGames(CopiedDeeply, BaseWrapper[str, Any, int]):
    """Append each finished game to a file of game records (needs the extra `records`).

    Args:
        env: an Azumaya environment, wrapped or raw.
        path: the file; records are appended, one per line. Its folder must exist.
        players: the players' names, player_0 first.

    Moves are those of the environment without wrappers, even if a wrapper maps the actions, as
    `AugmentedAEC` does. Games left unfinished at a reset are not recorded, nor are games lost by an
    illegal move, which end the episode but not the game. If anything but one move
    in a step changes the position, such as `set_state`, the record begins anew from the position
    there.

    Raises:
        OptionError: `env` is not an Azumaya environment, `path` is not a file that can be written,
            `players` is not two names, or an option has a value that a record cannot contain.
        MissingExtraError: the extra `records` is not installed.
    """

    def __init__(self, env: Any, path: str | Path, players: tuple[str, str] = ("", "")) -> None:
        if not isinstance(getattr(env, "unwrapped", None), RawEnv):
            raise OptionError(f"env={brief(env)}: must be an Azumaya environment")
        self.path, self.players = path, players
        check_options_fit(env.unwrapped.game, env.unwrapped.setup)
        super().__init__(env)
        self._start: Position | None = None
        self._moves: list[str] = []
        self._last: Position | None = None
        """The position after the last move, or after a reset."""

    @property
    def path(self) -> Path:
        """The file; it is checked when it is set, not when a game is over."""
        return self._path

    @path.setter
    def path(self, path: str | Path) -> None:
        self._path = check_records_file(path)

    @property
    def players(self) -> tuple[str, str]:
        """The players' names, which are checked likewise."""
        return self._players

    @players.setter
    def players(self, players: tuple[str, str]) -> None:
        self._players = check_players(players)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin an episode and its record."""
        start, self._start = self._start, None
        try:
            super().reset(seed=seed, options=options)
        except Exception:  # the options were refused, and the game goes on
            self._start = start
            raise
        self._start = self._last = self.unwrapped.position
        self._moves = []

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """As the environment's `last`."""
        seen: tuple[Any, float, bool, bool, dict[str, Any]] = self.env.last(observe)
        return seen

    def step(self, action: int | None) -> None:
        """Play an action; the move that ends the game writes the record."""
        before = self._followed()
        start, self._start = self._start, None
        try:
            super().step(action)
        except Exception:  # the move was refused; after Ctrl-C the game is not recorded
            self._start = start
            raise
        after = self.unwrapped.position
        if after == before:  # an agent that is gone, or an illegal move that ended the episode
            self._start, self._last = start, after
            return
        move = self._move(before, after)
        if move is None:
            self._begin_anew(after)
            return
        self._moves.append(move)
        self._start, self._last = start, after
        if start is not None and after.is_over:
            write_records(self.path, [self.record()])
            self._start = None

    def _move(self, before: Position, after: Position) -> str | None:
        """The name of the move between two positions; None if more has happened than a move.

        A wrapper inside may have mapped the action, or have played further moves.
        """
        action = self.unwrapped.last_action
        try:
            played = before.copy().play(action)
        except IllegalActionError:
            return None
        return before.move_name(action) if played == after else None

    def _begin_anew(self, now: Position) -> None:
        """Make a position the start of the record; there is none if the game is over in it."""
        self._moves, self._last = [], now
        self._start = None if now.is_over else now

    def _followed(self) -> Position:
        """The position; if anything but a recorded move has changed it, the record begins anew."""
        now: Position = self.unwrapped.position
        if self._last is not None and self._last.state.tobytes() != now.state.tobytes():
            self._begin_anew(now)
        return now

    def record(self) -> GameRecord:
        """The record of the game so far.

        Raises:
            OptionError: no game is in progress.
            gymnasium.error.ResetNeeded: a call was interrupted.
        """
        now = None if self._last is None else self._followed()
        if self._start is None or now is None:
            raise OptionError("record: no game is in progress; reset the environment first")
        return record_of(self._start, self._moves, now, self.players)
