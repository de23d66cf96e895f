"""The text of one function as it grows: lines, names that are unique, the block that is open.

Comes in: hints for names, right-hand sides. Goes out: lines, and operands as text.
Never: what an op means; `emit/` knows that.
"""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, NamedTuple

from ...ir.errors import IRError
from ...ir.func import Func
from ...ir.locations import UNKNOWN
from ...ir.types import Buffer
from ...ir.values import AnyValue, Block, Op
from . import types
from .machines import CPU

Printers = dict[type[Any], Callable[..., None]]
"""By the class of an op, what writes it."""


class Refused(IRError):
    """The CPU has no instructions for an op: another pass has to replace it first."""


class Metadata:
    """The numbered notes at the end of a module; equal ones are one."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._numbers: dict[str, str] = {}

    def note(self, text: str) -> str:
        """The number of a note with this text."""
        if text not in self._numbers:
            self._numbers[text] = self._next(text)
        return self._numbers[text]

    def distinct(self, rest: str) -> str:
        """The number of a note of its own, which begins with itself."""
        return self._next(f"distinct !{{!{len(self.lines)}, {rest}}}")

    def _next(self, text: str) -> str:
        self.lines.append(f"!{len(self.lines)} = {text}")
        return f"!{len(self.lines) - 1}"


class Vectors:
    """The vectors of a module that stand in memory, each once, by type and number. They are said to
    come from elsewhere, so that LLVM reads them."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._names: dict[tuple[str, str], str] = {}

    def name(self, type_: str, constant: str, align: int) -> str:
        """The name of a constant's memory."""
        if (type_, constant) not in self._names:
            name = self._names[type_, constant] = f"@vector.{len(self.lines)}"
            memory = f"internal externally_initialized global {type_} {constant}"
            self.lines.append(f"{name} = {memory}, align {align}")
        return self._names[type_, constant]


class Round(NamedTuple):
    """Which time the body of a loop is written: how far the index is ahead of that of the first
    time; the number of that time, and of this one."""

    block: Block | None
    ahead: int
    first: int
    number: int


