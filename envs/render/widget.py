"""The board in a notebook: Jupyter, VS Code, Colab, marimo (needs the extra `notebook`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from azumaya.envs.errors import IllegalActionError, OptionError, brief, told
from azumaya.envs.extras import opponent_named, require
from azumaya.envs.kernels.rng import make_key
from azumaya.envs.render.board import BOARD_SCRIPTS, view_of, web_file, web_script
from azumaya.envs.render.pointing import why_not
from azumaya.envs.whole import whole_number

AnyWidget: Any = require("anywidget", "notebook").AnyWidget
traitlets: Any = require("traitlets", "notebook")

Opponent = Callable[[Any], Any]
"""A function from a position to a move, by name or action."""


class OpponentFailedError(RuntimeError):
    """The opponent gave no legal move; the cause is what it raised, or why its move is none."""


class Board(AnyWidget):
    """A position to look at and to play on; the moves made on it are Python objects at once.

    Whenever a move is made, by the person, by the opponent or by `play`, the traits `position` and
    `moves` change; `observe` them to react.

    Args:
        position: where to begin. It is copied, and not changed.
        opponent: plays the side that is not to move in `position`: an agent or its name, or a
            function from a position to a move. None to play both sides by hand.
        seed: the seed of an agent's random draws.

    Attributes:
        position: the position on the board, a copy.
        moves: the names of the moves made so far.

    Raises:
        OptionError: the opponent is neither, or the seed is not from 0 to 2**64 - 1.
        ValueError: the agent cannot play this game with these options.
    """

    _esm = web_script(*BOARD_SCRIPTS, "widget.js")
    _css = web_file("board.css")

    view = traitlets.Dict().tag(sync=True)
    position = traitlets.Any()
    moves = traitlets.Tuple()

    def __init__(self, position: Any, opponent: Any = None, *, seed: int = 0) -> None:
        self._history = [position.copy()]
        self._side = position.to_move if opponent is not None else None
        self._opponent = self._function(opponent, position)
        self._seed = whole_number(seed, "seed", 0, int(np.iinfo(np.uint64).max))
        self._changes = -1  # of the board so far, which is shown first below
        super().__init__()
        self.on_msg(self._hear)
        self._show(())

    def _function(self, opponent: Any, position: Any) -> Opponent | None:
        """The opponent as a function from a position to a move."""
        if opponent is None:
            return None
        opponent = opponent_named(opponent) if isinstance(opponent, str) else opponent
        act = getattr(opponent, "act", None)
        if act is None and callable(opponent):
            chosen: Opponent = opponent
            return chosen
        if act is None:
            raise OptionError(
                f"opponent={opponent!r}: an agent, its name or a function from a position to a "
                "move is needed"
            )
        check = getattr(opponent, "check", None)
        if check is not None:
            check(position)

        def choose(here: Any) -> Any:
            key = int(make_key(np.uint64(self._seed), 0, len(self._history)))
            return act([here.resample_hidden(key)], [key])[0]

        return choose

    # ---- moves ----

    def play(self, move: str | int) -> None:
        """Make a move, and let the opponent answer; if anything fails, nothing is changed.

        Raises:
            ValueError: the move is not legal, or it is the opponent's turn.
            OpponentFailedError: the opponent gave no legal move. The move is taken back, so the
                opponent is asked again when the next one is made.
        """
        here = self._history[-1]
        if not here.is_over and not self._is_persons(here):
            raise IllegalActionError(f"move={brief(move)}: it is the opponent's turn")
        before = len(self._history)
        try:
            self._make(move)
            self._let_opponent_move()
        except BaseException:  # also if it is interrupted while the opponent thinks
            self._take_back(before)
            raise

    def undo(self) -> None:
        """Take moves back to the person's last one; does nothing where there is none."""
        ply = self._undone()
        if ply is not None:
            self._take_back(ply + 1)

    def _take_back(self, length: int) -> None:
        """Keep the first `length` positions of the game, and show the last of them."""
        del self._history[length:]
        self._show(self.moves[: length - 1])

    def _undone(self) -> int | None:
        plies = range(len(self._history) - 2, -1, -1)
        return next((ply for ply in plies if self._is_persons(self._history[ply])), None)

    def _is_persons(self, position: Any) -> bool:
        return self._side is None or position.to_move == self._side

    def _make(self, move: str | int) -> None:
        here = self._history[-1]
        action = here.action(move)
        self._history.append(here.copy().play(action))
        self._show((*self.moves, here.move_name(action)))

    def _let_opponent_move(self) -> None:
        """Make the opponent's moves; a turn may have several."""
        while self._opponent is not None:
            here = self._history[-1]
            if here.is_over or self._is_persons(here):
                return
            self._make(self._answer(self._opponent, here))

    def _answer(self, opponent: Opponent, here: Any) -> int:
        try:
            action: int = here.action(opponent(here.copy()))
            here.copy().play(action)
        except Exception as error:
            raise OpponentFailedError(
                f"the opponent failed: {told(error)}; your move was taken back"
            ) from error
        return action

    def _show(self, moves: tuple[str, ...]) -> None:
        here = self._history[-1]
        last = self._history[-2].action(moves[-1]) if moves else None
        yours = not here.is_over and self._is_persons(here)
        can_undo = self._undone() is not None
        self._changes += 1
        view = {
            **view_of(here, last), "yours": yours, "canUndo": can_undo, "changes": self._changes
        }  # fmt: skip
        with self.hold_trait_notifications():  # so that whoever observes one finds the others new
            self.view = view
            self.position = here.copy()
            self.moves = moves

    # ---- what the page says ----

    def _hear(self, widget: Any, content: Any, buffers: Any) -> None:
        """A message of the page; what cannot be done is told there, and changes nothing.

        While Python was busy, the person may have clicked on a position that is no longer the one
        on the board: such messages are ignored.
        """
        try:
            kind = content["kind"]
            if content["changes"] != self._changes:
                return
            if kind == "play":
                self.play(content["move"])
            elif kind == "undo":
                self.undo()
            elif kind == "explain":
                sentences = why_not(self._history[-1], content["cells"], content["label"])
                self.send({"kind": "why", "number": content["number"], "sentences": sentences})
        except (ValueError, OpponentFailedError) as error:
            self.send({"kind": "said", "text": str(error)})
        except Exception as error:  # a message of another form; somebody's observer that failed
            self.send({"kind": "said", "text": told(error)})
