"""What makes a Sudoku a good start for a game: the rulebook's advice as data.

`CRITERIA` names six of them. `check` says which ones a puzzle misses and where; the generator
asks the same kernels. A set of givens is two words, one bit a cell.
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
from azumaya.envs.kernels.bits import ONE, ZERO, board_of, cells_of, popcount
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.puzzles.grid import PuzzleLike, as_cells, check_rule, house_name, to_text
from azumaya.envs.puzzles.solver import Singles, find_solutions, solve_by_singles
from azumaya.envs.whole import whole_number

U64 = np.uint64

MAX_GIVENS = 36
"""The most givens a puzzle should have: four a block on average, the bound that the rulebook sets
for the centre; it leaves more than half of the board to the players."""

FEWEST_CLUES = 17
"""No Sudoku with fewer givens has exactly one solution, so no lower limit makes sense."""

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
"""The 54 lines of three cells: by block, its three rows from the top, then its columns."""
LINE_BOARDS = np.stack([board_of(cells, WORDS) for cells in LINES])

UNIQUE, SINGLES, GIVENS, BLOCKS_TAKEN, CENTRE_FEW, OPEN_LINES = 1, 2, 4, 8, 16, 32
"""The criteria as bits, in the order of `CRITERIA`."""


@kernel
def given_count(given, boards, i):
    """How many givens lie on the i-th of some boards."""
    return popcount(given[0] & boards[i, 0]) + popcount(given[1] & boards[i, 1])


@kernel
def full_lines(given):
    """The lines of three that are full of givens, as bits in the order of `LINES`."""
    full = ZERO
    for i in range(LINE_BOARDS.shape[0]):
        if given_count(given, LINE_BOARDS, i) == 3:
            full |= ONE << U64(i)
    return full


@kernel
def bare_blocks(given):
    """The blocks without a given, as bits in reading order."""
    bare = ZERO
    for i in range(BLOCK_BOARDS.shape[0]):
        if given_count(given, BLOCK_BOARDS, i) == 0:
            bare |= ONE << U64(i)
    return bare


@kernel
def misplaced(given, max_givens):
    """Which criteria the lay of the givens misses: the sum of those four bits."""
    missed = 0
    if popcount(given[0]) + popcount(given[1]) > max_givens:
        missed += GIVENS
    if bare_blocks(given) != ZERO:
        missed += BLOCKS_TAKEN
    centre = given_count(given, BLOCK_BOARDS, CENTRE)
    if centre < CENTRE_GIVENS[0] or centre > CENTRE_GIVENS[1]:
        missed += CENTRE_FEW
    if full_lines(given) != ZERO:
        missed += OPEN_LINES
    return missed


@dataclass(frozen=True)
class Facts:
    """What the criteria look at, found out once for a puzzle.

    Attributes:
        puzzle: the puzzle, 81 characters.
        given: the givens, `(2,)` uint64.
        max_givens: the most givens allowed.
        solutions: its solutions, the first two at most.
        singles: how far singles alone lead.
    """

    puzzle: str
    given: np.ndarray
    max_givens: int
    solutions: list[str]
    singles: Singles

    @property
    def givens(self) -> int:
        """How many givens the puzzle has."""
        return CELLS - self.puzzle.count(".")


@dataclass(frozen=True)
class Criterion:
    """One piece of advice.

    Attributes:
        name: the word by which the generator and the command line relax it.
        bit: its bit in the generator's sets of criteria.
        demand: what it asks, in a few words.
        why: what it is good for.
        where: says where and how a puzzle misses it; asked only when it does.
        met: whether a puzzle meets it.
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
    bare = cells_of(np.atleast_1d(U64(bare_blocks(facts.given))))
    return "no given in " + ", ".join(house_name(18 + block) for block in bare)


def _where_centre(facts: Facts) -> str:
    cells = [c for c in cells_of(facts.given) if BLOCK_OF[c] == CENTRE]
    return f"{len(cells)} givens in the centre" + (f": {_squares(cells)}" if cells else "")


def _where_full(facts: Facts) -> str:
    full = cells_of(np.atleast_1d(U64(full_lines(facts.given))))
    return "side by side: " + ", ".join(_squares(LINES[line]) for line in full)


