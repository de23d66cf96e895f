"""Pickles that somebody made to do harm, in files as PyTorch writes them.

Comes in: a command, which leaves a sentinel behind. Goes out: tables of what is wrong with a file,
the file and the reason for which it is refused.
Never: a pickle that is unpickled here.
"""

import pickle
import struct
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from kit.pickles import Call, Named, Persistent, Raw, SetUp, code_of, pickled
from kit.torch_files import HOOKS, MAGIC, legacy, storage, tensor, view, zipped

FLOATS = np.arange(4, dtype=np.float32)
STORED = {"0": FLOATS}
NOTHING_RUN = "which weights are not made of: nothing was imported or run"


class Hostile(NamedTuple):
    """A file, which would run a command if anybody let it, and why it is refused."""

    make: Callable[[str], bytes]
    reason: str


def zipped_code(code: bytes, protocol: int = 2) -> bytes:
    """A file whose pickle is made of opcodes."""
    return zipped(None, STORED, **{"data.pkl": pickle.PROTO + bytes([protocol]) + code})


def calling(module: str, name: str) -> Hostile:
    """A function is called with a command."""
    function = Named(module, name)
    return Hostile(lambda command: zipped(Call(function, (command,)), STORED), NOTHING_RUN)


def code(raw: bytes, reason: str) -> Hostile:
    return Hostile(lambda _: zipped_code(raw), reason)


def value(made: Any, reason: str) -> Hostile:
    return Hostile(lambda _: zipped(made, STORED), reason)


def by_text(module: bytes, name: bytes) -> bytes:
    """Opcodes that name something by texts on the stack."""
    texts = b"".join(pickle.SHORT_BINUNICODE + bytes([len(raw)]) + raw for raw in (module, name))
    return texts + pickle.STACK_GLOBAL


def text_opcodes(command: str) -> bytes:
    """A call as the first protocol writes it: the function's name, then the arguments."""
    return b"(S'" + command.encode() + b"'\nios\nsystem\n."


def doubled(times: int) -> bytes:
    """A list of two lists that are one, of two lists that are one, and so on."""
    kept, again = pickle.BINPUT + b"\0" + pickle.POP, pickle.BINGET + b"\0"
    pair = pickle.EMPTY_LIST + pickle.MARK + again + again + pickle.APPENDS
    return pickle.EMPTY_LIST + kept + (pair + kept) * times + again


LIST_IN_ITSELF = b"]q\0h\0a."
DICT_IN_ITSELF = b"}q\0X\1\0\0\0ah\0s."
NESTED_KEY = b"}" + b")" + b"q\0h\0\x86" * 60 + b"Ns."
COPIES = b"](" + b"K\1" * 5000 + b"eq\0" + (b"ctorch\nSize\n" + b"h\0\x85R0") * 2000 + b"N."
METHOD = by_text(b"collections", b"OrderedDict.fromkeys")
DOTTED = by_text(b"torch._utils", b"_rebuild_tensor_v2.__globals__")

