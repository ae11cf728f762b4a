"""Make random mutants of the library, and see which of them the suite catches.

    python -m tests.mutants [--seed N] [--count N] [--only TEXT] [--output FILE] [--list]

A mutant is a copy of the library with one small edit in one function: a comparison turned round, a
constant one larger, a statement left out. The sites are drawn by the seed. For each mutant the
tests that concern its file run until one fails. Results are appended to the output, a JSON object a
line; a mutant that stands there is not tried again, so a run that was stopped goes on with the same
command. `tests/equivalent_mutants.json` names the mutants that were judged by hand to change no
behaviour, with the reason; these do not count.

Ends with status 1 if fewer than 97 % of the others are caught, 130 after Ctrl-C.
"""

from __future__ import annotations

import argparse
import ast
import copy
import hashlib
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.planted_faults import INTERRUPTED, ROOT, copy_library, run_pytest

EQUIVALENT = ROOT / "tests" / "equivalent_mutants.json"
WANTED_SHARE = 0.97

RULES = ("tests/games", "tests/golden", "tests/oracles", "tests/contract")
"""What tests the rules of the games."""


def of_games(names: str) -> tuple[str, ...]:
    """The tests of the rules of some games."""
    return (*RULES, "-k", f"({names}) and not interpreted")


TESTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("envs/games/shima/match.py", ("tests/wrappers/test_match.py", *RULES, "-k", "match")),
    ("envs/games/shima/", of_games("sudoku_moyo or sudoku_horikomi")),
    ("envs/games/tiles/", of_games("sudoku_tiles")),
    ("envs/games/dominari/", of_games("vierer or revers or score")),
    ("envs/games/halma/", of_games("halma")),
    ("envs/games/abalone/", of_games("abalone")),
    ("envs/adapters/aec/", ("tests/contract", "tests/vector/test_against_aec.py")),
    ("envs/adapters/duel/", ("tests/vector", "tests/wrappers")),
    ("envs/adapters/", ("tests/vector", "tests/wrappers", "tests/contract")),
    ("envs/kernels/", ("tests/property", "tests/compile", "tests/golden", "tests/vector")),
    ("envs/geometry/", ("tests/games", "tests/property", "tests/golden")),
)
"""By the beginning of a file's path, the first that fits: what pytest runs for its mutants."""

LEFT_OUT = ("envs/adapters/cuda/", "envs/kernels/cache", "envs/kernels/private_folder.py")
"""Files without mutants: a GPU's code has an emulator, the compile cache tests that kill it."""


@dataclass(frozen=True)
class Mutant:
    """One edit of one line range of a file.

    Attributes:
        file: from the root of the repository.
        function: the function it is in, with its class.
        change: what was done, as text.
        start: where the edited text begins, as an offset into the file.
        end: where it ends.
        text: what is put in its place.
    """

    file: str
    function: str
    change: str
    start: int
    end: int
    text: str

    @property
    def key(self) -> str:
        """A short digest that stays as long as the source of the function and its edit do."""
        parts = (self.file, self.function, self.change)
        return hashlib.blake2b("\0".join(parts).encode(), digest_size=6).hexdigest()


# ---- edits ----

SWAPS: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mod,
    ast.Mod: ast.FloorDiv, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitOr,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
"""What each operator becomes."""


def edits_of(node: ast.AST) -> Iterator[ast.AST]:
    """A node with one edit, in each way that there is."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
        yield _with(node, ops=[SWAPS[type(node.ops[0])](), *node.ops[1:]])
    elif isinstance(node, ast.BinOp | ast.AugAssign | ast.BoolOp) and type(node.op) in SWAPS:
        yield _with(node, op=SWAPS[type(node.op)]())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.Invert):
        yield node.operand
    elif isinstance(node, ast.Constant) and type(node.value) is bool:
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and type(node.value) is int:
        yield ast.Constant(node.value + 1)
    elif _can_be_left_out(node):
        yield ast.Pass()
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        yield ast.UnaryOp(ast.Not(), node.test)


def _with(node: ast.AST, **fields: object) -> ast.AST:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def _can_be_left_out(node: ast.AST) -> bool:
    """Whether a function would still run without a statement: it binds no local name."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Call)
    if not isinstance(node, ast.Assign | ast.AugAssign):
        return False
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return not any(isinstance(target, ast.Name | ast.Tuple) for target in targets)


