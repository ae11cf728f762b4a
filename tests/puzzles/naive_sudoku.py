"""A naive Sudoku solver with sets and loops, which shares nothing with the library."""

from __future__ import annotations

DIGITS = set("123456789")


def houses() -> list[list[int]]:
    rows = [[9 * r + c for c in range(9)] for r in range(9)]
    columns = [[9 * r + c for r in range(9)] for c in range(9)]
    blocks = [
        [9 * (3 * a + r) + 3 * b + c for r in range(3) for c in range(3)]
        for a in range(3)
        for b in range(3)
    ]
    return rows + columns + blocks


HOUSES = houses()


def peers(cell: int) -> set[int]:
    return {other for house in HOUSES if cell in house for other in house} - {cell}


PEERS = [peers(cell) for cell in range(81)]


def candidates(puzzle: str) -> dict[int, set[str]]:
    """For each empty cell, the numbers that none of its peers has."""
    return {
        cell: DIGITS - {puzzle[p] for p in PEERS[cell]} for cell in range(81) if puzzle[cell] == "."
    }


def solutions(puzzle: str, limit: int) -> set[str]:
    """At most `limit` solutions by trial, starting with the cell that has fewest candidates."""
    open_cells = candidates(puzzle)
    if not open_cells:
        return {puzzle}
    cell = min(open_cells, key=lambda c: len(open_cells[c]))
    found: set[str] = set()
    for digit in sorted(open_cells[cell]):
        found |= solutions(puzzle[:cell] + digit + puzzle[cell + 1 :], limit - len(found))
        if len(found) >= limit:
            break
    return found


def singles(puzzle: str) -> set[tuple[int, str]] | None:
    """The naked and hidden singles of a position; None if it obviously has no solution."""
    open_cells = candidates(puzzle)
    if any(not numbers for numbers in open_cells.values()):
        return None
    found = {(c, min(numbers)) for c, numbers in open_cells.items() if len(numbers) == 1}
    for house in HOUSES:
        for digit in DIGITS - {puzzle[c] for c in house}:
            places = [c for c in house if digit in open_cells.get(c, ())]
            if not places:
                return None
            if len(places) == 1:
                found.add((places[0], digit))
    return found


def by_singles(puzzle: str) -> tuple[bool, int, int]:
    """Whether singles solve a puzzle, in how many rounds, and how many the first round finds."""
    rounds, ways_in = 0, 0
    while found := singles(puzzle):
        for cell, digit in found:
            if digit not in candidates(puzzle).get(cell, ()):
                return False, rounds, ways_in
            puzzle = puzzle[:cell] + digit + puzzle[cell + 1 :]
        ways_in = ways_in or len(found)
        rounds += 1
    return found is not None and "." not in puzzle, rounds, ways_in


def misses(puzzle: str, most: int) -> set[str]:
    """The names of the criteria that a puzzle does not meet."""
    givens = [{cell for cell in block if puzzle[cell] != "."} for block in HOUSES[18:]]
    missed = set()
    if len(solutions(puzzle, 2)) != 1:
        missed.add("unique")
    if not by_singles(puzzle)[0]:
        missed.add("singles")
    if sum(map(len, givens)) > most:
        missed.add("givens")
    if any(not block for block in givens):
        missed.add("blocks")
    if len(givens[4]) not in (1, 2, 3, 4):
        missed.add("centre")
    if any(len(block & set(line)) == 3 for block in givens for line in HOUSES[:18]):
        missed.add("lines")
    return missed
