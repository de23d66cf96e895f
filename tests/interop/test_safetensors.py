"""Safetensors: round trips, what readers of parts see, and how files are written."""

import errno
import json
import os
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone import interop, nn
from brimstone.frontend.dtypes import DType
from brimstone.frontend.errors import ArgumentError, DTypeError, PlaceError
from brimstone.interop.safetensors.header import DTYPES

Array = np.ndarray[Any, Any]
NAN_WITH_BITS = np.array([0x7FC01234, 0xFF800001, 0x80000000], np.uint32).view(np.float32)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "weights.safetensors"


def floats(*values: float) -> Array:
    return np.array(values, np.float32)


def every_dtype() -> dict[str, Array]:
    """Arrays with all bits that a byte has, but for booleans."""
    numbers = np.arange(256, dtype=np.uint8)
    arrays = {
        kind: numbers.view(dtype.dtype).reshape(2, -1)
        for kind, dtype in DTYPES.items()
        if kind != "BOOL"
    }
    return {**arrays, "BOOL": np.array([True, False, True])}


def same_bits(left: Any, right: Any) -> bool:
    left, right = np.asarray(left), np.asarray(right)
    return (
        left.dtype == right.dtype
        and left.shape == right.shape
        and left.tobytes() == right.tobytes()
    )


def test_what_is_saved_is_loaded_bit_by_bit(path: Path) -> None:
    arrays = {**every_dtype(), "nan": NAN_WITH_BITS, "none": np.ones((2, 0, 3), np.float32)}
    interop.safetensors.save(path, {name: bs.asarray(array) for name, array in arrays.items()})
    loaded = interop.safetensors.load(path)
    assert loaded.keys() == arrays.keys()
    for name, array in arrays.items():
        assert isinstance(loaded[name], bs.Tensor)
        assert same_bits(loaded[name], array), name


def test_arrays_that_lie_otherwise_in_memory_are_saved_by_their_elements(path: Path) -> None:
    grid = np.arange(12.0).reshape(3, 4)
    interop.safetensors.save(path, {"turned": grid.T, "part": grid[::2, 1:3], "one": grid[1, 1:2]})
    loaded = interop.safetensors.load(path)
    assert same_bits(loaded["turned"], grid.T.copy())
    assert same_bits(loaded["part"], grid[::2, 1:3].copy())
    assert same_bits(loaded["one"], grid[1, 1:2])


def test_the_bytes_of_a_file(path: Path) -> None:
    """Wide dtypes first, names in order, the header filled up to a multiple of 8."""
    tensors = {"b": floats(1, 2), "ä": np.array([3], np.int8), "a": floats(4)}
    interop.safetensors.save(path, tensors, {"made by": "us"})
    header = (
        '{"__metadata__":{"made by":"us"},'
        '"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},'
        '"b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]},'
        '"ä":{"dtype":"I8","shape":[1],"data_offsets":[12,13]}}'
    ).encode()
    header += b" " * (-len(header) % 8)
    data = floats(4, 1, 2).tobytes() + b"\3"
    assert path.read_bytes() == len(header).to_bytes(8, "little") + header + data


def test_a_reader_gives_one_tensor_at_a_time(path: Path) -> None:
    grid = np.arange(24, dtype=np.float32).reshape(4, 6)
    interop.safetensors.save(path, {"grid": grid, "scale": np.array([3.0])}, {"k": "v"})
    with interop.safetensors.open(path) as reader:
        assert list(reader) == ["scale", "grid"]
        assert reader.metadata == {"k": "v"}
        stored = reader["grid"]
        assert (stored.shape, stored.dtype, stored.nbytes) == ((4, 6), bs.float32, 96)
        assert same_bits(stored.read(), grid)
        assert same_bits(stored[1:3, ::2], grid[1:3, ::2])
        assert same_bits(stored[..., -1], grid[..., -1])
        assert same_bits(stored[2, 3], grid[2, 3])
        assert same_bits(stored.read(dtype="float32"), grid)
        assert "grid" in reader and "other" not in reader and reader.get("other") is None
    assert same_bits(stored[0], grid[0])  # what was taken out stays
    with pytest.raises(interop.MissingTensor, match="is closed"):
        reader["grid"]