def mutants_of(file: Path) -> list[Mutant]:
    """All mutants of a file's functions."""
    source = file.read_text()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line.encode()))
    found: list[Mutant] = []
    for function, node in _functions(ast.parse(source)):
        for inner in _body(node):
            target = inner.test if isinstance(inner, ast.If | ast.While | ast.IfExp) else inner
            for edited in edits_of(inner):
                begin = starts[target.lineno - 1] + target.col_offset
                end = starts[target.end_lineno - 1] + target.end_col_offset
                old = source.encode()[begin:end].decode()
                new = ast.unparse(ast.fix_missing_locations(edited))
                new = f"({new})" if isinstance(edited, ast.expr) else new
                where = f"line {inner.lineno - node.lineno + 1}"
                change = f"{where}: {old} -> {new}"
                found.append(Mutant(_name(file), function, change, begin, end, new))
    return found


def _name(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


def _functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    """The functions of a module, those in classes and the outermost only."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef):
                    yield f"{node.name}.{inner.name}", inner


def _body(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """What may be edited in a function: no text, no message of an error, no annotation."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr | ast.Import | ast.ImportFrom):
            continue
        if isinstance(node, ast.AnnAssign):
            waiting += [node.value] if node.value else []
            continue
        yield node
        if isinstance(node, ast.FunctionDef):
            waiting += node.body
        else:
            waiting += ast.iter_child_nodes(node)


# ---- running ----


def chosen(seed: int, count: int, only: str) -> list[Mutant]:
    """The mutants that a seed draws, from the files whose path holds a text."""
    files = sorted(
        file
        for file in (ROOT / "envs").rglob("*.py")
        if tests_of(_name(file)) and only in _name(file)
    )
    every = [mutant for file in files for mutant in mutants_of(file)]
    return random.Random(seed).sample(every, min(count, len(every)))


def tests_of(file: str) -> tuple[str, ...]:
    """What pytest runs for the mutants of a file; nothing where it has none."""
    if file.startswith(LEFT_OUT):
        return ()
    return next((tests for beginning, tests in TESTS if file.startswith(beginning)), ())


def is_caught(mutant: Mutant) -> str:
    """The first test that fails with the mutant, or an empty text."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        copy_library(tree)
        file = tree / "site/azumaya" / mutant.file
        source = file.read_bytes()
        file.write_bytes(source[: mutant.start] + mutant.text.encode() + source[mutant.end :])
        try:
            done = run_pytest(tree, [*tests_of(mutant.file), "-x"])
        except subprocess.TimeoutExpired:
            return "no end"
    if done.returncode == 0:
        return ""
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return failed[0].split()[1] if failed else f"pytest ended with {done.returncode}"


def run(mutants: list[Mutant], output: Path, say: Callable[[str], None]) -> list[Mutant]:
    """Try the mutants that have not been tried; returns those that survive and are not excused."""
    excused = json.loads(EQUIVALENT.read_text())
    output.parent.mkdir(parents=True, exist_ok=True)
    known = {row["key"]: row["caught"] for row in _rows(output)}
    survivors = []
    for number, mutant in enumerate(mutants, start=1):
        if mutant.key not in known:
            known[mutant.key] = is_caught(mutant)
            row = {"key": mutant.key, "caught": known[mutant.key], **asdict(mutant)}
            with output.open("a") as out:
                out.write(json.dumps(row) + "\n")
        by = known[mutant.key] or ("excused" if mutant.key in excused else "NOTHING")
        say(f"{number}/{len(mutants)} {mutant.file} {mutant.function} {mutant.change} | {by}")
        if not known[mutant.key] and mutant.key not in excused:
            survivors.append(mutant)
    return survivors


def _rows(output: Path) -> list[dict[str, str]]:
    if not output.exists():
        return []
    lines = output.read_text().splitlines()
    return [json.loads(line) for line in lines if line.endswith("}")]


def main(words: list[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutants", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=80)
    parser.add_argument("--only", default="", help="only files whose path holds this text")
    parser.add_argument("--output", type=Path, default=ROOT / "runs/mutants/results.jsonl")
    parser.add_argument("--list", action="store_true", help="name the mutants and run nothing")
    args = parser.parse_args(words)
    mutants = chosen(args.seed, args.count, args.only)
    if args.list:
        for mutant in mutants:
            print(mutant.key, mutant.file, mutant.function, mutant.change)
        return 0
    try:
        survivors = run(mutants, args.output, lambda line: print(line, flush=True))
    except KeyboardInterrupt:
        print(f"stopped; the same command goes on (results in {args.output})", file=sys.stderr)
        return INTERRUPTED
    excused = set(json.loads(EQUIVALENT.read_text()))
    counted = [mutant for mutant in mutants if mutant.key not in excused]
    caught = len(counted) - len(survivors)
    print(f"{caught} of {len(counted)} mutants that change behaviour are caught")
    return 0 if caught >= WANTED_SHARE * len(counted) else 1


if __name__ == "__main__":
    sys.exit(main())
