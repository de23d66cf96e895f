"""A machine for the pickles in files of weights.

Comes in: the memory of a pickle, and what stands for the stored bytes that it names. Goes out: the
value that it describes, made of Python's plain types and of what `allowed.py` makes.
Never: an import, an attribute, a call of anything but the functions of one table, or Python's own
unpickler, whose names of opcodes are all that is taken from `pickle`; and no more memory than some
hundred bytes for each step.
"""

import pickle
from collections.abc import Callable
from struct import unpack
from typing import Any

from ..errors import Refused, shown
from .allowed import ALLOWED, Maker, NumpyDtype, called, plain_key

MOST_STEPS = 4_000_000
"""Opcodes of one pickle: a tensor takes some 30."""
MOST_BYTES = 1 << 26
"""Of one pickle, without the elements of the tensors."""
MOST_COPIED = 4_000_000
"""Values and bytes that all calls of one pickle are given: what they make may be a copy of them."""
MOST_NUMBER = 64
"""Bytes of one integer."""
_PROTOCOLS = range(2, 6)
MOST_ARGUMENTS = 16
_LONG = (str, bytes, list, tuple)


class Machine:
    """Runs a pickle that begins at a place in memory."""

    def __init__(
        self, memory: memoryview, find: Callable[[tuple[Any, ...]], Any], place: int = 0
    ) -> None:
        """`find` says what a persistent id stands for."""
        self.memory, self.place, self.find = memory, place, find
        self.end = min(len(memory), place + MOST_BYTES)
        self.stack: list[Any] = []
        self.marks: list[int] = []
        self.memo: dict[int, Any] = {}
        self.copied = 0

    def run(self) -> Any:
        """The value; `place` is then behind the pickle."""
        for _ in range(MOST_STEPS):
            opcode = self.take(1)
            if opcode == pickle.STOP:
                return self._value()
            step = STEPS.get(opcode)
            if step is None:
                raise Refused(f"its pickle has the opcode {_opcode(opcode)}: nothing was run", HINT)
            step(self)
        raise Refused(f"its pickle takes more than {MOST_STEPS} steps")

    def _value(self) -> Any:
        value = self.pop()
        if self.stack or self.marks:
            raise Refused("its pickle leaves more than one value")
        return value

    def take(self, count: int) -> bytes:
        """The next bytes."""
        begin, self.place = self.place, self.place + count
        if self.place > self.end:
            raise Refused("its pickle is cut short, or too long")
        return bytes(self.memory[begin : self.place])

    def number(self, width: int) -> int:
        """The next bytes as an integer without a sign."""
        return int.from_bytes(self.take(width), "little")

    def line(self) -> str:
        """The text up to the end of the line."""
        begin = self.place
        end = bytes(self.memory[begin : min(self.end, begin + 200)]).find(b"\n")
        if end < 0:
            raise Refused("its pickle names something at too great length")
        return _text(self.take(end + 1)[:-1])

    def push(self, value: Any) -> None:
        self.stack.append(value)

    def pop(self) -> Any:
        """The topmost value, which is not below the last mark."""
        if len(self.stack) <= (self.marks[-1] if self.marks else 0):
            raise Refused("its pickle takes a value where none is")
        return self.stack.pop()

    def top(self, kind: type[Any] | tuple[type[Any], ...]) -> Any:
        """The topmost value, which stays, and is of a kind that the opcode can change."""
        value = self.pop()
        self.push(value)
        if not isinstance(value, kind):
            raise Refused(f"its pickle fills or sets up {called(value)}, which it may not")
        return value

    def pop_marked(self) -> list[Any]:
        """The values above the last mark."""
        if not self.marks:
            raise Refused("its pickle gathers values where no mark is")
        mark = self.marks.pop()
        values = self.stack[mark:]
        del self.stack[mark:]
        return values

    def remember(self, key: int) -> None:
        """Keep the topmost value under a number."""
        self.memo[key] = self.pop()
        self.push(self.memo[key])

    def recall(self, key: int) -> None:
        """Push what is kept under a number."""
        if key not in self.memo:
            raise Refused("its pickle recalls what it has not remembered")
        self.push(self.memo[key])

    def tuple_of(self, count: int) -> None:
        """Gather the topmost values."""
        values = [self.pop() for _ in range(count)]
        self.push(tuple(reversed(values)))

    def fill_dict(self, pairs: list[Any]) -> None:
        """Put keys and values, in turn, into the dict on top."""
        made = self.top(dict)
        if len(pairs) % 2:
            raise Refused("its pickle has a key without a value")
        for key, value in zip(pairs[::2], pairs[1::2], strict=True):
            made[plain_key(key)] = value

    def look_up(self, module: str, name: str) -> None:
        """Push what the table has under a name."""
        found = ALLOWED.get((module, name))
        if found is None:
            wanted = shown(f"{module}.{name}")
            problem = f"its pickle asks for {wanted}, which weights are not made of"
            raise Refused(f"{problem}: nothing was imported or run", HINT)
        self.push(found)

    def call(self) -> None:
        """Let a function of the table make a value."""
        arguments, function = self.pop(), self.pop()
        if not isinstance(function, Maker) or not isinstance(arguments, tuple):
            raise Refused(f"its pickle calls {called(function)}: nothing was run", HINT)
        if len(arguments) > MOST_ARGUMENTS:
            raise Refused(f"its pickle calls {called(function)} with {len(arguments)} arguments")
        self.copied += sum(len(each) for each in arguments if isinstance(each, _LONG))
        if self.copied > MOST_COPIED:
            raise Refused(f"its pickle copies more than {MOST_COPIED} values")
        self.push(function(arguments))

    def stored(self) -> None:
        """Push what a persistent id stands for."""
        identity = self.pop()
        if not isinstance(identity, tuple) or len(identity) > MOST_ARGUMENTS:
            raise Refused("its pickle speaks of stored bytes in a way that PyTorch does not")
        self.push(self.find(identity))

    def set_up(self) -> None:
        """Set a state, which only dtypes of numpy need; that of a table says nothing of weights."""
        state = self.pop()
        value = self.top((dict, NumpyDtype))
        if isinstance(value, NumpyDtype):
            value.expect_little(state)