PICKLES = {
    **{
        f"{module}.{name}": calling(module, name)
        for module, name in [
            ("os", "system"), ("posix", "system"), ("nt", "system"), ("subprocess", "Popen"),
            ("builtins", "eval"), ("__builtin__", "exec"), ("builtins", "getattr"),
            ("builtins", "__import__"), ("importlib", "import_module"), ("runpy", "run_path"),
            ("pip", "main"), ("timeit", "timeit"), ("pydoc", "pipepager"), ("code", "interact"),
            ("torch", "load"), ("torch.hub", "load"), ("torch.utils.collect_env", "run"),
            ("torch.serialization", "load"), ("numpy.testing._private.utils", "runstring"),
            ("pickle", "loads"), ("functools", "partial"), ("operator", "methodcaller"),
            ("ctypes", "CDLL"), ("brimstone.ir.shared.named", "named"),
            ("torch.storage", "_load_from_bytes"),
            ("asyncio.unix_events", "_UnixSubprocessTransport._start"),
        ]
    },
    "a name by texts": Hostile(
        lambda command: zipped_code(by_text(b"os", b"system") + code_of((command,)) + b"R.", 4),
        NOTHING_RUN,
    ),
    "an attribute of an allowed name": code(DOTTED + b".", NOTHING_RUN),
    "a method of an allowed name": code(METHOD + b".", NOTHING_RUN),
    "a name of 10,000 letters": code(b"c" + b"o" * 10_000 + b"\nsystem\n.", "at too great length"),
    "a name that is a number": code(b"K\1K\1\x93.", "by what is no text"),
    "INST": Hostile(lambda command: zipped_code(text_opcodes(command)), "nothing was run"),
    "OBJ": code(b"(cos\nsystem\nX\1\0\0\0ao.", NOTHING_RUN),
    "OBJ of an allowed name": code(b"(ctorch\nSize\n)o.", "the opcode OBJ"),
    "NEWOBJ": code(b"ccollections\nOrderedDict\n)\x81.", "the opcode NEWOBJ"),
    "NEWOBJ_EX": code(b"ccollections\nOrderedDict\n)}\x92.", "the opcode NEWOBJ_EX"),
    "EXT1": code(b"\x82\1.", "the opcode EXT1"),
    "PERSID": code(b"P0\n.", "the opcode PERSID"),
    "NEXT_BUFFER": code(b"\x97.", "the opcode NEXT_BUFFER"),
    "no opcode": code(b"\xff.", r"the opcode b'\\xff'"),
    "protocol 0": code(b"(dp0\nVa\np1\nI1\ns.", "the opcode DICT"),
    "an integer in text": code(b"I1\n.", "the opcode INT"),
    "protocol 9": Hostile(lambda _: zipped_code(b"N.", 9), "of protocol 9"),
    "a call of a text": code(b"X\1\0\0\0a)R.", "calls a value of kind str: nothing was run"),
    "a call of a dtype": code(b"ctorch\nfloat32\n)R.", "calls a value of kind DType"),
    "a call without a tuple": code(b"ctorch\nSize\n]R.", "calls torch.Size"),
    "a list with a state": value(SetUp([], {"__class__": "x"}), "sets up a value of kind list"),
    "a function with a state": value(
        SetUp(Named("torch._utils", "_rebuild_tensor_v2"), {"make": 1}), "sets up torch._utils"
    ),
    "a list with keys": code(b"]K\1Ns.", "fills or sets up a value of kind list"),
    "a text with keys": code(b"X\1\0\0\0a(K\1Nu.", "fills or sets up a value of kind str"),
    "a table that is appended to": code(b"}Na.", "fills or sets up a value of kind dict"),
    "a function that is filled": code(b"ctorch\nSize\nNNs.", "fills or sets up torch.Size"),
    "a whole module": value(
        Persistent(("module", Named("torch", "Size"), "file", "source")), "holds a whole module"
    ),
    "nothing to take": code(b"0.", "takes a value where none is"),
    "nothing below a mark": code(b"N(0.", "takes a value where none is"),
    "no mark": code(b"Nt.", "where no mark is"),
    "nothing remembered": code(b"h\7.", "recalls what it has not remembered"),
    "no end": code(b"N", "is cut short"),
    "two values": code(b"NN.", "leaves more than one value"),
    "a text of 8 exabytes": code(b"\x8d" + b"\xff" * 7 + b"\x7f.", "is cut short"),
    "bytes of 4 gigabytes": code(b"B\xff\xff\xff\xff.", "is cut short"),
    "an integer of 4 gigabytes": code(b"\x8b\xff\xff\xff\xff.", "an integer of 4294967295 bytes"),
    "a text that is no UTF-8": code(b"X\1\0\0\0\xff.", "not UTF-8"),
    "a key that is a list": code(b"}]Ns.", "a value of kind list as a key"),
    "a key that hashes for ever": code(NESTED_KEY, "a value of kind tuple as a key"),
    "a key without a value": code(b"}(Nu.", "a key without a value"),
    "a list in itself": code(LIST_IN_ITSELF, "lies within itself"),
    "a dict in itself": code(DICT_IN_ITSELF, "lies within itself"),
    "lists that double 60 times": code(doubled(60) + b".", "unfolds to more than 4000000 values"),
    "lists 2,000 deep": code(b"]" * 2_000 + b"a" * 1_999 + b".", "nested more than 100 deep"),
    "lists 60 deep in lists 60 deep": code(
        b"]" * 60 + b"a" * 59 + b"q\0" + b"0]h\0a" + b"]" * 60 + b"h\0" + b"a" * 60 + b"a.",
        "nested more than 100 deep",
    ),
    "tuples 2,000 deep": code(b")" + b"\x85" * 2_000 + b".", "nested more than 100 deep"),
    "a key of 5,000 parts": code(
        b"}(" + b"K\1" * 5_000 + b"tq\0" + b"Nsh\0" * 9 + b"Ns.", "a value of kind tuple as a key"
    ),
    "5,000 arguments": code(
        b"ctorch\nSize\n(" + b"K\1" * 5_000 + b"tR.", "torch.Size with 5000 arguments"
    ),
    "a list copied again and again": code(COPIES, "copies more than 4000000 values"),
    "a function in the place of a value": value([Named("torch", "Size")], "holds torch.Size where"),
    "a storage in the place of a tensor": value(
        storage("0", "FloatStorage", 4), "holds a value of kind Storage where"
    ),
    "numbers of numpy's that are objects": value(
        Call(Named("numpy", "dtype"), ("O8", False, True)), r"the dtype \('O8',\)"
    ),
    "an array of numpy's": calling("numpy.core.multiarray", "_reconstruct"),
    "a number of numpy's from another machine": value(
        SetUp(Call(Named("numpy", "dtype"), ("f8",)), (3, ">", None)), "another order of bytes"
    ),
    "a sparse tensor": value(
        Call(Named("torch._utils", "_rebuild_sparse_tensor"), ()), "a sparse tensor"
    ),
}  # fmt: skip

