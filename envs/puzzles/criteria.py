"""What makes a Sudoku puzzle a good start for a game: the rulebook's advice as data.

`CRITERIA` lists six criteria. `check` reports which ones a puzzle misses and where; the generator
uses the same kernels. A set of givens is two words, one bit per cell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from azumaya.envs.errors import OptionError, brief
from azumaya.envs.geometry.sudoku81 import (
    BLOCK_BOARDS,
    BLOCK_OF,
    BLOCKS,
    CELLS,
    COLUMN_OF,
    ROW_OF,
    SQUARES,
    WORDS,
)
from azumaya.envs.kernels.bits import ONE, U64, ZERO, board_of, cells_of, popcount
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.puzzles.grid import PuzzleLike, as_cells, house_name, to_text
from azumaya.envs.puzzles.solver import Singles, find_solutions, solve_by_singles
from azumaya.envs.whole import whole_number

MAX_GIVENS = 36
"""The most givens a puzzle should have: four per block on average.

That is the rulebook's limit for the centre block, and leaves more than half of the board to the
players.
"""

FEWEST_CLUES = 17
"""No puzzle with fewer givens has exactly one solution, so a lower limit would make no sense."""

CENTRE = 4
CENTRE_GIVENS = (1, 4)
"""The fewest and the most givens in the centre block, block 4 in reading order."""

LINES = tuple(
    line
    for block in BLOCKS
    for house_of in (ROW_OF, COLUMN_OF)
    for line in (
        tuple(c for c in block if house_of[c] == h) for h in sorted({house_of[c] for c in block})
    )
)
"""The 54 lines of three cells: for each block its rows from the top, then its columns."""
LINE_BOARDS = np.stack([board_of(cells, WORDS) for cells in LINES])

UNIQUE, SINGLES, GIVENS, BLOCKS_TAKEN, CENTRE_FEW, OPEN_LINES = 1, 2, 4, 8, 16, 32
"""The criteria as bits, in the order of `CRITERIA`."""


@kernel
def given_count(given, boards, i):
    """The number of givens on `boards[i]`."""
    return popcount(given[0] & boards[i, 0]) + popcount(given[1] & boards[i, 1])


@kernel
def with_givens(given, boards, count):
    """Which of `boards` have this many givens, as bits."""
    found = ZERO
    for i in range(boards.shape[0]):
        if given_count(given, boards, i) == count:
            found |= ONE << U64(i)
    return found


@kernel
def misplaced(given, max_givens):
    """Which criteria on the number and placement of givens are missed: the sum of their bits."""
    missed = 0
    if popcount(given[0]) + popcount(given[1]) > max_givens:
        missed += GIVENS
    if with_givens(given, BLOCK_BOARDS, 0) != ZERO:
        missed += BLOCKS_TAKEN
    centre = given_count(given, BLOCK_BOARDS, CENTRE)
    if centre < CENTRE_GIVENS[0] or centre > CENTRE_GIVENS[1]:
        missed += CENTRE_FEW
    if with_givens(given, LINE_BOARDS, 3) != ZERO:
        missed += OPEN_LINES
    return missed


@dataclass(frozen=True)
class Facts:
    """What the criteria look at, computed once per puzzle.

    Attributes:
        puzzle: the puzzle, 81 characters.
        given: the givens, `(2,)` uint64.
        max_givens: the most givens allowed.
        solutions: its solutions, at most two.
        singles: how far singles alone lead.
    """

    puzzle: str
    given: np.ndarray
    max_givens: int
    solutions: list[str]
    singles: Singles

    @property
    def givens(self) -> int:
        """The number of givens in the puzzle."""
        return CELLS - self.puzzle.count(".")


@dataclass(frozen=True)
class Criterion:
    """One piece of advice.

    Attributes:
        name: the name by which the generator and the command line relax it.
        bit: its bit in the generator's sets of criteria.
        demand: what it requires, in a few words.
        why: the reason for it.
        met: whether a puzzle meets it.
        where: says where and how a puzzle misses it; called only if it does.
    """

    name: str
    bit: int
    demand: str
    why: str
    met: Callable[[Facts], bool]
    where: Callable[[Facts], str]


def _placed(bit: int) -> Callable[[Facts], bool]:
    return lambda facts: not int(misplaced(facts.given, facts.max_givens)) & bit


def _squares(cells: Iterable[int]) -> str:
    return " ".join(SQUARES[c] for c in cells)


def _where_not_unique(facts: Facts) -> str:
    if not facts.solutions:
        return "it has no solution"
    one, other = facts.solutions
    return f"two solutions differ on {_squares(c for c in range(CELLS) if one[c] != other[c])}"


def _where_stuck(facts: Facts) -> str:
    left = [c for c in range(CELLS) if facts.singles.grid[c] == "."]
    rounds = facts.singles.rounds
    return f"after {rounds} rounds singles leave {len(left)} cells open: {_squares(left)}"


def _where_bare(facts: Facts) -> str:
    bare = cells_of(np.atleast_1d(U64(with_givens(facts.given, BLOCK_BOARDS, 0))))
    return "no given in " + ", ".join(house_name(18 + block) for block in bare)


def _where_centre(facts: Facts) -> str:
    cells = [c for c in cells_of(facts.given) if BLOCK_OF[c] == CENTRE]
    return f"{len(cells)} givens in the centre" + (f": {_squares(cells)}" if cells else "")


def _where_full(facts: Facts) -> str:
    full = cells_of(np.atleast_1d(U64(with_givens(facts.given, LINE_BOARDS, 3))))
    return "full of givens: " + ", ".join(_squares(LINES[line]) for line in full)


CRITERIA = (
    Criterion(
        "unique",
        UNIQUE,
        "exactly one solution",
        "a proper puzzle: reasoning alone tells where each number belongs",
        lambda facts: len(facts.solutions) == 1,
        _where_not_unique,
    ),
    Criterion(
        "singles",
        SINGLES,
        "solvable by naked and hidden singles alone",
        "a puzzle that can be solved in several ways can be played in several ways",
        lambda facts: facts.singles.solved,
        _where_stuck,
    ),
    Criterion(
        "givens",
        GIVENS,
        "not too many givens",
        "the more cells are filled beforehand, the less is left to play for",
        _placed(GIVENS),
        lambda facts: f"{facts.givens} givens, at most {facts.max_givens} allowed",
    ),
    Criterion(
        "blocks",
        BLOCKS_TAKEN,
        "a given in every block",
        "every region starts with some influence on its neighbours",
        _placed(BLOCKS_TAKEN),
        _where_bare,
    ),
    Criterion(
        "centre",
        CENTRE_FEW,
        f"{CENTRE_GIVENS[0]} to {CENTRE_GIVENS[1]} givens in the centre block",
        "few enough to leave the opening something to play for, but not an empty block",
        _placed(CENTRE_FEW),
        _where_centre,
    ),
    Criterion(
        "lines",
        OPEN_LINES,
        "no row or column of a block full of givens",
        "a full line of a block lets no influence through",
        _placed(OPEN_LINES),
        _where_full,
    ),
)
"""The rulebook's advice, in the rulebook's order."""

CRITERION = {criterion.name: criterion for criterion in CRITERIA}
"""The criteria by name."""


@dataclass(frozen=True)
class Miss:
    """A criterion that a puzzle misses, and where, as a sentence without a full stop."""

    criterion: Criterion
    where: str


@dataclass(frozen=True)
class Report:
    """Which criteria a puzzle misses, and its statistics; `str()` gives readable text."""

    facts: Facts
    misses: tuple[Miss, ...]

    @property
    def ok(self) -> bool:
        """Whether the puzzle misses no criterion."""
        return not self.misses

    def __str__(self) -> str:
        singles = self.facts.singles
        figures = (
            f"{self.facts.givens} givens, {singles.ways_in} singles at the start, "
            f"{singles.rounds} rounds of singles"
        )
        if self.ok:
            return f"{self.facts.puzzle}\n{figures}; meets every criterion"
        lines = [f"  {m.criterion.name}: {m.where} ({m.criterion.demand})" for m in self.misses]
        return "\n".join([self.facts.puzzle, f"{figures}; misses {len(self.misses)}:", *lines])


def demanded(relax: Iterable[str] = ()) -> tuple[Criterion, ...]:
    """All criteria except the relaxed ones.

    Args:
        relax: names of criteria, or a single name.

    Raises:
        OptionError: a name is not that of a criterion, or `relax` does not consist of names.
    """
    try:
        names = {relax} if isinstance(relax, str) else set(relax)
    except TypeError:
        raise OptionError(f"relax={brief(relax)}: must be names of criteria") from None
    if unknown := names - CRITERION.keys():
        said = sorted(unknown, key=str)
        raise OptionError(
            f"relax: unknown criteria {said}; the criteria are {', '.join(CRITERION)}"
        )
    return tuple(criterion for criterion in CRITERIA if criterion.name not in names)


def check(puzzle: PuzzleLike, relax: Iterable[str] = (), max_givens: int = MAX_GIVENS) -> Report:
    """Report which criteria a puzzle misses, and where.

    Args:
        puzzle: 81 characters or numbers.
        relax: names of criteria to skip.
        max_givens: the most givens that the criterion `givens` allows, 17 to 81.

    Raises:
        OptionError: `relax` names no criterion, or `max_givens` is out of range.
        PuzzleFormatError: `puzzle` is not 81 cells.
        PuzzleRuleError: a number occurs twice in a house.
    """
    wanted, cells = demanded(relax), as_cells(puzzle)
    most = whole_number(max_givens, "max_givens", FEWEST_CLUES, CELLS)
    given = board_of(np.flatnonzero(cells).tolist(), WORDS)
    solutions, singles = find_solutions(cells), solve_by_singles(cells)
    facts = Facts(to_text(cells), given, most, solutions, singles)
    misses = (
        Miss(criterion, criterion.where(facts)) for criterion in wanted if not criterion.met(facts)
    )
    return Report(facts, tuple(misses))
