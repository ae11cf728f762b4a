"""Sudoku puzzles: a bank, file formats, a solver, criteria and a generator.

What environments need is light and imported here. The rest is in the modules: `solver`
(`count_solutions`, `solve`, `solve_by_singles`), `criteria` (`check`, `CRITERIA`) and
`generator` (`generate`).
"""

from azumaya.envs.puzzles.bank import BANK_SEED, load_bank, load_part
from azumaya.envs.puzzles.formats import (
    format_grid,
    iter_puzzles,
    parse_puzzle,
    read_cells,
    read_puzzles,
)
from azumaya.envs.puzzles.grid import PuzzleFormatError, PuzzleRuleError, check_rule

__all__ = [
    "BANK_SEED",
    "PuzzleFormatError",
    "PuzzleRuleError",
    "check_rule",
    "format_grid",
    "iter_puzzles",
    "load_bank",
    "load_part",
    "parse_puzzle",
    "read_cells",
    "read_puzzles",
]
