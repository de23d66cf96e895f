"""PyTorch's files, written without PyTorch: what comes out of each thing that they hold."""

import pickle
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone import interop
from kit.pickles import Call, Named, Persistent, Raw, SetUp, code_of
from kit.torch_files import HOOKS, STORAGES, archive, legacy, storage, tensor, view, zipped

GRID = np.arange(6, dtype=np.float32).reshape(2, 3)
SEEN = storage("0", "FloatStorage", 6)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "weights.pt"


def loaded(path: Path, raw: bytes, **options: Any) -> Any:
    path.write_bytes(raw)
    return interop.load(path, **options)


def value_of(path: Path, value: Any) -> Any:
    """What a file that holds a value, and six floats, becomes."""
    return loaded(path, zipped(value, {"0": GRID}))


@pytest.mark.parametrize("kind", STORAGES)
def test_every_dtype(path: Path, kind: str) -> None:
    array = np.array([[0, 1, 1], [1, 0, 1]]).astype(getattr(bs, kind).dtype)
    for raw in (
        zipped(tensor("7", array), {"7": array}),
        legacy(tensor("7", array, None), {"7": array}),
    ):
        found = loaded(path, raw)
        assert found.dtype == kind
        assert found.numpy().tobytes() == array.tobytes()


@pytest.mark.parametrize("kind", ["float8_e4m3fn", "float8_e5m2", "uint16", "uint32", "uint64"])
def test_dtypes_without_a_class_of_storages(path: Path, kind: str) -> None:
    raw = np.arange(24, dtype=np.uint8)
    dtype = getattr(bs, kind.removesuffix("fn"))
    count = raw.size // dtype.itemsize
    stored = storage("0", "UntypedStorage", raw.size)
    arguments = (stored, 1, (count - 1,), (1,), False, HOOKS, Named("torch", kind))
    made = Call(Named("torch._utils", "_rebuild_tensor_v3"), arguments)
    found = loaded(path, zipped(made, {"0": raw}))
    assert found.dtype == dtype
    assert found.numpy().tobytes() == raw.tobytes()[dtype.itemsize :]


def test_a_tensor_is_any_part_of_a_storage(path: Path) -> None:
    found = value_of(
        path,
        {
            "whole": view(SEEN, 0, (2, 3), (3, 1)),
            "turned": view(SEEN, 0, (3, 2), (1, 3)),
            "column": view(SEEN, 1, (2,), (3,)),
            "diagonal": view(SEEN, 0, (2,), (4,)),
            "number": view(SEEN, 5, (), ()),
            "repeated": view(SEEN, 2, (2, 2), (0, 1)),
            "empty": view(SEEN, 6, (0, 3), (3, 1)),
            "long steps": view(SEEN, 0, (1, 3), (1 << 62, 1)),
        },
    )
    wanted = {
        "whole": GRID, "turned": GRID.T, "column": GRID[:, 1], "diagonal": np.diag(GRID),
        "number": GRID[1, 2], "repeated": np.stack([GRID.ravel()[2:4]] * 2),
        "empty": np.ones((0, 3)), "long steps": GRID[:1],
    }  # fmt: skip
    assert found.keys() == wanted.keys()
    for name, array in wanted.items():
        assert found[name].shape == np.shape(array), name
        assert found[name].tolist() == array.tolist(), name


def test_tensors_that_are_one_stay_one(path: Path) -> None:
    one = view(SEEN, 0, (2, 3), (3, 1))
    found = value_of(path, {"in": one, "out": one, "other": view(SEEN, 0, (6,), (1,))})
    assert found["in"] is found["out"]
    found["in"][0, 0] = 9
    assert found["out"][0, 0].item() == 9
    assert found["other"][0].item() == 0


def test_what_else_a_checkpoint_holds(path: Path) -> None:
    raw = np.float64(2.5).tobytes().decode("latin-1")
    dtype = SetUp(Call(Named("numpy", "dtype"), ("f8", False, True)), (3, "<", None, None))
    encoded = Call(Named("_codecs", "encode"), (raw, "latin1"))
    single = Call(Named("numpy", "dtype"), ("f4", False, True))
    table = SetUp(HOOKS, {"_metadata": HOOKS})
    found = value_of(
        path,
        {
            "plain": [None, True, False, 0, -1, 2**40, 2.5, "é", b"\0\xff", (), [], {}],
            "keys": {1: "a", 2.5: "b", None: "c", (1, "x"): "d"},
            "table": table,
            "old table": Call(Named("collections", "OrderedDict"), ([["a", 1], ["b", []]],)),
            "size": Call(Named("torch", "Size"), ((2, 3),)),
            "device": Call(Named("torch", "device"), ("cuda", 1)),
            "dtype": Named("torch", "bfloat16"),
            "set": Call(Named("__builtin__", "set"), ([1, 2],)),
            "complex": Call(Named("builtins", "complex"), (1.0, 2.0)),
            "number": Call(Named("numpy.core.multiarray", "scalar"), (dtype, encoded)),
            "single": Call(Named("numpy._core.multiarray", "scalar"), (single, b"\0\0\x80?")),
            "parameter": Call(
                Named("torch._utils", "_rebuild_parameter"),
                (view(SEEN, 0, (2,), (1,)), True, HOOKS),
            ),
        },
    )
    assert found.pop("parameter").tolist() == [0, 1]
    assert found == {
        "plain": [None, True, False, 0, -1, 2**40, 2.5, "é", b"\0\xff", (), [], {}],
        "keys": {1: "a", 2.5: "b", None: "c", (1, "x"): "d"},
        "table": {},
        "old table": {"a": 1, "b": []},
        "size": (2, 3),
        "device": "cuda:1",
        "dtype": bs.bfloat16,
        "set": {1, 2},
        "complex": 1 + 2j,
        "number": 2.5,
        "single": 1.0,
    }


