"""Perft: the number of sequences of legal moves from a position, by depth.

A perft file has any number of sections, each with a start and a table:

    options {"scoring": "points"}
    seed 0
    moves 5e4 6f6
    position ...
    1 12 0 0 0 0
    2 95 3 1 0 0

`moves` lead from the start of the seed's first episode to `position`. Each line of the table has
the depth, the number of sequences of that many legal moves, and how many of these end the game with
a gain for player_0, with a gain for player_1, without a gain, or truncated. Lines with `#` tell
where the numbers come from.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from azumaya.envs.game import TERMINATED, Game
from azumaya.envs.kernels.compile import INTERPRETED
from azumaya.envs.position import Position
from tests.cases import TESTED, Case, case_of
from tests.oracles import BaseOracle, oracle_of

FOLDER = Path(__file__).with_name("perft")
Row = tuple[int, int, int, int, int]


@dataclass(frozen=True)
class Section:
    """A section of a perft file: a start and its table."""

    game: str
    options: str
    seed: int
    moves: tuple[str, ...]
    position: str
    rows: tuple[Row, ...]

    def start(self) -> tuple[Case, Position]:
        """The position to count from; it must be the recorded one.

        In plain Python it is read from its text, because drawing a start from thousands of puzzles
        is slow there.
        """
        case = any_case(self.game, self.options)
        if INTERPRETED and case.game.rules.resample is None:
            options = {**case.options, "position": self.position}
            return case, Position(case.game, **options)
        position = case.position(self.seed)
        for name in self.moves:
            position.play(name)
        assert str(position) == self.position
        return case, position


def any_case(name: str, described: str) -> Case:
    """The variant with this description, or else a case with the options parsed from JSON."""
    try:
        return case_of(name, described)
    except LookupError:
        return Case(TESTED[name], -1, json.loads(described))


def files_of(name: str) -> list[Path]:
    """The perft files of a game, recorded ones and those counted by hand."""
    return [file for file in sorted(FOLDER.glob("*.txt")) if file.stem in (name, f"{name}_by_hand")]


def read_perft(file: Path) -> tuple[str, list[Section]]:
    """The derivation and the sections of a file."""
    lines = file.read_text().splitlines()
    derivation = "\n".join(line[1:].strip() for line in lines if line.startswith("#"))
    name = file.stem.removesuffix("_by_hand")
    blocks = "\n".join(line for line in lines if not line.startswith("#")).split("\n\n")
    return derivation, [_section(name, block) for block in blocks if block.strip()]


def _section(name: str, block: str) -> Section:
    words: dict[str, str] = {}
    rows: list[Any] = []
    for line in block.strip().splitlines():
        key, _, value = line.partition(" ")
        if key.isdecimal():
            assert int(key) == len(rows) + 1, line
            rows.append(tuple(int(n) for n in value.split()))
        else:
            words[key] = value
    return Section(
        name,
        words["options"],
        int(words["seed"]),
        tuple(words.get("moves", "").split()),
        words["position"],
        tuple(rows),
    )


def write_section(section: Section) -> str:
    """A section as text."""
    lines = [f"options {section.options}", f"seed {section.seed}"]
    if section.moves:
        lines.append(f"moves {' '.join(section.moves)}")
    lines.append(f"position {section.position}")
    lines += [
        f"{depth} {' '.join(str(n) for n in row)}" for depth, row in enumerate(section.rows, 1)
    ]
    return "\n".join(lines) + "\n"


# ---- counting ----


def perft(position: Position, depth: int) -> int:
    """The number of sequences of `depth` legal moves."""
    if depth == 1:
        return len(position.legal_actions())
    return sum(perft(position.copy().play(a), depth - 1) for a in position.legal_actions())


def count(position: Position, most: int, depth: int = 99) -> Iterator[Row]:
    """The rows of a position's table, up to the last depth with at most `most` sequences."""
    nodes = [position]
    for _ in range(depth):
        children = [(node, node.legal_actions()) for node in nodes]
        total = sum(len(actions) for _, actions in children)
        if not 0 < total <= most:
            return
        nodes = [after(node, action) for node, actions in children for action in actions]
        yield (total, *endings(nodes))


def after(position: Position, action: int) -> Position:
    """The position after a move."""
    child = position.copy()
    child.game.rules.play(child._states[0], action)
    return child


def endings(nodes: list[Position]) -> tuple[int, int, int, int]:
    """How many positions ended with a gain for each player, without one, or truncated."""
    ended = [node.state[0] for node in nodes if node.is_over]
    payoffs = np.array([int(state["payoff"]) for state in ended], int)
    by_rule = np.array([int(state["over"]) == TERMINATED for state in ended], bool)
    return (
        int((payoffs > 0).sum()),
        int((payoffs < 0).sum()),
        int(((payoffs == 0) & by_rule).sum()),
        int(((payoffs == 0) & ~by_rule).sum()),
    )


def count_by_oracle(section: Section, most: int) -> Iterator[Row]:
    """The same rows counted by the oracle, which is given the library's random outcomes."""
    case, position = section.start()
    oracle = oracle_of(section.game)(section.position, case.options)
    oracle.see(section.position)
    nodes = [(position, oracle)]
    while True:
        children = [(node, known, sorted(known.legal())) for node, known in nodes]
        total = sum(len(names) for _, _, names in children)
        if not 0 < total <= most:
            return
        nodes = [_both_after(n, known, name) for n, known, names in children for name in names]
        yield (total, *endings_by_oracle([known for _, known in nodes]))


def _both_after(position: Position, oracle: BaseOracle, name: str) -> tuple[Position, BaseOracle]:
    child, known = position, copy.deepcopy(oracle)
    known.play(name)
    if known.needs_text:
        child = after(position, position.parse_move(name))
        known.see(str(child))
    return child, known


def endings_by_oracle(oracles: list[BaseOracle]) -> tuple[int, int, int, int]:
    """The same as `endings`, for oracles."""
    ended = [(oracle.returns[0], oracle.over) for oracle in oracles if oracle.over]
    return (
        sum(gain > 0 for gain, _ in ended),
        sum(gain < 0 for gain, _ in ended),
        sum(not gain and over == "terminated" for gain, over in ended),
        sum(not gain and over == "truncated" for gain, over in ended),
    )


def header(game: Game) -> str:
    """The comment at the top of a recorded file."""
    return (
        f"# Perft of {game.title}; tests/golden/perft.py describes the form of this file.\n"
        "# Derivation: counted by the kernels (`python -m tests.golden.record`). test_golden.py\n"
        "# recounts the tables with the kernels and, at lower depths, with the naive oracle of\n"
        "# tests/oracles, which was written from the game's page alone.\n"
    )
