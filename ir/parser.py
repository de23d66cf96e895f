"""Text to IR: reads what `printer` writes, and what a person types.

Comes in: a text and a file name for messages. Goes out: a module, each op of which knows its line
(or the line that ` at "file":line` states). Equal ops stay apart, as the text says.
Never: an exception other than `ParseError` (the text is not IR) and `VerifyError` (an op is wrong).

Lists of attributes and of types repeat in a text, so each distinct spelling is read once a func.
"""

import difflib
import re
from collections.abc import Iterable
from importlib import import_module
from typing import Any, NoReturn

from .attributes import MAPPING, Pending
from .declare import NO_DEFAULT, REGISTRY, Op, Role
from .dims import DEFAULT_MAXIMUM, DimError, Symbol
from .dtypes import BY_NAME
from .errors import Unmet
from .func import Func, Module
from .locations import Location
from .scanner import DOTTED, Scanner
from .types import Type, parse_type
from .values import AnyValue, Block, Value
from .verifier import blame

VALUE = r"%[A-Za-z0-9_]+"
VALUES = rf"{VALUE}(?:[ \t]*,[ \t]*{VALUE})*"
HEAD = re.compile(
    rf"[ \t\r\n]*(?:({VALUES})[ \t\r\n]*=[ \t\r\n]*)?({DOTTED.pattern})(?:[ \t]+({VALUES}))?[ \t]*"
)
ONE_VALUE = re.compile(VALUE)
SEPARATOR = re.compile(r"[ \t]*,[ \t]*")
SIMPLE_ATTRIBUTES = re.compile(r'\{[^{}()"/\n]*\}[ \t]*')
SIMPLE_TYPES = re.compile(r':[ \t]*([^\n{}"/]*>)')
MAX_REGION_DEPTH = 4096
RESERVED = {"true", "false", "inf", "nan", "ceildiv", "min", "max", *BY_NAME}

Open = tuple[Op, list[str], int, Block]
"""An op whose regions are being read, the names of its results, where it stands and in what."""


def parse(text: str, file: str = "<text>") -> Module:
    """The module that `text` describes; every op in it is checked."""
    return _Parser(text.removeprefix("\ufeff"), file).module()


