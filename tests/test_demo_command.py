"""`brimstone demo`: what it trains, checks, draws and times, on screens of all kinds."""

import io
import re
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from rich.text import Text
from typer.testing import CliRunner, Result

from brimstone.command import application, demo
from brimstone.command.demo import peers, picture, race, spirals, view
from brimstone.command.demo.report import kernel_table
from brimstone.command.demo.training import TOLERANCE, Training, difference
from brimstone.frontend.explanation import Explanation

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "spirals.py"
BLOCK = "\N{UPPER HALF BLOCK}"
SHOW_CURSOR, HIDE_CURSOR = "\x1b[?25h", "\x1b[?25l"


def run(*options: str, **environment: str) -> Result:
    arguments = ["demo", "--steps", "5", "--rounds", "1", *options]
    return CliRunner().invoke(application(), arguments, env=environment)


def screen(**settings: Any) -> Console:
    """A terminal of 80 columns with all colours, whose output is kept."""
    file = io.TextIOWrapper(io.BytesIO(), encoding=settings.pop("encoding", "utf-8"))
    given = {"width": 80, "height": 24, "color_system": "truecolor", "no_color": False}
    return Console(file=file, force_terminal=True, **(given | settings))


def shown(console: Console) -> str:
    console.file.seek(0)
    return console.file.read()


@pytest.fixture(scope="module")
def plain() -> Result:
    return run(COLUMNS="40", NO_COLOR="1")


@pytest.fixture(scope="module")
def explanation() -> Explanation:
    training = Training()
    return training.step.explain(training.state, *training.batch)


def test_every_part_is_shown(plain: Result) -> None:
    assert plain.exit_code == 0, plain.output
    for part in (
        "1024 points of two spirals",
        "step 5: loss",
        "tensors agree",
        "What a step",
        "s.",
    ):
        assert part in " ".join(plain.stdout.split())
    rows = [line.split() for line in plain.stdout.splitlines()]
    ours = next(row for row in rows if row[:1] == [demo.OURS])
    assert ours[2] == "1.00"
    assert any(row[:1] == ["numpy"] and float(row[1]) > 0 for row in rows)


def test_the_report_has_a_line_for_each_kernel(plain: Result) -> None:
    report = plain.stdout.partition("What a step became")[2]
    assert "kernels: machine code" in report
    assert re.search(r"^contract_add\S* +\d+ +\d+ kB +[\d.]+ [kM]B", report, re.MULTILINE)


@pytest.mark.parametrize("width", [40, 72, 200])
def test_the_table_of_kernels_fits(width: int, explanation: Explanation) -> None:
    console = screen(width=width)
    console.print(kernel_table(explanation, console))
    lines = Text.from_ansi(shown(console)).plain.splitlines()
    assert max(len(line) for line in lines) <= width
    assert any("hidden = tanh" in line for line in lines) == (width >= 72)


def test_all_of_the_report_names_every_line() -> None:
    report = run("--full", COLUMNS="40").stdout.partition("What a step became")[2]
    for line in ("spirals.py", "hidden = tanh(points", "state.weights['inner']", "apart"):
        assert line in report


def test_without_a_terminal_the_output_is_plain(plain: Result) -> None:
    assert "\x1b" not in plain.stdout
    assert BLOCK not in plain.stdout
    assert max(map(len, plain.stdout.splitlines())) <= 40


def test_a_wrong_step_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "difference", lambda training: (14, float("nan")))
    failed = run()
    assert failed.exit_code == 1
    assert "of 14 tensors, one differs by nan" in failed.stderr


def test_a_peer_that_fails_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> peers.Advance:
        raise ImportError("no [such] library")

    monkeypatch.setattr(demo, "installed", lambda: {"PyTorch": broken})
    told = run(COLUMNS="120")
    assert told.exit_code == 0
    assert "PyTorch is left out: ImportError: no [such] library" in told.stdout


def test_an_interrupt_ends_the_show_and_gives_the_cursor_back() -> None:
    console, training = screen(), Training()
    with pytest.raises(KeyboardInterrupt), view.view_for(console, training, 5) as watched:
        watched.update(1, training.advance())
        raise KeyboardInterrupt
    written = shown(console)
    assert written.rfind(SHOW_CURSOR) > written.rfind(HIDE_CURSOR) >= 0


def test_an_interrupt_where_there_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(training: Training) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Training, "advance", interrupted)
    assert run().exit_code == 130


@pytest.mark.parametrize(("width", "height"), [(80, 24), (40, 60), (40, 10), (200, 100), (20, 5)])
def test_a_picture_fits_on_its_screen(width: int, height: int) -> None:
    console = screen(width=width, height=height)
    side = picture.side_for(console)
    assert side % 2 == 0
    assert picture.SMALLEST <= side <= min(width, picture.LARGEST)
    assert side // 2 <= max(height - picture.OTHER_ROWS, picture.SMALLEST // 2)


