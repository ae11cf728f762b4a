"""Parses PTX as numba and NVVM write it: a text with one kernel."""

from __future__ import annotations

import re
from dataclasses import dataclass

IGNORED = (".version", ".target", ".address_size", ".common", ".pragma", ".loc", ".file")
"""Directives that do not affect a kernel's results; numba's `.common` words are never read."""
_ENTRY = re.compile(r"\.visible \.entry ([\w$]+)\((.*?)\)\s*\n\{\n(.*)\n\}", re.DOTALL)
_TABLE = re.compile(r"\.const \.align (\d+) \.b8 ([\w$]+)\[(\d+)\](?: = \{([\d, ]*)\})?;")
_STACK = re.compile(r"\.local \.align (\d+) \.b8\s+([\w$]+)\[(\d+)\];")
_REGISTERS = re.compile(r"\.reg \.(\w+)\s+(%\w+)(?:<(\d+)>)?;")
_LABEL = re.compile(r"([\w$]+):")
_INSTRUCTION = re.compile(r"(?:@(!?%\w+)\s+)?([a-z][\w.]*)\s*(.*);")
_OPERAND = re.compile(r"[^,{\[]*(?:\{[^}]*\}|\[[^\]]*\])?[^,{\[]*")


class UnknownPtxError(ValueError):
    """PTX that the emulator does not know."""


@dataclass(frozen=True)
class Bytes:
    """A table of constants, or the stack of a thread, which has no initial content."""

    name: str
    align: int
    size: int
    content: str = ""


@dataclass(frozen=True)
class Registers:
    """Registers of one type: `name`, or `name0` to `name(count - 1)`."""

    kind: str
    name: str
    count: int | None


@dataclass(frozen=True)
class Label:
    """A target of branches."""

    name: str


@dataclass(frozen=True)
class Brace:
    """The beginning or end of a scope of registers."""

    text: str


@dataclass(frozen=True)
class Instruction:
    """One instruction; `guard` is its predicate, such as `%p1` or `!%p1`, or empty."""

    text: str
    opcode: str
    operands: tuple[str, ...]
    guard: str = ""


Statement = Registers | Label | Brace | Instruction


@dataclass(frozen=True)
class Kernel:
    """A kernel: its parameters (64-bit words), its memory and its statements."""

    parameters: tuple[str, ...]
    tables: tuple[Bytes, ...]
    stack: Bytes | None
    body: tuple[Statement, ...]


def parse(text: str) -> Kernel:
    """The one kernel of a text.

    Raises:
        UnknownPtxError: the text has PTX that is not known here.
    """
    text = re.sub(r"//[^\n]*", "", text.replace("\0", ""))
    found = _ENTRY.search(text)
    if found is None:
        raise UnknownPtxError("there is no `.visible .entry` of the form that numba writes")
    tables = _tables(text[: found.start()] + text[found.end() :])
    stack: list[Bytes] = []
    body: list[Statement] = []
    for line in filter(None, map(str.strip, found[3].split("\n"))):
        if line.startswith(".local"):
            stack.append(_bytes(_STACK, line))
        elif not line.startswith(IGNORED):
            body.append(_statement(line))
    if len(stack) > 1:
        raise UnknownPtxError(f"several stacks: {stack}")
    return Kernel(_parameters(found[2]), tables, stack[0] if stack else None, tuple(body))


def _tables(text: str) -> tuple[Bytes, ...]:
    """The tables declared outside the kernel."""
    lines = filter(None, map(str.strip, text.split("\n")))
    return tuple(_bytes(_TABLE, line) for line in lines if not line.startswith(IGNORED))


def _bytes(pattern: re.Pattern[str], line: str) -> Bytes:
    found = pattern.fullmatch(line)
    if found is None:
        raise UnknownPtxError(f"unknown declaration: {line[:200]}")
    align, name, size, *content = found.groups()
    return Bytes(name, int(align), int(size), (content and content[0]) or "")


def _parameters(text: str) -> tuple[str, ...]:
    """The names of the parameters: numba passes arrays as words, and all our scalars are int64."""
    lines = [line.strip() for line in text.split(",") if line.strip()]
    for line in lines:
        if not line.startswith(".param .u64 "):
            raise UnknownPtxError(f"unknown parameter: {line[:200]}")
    return tuple(line.removeprefix(".param .u64 ") for line in lines)


def _statement(line: str) -> Statement:
    if line in ("{", "}"):
        return Brace(line)
    if found := _REGISTERS.fullmatch(line):
        return Registers(found[1], found[2], int(found[3]) if found[3] else None)
    if found := _LABEL.fullmatch(line):
        return Label(found[1])
    if found := _INSTRUCTION.fullmatch(line):
        guard, opcode, rest = found.groups()
        operands = (operand.strip() for operand in _OPERAND.findall(rest))
        return Instruction(line, opcode, tuple(filter(None, operands)), guard or "")
    raise UnknownPtxError(f"unknown statement: {line[:200]}")
