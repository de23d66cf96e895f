"""`brimstone plot`: a picture of a run, and what it is made of."""

import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from brimstone.command import application
from brimstone.train import EpochEnded, Started
from brimstone.train.log import JsonLinesLog, Row
from brimstone.train.plot import Curve, curves_of, figure, png
from brimstone.train.plot.canvas import Canvas, text_width
from brimstone.train.plot.extent import extent
from brimstone.train.plot.figure import ALONE, COLOURS, PANEL, thinned
from brimstone.train.plot.smooth import smooth
from brimstone.train.plot.strokes import BOX, _table, advance, strokes_of
from brimstone.train.plot.ticks import padded, spaced, texts
from kit.played_runs import told

INK = (0, 0, 0)


def run(*arguments: object) -> Result:
    return CliRunner().invoke(application(), ["plot", *map(str, arguments)])


def logged(folder: Path, *events: Any) -> Path:
    with JsonLinesLog(folder) as log:
        for event in events or told(epochs=3, batches=30):
            log(event)
    return folder


def decoded(content: bytes) -> Any:
    """The pixels of a PNG as `png` writes them, its checksums checked."""
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    chunks, at = dict[bytes, bytes](), 8
    while at < len(content):
        (length,) = struct.unpack_from(">I", content, at)
        kind, data = content[at + 4 : at + 8], content[at + 8 : at + 8 + length]
        assert struct.unpack_from(">I", content, at + 8 + length) == (zlib.crc32(kind + data),)
        chunks[kind], at = data, at + 12 + length
    width, height, *rest = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    assert rest == [8, 2, 0, 0, 0]
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, -1)
    assert (rows[:, 0] == 2).all()
    return np.cumsum(rows[:, 1:], axis=0, dtype=np.uint8).reshape(height, width, 3)


def holds(pixels: Any, colour: tuple[int, int, int]) -> bool:
    return bool((pixels == colour).all(axis=-1).any())


def test_a_picture_of_a_run(tmp_path: Path) -> None:
    folder = logged(tmp_path / "run")
    shown = run(folder)
    assert shown.exit_code == 0, shown.output
    assert shown.stdout.strip() == str(folder / "plot.png")
    pixels = decoded((folder / "plot.png").read_bytes())
    assert pixels.shape == (2 * PANEL[1], 2 * PANEL[0], 3)
    assert holds(pixels, COLOURS["train"])
    assert holds(pixels, COLOURS["valid"])


def test_one_metric_fills_the_picture(tmp_path: Path) -> None:
    output = tmp_path / "loss.png"
    log = logged(tmp_path) / "metrics.jsonl"
    assert run(log, "--metric", "loss", "-o", output).exit_code == 0
    assert decoded(output.read_bytes()).shape == (ALONE[1], ALONE[0], 3)
    assert run(log, "-m", "loss", "-m", "accuracy", "--smoothing", "0").exit_code == 0
    assert decoded((tmp_path / "plot.png").read_bytes()).shape == (PANEL[1], 2 * PANEL[0], 3)


