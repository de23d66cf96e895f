"""TensorBoard's event files: their bytes by hand, and as tensorboardX writes and reads them."""

import struct
from collections.abc import Iterator
from math import inf, isnan, nan
from pathlib import Path
from typing import Any

import pytest

from brimstone.train import EpochEnded, Progress, Started
from brimstone.train.log import TensorBoardLog
from brimstone.train.log.event_file import crc32c, first_event, record, restart_event, scalars_event
from kit.played_runs import told

TIME = 1_700_000_000.25
WHY = "tensorboardX, which writes the same files, is not installed"


def files_of(folder: Path) -> list[Path]:
    return sorted(folder.rglob("events.out.tfevents.*"))


def records_of(content: bytes) -> Iterator[bytes]:
    """The messages of a file, their checksums checked."""
    while content:
        (length,) = struct.unpack("<Q", content[:8])
        assert content[: length + 16] == record(content[12 : 12 + length])
        yield content[12 : 12 + length]
        content = content[length + 16 :]


def write(folder: Path, *events: Any) -> None:
    with TensorBoardLog(folder, clock=lambda: TIME) as log:
        for event in events:
            assert log(event) is None


@pytest.mark.parametrize(
    ("data", "check"),  # the first from the polynomial's publication, the others from RFC 3720
    [
        (b"123456789", 0xE3069283),
        (bytes(32), 0x8A9136AA),
        (b"\xff" * 32, 0x62A8AB43),
        (bytes(range(32)), 0x46DD794E),
    ],
)
def test_checksums(data: bytes, check: int) -> None:
    assert crc32c(data) == check


def test_the_bytes_of_a_scalar() -> None:
    event = scalars_event(1.5, 300, {"loss": 0.5})
    message = b"\x09" + struct.pack("<d", 1.5) + b"\x10\xac\x02"  # the time, the step
    message += b"\x2a\x0d\x0a\x0b\x0a\x04loss\x15" + struct.pack("<f", 0.5)
    assert event == record(message)
    assert event[:8] == struct.pack("<Q", len(message))


def test_training_and_validation_have_a_folder_each(tmp_path: Path) -> None:
    write(tmp_path, *told())
    train, valid = files_of(tmp_path)
    assert (train.parent.name, valid.parent.name) == ("train", "valid")
    assert len(list(records_of(train.read_bytes()))) == 2 + 6 + 2
    assert len(list(records_of(valid.read_bytes()))) == 2 + 2
    assert b"epoch/accuracy" in valid.read_bytes()


def test_a_run_that_goes_on_leaves_old_files_alone(tmp_path: Path) -> None:
    write(tmp_path, *told())
    before = {path: path.read_bytes() for path in files_of(tmp_path)}
    write(
        tmp_path,
        Started("spirals", 2, 6, step=3),
        Progress("train", 2, 4, 1, 3, {"loss": 1.0}, 8, 0.5),
    )
    assert {path: path.read_bytes() for path in before} == before
    (new,) = set(files_of(tmp_path)) - before.keys()
    assert new.parent.name == "train"
    assert new.read_bytes().startswith(first_event(TIME) + restart_event(TIME, 4))


def test_tensorboardx_writes_the_same_bytes() -> None:
    event_pb2 = pytest.importorskip("tensorboardX.proto.event_pb2", reason=WHY)
    summary = pytest.importorskip("tensorboardX.proto.summary_pb2", reason=WHY)
    values = {"loss": 0.25, "epoch/größe": -3.5}
    each = [summary.Summary.Value(tag=tag, simple_value=value) for tag, value in values.items()]
    expected = event_pb2.Event(wall_time=TIME, step=70_000, summary=summary.Summary(value=each))
    assert scalars_event(TIME, 70_000, values) == record(expected.SerializeToString())
    first = event_pb2.Event(wall_time=TIME, file_version="brain.Event:2")
    assert first_event(TIME) == record(first.SerializeToString())
    start = event_pb2.SessionLog(status=event_pb2.SessionLog.SessionStatus.START)
    restart = event_pb2.Event(wall_time=TIME, step=4, session_log=start)
    assert restart_event(TIME, 4) == record(restart.SerializeToString())


def test_tensorboardx_frames_records_so(tmp_path: Path) -> None:
    writer = pytest.importorskip("tensorboardX.record_writer", reason=WHY)
    theirs = writer.RecordWriter(str(tmp_path / "theirs"))
    for message in (b"", b"some bytes", bytes(range(256))):
        theirs.write(message)
    theirs.close()
    ours = record(b"") + record(b"some bytes") + record(bytes(range(256)))
    assert (tmp_path / "theirs").read_bytes() == ours


def test_tensorboardx_reads_what_is_written(tmp_path: Path) -> None:
    event_pb2 = pytest.importorskip("tensorboardX.proto.event_pb2", reason=WHY)
    values = {"loss": nan, "norm": 1e300, "low": -1e300, "all": inf, "half": 0.5}
    write(tmp_path, Started("run", 1, 1), EpochEnded("valid", 1, 9, values, 1.0))
    (path,) = files_of(tmp_path)
    *_, last = (event_pb2.Event.FromString(each) for each in records_of(path.read_bytes()))
    assert (last.step, last.wall_time) == (9, TIME)
    read = {each.tag: each.simple_value for each in last.summary.value}
    assert isnan(read.pop("epoch/loss"))
    assert read == {"epoch/norm": inf, "epoch/low": -inf, "epoch/all": inf, "epoch/half": 0.5}
