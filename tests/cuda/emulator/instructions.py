"""The C code of each PTX instruction: tables, and functions for the few that need them."""

from __future__ import annotations

import re
from collections.abc import Callable

from tests.cuda.emulator.parse import Instruction, UnknownPtxError

C_TYPES = {
    "b8": "uint8_t", "u8": "uint8_t", "s8": "int8_t", "b16": "uint16_t", "u16": "uint16_t",
    "s16": "int16_t", "b32": "uint32_t", "u32": "uint32_t", "s32": "int32_t", "b64": "uint64_t",
    "u64": "uint64_t", "s64": "int64_t", "f64": "double", "pred": "_Bool",
}  # fmt: skip
TWICE_AS_WIDE = {
    "uint16_t": "uint32_t", "int16_t": "int32_t", "uint32_t": "uint64_t", "int32_t": "int64_t",
    "uint64_t": "unsigned __int128", "int64_t": "__int128",
}  # fmt: skip

INTEGER = {
    "mov": "{a}",
    "add": "{a} + {b}",
    "sub": "{a} - {b}",
    "neg": "0 - {a}",
    "and": "{a} & {b}",
    "or": "{a} | {b}",
    "xor": "{a} ^ {b}",
    "not": "~{a}",
    "mul.lo": "{a} * {b}",
    "mad.lo": "{a} * {b} + {c}",
    "mul.wide": "({wide}){a} * {b}",
    "mul.hi": "(({wide}){a} * {b}) >> {bits}",
    "min": "{a} < {b} ? {a} : {b}",
    "max": "{a} > {b} ? {a} : {b}",
    # shifts by the width or more give zeros or copies of the sign; in C they are undefined
    "shl": "{n} >= {bits} ? 0 : {a} << {n}",
    "shr": "{n} >= {bits} ? ({a} < 0 ? -1 : 0) : {a} >> {n}",
    "selp": "{p} ? {a} : {b}",
    "setp.eq": "{a} == {b}",
    "setp.ne": "{a} != {b}",
    "setp.lt": "{a} < {b}",
    "setp.le": "{a} <= {b}",
    "setp.gt": "{a} > {b}",
    "setp.ge": "{a} >= {b}",
}
"""Instructions on integers of 16, 32 and 64 bits, by name without the type.

`{a}`, `{b}`, `{c}` and `{d}` are the operands in the instruction's type, `{n}` is the second one as
32 bits, `{p}` the third one as a truth value, `{bits}` the width of the type, `{wide}` a type twice
as wide.
"""
EXACT = {
    "mov.pred": "{a}",
    "not.pred": "!{a}",
    "and.pred": "{a} & {b}",
    "or.pred": "{a} | {b}",
    "xor.pred": "{a} ^ {b}",
    "mov.f64": "{a}",
    "neg.f64": "-{a}",
    "selp.f64": "{p} ? {a} : {b}",
    "cvt.rn.f64.s64": "(double)(int64_t){x}",
    "cvta.to.global.u64": "{a}",
    "cvta.to.local.u64": "{a}",
    "cvta.local.u64": "{a}",
    "popc.b32": "__builtin_popcountll({a})",
    "popc.b64": "__builtin_popcountll({a})",
    "clz.b32": "{a} ? __builtin_clz({a}) : 32",
    "clz.b64": "{a} ? __builtin_clzll({a}) : 64",
    "brev.b32": "reversed({a}, 32)",
    "brev.b64": "reversed({a}, 64)",
    "bfi.b32": "inserted({a}, {b}, {c}, {d}, 32)",
    "bfi.b64": "inserted({a}, {b}, {c}, {d}, 64)",
    "bfe.u32": "extracted({a}, {b}, {c}, 32)",
    "bfe.u64": "extracted({a}, {b}, {c}, 64)",
}
"""Other instructions, by full name; `{x}` is the first operand unchanged. Addresses are the same in
all memory spaces."""

_WHOLE = re.compile(r"(.+)\.([bsu](16|32|64))")
_CONVERT = re.compile(r"cvt\.([su](?:8|16|32|64))\.([su](?:8|16|32|64))")
_ACCESS = re.compile(r"(ld|st)\.(local|global|const)(?:\.v([24]))?\.([bsu](?:8|16|32|64)|f64)")
_ATOMIC = re.compile(r"(atom)\.global\.(add|min)\.([us]64)")
_ADDRESS = re.compile(r"\[([^+\]]+)(?:\+(-?\d+))?\]")
_UPDATES = {"add": "*q + v", "min": "v < *q ? v : *q"}
_HALVES = {"b32": ("uint16_t", 16), "b64": ("uint32_t", 32)}

Value = Callable[[str], str]
"""Translates an operand to C."""