SEEN = storage("0", "FloatStorage", 4)
MANY = [view(SEEN, 0, (1 << 20, each), (0, 0)) for each in range(1, 9)]
VIEWS = {
    "beyond its storage": value(view(SEEN, 0, (5,), (1,)), "reaches element 5 of 4"),
    "beyond it by its strides": value(view(SEEN, 0, (2, 2), (3, 1)), "reaches element 5 of 4"),
    "beyond it by its offset": value(view(SEEN, 1, (4,), (1,)), "reaches element 5 of 4"),
    "before it": value(view(SEEN, -1, (1,), (1,)), "reaches"),
    "an empty one beyond it": value(view(SEEN, 9, (0,), (1,)), "reaches element 9 of 4"),
    "strides below 0": value(view(SEEN, 3, (4,), (-1,)), "strides are not integers from 0 up"),
    "strides too few": value(view(SEEN, 0, (2, 2), (1,)), "one for each axis"),
    "sizes below 0": value(view(SEEN, 0, (-1,), (1,)), "not all integers from 0 up"),
    "sizes that wrap": value(view(SEEN, 0, (1 << 62, 1 << 62), (0, 0)), "into no memory"),
    "sizes that are floats": value(view(SEEN, 0, (2.0,), (1,)), "not all integers"),
    "an offset that wraps": value(view(SEEN, 1 << 64, (1,), (1,)), "reaches element 1844674"),
    "one element a million million times": value(
        view(SEEN, 0, (1 << 40,), (0,)), "would become tensors of 4398046511104 bytes"
    ),
    "many tensors of one storage": value(MANY, "would become tensors of 150994944 bytes"),
    "a storage that is larger": value(
        view(storage("0", "FloatStorage", 1 << 50), 0, (1 << 20,), (1,)), "has 16 bytes, and"
    ),
    "a storage that is smaller": value(
        view(storage("0", "FloatStorage", 2), 0, (2,), (1,)), "has 16 bytes, and 8 are"
    ),
    "a storage elsewhere": value(
        view(storage("../../../etc/passwd", "FloatStorage", 4), 0, (4,), (1,)), "has no entry"
    ),
    "a storage that is missing": value(
        view(storage("1", "FloatStorage", 4), 0, (4,), (1,)), "has no entry 'data/1'"
    ),
    "a storage below 0": value(storage("0", "FloatStorage", -4), "in a way that PyTorch does not"),
    "a storage of no class": value(
        Persistent(("storage", "FloatStorage", "0", "cpu", 4)), "in a way that PyTorch does not"
    ),
    "a storage of 5,000 parts": code(
        b"((X\7\0\0\0storage" + b"N" * 5_000 + b"tQ.", "in a way that PyTorch does not"
    ),
    "no storage": value(view(None, 0, (4,), (1,)), "not described as PyTorch describes one"),
    "bytes without a dtype": value(
        view(storage("0", "UntypedStorage", 16), 0, (4,), (1,)), "bytes without a dtype"
    ),
    "a dtype that is a text": value(
        Call(
            Named("torch._utils", "_rebuild_tensor_v3"), (SEEN, 0, (4,), (1,), False, HOOKS, "f4")
        ),
        "dtype is none",
    ),
    "a parameter that is a text": value(
        Call(Named("torch._utils", "_rebuild_parameter"), ("a", True, HOOKS)), "is not a tensor"
    ),
}

