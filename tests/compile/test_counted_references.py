"""No kernel that runs for every position counts references to arrays within its loops.

Numba counts them with atomic instructions whenever an array is handed on, unless the compiler finds
that it need not. Once it no longer did, and the candidates of a position took 9 instead of 2 µs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numba.core.codegen import JITCodeLibrary

from azumaya.baselines.agents.candidates import CandidateFinder
from azumaya.baselines.search.alphabeta import Room
from azumaya.baselines.search.batch_puct import BatchPUCT
from azumaya.baselines.search.budget import Budget
from azumaya.baselines.search.game_kernels import kernels_of
from azumaya.baselines.search.proof import ProofRoom
from azumaya.baselines.search.trees import TreeRoom
from azumaya.baselines.search.walks import Terms
from azumaya.envs import Position, find_game, make_vec
from azumaya.envs.engine.kernels import rollout_kernel
from azumaya.envs.kernels.borrow import borrow
from azumaya.envs.kernels.code import MachineCode
from azumaya.envs.kernels.compile import INTERPRETED, Settled, kernel
from tests.search.evaluations import Linear

pytestmark = pytest.mark.skipif(INTERPRETED, reason="looks at compiled code")

GAME = "sudoku_moyo"
"""Its kernels hand on the most arrays."""
COUNTS = "NRT_incref"
"""What counts a reference. Memory that a kernel allocates is released without it."""


def following(blocks: dict[str, list[str]], first: str) -> set[str]:
    """The blocks that may run after one, itself only if it is in a loop."""
    found, left = set[str](), list(blocks[first])
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += blocks[name]
    return found


def optimised(machine: MachineCode) -> Any:
    """What machine code was made of; it may have been loaded."""
    library = JITCodeLibrary(machine.codegen, machine.name)
    library._final_module = machine.inlined._final_module.clone()
    library._optimize_final_module()
    return library._final_module


def counts_in_loops(dispatcher: Any) -> int:
    """How many instructions in the loops of a compiled kernel count references."""
    total = 0
    for compiled in dispatcher.overloads.values():
        for function in optimised(compiled.library).functions:
            blocks, counts = dict[str, list[str]](), dict[str, int]()
            for number, block in enumerate(function.blocks):
                name, codes = block.name or str(number), list(block.instructions)
                ends = [end.name for end in codes[-1].operands]
                blocks[name], counts[name] = ends, 0
                for code in codes:
                    if code.opcode == "call":
                        counts[name] += list(code.operands)[-1].name == COUNTS
            blocks = {name: [end for end in ends if end in blocks] for name, ends in blocks.items()}
            total += sum(
                count for name, count in counts.items() if count and name in following(blocks, name)
            )
    return total


def test_counts_are_found() -> None:
    """The check sees counts, and none where arrays are borrowed."""

    @kernel
    def opaque(array, at):
        return array[at % array.shape[0]]

    @kernel
    def counting(rows, many):
        found = [rows]
        for i in range(many):
            found += [rows[i:]]
        return opaque(found[-1], many)

    @kernel
    def borrowing(rows, many):
        rows, total = borrow(rows), 0.0
        for i in range(many):
            total += opaque(rows[i:], many)
        return total

    for one in (counting, borrowing):
        one(np.zeros(8), 3)
    assert counts_in_loops(counting) > 0
    assert counts_in_loops(borrowing) == 0


def stepping(name: str) -> list[Any]:
    """The kernels that step a batch of games, and play random games in it."""
    game = find_game(name)
    env = make_vec(name, 2)
    seen, _ = env.reset(seed=1)
    env.step(seen["action_mask"].argmax(1))
    env.games.rollout(1)
    return [env.games._step, rollout_kernel(game, env.games.words)]


def finding(name: str) -> list[Any]:
    """The kernels that find candidates."""
    finder = CandidateFinder(find_game(name))
    finder.find(make_vec(name, 2).reset(seed=1)[0]["observation"])
    return [finder._count, finder._find]


def searching(name: str) -> list[Any]:
    """The kernels of searches."""
    position = Position(name, seed=1)
    kernels = kernels_of(position)
    trees = [
        TreeRoom(kernels, 1),
        *(TreeRoom(kernels, 1, guided=True, amaf=amaf) for amaf in (False, True)),
    ]
    for tree in trees:
        tree.start(position, 0, Terms(1.0, 1.0, 0.5, 8, 2))
        tree.run(1)
    rooms = [Room(kernels, 1), *([ProofRoom(kernels, 1)] if kernels.hints.prospects else [])]
    for room in rooms:
        room.prove(position.state, 1)
        room.go_on(1)
    puct = BatchPUCT(Budget(5), Linear(), noise=0.25)
    puct.search([position], [0])
    assert puct._grove is not None
    round_ = puct._grove._round
    return [*(tree._simulate for tree in trees), *(room._run for room in rooms), round_]


@pytest.mark.parametrize(
    ("kernels", "name"),
    [
        (stepping, GAME),
        (finding, GAME),
        (searching, "vierer_dominari"),
        pytest.param(searching, GAME, marks=pytest.mark.slow),
    ],
)
def test_hot_loops_count_nothing(kernels: Callable[[str], list[Any]], name: str) -> None:
    """The kernels that run for every position hand arrays on without counting."""
    for hot in kernels(name):
        dispatcher = hot._kernel if isinstance(hot, Settled) else hot
        assert dispatcher.overloads
        assert counts_in_loops(dispatcher) == 0, dispatcher.__name__
