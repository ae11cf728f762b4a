"""Translates the PTX of a kernel to C, with a counter for each block of code without branches.

`machine.c` includes the C text, which calls its functions and defines the stack, the tables and
`thread`, which runs one thread of the kernel.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from tests.cuda.emulator.instructions import C_TYPES, access_of, written
from tests.cuda.emulator.parse import (
    Brace,
    Bytes,
    Instruction,
    Kernel,
    Label,
    Registers,
    UnknownPtxError,
    parse,
)

SPECIAL = {"%tid.x": "tid", "%ctaid.x": "ctaid", "%ntid.x": "ntid", "%nctaid.x": "nctaid"}
INSTRUCTIONS = "instructions"
_64_BITS = 2**64 - 1


@dataclass(frozen=True)
class Translation:
    """A kernel in C.

    Attributes:
        source: the C text.
        kernel: the parsed kernel; statements are numbered as in its `body`.
        blocks: for each block without branches, the number of instructions by kind.
    """

    source: str
    kernel: Kernel
    blocks: list[Counter[str]]


def translate(text: str) -> Translation:
    """Translate the one kernel of a PTX text to C.

    Raises:
        UnknownPtxError: the text has PTX that the emulator does not know.
    """
    writer = _Writer(parse(text))
    return Translation(writer.source(), writer.kernel, writer.blocks)


def _named(name: str) -> str:
    """A unique C name for a name in PTX."""
    return ("r_" if name.startswith("%") else "s_") + re.sub(r"\W", "_S", name.lstrip("%"))


@dataclass
class _Writer:
    """Writes one kernel's C text, statement by statement."""

    kernel: Kernel
    blocks: list[Counter[str]] = field(default_factory=list)
    _names: dict[str, str] = field(default_factory=dict)
    _lines: list[str] = field(default_factory=list)

    def source(self) -> str:
        """The whole text."""
        for number, name in enumerate(self.kernel.parameters):
            self._names[name] = f"parameters[{number}]"
        memory = self._memory()
        labels = (each.name for each in self.kernel.body if isinstance(each, Label))
        self._names |= {name: _named(name) for name in labels}
        self._begin_block()
        for number, statement in enumerate(self.kernel.body):
            self._write(number, statement)
        head = f"enum {{ BLOCKS = {len(self.blocks)} }};"
        return "\n".join([head, *memory, "static void thread(void)", "{", *self._lines, "}", ""])

    def _memory(self) -> list[str]:
        """The stack and the tables, aligned exactly as declared."""
        stack = self.kernel.stack or Bytes("no stack", 1, 0)
        lines = [self._declared(stack)]
        lines += [self._declared(table) for table in self.kernel.tables]
        tables = [_named(table.name) for table in self.kernel.tables]
        ranges = "".join(f" RANGE({name})," for name in tables)
        lines.append(f"enum {{ TABLES = {len(tables)} }};")
        lines.append(f"static const struct range stack = RANGE({_named(stack.name)});")
        lines.append(f"static const struct range tables[] = {{{ranges} {{0, 0}} }};")
        return lines

    def _declared(self, memory: Bytes) -> str:
        name, align = _named(memory.name), memory.align
        self._names[memory.name] = f"((uint64_t)(uintptr_t){name}.bytes)"
        return (
            f"static struct {{ uint8_t gap[{align}], bytes[{memory.size}]; }} {name} "
            f"__attribute__((aligned({2 * align}))) = {{{{0}}, {{{memory.content}}}}};"
        )

    def _write(self, number: int, statement: Registers | Label | Brace | Instruction) -> None:
        if isinstance(statement, Instruction):
            self._write_instruction(number, statement)
        elif isinstance(statement, Label):
            self._lines.append(f"{_named(statement.name)}:")
            self._begin_block()
        elif isinstance(statement, Registers):
            self._write_registers(statement)
        else:
            self._lines.append(statement.text)

    def _write_registers(self, registers: Registers) -> None:
        """Registers start with garbage, on which no result may depend."""
        kind, count = C_TYPES.get(registers.kind), registers.count
        if kind is None:
            raise UnknownPtxError(f"registers of unknown type: .{registers.kind} {registers.name}")
        every = (
            [registers.name] if count is None else [f"{registers.name}{i}" for i in range(count)]
        )
        self._names |= {name: _named(name) for name in every}
        self._lines += [f"{kind} {_named(name)} = ({kind})GARBAGE;" for name in every]

    def _write_instruction(self, number: int, instruction: Instruction) -> None:
        """Write an instruction and count it in its block; a branch ends the block."""
        block = self.blocks[-1]
        block[INSTRUCTIONS] += 1
        if access := access_of(instruction.opcode):
            block[access] += 1
        done = written(instruction, self._value, number)
        if instruction.guard:
            negated, name = instruction.guard.startswith("!"), instruction.guard.lstrip("!")
            done = f"if ({'!' * negated}{self._value(name)}) {done}"
        self._lines.append(done)
        if instruction.opcode in ("bra", "bra.uni", "ret"):
            self._begin_block()

    def _begin_block(self) -> None:
        self._lines.append(f"count[{len(self.blocks)}]++;")
        self.blocks.append(Counter())

    def _value(self, operand: str) -> str:
        """An operand in C: a register, a number, or the address of a name."""
        if operand in SPECIAL:
            return SPECIAL[operand]
        if operand in self._names:
            return self._names[operand]
        if re.fullmatch(r"-?\d+", operand):
            return f"{hex(int(operand) & _64_BITS)}ULL"
        if re.fullmatch(r"0d[0-9A-Fa-f]{16}", operand):
            return f"double_of(0x{operand[2:]}ULL)"
        raise UnknownPtxError(f"unknown operand: {operand}")
