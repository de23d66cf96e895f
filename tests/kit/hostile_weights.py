"""Files of weights that somebody made to do harm, and why each is refused.

Comes in: nothing. Goes out: `CORPUS`, a table from what is wrong with a file to a `Hostile`.
Never: a file that does harm when it is made: what it would run leaves a sentinel behind, no more.
"""

import io
import json
import tarfile
from collections.abc import Callable
from typing import Any

import numpy as np

from kit.hostile_archives import ARCHIVES
from kit.hostile_pickles import LEGACY, PICKLES, VIEWS, Hostile
from kit.pickles import Call, Named, pickled

Header = dict[str, Any]
FLOATS = np.arange(4, dtype=np.float32).tobytes()
GOOD: Header = {"a": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}}


def safetensors(header: Header | str | bytes, data: bytes = FLOATS, length: int = -1) -> bytes:
    """A file with a header, whatever that is, and a length that may be a lie."""
    text = json.dumps(header) if isinstance(header, dict) else header
    raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return (len(raw) if length < 0 else length).to_bytes(8, "little") + raw + data


def of_a(**fields: Any) -> Callable[[str], bytes]:
    """A file of one tensor, which is described otherwise."""
    return lambda _: safetensors({"a": GOOD["a"] | fields})


def of(header: Any, data: bytes = FLOATS, length: int = -1) -> Callable[[str], bytes]:
    return lambda _: safetensors(header, data, length)


def at(**places: tuple[int, int]) -> Callable[[str], bytes]:
    """A file of bytes at some places."""
    return of({
        name: {"dtype": "U8", "shape": [end - begin], "data_offsets": [begin, end]}
        for name, (begin, end) in places.items()
    })  # fmt: skip


def tar(command: str) -> bytes:
    """A file as PyTorch wrote them before version 0.1.10, whose parts are pickles."""
    memory = io.BytesIO()
    with tarfile.open(fileobj=memory, mode="w") as file:
        for name in ("sys_info", "pickle", "tensors", "storages"):
            raw = pickled(Call(Named("os", "system"), (command,)))
            entry = tarfile.TarInfo(name)
            entry.size = len(raw)
            file.addfile(entry, io.BytesIO(raw))
    return memory.getvalue()


