"""Why numba cannot compile a kernel: which function, which line, what is wrong, in three lines.

Numba says all that in dozens, from the kernels of this package that call the function to its own.
"""

from __future__ import annotations

import ast
import linecache
import re
import traceback
from collections.abc import Iterator
from pathlib import Path

from azumaya.envs.errors import told

HOME = Path(__file__).parents[2]
CALLERS = tuple(
    HOME / part for part in ("envs/engine", "envs/adapters", "envs/kernels", "baselines")
)
"""Where kernels are that call a game's; these are not to blame."""
MOST = 200
"""Characters of what numba says."""
PLACE = re.compile(r"(?:\bat|\bfrom) (\S.*?) \((\d+)\)")
CALLEE = re.compile(r"resolving callee type: .*<function ([\w.]+) at")
NESTED = "[^()]"
for _ in range(5):
    NESTED = rf"(?:[^()]|\({NESTED}*\))"
RECORD = re.compile(rf"Record\({NESTED}*\)")
"""The type of a state, with all that is in its parentheses."""

Place = tuple[str, int]
"""A file and a line."""


def compile_error(error: BaseException) -> str:
    """What numba says about a kernel, in three lines; "" if the error is none of numba's.

    The first line has the function, the second its place, or that of the call if numba does not say
    where in the function it is.
    """
    if not _is_numbas(error):
        return ""
    where = next((place for place in _places(error) if _is_theirs(place)), None)
    if where is None:  # numba names the function all the same, unless the call does not fit it
        inmost = next(iter(CALLEE.findall(str(error))), "")
        return f"{inmost} cannot be compiled\n" * bool(inmost) + f"numba: {_sentence(error)}"
    file, line = where
    name, called = _function_at(where), _called(error, where)
    first = f"{called}, which {name} calls," if called else name
    code = linecache.getline(file, line).strip()
    return f"{first} cannot be compiled\n{file}:{line}: {code}\nnumba: {_sentence(error)}"


def _is_numbas(error: BaseException) -> bool:
    """Whether it is numba's own, or has left numba while it was compiling."""
    if type(error).__module__.startswith("numba."):
        return True
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and "numba" in Path(frames[-1].filename).parts and bool(_located(error))


def _places(error: BaseException) -> Iterator[Place]:
    """Where it was, the innermost place first."""
    for file, line in PLACE.findall(str(error)):
        yield file, int(line)
    yield from _located(error)


def _located(error: BaseException) -> list[Place]:
    """The places that numba's objects name: errors that are not its own name none."""
    found = []
    for frame, _ in traceback.walk_tb(error.__traceback__):
        at = getattr(frame.f_locals.get("self"), "loc", None)
        if at is not None:
            found.append((str(at.filename), int(at.line)))
    return found[::-1]


def _is_theirs(place: Place) -> bool:
    path = Path(place[0]).resolve()
    ours = "numba" in path.parts or any(map(path.is_relative_to, CALLERS))
    return path.is_file() and not ours


def _function_at(place: Place) -> str:
    """The name of the innermost function around a line."""
    file, line = place
    defined = [
        each
        for each in ast.walk(ast.parse(Path(file).read_text("utf-8")))
        if isinstance(each, ast.FunctionDef)
        and min([each.lineno, *(part.lineno for part in each.decorator_list)]) <= line
        and line <= (each.end_lineno or line)
    ]
    return max(defined, key=lambda each: each.lineno).name if defined else "the module"


def _called(error: BaseException, place: Place) -> str:
    """The function that is called at a place, if numba says no more of where it is wrong."""
    before, found, _ = str(error).partition(f" {place[0]} ({place[1]})")
    return next(iter(CALLEE.findall(before)), "") if found else ""


def _sentence(error: BaseException) -> str:
    """What is wrong: what comes before numba says during what, without the lists that follow."""
    if isinstance(error, KeyError):
        return f"there is no field {error}"
    lines = [line.strip() for line in str(error).splitlines()]
    lines = [line for line in lines if line and not line.startswith("Failed in ")]
    said = lines[0] if lines else told(error)
    if said.endswith(":") and len(lines) > 1:
        said = f"{said} {lines[1].removeprefix('>>> ')}"
    said = RECORD.sub("Record(...)", re.sub(r" Raised from .*", "", said))
    return said if len(said) <= MOST else f"{said[:MOST]}..."
