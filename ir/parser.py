"""Text to IR: reads what `printer` writes, and what a person types.

Comes in: a text and a file name for messages. Goes out: a module, each op of which knows its line
(or the line that ` at "file":line` states). Equal ops stay apart, as the text says.
Never: an exception other than `ParseError` (the text is not IR) and `VerifyError` (an op is wrong).
"""

import difflib
import re
from bisect import bisect
from collections.abc import Mapping
from functools import partial
from importlib import import_module
from itertools import accumulate
from typing import Any

from .attributes import MAPPING, Pending
from .declare import NO_DEFAULT, REGISTRY, Op
from .dims import DEFAULT_MAXIMUM, Symbol
from .dtypes import BY_NAME
from .errors import Unmet, require
from .func import Func, Module
from .locations import Location
from .printer import Work, run_nested
from .scanner import SPACE, WORD, Scanner
from .types import Type, parse_type
from .values import AnyValue, Block
from .verifier import blame

VALUE = re.compile(r"%[A-Za-z0-9_]+")
VALUES = rf"{VALUE.pattern}(?:[ \t]*,[ \t]*{VALUE.pattern})*"
# `%results = name %operands`, and, if they are plain, attributes and types: all on this line, with
# no string. These repeat in a text, so `plain` keeps what each spelling of them means in a func.
HEAD = re.compile(
    rf"{SPACE.pattern}(?:({VALUES})[ \t\r\n]*=[ \t\r\n]*)?"
    rf"({WORD.pattern}(?:\.{WORD.pattern})*)(?:[ \t]+({VALUES}))?"
    r'([^\n"/]{0,500}[>}]|)[ \t]*'
)
MAX_REGION_DEPTH = 4096
RESERVED = {"true", "false", "inf", "nan", "ceildiv", "min", "max", *BY_NAME}


def parse(text: str, file: str = "<text>") -> Module:
    """The module that `text` describes; every op in it is checked."""
    parser, module = _Parser(text.removeprefix("\ufeff"), file), Module()
    while not module.funcs or parser.skip() < len(parser.text):
        parser.func(module)
    return module


