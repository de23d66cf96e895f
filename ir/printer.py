"""IR to text: one syntax for every op of every dialect.

    %results = dialect.op %operands {attribute = value} (%argument: type) { region } : types

Comes in: a module, a func or an op. Goes out: text that `parser` reads back to the same IR;
with `locations`, each op says ` at "file":line`.
Never: a special case for an op.
"""

from collections.abc import Iterator
from typing import Any

from .attributes import ANY
from .declare import Op, Role, declared_class, operand_groups
from .dims import Symbol
from .func import Func, Module, func_of
from .locations import Location
from .scanner import quoted
from .values import AnyValue, Block
from .values import Op as BareOp

_ATTRIBUTES: dict[type[BareOp], dict[tuple[Any, ...], str]] = {}


def print_module(module: Module, *, locations: bool = False) -> str:
    """The text of a module."""
    return "\n".join(print_func(func, locations=locations) for func in module)


def print_func(func: Func, *, locations: bool = False) -> str:
    """The text of a func."""
    return "\n".join(_Printer({}, locations).func(func)) + "\n"


def print_op(op: BareOp) -> str:
    """One op as it stands in its func, without the contents of its regions."""
    names: dict[AnyValue, str] = {}
    func = func_of(op.block) if op.block is not None else None
    if func is not None:
        list(_Printer(names, False).func(func))
    printer = _Printer(names, False, named=True)
    regions = "".join(f" {printer.header(region)} {{ … }}" for region in op.regions)
    return printer.head(op, "") + regions + printer.tail(op)


class _Printer:
    """Writes lines; `names` are the values seen so far."""

    def __init__(self, names: dict[AnyValue, str], locations: bool, named: bool = False) -> None:
        self.names = names
        self.locations = locations
        self.named = named
        self.taken: dict[str, int] = {}  # names, and the last number put behind each
        self.count = 0

    def func(self, func: Func) -> Iterator[str]:
        """The header, the body, the closing brace."""
        symbols = f"<{', '.join(map(symbol_text, func.symbols))}>" if func.symbols else ""
        arguments = self.header(func.body)
        last = func.body.last
        types = ", ".join([value.type.text for value in last.operands]) if last is not None else ""
        several = last is not None and len(last.operands) > 1
        result = f" -> ({types})" if several else f" -> {types}" if types else ""
        settings = f" with {ANY.text(func.attributes)}" if func.attributes else ""
        where = self.location(func.location)
        yield f"func @{func.name}{symbols}{arguments}{result}{settings}{where} {{"
        yield from self.block(func.body)
        yield "}"

    def block(self, block: Block) -> Iterator[str]:
        """The ops of a block and of all regions inside, without recursion."""
        pad = "  "
        stack: list[tuple[BareOp, int, Iterator[BareOp]]] = []
        ops = iter(block)
        while True:
            for op in ops:
                if not op.regions:
                    yield self.head(op, pad) + self.tail(op)
                    continue
                yield f"{self.head(op, pad)} {self.header(op.regions[0])} {{"
                stack.append((op, 0, ops))
                ops = iter(op.regions[0])
                pad += "  "
                break
            else:
                if not stack:
                    return
                owner, place, ops = stack.pop()
                pad = pad[2:]
                if place + 1 < len(owner.regions):
                    region = owner.regions[place + 1]
                    yield f"{pad}}} {self.header(region)} {{"
                    stack.append((owner, place + 1, ops))
                    ops, pad = iter(region), pad + "  "
                else:
                    yield f"{pad}}}{self.tail(owner)}"

    def head(self, op: BareOp, pad: str) -> str:
        """`%results = name %operands {attributes}`"""
        names = self.names
        for value in op.results:
            names[value] = self.name(value)
        text = pad
        if op.results:
            text += ", ".join([names[value] for value in op.results]) + " = "
        text += op.name
        attributes = op.attributes
        cls = op.__class__
        if attributes and attributes[-1].__class__ is tuple and declared_class(op).segmented:
            text += " " + _grouped(op, names)
        elif op.operands:
            text += " " + ", ".join([names.get(value) or _unnamed(value) for value in op.operands])
        if attributes:
            cached = _ATTRIBUTES.get(cls, {}).get(attributes)
            text += attributes_text(op) if cached is None else cached
        return text

    def tail(self, op: BareOp) -> str:
        """` : types at location`"""
        results = op.results
        text = ""
        if len(results) == 1:
            text = " : " + results[0].type.text
        elif results:
            text = " : " + ", ".join([value.type.text for value in results])
        return text + self.location(op.location) if self.locations else text

    def header(self, block: Block) -> str:
        """`(%argument: type, …)`"""
        for value in block.arguments:
            self.names[value] = self.name(value)
        listed = (f"{self.names[value]}: {value.type.text}" for value in block.arguments)
        return f"({', '.join(listed)})"

    def name(self, value: AnyValue) -> str:
        """`%hint`, made unique in the func, or `%number`."""
        if self.named:
            return self.names.get(value) or _unnamed(value)
        hint = value.name
        if hint is None:
            self.count += 1
            return f"%{self.count - 1}"
        name, suffix = hint, self.taken.get(hint, 0)
        while name in self.taken:
            suffix += 1
            name = f"{hint}_{suffix}"
        self.taken[name] = 0
        self.taken[hint] = suffix
        return f"%{name}"

    def location(self, location: Location) -> str:
        """` at "file":line, …`, if locations are wanted and known."""
        if not self.locations or not location:
            return ""
        return " at " + ", ".join(f"{quoted(file)}:{line}" for file, line in location.places)


def attributes_text(op: BareOp) -> str:
    """` {name = value, …}`, remembered for each class and each list of values."""
    cls = declared_class(op)
    texts = [
        f"{field.name} = {field.kind.text(value)}"
        for field, value in zip(cls.attribute_fields, op.attributes, strict=False)
        if field.kind is not None and value is not None
    ]
    text = f" {{{', '.join(texts)}}}" if texts else ""
    cache = _ATTRIBUTES.setdefault(cls, {})
    if len(cache) >= 10_000:
        cache.clear()
    cache[op.attributes] = text
    return text


def symbol_text(symbol: Symbol) -> str:
    """`n: 1..64 % 8`"""
    multiple = f" % {symbol.multiple}" if symbol.multiple != 1 else ""
    return f"{symbol.name}: {symbol.minimum}..{symbol.maximum}{multiple}"


def _grouped(op: BareOp, names: dict[AnyValue, str]) -> str:
    """Operands of an op with several lists: all lists but the last stand in brackets."""
    assert isinstance(op, Op)
    groups = operand_groups(op)
    parts: list[str] = []
    for place, (field, values) in enumerate(groups):
        listed = [names.get(value) or _unnamed(value) for value in values]
        if field.role is Role.OPERANDS and place + 1 < len(groups):
            parts.append(f"[{', '.join(listed)}]")
        else:
            parts.extend(listed)
    return ", ".join(parts)


def _unnamed(value: AnyValue) -> str:
    """A value that is not defined before it is read: the IR is broken, the text says where."""
    return f"%undefined_{value.name or value.index}"
