"""IR to text: one syntax for every op of every dialect.

    %results = dialect.op %operands {attribute = value} (%argument: type) { region } : types

Comes in: a module, a func or an op. Goes out: text that `parser` reads back to the same IR; with
`locations`, each op says ` at "file":line`. Never: a special case for an op.
"""

from collections.abc import Iterator
from typing import Any, TypeAlias

from .attributes import ANY
from .declare import operand_groups
from .dims import Symbol
from .func import Func, Module, func_of
from .locations import Location
from .scanner import quoted
from .shared.attribute_texts import attributes_text
from .values import AnyValue, Block, Op

Work: TypeAlias = "Iterator[Work]"


def print_module(module: Module, *, locations: bool = False) -> str:
    """The text of a module."""
    return "\n".join(print_func(func, locations=locations) for func in module)


def print_func(func: Func, *, locations: bool = False, numbered: bool = False) -> str:
    """The text of a func; if `numbered`, whatever its values are called."""
    return _Printer(locations, numbered).func(func)


def print_op(op: Op) -> str:
    """One op as it stands in its func, without the contents of its regions."""
    printer = _Printer(locations=False)
    if op.block is not None and (func := func_of(op.block)) is not None:
        printer.func(func)
    regions = "".join(f" {printer.arguments(region)} {{ … }}" for region in op.regions)
    return printer.head(op) + regions + printer.tail(op)


def run_nested(work: Work) -> None:
    """Run work that yields the work on each region where it stands, without recursion."""
    stack = [work]
    while stack:
        if inner := next(stack[-1], None):
            stack.append(inner)
        else:
            stack.pop()


class _Printer:
    """Writes the lines of one func."""

    def __init__(self, locations: bool, numbered: bool = False) -> None:
        self.locations, self.numbered = locations, numbered
        self.lines: list[str] = []
        self.names: dict[AnyValue, str] = {}
        self.taken: dict[str, int] = {}  # names, and the last number put behind each
        self.unnamed = 0

    def func(self, func: Func) -> str:
        """The header, the body, the closing brace."""
        symbols = f"<{', '.join(map(_symbol, func.symbols))}>" if func.symbols else ""
        arguments = self.arguments(func.body)
        last = func.body.last
        returned = [value.type.text for value in last.operands] if last else []
        types = f"({', '.join(returned)})" if len(returned) > 1 else "".join(returned)
        result = f" -> {types}" if returned else ""
        settings = f" with {ANY.text(func.attributes)}" if func.attributes else ""
        where = self.location(func.location)
        self.lines.append(f"func @{func.name}{symbols}{arguments}{result}{settings}{where} {{")
        run_nested(self.block(func.body, "  "))
        return "\n".join([*self.lines, "}\n"])

    def block(self, block: Block, pad: str) -> Work:
        """The ops of a block."""
        write = self.lines.append
        for op in block:
            line = pad + self.head(op)
            for region in op.regions:
                write(f"{line} {self.arguments(region)} {{")
                yield self.block(region, pad + "  ")
                line = pad + "}"
            write(line + self.tail(op))

    def head(self, op: Op) -> str:
        """`%results = name %operands {attributes}`"""
        names, name = self.names, self.name
        text = op.name
        if op.results:
            text = f"{', '.join([name(value) for value in op.results])} = {text}"
        cls: Any = op.__class__
        if cls.segmented:
            text += " " + ", ".join(filter(None, self.lists(op)))
        elif op.operands:
            text += " " + ", ".join([names.get(value) or name(value) for value in op.operands])
        return text + attributes_text(cls, op.attributes) if op.attributes else text

    def name(self, value: AnyValue) -> str:
        """`%hint`, made unique in the func, or `%number`; given where the value is first seen."""
        if value in self.names:
            return self.names[value]
        if value.name is None or self.numbered:
            name = str(self.unnamed)
            self.unnamed += 1
        else:
            name = hint = value.name
            while name in self.taken:
                self.taken[hint] += 1
                name = f"{hint}_{self.taken[hint]}"
            self.taken[name] = 0
        self.names[value] = name = f"%{name}"
        return name

    def lists(self, op: Any) -> Iterator[str]:
        """Operands of an op with several lists: all lists but the last stand in brackets."""
        for field, values in operand_groups(op):
            listed = ", ".join([self.name(value) for value in values])
            loose = not field.many or field is op.operand_fields[-1]
            yield listed if loose else f"[{listed}]"

    def tail(self, op: Op) -> str:
        """` : types at location`"""
        results = op.results
        text = " : " + ", ".join([value.type.text for value in results]) if results else ""
        return text + self.location(op.location) if self.locations else text

    def arguments(self, block: Block) -> str:
        """`(%argument: type, …)`"""
        listed = (f"{self.name(value)}: {value.type.text}" for value in block.arguments)
        return f"({', '.join(listed)})"

    def location(self, location: Location) -> str:
        """` at "file":line, …`, if locations are wanted and known."""
        places = ", ".join(f"{quoted(file)}:{line}" for file, line in location)
        return f" at {places}" if self.locations and places else ""


def _symbol(symbol: Symbol) -> str:
    """`n: 1..64 % 8`"""
    multiple = f" % {symbol.multiple}" if symbol.multiple != 1 else ""
    return f"{symbol.name}: {symbol.minimum}..{symbol.maximum}{multiple}"