def test_a_tensor_is_read_in_its_own_dtype_whatever_that_is(path: Path) -> None:
    counts = np.arange(3)
    interop.safetensors.save(path, {"counts": counts})
    with interop.safetensors.open(path) as reader:
        assert same_bits(reader["counts"].read(dtype=bs.int64), counts)
        assert same_bits(reader["counts"].read(dtype=bs.float16), counts)
        with pytest.raises(DTypeError, match="floats become another float dtype, not int32"):
            reader["counts"].read(dtype=bs.int32)


def test_mistakes_with_a_reader_are_named(path: Path) -> None:
    interop.safetensors.save(path, {"layer.weight": np.ones((2, 3), np.float32)})
    reader = interop.safetensors.open(path)
    with pytest.raises(KeyError, match=r"no tensor 'layer\.wieght'\n.*\n.*'layer\.weight'"):
        reader["layer.wieght"]
    with pytest.raises(PlaceError, match=r"index 5 is out of bounds.*\n.*float32\[2, 3\]"):
        reader["layer.weight"][5]
    for place in (np.array([0, 1]), True, None, [0, 1]):
        with pytest.raises(PlaceError, match="is no place in a file"):
            reader["layer.weight"][place]
    with pytest.raises(PlaceError, match="slice indices must be integers"):
        reader["layer.weight"][0.5:]


def test_a_tensor_is_a_copy(path: Path) -> None:
    interop.safetensors.save(path, {"a": floats(1, 2)})
    loaded = interop.safetensors.load(path)["a"]
    with path.open("r+b") as file:
        file.seek(-8, os.SEEK_END)
        file.write(b"\xff" * 8)
    assert loaded.tolist() == [1, 2]


@pytest.mark.parametrize("dtype", [bs.bfloat16, bs.float16, bs.float64], ids=str)
def test_floats_become_another_dtype_and_all_else_stays(path: Path, dtype: DType) -> None:
    values = np.array([1.0, 1 + 2**-9, 3.0e38, -2.5, np.nan], np.float32)
    half = np.array([1.5, 65504], np.float16)
    arrays = {"single": values, "half": half, "whole": np.array([2**40]), "bool": np.array([True])}
    interop.safetensors.save(path, arrays)
    loaded = interop.safetensors.load(path, dtype=dtype)
    with np.errstate(over="ignore"):
        assert same_bits(loaded["single"], values.astype(dtype.dtype))
        assert same_bits(loaded["half"], half.astype(np.float32).astype(dtype.dtype))
    assert (loaded["whole"].dtype, loaded["bool"].dtype) == (bs.int64, bs.bool)
    assert loaded["single"].numpy().flags.c_contiguous


def test_only_floats_can_be_asked_for(path: Path) -> None:
    interop.safetensors.save(path, {"a": floats(1)})
    with pytest.raises(DTypeError, match="another float dtype, not int8"):
        interop.safetensors.load(path, dtype="int8")


def test_bytes_of_a_bool_that_are_neither_0_nor_1_are_true(path: Path) -> None:
    interop.safetensors.save(path, {"a": np.array([True, False, True])})
    path.write_bytes(path.read_bytes()[:-1] + b"\x7f")
    assert interop.safetensors.load(path)["a"].numpy().view(np.uint8).tolist() == [1, 0, 1]


def test_tensors_that_are_not_aligned_are_read(path: Path) -> None:
    header = b'{"a":{"dtype":"BF16","shape":[2,2],"data_offsets":[0,8]}}  '
    values = np.array([[1, 2], [3, 4]], bs.bfloat16.dtype)
    path.write_bytes(len(header).to_bytes(8, "little") + header + values.tobytes())
    assert len(header) % 2
    assert same_bits(interop.safetensors.load(path)["a"], values)
    assert same_bits(interop.safetensors.open(path)["a"][:, 1], values[:, 1])


@pytest.mark.parametrize("device", ["reference", "cpu"])
def test_tensors_go_to_a_device(path: Path, device: str) -> None:
    interop.safetensors.save(path, {"a": floats(1, 2)})
    loaded = interop.load(path, device=device, dtype="float16")["a"]
    assert str(loaded.device) == device
    assert loaded.tolist() == [1, 2]
    interop.safetensors.save(path, {"a": loaded})
    assert interop.open(path)["a"].read(device=device).tolist() == [1, 2]


