"""Files by what they are, and folders in which weights lie in several files."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from brimstone import interop
from kit.torch_files import tensor, zipped

ONE, TWO = np.arange(4, dtype=np.float32), np.arange(6).reshape(2, 3)
INDEX = "model.safetensors.index.json"


def sharded(folder: Path, **more: Any) -> Path:
    """Two files, and the table that says which tensor is where."""
    places = {"one": "part-1.safetensors", "two": "part-2.safetensors"} | more
    interop.safetensors.save(folder / "part-1.safetensors", {"one": ONE, "not listed": ONE})
    interop.safetensors.save(folder / "part-2.safetensors", {"two": TWO})
    table = {"metadata": {"total_size": 64}, "weight_map": places}
    (folder / INDEX).write_text(json.dumps(table, indent=2))
    return folder


def test_the_kind_of_a_file_is_in_its_bytes(tmp_path: Path) -> None:
    file = tmp_path / "weights.onnx"
    interop.safetensors.save(file, {"one": ONE})
    assert interop.load(file)["one"].tolist() == ONE.tolist()
    assert interop.open(str(file))["one"][1:3].tolist() == [1, 2]
    file.write_bytes(zipped({"one": tensor("0", ONE)}, {"0": ONE}))
    assert interop.load(bytes(file))["one"].tolist() == ONE.tolist()


def test_the_length_of_a_header_may_look_like_anything(tmp_path: Path) -> None:
    """123, 32 and 10 are a brace, a space and the end of a line."""
    for length in (0x7B, 0x120, 0x10A):
        header = b'{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}'.ljust(length)
        (tmp_path / "file").write_bytes(length.to_bytes(8, "little") + header + b"\5")
        assert interop.load(tmp_path / "file")["a"].tolist() == [5]


def test_weights_in_several_files(tmp_path: Path) -> None:
    folder = sharded(tmp_path)
    for path in (folder, folder / INDEX):
        found = interop.load(path)
        assert [*found] == ["one", "two"]
        assert (found["one"].tolist(), found["two"].tolist()) == (ONE.tolist(), TWO.tolist())
    reader = interop.open(folder)
    assert (reader["two"].shape, reader["two"][1].tolist()) == ((2, 3), [3, 4, 5])
    assert interop.load(folder, dtype="float16")["one"].dtype == "float16"


def test_files_of_pytorch_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "part-1.bin").write_bytes(zipped({"one": tensor("0", ONE)}, {"0": ONE}))
    (tmp_path / "part-2.bin").write_bytes(zipped({"two": tensor("0", TWO)}, {"0": TWO}))
    table = {"weight_map": {"two": "part-2.bin", "one": "part-1.bin"}}
    (tmp_path / "pytorch_model.bin.index.json").write_text(json.dumps(table))
    assert {name: each.shape for name, each in interop.load(tmp_path).items()} == {
        "two": (2, 3), "one": (4,),
    }  # fmt: skip


def test_a_damaged_tensor_in_a_folder_is_found(tmp_path: Path) -> None:
    whole = zipped({"one": tensor("0", ONE)}, {"0": ONE})
    (tmp_path / "part.bin").write_bytes(whole.replace(ONE.tobytes(), (ONE + 1).tobytes()))
    (tmp_path / "model.bin.index.json").write_text('{"weight_map": {"one": "part.bin"}}')
    with pytest.raises(interop.FileError, match=r"its file 'part\.bin': the entry 'data/0' is dam"):
        interop.load(tmp_path)
    assert interop.open(tmp_path)["one"].shape == (4,)


def test_which_file_of_a_folder(tmp_path: Path) -> None:
    with pytest.raises(interop.FileError, match="without a file of weights"):
        interop.load(tmp_path)
    (tmp_path / "pytorch_model.bin").write_bytes(b"something else")
    interop.safetensors.save(tmp_path / "model.safetensors", {"one": ONE})
    assert [*interop.load(tmp_path)] == ["one"]
    interop.safetensors.save(tmp_path / "other.safetensors", {"one": ONE})
    assert [*interop.load(tmp_path)] == ["one"]
    (tmp_path / "model.safetensors").rename(tmp_path / "another.safetensors")
    with pytest.raises(interop.FileError, match=r"several.*'another\.safetensors', 'other\."):
        interop.load(tmp_path)


def test_what_is_called_as_models_are_is_taken_of_several(tmp_path: Path) -> None:
    """Those who train with `transformers` leave `training_args.bin` beside the weights."""
    (tmp_path / "pytorch_model.bin").write_bytes(zipped({"one": tensor("0", ONE)}, {"0": ONE}))
    (tmp_path / "training_args.bin").write_bytes(b"something else")
    assert [*interop.load(tmp_path)] == ["one"]
    (tmp_path / "model.bin").write_bytes(b"something else")
    with pytest.raises(interop.FileError, match="several files of weights"):
        interop.load(tmp_path)


def test_a_damaged_part_is_named(tmp_path: Path) -> None:
    folder = sharded(tmp_path)
    (folder / "part-2.safetensors").write_bytes(b"noise" * 9)
    with pytest.raises(interop.FileError, match=r"index\.json: its file 'part-2\.safetensors': it"):
        interop.load(folder)
    sharded(tmp_path, three="part-1.safetensors")
    with pytest.raises(interop.FileError, match=r"'part-1\.safetensors' has not 'three'"):
        interop.load(folder)


def test_a_table_names_files_with_tensors_only(tmp_path: Path) -> None:
    folder = sharded(tmp_path, three=INDEX)
    with pytest.raises(interop.FileError, match=r"its file 'model\.safetensors\.index\.json': it"):
        interop.load(folder)


def test_links_out_of_a_folder_are_followed_only_if_asked_for(tmp_path: Path) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "folder"
    outside.mkdir()
    folder.mkdir()
    for file in sharded(outside).iterdir():
        (folder / file.name).symlink_to(file)
    with pytest.raises(
        interop.FileError, match=r"index\.json' is a link.*\n.*\n.*follow_links=True"
    ):
        interop.load(folder)
    assert [*interop.load(folder, follow_links=True)] == ["one", "two"]
    with pytest.raises(interop.FileError, match=r"'part-1\.safetensors' is a link"):
        interop.open(folder / INDEX)
    assert [*interop.open(folder / INDEX, follow_links=True)] == ["one", "two"]
    (folder / INDEX).unlink()
    shutil.copy(outside / INDEX, folder)
    with pytest.raises(interop.FileError, match=r"'part-1\.safetensors' is a link"):
        interop.load(folder)


def test_other_kinds_of_files_are_called_by_name(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n")
    with pytest.raises(interop.FileError, match="is a pointer of Git LFS, not the weights"):
        interop.load(tmp_path / "file")
