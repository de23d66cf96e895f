"""A cursor over a text of IR: what the parser and the attribute kinds read with.

Comes in: the text and a file name. Goes out: tokens, one at a time, and `ParseError`s that carry
the line, the column, the token found and what was expected.
Never: a rule of any op.
"""

import re
from collections.abc import Callable, Container, Generator
from contextlib import contextmanager
from typing import NoReturn, TypeVar

from .dims import DimError, Size, Symbol, ceil_div, maximum, minimum
from .errors import ParseError

SPACE = re.compile(r"(?:[ \t\r\n]+|//[^\n]*)*")
WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
DOTTED = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*")
INTEGER = re.compile(r"-?[0-9]+")
REAL = r"-?(?:inf|nan)\b|0x[0-9a-fA-F]+|-?[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?"
NUMBER = re.compile(rf"{REAL}|true\b|false\b|\([ \t]*(?:{REAL})[ \t]*,[ \t]*(?:{REAL})[ \t]*\)")
FRACTION = re.compile(r"0x|-?(?:[0-9]+(?:\.(?!\.)|[0-9]*[eE])|inf\b|nan\b)")
STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
TOKEN = re.compile(r"[%@]?[A-Za-z0-9_.]+|[^ \t\r\n]")
ESCAPE = re.compile(r"\\(.)")

MAX_NESTING = 64
MAX_DIGITS = 40
T = TypeVar("T")


class Scanner:
    """A position in a text; `symbols` are the dims that names stand for here."""

    def __init__(self, text: str, file: str = "<text>") -> None:
        self.text = text
        self.file = file
        self.position = 0
        self.symbols: dict[str, Symbol] = {}
        self.nesting = 0

    def skip(self) -> int:
        """Move over white space and comments; return the position."""
        matched = SPACE.match(self.text, self.position)
        self.position = matched.end() if matched else self.position
        return self.position

    def at(self, token: str) -> bool:
        """Whether `token` comes next."""
        return self.text.startswith(token, self.skip())

    def accept(self, token: str) -> bool:
        """Read `token` if it comes next."""
        if not self.text.startswith(token, self.skip()):
            return False
        self.position += len(token)
        return True

    def expect(self, token: str) -> None:
        """Read `token`, or complain."""
        if not self.accept(token):
            self.fail(f"'{token}'")

    def match(self, pattern: re.Pattern[str], expected: str) -> str:
        """Read what `pattern` matches, or complain that `expected` is missing."""
        matched = pattern.match(self.text, self.skip())
        if matched is None:
            self.fail(expected)
        self.position = matched.end()
        return matched.group()

    def word(self, expected: str = "a name") -> str:
        """Read one identifier."""
        return self.match(WORD, expected)

    def one_of(self, names: Container[str], expected: str) -> str:
        """Read one word among `names`, or complain that `expected` is missing."""
        start = self.skip()
        found = self.word(expected)
        if found not in names:
            self.fail_at(start, f"expected {expected}, found '{found[:40]}'")
        return found

    def integer(self, expected: str = "an integer") -> int:
        """Read one integer, of at most 40 digits."""
        start = self.skip()
        digits = self.match(INTEGER, expected)
        if len(digits) > MAX_DIGITS:
            self.fail_at(start, f"an integer of {len(digits)} digits is too large")
        return int(digits)

    def string(self) -> str:
        """Read one quoted string."""
        inner = self.match(STRING, "a quoted string")[1:-1]
        return ESCAPE.sub(lambda found: {"n": "\n", "r": "\r"}.get(found[1], found[1]), inner)

    def sequence(self, read: Callable[[], T], close: str) -> list[T]:
        """Read items with commas between them, up to and including `close`."""
        if self.accept(close):
            return []
        with self.nested():
            items = self.several(read)
        if not self.accept(close):
            self.fail(f"',' or '{close}'")
        return items

    def several(self, read: Callable[[], T]) -> list[T]:
        """Read one item or more, with commas between them."""
        items = [read()]
        while self.accept(","):
            items.append(read())
        return items

    def dim(self) -> Size:
        """Read a dim expression: `4`, `n`, `2*n + 1`, `ceildiv(n, 4)`, `min(n, m)`."""
        start = self.skip()
        try:
            with self.nested():
                return self._sum()
        except DimError as error:
            self.fail_at(start, str(error))

    @contextmanager
    def nested(self) -> Generator[None]:
        """One level of brackets more, with a limit so that no text exhausts the stack."""
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            self.fail_at(self.position, f"brackets nest more than {MAX_NESTING} deep")
        yield
        self.nesting -= 1

    def fail(self, expected: str) -> NoReturn:
        """Complain about the token that comes next."""
        start = self.skip()
        found = TOKEN.match(self.text, start)
        shown = f"'{found.group()[:40]}'" if found else "the end of the text"
        self.fail_at(start, f"expected {expected}, found {shown}")

    def fail_at(self, position: int, message: str) -> NoReturn:
        """Complain about the text at `position`."""
        line, column = self.place(position)
        start = position - column + 1
        source = self.text[start : start + 200].split("\n", 1)[0]
        raise ParseError(message, self.file, line, column, source if column <= 200 else "")

    def place(self, position: int) -> tuple[int, int]:
        """The line and column of `position`, both from 1."""
        line = self.text.count("\n", 0, position) + 1
        return line, position - (self.text.rfind("\n", 0, position) + 1) + 1

    def _sum(self) -> Size:
        total = -self._product() if self.accept("-") else self._product()
        while True:
            if self.accept("+"):
                total = total + self._product()
            elif self.accept("-"):
                total = total - self._product()
            else:
                return total

    def _product(self) -> Size:
        result = self._atom()
        while self.accept("*"):
            result = result * self._atom()
        return result

    def _atom(self) -> Size:
        if self.accept("("):
            with self.nested():
                inner = self._sum()
            self.expect(")")
            return inner
        matched = WORD.match(self.text, self.skip())
        if matched is None:
            return self.integer("a size")
        return self._named(matched)

    def _named(self, matched: re.Match[str]) -> Size:
        name = matched.group()
        start = self.position
        self.position = matched.end()
        if name in _FUNCTIONS and self.accept("("):
            arguments = self.sequence(self.dim, ")")
            if not arguments or (name == "ceildiv" and len(arguments) != 2):
                self.fail_at(start, f"{name} with {len(arguments)} arguments")
            return _FUNCTIONS[name](*arguments)
        if name not in self.symbols:
            known = ", ".join(self.symbols) or "none"
            self.fail_at(start, f"expected a size, found '{name}' (the sizes named here: {known})")
        return self.symbols[name]


_FUNCTIONS: dict[str, Callable[..., Size]] = {"ceildiv": ceil_div, "min": minimum, "max": maximum}


def quoted(text: str) -> str:
    """`text` as the scanner's `string` reads it back."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + escaped.replace("\n", "\\n").replace("\r", "\\r") + '"'
