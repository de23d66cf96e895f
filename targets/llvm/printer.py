"""Funcs of the loop floor as the text of an LLVM module.

Comes in: funcs, each one program of a grid, and a CPU. Goes out: LLVM IR; each func becomes

    void name(const uint64_t *slots, const int64_t *grid, const int64_t *range)

which runs the programs from `range[2 * axis]` to `range[2 * axis + 1]` along each axis. `slots`
holds the func's arguments, eight bytes each; `grid` says how many programs there are in all.
Never: a call that a linker would have to resolve. Indices stay below 2^63 less a loop's step.
"""

from collections.abc import Iterable, Sequence

from ...ir.dtypes import boolean
from ...ir.func import Func
from ...ir.loop import Load
from ...ir.loop.places import GRID_AXES, ProgramCount
from ...ir.types import Buffer, Scalar
from ...ir.values import AnyValue, Op
from . import types
from .emit import REGIONS, TABLE
from .machines import CPU
from .programs import print_programs
from .writer import Metadata, Refused, Vectors, Writer, refuse

PARAMETERS = ", ".join([f"ptr noalias readonly %{name}" for name in ("slots", "grid", "range")])
WIDEST = 64


def print_llvm(funcs: Iterable[Func], machine: CPU) -> str:
    """The text of a module with one function for each func, under its name."""
    metadata, vectors = Metadata(), Vectors()
    functions = [_function(Writer(func, machine, metadata, vectors)) for func in funcs]
    head = [f'target triple = "{machine.triple}"\n', *vectors.lines]
    return "\n".join([*head, *functions, _attributes(machine), *metadata.lines, ""])


def _attributes(machine: CPU) -> str:
    """What holds for all functions; no loop may be taken for a function of the C library."""
    settings = {"target-cpu": machine.cpu, "target-features": machine.features}
    if machine.vector_bytes == WIDEST:
        settings["prefer-vector-width"] = "512"
    listed = " ".join([f'"{name}"="{value}"' for name, value in settings.items() if value])
    return f'attributes #0 = {{ nounwind "no-builtins" {listed} }}\n'


def _function(writer: Writer) -> str:
    func = writer.func
    _require_kernel(func)
    for name in ("slots", "grid", "range"):
        writer.unique(name)
    writer.label = writer.unique("entry")
    for place, value in enumerate(func.arguments):
        if value.uses:
            _argument(writer, place, value)
    _tell_scratch(writer)
    counted = {op.axis for op in func.walk() if isinstance(op, ProgramCount)}
    for axis in sorted(counted):
        writer.program_counts[axis] = _read(writer, f"programs.{axis}", "grid", axis)
    _before_programs(writer)
    axes = range(len(func.attributes.get("grid") or range(GRID_AXES)))
    print_programs(writer, [_range(writer, axis) for axis in axes], _print_ops)
    if writer.past_caches:
        writer.line("fence seq_cst")  # nobody else may find what was there before
    writer.line("ret void")
    head = f"define void @{func.name}({PARAMETERS}) #0 {{\nentry:"
    return "\n".join([head, *writer.allocas, writer.text, "}\n"])


def _require_kernel(func: Func) -> None:
    for value in func.arguments:
        if not isinstance(value.type, Buffer | Scalar):
            raise Refused(f"@{func.name}: a kernel takes no {value.type}", func.location)
    if func.results:
        raise Refused(f"@{func.name} is no kernel: it returns values", func.location)


def _read(writer: Writer, name: str, array: str, place: int) -> str:
    """One of the numbers of an array that is handed over."""
    return writer.temporary(name, f"load i64, ptr {_slot(writer, array, place)}")


def _range(writer: Writer, axis: int) -> tuple[str, str]:
    """The first program along an axis, and the one behind the last."""
    first = _read(writer, f"first.{axis}", "range", 2 * axis)
    return first, _read(writer, f"last.{axis}", "range", 2 * axis + 1)


def _slot(writer: Writer, array: str, place: int) -> str:
    if not place:
        return f"%{array}"
    return writer.temporary("slot", f"getelementptr i64, ptr %{array}, i64 {place}")


def _argument(writer: Writer, place: int, value: AnyValue) -> None:
    """Read an argument from its slot; a number lies in the low bytes."""
    at = _slot(writer, "slots", place)
    if isinstance(value.type, Buffer) or value.dtype is not boolean:
        writer.define(value, f"load {types.text(value.type)}, ptr {at}, align 8")
        return
    byte = writer.temporary("byte", f"load i8, ptr {at}, align 8")
    writer.define(value, f"icmp ne i8 {byte}, 0")


def _tell_scratch(writer: Writer) -> None:
    """Say that scratch buffers, which stand last, are apart from each other and from all others.

    Nothing is said of the rest: a step may hand one array over to be read and to be written.
    """
    count = len(writer.func.attributes.get("scratch") or ())
    if not count:
        return
    note, distinct = writer.metadata.note, writer.metadata.distinct
    domain = distinct(f'!"@{writer.func.name}"')
    buffers = writer.func.arguments[len(writer.func.arguments) - count :]
    scopes = [distinct(f'{domain}, !"scratch {number}"') for number in range(count)]
    for own, buffer in zip(scopes, buffers, strict=True):
        others = [scope for scope in scopes if scope is not own]
        text = f", !alias.scope {note(f'!{{{own}}}')}"
        if others:
            text += f", !noalias {note(_listed(others))}"
        writer.aliases[buffer] = text
    writer.alias_of_others = f", !noalias {note(_listed(scopes))}"


def _listed(notes: Sequence[str]) -> str:
    return f"!{{{', '.join(notes)}}}"


def _before_programs(writer: Writer) -> None:
    """Constants, steady numbers and what is made of them, which are the same for all programs."""
    begun = writer.begun
    for op in writer.func.body:
        steady = op.is_constant or (isinstance(op, Load) and op.steady)
        made = op.numbered and op.operands and all([each.op in begun for each in op.operands])
        if steady or made:
            TABLE[op.__class__](writer, op)
            begun.add(op)


def _print_ops(writer: Writer, ops: Iterable[Op]) -> None:
    """The ops of a block but the last, which says what leaves it."""
    for op in ops:
        if op.terminator:
            return
        cls, start = op.__class__, len(writer.lines)
        if op in writer.begun:
            continue
        if cls in TABLE:
            TABLE[cls](writer, op)
            writer.say_where(op, start)
        elif op.regions:
            writer.say_where(op)
            REGIONS[cls](writer, op, _print_ops)
        else:
            raise refuse(op, "it is for machines whose programs have many lanes")


__all__ = ["Refused", "print_llvm"]
