"""Logs as files: what stands in them, what is kept where a run goes on, and reading them back."""

import json
from collections.abc import Callable
from math import inf, isnan, nan
from pathlib import Path

import pytest

from brimstone.frontend.errors import ArgumentError
from brimstone.train import EpochEnded, Event, Progress, Started
from brimstone.train.log import CsvLog, JsonLinesLog, Row, TensorBoardLog, read_log
from brimstone.train.log.text_log import TextLog
from kit.played_runs import epoch_told, told

TEXT_LOGS = (CsvLog, JsonLinesLog)

CSV = """\
step,epoch,split,scope,loss,"a,b",accuracy
1,1,train,batch,0.5,2.0,
1,1,train,epoch,0.5,,
1,1,valid,epoch,nan,,0.75
"""
JSON = """\
{"step": 1, "epoch": 1, "split": "train", "scope": "batch", "values": {"loss": 0.5, "a,b": 2.0}}
{"step": 1, "epoch": 1, "split": "train", "scope": "epoch", "values": {"loss": 0.5}}
{"step": 1, "epoch": 1, "split": "valid", "scope": "epoch", "values": {"loss": "NaN", "accuracy": 0.75}}
"""  # noqa: E501

EVENTS = (
    Started("run", 1, 1),
    Progress("train", 1, 1, 1, 1, {"loss": 0.5, "a,b": 2.0}, 8, 0.5),
    EpochEnded("train", 1, 1, {"loss": 0.5}, 1.0),
    Progress("valid", 1, 1, 1, 1, {"loss": 9.0}, 8, 0.5),
    EpochEnded("valid", 1, 1, {"loss": nan, "accuracy": 0.75}, 1.0),
)


def write(log: TextLog, *events: Event) -> str:
    with log:
        for event in events:
            assert log(event) is None
    return log.path.read_text(encoding="utf-8")


def steps_of(folder: Path) -> list[tuple[int, str, str]]:
    return [(row.step, row.split, row.scope) for row in read_log(folder)]


@pytest.mark.parametrize(("log", "text"), [(CsvLog, CSV), (JsonLinesLog, JSON)])
def test_the_text_of_a_log(log: Callable[..., TextLog], text: str, tmp_path: Path) -> None:
    assert write(log(tmp_path / "deep" / "run"), *EVENTS) == text


@pytest.mark.parametrize("log", TEXT_LOGS)
def test_what_was_written_is_read(log: Callable[..., TextLog], tmp_path: Path) -> None:
    values = {"low": -inf, "high": inf, "small": 1e-300, "third": 1 / 3}
    write(log(tmp_path), *EVENTS, EpochEnded("train", 2, 2, values, 1.0))
    rows = read_log(tmp_path)
    assert rows[0] == Row(1, 1, "train", "batch", {"loss": 0.5, "a,b": 2.0})
    assert rows[3] == Row(2, 2, "train", "epoch", values)
    assert isnan(rows[2].values["loss"])


@pytest.mark.parametrize("log", TEXT_LOGS)
def test_a_run_that_goes_on_drops_what_it_does_again(
    log: Callable[..., TextLog], tmp_path: Path
) -> None:
    text = write(log(tmp_path), *told(epochs=2, batches=3))
    path = log(tmp_path).path
    first, second, *lines = text.splitlines(keepends=True)
    damage = ["1,1,train\n", '{"step": 1}\n', "\n", "1,1,tr"]  # the last as a process was killed
    path.write_text("".join([first, *damage[:3], second, *lines, damage[3]]))
    write(log(tmp_path), Started("spirals", 2, 6, step=3, epoch=1), *epoch_told(2, 3))
    assert path.read_text() == text


@pytest.mark.parametrize("log", TEXT_LOGS)
def test_a_run_that_begins_begins_its_log(log: Callable[..., TextLog], tmp_path: Path) -> None:
    write(log(tmp_path), *told())
    assert write(log(tmp_path), *EVENTS) == (CSV if log is CsvLog else JSON)


@pytest.mark.parametrize("log", TEXT_LOGS)
def test_a_run_may_go_on_where_nothing_is_left(log: Callable[..., TextLog], tmp_path: Path) -> None:
    write(log(tmp_path), Started("run", 2, 6, step=3, epoch=1), *epoch_told(2, 3))
    assert steps_of(tmp_path)[0] == (4, "train", "batch")


@pytest.mark.parametrize("log", TEXT_LOGS)
def test_of_batches_one_in_so_many_has_a_row(log: Callable[..., TextLog], tmp_path: Path) -> None:
    write(log(tmp_path, every=4), *told(epochs=1, batches=10))
    batches = [step for step, _, scope in steps_of(tmp_path) if scope == "batch"]
    assert batches == [4, 8]


def test_lines_are_on_disk_after_a_second_and_after_an_epoch(tmp_path: Path) -> None:
    now = [0.0]
    log = JsonLinesLog(tmp_path, clock=lambda: now[0])
    started, first, second, third, *rest = told(batches=3)
    with log:
        for event in (started, first, second):
            log(event)
        assert not steps_of(tmp_path)
        now[0] = 1.5
        log(third)
        assert len(steps_of(tmp_path)) == 3
        log(rest[0])
        assert len(steps_of(tmp_path)) == 4


def test_a_row_that_is_half_written_is_not_read(tmp_path: Path) -> None:
    text = write(JsonLinesLog(tmp_path), *EVENTS)
    (tmp_path / "metrics.jsonl").write_text(text[:-5])
    assert len(read_log(tmp_path)) == 2


def test_json_lines_come_before_csv_and_a_file_may_be_named(tmp_path: Path) -> None:
    write(CsvLog(tmp_path), *told())
    write(JsonLinesLog(tmp_path), *EVENTS)
    assert len(read_log(tmp_path)) == len(read_log(tmp_path / "metrics.jsonl")) == 3
    assert len(read_log(tmp_path / "metrics.csv")) == 10


def test_what_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"there is no run .*nowhere"):
        read_log(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match=r"has no metrics.jsonl or metrics.csv"):
        read_log(tmp_path)
    other = tmp_path / "other"
    for content in (b"\x89PNG\n", b'{"step": 1}\n', b"[1]\n", b"words\n"):
        other.write_bytes(content)
        with pytest.raises(ValueError, match="other is no log of a run"):
            read_log(other)


@pytest.mark.parametrize("log", [*TEXT_LOGS, TensorBoardLog])
def test_wrong_use(log: Callable[..., TextLog], tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=f"{log.__name__}: one batch in `every`"):
        log(tmp_path, every=0)
    if log is not TensorBoardLog:
        with pytest.raises(ArgumentError, match=f"{log.__name__}: a log hears `Started` before"):
            log(tmp_path)(EVENTS[1])


@pytest.mark.parametrize("log", [*TEXT_LOGS, TensorBoardLog])
def test_the_end_of_a_run_closes_its_log(log: Callable[..., TextLog], tmp_path: Path) -> None:
    listener = log(tmp_path)
    for event in told():
        listener(event)
    assert not vars(listener).get("_file") and not vars(listener).get("_files")


def test_json_lines_are_json(tmp_path: Path) -> None:
    def refuse(token: str) -> None:
        raise AssertionError(token)

    for line in write(JsonLinesLog(tmp_path), *EVENTS).splitlines():
        json.loads(line, parse_constant=refuse)
