"""A cursor over a text of IR: what the parser and the attribute kinds read with.

Comes in: the text and a file name. Goes out: tokens, one at a time, and `ParseError`s that carry
the line, the column, the token found and what was expected. Never: a rule of any op.
"""

import operator
import re
from collections.abc import Callable, Container
from typing import Any, NoReturn, TypeVar

from .dims import Size, Symbol, ceil_div, maximum, minimum
from .errors import ParseError, Unmet, require

SPACE = re.compile(r"[ \t\r\n]*+(?://[^\n]*+[ \t\r\n]*+)*+")  # comments too
WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
INTEGER = re.compile(r"-?[0-9]+")
REAL = r"-?(?:inf|nan)\b|0x[0-9a-fA-F]+|-?[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?"
NUMBER = re.compile(rf"{REAL}|true\b|false\b|\([ \t]*(?:{REAL})[ \t]*,[ \t]*(?:{REAL})[ \t]*\)")
FRACTION = re.compile(r"0x|-?(?:[0-9]+(?:\.(?!\.)|[0-9]*[eE])|inf\b|nan\b)")
STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
TOKEN = re.compile(r"[%@]?[A-Za-z0-9_.]+|[^ \t\r\n]")

# By rank: a higher one binds more tightly.
OPERATORS = ({"+": operator.add, "-": operator.sub}, {"*": operator.mul})
FUNCTIONS: dict[str, Callable[..., Size]] = {"ceildiv": ceil_div, "min": minimum, "max": maximum}
MAX_DIGITS, MAX_NESTING = 40, 64  # of integers; of lists, so that no text exhausts the stack
T = TypeVar("T")


class Scanner:
    """A position in a text; `symbols` are the dims that names stand for here."""

    def __init__(self, text: str, file: str = "<text>") -> None:
        self.text, self.file = text, file
        self.position = self.nesting = 0
        self.symbols: dict[str, Symbol] = {}
        self.spelled: dict[str, Any] = {}  # types, while these are the symbols

    def skip(self) -> int:
        """Move over white space and comments; return the position."""
        if self.text[self.position : self.position + 1] > "/":  # most often there are none
            return self.position
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
        found = self.word(expected)
        if found not in names:
            self.position -= len(found)
            self.fail(expected)
        return found

    def integer(self, expected: str = "an integer") -> int:
        """Read one integer, of at most 40 digits."""
        digits = self.match(INTEGER, expected)
        require(len(digits) <= MAX_DIGITS, f"an integer of {len(digits)} digits is too large")
        return int(digits)

    def string(self) -> str:
        """Read one quoted string."""
        inner = self.match(STRING, "a quoted string")[1:-1]
        return re.sub(r"\\(.)", lambda found: {"n": "\n", "r": "\r"}.get(found[1], found[1]), inner)

    def sequence(self, read: Callable[[], T], close: str) -> list[T]:
        """Read items with commas between them, up to and including `close`."""
        if self.accept(close):
            return []
        items = self.several(read)
        if not self.accept(close):
            self.fail(f"',' or '{close}'")
        return items

    def several(self, read: Callable[[], T]) -> list[T]:
        """Read one item or more, with commas between them; a rule that one breaks is its error."""
        items: list[T] = []
        self.nesting += 1
        require(self.nesting <= MAX_NESTING, f"brackets nest more than {MAX_NESTING} deep")
        while not items or self.accept(","):
            start = self.skip()
            try:
                items.append(read())
            except (Unmet, ValueError) as error:
                self.fail_at(start, str(error))
        self.nesting -= 1
        return items

    def dim(self, rank: int = 0) -> Size:
        """Read a dim expression: `4`, `n`, `2*n + 1`, `ceildiv(n, 4)`, `min(n, m)`."""
        if rank == len(OPERATORS):
            return self._factor()
        result: Size = 0 if rank == 0 and self.at("-") else self.dim(rank + 1)
        while combine := OPERATORS[rank].get(self.text[self.skip() : self.position + 1]):
            self.position += 1
            result = combine(result, self.dim(rank + 1))
        return result

    def _factor(self) -> Size:
        """A sum in brackets, an integer, a function of sizes or a name."""
        if self.accept("("):
            sizes = self.several(self.dim)
            self.expect(")")
            require(len(sizes) == 1, "brackets without a function hold one size")
            return sizes[0]
        start = self.skip()
        if not WORD.match(self.text, start):
            return self.integer("a size")
        name = self.word()
        if name in FUNCTIONS and self.accept("("):
            sizes = self.sequence(self.dim, ")")
            enough = len(sizes) == 2 if name == "ceildiv" else sizes
            require(enough, f"{name} with {len(sizes)} arguments")
            return FUNCTIONS[name](*sizes)
        if name not in self.symbols:
            known = ", ".join(self.symbols) or "none"
            self.fail_at(start, f"expected a size, found '{name}' (the sizes named here: {known})")
        return self.symbols[name]

    def fail(self, expected: str) -> NoReturn:
        """Complain about the token that comes next."""
        found = TOKEN.match(self.text, self.skip())
        shown = f"'{found.group()[:40]}'" if found else "the end of the text"
        self.fail_at(self.position, f"expected {expected}, found {shown}")

    def fail_at(self, position: int, message: str) -> NoReturn:
        """Complain about the text at `position`."""
        line = self.text.count("\n", 0, position)
        column = position - self.text.rfind("\n", 0, position)
        source = self.text.split("\n")[line][:200] if column <= 200 else ""
        raise ParseError(message, self.file, line + 1, column, source)


def quoted(text: str) -> str:
    """`text` as the scanner's `string` reads it back."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + escaped.replace("\n", "\\n").replace("\r", "\\r") + '"'
