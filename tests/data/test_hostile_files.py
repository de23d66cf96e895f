"""Files that somebody made up: they are read, or refused with a `DataError`."""

import csv
import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from brimstone import data

IDX = b"\0\0\x08\2" + b"\0\0\0\2" + b"\0\0\0\3" + bytes(6)
FEW = settings(max_examples=40)
FIELDS = some.text(alphabet='ab",;\n\r\u2028\x1c ', max_size=5)


ODDITIES = [None, True, -1, 1.5, float("nan"), "", "../a", [], [None], {}, {"id": 0}]
ANNOTATIONS = {
    "images": [{"id": 0, "file_name": "a.png"}],
    "categories": [{"id": 0, "name": "cat"}],
    "annotations": [{"image_id": 0, "category_id": 0, "bbox": [0, 0, 1, 1], "iscrowd": 0}],
}


def changed(value: Any) -> Iterator[Any]:
    """The value with an oddity in each of its places, one at a time."""
    yield from ODDITIES
    if isinstance(value, dict):
        yield from ({**value, key: odd} for key in value for odd in changed(value[key]))
    if isinstance(value, list):
        yield from ([odd, *value[1:]] for odd in changed(value[0]))


@contextmanager
def holding(content: bytes) -> Iterator[Path]:
    """A file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "file")
        path.write_bytes(content)
        yield path


@FEW
@given(some.binary(max_size=40) | some.binary(max_size=20).map(lambda tail: IDX[:8] + tail))
def test_idx(content: bytes) -> None:
    with holding(content) as path, suppress(data.DataError):
        assert data.read_idx(path).nbytes <= len(content)


@pytest.mark.parametrize("length", range(len(IDX)))
def test_every_truncated_idx(length: int, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(IDX[:length])
    with pytest.raises(data.DataError):
        data.read_idx(tmp_path / "a")


@FEW
@given(some.lists(some.tuples(FIELDS, FIELDS), max_size=4))
def test_csv_as_it_was_written(rows: list[tuple[str, str]]) -> None:
    text = StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows([("one", "two"), *rows])
    with holding(text.getvalue().encode()) as path:
        assert [tuple(row.values()) for row in data.Csv(path)] == rows


@FEW
@given(some.text(alphabet='ab",\n\r\0', max_size=20) | some.binary(max_size=20))
def test_any_csv(content: Any) -> None:
    whole = content if isinstance(content, bytes) else content.encode()
    with holding(b"a,b\n" + whole) as path, suppress(data.DataError):
        assert all(len(row) == 2 for row in data.Csv(path))


@FEW
@given(some.binary(max_size=30))
def test_json_lines(content: bytes) -> None:
    with holding(content) as path, suppress(data.DataError):
        list(data.JsonLines(path))


def test_coco(tmp_path: Path) -> None:
    refused = 0
    for about in changed(ANNOTATIONS):
        (tmp_path / "a").write_text(json.dumps(about))
        try:
            assert len(data.CocoDetection(tmp_path, tmp_path / "a")) <= 1
        except data.DataError:
            refused += 1
    assert refused > 100


@FEW
@given(some.lists(some.tuples(some.integers(8, 200), some.integers(0, 255)), max_size=3))
def test_images(changes: list[tuple[int, int]]) -> None:
    image: Any = pytest.importorskip(
        "PIL.Image", reason="Pillow, of the extra `images`, is not installed"
    )
    made = BytesIO()
    image.fromarray(np.arange(64, dtype=np.uint8).reshape(8, 8)).save(made, "png")
    content = bytearray(made.getvalue())
    for place, value in changes:
        content[place % len(content)] = value
    with holding(bytes(content)) as path, suppress(data.DataError):
        assert data.read_image(path).shape[0] == 3