def written(instruction: Instruction, value: Value, number: int) -> str:
    """An instruction as a C statement, without its guard; `number` identifies it in faults.

    Raises:
        UnknownPtxError: the instruction is not known here.
    """
    opcode = instruction.opcode
    if opcode in ("bra", "bra.uni"):
        return f"goto {value(instruction.operands[0])};"
    if opcode == "ret":
        return "return;"
    if opcode.startswith("ld.param."):
        return _parameter(instruction, value)
    if found := _ACCESS.fullmatch(opcode):
        return _access(instruction, value, number, found)
    if found := _ATOMIC.fullmatch(opcode):
        return _atomic(instruction, value, number, found)
    if opcode in ("mov.b32", "mov.b64") and any("{" in each for each in instruction.operands):
        return _halves(instruction, value)
    return f"{value(instruction.operands[0])} = {_expression(instruction, value)};"


def access_of(opcode: str) -> str:
    """The kind of memory access of an instruction, such as `ld.global`; empty if it has none."""
    if found := _ACCESS.fullmatch(opcode):
        return f"{found[1]}.{found[2]}"
    return "atom.global" if _ATOMIC.fullmatch(opcode) else ""


def _unknown(instruction: Instruction) -> UnknownPtxError:
    return UnknownPtxError(f"{instruction.opcode}: no translation for `{instruction.text}`")


def _pattern(instruction: Instruction) -> tuple[str, str]:
    """The pattern of an instruction in the tables, and the width of its type if that matters."""
    opcode = instruction.opcode
    if opcode in EXACT:
        return EXACT[opcode], ""
    if (found := _WHOLE.fullmatch(opcode)) and found[1] in INTEGER:
        return INTEGER[found[1]], found[3]
    if found := _CONVERT.fullmatch(opcode):
        return f"({C_TYPES[found[1]]})({C_TYPES[found[2]]}){{x}}", ""
    raise _unknown(instruction)


def _expression(instruction: Instruction, value: Value) -> str:
    """The C expression of an instruction in the tables."""
    pattern, bits = _pattern(instruction)
    sources = [value(each) for each in instruction.operands[1:]]
    made = C_TYPES[instruction.opcode.rpartition(".")[2]]
    fields = {name: f"(({made}){x})" for name, x in zip("abcd", sources, strict=False)}
    fields |= {"bits": bits, "wide": TWICE_AS_WIDE.get(made, ""), "x": sources[0]}
    if len(sources) > 1:
        fields["n"] = f"((uint32_t){sources[1]})"
    if len(sources) > 2:
        fields["p"] = sources[2]
    try:
        return pattern.format_map(fields)
    except KeyError as error:  # too few operands
        raise _unknown(instruction) from error


def _parameter(instruction: Instruction, value: Value) -> str:
    """A load of a parameter, which is a word."""
    target, place = instruction.operands
    if instruction.opcode != "ld.param.u64":
        raise _unknown(instruction)
    return f"{value(target)} = {value(place[1:-1])};"


def _place(operand: str, value: Value) -> str:
    """The address of `[name+offset]`."""
    found = _ADDRESS.fullmatch(operand)
    if found is None:
        raise UnknownPtxError(f"unknown address: {operand}")
    return f"{value(found[1])} + ({found[2] or 0})"


def _access(instruction: Instruction, value: Value, number: int, found: re.Match[str]) -> str:
    """A load or store of one number, or of several adjacent ones, which are aligned as a whole."""
    name, space, many, kind = found.groups()
    place, values = instruction.operands[:: 1 if name == "st" else -1]
    parts = [value(each.strip()) for each in values.strip("{}").split(",")]
    if len(parts) != int(many or 1):
        raise _unknown(instruction)
    made, size = C_TYPES[kind], int(kind[1:]) // 8 * len(parts)
    pointer = f"{made} *q = at({space.upper()}, {_place(place, value)}, {size}, {number});"
    moves = "".join(
        f" {part} = q[{i}];" if name == "ld" else f" q[{i}] = ({made}){part};"
        for i, part in enumerate(parts)
    )
    return f"{{ {pointer}{moves} }}"


def _atomic(instruction: Instruction, value: Value, number: int, found: re.Match[str]) -> str:
    """An atomic operation; plain code is enough, as threads run one after another."""
    target, place, given = instruction.operands
    made = C_TYPES[found[3]]
    return (
        f"{{ {made} v = ({made}){value(given)}, "
        f"*q = at(GLOBAL, {_place(place, value)}, 8, {number}); "
        f"{value(target)} = *q; *q = {_UPDATES[found[2]]}; }}"
    )


def _halves(instruction: Instruction, value: Value) -> str:
    """Two numbers packed into one of twice the width, the lower first, or unpacked."""
    target, source = instruction.operands
    half, bits = _HALVES[instruction.opcode.removeprefix("mov.")]
    packs = source.startswith("{")
    low, high = map(value, re.findall(r"%\w+", source if packs else target))
    if packs:
        return f"{value(target)} = ({half}){low} | (uint64_t)({half}){high} << {bits};"
    return f"{{ uint64_t v = {value(source)}; {low} = ({half})v; {high} = v >> {bits}; }}"