class Writer:
    """Writes one function; `label` names the block that is open."""

    def __init__(self, func: Func, machine: CPU, metadata: Metadata, vectors: Vectors) -> None:
        self.func, self.machine, self.metadata, self.vectors = func, machine, metadata, vectors
        self.lines: list[str | list[str]] = []
        self.constants: dict[str, str] = {}
        self.at_entry = self.aside()
        self.before_loop: dict[Op, list[str]] = {}
        self.pointers: dict[tuple[Any, ...], str] = {}
        self.round, self.rounds = Round(None, 0, 0, 0), 0
        self.allocas: list[str] = []
        self.texts: dict[AnyValue, str] = {}
        self.taken: dict[str, int] = {}
        self.aliases: dict[AnyValue, str] = {}
        self.alias_of_others = ""
        self.past_caches = False
        self.program_ids: dict[int, str] = {}
        self.begun: set[Any] = set()
        self.program_counts: dict[int, str] = {}
        self.label = ""
        self._location = UNKNOWN

    def read_constant(self, type_: str, constant: str) -> str:
        """A vector that is read once, where the function begins."""
        align = self.machine.vector_bytes
        at = self.vectors.name(type_, constant, align)
        if at not in self.constants:
            name = self.constants[at] = self.unique("constant")
            self.at_entry.append(f"  {name} = load {type_}, ptr {at}, align {align}")
        return self.constants[at]

    def line(self, text: str) -> None:
        """One instruction."""
        self.lines.append("  " + text)

    def aside(self) -> list[str]:
        """Room for lines that will be known later."""
        room: list[str] = []
        self.lines.append(room)
        return room

    @property
    def text(self) -> str:
        """All lines, those of rooms too."""
        flat: list[str] = []
        for line in self.lines:
            if isinstance(line, str):
                flat.append(line)
            else:
                flat += line
        return "\n".join(flat)

    def operand(self, value: AnyValue) -> str:
        """A value without its type."""
        return self.texts[value]

    def typed(self, value: AnyValue) -> str:
        """A value after its type."""
        return f"{types.text(value.type)} {self.texts[value]}"

    def define(self, value: AnyValue, right: str) -> None:
        """`%value = right`, and the value is known by that name."""
        self.lines.append(f"  {self.name(value)} = {right}")

    def equate(self, value: AnyValue, text: str) -> None:
        """The value is a constant, or another value by another type: no instruction."""
        self.texts[value] = text

    def temporary(self, hint: str, right: str) -> str:
        """`%hint = right` for a value that the IR does not have; its name."""
        name = self.unique(hint)
        self.lines.append(f"  {name} = {right}")
        return name

    def name(self, value: AnyValue) -> str:
        """A new name for a value, which it keeps."""
        hint = _hint(value) if value.name is None else safe(value.name)
        self.texts[value] = name = self.unique(hint)
        return name

    def unique(self, hint: str) -> str:
        """`%hint`, with a number behind it if that is taken."""
        taken = self.taken
        count = taken.get(hint, -1) + 1
        taken[hint] = count
        if not count:
            return f"%{hint}"
        while (name := f"{hint}.{count}") in taken:
            count += 1
        taken[hint], taken[name] = count, 0
        return f"%{name}"

    def open(self, label: str) -> None:
        """Begin a block."""
        self.lines.append(f"{label[1:]}:")
        self.label = label

    def jump(self, label: str, note: str = "") -> None:
        """End the open block."""
        self.line(f"br label {label}{note}")

    def branch(self, predicate: str, on_true: str, on_false: str) -> None:
        """End the open block with a choice."""
        self.line(f"br i1 {predicate}, label {on_true}, label {on_false}")

    def begin_round(self, block: Block, ahead: int) -> None:
        """The body of a loop is written once more, for an index that is so far ahead."""
        self.rounds += 1
        first = self.round.first if ahead else self.rounds
        self.round = Round(block, ahead, first, self.rounds)

    def say_where(self, op: Op, start: int | None = None) -> None:
        """A comment with the user's lines, where they are others than before; above the lines that
        were written from `start` on, if there are any."""
        if op.location is self._location or not op.location or start == len(self.lines):
            return
        self._location = op.location
        comment = "  ; " + str(op.location).replace("\n", " ")
        self.lines.insert(len(self.lines) if start is None else start, comment)

    def alias(self, buffer: AnyValue) -> str:
        """What is known of an access to a buffer: scratch memory is nobody else's."""
        return self.aliases.get(buffer, self.alias_of_others)


def phi(name: str, type_text: str, entries: Iterable[tuple[str, str]]) -> str:
    """`%name = phi type [ value, block ], …`"""
    listed = ", ".join([f"[ {value}, {label} ]" for value, label in entries])
    return f"  {name} = phi {type_text} {listed}"


def refuse(op: Any, why: str) -> Refused:
    """The error for an op that the CPU has not."""
    kind = getattr(op, "kind", None)
    what = f"{op.name} {{kind = {kind.value}}}" if kind is not None else op.name
    return Refused(f"{what} has no instruction on the CPU: {why}", op.location)


@lru_cache(4096)
def safe(name: str) -> str:
    """A name that LLVM takes for one: not a number, and of plain letters."""
    plain = re.sub(r"[^A-Za-z0-9_.]", "_", name)
    return f"v{plain}" if plain[:1].isdigit() else plain


def _hint(value: AnyValue) -> str:
    """`add` for `loop.binary {kind = add}`, `extract` for `loop.extract`."""
    op: Any = value.op
    if op is None:
        return "carried"
    if isinstance(value.type, Buffer):
        return "memory"
    kind = getattr(op, "kind", None)
    return op.name[5:] if kind is None else kind.value
