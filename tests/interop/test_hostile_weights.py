"""Hostile files: refused with the reason, nothing run, no memory beyond a limit."""

import os
import pickle
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from brimstone import interop
from brimstone.interop import strict_json
from brimstone.interop.pytorch import archive, machine
from kit.hostile_pickles import PICKLES, zipped_code
from kit.hostile_weights import CORPUS, GOOD, KNOWN, safetensors
from kit.pickles import Call, Named, pickled
from kit.torch_files import legacy, tensor, zipped

SPARE = 1 << 22
SHARES = 8
"""What reading a file may take: 4 MiB, and some times what it has itself."""
VALUES = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.fixture(scope="module", autouse=True)
def loaded_before(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What is loaded once, for good, is not counted."""
    file = tmp_path_factory.mktemp("good") / "file"
    file.write_bytes(zipped({"a": tensor("0", VALUES)}, {"0": VALUES}))
    interop.load(file)
    file.write_bytes(b"nothing")
    with pytest.raises(interop.FileError):
        interop.load(file)


def peak_of_refusal(file: Path, reason: str) -> int:
    """The most memory that was in use while a file was refused for a reason."""
    tracemalloc.start()
    try:
        with pytest.raises(interop.FileError, match=reason) as caught:
            interop.load(file)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    message = str(caught.value)
    assert str(file) in message
    assert len(message) < 700 and message.replace("\n", "").isprintable()
    return peak


def test_the_corpus_is_large() -> None:
    assert len(CORPUS) >= 200


def test_what_was_found_elsewhere_is_among_it() -> None:
    assert {name for names in KNOWN.values() for name in names} <= {*CORPUS}


@pytest.mark.parametrize("name", CORPUS)
def test_refused(name: str, tmp_path: Path) -> None:
    hostile, sentinel, file = CORPUS[name], tmp_path / "sentinel", tmp_path / "file"
    file.write_bytes(hostile.make(f"touch {sentinel}"))
    assert peak_of_refusal(file, hostile.reason) < SPARE + SHARES * file.stat().st_size
    assert os.listdir(tmp_path) == [file.name]


def test_the_sentinel_is_left_where_a_pickle_runs(tmp_path: Path) -> None:
    """So that it means something that it is not there."""
    sentinel = tmp_path / "sentinel"
    function = Named("os", "system")
    raw = pickled(Call(function, (f"touch {sentinel}",)))
    assert raw in zipped(Call(function, (f"touch {sentinel}",)))
    assert PICKLES["os.system"].make("") == zipped(Call(function, ("",)), {"0": VALUES.ravel()[:4]})
    pickle.loads(raw)
    assert sentinel.exists()


def test_what_is_no_file_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(interop.FileError, match="is not a regular file"):
            interop.load(place)


def test_steps_and_entries_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    monkeypatch.setattr(machine, "MOST_STEPS", 100)
    file.write_bytes(zipped_code(b"N0" * 50 + b"N."))
    with pytest.raises(interop.FileError, match="takes more than 100 steps"):
        interop.load(file)
    monkeypatch.setattr(machine, "MOST_BYTES", 10)
    with pytest.raises(interop.FileError, match="is cut short, or too long"):
        interop.load(file)
    monkeypatch.setattr(archive, "MOST_ENTRIES", 3)
    with pytest.raises(interop.FileError, match="it has 4 entries, more than 3"):
        interop.load(file)
    monkeypatch.setattr(strict_json, "MOST_BYTES", 10)
    file.write_bytes(safetensors(GOOD))
    with pytest.raises(interop.FileError, match="the header has 62 bytes, more than 10"):
        interop.load(file)


def good_files() -> list[bytes]:
    """A file of each kind, with more than one tensor."""
    values = {"0": VALUES, "1": np.arange(5)}
    tree = {f"layer.{key}": tensor(key, array) for key, array in values.items()}
    old = {f"layer.{key}": tensor(key, array, None) for key, array in values.items()}
    two = {"b": {"dtype": "U8", "shape": [2, 1], "data_offsets": [16, 18]}, **GOOD}
    return [
        safetensors({"__metadata__": {"k": "v"}, **two}, bytes(18)),
        zipped({"state": tree, "epoch": 3, "rates": [0.5, None, (True,)]}, values),
        legacy({"state": old, "name": "net"}, values),
    ]


@pytest.mark.parametrize("seed", range(10))
def test_damaged_files_are_read_or_refused(seed: int, tmp_path: Path) -> None:
    """2,000 files with a few other bytes, or cut short, or with a part twice or gone."""
    random, file = np.random.default_rng(seed), tmp_path / "file"
    whole = good_files()
    refused = 0
    for turn in range(200):
        file.write_bytes(damaged(whole[turn % len(whole)], random))
        try:
            interop.load(file)
        except interop.FileError:
            refused += 1
    assert 100 < refused < 200


def damaged(raw: bytes, random: np.random.Generator) -> bytes:
    """The bytes of a file after an accident."""
    begin, end = sorted(int(each) for each in random.integers(0, len(raw), 2))
    kind = int(random.integers(6))
    if kind == 0:
        return raw[:begin]
    if kind == 1:
        return raw[:begin] + raw[min(end, begin + 9) :]
    if kind == 2:
        return raw[:begin] + raw[begin : begin + 9] + raw[begin:]
    changed = bytearray(raw)
    for _ in range(int(random.integers(1, 4))):
        place = int(random.integers(len(raw)))
        changed[place] = int(random.choice([0, 1, 0x7F, 0xFF, changed[place] ^ 1, 40, 46, 82, 99]))
    return bytes(changed)
