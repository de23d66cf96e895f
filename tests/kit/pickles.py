"""Pickles written opcode by opcode, so that they say what no pickler would.

Comes in: plain values, with names, calls and stored bytes among them. Goes out: a pickle.
Never: an import of what is named.
"""

import pickle
import struct
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Named:
    """What a module has under a name."""

    module: str
    name: str


@dataclass(frozen=True)
class Call:
    """What a function makes of arguments."""

    function: Any
    arguments: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Persistent:
    """What a persistent id stands for."""

    identity: Any


@dataclass(frozen=True)
class SetUp:
    """A value that is given a state."""

    value: Any
    state: Any


@dataclass(frozen=True)
class Raw:
    """Opcodes as they are."""

    code: bytes


def pickled(value: Any, protocol: int = 2) -> bytes:
    """A pickle of a value."""
    return pickle.PROTO + bytes([protocol]) + code_of(value) + pickle.STOP


def code_of(value: Any) -> bytes:
    """The opcodes that leave a value on the stack."""
    match value:
        case Raw(code):
            made = code
        case Named(module, name):
            made = pickle.GLOBAL + f"{module}\n{name}\n".encode()
        case Call(function, arguments):
            made = code_of(function) + code_of(arguments) + pickle.REDUCE
        case Persistent(identity):
            made = code_of(identity) + pickle.BINPERSID
        case SetUp(inner, state):
            made = code_of(inner) + code_of(state) + pickle.BUILD
        case dict():
            parts = (code_of(part) for pair in value.items() for part in pair)
            made = pickle.EMPTY_DICT + pickle.MARK + b"".join(parts) + pickle.SETITEMS
        case list():
            made = pickle.EMPTY_LIST + pickle.MARK + b"".join(map(code_of, value)) + pickle.APPENDS
        case tuple():
            made = pickle.MARK + b"".join(map(code_of, value)) + pickle.TUPLE
        case _:
            made = _plain(value)
    return made


def _plain(value: Any) -> bytes:
    match value:
        case None:
            return pickle.NONE
        case bool():
            return pickle.NEWTRUE if value else pickle.NEWFALSE
        case int():
            raw = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
            return pickle.LONG1 + bytes([len(raw)]) + raw
        case float():
            return pickle.BINFLOAT + struct.pack(">d", value)
        case str():
            raw = value.encode()
            return pickle.BINUNICODE + struct.pack("<I", len(raw)) + raw
    assert isinstance(value, bytes)
    return pickle.BINBYTES + struct.pack("<I", len(value)) + value