class _Parser(Scanner):
    """One text; `values` are the names visible at the position, `scopes` those of each region."""

    def __init__(self, text: str, file: str) -> None:
        super().__init__(text, file)
        self.line, self.counted = 1, 0
        self.values: dict[str, AnyValue] = {}
        self.scopes: list[list[str]] = []
        self.types_seen: dict[str, tuple[Type, ...]] = {}
        self.attributes_seen: dict[tuple[type[Op], str], tuple[Any, ...]] = {}

    def module(self) -> Module:
        """Funcs up to the end of the text."""
        module = Module()
        while self.skip() < len(self.text):
            start = self.position
            func = self.func()
            if func.name in module.funcs:
                self.fail_at(start, f"a func @{func.name} stands above already")
            module.add(func)
        if not module.funcs:
            self.fail("'func'")
        return module

    def func(self) -> Func:
        """`func @name<dims>(arguments) -> types with {settings} { ops }`"""
        location = self.location_here(self.skip())
        self.expect("func")
        self.expect("@")
        name = self.word("the name of a func")
        self.types_seen.clear()
        self.attributes_seen.clear()
        self.values.clear()
        self.symbols = {}
        if self.accept("<"):
            self.sequence(self._symbol, ">")
        func = Func(name, symbols=self.symbols.values())
        self.scopes = [[]]
        self._arguments(func.body)
        start = self.skip()
        declared = self._declared_types()
        if self.accept("with"):
            func.attributes = self._value_of(MAPPING, self.skip())
        func.location = self._at(location)
        self.expect("{")
        self._body(func.body)
        self._check_results(func, declared, start)
        return func

    def location_here(self, position: int) -> Location:
        """The line of `position`, which is never before one already asked for."""
        self.line += self.text.count("\n", self.counted, position)
        self.counted = position
        return Location((self.file, self.line))

    def _symbol(self) -> None:
        start = self.skip()
        name = self.word("the name of a size")
        low, high, multiple = 0, DEFAULT_MAXIMUM, 1
        if self.accept(":"):
            low = self.integer("a least size")
            self.expect("..")
            high = self.integer("a largest size")
        if self.accept("%"):
            multiple = self.integer("a multiple")
        if name in self.symbols or name in RESERVED:
            why = "is named twice" if name in self.symbols else "has a name that means something"
            self.fail_at(start, f"the size {name} {why}")
        try:
            symbol = Symbol(name, low, high, multiple)
        except DimError as error:
            self.fail_at(start, str(error))
        self.symbols[name] = symbol

    def _arguments(self, block: Block) -> None:
        self.expect("(")
        self.sequence(lambda: self._argument(block), ")")

    def _argument(self, block: Block) -> None:
        start = self.skip()
        name = self.match(ONE_VALUE, "an argument (%name)")
        self.expect(":")
        self._define(name, block.add_argument(parse_type(self)), start)

    def _declared_types(self) -> list[Type]:
        if not self.accept("->"):
            return []
        if self.accept("("):
            return self.sequence(lambda: parse_type(self), ")")
        return [parse_type(self)]

    def _check_results(self, func: Func, declared: list[Type], start: int) -> None:
        last = func.body.last
        if last is None or last.name != "return":
            self.fail_at(self.position - 1, f"expected 'return' at the end of @{func.name}")
        found = [value.type for value in last.operands]
        if found != declared:
            said = ", ".join(map(str, declared)) or "nothing"
            returned = ", ".join(map(str, found)) or "nothing"
            self.fail_at(start, f"@{func.name} declares {said} and returns {returned}")

    def _body(self, block: Block) -> None:
        """Ops up to the closing brace, and those of all regions inside, without recursion."""
        stack: list[Open] = []
        text = self.text
        while True:
            matched = HEAD.match(text, self.position) or HEAD.match(text, self.skip())
            if matched is not None:
                opened = self._op(block, matched)
                if opened is not None:
                    stack.append(opened)
                    block = self._open(opened[0])
                continue
            if not self.accept("}"):
                self.fail("an op or '}'")
            if not stack:
                return
            for name in self.scopes.pop():
                del self.values[name]
            if self.at("("):
                block = self._open(stack[-1][0])
            else:
                op, names, start, block = stack.pop()
                self._finish(op, names, start, block)

    def _open(self, op: Op) -> Block:
        """The next region of an op: its arguments and opening brace."""
        if len(op.regions) == len(op.region_fields):
            self.fail_at(self.skip(), f"{op.name} has {len(op.regions)} regions, not more")
        if len(self.scopes) > MAX_REGION_DEPTH:
            self.fail_at(self.position, f"regions nest more than {MAX_REGION_DEPTH} deep")
        block = Block((), op)
        op.regions = (*op.regions, block)
        self.scopes.append([])
        self._arguments(block)
        self.expect("{")
        return block

    def _op(self, block: Block, matched: re.Match[str]) -> Open | None:
        """One op up to its end, or up to its regions, which are then to be read."""
        listed, op_name, operands = matched.groups()
        start = matched.start(2)
        cls = REGISTRY.get(op_name) or self._declared(op_name, start)
        self.position = matched.end()
        op = object.__new__(cls)
        op.location = self.location_here(start)
        op.operands = op.regions = ()
        hidden: tuple[Any, ...] = ()
        if cls.segmented:
            self.position = matched.end(2)
            hidden = self._lists(op)
        elif operands:
            op.operands = self._operands(operands, matched.start(3))
        op.attributes = self._attributes(cls) + hidden
        names = [] if not listed else SEPARATOR.split(listed) if "," in listed else [listed]
        if not self.text.startswith(":", self.position) and self.at("("):
            op.block = None  # an error inside a region asks for the func, and finds none yet
            return op, names, start, block
        self._finish(op, names, start, block)
        return None

    def _operands(self, listed: str, start: int) -> tuple[AnyValue, ...]:
        values = self.values
        try:
            return tuple([values[name] for name in listed.split(", ")])
        except KeyError:
            names = SEPARATOR.split(listed)
        for name in names:
            if name not in values:
                self._undefined(name, self.text.index(name, start))
        return tuple([values[name] for name in names])

    def _lists(self, op: Op) -> tuple[Any, ...]:
        """The operands of an op with several lists: all lists but the last stand in brackets."""
        read: list[AnyValue] = []
        lengths: list[int] = []
        fields = op.operand_fields
        for place, field in enumerate(fields):
            if place + 1 == len(fields) and field.role is Role.OPERANDS:
                values = self.several(self._value) if self.accept(",") else []
            else:
                if place:
                    self.expect(",")
                if field.role is Role.OPERAND:
                    read.append(self._value())
                    continue
                self.expect("[")
                values = self.sequence(self._value, "]")
            lengths.append(len(values))
            read.extend(values)
        op.operands = tuple(read)
        return (tuple(lengths),)

    def _value(self) -> AnyValue:
        start = self.skip()
        name = self.match(ONE_VALUE, "a value (%name)")
        if name not in self.values:
            self._undefined(name, start)
        return self.values[name]

    def _attributes(self, cls: type[Op]) -> tuple[Any, ...]:
        if not cls.attribute_fields and not self.text.startswith("{", self.position):
            return ()
        simple = SIMPLE_ATTRIBUTES.match(self.text, self.position)
        if simple is None:
            return self._read_attributes(cls)
        key = (cls, simple.group())
        found = self.attributes_seen.get(key)
        if found is None:
            found = self.attributes_seen[key] = self._read_attributes(cls)
        self.position = simple.end()
        return found

    def _read_attributes(self, cls: type[Op]) -> tuple[Any, ...]:
        """`{name = value, …}` in any order; those with defaults may be missing."""
        fields = cls.attribute_fields
        kinds = {field.name: field.kind for field in fields}
        read: dict[str, Any] = {}
        start = self.skip()

        def one() -> None:
            here = self.skip()
            name = self.word("the name of an attribute")
            kind = kinds.get(name)
            if kind is None or name in read:
                known = f"one of {', '.join(kinds)}" if kinds else "none"
                wanted = "each attribute once" if name in read else f"an attribute ({known})"
                self.fail_at(here, f"{cls.name}: expected {wanted}, found '{name}'")
            self.expect("=")
            read[name] = self._value_of(kind, here)

        if self.accept("{"):
            self.sequence(one, "}")
        for field in fields:
            if field.name not in read and field.default is NO_DEFAULT:
                self.fail_at(start, f"{cls.name} needs the attribute {field.name}")
        return tuple([read.get(field.name, field.default) for field in fields])

    def _value_of(self, kind: Any, start: int) -> Any:
        try:
            return kind.normalise(kind.parse(self))
        except (Unmet, ValueError) as error:
            self.fail_at(start, str(error))

    def _finish(self, op: Op, names: list[str], start: int, block: Block) -> None:
        """The types and the location; the op is checked and put into its block."""
        types = self._types()
        if names and not types:
            self.fail("':' and the types of the results")
        if len(types) != len(names):
            self.fail_at(start, f"{len(names)} results are named, {len(types)} have a type")
        if len(op.regions) != len(op.region_fields):
            self.fail_at(self.position, f"{op.name} has {len(op.region_fields)} regions")
        for attribute in op.attributes:
            if attribute.__class__ is Pending:
                self._resolve(op, types, start)
                break
        if self.text.startswith((" at ", "at "), self.position):
            op.location = self._at(op.location)
        results = [Value(type_, op, index) for index, type_ in enumerate(types)]
        op.results = tuple(results)
        for operand in op.operands:
            operand.uses[op] = None
        block.append(op)
        for name, value in zip(names, results):  # noqa: B905 (their lengths are equal)
            self._define(name, value, start)
        try:
            op.__class__.verify(op)
        except (Unmet, ValueError) as problem:
            raise blame(op, str(problem)) from None

    def _resolve(self, op: Op, types: tuple[Type, ...], start: int) -> None:
        """Numbers whose dtype is that of the first result, or operand where there is no result."""
        try:
            known = types or tuple([operand.type for operand in op.operands])
            op.attributes = op.resolve(op.attributes, known)
        except (Unmet, ValueError) as error:
            self.fail_at(start, f"{op.name}: {error}")

    def _types(self) -> tuple[Type, ...]:
        simple = SIMPLE_TYPES.match(self.text, self.position)
        if simple is not None:
            found = self.types_seen.get(simple.group(1))
            if found is not None:
                self.position = simple.end()
                return found
        if not self.accept(":"):
            return ()
        types = self.several(lambda: parse_type(self))
        if simple is not None and not self.text[self.position : simple.end()].strip():
            self.types_seen[simple.group(1)] = tuple(types)
        return tuple(types)

    def _at(self, default: Location) -> Location:
        """` at "file":line, …`, if it stands here."""
        if not self.accept("at "):
            return default
        return Location(*self.several(self._place))

    def _place(self) -> tuple[str, int]:
        file = self.string()
        self.expect(":")
        return file, self.integer("a line")

    def _define(self, name: str, value: AnyValue, start: int) -> None:
        if name in self.values:
            self.fail_at(start, f"{name} is defined above already")
        self.values[name] = value
        self.scopes[-1].append(name)
        if name[1] > "9":
            value.name = name[1:]

    def _undefined(self, name: str, start: int) -> NoReturn:
        self.fail_at(start, f"{name[:40]} is not defined here{_hint(name, self.values, '')}")

    def _declared(self, name: str, start: int) -> type[Op]:
        """The op of a dialect that nobody has imported so far."""
        import_module(".dialects", __package__)
        if name in REGISTRY:
            return REGISTRY[name]
        shown = f"'{name[:40]}', which no dialect declares"
        self.fail_at(start, f"expected an op, found {shown}{_hint(name, REGISTRY)}")


def _hint(name: str, known: Iterable[str], quote: str = "'") -> str:
    close = difflib.get_close_matches(name, known, 1)
    return f"; is it {quote}{close[0]}{quote}?" if close else ""
