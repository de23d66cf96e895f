"""What `torch.save` writes, compared with what `torch.load` makes of it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone import interop

torch: Any = pytest.importorskip("torch", reason="PyTorch, a peer, is not installed")

WAYS = [(True, 2), (True, 3), (True, 4), (True, 5), (False, 2)]
DTYPES = [
    "bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64",
    "float8_e4m3fn", "float8_e5m2", "float16", "bfloat16", "float32", "float64", "complex64",
    "complex128",
]  # fmt: skip


def model() -> Any:
    torch.manual_seed(3)
    return torch.nn.Sequential(
        torch.nn.Conv2d(2, 3, 3), torch.nn.BatchNorm2d(3), torch.nn.Linear(4, 2, bias=False)
    )


def same(ours: Any, theirs: Any) -> bool:
    """Whether two trees are the same, tensors bit by bit."""
    if isinstance(theirs, torch.Tensor):
        bits = theirs.detach().contiguous().reshape(-1).view(torch.uint8).numpy()
        return tuple(theirs.shape) == ours.shape and bits.tobytes() == ours.numpy().tobytes()
    if isinstance(theirs, dict):
        return [*ours] == [*theirs] and all(same(ours[key], each) for key, each in theirs.items())
    if isinstance(theirs, list | tuple):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    return ours == theirs and type(ours) is type(theirs)


@pytest.mark.parametrize(("new", "protocol"), WAYS)
def test_checkpoints(tmp_path: Path, new: bool, protocol: int) -> None:
    net = model()
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    net[2](torch.ones(1, 4)).sum().backward()
    optimizer.step()
    held = {
        "model": net.state_dict(),
        "optimizer": optimizer.state_dict(),
        "parameter": net[2].weight,
        "epoch": 3,
        "turned": torch.arange(6.0).reshape(2, 3).T,
        "repeated": torch.ones(1, 2).expand(3, 2),
        "part": torch.arange(10)[2:8:3],
        "none": torch.ones(0, 3),
        "number": torch.tensor(1.5),
        "names": {"a": [1, 2.5, None, True, "é"]},
    }
    way = {"_use_new_zipfile_serialization": new, "pickle_protocol": protocol}
    torch.save(held, tmp_path / "file", **way)
    assert same(interop.load(tmp_path / "file"), torch.load(tmp_path / "file", weights_only=False))


@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype(tmp_path: Path, name: str) -> None:
    kind = getattr(torch, name)
    held = torch.tensor([[0, 1, 1], [1, 0, 1]], dtype=torch.uint8).to(kind)
    torch.save([held, kind], tmp_path / "file")
    found, dtype = interop.load(tmp_path / "file")
    assert found.dtype == dtype == getattr(bs, name.removesuffix("fn"))
    assert same(found, held)


def test_values_of_other_kinds(tmp_path: Path) -> None:
    held = {
        "best": np.float64(2.5), "step": np.int64(7), "flag": np.bool_(True), "c": 1 + 2j,
        "bytes": b"\0\xff", "set": {1, 2}, "large": 2**80, "where": torch.device("cuda:1"),
        "size": torch.Size([2, 3]),
    }  # fmt: skip
    torch.save(held, tmp_path / "file")
    assert interop.load(tmp_path / "file") == {**held, "where": "cuda:1", "size": (2, 3)}


def test_tied_weights_are_one(tmp_path: Path) -> None:
    tied = torch.ones(2, 2)
    torch.save({"in": tied, "out": tied}, tmp_path / "file")
    found = interop.load(tmp_path / "file")
    assert found["in"] is found["out"]


def test_files_without_checksums(tmp_path: Path) -> None:
    torch.serialization.set_crc32_options(False)
    try:
        torch.save({"a": torch.ones(3)}, tmp_path / "file")
    finally:
        torch.serialization.set_crc32_options(True)
    assert interop.load(tmp_path / "file")["a"].tolist() == [1, 1, 1]


REFUSED = {
    "a module": (model, "'torch.nn.modules.container.Sequential', which weights"),
    "a sparse tensor": (lambda: torch.eye(2).to_sparse(), "which weights|a sparse tensor"),
    "a quantised tensor": (
        lambda: torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8), "quantised|weights"
    ),
    "an array of numpy's": (lambda: np.ones(2), "multiarray._reconstruct', which weights"),
    "a path": (lambda: Path("a"), "pathlib.*', which weights"),
    "a tensor without elements": (lambda: torch.ones(2, device="meta"), "without elements"),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(tmp_path: Path, name: str) -> None:
    make, reason = REFUSED[name]
    torch.save(make(), tmp_path / "file")
    with pytest.raises(interop.FileError, match=reason):
        interop.load(tmp_path / "file")