@pytest.mark.parametrize("width", [20, 40, 80])
def test_training_is_watched_on_a_screen(width: int) -> None:
    console, training = screen(width=width), Training()
    with view.view_for(console, training, 2) as watched:
        for step in (1, 2):
            watched.update(step, training.advance())
    written = shown(console)
    assert "2/2" in written
    assert "% right" in " ".join(written.split())
    assert written.count(BLOCK) >= picture.side_for(console) ** 2 / 2


def believed() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores of 16 rows that are positive in the left half, and a point in each half."""
    scores = np.repeat([[9.0] * 8 + [-9.0] * 8], 16, axis=0)
    return scores.ravel(), np.array([[1.0, 1.0], [-1.0, -1.0]]), np.array([1.0, -1.0])


@pytest.mark.parametrize(
    ("settings", "coloured"),
    [
        ({}, True),
        ({"color_system": "256"}, True),
        ({"color_system": "standard"}, True),
        ({"color_system": None}, False),
        ({"no_color": True}, False),
        ({"encoding": "latin-1"}, False),
        ({"encoding": "ascii"}, False),
    ],
)
def test_colours_where_there_are_some(settings: dict[str, Any], coloured: bool) -> None:
    console = screen(**settings)
    console.print(picture.draw(console, *believed()))
    written = shown(console)
    if coloured:
        assert written.count(BLOCK) == 16 * 16 / 2
    else:
        assert written == 8 * ("#" * 8 + "." * 8 + "\n")


def test_points_stand_out_from_what_is_believed() -> None:
    scores, points, sides = believed()
    dots = picture.colours(np.tanh(scores.reshape(16, 16)), points, sides)
    assert tuple(dots[1, 14]) == picture.FIRST  # top right, where the plane is the second's
    assert tuple(dots[14, 1]) == picture.SECOND
    assert not {picture.FIRST, picture.SECOND} & {tuple(dots[0, 0]), tuple(dots[15, 15])}


def test_the_lattice_goes_from_the_top_left_in_rows() -> None:
    places = picture.lattice(4)
    reach = np.float32(picture.REACH)
    assert places[0].tolist() == [-reach, reach]
    assert places[3].tolist() == [reach, reach]
    assert places[-1].tolist() == [reach, -reach]


def test_the_network_learns() -> None:
    training = Training()
    first = float(training.advance())
    for _ in range(200):
        last = training.advance()
    assert float(last) < first / 4
    assert training.right() > 0.9


def test_a_step_agrees_with_the_interpreter() -> None:
    training = Training()
    for _ in range(3):
        training.advance()
    count, apart = difference(training)
    assert count == 14
    assert 0 < apart < TOLERANCE


def test_a_wrong_step_differs() -> None:
    training = Training()
    right = training.step

    def wrong(state: spirals.State, *batch: Any) -> Any:
        state, loss = right(state, *batch)
        return state._replace(count=state.count + 1), loss

    training.step = wrong
    assert difference(training)[1] > TOLERANCE


@pytest.mark.parametrize("name", peers.installed())
def test_peers_train_the_same(name: str) -> None:
    training = Training()
    prepare = peers.installed()[name]
    advance = prepare(spirals.first_weights(), training.points, training.sides)
    ours = [float(training.advance()) for _ in range(20)]
    np.testing.assert_allclose([float(advance()) for _ in range(20)], ours, rtol=1e-3)


def fails() -> float:
    raise RuntimeError("no such device")


@pytest.mark.parametrize(
    ("advance", "problem"),
    [(lambda: 1.0, None), (lambda: 1.1, race.Disagreement), (fails, RuntimeError)],
)
def test_who_takes_part(advance: Callable[[], float], problem: Any) -> None:
    failed = race.warm_up({"first": lambda: 1.0, "other": advance})
    assert [*map(type, failed.values())] == ([problem] if problem else [])


def test_a_race_times_everybody() -> None:
    taken: list[str] = []
    names = ("one", "two")
    contestants = {name: lambda name=name: taken.append(name) or 1.0 for name in names}
    seconds = race.medians(contestants, rounds=2)
    assert set(seconds) == set(taken) == set(names)
    assert all(0 < each < 0.1 for each in seconds.values())


@pytest.mark.slow
def test_the_example_learns_too(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLE))
    loss, right = capsys.readouterr().out.replace(",", "").split()[1:3]
    assert float(loss) < 0.05
    assert float(right.rstrip("%")) > 97
