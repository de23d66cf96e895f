"""Weights from a file of any kind that is read here: what kind it is, its first bytes say.

Comes in: the path of a file or a folder. Goes out: tensors by name, or what else was saved.
Never: a decision by the suffix of a name, and no second try in another way.
"""

import os
from typing import Any

from . import pytorch, safetensors
from .errors import About, Refused, shown
from .mapped import mapped
from .pytorch.contents import begins_file
from .safetensors.header import begins_header
from .shards import expect_all, file_of, mapped_shard, shards_of
from .stored import Reader, Stored

_OTHERS = {
    b"GGUF": "GGUF",
    b"\x89HDF": "HDF5, as Keras writes it",
    b"\x93NUMPY": "numpy's; `bs.asarray(numpy.load(path))` reads it",
    b"\x1f\x8b": "compressed by gzip; unpack it first",
    b"version https://git-lfs": "a pointer of Git LFS, not the weights; fetch them first",
}


def load(path: Any, *, dtype: Any = None, device: Any = None, follow_links: bool = False) -> Any:
    """What a file holds: of safetensors, tensors by name; of PyTorch, whatever was saved.

    Floats become `dtype`, where one is given. `path` may be a folder, as Hugging Face lays them
    out; `follow_links` says that links in it are trusted.
    """
    with About("load", path) as about:
        memory = _opened(about, follow_links)
        if begins_file(memory):
            return pytorch.reader.tree_of(memory, dtype=dtype, device=device)
        return _reader(about.path, memory, follow_links).read(dtype=dtype, device=device)


def open(path: Any, *, follow_links: bool = False) -> Reader:
    """The tensors of a file or a folder by name, each of which is read when it is asked for."""
    with About("open", path) as about:
        memory = _opened(about, follow_links)
        return _reader(about.path, memory, follow_links)


def _opened(about: About, follow_links: bool) -> memoryview:
    """The memory of the file that a path means, which from now on is what it is all about."""
    if not os.path.isdir(about.path):
        return mapped(about.path)
    about.path = file_of(about.path)
    return mapped(about.path, follow_links=follow_links)


def _reader(path: str, memory: memoryview, follow_links: bool) -> Reader:
    if not _is_whole(memory) and bytes(memory[:64]).lstrip()[:1] == b"{":
        return _sharded(path, memory, follow_links)
    return _whole(path, memory)


def _is_whole(memory: memoryview) -> bool:
    """Whether a file has tensors itself; the length of a header may begin as a table does."""
    return begins_file(memory) or begins_header(memory)


def _whole(path: str, memory: memoryview) -> Reader:
    """The tensors of a file that has all of them."""
    if begins_file(memory):
        return pytorch.reader.reader_of(path, memory)
    if begins_header(memory):
        return safetensors.reader.reader_of(path, memory)
    start = bytes(memory[:32])
    kind = next((kind for magic, kind in _OTHERS.items() if start.startswith(magic)), None)
    what = f"is {kind}" if kind else f"begins with {shown(start[:12])}"
    raise Refused(f"it {what}", "what is read is safetensors, and what `torch.save` writes")


def _sharded(path: str, memory: memoryview, follow_links: bool) -> Reader:
    """The tensors of the files that a table names."""
    folder = os.path.dirname(path)
    tensors: dict[str, Stored] = {}
    for file, wanted in shards_of(memory).items():
        memory = mapped_shard(folder, file, follow_links)
        try:
            found = _whole(path, memory)
        except Refused as problem:
            raise Refused(f"its file {shown(file)}: {problem}", problem.hint) from None
        expect_all(wanted, found, file)
        tensors.update((name, found[name]) for name in wanted)
    return Reader(path, tensors)