HINT = "save only the tensors: `torch.save(model.state_dict(), path)`, or safetensors"


def _opcode(opcode: bytes) -> str:
    """The name of an opcode that is not run."""
    names = (name for name, value in vars(pickle).items() if name.isupper() and value == opcode)
    return next(names, shown(opcode))


def _text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise Refused("its pickle has a text that is not UTF-8") from None


def _protocol(machine: Machine) -> None:
    version = machine.number(1)
    if version not in _PROTOCOLS:
        raise Refused(f"its pickle is of protocol {version}, and those from 2 to 5 are read")


def _integer(machine: Machine, width: int) -> None:
    """A long integer, behind its length."""
    size = machine.number(width)
    if size > MOST_NUMBER:
        raise Refused(f"its pickle has an integer of {size} bytes")
    machine.push(int.from_bytes(machine.take(size), "little", signed=True))


def _global(machine: Machine) -> None:
    module = machine.line()
    machine.look_up(module, machine.line())


def _stack_global(machine: Machine) -> None:
    name, module = machine.pop(), machine.pop()
    if not isinstance(module, str) or not isinstance(name, str):
        raise Refused("its pickle names something by what is no text")
    machine.look_up(module, name)


def _append(machine: Machine) -> None:
    value = machine.pop()
    machine.top(list).append(value)


def _appends(machine: Machine) -> None:
    values = machine.pop_marked()
    machine.top(list).extend(values)


def _set_item(machine: Machine) -> None:
    value, key = machine.pop(), machine.pop()
    machine.fill_dict([key, value])


def _texts(width: int) -> Callable[[Machine], None]:
    return lambda machine: machine.push(_text(machine.take(machine.number(width))))


def _bytes(width: int) -> Callable[[Machine], None]:
    return lambda machine: machine.push(machine.take(machine.number(width)))


STEPS: dict[bytes, Callable[[Machine], Any]] = {
    pickle.PROTO: _protocol,
    pickle.FRAME: lambda machine: machine.take(8),
    pickle.MARK: lambda machine: machine.marks.append(len(machine.stack)),
    pickle.POP: lambda machine: machine.pop(),
    pickle.NONE: lambda machine: machine.push(None),
    pickle.NEWTRUE: lambda machine: machine.push(True),
    pickle.NEWFALSE: lambda machine: machine.push(False),
    pickle.BININT: lambda machine: machine.push(unpack("<i", machine.take(4))[0]),
    pickle.BININT1: lambda machine: machine.push(machine.number(1)),
    pickle.BININT2: lambda machine: machine.push(machine.number(2)),
    pickle.LONG1: lambda machine: _integer(machine, 1),
    pickle.LONG4: lambda machine: _integer(machine, 4),
    pickle.BINFLOAT: lambda machine: machine.push(unpack(">d", machine.take(8))[0]),
    pickle.SHORT_BINUNICODE: _texts(1),
    pickle.BINUNICODE: _texts(4),
    pickle.BINUNICODE8: _texts(8),
    pickle.SHORT_BINSTRING: _texts(1),  # texts of Python 2
    pickle.BINSTRING: _texts(4),
    pickle.SHORT_BINBYTES: _bytes(1),
    pickle.BINBYTES: _bytes(4),
    pickle.BINBYTES8: _bytes(8),
    pickle.EMPTY_TUPLE: lambda machine: machine.push(()),
    pickle.EMPTY_LIST: lambda machine: machine.push([]),
    pickle.EMPTY_DICT: lambda machine: machine.push({}),
    pickle.TUPLE1: lambda machine: machine.tuple_of(1),
    pickle.TUPLE2: lambda machine: machine.tuple_of(2),
    pickle.TUPLE3: lambda machine: machine.tuple_of(3),
    pickle.TUPLE: lambda machine: machine.push(tuple(machine.pop_marked())),
    pickle.APPEND: _append,
    pickle.APPENDS: _appends,
    pickle.SETITEM: _set_item,
    pickle.SETITEMS: lambda machine: machine.fill_dict(machine.pop_marked()),
    pickle.BINPUT: lambda machine: machine.remember(machine.number(1)),
    pickle.LONG_BINPUT: lambda machine: machine.remember(machine.number(4)),
    pickle.MEMOIZE: lambda machine: machine.remember(len(machine.memo)),
    pickle.BINGET: lambda machine: machine.recall(machine.number(1)),
    pickle.LONG_BINGET: lambda machine: machine.recall(machine.number(4)),
    pickle.GLOBAL: _global,
    pickle.STACK_GLOBAL: _stack_global,
    pickle.REDUCE: Machine.call,
    pickle.BUILD: Machine.set_up,
    pickle.BINPERSID: Machine.stored,
}