OLD = legacy({"a": tensor("0", FLOATS, None)}, STORED)
LEGACY = {
    "os.system": Hostile(
        lambda command: legacy(Call(Named("os", "system"), (command,))), NOTHING_RUN
    ),
    "os.system for the version": Hostile(
        lambda command: MAGIC + pickled(Call(Named("os", "system"), (command,))), NOTHING_RUN
    ),
    "a pickle alone": Hostile(
        lambda command: pickled(Call(Named("os", "system"), (command,))), "begins with"
    ),
    "a pickle alone, of text": Hostile(text_opcodes, "begins with"),
    "cut short in a storage": Hostile(lambda _: OLD[:-1], "cut short in the storage '0'"),
    "cut short in the pickle": Hostile(lambda _: OLD[: len(OLD) // 2], "is cut short"),
    "bytes at the end": Hostile(lambda _: OLD + b"PK", "2 bytes at its end belong to no storage"),
    "another count": Hostile(
        lambda _: OLD[:-24] + struct.pack("<q", 1 << 60) + OLD[-16:], "another size than described"
    ),
    "another machine": Hostile(lambda _: legacy([], little=False), "order of bytes"),
    "another version": Hostile(lambda _: MAGIC + pickled(1000), "not of version 1001"),
    "a storage that nobody has": Hostile(lambda _: legacy([], STORED), "are not those that tensor"),
    "a storage that is not there": Hostile(
        lambda _: legacy([tensor("0", FLOATS, None)]), "are not those that tensors have"
    ),
    "a storage of two sizes": Hostile(
        lambda _: legacy([tensor("0", FLOATS, None), tensor("0", FLOATS[:2], None)], STORED),
        "is described in two ways",
    ),
    "a part of a storage": Hostile(
        lambda _: legacy([tensor("0", FLOATS, ("1", 0, 4))], STORED), "in a way that PyTorch does"
    ),
    "names that are no texts": Hostile(
        lambda _: legacy(Raw(b"N"), {3: FLOATS}), "names of its storages"  # pyright: ignore[reportArgumentType]
    ),
}  # fmt: skip
