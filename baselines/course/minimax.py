"""Notebook 3: alpha-beta on endgames of Score-Dominari whose exact values are known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from azumaya.baselines import load_exam
from azumaya.baselines.course.verdict import WrongAnswerError, checked, numbers, require, returned
from azumaya.envs import Position

GAME = "score_dominari"
MOST_PLIES = 6
COUNT = 30
PLAIN_MOVES = 28_894
"""The moves that plain minimax plays in all endgames of the check."""
MOST_SHARE = 1 / 3
"""The most of them that an answer may play: a table without pruning plays 42 %, and alpha-beta 31 %
even if it always tries the worst move first."""
BOUND = 1
"""No game of Score-Dominari is won or lost by more, with its default options."""
WINDOWS = ((-1, 0), (0, 1))
"""Windows that leave out one of the three values."""
SIGNS = {
    -1: " This is what comes out if the sign changes after every move. Look at to_move: after some "
    "moves the same player is to move again.",
    1: " This is what comes out if the sign never changes. Where the other player is to move, what "
    "is good for them is bad for you.",
}
FURTHER = 6
"""A hint needs the values of a wrong answer and of this number after it: one proves nothing."""
AlphaBeta = Callable[[Position, float, float], float]


def endgames(most_plies: int = MOST_PLIES, count: int = COUNT) -> list[tuple[Position, float]]:
    """Endgames with their exact values for the player to move, from the public exam; short first.

    Args:
        most_plies: the most plies that the game may still have lasted when it was played.
        count: the number of endgames, spread over all lengths; fewer if there are not so many.
    """
    exam = load_exam(GAME)
    return [(exam.start(row), exam.positions[row].value) for row in _rows(exam, most_plies, count)]


def endgames_by_length(most_plies: int, count: int) -> dict[int, list[Position]]:
    """The positions of `endgames`, by the plies that the game lasted from there when it was played.

    Args:
        most_plies: the most plies.
        count: the number of endgames, spread over all lengths; fewer if there are not so many.
    """
    exam, groups = load_exam(GAME), dict[int, list[Position]]()
    for row in _rows(exam, most_plies, count):
        groups.setdefault(_plies(exam, row), []).append(exam.start(row))
    return groups


def _rows(exam: Any, most_plies: int, count: int) -> list[int]:
    chosen = [row for row in range(len(exam.positions)) if _plies(exam, row) <= most_plies]
    chosen.sort(key=lambda row: _plies(exam, row))
    return chosen[:: max(1, len(chosen) // count)][:count]


def _plies(exam: Any, row: int) -> int:
    return int(exam.positions[row].plies_left)


def gain(position: Position, after: Position, value_after: float) -> float:
    """The value of a move for the player who makes it.

    Args:
        position: before the move.
        after: after it.
        value_after: the value of `after` for the player to move there; unused if the game is over.
    """
    if after.is_over:
        return after.returns()[position.to_move]
    return value_after if after.to_move == position.to_move else -value_after


def alphabeta(position: Position, alpha: float, beta: float) -> float:
    """The course's answer: the value for the player to move, if it lies between alpha and beta."""
    best = float("-inf")
    for action in position.legal_actions():
        after = position.copy().play(action)
        value = 0.0
        if not after.is_over:
            same = after.to_move == position.to_move
            value = alphabeta(after, *((alpha, beta) if same else (-beta, -alpha)))
        best = max(best, gain(position, after, value))
        alpha = max(alpha, best)
        if alpha >= beta:
            break
    return best


class Counted:
    """A position that counts the moves played in it and in its copies.

    As with positions, equal ones have equal texts.

    Args:
        position: the position.
        counter: the count, in a list of one number that all copies share.
    """

    def __init__(self, position: Position, counter: list[int]) -> None:
        self._position, self._counter = position, counter

    def __getattr__(self, name: str) -> Any:
        if name in ("_position", "_counter"):  # asked for before they are set, as by `pickle`
            raise AttributeError(name)
        return getattr(self._position, name)

    def copy(self) -> Counted:
        """An independent copy, with the same counter; so is that of the module `copy`."""
        return Counted(self._position.copy(), self._counter)

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Counted:
        return self.copy()

    def play(self, move: str | int) -> Counted:
        """Make a move and count it."""
        self._counter[0] += 1
        self._position.play(move)
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Counted) and self._position == other._position

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        """The position text."""
        return str(self._position)


@checked(alphabeta)
def check_alphabeta(answer: AlphaBeta) -> str:
    """Check `answer(position, alpha, beta)` on endgames with known values.

    It must find every value, seen by the player to move, play at most a third of the moves that
    plain minimax plays, and fewer in narrow windows.
    """
    solved = endgames()
    played = _check_values(answer, solved)
    narrow = _check_windows(answer, solved)
    _check_windows(answer, _lost(solved))
    _check_again(answer, endgames(count=2 * COUNT)[1::2])
    share = played / PLAIN_MOVES
    require(
        share <= MOST_SHARE,
        f"all {COUNT} values are right, but {played:,} moves were played, {share:.0%} of those "
        "of plain minimax. When a move is at least as good as beta, stop looking at the others.",
    )
    require(
        narrow < len(WINDOWS) * played,
        f"all {COUNT} values are right, but narrow windows save no moves. Pass alpha and beta on, "
        "and when a move is at least as good as beta, stop looking at the others.",
    )
    return f"all {COUNT} values, with {played:,} moves; plain minimax plays {PLAIN_MOVES:,}."