CRITERIA = (
    Criterion(
        "unique",
        UNIQUE,
        "exactly one solution",
        "a puzzle worth the name; whoever thinks it through knows where each number belongs",
        lambda facts: len(facts.solutions) == 1,
        _where_not_unique,
    ),
    Criterion(
        "singles",
        SINGLES,
        "solvable by naked and hidden singles alone",
        "a puzzle with several ways in can be played in several ways",
        lambda facts: facts.singles.solved,
        _where_stuck,
    ),
    Criterion(
        "givens",
        GIVENS,
        f"at most {MAX_GIVENS} givens",
        "the more cells are taken beforehand, the less is left to play for",
        _placed(GIVENS),
        lambda facts: f"{facts.givens} givens, at most {facts.max_givens} wanted",
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
        "few enough that the opening is played, and not on an empty block",
        _placed(CENTRE_FEW),
        _where_centre,
    ),
    Criterion(
        "lines",
        OPEN_LINES,
        "in no block three givens side by side in one of its rows or columns",
        "a full line of a block lets no influence through",
        _placed(OPEN_LINES),
        _where_full,
    ),
)
"""The rulebook's advice, in its order."""

CRITERION = {criterion.name: criterion for criterion in CRITERIA}
"""The criteria by name."""


@dataclass(frozen=True)
class Miss:
    """A criterion that a puzzle misses, and where: a sentence without a full stop."""

    criterion: Criterion
    where: str


@dataclass(frozen=True)
class Report:
    """Which criteria a puzzle misses, with its figures; `str()` is for people to read."""

    facts: Facts
    misses: tuple[Miss, ...]

    @property
    def ok(self) -> bool:
        """Whether it misses none."""
        return not self.misses

    def __str__(self) -> str:
        singles = self.facts.singles
        figures = (
            f"{self.facts.givens} givens, {singles.ways_in} ways in, "
            f"{singles.rounds} rounds of singles"
        )
        if self.ok:
            return f"{self.facts.puzzle}\n{figures}; meets every criterion"
        lines = [f"  {m.criterion.name}: {m.where} ({m.criterion.demand})" for m in self.misses]
        return "\n".join([self.facts.puzzle, f"{figures}; misses {len(self.misses)}:", *lines])


def demanded(relax: Iterable[str] = ()) -> tuple[Criterion, ...]:
    """The criteria without those relaxed.

    Args:
        relax: names of criteria; a single name may stand alone.

    Raises:
        OptionError: a name that is no criterion's, or anything but names.
    """
    try:
        names = {relax} if isinstance(relax, str) else set(relax)
    except TypeError:
        raise OptionError(f"relax={brief(relax)}: names of criteria are needed") from None
    if unknown := names - CRITERION.keys():
        said = sorted(unknown, key=str)
        raise OptionError(f"relax: no criterion {said}; there are {', '.join(CRITERION)}")
    return tuple(criterion for criterion in CRITERIA if criterion.name not in names)


def check(puzzle: PuzzleLike, relax: Iterable[str] = (), max_givens: int = MAX_GIVENS) -> Report:
    """Say which criteria a puzzle misses, and where.

    Args:
        puzzle: 81 characters or numbers.
        relax: names of criteria not to look at.
        max_givens: the most givens that the criterion `givens` allows, 17 to 81.

    Raises:
        OptionError: `relax` names no criterion, or `max_givens` is out of its range.
        PuzzleFormatError: `puzzle` is not 81 cells.
        PuzzleRuleError: the puzzle has a number twice in a house.
    """
    wanted, cells = demanded(relax), as_cells(puzzle)
    most = whole_number(max_givens, "max_givens", FEWEST_CLUES, CELLS)
    check_rule(cells)
    given = board_of(np.flatnonzero(cells).tolist(), WORDS)
    solutions, singles = find_solutions(cells), solve_by_singles(cells)
    facts = Facts(to_text(cells), given, most, solutions, singles)
    misses = (
        Miss(criterion, criterion.where(facts)) for criterion in wanted if not criterion.met(facts)
    )
    return Report(facts, tuple(misses))
