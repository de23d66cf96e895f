"""Weights from a file of any kind that is read here: what kind it is, its first bytes say.

Comes in: the path of a file or a folder. Goes out: tensors by name, or what else was saved.
Never: a decision by the suffix of a file's name, or a second try in another way.
"""

import os
from typing import Any, NamedTuple

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
        reader = _Opening(follow_links, check=True).reader(about.path, memory)
        return reader.read(dtype=dtype, device=device)


def open(path: Any, *, follow_links: bool = False) -> Reader:
    """The tensors of a file or a folder by name, each of which is read when it is asked for."""
    with About("open", path) as about:
        memory = _opened(about, follow_links)
        return _Opening(follow_links, check=False).reader(about.path, memory)


def _opened(about: About, follow_links: bool) -> memoryview:
    """The memory of the file that a path means, which from now on is what it is all about."""
    if not os.path.isdir(about.path):
        return mapped(about.path)
    about.path = file_of(about.path)
    return mapped(about.path, follow_links=follow_links)


class _Opening(NamedTuple):
    """How files are opened: whether links are trusted, and whether checksums are looked at."""

    follow_links: bool
    check: bool

    def reader(self, path: str, memory: memoryview) -> Reader:
        """The tensors of a file, or of the files that a table names."""
        # The length of a header may begin as a table does.
        whole = begins_file(memory) or begins_header(memory)
        if not whole and bytes(memory[:64]).lstrip()[:1] == b"{":
            return self.sharded(path, memory)
        return self.whole(path, memory)

    def whole(self, path: str, memory: memoryview) -> Reader:
        """The tensors of a file that has all of them."""
        if begins_file(memory):
            return pytorch.reader.reader_of(path, memory, check=self.check)
        if begins_header(memory):
            return safetensors.reader.reader_of(path, memory)
        start = bytes(memory[:32])
        kind = next((kind for magic, kind in _OTHERS.items() if start.startswith(magic)), None)
        what = f"is {kind}" if kind else f"begins with {shown(start[:12])}"
        raise Refused(f"it {what}", "what is read is safetensors, and what `torch.save` writes")

    def sharded(self, path: str, table: memoryview) -> Reader:
        """The tensors of the files that a table names."""
        folder = os.path.dirname(path)
        tensors: dict[str, Stored] = {}
        for file, wanted in shards_of(table).items():
            memory = mapped_shard(folder, file, self.follow_links)
            try:
                found = self.whole(path, memory)
            except Refused as problem:
                raise Refused(f"its file {shown(file)}: {problem}", problem.hint) from None
            expect_all(wanted, found, file)
            tensors.update((name, found[name]) for name in wanted)
        return Reader(path, tensors)
