"""Exercises on the board in a notebook (needs the extra `notebook`)."""

from __future__ import annotations

from azumaya.baselines.play.exercises import Exercise, Judgement, judge
from azumaya.envs.errors import IllegalActionError
from azumaya.envs.render.widget import Board


class ExerciseBoard(Board):
    """An exercise to solve on the board, which answers a wrong move. Undo tries again.

    Args:
        exercise: the exercise.

    Attributes:
        exercise: the same.
        judgement: what the move is worth that was made last; None before the first one.
    """

    def __init__(self, exercise: Exercise) -> None:
        self.exercise = exercise
        self.judgement: Judgement | None = None
        super().__init__(exercise.start())

    def play(self, move: str | int) -> None:
        """Answer the exercise; a wrong move is refuted on the board.

        Raises:
            ValueError: the move is not legal, or the exercise has been answered: undo first.
        """
        if self.moves:
            raise IllegalActionError(f"move={move}: the exercise is answered; undo to try again")
        start = self.exercise.start()
        judgement = judge(self.exercise, start.move_name(start.action(move)))
        super().play(move)
        for reply in judgement.line:
            self._make(reply)
        self.judgement = judgement
        self.send({"kind": "said", "text": judgement.words})

    def undo(self) -> None:
        """Go back to the position of the exercise."""
        self._take_back(1)