SAYINGS = {
    "BININT": (b"J\xff\xff\xff\xff", -1),
    "LONG4": (b"\x8b\2\0\0\0\0\x80", -32768),
    "SHORT_BINSTRING": (b"U\2ab", "ab"),
    "BINSTRING": (b"T\2\0\0\0ab", "ab"),
    "BINUNICODE8": (b"\x8d" + struct.pack("<Q", 2) + "é".encode(), "é"),
    "SHORT_BINBYTES": (b"C\1a", b"a"),
    "BINBYTES8": (b"\x8e" + struct.pack("<Q", 1) + b"a", b"a"),
    "TUPLE1": (b"N\x85", (None,)),
    "TUPLE2": (b"NN\x86", (None, None)),
    "TUPLE3": (b"K\1K\2K\3\x87", (1, 2, 3)),
    "APPEND": (b"]Na", [None]),
    "SETITEM": (b"}K\1Ns", {1: None}),
    "MEMOIZE": (b"]\x94\x85h\0\x86", (([],), [])),
    "LONG_BINPUT": (b"]r\7\1\0\0j\7\1\0\0\x86", ([], [])),
    "FRAME": (b"\x95" + bytes(8) + b"N", None),
}


@pytest.mark.parametrize("opcode", SAYINGS)
def test_opcodes_of_every_protocol(path: Path, opcode: str) -> None:
    code, value = SAYINGS[opcode]
    assert value_of(path, Raw(code)) == value
    assert pickle.loads(b"\x80\4" + code + b".") == value


def test_names_by_texts(path: Path) -> None:
    assert value_of(path, Raw(b"\x8c\5torch\x8c\7float32\x93")) is bs.float32


def test_what_is_shared_is_shared(path: Path) -> None:
    shared = Raw(code_of([]) + b"q\0")
    found = value_of(path, [shared, Raw(b"h\0")])
    assert found[0] is found[1]


def test_floats_become_another_dtype(path: Path) -> None:
    raw = zipped({"a": tensor("0", GRID), "b": tensor("1", np.arange(2))},
                 {"0": GRID, "1": np.arange(2)})  # fmt: skip
    found = loaded(path, raw, dtype="float16")
    assert [each.dtype.name for each in found.values()] == ["float16", "int64"]
    assert found["a"].tolist() == GRID.tolist()


def test_a_reader_of_a_table(path: Path) -> None:
    path.write_bytes(
        zipped({"a": tensor("0", GRID), "b": view(SEEN, 0, (3, 2), (1, 3))}, {"0": GRID})
    )
    for reader in (interop.open(path), interop.pytorch.open(path)):
        assert {name: stored.shape for name, stored in reader.items()} == {"a": (2, 3), "b": (3, 2)}
        assert reader["b"][1:].tolist() == GRID.T[1:].tolist()
    path.write_bytes(zipped({"model": {"a": tensor("0", GRID)}, "epoch": 3}, {"0": GRID}))
    with pytest.raises(interop.FileError, match="holds more than a table of tensors"):
        interop.open(path)


def test_elements_without_a_checksum_are_read(path: Path) -> None:
    """As `torch.serialization.set_crc32_options(False)` leaves it out."""
    raw = zipped(tensor("0", GRID), {"0": GRID})
    path.write_bytes(raw)
    for info in zipfile.ZipFile(path).infolist():
        raw = raw.replace(struct.pack("<I", info.CRC), bytes(4))
    assert loaded(path, raw).tolist() == GRID.tolist()


def test_sizes_that_32_bits_do_not_hold(path: Path) -> None:
    """The end of the directory as PyTorch writes it, always in the wide form too."""
    raw = archive({"m/data.pkl": b"\x80\2K\7."})
    first, end = raw.index(b"PK\1\2"), raw.index(b"PK\5\6")
    wide = struct.pack("<4sQ2H2I4Q", b"PK\6\6", 44, 45, 45, 0, 0, 1, 1, end - first, first)
    locator = struct.pack("<4sIQI", b"PK\6\7", 0, end, 1)
    assert loaded(path, raw[:end] + wide + locator + raw[end:]) == 7


def test_a_storage_of_another_place(path: Path) -> None:
    """Where the elements were when they were saved is nothing to us."""
    stored = Persistent(("storage", Named("torch", "FloatStorage"), "0", "cuda:3", 6))
    assert value_of(path, view(stored, 0, (6,), (1,))).tolist() == GRID.ravel().tolist()