@pytest.mark.parametrize(
    ("events", "options", "said"),
    [
        (None, (), "there is no run"),
        ([Started("run", 1, 1)], (), "has no values yet"),
        ([Started("run", 1, 1), EpochEnded("train", 1, 1, {"loss": float("nan")}, 1.0)], (),
         "has no values yet"),
        ([], ("--metric", "los"), "has no metric los; it has loss, learning rate, accuracy"),
        ([], ("--output", "nowhere/a.png"), "nowhere/a.png: this cannot be written: No such file"),
    ],
    ids=["no run", "empty", "no number", "no metric", "no folder"],
)  # fmt: skip
def test_what_goes_wrong_is_said(
    events: Any, options: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    if events is not None:
        logged(folder, *events)
    shown = run(folder, *options)
    assert shown.exit_code == 1
    assert shown.stderr.startswith("error: ")
    assert said in shown.stderr


def test_a_file_that_is_no_log(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("words\n")
    shown = run(tmp_path / "notes.txt")
    assert (shown.exit_code, "notes.txt is no log of a run" in shown.stderr) == (1, True)


def test_batches_are_drawn_where_there_are_some_and_else_epochs() -> None:
    rows = [
        Row(1, 1, "train", "batch", {"loss": 3.0, "norm": float("inf")}),
        Row(2, 1, "train", "batch", {"loss": 2.0}),
        Row(2, 1, "train", "epoch", {"loss": 2.5, "accuracy": 0.5}),
        Row(2, 1, "valid", "epoch", {"loss": 2.75}),
    ]
    assert curves_of(rows) == {
        "loss": [Curve("train", [1, 2], [3.0, 2.0]), Curve("valid", [2], [2.75])],
        "accuracy": [Curve("train", [2], [0.5])],
    }


def test_a_long_run_and_a_single_value_are_pictures() -> None:
    steps = [float(step) for step in range(5000)]
    long = Curve("train", steps, [1 / (1 + step) + step % 7 / 50 for step in steps])
    assert figure({"loss": [long]}).shape == (ALONE[1], ALONE[0], 3)
    assert holds(figure({"loss": [Curve("valid", [3], [0.0])]}), COLOURS["valid"])


def test_places_in_one_column_keep_their_extremes() -> None:
    places = [(0.5, float(y)) for y in (5, 1, 9, 4, 7, 6)] + [(1.5, 2.0)]
    assert thinned(places) == [(0.5, 5.0), (0.5, 1.0), (0.5, 9.0), (0.5, 6.0), (1.5, 2.0)]


def test_a_line_has_smooth_edges_and_its_width() -> None:
    canvas = Canvas(20, 9)
    canvas.line([(-5, 4.5), (30, 4.5)], INK, width=2.0)
    column = canvas.pixels()[:, 10, 0].tolist()
    assert column == [255, 255, 255, 128, 0, 128, 255, 255, 255]


def test_a_line_that_crosses_itself_is_no_darker() -> None:
    canvas = Canvas(12, 12)
    canvas.line([(1, 1), (11, 11), (11, 1), (1, 11)], INK, opacity=0.5)
    assert canvas.pixels().min() == 128


def test_what_lies_outside_is_not_drawn() -> None:
    canvas = Canvas(8, 8)
    canvas.line([(-20, -20), (-10, -30)], INK)
    canvas.text("far", (100, 100), 10, INK)
    assert (canvas.pixels() == 255).all()


def test_every_printable_character_is_drawn() -> None:
    characters = [chr(code) for code in range(32, 127)]
    assert set(characters) == set(_table())
    assert len({strokes_of(each) for each in characters}) == len(characters)
    assert strokes_of("ß") == strokes_of("\N{SNOWMAN}") != ()
    assert len(BOX) == 10
    for each in characters:
        points = [point for stroke in strokes_of(each) for point in stroke]
        assert all(0 <= x <= 6 and -2 <= y <= 7 for x, y in points)
        assert advance(each) > max([x for x, _ in points], default=0)


def test_text_stands_where_it_should() -> None:
    canvas = Canvas(60, 30)
    canvas.text("HI", (50, 20), 14, INK, align=1)
    rows, columns = np.nonzero(canvas.pixels()[..., 0] < 128)
    assert (rows.min(), rows.max()) == (5, 20)
    assert 49 - text_width("HI", 14) <= columns.min() <= columns.max() < 50


@pytest.mark.parametrize(
    ("ends", "at_most", "expected"),
    [
        ((0.0, 1.0), 6, "0.0 0.2 0.4 0.6 0.8 1.0"),
        ((0.13, 0.47), 4, "0.2 0.3 0.4"),
        ((0.0, 12_000.0), 4, "0 5k 10k"),
        ((0.0, 2.4e6), 6, "0 0.5M 1.0M 1.5M 2.0M"),
        ((-1e-5, 2e-5), 4, "-1e-05 0 1e-05 2e-05"),
        ((3.0, 3.0), 4, "3"),
        ((-2.6, 2.6), 3, "-2 0 2"),
        ((0.9991, 0.9999), 4, "0.9992 0.9994 0.9996 0.9998"),
    ],
)
def test_ticks_are_round(ends: tuple[float, float], at_most: int, expected: str) -> None:
    ticks = spaced(*ends, at_most=at_most)
    assert len(ticks) <= at_most
    assert " ".join(texts(ticks)) == expected


def test_ticks_of_steps_are_whole() -> None:
    assert spaced(1, 3, 8, whole=True) == [1, 2, 3]
    assert spaced(1, 10, 4, whole=True) == [5, 10]


def test_intervals() -> None:
    assert padded(0.0, 10.0) == (-0.5, 10.5)
    assert padded(2.0, 2.0) == (1.8, 2.2)
    assert padded(0.0, 0.0) == (-1.0, 1.0)
    assert extent([5.0, 1.0, 400.0]) == (1.0, 400.0)
    noisy = [float(number % 10) for number in range(200)]
    assert extent(noisy) == (0.0, 9.0)
    assert extent([*noisy, 1e6]) == (0.0, 27.0)


def test_smooth_values_are_means_of_both_directions() -> None:
    assert smooth([3.0] * 5, 0.9) == pytest.approx([3.0] * 5)
    assert smooth([1.0, 2.0, 5.0], 0.0) == [1.0, 2.0, 5.0]
    first = (1.0 + (1.0 * 1 + 0.5 * 2.0 + 0.25 * 5.0) / 1.75) / 2
    assert smooth([1.0, 2.0, 5.0], 0.5)[0] == pytest.approx(first)
    assert smooth([], 0.9) == []


def test_a_png_is_its_pixels() -> None:
    pixels = np.random.default_rng(3).integers(0, 256, (5, 7, 3)).astype(np.uint8)
    assert np.array_equal(decoded(png(pixels)), pixels)
