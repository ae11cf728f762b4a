"""Mutants: copies of a function with one small edit.

A comparison turned round, a constant one larger, a statement left out.
"""

from __future__ import annotations

import ast
import copy
import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.library import ROOT


@dataclass(frozen=True)
class Mutant:
    """One edit of one line range of a file.

    Attributes:
        file: from the root of the repository.
        function: the function it is in, with its class.
        line: where the edit is.
        change: what was done, as text.
        start: where the edited text begins, as an offset into the file.
        end: where it ends.
        text: what is put in its place, on as many lines.
        key: a digest of the function without its docstring, and of the edit. It stays the same
            when the function moves to another file.
    """

    file: str
    function: str
    line: int
    change: str
    start: int
    end: int
    text: str
    key: str

    def __str__(self) -> str:
        words = f"{self.key} {self.file}:{self.line} {self.function} {self.change}"
        return " ".join(words.split())

    def source(self) -> bytes:
        """The file with the edit."""
        source = (ROOT / self.file).read_bytes()
        return source[: self.start] + self.text.encode() + source[self.end :]


_Function = ast.FunctionDef | ast.AsyncFunctionDef

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
    for function, node in functions_of(ast.parse(source)):
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
                key = _key(function, node, edit, equal[edit])
                lines = "\n" * old.count("\n")  # so that what follows stays where it is
                text = f"({new[1:-1]}{lines})" if new.startswith("(") else new + lines
                name = file.relative_to(ROOT).as_posix()
                found.append(Mutant(name, function, inner.lineno, edit, begin, end, text, key))
    return found


def _key(name: str, function: _Function, *edit: object) -> str:
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    code = "".join(map(ast.dump, body))
    parts = "\0".join([name, code, *map(str, edit)])
    return hashlib.blake2b(parts.encode(), digest_size=6).hexdigest()


def functions_of(tree: ast.Module) -> Iterator[tuple[str, _Function]]:
    """The functions of a module, those in classes and the outermost only."""
    for node in tree.body:
        if isinstance(node, _Function):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, _Function):
                    yield f"{node.name}.{inner.name}", inner


def _body(function: _Function) -> Iterator[ast.AST]:
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
        if isinstance(node, _Function):
            waiting += node.body
        else:
            waiting += ast.iter_child_nodes(node)
