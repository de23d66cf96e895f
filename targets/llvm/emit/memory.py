"""Memory: what is allocated, read and written, one number or a vector at a time.

Comes in: ops on buffers, which are pointers. Goes out: instructions aligned to one element.
Never: a touch where the mask is off.
"""

from typing import Any

from ....ir.dtypes import Kind, boolean, f32, f64, i64, u64
from ....ir.loop import (
    LINE,
    Allocate,
    Atomic,
    AtomicKind,
    Gather,
    Length,
    Load,
    LoadMasked,
    LoadVector,
    Prefetch,
    Scatter,
    Store,
    StoreMasked,
    StorePastCaches,
    StoreVector,
)
from ....ir.types import Scalar, Vec
from ....ir.values import AnyValue
from .. import types
from ..writer import Printers, Writer, refuse
from .addresses import address
from .arithmetic import require_arithmetic

STACK_AT_MOST = 1 << 18
"""The bytes that one allocation may take of the stack."""
WHOLE = (f32, f64, i64, u64)
"""The dtypes that no instruction makes narrower on their way to memory."""
MASKS = (8, 16, 32, 64)
"""The lanes of vectors whose masks have registers."""
SHORTEST_PAST_CACHES = 16
"""The bytes of the shortest vector that goes past the caches."""
A = AtomicKind
ATOMICS: dict[tuple[AtomicKind, Kind], str] = {
    (A.ADD, Kind.FLOAT): "fadd",
    (A.MINIMUM, Kind.FLOAT): "fminimum",
    (A.MAXIMUM, Kind.FLOAT): "fmaximum",
    (A.MINIMUM, Kind.UNSIGNED): "umin",
    (A.MAXIMUM, Kind.UNSIGNED): "umax",
}
ATOMICS_OF_OTHERS = {
    A.ADD: "add", A.MINIMUM: "min", A.MAXIMUM: "max", A.BIT_AND: "and", A.BIT_OR: "or",
    A.BIT_XOR: "xor", A.EXCHANGE: "xchg",
}  # fmt: skip


def print_allocate(writer: Writer, op: Allocate) -> None:
    """All memory of a program stands at the beginning of the function."""
    if not isinstance(op.count, int):
        raise refuse(op, f"{op.count} numbers, which the kernel does not know; scratch memory may")
    if op.count * op.dtype.itemsize > STACK_AT_MOST:
        raise refuse(op, f"{op.count} of {op.dtype} are too many for the stack")
    held = f"[{op.count} x {types.element_in_memory(op.dtype)}]"
    name = writer.name(op.result)
    writer.allocas.append(f"  {name} = alloca {held}, align {writer.machine.vector_bytes}")


def print_length(writer: Writer, op: Length) -> None:
    raise refuse(op, "a pointer knows no length")


def print_load(writer: Writer, op: Any) -> None:
    """One number, or a vector."""
    type_, buffer = op.result.type, op.buffer
    at = address(writer, op)
    right = f"load {types.in_memory(type_)}, ptr {at}, {_align(buffer)}{writer.alias(buffer)}"
    _define(writer, op.result, right)


def print_store(writer: Writer, op: Any) -> None:
    buffer, held = op.buffer, types.in_memory(op.value.type)
    value = _stored(writer, op.value)
    at = address(writer, op)
    writer.line(f"store {held} {value}, ptr {at}, {_align(buffer)}{writer.alias(buffer)}")


def print_store_past_caches(writer: Writer, op: StorePastCaches) -> None:
    """Lanes that go past the caches fill lines, or halves or fourths of one."""
    if _bytes(op.value) < SHORTEST_PAST_CACHES:
        print_store(writer, op)
        return
    held, value = types.in_memory(op.value.type), _stored(writer, op.value)
    at = address(writer, op)
    how = f"align {min(_bytes(op.value), LINE)}, !nontemporal {writer.metadata.note('!{i32 1}')}"
    writer.line(f"store {held} {value}, ptr {at}, {how}{writer.alias(op.buffer)}")
    writer.past_caches = True


def print_load_masked(writer: Writer, op: LoadMasked) -> None:
    held, buffer = types.in_memory(op.result.type), op.buffer
    padding = _stored(writer, op.padding)
    at = address(writer, op, masked=True)
    arguments = f"ptr {_align(buffer)} {at}, {writer.typed(op.mask)}, {held} {padding}"
    name = f"@llvm.masked.load.{types.suffix(op.result.type, memory=True)}.p0"
    _define(writer, op.result, f"call {held} {name}({arguments}){writer.alias(buffer)}")