def test_other_libraries_get_copies(path: Path) -> None:
    interop.safetensors.save(path, {"a": floats(1, 2)})
    stored = interop.open(path)["a"]
    array = np.asarray(stored)
    array[0] = 9
    assert bs.asarray(stored).tolist() == [1, 2]
    assert np.asarray(stored, np.int64).dtype == np.int64
    with pytest.raises(ValueError, match="not seen without a copy"):
        np.asarray(stored, copy=False)
    interop.safetensors.save(path.with_name("other"), {"a": stored})
    assert path.read_bytes() == path.with_name("other").read_bytes()


def test_a_computed_tensor_is_saved(path: Path) -> None:
    interop.safetensors.save(path, {"a": bs.asarray([1.0, 2.0]) * 3})
    assert interop.safetensors.load(path)["a"].tolist() == [3, 6]


@pytest.mark.parametrize(
    ("tensors", "metadata", "reason"),
    [
        ({"a": np.array([1j])}, None, "has no complex128, the dtype of 'a'"),
        ({"a": [1.0]}, None, "'a' is no tensor but list"),
        ({1: np.ones(1)}, None, "the name 1 is no text"),
        ({"\ud800": np.ones(1)}, None, "is no Unicode"),
        ({"__metadata__": np.ones(1)}, None, "no tensor is called __metadata__"),
        ({}, {"epoch": 3}, "in __metadata__, 3 is no text"),
    ],
)
def test_what_no_file_can_hold_is_refused_before_one_is_made(
    path: Path, tensors: Any, metadata: Any, reason: str
) -> None:
    path.write_bytes(b"an older file")
    with pytest.raises(interop.FileError, match=reason):
        interop.safetensors.save(path, tensors, metadata)
    assert path.read_bytes() == b"an older file"
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize("phase", ["fsync", "replace"])
def test_an_older_file_stays_until_the_new_one_is_on_the_disk(
    path: Path, phase: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    interop.safetensors.save(path, {"a": floats(1)})

    def full(*given: Any) -> None:
        raise OSError(errno.ENOSPC, "no space")

    with monkeypatch.context() as patch:
        patch.setattr(os, phase, full)
        with pytest.raises(OSError, match="no space"):
            interop.safetensors.save(path, {"a": floats(2)})
    assert interop.safetensors.load(path)["a"].tolist() == [1]
    assert os.listdir(path.parent) == [path.name]


def test_a_file_and_its_folder_are_flushed_before_and_after_it_takes_its_place(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    fsync, replace = os.fsync, os.replace

    def flush(descriptor: int) -> None:
        done.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        fsync(descriptor)

    def take_place(*paths: str) -> None:
        done.append("replace")
        replace(*paths)

    monkeypatch.setattr(os, "fsync", flush)
    monkeypatch.setattr(os, "replace", take_place)
    interop.safetensors.save(path, {"a": floats(1)})
    assert done == ["file", "replace", "folder"]


def test_a_link_stays_one_and_permissions_are_those_of_any_new_file(path: Path) -> None:
    target = path.with_name("target")
    path.symlink_to(target.name)
    interop.safetensors.save(path, {"a": floats(1)})
    assert path.is_symlink()
    beside = path.with_name("beside")
    beside.touch()
    assert target.stat().st_mode == beside.stat().st_mode


def test_a_path_is_a_path(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="expected the path of a file"):
        interop.load(3)
    with pytest.raises(ArgumentError, match="zero byte"):
        interop.load("a\0b")
    with pytest.raises(FileNotFoundError):
        interop.load(tmp_path / "nothing")
    with pytest.raises(FileNotFoundError):
        interop.safetensors.save(tmp_path / "nothing" / "here", {})


def test_a_file_of_nothing(path: Path) -> None:
    interop.safetensors.save(path, {})
    assert interop.load(path) == {}
    assert json.loads(path.read_bytes()[8:]) == {}


def test_a_model_is_no_table_of_names(path: Path) -> None:
    with pytest.raises(bs.BrimstoneError, match=r"a Linear has none.*state_dict"):
        interop.safetensors.save(path, nn.Linear(2, 2))  # pyright: ignore[reportArgumentType]
