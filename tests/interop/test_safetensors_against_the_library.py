"""Files that the safetensors library writes are read, and ours are what it would have written."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone import interop
from brimstone.interop.safetensors.header import DTYPES

library: Any = pytest.importorskip("safetensors", reason="safetensors, a peer, is not installed")
theirs: Any = pytest.importorskip("safetensors.numpy")

RANDOM = np.random.default_rng(5)
ARRAYS: dict[str, Any] = {
    "a": RANDOM.standard_normal((3, 4)).astype(np.float32),
    "b": np.array(2.5),
    "c": np.ones((2, 0), np.int64),
    'é"\n': RANDOM.integers(0, 255, 5).astype(np.uint8),
    "d": np.array([True, False]),
    "e": np.array([1 + 2j], np.complex64),
    "f": RANDOM.standard_normal(3).astype(np.float16),
    "g": RANDOM.integers(0, 99, 2).astype(np.uint16),
    "h": RANDOM.integers(-99, 99, 2).astype(np.int8),
    "i": np.array([1.5, -2], bs.bfloat16.dtype),
}


def test_their_files_are_read(tmp_path: Path) -> None:
    theirs.save_file(ARRAYS, tmp_path / "file", {"format": "np"})
    loaded = interop.load(tmp_path / "file")
    assert loaded.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert np.asarray(loaded[name]).tobytes() == array.tobytes()
    assert interop.open(tmp_path / "file").metadata == {"format": "np"}


@pytest.mark.parametrize("metadata", [None, {"format": "np \x1f\x7f é"}], ids=["none", "some"])
def test_ours_are_theirs_byte_by_byte(tmp_path: Path, metadata: Any) -> None:
    interop.safetensors.save(tmp_path / "ours", ARRAYS, metadata)
    assert (tmp_path / "ours").read_bytes() == theirs.save(ARRAYS, metadata)
    loaded = theirs.load_file(tmp_path / "ours")
    for name, array in ARRAYS.items():
        assert (loaded[name].dtype, loaded[name].tobytes()) == (array.dtype, array.tobytes())


@pytest.mark.parametrize("kind", DTYPES)
def test_every_dtype_is_called_as_they_call_it(tmp_path: Path, kind: str) -> None:
    interop.safetensors.save(tmp_path / "ours", {"x": np.zeros((2, 1), DTYPES[kind].dtype)})
    with library.safe_open(tmp_path / "ours", framework="numpy") as file:
        part = file.get_slice("x")
        assert (part.get_dtype(), part.get_shape()) == (kind, [2, 1])


@pytest.mark.parametrize("seed", range(8))
def test_both_refuse_the_same_damage(tmp_path: Path, seed: int) -> None:
    """One number of a header is another one: who reads it, reads the same; mostly nobody does."""
    random = np.random.default_rng(seed)
    whole = theirs.save({name: array for name, array in ARRAYS.items() if name != "i"})
    length = int.from_bytes(whole[:8], "little")
    header: dict[str, Any] = json.loads(whole[8 : 8 + length])
    for _ in range(20):
        name = str(random.choice(list(header)))
        field = str(random.choice(["shape", "data_offsets"]))
        changed = {key: dict(fields) for key, fields in header.items()}
        numbers = list(changed[name][field]) or [0]
        numbers[int(random.integers(len(numbers)))] = int(random.choice([-1, 0, 1, 2, 4, 2**62]))
        changed[name][field] = numbers
        text = json.dumps(changed).encode()
        raw = len(text).to_bytes(8, "little") + text + whole[8 + length :]
        (tmp_path / "file").write_bytes(raw)
        try:
            expected = theirs.load(raw)
        except (library.SafetensorError, ValueError, OverflowError):
            with pytest.raises(interop.FileError):
                interop.load(tmp_path / "file")
        else:
            loaded = interop.load(tmp_path / "file")
            for key, array in expected.items():
                assert np.asarray(loaded[key]).tobytes() == array.tobytes()
