"""Weights in several files: a table says which of them has which tensor, as Hugging Face writes it.

Comes in: a folder, or a table in mapped memory. Goes out: the file to begin with, or the files that
the table names.
Never: a file outside the folder: names are plain ones, and links are refused unless the caller
trusts them.
"""

import os
from collections.abc import Mapping

from .errors import Refused, listed, shown
from .mapped import mapped
from .strict_json import read_json

# What is looked for in a folder, one after the other.
_SUFFIXES = (".safetensors.index.json", ".safetensors", ".bin.index.json", ".bin", ".pt", ".pth")
# What stands before the suffix of weights, where other files of that suffix lie beside them.
_NAMES = ("model", "pytorch_model")


def file_of(folder: str) -> str:
    """The one file of a folder that holds its weights, or says where they are."""
    names = sorted(os.listdir(folder))
    for suffix in _SUFFIXES:
        found = [name for name in names if name.endswith(suffix)]
        if len(found) > 1:
            called = [name for name in found if name.removesuffix(suffix) in _NAMES]
            found = called if len(called) == 1 else found
        if len(found) > 1:
            raise Refused(f"it is a folder with several files of weights: {listed(found)}")
        if found:
            return os.path.join(folder, found[0])
    raise Refused("it is a folder without a file of weights")


def shards_of(memory: memoryview) -> dict[str, list[str]]:
    """The files that a table names, with the tensors that are wanted of each."""
    table = read_json(memory, "its table")
    places = table.get("weight_map") if isinstance(table, dict) else None
    if not isinstance(places, dict) or not places:
        raise Refused("it is JSON without a weight_map, which says which file has which tensor")
    shards: dict[str, list[str]] = {}
    for name, file in places.items():
        if not isinstance(file, str) or not _plain(file):
            raise Refused(f"tensor {shown(name)} is said to be in {shown(file)}: no file beside it")
        shards.setdefault(file, []).append(name)
    return shards


def mapped_shard(folder: str, file: str, follow_links: bool) -> memoryview:
    """The memory of a file that a table names."""
    try:
        return mapped(os.path.join(folder, file), follow_links=follow_links)
    except FileNotFoundError:
        raise Refused(f"the file {shown(file)}, which it names, is not there") from None


def expect_all(wanted: list[str], found: Mapping[str, object], file: str) -> None:
    """Refuse a file that lacks tensors which the table says it has."""
    missing = [name for name in wanted if name not in found]
    if missing:
        raise Refused(f"the file {shown(file)} has not {listed(missing)}")


def _plain(file: str) -> bool:
    """Whether a name stays in its folder on every system."""
    return file not in ("", ".", "..") and not {"/", "\\", ":"} & {*file} and file.isprintable()
