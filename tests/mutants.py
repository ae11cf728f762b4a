"""Make random mutants of the library, and see which of them the suite catches.

    python -m tests.mutants [--seed N] [--count N] [--only TEXT] [--work FOLDER] [--list]

A mutant is a copy of the library with one small edit in one function: a comparison turned round, a
constant one larger, a statement left out. The seed draws the edits. For each mutant the tests that
concern its file run until one fails (`mutant_suites.py`). Results are appended to `results.jsonl`
in the work folder, a JSON object a line. A command that was interrupted goes on where it was: a
mutant that was caught is not tried again, and one that survived only after the sources or the tests
have changed. `tests/equivalent_mutants.json` names the mutants that were judged by hand to change
no behaviour, with the reason; these do not count.

Ends with the share of the others that is caught, and with status 1 if it is below 97 %, 2 if the
tests fail without any mutant, 130 after Ctrl-C.
"""

from __future__ import annotations

import argparse
import ast
import copy
import hashlib
import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.mutant_suites import Stage, Suites, UncleanError, stages_of
from tests.planted_faults import INTERRUPTED, ROOT

EQUIVALENT = ROOT / "tests" / "equivalent_mutants.json"
WANTED_SHARE = 0.97
UNCLEAN = 2
"""The exit code where the tests fail without a mutant."""


@dataclass(frozen=True)
class Mutant:
    """One edit of one line range of a file.

    Attributes:
        file: from the root of the repository.
        function: the function it is in, with its class.
        change: what was done, as text.
        start: where the edited text begins, as an offset into the file.
        end: where it ends.
        text: what is put in its place, on as many lines.
        key: a digest of the function without its docstring, and of the edit.
    """

    file: str
    function: str
    change: str
    start: int
    end: int
    text: str
    key: str

    def __str__(self) -> str:
        return " ".join(f"{self.key} {self.file} {self.function} {self.change}".split())

    @property
    def stages(self) -> tuple[Stage, Stage]:
        """What is run for it."""
        stages = stages_of(self.file)
        assert stages is not None
        return stages

    def source(self) -> bytes:
        """The file with the edit."""
        source = (ROOT / self.file).read_bytes()
        return source[: self.start] + self.text.encode() + source[self.end :]


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
        equal: Counter[str] = Counter()
        for inner in _body(node):
            target = inner.test if isinstance(inner, ast.If | ast.While | ast.IfExp) else inner
            for edited in edits_of(inner):
                begin = starts[target.lineno - 1] + target.col_offset
                end = starts[target.end_lineno - 1] + target.end_col_offset
                old = source.encode()[begin:end].decode()
                new = ast.unparse(ast.fix_missing_locations(edited))
                new = f"({new})" if isinstance(edited, ast.expr) else new
                edit = f"{old} -> {new}"
                equal[edit] += 1
                key = _key(_name(file), function, node, edit, equal[edit])
                lines = "\n" * old.count("\n")  # so that what follows stays where it is
                text = f"({new[1:-1]}{lines})" if new.startswith("(") else new + lines
                change = f"line {inner.lineno}: {edit}"
                found.append(Mutant(_name(file), function, change, begin, end, text, key))
    return found


def _key(file: str, name: str, function: ast.FunctionDef, *edit: object) -> str:
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    code = "".join(map(ast.dump, body))
    parts = "\0".join([file, name, code, *map(str, edit)])
    return hashlib.blake2b(parts.encode(), digest_size=6).hexdigest()


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
        if stages_of(_name(file)) and only in _name(file)
    )
    every = [mutant for file in files for mutant in mutants_of(file)]
    return random.Random(seed).sample(every, min(count, len(every)))


def run(
    mutants: list[Mutant], suites: Suites, output: Path, say: Callable[[str], None]
) -> list[Mutant]:
    """Try the mutants that have not been tried; returns those that survive and are not excused.

    All go through their quick stage first; what that lets pass goes through the other one.
    """
    excused = json.loads(EQUIVALENT.read_text())
    known = {**dict.fromkeys(excused, "excused"), **known_results(output, suites.version)}
    waiting = [mutant for mutant in mutants if mutant.key not in known]
    say(f"{len(mutants) - len(waiting)} of {len(mutants)} mutants are known or excused")
    waiting.sort(key=lambda mutant: not mutant.stages[0].interpreted)  # nothing to compile
    for stage in range(2):
        for number, mutant in enumerate(waiting, start=1):
            caught = suites.catches(mutant.stages[stage], mutant.file, mutant.source())
            if caught or stage == 1:
                known[mutant.key] = caught
                _append(output, {"caught": caught, "version": suites.version, **asdict(mutant)})
            say(f"stage {stage + 1}, {number}/{len(waiting)}: {mutant} | {caught or 'NOTHING'}")
        waiting = [mutant for mutant in waiting if mutant.key not in known]
    return [mutant for mutant in mutants if not known[mutant.key]]


def known_results(output: Path, version: str) -> dict[str, str]:
    """By the mutants' keys what caught each, so far as that holds for a version of the sources."""
    known = {}
    for line in output.read_text().splitlines() if output.exists() else ():
        try:
            row = json.loads(line)
        except ValueError:  # the command was killed while it wrote
            continue
        if row["caught"] or row["version"] == version:
            known[row["key"]] = row["caught"]
    return known


def _append(output: Path, row: dict[str, object]) -> None:
    output.parent.mkdir(parents=True, exist_ok=True)
    with output.open("a+b") as out:
        out.seek(max(out.tell() - 1, 0))
        torn = out.read(1) not in (b"", b"\n")
        out.write(b"\n" * torn + json.dumps(row).encode() + b"\n")


def main(words: list[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutants", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=80)
    parser.add_argument("--only", default="", help="only files whose path holds this text")
    parser.add_argument("--work", type=Path, default=ROOT / "runs/mutants", help="where results go")
    parser.add_argument("--list", action="store_true", help="name the mutants and run nothing")
    args = parser.parse_args(words)
    mutants = chosen(args.seed, args.count, args.only)
    if not mutants:
        parser.error(f"--only {args.only}: no file with mutants has this in its path")
    if args.list:
        for mutant in mutants:
            print(mutant)
        return 0
    try:
        suites, output = Suites(args.work), args.work / "results.jsonl"
        survivors = run(mutants, suites, output, lambda line: print(line, flush=True))
    except UncleanError as error:
        print(error, file=sys.stderr)
        return UNCLEAN
    except KeyboardInterrupt:
        print(f"stopped; the same command resumes (results in {args.work})", file=sys.stderr)
        return INTERRUPTED
    return report(mutants, survivors)


def report(mutants: list[Mutant], survivors: list[Mutant]) -> int:
    """Print what survived and the share that was caught; returns the exit code."""
    excused = json.loads(EQUIVALENT.read_text())
    counted = sum(mutant.key not in excused for mutant in mutants)
    caught = counted - len(survivors)
    for mutant in survivors:
        print(f"survived: {mutant}")
    print(
        f"{caught} of {counted} mutants that change behaviour are caught "
        f"({caught / max(counted, 1):.1%}); {len(mutants) - counted} change none"
    )
    return 0 if caught >= WANTED_SHARE * counted else 1


if __name__ == "__main__":
    sys.exit(main())