def print_store_masked(writer: Writer, op: StoreMasked) -> None:
    held, buffer = types.in_memory(op.value.type), op.buffer
    value = _stored(writer, op.value)
    at = address(writer, op, masked=True)
    mask = _kept(writer, op.mask) if op.value.dtype not in WHOLE else writer.typed(op.mask)
    arguments = f"{held} {value}, ptr {_align(buffer)} {at}, {mask}"
    name = f"@llvm.masked.store.{types.suffix(op.value.type, memory=True)}.p0"
    writer.line(f"call void {name}({arguments}){writer.alias(buffer)}")


def print_gather(writer: Writer, op: Gather) -> None:
    type_, buffer = op.result.type, op.buffer
    held, lanes = types.in_memory(type_), type_.lanes
    padding = _stored(writer, op.padding)
    at = _addresses(writer, buffer, op.indices)
    arguments = f"<{lanes} x ptr> {_align(buffer)} {at}, {writer.typed(op.mask)}, {held} {padding}"
    name = f"@llvm.masked.gather.{types.suffix(type_, memory=True)}.v{lanes}p0"
    _define(writer, op.result, f"call {held} {name}({arguments}){writer.alias(buffer)}")


def print_scatter(writer: Writer, op: Scatter) -> None:
    """LLVM writes the lanes in order, so that the last of equal indices wins."""
    type_, buffer = op.value.type, op.buffer
    held, lanes = types.in_memory(type_), type_.lanes
    value = _stored(writer, op.value)
    at = _addresses(writer, buffer, op.indices)
    arguments = f"{held} {value}, <{lanes} x ptr> {_align(buffer)} {at}, {writer.typed(op.mask)}"
    name = f"@llvm.masked.scatter.{types.suffix(type_, memory=True)}.v{lanes}p0"
    writer.line(f"call void {name}({arguments}){writer.alias(buffer)}")


def print_atomic(writer: Writer, op: Atomic) -> None:
    """No order between lanes is promised, so none is asked for."""
    require_arithmetic(op, op.value.type)
    name = ATOMICS.get((op.kind, op.value.dtype.kind)) or ATOMICS_OF_OTHERS[op.kind]
    at = address(writer, op)
    align = f"align {op.value.dtype.itemsize}"
    writer.define(
        op.result, f"atomicrmw {name} ptr {at}, {writer.typed(op.value)} monotonic, {align}"
    )


def print_prefetch(writer: Writer, op: Prefetch) -> None:
    at = address(writer, op, masked=True)
    writer.line(f"call void @llvm.prefetch.p0(ptr {at}, i32 0, i32 {op.locality}, i32 1)")


def _addresses(writer: Writer, buffer: AnyValue, indices: AnyValue) -> str:
    held = types.element_in_memory(buffer.dtype)
    right = f"getelementptr {held}, ptr {writer.operand(buffer)}, {writer.typed(indices)}"
    return writer.temporary("at", right)


def _kept(writer: Writer, mask: AnyValue) -> str:
    """A mask in a register of its own, so that LLVM does not learn what it is: of a store that also
    narrows its numbers, under a mask of one known lane, LLVM 22 writes the number as it was."""
    lanes = mask.type.lanes
    if not writer.machine.masked or lanes not in MASKS:
        return writer.typed(mask)
    bits = writer.temporary("bits", f"bitcast {writer.typed(mask)} to i{lanes}")
    same = writer.temporary("same", f'call i{lanes} asm "", "=k,0"(i{lanes} {bits})')
    return (
        f"<{lanes} x i1> {writer.temporary('mask', f'bitcast i{lanes} {same} to <{lanes} x i1>')}"
    )


def _bytes(value: AnyValue) -> int:
    return value.type.lanes * value.dtype.storage.itemsize


def _align(buffer: AnyValue) -> str:
    return f"align {buffer.dtype.itemsize}"


def _define(writer: Writer, result: AnyValue, right: str) -> None:
    """What was read, as registers hold it: any byte but 0 is true."""
    if result.dtype is not boolean:
        writer.define(result, right)
        return
    byte = writer.temporary("bytes", right)
    zero = _no_bytes(result.type)
    writer.define(result, f"icmp ne {types.in_memory(result.type)} {byte}, {zero}")


def _stored(writer: Writer, value: AnyValue) -> str:
    """A value as memory holds it."""
    if value.dtype is not boolean:
        return writer.operand(value)
    held = types.in_memory(value.type)
    return writer.temporary("bytes", f"zext {writer.typed(value)} to {held}")


def _no_bytes(type_: Scalar | Vec) -> str:
    """No byte set."""
    return "zeroinitializer" if isinstance(type_, Vec) else "0"


TABLE: Printers = {
    Allocate: print_allocate,
    Length: print_length,
    Load: print_load,
    LoadVector: print_load,
    LoadMasked: print_load_masked,
    Store: print_store,
    StorePastCaches: print_store_past_caches,
    StoreVector: print_store,
    StoreMasked: print_store_masked,
    Gather: print_gather,
    Scatter: print_scatter,
    Atomic: print_atomic,
    Prefetch: print_prefetch,
}