LENGTHS = {
    "no bytes": Hostile(lambda _: b"", "it is empty"),
    "a length cut short": Hostile(lambda _: b"\2\0\0", "begins with"),
    "a header of 8 exabytes": Hostile(
        of(GOOD, length=(1 << 48) - 1), "281474976710655 bytes, and the file only"
    ),
    "a header of 2^63 bytes": Hostile(of(GOOD, length=1 << 63), "begins with"),
    "a header beyond the file": Hostile(of(GOOD, length=9999), "9999 bytes, and the file only"),
    "a header of one byte": Hostile(of(GOOD, length=1), "is no JSON"),
    "data cut short": Hostile(lambda _: safetensors(GOOD)[:-1], "ends 1 bytes behind the file"),
    "a header cut short": Hostile(lambda _: safetensors(GOOD)[:20], "and the file only 20"),
}
TEXTS = {
    "no JSON": Hostile(of("{not json"), "is no JSON"),
    "JSON and more": Hostile(of("{}{}", b""), "is no JSON: Extra data"),
    "no object": Hostile(of("{", b""), "is no JSON"),
    "no UTF-8": Hostile(of(b'{"\xff\xfe": 1}'), "is no JSON: 'utf-8'"),
    "NaN": Hostile(of('{"a": NaN}'), "NaN is no JSON"),
    "half a character": Hostile(of('{"\\ud800": {}}'), "is no Unicode"),
    "a number of 5,000 digits": Hostile(of('{"a": ' + "9" * 5000 + "}"), "is no JSON"),
    "a name twice": Hostile(
        of(json.dumps(GOOD)[:-1] + "," + json.dumps(GOOD)[1:]), "'a' is there twice"
    ),
    "a field twice": Hostile(
        of('{"a":{"dtype":"F32","shape":[1],"shape":[4],"data_offsets":[0,16]}}'),
        "'shape' is there twice",
    ),
    "lists 100,000 deep": Hostile(of('{"a":' + "[" * 100_000), "is nested too deeply"),
    "objects 100,000 deep": Hostile(of('{"a":' * 100_000), "is nested too deeply"),
    "millions of lists": Hostile(
        of('{"a":[' + "[]," * 2_100_000 + "0]}"), "more than 4000000 values"
    ),
}
FIELDS = {
    "texts that are none": Hostile(of({"__metadata__": {"a": 1}}), "not a table of texts"),
    "metadata that are a list": Hostile(of({"__metadata__": [1]}), "not a table of texts"),
    "a tensor that is a list": Hostile(of({"a": [1]}), "has not the fields"),
    "a further field": Hostile(of_a(code="import os"), "has not the fields"),
    "a field too few": Hostile(of({"a": {"dtype": "F32"}}), "has not the fields"),
    "an unknown dtype": Hostile(of_a(dtype="F128"), "has the dtype 'F128'"),
    "a dtype that is a list": Hostile(of_a(dtype=["F32"]), r"has the dtype \['F32'\]"),
    "a shape that is a number": Hostile(of_a(shape=4), "has the shape 4"),
    "a size below 0": Hostile(of_a(shape=[-4]), "not all integers from 0 up"),
    "two sizes below 0": Hostile(of_a(shape=[-2, -2]), "not all integers from 0 up"),
    "a size that is a float": Hostile(of_a(shape=[4.0]), "not all integers from 0 up"),
    "a size that is true": Hostile(of_a(shape=[4, True]), "not all integers from 0 up"),
    "sizes whose product wraps to 0": Hostile(of_a(shape=[1 << 32, 1 << 32]), "into no memory"),
    "sizes whose product wraps to 4": Hostile(
        of_a(shape=[(1 << 62) + 1, 4]), "would fit into no memory"
    ),
    "nothing times everything": Hostile(
        of_a(shape=[0, 1 << 62, 1 << 62], data_offsets=[0, 0]), "would fit into no memory"
    ),
    "65 axes": Hostile(of_a(shape=[1] * 65), "65 axes are more than 64"),
    "a place below 0": Hostile(of_a(data_offsets=[-16, 0]), "which is no place"),
    "a place backwards": Hostile(of_a(data_offsets=[16, 0]), "which is no place"),
    "a place of three numbers": Hostile(of_a(data_offsets=[0, 8, 16]), "which is no place"),
    "a place of floats": Hostile(of_a(data_offsets=[0.0, 16.0]), "which is no place"),
    "another size than the shape's": Hostile(of_a(shape=[5]), r"has 16 bytes, and float32\[5\] ta"),
}
PLACES = {
    "a tensor beyond the file": Hostile(at(a=(0, 16), b=(16, 20)), "4 bytes behind the file"),
    "a tensor far beyond the file": Hostile(at(a=(1 << 40, (1 << 40) + 9)), "behind the file"),
    "tensors that overlap": Hostile(at(a=(0, 9), b=(8, 16)), "tensor 'b' overlaps 'a'"),
    "two tensors in one place": Hostile(at(a=(0, 16), b=(0, 16)), "overlaps"),
    "a tensor within another": Hostile(at(a=(0, 16), b=(4, 8)), "overlaps"),
    "a hole before": Hostile(at(a=(4, 16)), "a hole between the header and tensor 'a'"),
    "a hole between": Hostile(at(a=(0, 4), b=(8, 16)), "a hole between 'a' and tensor 'b'"),
    "bytes behind the last": Hostile(at(a=(0, 4)), "12 bytes behind 'a' belong to no tensor"),
}
TABLES = {
    "a table without files": Hostile(lambda _: b'{"metadata": {}}', "without a weight_map"),
    "a table that is cut short": Hostile(lambda _: b'{\n "weight_map": {"a', "is no JSON"),
    "a table with a tensor twice": Hostile(
        lambda _: b'{ "weight_map": {"a": "x", "a": "y"}}', "'a' is there twice"
    ),
    **{
        f"a table that names {json.dumps(name)}": Hostile(
            lambda _, name=name: json.dumps({"weight_map": {"a": name}}, indent=1).encode(),
            "no file beside it",
        )
        for name in ("../secret", "/etc/passwd", "a/../../b", "..", "", "C:x", "a\\b", "a\0", 3)
    },
    "a table that names what is not there": Hostile(
        lambda _: b'{ "weight_map": {"a": "part-1"}}', "'part-1', which it names, is not there"
    ),
}
OTHERS = {
    "GGUF": Hostile(lambda _: b"GGUF\3\0\0\0" + bytes(99), "it is GGUF"),
    "HDF5": Hostile(lambda _: b"\x89HDF\r\n\x1a\n" + bytes(99), "it is HDF5"),
    "an archive of tar": Hostile(tar, "begins with"),
    "noise": Hostile(lambda _: bytes(range(200, 255)), "begins with"),
}
CORPUS: dict[str, Hostile] = {
    f"{kind}: {name}": hostile
    for kind, table in {
        "length": LENGTHS, "text": TEXTS, "field": FIELDS, "place": PLACES, "table": TABLES,
        "kind": OTHERS, "pickle": PICKLES, "view": VIEWS, "legacy": LEGACY, "archive": ARCHIVES,
    }.items()
    for name, hostile in table.items()
}  # fmt: skip

# What was found in other libraries, and the files that would do it here.
KNOWN = {
    "CVE-2024-3660, code beside the weights": ["field: a further field", "pickle: a whole module"],
    "CVE-2025-1716, a function that nobody had thought of": ["pickle: pip.main"],
    "CVE-2025-10155, a pickle by another suffix": ["legacy: a pickle alone"],
    "CVE-2025-10156, a checksum that only some look at": ["archive: elements that are damaged"],
    "CVE-2025-10157, something inside of a module": [
        "pickle: asyncio.unix_events._UnixSubprocessTransport._start"
    ],
    "CVE-2025-32434, another way for old files": ["kind: an archive of tar", "legacy: os.system"],
    "CVE-2026-24747, keys for what is no table, storages of another size": [
        "pickle: a list with keys", "view: a storage that is larger", "view: beyond its storage",
    ],
}  # fmt: skip