def _check_values(answer: AlphaBeta, solved: list[tuple[Position, float]]) -> int:
    """Check the answers for the window of all values; returns the moves played."""
    played = 0
    for place, (position, value) in enumerate(solved):
        own, moves = _value(answer, position, -BOUND, BOUND)
        played += moves
        if own != value:
            seen = solved[: place + FURTHER]
            given = [_value(answer, each, -BOUND, BOUND)[0] for each, _ in seen]
            said = f"in {position}: yours is {own:g}, and the exact value is {value:+.0f}."
            raise WrongAnswerError(f"{said}{_hint(seen, given)}")
    return played


def _hint(solved: list[tuple[Position, float]], given: list[float]) -> str:
    """What is wrong, if one mistake gives all of these values: one value alone proves none."""
    positions = [position for position, _ in solved]
    if given == [-value for _, value in solved]:
        return " The sign is wrong: a value is for the player to move."
    for signs, hint in SIGNS.items():
        if given == [_mistaken(position, signs) for position in positions]:
            return hint
    return _window_hint([(each, float(-BOUND), float(BOUND)) for each in positions], given)


def _value(answer: AlphaBeta, position: Position, alpha: float, beta: float) -> tuple[float, int]:
    """What an answer returns, and how many moves it plays."""
    counter = [0]
    counted: Any = Counted(position, counter)
    given = returned(answer, counted, alpha, beta)
    return float(numbers(given, (), "one number")), counter[0]


def _lost(solved: list[tuple[Position, float]]) -> list[tuple[Position, float]]:
    """The positions after winning moves: lost for the player to move there."""
    return [
        (after, -BOUND)
        for position, value in solved
        if value == BOUND
        for after in (position.copy().play(action) for action in position.legal_actions())
        if not after.is_over and after.to_move != position.to_move
        if alphabeta(after, -BOUND, BOUND) == -BOUND
    ]


def _check_windows(answer: AlphaBeta, solved: list[tuple[Position, float]]) -> int:
    """Check answers for windows that leave out some values; returns the moves played."""
    cases: list[tuple[Position, float, float]]
    cases = [(position, alpha, beta) for position, _ in solved for alpha, beta in WINDOWS]
    values = [value for _, value in solved for _ in WINDOWS]
    played = 0
    for place, ((position, alpha, beta), value) in enumerate(zip(cases, values, strict=True)):
        own, moves = _value(answer, position, alpha, beta)
        played += moves
        low, high = (value, alpha) if value <= alpha else (beta, value)
        if not low <= own <= high:
            bounds = f"from {low:+.0f} to {high:+.0f}" if low < high else f"{low:+.0f}"
            seen = cases[: place + FURTHER]
            given = [_value(answer, *case)[0] for case in seen]
            raise WrongAnswerError(
                f"in {position}: with alpha={alpha} and beta={beta} yours is {own:g}, but the "
                f"exact value is {value:+.0f}, so it should be {bounds}."
                f"{_window_hint(seen, given)}"
            )
    return played


def _check_again(answer: AlphaBeta, solved: list[tuple[Position, float]]) -> None:
    """Check the answers for the window of all values where narrow ones were asked for before."""
    for position, value in solved:
        for alpha, beta in WINDOWS:
            _value(answer, position, alpha, beta)
        own, _ = _value(answer, position, -BOUND, BOUND)
        require(
            own == value,
            f"in {position}: after narrow windows yours is {own:g} for alpha={-BOUND} and "
            f"beta={BOUND}, and the exact value is {value:+.0f}. If you keep answers, what "
            "a narrow window gives is only a bound: keep with it which kind it is.",
        )


def _window_hint(cases: list[tuple[Position, float, float]], given: list[float]) -> str:
    """What is wrong with the windows, if one of two mistakes gives all of these values."""
    if given == [_with_windows(*case, turned=False) for case in cases]:
        return " When the other player is to move, the window is turned round: (-beta, -alpha)."
    if given == [_with_windows(*case, turned=True) for case in cases]:
        return (
            " This is what comes out if the window is turned round after every move. Look at "
            "to_move: where the same player is to move again, it stays (alpha, beta)."
        )
    return ""


def _with_windows(position: Position, alpha: float, beta: float, *, turned: bool) -> float:
    """What alpha-beta returns if it turns its window round after every move, or never."""
    best = float("-inf")
    for action in position.legal_actions():
        after = position.copy().play(action)
        value = 0.0
        if not after.is_over:
            window = (-beta, -alpha) if turned else (alpha, beta)
            value = _with_windows(after, *window, turned=turned)
        best = max(best, gain(position, after, value))
        alpha = max(alpha, best)
        if alpha >= beta:
            break
    return best


def _mistaken(position: Position, sign: int) -> float:
    """The value if it changes its sign after every move (-1), or after none (1)."""
    best = float("-inf")
    for action in position.legal_actions():
        after = position.copy().play(action)
        if after.is_over:
            best = max(best, after.returns()[position.to_move])
        else:
            best = max(best, sign * _mistaken(after, sign))
    return best