class _Parser(Scanner):
    """One text; `values` are the names visible at the position, new ones last."""

    def __init__(self, text: str, file: str) -> None:
        super().__init__(text, file)
        self.line_ends = list(accumulate(len(line) + 1 for line in text.split("\n")))
        self.values: dict[str, AnyValue] = {}
        self.plain: dict[Any, tuple[tuple[Any, ...], tuple[Type, ...]]] = {}

    def func(self, module: Module) -> None:
        """`func @name<dims>(arguments) -> types with {settings} at "file":line { ops }`"""
        start = self.skip()
        self.expect("func")
        self.expect("@")
        name = self.word("the name of a func")
        if name in module.funcs:
            self.fail_at(start, f"a func @{name} stands above already")
        self.values, self.plain, self.symbols, self.spelled = {}, {}, {}, {}
        if self.accept("<"):
            self.sequence(self.symbol, ">")
        func = module.add(Func(name, symbols=tuple(self.symbols.values())))
        self.arguments(func.body)
        signature = self.skip()
        declared = ", ".join(map(str, self.types("->"))) or "nothing"
        if self.accept("with"):
            func.attributes = MAPPING.normalise(MAPPING.parse(self))
        func.location = Location((self.file, bisect(self.line_ends, start) + 1))
        if self.accept("at "):
            func.location = Location(*self.several(self.place))
        run_nested(self.ops(func.body, 0))
        last = func.body.last
        if last is None or last.name != "return":
            self.fail_at(self.position - 1, f"expected 'return' at the end of @{name}")
        returned = ", ".join([value.type.text for value in last.operands]) or "nothing"
        if returned != declared:
            self.fail_at(signature, f"@{name} declares {declared} and returns {returned}")

    def symbol(self) -> None:
        """`n: 0..64 % 8`"""
        name = self.word("the name of a size")
        low, high = 0, DEFAULT_MAXIMUM
        if self.accept(":"):
            low = self.integer("a least size")
            self.expect("..")
            high = self.integer("a largest size")
        multiple = self.integer("a multiple") if self.accept("%") else 1
        require(name not in self.symbols, f"the size {name} is named twice")
        require(name not in RESERVED, f"the size {name} has a name that means something")
        self.symbols[name] = Symbol(name, low, high, multiple)

    def arguments(self, block: Block) -> None:
        """`(%argument: type, …)`"""

        def argument() -> None:
            start = self.skip()
            name = self.match(VALUE, "an argument (%name)")
            self.expect(":")
            self.define(name, block.add_argument(parse_type(self)), start)

        self.expect("(")
        self.sequence(argument, ")")

    def ops(self, block: Block, depth: int) -> Work:
        """`{ ops }`; the work on each region of an op is yielded where the region stands."""
        self.expect("{")
        while matched := HEAD.match(self.text, self.position):
            op = self.head(matched)
            start, key = self.position, (op.__class__, matched[4])
            attributes, types = self.plain.get(key) or (self.attributes(op.__class__), None)
            op.attributes = attributes + op.attributes
            if types is not None:
                self.position = matched.end()
            else:
                for _ in op.region_fields:
                    yield self.region(op, depth + 1)
                types = self.types(":")
                if not op.regions and self.text[start : self.position].strip() == key[1].strip():
                    self.plain[key] = attributes, types
            self.finish(op, types, matched, block)
        if not self.accept("}"):
            self.fail("an op or '}'")

    def region(self, op: Op, depth: int) -> Work:
        """`(arguments) { ops }`, whose names end with it."""
        if depth > MAX_REGION_DEPTH:
            self.fail_at(self.position, f"regions nest more than {MAX_REGION_DEPTH} deep")
        if not self.at("("):
            self.fail_at(self.position, f"{op.name} has {len(op.region_fields)} regions")
        op.block = None  # an error inside a region asks for the func, and finds none yet
        block = Block((), op)
        op.regions += (block,)
        outside = len(self.values)
        self.arguments(block)
        yield from self.ops(block, depth)
        while len(self.values) > outside:
            self.values.popitem()

    def head(self, matched: re.Match[str]) -> Op:
        """`name %operands`; several lists of them leave their lengths as an attribute."""
        _, name, operands, _ = matched.groups()
        self.position = matched.end(2)
        if name not in REGISTRY:
            import_module(".dialects", __package__)
            self.known(name, REGISTRY, "expected an op, found '{}', which no dialect declares")
        cls = REGISTRY[name]
        op = object.__new__(cls)
        op.location = Location((self.file, bisect(self.line_ends, matched.start(2)) + 1))
        op.operands = op.attributes = op.regions = ()
        if cls.segmented:
            self.lists(op)
        elif operands:
            try:
                op.operands = tuple([self.values[each] for each in operands.split(", ")])
                self.position = matched.end(3)
            except KeyError:  # spelled another way, or unknown
                op.operands = tuple(self.several(self.value))
        return op

    def lists(self, op: Op) -> None:
        """The operands of an op with several lists: all lists but the last stand in brackets."""
        lengths: list[int] = []
        for place, field in enumerate(op.operand_fields):
            if field.many and place + 1 == len(op.operand_fields):
                values = self.several(self.value) if self.accept(",") else []
            else:
                if place:
                    self.expect(",")
                if field.many:
                    self.expect("[")
                values = self.sequence(self.value, "]") if field.many else [self.value()]
            op.operands += tuple(values)
            lengths += [len(values)] * field.many
        op.attributes = (tuple(lengths),)

    def value(self) -> AnyValue:
        """The value that a name stands for."""
        name = self.match(VALUE, "a value (%name)")
        return self.known(name, self.values, "{} is not defined here")

    def known(self, name: str, table: Mapping[str, Any], problem: str) -> Any:
        """What a name, which was just read, stands for; or the problem, and what may be meant."""
        if name not in table:
            close = difflib.get_close_matches(name, table, 1)
            hint = f"; is it '{close[0]}'?" if close else ""
            self.fail_at(self.position - len(name), problem.format(name[:40]) + hint)
        return table[name]

    def attributes(self, cls: type[Op]) -> tuple[Any, ...]:
        """`{name = value, …}` in any order; those with defaults may be missing."""
        start = self.skip()
        kinds: dict[str, Any] = {field.name: field.kind for field in cls.attribute_fields}
        values = {field.name: field.default for field in cls.attribute_fields}

        def attribute() -> None:
            name = self.word("the name of an attribute")
            known = f"one of {', '.join(values)}" if values else "none"
            wanted = "each attribute once" if name in values else f"an attribute ({known})"
            require(name in kinds, f"{cls.name}: expected {wanted}, found '{name}'")
            self.expect("=")
            kind = kinds.pop(name)
            values[name] = kind.normalise(kind.parse(self))

        if self.accept("{"):
            self.sequence(attribute, "}")
        for name, value in values.items():
            if value is NO_DEFAULT:
                self.fail_at(start, f"{cls.name} needs the attribute {name}")
        return tuple(values.values())

    def types(self, opening: str) -> tuple[Type, ...]:
        """The types that `opening` announces: several with commas between, in brackets or not."""
        if not self.accept(opening):
            return ()
        read = partial(parse_type, self)
        return tuple(self.sequence(read, ")") if self.accept("(") else self.several(read))

    def finish(self, op: Op, types: tuple[Type, ...], matched: re.Match[str], block: Block) -> None:
        """Give an op its results and its location; check it and put it into its block."""
        names = matched[1].replace(",", " ").split() if matched[1] else ()
        start = matched.start(2)
        if len(types) != len(names):
            if self.at("("):
                self.fail_at(self.position, f"{op.name} has {len(op.regions)} regions, not more")
            if not types:
                self.fail("':' and the types of the results")
            self.fail_at(start, f"{len(names)} results are named, {len(types)} have a type")
        if Pending in map(type, op.attributes):
            self.resolve(op, [*types, *(operand.type for operand in op.operands)], start)
        if self.text.startswith("at ", self.position):
            self.position += len("at ")
            op.location = Location(*self.several(self.place))
        op.__post_init__(types)
        block.insert(op)
        for name, value in zip(names, op.results):  # noqa: B905 (their lengths are equal)
            self.define(name, value, start)
        try:
            op.__class__.verify(op)
        except (Unmet, ValueError) as problem:
            raise blame(op, str(problem)) from None

    def resolve(self, op: Op, types: list[Type], start: int) -> None:
        """Store an op's numbers in the dtype of the first result, or operand if there is none."""
        dtype = getattr(types[0], "dtype", None) if types else None
        try:
            require(dtype, "nothing says the dtype of the number")
            resolved = [a.resolve(dtype) if a.__class__ is Pending else a for a in op.attributes]
        except (Unmet, ValueError) as error:
            self.fail_at(start, f"{op.name}: {error}")
        op.attributes = tuple(resolved)

    def place(self) -> tuple[str, int]:
        """`"file":line`"""
        file = self.string()
        self.expect(":")
        return file, self.integer("a line")

    def define(self, name: str, value: AnyValue, start: int) -> None:
        """Let a name stand for a value, and be its hint unless it is a number."""
        if name in self.values:
            self.fail_at(start, f"{name} is defined above already")
        self.values[name] = value
        if name[1] > "9":
            value.name = name[1:]
